"""One paper's tables, recomputed."""

from dataclasses import dataclass

from evenhand.domain.identity import Json
from evenhand.reports.papers.reproduce.printed import PrintedTable


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
