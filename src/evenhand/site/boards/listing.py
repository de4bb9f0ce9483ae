"""Which boards the ledger holds, and of people's which parts one may see.

Whoever compares must not read how others chose: what people judge is the owner's to see until they close the study, or
choose to show its board while it runs. All pages and documents of a board take it from here.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evenhand.domain.identity import content_hash
from evenhand.domain.rater import is_scripted
from evenhand.domain.trial import seen
from evenhand.exchange.judgements.row import IMPORTED
from evenhand.ledger.read.people_boards import PeoplePart, given_back, people_parts
from evenhand.ledger.read.projection import StudyOnRecord, items_of, reached_together, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import read_as_they_count
from evenhand.reports.board.withheld.released import ReleasedBoard
from evenhand.site.documents import BoardListed
from evenhand.site.http.visibility import bare_items

PEOPLE = "people"
"""Stands for the judges of a board whose raters are persons: their names are nobody's business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardOnRecord:
    """Studies that agree in data, judge, settings, prompt, readout and variant; persons count as one judge."""

    id: str
    studies: tuple[StudyOnRecord, ...]
    """Those that count."""
    alone: tuple[StudyOnRecord, ...] = ()
    """Of these, whichever part is looked at, those that are no person's share of a study for people."""
    shares: tuple[StudyOnRecord, ...] = ()
    """Of people: all that may be seen, those of studies that the owner set aside too."""
    parts: tuple[PeoplePart, ...] = ()
    """The people's studies that they come from, the oldest first."""
    part: PeoplePart | None = None
    """The one that is looked at alone."""
    untold: frozenset[str] = frozenset()
    """Keys of those studies by which a submission is still being judged: how far they are is the owner's to see."""
    bare: bool = False
    """Whether it was judged elsewhere on items that have nothing to withhold: then no verdict is left out of it."""

    @property
    def _first(self) -> StudyOnRecord:
        return (self.studies or self.shares)[0]

    @property
    def running(self) -> tuple[PeoplePart, ...]:
        """Those of the people's studies counted here that only the owner may see yet."""
        counted = self.parts if self.part is None else (self.part,)
        return tuple(one for one in counted if not one.seen and (one.counts or self.part is not None))

    @property
    def people_out(self) -> int:
        """How many shares of people are left out of it by the owner."""
        counted = [one for one in self.parts if one.counts] if self.part is None else [self.part]
        return sum(len(one.out) for one in counted)

    @property
    def study_query(self) -> str:
        """What an address within this view ends with."""
        return "" if self.part is None else f"&study={self.part.study}"

    def only(self, study: str) -> "BoardOnRecord | None":
        """As that study for people alone makes it; None where it has no part in this board."""
        part = next((one for one in self.parts if one.study == study), None)
        if part is None:
            return None
        return replace(self, studies=tuple(one for one in self.shares if one.key in part.counting), part=part)

    @property
    def benchmark(self) -> str:
        return self._first.benchmark

    @property
    def data(self) -> str:
        return self._first.data

    @property
    def sample(self) -> bool:
        return self._first.sample

    @property
    def scripted(self) -> bool:
        return is_scripted(self._first.rater.name)

    @property
    def human(self) -> bool:
        return self._first.rater.kind == "human"

    @property
    def judge(self) -> str:
        return PEOPLE if self.human else self._first.rater.name

    @property
    def released_as(self) -> ReleasedBoard:
        one = self._first
        return ReleasedBoard.judged_by(self.id, judge=_judge(one), condition=one.condition.key, variant=one.variant)

    @property
    def judged_as(self) -> str:
        return self.released_as.judge

    @property
    def raters(self) -> int:
        return len({study.rater.key for study in self.studies})

    @property
    def protocol(self) -> str:
        return self._first.condition.protocol

    @property
    def imported(self) -> bool:
        """Whether it was judged elsewhere, under words that nobody told."""
        return _imported(self._first)

    @property
    def readout(self) -> str:
        return self._first.condition.readout

    @property
    def see(self) -> str | None:
        """None where nobody knows, as of what was imported."""
        return seen(self._first.condition)

    @property
    def variant(self) -> str:
        return self._first.variant

    @property
    def settings(self) -> str:
        """What tells apart two boards of one judge."""
        settings = ", ".join(f"{name} {value}" for name, value in self._first.rater.settings.as_json().items())
        return settings or "no settings"


def boards_on_record(ledger: Ledger, *, running: bool = False) -> tuple[BoardOnRecord, ...]:
    """By benchmark and judge; those without a single verdict are left out.

    `running`: with what people judge in studies that still run, and how far submissions are that are being judged,
    which is for the owner. A board on which nothing counts has no studies: its parts can be looked at one by one.
    """
    parts = tuple(one for one in people_parts(ledger) if running or one.seen)
    seen = frozenset[str]().union(*(one.records for one in parts))
    counting = frozenset[str]().union(*(one.counting for one in parts if one.counts))
    hidden = frozenset[str]().union(*(one.records for one in people_parts(ledger))) - seen | given_back(ledger)
    grouped: dict[str, list[StudyOnRecord]] = {}
    for study in studies(ledger, everything=True):
        if study.decided and study.key not in hidden:
            grouped.setdefault(_identity(study), []).append(study)
    under_way = {label for label, one in submitted_models(ledger).items() if one.standing.under_way and not running}
    judged_elsewhere = {one.data for some in grouped.values() for one in some if _imported(one)}
    bare = {
        data for data in judged_elsewhere if bare_items(ledger, data) >= {one.digest for one in items_of(ledger, data)}
    }
    found = (
        BoardOnRecord(
            id=identity,
            studies=tuple(one for one in some if one.key in counting or one.key not in seen),
            alone=tuple(one for one in some if one.key not in seen),
            shares=tuple(one for one in some if one.key in seen),
            parts=tuple(part for part in parts if any(one.key in part.records for one in some)),
            untold=frozenset(one.key for one in some if one.new in under_way),
            bare=_imported(some[0]) and some[0].data in bare,
        )
        for identity, some in grouped.items()
    )
    return tuple(sorted(found, key=lambda board: (board.benchmark, board.human, board.judge, board.protocol, board.id)))


def boards_listed(ledger: Ledger, *, running: bool = False) -> list[BoardListed]:
    """Those on which something counts, as the API lists them."""
    return read_as_they_count(ledger, lambda _: _listed(ledger, running=running))


def _listed(ledger: Ledger, *, running: bool) -> list[BoardListed]:
    return [
        {
            "board": one.id,
            "benchmark": one.benchmark,
            "data": one.data,
            "sample": one.sample,
            "judge": one.judge,
            "protocol": one.protocol,
            "readout": one.readout,
            "variant": one.variant or None,
            "trials": reached_together(ledger, [study for study in one.studies if study.key not in one.untold]),
        }
        for one in boards_on_record(ledger, running=running)
        if one.studies
    ]


def _identity(study: StudyOnRecord) -> str:
    return content_hash("board", [study.data, _judge(study), study.condition.key, study.variant])[:16]


def _imported(study: StudyOnRecord) -> bool:
    return study.condition.protocol == IMPORTED.protocol


def _judge(study: StudyOnRecord) -> str:
    return PEOPLE if study.rater.kind == "human" else study.rater.key


def found_board(boards: Iterable[BoardOnRecord], board: str) -> BoardOnRecord | None:
    return next((one for one in boards if one.id == board), None)
