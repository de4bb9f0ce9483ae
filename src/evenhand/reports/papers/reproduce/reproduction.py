"""One paper's tables, recomputed."""

from collections.abc import Callable
from dataclasses import dataclass

from evenhand.domain.identity import Json
from evenhand.reports.papers.reproduce import creation_mmbench, grade_score, visit_bench
from evenhand.reports.papers.reproduce.printed import PrintedTable

PAPERS: dict[str, Callable[[], tuple[PrintedTable, ...]]] = {
    "creation-mmbench": creation_mmbench.tables,
    "visit-bench": visit_bench.tables,
    "grade-score": grade_score.tables,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    paper: str
    tables: tuple[PrintedTable, ...]

    @property
    def ok(self) -> bool:
        return all(table.ok for table in self.tables)

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "paper": self.paper,
            "tables": [table.as_json() for table in self.tables],
            "ok": self.ok,
        }


def reproduce(paper: str) -> Reproduction:
    """`paper` is one of PAPERS."""
    return Reproduction(paper=paper, tables=PAPERS[paper]())
