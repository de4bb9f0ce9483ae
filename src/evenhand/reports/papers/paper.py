"""A benchmark's paper: its table from the record, for all that show it, and its printed figures recomputed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from evenhand.benchmarks.files.models_file import ModelGroups
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.vote import Joining
from evenhand.format.axis import Axis
from evenhand.format.sheet import Sheet
from evenhand.format.supported import share_interval, share_words
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.board import Board
from evenhand.reports.board.evidence import of_record
from evenhand.reports.board.methods.win_rate import WIN_RATE
from evenhand.reports.board.ranking import Ranking, board
from evenhand.reports.board.withheld.released import Released
from evenhand.reports.papers.reproduce.printed import PrintedTable
from evenhand.reports.papers.scores.creation_score import CreationScore
from evenhand.reports.papers.scores.soft import SoftScores
from evenhand.reports.papers.scores.visit_bench import ELO_ROUNDS, VisitScore
from evenhand.reports.papers.scores.with_people import ScoresWithPeople

if TYPE_CHECKING:
    from evenhand.reports.papers.scores.creation_choosing import CreationStudies

Score: TypeAlias = CreationScore | VisitScore
NONE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """What `score` is asked for; None leaves open what the record holds only one of."""

    benchmark: str
    judge: str | None = None
    protocol: str | None = None
    readout: str | None = None
    variant: str | None = None
    see: str | None = None
    """What the judge was shown of the image."""
    runs: tuple[str, ...] = ()
    against: str | None = None
    by: str | None = None
    """One of the paper's breakdowns; None: the whole table."""
    compare_variants: bool = False
    join: Joining = "visit"
    rounds: int = ELO_ROUNDS
    """Resamples behind Elo's intervals."""
    k: float = 4
    """Elo's step."""
    seed: int = 0
    groups: ModelGroups | None = None
    """Which group each model is of, where the gaps between them are wanted."""
    with_people: bool = False
    """Whether people's verdicts are to correct the judge's."""
    soft: bool = False
    """Whether figures from soft verdicts are to stand beside."""
    form: Literal["table", "csv", "md", "latex"] = "table"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredTable:
    document: Mapping[str, Json]
    sheets: tuple[Sheet, ...]
    sentences: tuple[str, ...]
    board: Board | None
    """Of the same verdicts; the judge's reliability stands under the table. None where no two answers were compared."""
    heading: str = ""
    """The one of the sentences that says what the table is of."""
    lead: str = ""
    """What a reader came for, in a sentence; empty where the table has none."""
    explaining: tuple[str, ...] = ()
    """Those of the sentences that only say how the table is made."""
    asked: tuple[str, ...] = ()
    """Those that answer what a flag asked for."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """Of the sentences those that could change a reader's mind, the gravest first."""
        aside = {self.heading, self.lead, *self.explaining, *self.asked}
        return tuple(one for one in self.sentences if one not in aside)

    notes: tuple[str, ...] = ()
    """Sentences about what was chosen, beside the table."""

    def with_people(self, found: ScoresWithPeople, asked: TableRequest) -> "ScoredTable":
        """With the figures that people's verdicts correct; a CSV file, which is one table, has those alone."""
        sheet = found.sheet(asked.by)
        return replace(
            self,
            document={**self.document, "people": found.as_json()},
            sheets=(sheet,) if asked.form == "csv" else (*self.sheets, sheet),
            sentences=(*found.sentences, *self.sentences),
            asked=(*found.sentences[:1], *self.asked),
            explaining=(*found.sentences[1:], *self.explaining),
        )

    def softly(self, found: SoftScores, asked: TableRequest) -> "ScoredTable":
        """With the figures of soft verdicts; a CSV file, which is one table, has those alone."""
        return replace(
            self,
            document={**self.document, "soft": found.as_json()},
            sheets=(found.sheet(),) if asked.form == "csv" else (*self.sheets, found.sheet()),
            sentences=(*found.sentences, *self.sentences),
            asked=(*found.sentences, *self.asked),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSources:
    """What a report has of a board."""

    judged: JudgedBattles
    items: Sequence[Item]
    seed: int
    graded: "Sequence[CreationStudies]"
    """One for each baseline, preferences with the grades that belong to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSources:
    """What the pages have of a board."""

    benchmark: str
    data: str
    judge: str
    protocol: str
    studies: Sequence[StudyOnRecord]
    graded: Sequence[StudyOnRecord]
    """Grades of visual factuality on other boards."""
    released: Released | None
    """What everybody may count, where something is withheld."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperCell:
    words: str
    interval: str = ""
    estimate: Estimate | None = None
    """Drawn on `axis` where both are there."""
    axis: Axis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRow:
    model: str
    rank: int | None
    cells: tuple[PaperCell, ...]
    linked: bool = True
    """Whether it stands on the board and has a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    caption: str
    headings: tuple[str, ...]
    """Of the cells."""
    rows: tuple[PaperRow, ...]
    rows_of: str = "Model"
    """The heading of their names."""
    ranked_by: str = ""
    """What ranks go by, where rows have some."""
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperPage:
    title: str
    tables: tuple[PaperTable, ...]
    notes: tuple[str, ...]

    def without_empty_columns(self) -> "PaperPage":
        """People give no grades of factuality, say, and need not meet the reference."""
        return replace(self, tables=tuple(map(_without_empty_columns, self.tables)))


def _without_empty_columns(table: PaperTable) -> PaperTable:
    empty = PaperCell(words=NONE)
    kept = [place for place in range(len(table.headings)) if any(row.cells[place] != empty for row in table.rows)]
    return replace(
        table,
        headings=tuple(table.headings[place] for place in kept),
        rows=tuple(replace(row, cells=tuple(row.cells[place] for place in kept)) for row in table.rows),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperOfRecord:
    """How a paper's table is made of what the ledger holds. Its scores are its own; what it makes it can show."""

    score: type[Any]
    """What `for_report` and `for_page` give."""
    protocols: tuple[str, ...]
    """Whose verdicts make it."""
    by: tuple[str, ...]
    """What `score --by` takes."""
    title: str
    figure: str
    """Its chief figure, in a word."""
    table: Callable[[Ledger, TableRequest], ScoredTable]
    """Of `score`. Raises RankError, MixedError."""
    for_report: Callable[[Ledger, ReportSources], tuple[Any, ...]]
    for_page: Callable[[Ledger, PageSources], tuple[Any, ...]]
    """Raises RankError."""
    sheets: Callable[[Any], list[Sheet]]
    """Of the report: the first is shown, the others folded."""
    notes: Callable[[Any], tuple[str, ...]]
    page: Callable[[Any, str | None], PaperPage]
    """Of one category, or of everything with the categories below."""
    best: Callable[[Any], str | None]
    """A sentence for the head of a report."""
    grouped: bool = False
    """Whether it tells groups of models apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    name: str
    """Of its benchmark, whose sample has `-sample` behind it."""
    printed: Callable[[], tuple[PrintedTable, ...]]
    """Its printed tables, recomputed."""
    recorded: PaperOfRecord | None = None
    """None where its table is not one of models."""


def reliability_board(judged: JudgedBattles, seed: int) -> Board:
    return board(of_record(judged, seed), Ranking(method=WIN_RATE.name))


def reliability_json(ranked: Board | None) -> Json:
    return None if ranked is None or ranked.reliability is None else ranked.reliability.as_json()


def points_cell(estimate: Estimate, *, axis: Axis | None = None) -> PaperCell:
    if estimate.value is None:
        return PaperCell(words=NONE)
    # Adding 0 turns -0.0 into 0.0.
    words = f"{round(estimate.value, 2) + 0.0:.2f}"
    bounds = ""
    if estimate.lower is not None and estimate.upper is not None:
        bounds = f"{round(estimate.lower, 2) + 0.0:.2f} to {round(estimate.upper, 2) + 0.0:.2f}"
    return PaperCell(words=words, interval=bounds, estimate=estimate, axis=axis)


def share_cell(estimate: Estimate, *, axis: Axis | None = None) -> PaperCell:
    if estimate.value is None:
        return PaperCell(words=NONE)
    return PaperCell(words=share_words(estimate), interval=share_interval(estimate), estimate=estimate, axis=axis)
