"""The papers there are: one record each, which `score`, the report, the pages and `reproduce` all go by."""

from collections.abc import Mapping

from evenhand.ledger.read.public_benchmarks import grew_here
from evenhand.ledger.store.record import Ledger
from evenhand.reports.papers.creation_mmbench import CREATION_MMBENCH
from evenhand.reports.papers.paper import Paper, PaperOfRecord, Score
from evenhand.reports.papers.reproduce import grade_score
from evenhand.reports.papers.reproduce.reproduction import Reproduction
from evenhand.reports.papers.visit_bench import VISIT_BENCH

GRADE_SCORE = Paper(name="grade-score", printed=grade_score.tables)
PAPERS: Mapping[str, Paper] = {one.name: one for one in (CREATION_MMBENCH, VISIT_BENCH, GRADE_SCORE)}
_SAMPLE = "-sample"


def paper_of_benchmark(benchmark: str) -> PaperOfRecord | None:
    """Whose table this benchmark has, its sample too; None where it has none, whatever the protocol."""
    paper = PAPERS.get(benchmark.removesuffix(_SAMPLE))
    return None if paper is None else paper.recorded


def paper_of_grown(ledger: Ledger, benchmark: str) -> PaperOfRecord | None:
    """One that people let grow here has VisIT-Bench's table."""
    return VISIT_BENCH.recorded if grew_here(ledger, benchmark) else None


def paper_of_protocol(protocol: str) -> PaperOfRecord | None:
    """Whose table verdicts under this protocol make."""
    return next((one for one in _recorded() if protocol in one.protocols), None)


def paper_of_score(score: Score) -> PaperOfRecord:
    return next(one for one in _recorded() if isinstance(score, one.score))


def breakdowns() -> tuple[str, ...]:
    """What tables can be made by, those of the older paper first."""
    return tuple(by for one in reversed(_recorded()) for by in one.by)


def _recorded() -> list[PaperOfRecord]:
    return [one.recorded for one in PAPERS.values() if one.recorded is not None]


def reproduce(paper: str) -> Reproduction:
    """`paper` is one of PAPERS."""
    return Reproduction(paper=paper, tables=PAPERS[paper].printed())
