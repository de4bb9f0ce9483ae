"""A board with every verdict behind it, written as one HTML file, or its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from evenhand.api.judging import JudgeRun
from evenhand.api.ledgers import GivenLedger, ledger_at
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.trial import Readout, See
from evenhand.files.outputs import Place, Target
from evenhand.format.charts import stacked, write_out
from evenhand.format.result import Result
from evenhand.format.sheet import written
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import Choice, choose_of_run, study_of_run
from evenhand.reports.board.table import reliability_sentences
from evenhand.reports.board.trust_word import trust_word
from evenhand.reports.page.charts import report_charts
from evenhand.reports.page.report import BoardReport, Report, report_of
from evenhand.reports.page.sheets import all_sheets, long_sheet
from evenhand.reports.page.studies import with_grades
from evenhand.reports.page.words import notes, sampling, summary
from evenhand.reports.page.writing import write_report

if TYPE_CHECKING:
    import altair as alt

Tables: TypeAlias = Literal["md", "latex", "csv"]
Form: TypeAlias = Tables | Literal["html"]

PAGE = "report.html"
_FORMS: Mapping[str, Form] = {".html": "html", ".htm": "html", ".md": "md", ".tex": "latex", ".csv": "csv"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReportResult(Result):
    """A report that was written, and where."""

    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = ("rank", "model", "rating", "rating_lower", "rating_upper", "win_rate")

    report: Report
    path: Path
    document: Mapping[str, Json]

    @property
    def headline(self) -> str:
        cases = self.report.cases
        return f"Report of {self.report.board.origin.benchmark}, {cases.judgements:,} judgements: {self.path}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(summary(self.report))

    def as_json(self) -> Mapping[str, Json]:
        return self.document

    def rows(self) -> list[dict[str, Json]]:
        """Of the board."""
        return self.report.board.rows()

    def chart(self) -> "alt.VConcatChart":
        return charts_of(self.report)


def report(
    source: "JudgeRun | GivenLedger | None" = None,
    out: str | Path = PAGE,
    *,
    benchmark: str | None = None,
    judge: str | None = None,
    protocol: str | None = None,
    readout: Readout | None = None,
    variant: str | None = None,
    see: See | None = None,
    run: str | None = None,
    form: Form | None = None,
    seed: int = 0,
    force: bool = False,
) -> ReportResult:
    """Writes one HTML file that can be mailed, or tables where `out` ends in .md, .tex or .csv, or `form` says so.

    `source` is a run or a ledger, by default the usual one; where that holds several boards the other words choose:
    `see` what the judge was shown, `run` the board that a run is part of.
    A file that is there and was not written by a report is written over with `force` only.

    >>> page = eh.report(judged, "report.html")
    >>> page.path.stat().st_size > 100_000
    True

    Raises MixedError where one board must be chosen, OutputRefused where a file is in the way.
    """
    target = Target(path=Path(out), command="report", force=force)
    written_as = form or form_of(target)
    target.check()
    ledger = source.ledger if isinstance(source, JudgeRun) else ledger_at(source, create=False)
    choice = Choice(benchmark=benchmark, judge=judge, protocol=protocol, readout=readout, variant=variant, see=see)
    among = source.on_record() if isinstance(source, JudgeRun) else None
    made = report_on(ledger, choice, run, seed=seed, among=among).report
    if written_as == "html":
        more = write_report(made, target).as_json()
    else:
        write_out(target, tables_of(made, written_as).text.encode())
        more = {"out": str(out)}
    return ReportResult(report=made, path=Path(out), document={**document_of(made), **more})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMade:
    report: Report
    notes: tuple[str, ...]
    """Sentences on what was chosen."""


def report_on(
    ledger: Ledger,
    choice: Choice,
    run: str | None = None,
    *,
    seed: int = 0,
    among: Sequence[StudyOnRecord] | None = None,
) -> ReportMade:
    """Raises MixedError where one board must be chosen."""
    found = studies(ledger) if among is None else list(among)
    board = choose_of_run(ledger, choice, run, among=found)
    study = study_of_run(ledger, run) if run else None
    made = with_grades(board.studies, found, see=choice.see, run=study)
    return ReportMade(report=report_of(ledger, made, seed=seed), notes=board.notes)


def charts_of(report: BoardReport) -> "alt.VConcatChart":
    return stacked(*(wide for wide, *_ in report_charts(report).values()))


def form_of(out: Place) -> Form:
    """Raises Misuse where the name does not tell."""
    suffix = out.suffix.lower()
    if suffix not in _FORMS:
        raise Misuse(f"{out} tells no format: end it in {', '.join(_FORMS)}, or give --format.")
    return _FORMS[suffix]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTables:
    text: str
    sentences: tuple[str, ...]
    """That stand around the tables; a CSV file has no place for them."""


def tables_of(report: Report, form: Tables) -> WrittenTables:
    sheets = all_sheets(report)
    opening = [
        *filter(None, [sampling(report)]),
        *summary(report),
        trust_word(report.board.reliability, report.audits, report.beside_people).words,
    ]
    below = [reliability_sentences(report.board)[0], *notes(report)]
    text = written([long_sheet(sheets)] if form == "csv" else sheets, form, below, opening=opening)
    return WrittenTables(text=text, sentences=(*opening, *below))


def document_of(report: Report) -> dict[str, Json]:
    cases = report.cases
    return {
        "schema": 1,
        "judgements": cases.judgements,
        "judgements_listed": cases.listed,
        "pairs": cases.pairs,
        "pairs_listed": len(cases.cases),
        "pairs_disagreeing": cases.disagreeing,
        "pairs_without_a_verdict": cases.failing,
        "summary": list(summary(report)),
        "board": report.board.as_json(),
        "scores": [score.as_json() for score in report.scores],
        "audit": None if report.audits is None else report.audits.as_json(),
        "people": None if report.beside_people is None else report.beside_people.sentence,
        "read_first": report.reading.as_json(),
        "chain": report.head.as_json(),
    }
