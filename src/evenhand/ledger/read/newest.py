"""How far the record has got: what a projection was made of, so that one made before can be told from a fresh one."""

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

from sqlalchemy import bindparam, func, select

from evenhand.ledger.read.people_boards import PeoplePart, parts_within
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import submission_events


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    judgement: int
    """The newest one's sequence number; 0 where there is none."""
    answer: int
    """Likewise of the choices of which answer stands."""
    studies: int
    """How many there are."""
    said: int
    """The newest number of what was said about submissions."""
    left: int
    """The newest that took a submission off the board; what was made before still names it."""
    people: tuple[PeoplePart, ...]
    """What of people's studies counts, and who may see it."""


_LEFT = ("withdrawn", "refused")
_NUMBERS = select(
    select(func.max(schema.judgements.c.seq)).scalar_subquery(),
    select(func.max(schema.response_choices.c.seq)).scalar_subquery(),
    select(func.count()).select_from(schema.studies).scalar_subquery(),
    select(func.max(submission_events.c.seq)).scalar_subquery(),
    select(func.max(submission_events.c.seq)).where(submission_events.c.kind.in_(_LEFT)).scalar_subquery(),
)


def newest(ledger: Ledger) -> Newest:
    with ledger.reading() as connection:
        last, answer, studies, said, left = connection.execute(_NUMBERS).one()
        people = parts_within(connection)
    return Newest(
        judgement=last or 0, answer=answer or 0, studies=studies, said=said or 0, left=left or 0, people=people
    )


_JUDGED_SINCE = (
    select(schema.trials.c.rater, schema.trials.c.condition, func.max(schema.judgements.c.seq))
    .join(schema.trials, schema.trials.c.key == schema.judgements.c.trial)
    .where(schema.judgements.c.seq > bindparam("since"))
    .group_by(schema.trials.c.rater, schema.trials.c.condition)
)


class JudgedLast:
    """The newest judgement of each rater under each condition, followed while the record grows: whoever looks at one
    judge's board need not hear of another's verdicts. Of those before the first look only the newest is known."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = Lock()
        self._before: int | None = None
        self._seen = 0
        self._last: dict[tuple[str, str], int] = {}

    def up_to(self, now: int) -> None:
        """Looks at what is new; `now`: the newest judgement of all."""
        with self._lock:
            if self._before is None:
                self._before = self._seen = now
            if now > self._seen:
                with self._ledger.reading() as connection:
                    found = connection.execute(_JUDGED_SINCE, {"since": self._seen}).all()
                for rater, condition, seq in found:
                    self._last[rater, condition] = seq
                    self._seen = max(self._seen, seq)

    def of(self, raters: Iterable[tuple[str, str]]) -> int:
        """Of these raters, each with a condition, as far as was looked."""
        before = self._before or 0
        return max((self._last.get(one, before) for one in raters), default=before)
