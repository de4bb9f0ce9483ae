"""A board with every verdict behind it, written as one HTML file, or its tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, cast

from evenhand.api.judging import JudgeRun
from evenhand.api.ledgers import GivenLedger, ledger_at, names_ledger
from evenhand.domain.errors import USAGE, Misuse
from evenhand.domain.identity import Json
from evenhand.domain.trial import Readout, See
from evenhand.exchange.file_form import RaterKind
from evenhand.exchange.judgements.preferences_file import AS_IT_IS, PreferenceForm, form_of_files
from evenhand.exchange.winners import WinnerAs
from evenhand.files.outputs import Place, Target
from evenhand.format.charts import stacked, write_out
from evenhand.format.result import Result
from evenhand.format.sheet import written
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import Choice, choose_of_run, study_of_run
from evenhand.reports.board.shown.table import reliability_sentences
from evenhand.reports.board.trust.trust_word import trust_word
from evenhand.reports.page import file_report as of_files
from evenhand.reports.page.charts import report_charts
from evenhand.reports.page.file_report import FileReport, file_report, file_sheets, write_file_report
from evenhand.reports.page.report import BoardReport, Report, report_of
from evenhand.reports.page.sheets import all_sheets, long_sheet
from evenhand.reports.page.studies import with_grades
from evenhand.reports.page.words import notes, summary, trust_asked
from evenhand.reports.page.writing import WrittenReport, write_report
from evenhand.reports.rubric_report import RubricReport, rubric_report, write_rubric_report

if TYPE_CHECKING:
    import altair as alt

Tables: TypeAlias = Literal["md", "latex", "csv"]
Form: TypeAlias = Tables | Literal["html"]

AnyReport: TypeAlias = Report | FileReport | RubricReport

PAGE = "report.html"
_FORMS: Mapping[str, Form] = {".html": "html", ".htm": "html", ".md": "md", ".tex": "latex", ".csv": "csv"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReportResult(Result):
    """A report that was written, and where."""

    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = ("rank", "model", "rating", "rating_lower", "rating_upper", "win_rate")

    report: AnyReport
    path: Path
    document: Mapping[str, Json]

    @property
    def headline(self) -> str:
        made = self.report
        if isinstance(made, RubricReport):
            return f"Report of {made.benchmark}, {made.answered:,} graded answers: {self.path}"
        origin = made.board.origin
        judged = (
            f"{made.whole.rows:,} rows" if isinstance(made, FileReport) else f"{made.cases.judgements:,} judgements"
        )
        return f"Report of {origin.benchmark or origin.source}, {judged}: {self.path}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(_summary(self.report))

    def as_json(self) -> Mapping[str, Json]:
        return self.document

    def rows(self) -> list[dict[str, Json]]:
        """Of the board, or of the table of grades."""
        if isinstance(self.report, RubricReport):
            return cast("list[dict[str, Json]]", self.report.table.document["models"])
        return self.report.board.rows()

    def chart(self) -> "alt.VConcatChart":
        return charts_of(self.report)


def report(
    source: "JudgeRun | GivenLedger | Sequence[str | Path] | None" = None,
    out: str | Path = PAGE,
    *,
    columns: Mapping[str, str] | None = None,
    winner_words: Mapping[str, str] | None = None,
    winner_as: WinnerAs | None = None,
    names: str | None = None,
    rater: str | Sequence[str] = (),
    rater_kind: RaterKind | None = None,
    raters: str | Sequence[str] = (),
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
    `see` what the judge was shown, `run` the board that a run is part of. Or it is a file of battles, or several:
    `columns` and `winner_words` are ours by the files' own, `winner_as` says whether winners are names or words,
    `names` (FILE:ID:NAME) what models are called, `rater` and `rater_kind` who judged the files that do not say it, and
    `raters` whose board it is (people, models, all, or names).
    A file that is there and was not written by a report is written over with `force` only.

    >>> page = eh.report(judged, "report.html")
    >>> page.path.stat().st_size > 100_000
    True
    >>> eh.report(["people.csv"], "people.html")
    Report of people.csv, 8 rows: people.html

    Raises MixedError where one board must be chosen, ExchangeError where a file does not fit, OutputRefused where a
    file is in the way.
    """
    target = Target(path=Path(out), command="report", force=force)
    written_as = form or form_of(target)
    target.check()
    choice = Choice(benchmark=benchmark, judge=judge, protocol=protocol, readout=readout, variant=variant, see=see)
    if paths := _files(source):
        if choice != Choice() or run is not None:
            raise Misuse(
                "benchmark, judge, protocol, readout, variant, see and run choose from a ledger; files are given."
            )
        form_given = form_of_files(columns, winner_words, winner_as, names, rater, rater_kind)
        whose = (raters,) if isinstance(raters, str) else tuple(raters)
        made = report_on_files(paths, form_given, raters=whose, seed=seed).report
    elif any((columns, winner_words, winner_as, names, rater, rater_kind, raters)):
        raise Misuse(
            "columns, winner_words, winner_as, names, rater, rater_kind and raters say how files are read: give files "
            "as `source`.",
            code=USAGE,
        )
    elif isinstance(source, JudgeRun):
        made = report_on(source.ledger, choice, run, seed=seed, among=source.on_record()).report
    else:
        ledger = ledger_at(cast("GivenLedger | None", source), create=False)
        made = report_on(ledger, choice, run, seed=seed).report
    if written_as == "html":
        more = write_page(made, target).as_json()
    else:
        write_out(target, tables_of(made, written_as).text.encode())
        more = {"out": str(out)}
    return ReportResult(report=made, path=Path(out), document={**document_of(made), **more})


