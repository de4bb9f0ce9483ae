"""How far the record has got: what a projection was made of, so that one made before can be told from a fresh one."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from sqlalchemy import Connection, bindparam, func, select, text

from evenhand.ledger.read.people_boards import PeoplePart, parts_within
from evenhand.ledger.store import schema
from evenhand.ledger.store.faults import LedgerError
from evenhand.ledger.store.links import Tip, tips
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import submission_events

S = TypeVar("S")
T = TypeVar("T")

_TRIES = 5


class StillChanging(LedgerError):
    """What counts, or may be seen, has changed each time while it was read; asked again, it may be read whole."""

    code = "EH-LEDGER-CHANGING"


def read_unchanged(
    look: Callable[[], S], read: Callable[[S], T], *, by: Callable[[S], object] = lambda seen: seen
) -> T:
    """What is read by what `look` finds, where it finds the same, in what matters `by`, once it was read: of what was
    closed, hidden or set aside meanwhile something may have been said since. Raises StillChanging where it never
    stays."""
    seen = look()
    for _ in range(_TRIES):
        found, now = read(seen), look()
        if by(now) == by(seen):
            return found
        seen = now
    raise StillChanging(
        f"What counts on this board, or may be seen of it, has changed {_TRIES} times while it was read, so nothing is "
        "shown that may be half of each; ask again in a moment."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    judgement: int
    """The newest one's sequence number; 0 where there is none."""
    answer: int
    """Likewise of the choices of which answer stands."""
    choices: int
    """On a server, how many of these there are of late: the one with the smaller number may come later. 0 on SQLite."""
    studies: int
    """How many there are."""
    said: int
    """The newest number of what was said about submissions."""
    events: int
    """How many of these there are: of two that are written at once the one with the larger number may come first."""
    left: int
    """How many of these took a submission off the board; what was made before still names it."""
    people: tuple[PeoplePart, ...]
    """What of people's studies counts, and who may see it."""


_LEFT = ("withdrawn", "refused")
_NUMBERS = select(
    select(func.max(schema.judgements.c.seq)).scalar_subquery(),
    select(func.max(schema.response_choices.c.seq)).scalar_subquery(),
    select(func.count()).select_from(schema.studies).scalar_subquery(),
    select(func.max(submission_events.c.seq)).scalar_subquery(),
    select(func.count()).select_from(submission_events).scalar_subquery(),
    select(func.count(submission_events.c.seq)).where(submission_events.c.kind.in_(_LEFT)).scalar_subquery(),
)
_CHOSEN_SINCE = select(func.count()).where(schema.response_choices.c.seq > bindparam("since"))
_LATE = 20_000
"""Rows that others may have put on record while one that began earlier was being written."""


def newest(ledger: Ledger) -> Newest:
    with ledger.reading() as connection:
        last, answer, studies, said, events, left = connection.execute(_NUMBERS).one()
        late = 0
        if answer and connection.dialect.name != "sqlite":
            late = connection.execute(_CHOSEN_SINCE, {"since": answer - _LATE}).scalar_one()
        people = parts_within(connection)
    return Newest(
        judgement=last or 0,
        answer=answer or 0,
        choices=late,
        studies=studies,
        said=said or 0,
        events=events,
        left=left,
        people=people,
    )


def committed(ledger: Ledger) -> tuple[Tip, ...]:
    """Another whenever something came on record, where the newest numbers alone do not tell: on a server two may write
    at once, and of the two the one with the smaller numbers may be there later. Nothing on SQLite."""
    if ledger.engine.dialect.name == "sqlite":
        return ()
    with ledger.reading() as connection:
        return tuple(tips(connection))


_JUDGED_SINCE = (
    select(schema.judgements.c.seq, schema.trials.c.rater, schema.trials.c.condition)
    .join(schema.trials, schema.trials.c.key == schema.judgements.c.trial)
    .where(schema.judgements.c.seq > bindparam("since"))
)
_ENDED = text("SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)")
"""All transactions with a smaller number are over."""
_BEGUN = text("SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint)")
"""No transaction has this number or a larger one yet."""


@dataclass(frozen=True, slots=True)
class _Horizon:
    seq: int
    begun: int
    """When all transactions before this one are over, all judgements up to `seq` are there."""


class JudgedLast:
    """Whether a rater has judged more under a condition, followed while the record grows: whoever looks at one judge's
    board need not hear of another's verdicts. Those of before the first look are all one."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = Lock()
        self._state: Hashable = None
        self._looks = 0
        self._floor = 0
        """Up to this one all are known."""
        self._known: set[int] = set()
        """Of those after it."""
        self._horizon: _Horizon | None = None
        self._last: dict[tuple[str, str], int] = {}

    def up_to(self, now: Newest, committed: Hashable = ()) -> None:
        """Looks at what is new, where the record is in another state than at the last look."""
        with self._lock:
            if (now.judgement, committed) == self._state:
                return
            if self._state is None:
                self._floor = now.judgement if committed == () else max(0, now.judgement - _LATE)
            first, self._state = self._state is None, (now.judgement, committed)
            self._looks += 1
            with self._ledger.reading() as connection:
                self._look(connection, first=first)

    def _look(self, connection: Connection, *, first: bool) -> None:
        on_server = connection.dialect.name != "sqlite"
        ended = connection.execute(_ENDED).scalar_one() if on_server else 0
        found = connection.execute(_JUDGED_SINCE, {"since": self._floor}).all()
        begun = connection.execute(_BEGUN).scalar_one() if on_server else 0
        for seq, rater, condition in found:
            if seq not in self._known and not first:
                self._last[rater, condition] = self._looks
            self._known.add(seq)
        if self._horizon is not None and ended >= self._horizon.begun:
            self._floor, self._horizon = max(self._floor, self._horizon.seq), None
        if self._horizon is None and self._known:
            self._horizon = _Horizon(max(self._known), begun)
        if not on_server:
            self._floor = max(self._known, default=self._floor)
        self._known = {seq for seq in self._known if seq > self._floor}

    def of(self, raters: Iterable[tuple[str, str]]) -> int:
        """Another number than before when one of these raters, each with a condition, has judged since, as far as was
        looked."""
        return max((self._last.get(one, 0) for one in raters), default=0)
