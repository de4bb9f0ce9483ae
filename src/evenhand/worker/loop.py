"""A loop that plans what is wanted of each kind of work and does it, until it is told to stop."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet

from evenhand.domain.errors import Misuse
from evenhand.engine.run.retry import LongPause
from evenhand.engine.run.stopping import StopSign
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import leave_note

PRESENT = "worker"
"""Under this name the worker says that it is there."""
PRESENCE_SECONDS = 20.0

J = TypeVar("J")


class Stopping:
    """Asked to stop: nothing new is begun, and the runs under way let their calls end."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._signs: WeakSet[StopSign] = WeakSet()

    @property
    def asked(self) -> bool:
        return self._asked.is_set()

    def interrupt(self) -> None:
        self._asked.set()
        for sign in tuple(self._signs):
            sign.interrupt()

    def sign(self) -> StopSign:
        """For one run; each has its own, as one that failed must not stop the next."""
        sign = StopSign()
        self._signs.add(sign)
        if self.asked:
            sign.interrupt()
        return sign

    async def pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._asked.wait(), seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class InPart:
    """What stands in the way of some jobs, which the work itself leaves alone for a while; the others go on."""

    sentence: str


class Work(Protocol[J]):
    """One kind of work. What was done is on record when `act` returns: a kill loses only what was under way."""

    @property
    def name(self) -> str: ...

    def plan(self, now: float) -> Sequence[J]:
        """What is wanted and may be tried at this time; reads the ledger and changes nothing."""
        ...

    async def act(self, jobs: Sequence[J], stopping: Stopping) -> str | InPart:
        """Does it; a sentence for the owner where something stands in the way of all of it, else nothing.

        Raises Misuse, LongPause and LedgerError, whose sentences the owner is shown too.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    idle: float = 2.0
    """Seconds between two looks at what is wanted."""
    trouble: float = 60.0
    """Seconds that a kind of work rests where something stood in its way."""
    once: bool = False
    """Whether to end when nothing is wanted any more."""
    presence: float = PRESENCE_SECONDS
    """Seconds between two times that it says that it is there."""


class _Bench(Generic[J]):
    """One kind of work with its rests and what was last said of it."""

    def __init__(self, work: Work[J], ledger: Ledger) -> None:
        self._work = work
        self._ledger = ledger
        self._rests_until = 0.0
        self.said: str | None = None

    async def turn(self, stopping: Stopping, rhythm: Rhythm) -> bool:
        """Whether anything was done."""
        if time.monotonic() < self._rests_until:
            return False
        try:
            jobs = await asyncio.to_thread(self._work.plan, time.time())
            said = await self._work.act(jobs, stopping) if jobs else None
        except (Misuse, LongPause, LedgerError) as error:
            jobs, said = (), str(error)
        hindered = isinstance(said, str) and bool(said)
        if hindered:
            self._rests_until = time.monotonic() + rhythm.trouble
        sentence = said.sentence if isinstance(said, InPart) else said
        if sentence is not None and sentence != self.said:
            self.said = sentence
            await self._tell(sentence)
        return bool(jobs) and not hindered

    async def keep_on(self, stopping: Stopping, rhythm: Rhythm) -> None:
        while not stopping.asked:
            if not await self.turn(stopping, rhythm):
                if rhythm.once:
                    return
                await stopping.pause(rhythm.idle)

    async def _tell(self, sentence: str) -> None:
        with suppress(LedgerError):  # it is what the sentence may be about
            await asyncio.to_thread(leave_note, self._ledger, self._work.name, sentence)


async def work(kinds: Sequence[Work[Any]], *, ledger: Ledger, stopping: Stopping, rhythm: Rhythm) -> list[str]:
    """Each kind goes its own pace: one that waits for slow servers holds up no other.

    Returns when it was told to stop, or with `once` when nothing is left that can be done; then what stands in the way
    of the rest.
    """
    benches = [_Bench(kind, ledger) for kind in kinds]
    await _say_present(ledger)
    presence = asyncio.create_task(_stay_present(ledger, rhythm.presence))
    try:
        async with asyncio.TaskGroup() as group:
            for bench in benches:
                group.create_task(bench.keep_on(stopping, rhythm))
    except ExceptionGroup as several:
        raise several.exceptions[0] from several
    finally:
        presence.cancel()
    return [bench.said for bench in benches if bench.said]


async def _stay_present(ledger: Ledger, seconds: float) -> None:
    """Beside the work, of which a single turn may take long."""
    while True:
        await asyncio.sleep(seconds)
        await _say_present(ledger)


async def _say_present(ledger: Ledger) -> None:
    with suppress(LedgerError):
        await asyncio.to_thread(leave_note, ledger, PRESENT)