def _files(source: object) -> list[Path]:
    """Of battles; none where a ledger is meant."""
    if isinstance(source, str | Path):
        return [] if names_ledger(source) else [Path(source)]
    return [Path(one) for one in cast("Sequence[str | Path]", source)] if isinstance(source, Sequence) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportMade:
    report: AnyReport
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
    """Of answers graded alone where no comparisons are meant. Raises MixedError where one board must be chosen."""
    found = studies(ledger) if among is None else list(among)
    alone = studies(ledger, purposes=("rubric",))
    if alone and _means_grades(found, alone, choice, study_of_run(ledger, run) if run else None):
        chosen = choose_of_run(ledger, choice, run, among=alone)
        return ReportMade(report=rubric_report(ledger, chosen.studies), notes=chosen.notes)
    board = choose_of_run(ledger, choice, run, among=found)
    study = study_of_run(ledger, run) if run else None
    made = with_grades(board.studies, found, see=choice.see, run=study)
    return ReportMade(report=report_of(ledger, made, seed=seed), notes=board.notes)


def _means_grades(
    boards: Sequence[StudyOnRecord], grades: Sequence[StudyOnRecord], choice: Choice, study: str | None
) -> bool:
    """Whether what was named is of answers graded alone, and of no board."""
    if study is not None:
        return any(one.key == study for one in grades)

    def named(one: StudyOnRecord) -> bool:
        return choice.benchmark in (None, one.benchmark) and choice.protocol in (None, one.condition.protocol)

    return not any(map(named, boards)) and any(map(named, grades))


def report_on_files(
    paths: Sequence[Path],
    form: PreferenceForm = AS_IT_IS,
    *,
    raters: Sequence[str] = (),
    seed: int = 0,
) -> ReportMade:
    """`raters`: whose board, people's where people and models judged. Raises ExchangeError."""
    report = file_report(paths, form, raters=raters, seed=seed)
    return ReportMade(report=report, notes=() if report.choice is None else (report.choice,))


def write_page(report: AnyReport, place: Place) -> WrittenReport:
    """Raises ChartError where it cannot be drawn or written, OutputRefused."""
    if isinstance(report, RubricReport):
        return write_rubric_report(report, place)
    return write_file_report(report, place) if isinstance(report, FileReport) else write_report(report, place)


def charts_of(report: BoardReport | RubricReport) -> "alt.VConcatChart":
    if isinstance(report, RubricReport):
        raise Misuse("Grades by criteria are a table and no picture; leave out --plot.", code=USAGE)
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


def tables_of(report: AnyReport, form: Tables) -> WrittenTables:
    if isinstance(report, RubricReport):
        sheets, sentences = report.table.sheets, report.table.sentences
        text = written([long_sheet(sheets)] if form == "csv" else sheets, form, sentences)
        return WrittenTables(text=text, sentences=sentences)
    if isinstance(report, FileReport):
        sheets, audits, below = file_sheets(report), None, list[str]()
        asked = of_files.trust_asked(report)
    else:
        sheets, audits = all_sheets(report), report.audits
        below = [reliability_sentences(report.board)[0], *notes(report)]
        asked = trust_asked(report)
    trusted = trust_word(report.board.reliability, audits, report.beside_people).words
    opening = [*_summary(report), f"{asked} {trusted}"]
    text = written([long_sheet(sheets)] if form == "csv" else sheets, form, below, opening=opening)
    return WrittenTables(text=text, sentences=(*opening, *below))


def _summary(report: AnyReport) -> list[str]:
    if isinstance(report, RubricReport):
        return list(report.table.sentences)
    return of_files.summary(report) if isinstance(report, FileReport) else summary(report)


def document_of(report: AnyReport) -> dict[str, Json]:
    if isinstance(report, RubricReport):
        return report.document
    if isinstance(report, FileReport):
        return of_files.document(report)
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
        "grades": [dict(one.document) for one in report.grades],
        "audit": None if report.audits is None else report.audits.as_json(),
        "people": None if report.beside_people is None else report.beside_people.sentence,
        "read_first": report.reading.as_json(),
        "chain": report.head.as_json(),
    }
