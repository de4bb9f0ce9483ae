"""A board: the models in order, the judge's reliability beside them, and what was left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.trial import seen
from evenhand.format.result import PRINTED, Result
from evenhand.reports.board.clusters import Clusters
from evenhand.reports.board.evidence import EvidenceSource
from evenhand.reports.board.findings import Findings
from evenhand.reports.board.jury import JuryOnBoard
from evenhand.reports.board.methods import RatingMethod
from evenhand.reports.board.people import PeopleOnBoard
from evenhand.reports.board.soft import SoftOnBoard
from evenhand.reports.board.steering import steering_json, steering_sentences
from evenhand.stats.intervals import error_of
from evenhand.stats.ratings.differences.neighbours import NeighbourTest
from evenhand.stats.reliability import Coverage, Summary

if TYPE_CHECKING:
    import altair as alt

    from evenhand.ledger.read.steering import Steering

Unit: TypeAlias = Literal["votes", "battles", "rows"]
"""What was rated; rows are whatever a file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    model: str
    rank: int | None
    """Within the component; None where the model has no battles."""
    rank_lower: int | None = None
    """The best rank it may hold, all models' ranges right together (simultaneous), and in `rank_upper` the worst."""
    rank_upper: int | None = None
    rank_own_lower: int | None = None
    """The same for this model alone: never wider."""
    rank_own_upper: int | None = None
    tier: int | None = None
    rating: Estimate
    """By the board's method: points, or a share from 0 to 1."""
    median: float | None = None
    """Of the resamples, where there are any."""
    win_rate: Estimate
    """A tie counts as half a win."""
    wins: float
    losses: float
    ties: float
    component: int | None
    """From 1, the largest first; models of different components cannot be compared."""
    note: str | None = None
    provisional: bool = False
    """Of Elo: too few battles to have left its start."""
    placed: Mapping[str, Json] | None = None
    """Where it was placed at looks planned beforehand: how far that has come. Its interval is the repeated one then."""

    @property
    def error(self) -> float | None:
        """The standard error of the rating; of a repeated interval, which reaches further, too. None without one."""
        errors = None if self.placed is None else self.placed.get("standard_errors")
        if not isinstance(errors, float) or self.rating.lower is None or self.rating.upper is None:
            return error_of(self.rating)
        return (self.rating.upper - self.rating.lower) / 2 / errors

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.model,
            **self.rating.as_json("rating"),
            "median": self.median,
            "rank": self.rank,
            "rank_lower": self.rank_lower,
            "rank_upper": self.rank_upper,
            "rank_own_lower": self.rank_own_lower,
            "rank_own_upper": self.rank_own_upper,
            "tier": self.tier,
            **self.win_rate.as_json("win_rate"),
            "wins": whole(self.wins),
            "losses": whole(self.losses),
            "ties": whole(self.ties),
            "component": self.component,
            "provisional": self.provisional,
            "note": self.note,
            "placed": self.placed,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Board(Result):
    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = (
        "rank", "model", "rating", "rating_lower", "rating_upper", "win_rate", "wins", "losses", "ties", "note",
    )  # fmt: skip

    origin: EvidenceSource
    rated_by: RatingMethod
    unit: Unit
    models: tuple[BoardRow, ...]
    """Component after component, each from its best model down; those without a battle last."""
    votes: int
    """Verdicts, or a file's rows."""
    battles: int
    """Of the record: items, pairs and raters with a verdict; of a file its rows, unless they were joined."""
    items: int | None
    """None where no items are named."""
    coverage: Coverage
    reliability: Summary | None
    """None where no pair of one item was seen in both orders, or nobody knows."""
    basis: tuple[str, ...]
    """Sentences: what the intervals are, and what the data cannot tell."""
    remarks: tuple[str, ...]
    """Sentences: what was read how, and what was left out."""
    settings: Mapping[str, Json]
    """All that was asked for, so that the same board can be made again."""
    findings: Findings
    """What more the verdicts tell; worked out when first looked at."""
    clusters: Clusters
    """Which rows were not taken for independent, and who carries the most weight."""
    steering: Mapping[str, "Steering"] = field(default_factory=dict[str, "Steering"])
    """By model, what its answers say to the judge; empty where nobody knows."""
    about_ranks: tuple[str, ...] = ()
    """Of `basis`, the sentences about which models are separated, and how that was judged; the result first."""
    about_repeats: tuple[str, ...] = ()
    """A sentence where rows that share a weight would put others first if each counted in full."""
    about_intervals: tuple[str, ...] = ()
    """Of `basis`, the sentences about intervals that are not of one look: those for all times, and those of models that
    were placed at looks planned beforehand."""
    neighbours: tuple[NeighbourTest, ...] = ()
    """Each model against the next on the list; empty where there are too many to test."""
    people: PeopleOnBoard | None = None
    """Where the ratings are of a judge's verdicts corrected by people's."""
    soft: SoftOnBoard | None = None
    """Where the ratings are of how likely the judge was to prefer each side."""
    jury: JuryOnBoard | None = None
    """Where several judges are one."""
    more: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Fields that its document has besides its own: of a ledger's board the judge's latest audits."""

    @property
    def headline(self) -> str:
        origin = self.origin
        judged = "" if origin.judge is None else f", judged by {origin.judge}"
        best = f", {self.models[0].model} first" if self.models else ""
        about = origin.benchmark or origin.source or "a frame"
        return f"Board of {about}: {len(self.models)} models by {self.method}{best}, {self.votes:,} verdicts{judged}"

    @property
    def sentences(self) -> tuple[str, ...]:
        from evenhand.reports.board.shown.table import reliability_sentences

        return (*self.told, *reliability_sentences(self), *self.notes)

    @property
    def method(self) -> str:
        return self.rated_by.name

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences: which models write verdicts, give the judge orders, or leave it without a verdict."""
        return steering_sentences(self.steering)

    @property
    def about_missing(self) -> tuple[str, ...]:
        """Sentences: what the missing verdicts could change, and of which models more are missing than of others."""
        from evenhand.reports.board.shown.columns import missing_sentences

        return missing_sentences(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """Every further sentence of the board."""
        corrected = () if self.people is None else self.people.sentences
        soft = () if self.soft is None else self.soft.sentences
        jury = () if self.jury is None else self.jury.sentences
        return (*corrected, *soft, *jury, *self.about_missing, *self.about_repeats, *self.basis, *self.remarks)

    def __str__(self) -> str:
        """What `evenhand rank` prints, without colours and with parameters for flags."""
        from rich.console import Console

        from evenhand.reports.board.shown.table import print_board

        console = Console(file=StringIO(), width=PRINTED, highlight=False, emoji=False, color_system=None)
        with console.capture() as printed:
            print_board(self, console, python=True)
        return printed.get().rstrip()

    def as_json(self) -> dict[str, Json]:
        origin = self.origin
        found = self.findings.of_models()
        return {
            "schema": 1,
            "method": self.method,
            "unit": self.unit,
            "settings": dict(self.settings),
            "source": origin.source,
            "source_sha256": origin.digest,
            "columns": None if origin.columns is None else dict(origin.columns),
            "benchmark": origin.benchmark,
            "sample": origin.sample,
            "judge": origin.judge,
            "protocol": origin.protocol,
            "readout": origin.readout,
            "see": seen(origin.condition),
            "votes": self.votes,
            "battles": self.battles,
            "items": self.items,
            "clusters": self.clusters.as_json(),
            "people": None if self.people is None else self.people.as_json(),
            "soft": None if self.soft is None else self.soft.as_json(),
            "jury": None if self.jury is None else self.jury.as_json(),
            "models": [
                {**one.as_json(), **found[one.model], **steering_json(self.steering, one.model)} for one in self.models
            ],
            "neighbours": [one.as_json() for one in self.neighbours],
            **self.findings.as_json(),
            "coverage": self.coverage.as_json(),
            "reliability": None if self.reliability is None else self.reliability.as_json(),
            "notes": [*self.told, *self.notes],
            **self.more,
        }

    def chart(self) -> "alt.VConcatChart":
        """The ratings with their intervals, and below them who beats whom. Raises ChartError."""
        from evenhand.reports.board.shown.charts import board_chart

        return board_chart(self)
