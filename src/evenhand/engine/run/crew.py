"""Several processes at one run. One leads: it hands out places and starts, and hears what its helpers have done.

Each has a runner of its own over the whole plan; who asks what is settled by the claims in the ledger, and what may be
spent by the budget there. What goes between them are small messages, so that a pipe does as well as anything else that
carries them. Nothing here starts a process. `leading` and `helping` are the two sides.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from evenhand.domain.errors import EvenhandError, Misuse
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.claiming import CLAIM_BATCH
from evenhand.engine.run.retry import LongPause
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import CHUNK

Message: TypeAlias = dict[str, Any]
Say: TypeAlias = Callable[[Message], None]

CLAIMED_AT_ONCE = 50
"""Fewer than a run alone claims: of a small plan each process gets a part."""
PLANNED_AT_ONCE = 2 * CLAIMED_AT_ONCE
"""Fewer than a run alone plans: what another asks before it is claimed here was planned in vain."""
ERRORS: dict[str, type[EvenhandError]] = {"misuse": Misuse, "ledger": LedgerError, "pause": LongPause}
"""That end a run, by what they are called in a message."""

SUMS = ("reread", "called", "requests", "verdicts", "cost_usd", "cost_unknown")
COUNTS = ("no_verdict", "failed", "tokens", "tiers", "adapted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the record says of a run, whoever put it there and whatever became of that process."""

    results: Counter[str]
    """Of the run, by why they hold no decision, "" where they do."""
    reread: int | None = None
    """Of these, how many were read from replies that were on record before; None: the processes' own counts hold."""
    decided: int | None = None
    """Of all that was planned, how much has a result, whosever it is; None: by what who leads has come to."""
    of_everyone: bool = False
    """`results` and `reread` hold what other runs asked meanwhile too: nothing says who wrote an answer down."""


OnRecord: TypeAlias = Callable[[bool], Standing]
"""Looks the standing up. True: a process has died, and what it counted is not known."""


class Crew(Protocol):
    """What a run needs to know of those who share it."""

    @property
    def leads(self) -> bool: ...

    @property
    def claims(self) -> int:
        """How much each claims at once."""
        ...

    @property
    def planned(self) -> int:
        """How much each plans at once."""
        ...

    @property
    def begins(self) -> float:
        """Behind which share of the plan it begins, to come to what is before that last: so that each is at another
        part, and finds what others had asked when it comes there."""
        ...

    def limited(self, context: CallContext) -> CallContext:
        """With the limits that all share."""
        ...

    async def run_of(self, job: str, begin: Callable[[], str]) -> str | None:
        """Under which all put their calls on record: begun by who leads; None where the job is over already."""
        ...

    def beside(self, job: str, tally: Tally, stop: StopSign) -> AbstractAsyncContextManager[None]:
        """What goes on while this process is at the job."""
        ...

    async def ended(self, job: str, tally: Tally, stop: StopSign, overrun: str) -> None:
        """This process has done its part. Who leads waits for the others."""
        ...

    def together(self, tally: Tally, job: str, on_record: OnRecord) -> Tally:
        """What all have done, now that it is over."""
        ...

    async def dismissed(self) -> None:
        """Nothing more is to be done. Who leads is the last to go."""
        ...


class _Alone:
    """Of a process that shares its run with nobody."""

    leads = True
    claims = CLAIM_BATCH
    planned = CHUNK
    begins = 0.0

    def limited(self, context: CallContext) -> CallContext:
        return context

    async def run_of(self, job: str, begin: Callable[[], str]) -> str | None:  # noqa: ARG002
        return begin()

    def beside(self, job: str, tally: Tally, stop: StopSign) -> AbstractAsyncContextManager[None]:  # noqa: ARG002
        return nullcontext()

    async def ended(self, job: str, tally: Tally, stop: StopSign, overrun: str) -> None:
        pass

    def together(self, tally: Tally, job: str, on_record: OnRecord) -> Tally:  # noqa: ARG002
        return tally

    async def dismissed(self) -> None:
        pass


ALONE = _Alone()


def told(tally: Tally) -> Message:
    """What the other side needs of it."""
    return {name: getattr(tally, name) for name in SUMS} | {name: dict(getattr(tally, name)) for name in COUNTS}


def heard(message: Message) -> Tally:
    counted: dict[str, Any] = {name: Counter(message[name]) for name in COUNTS}
    return Tally(**{name: message[name] for name in SUMS}, **counted)
