"""The desk between a batch client and the ledger: batches on record, and the dollars that they hold."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Connection

from evenhand.domain.identity import Json
from evenhand.engine.run.budget import Budget
from evenhand.ledger.store import batches
from evenhand.ledger.store.budgets import BILLION, billionths
from evenhand.ledger.store.record import Ledger
from evenhand.models.batch.record import OpenBatch, TakenOver

Work: TypeAlias = Callable[..., Awaitable[Any]]
"""Does something with the ledger in the thread that writes to it."""

_OUT_MOST = 500
"""Replies that are handed out and not on record yet."""


@dataclass(slots=True, eq=False)
class Reserved:
    """For the try that is under way."""

    estimate: float | None = None
    """In dollars; None where there is no limit."""
    in_batch: bool = False
    """A batch on record holds it, not this process."""


class BatchDesk:
    """As BatchRecord says, for one endpoint in one run."""

    def __init__(self, ledger: Ledger, *, endpoint: str, wire: str, budget: Budget) -> None:
        """`endpoint`: its identity. `wire`: the name of the wire that its batches are sent on."""
        self._ledger = ledger
        self._endpoint = endpoint
        self._wire = wire
        self._budget = budget
        self._work: Work = asyncio.to_thread
        self._run = self._holder = ""
        self.reserved: dict[str, Reserved] = {}
        """By key, what is set aside here for calls that are in no batch yet."""
        self._opened: asyncio.Task[list[OpenBatch]] | None = None
        self._held: dict[str, tuple[OpenBatch, int]] = {}
        """By key, the batches that were there when this run began, and what they hold."""
        self.followed: list[OpenBatch] = []
        """Those that were there and those that were sent, but for those that were given up."""
        self._known: set[str] = set()
        """Marks of the batches that were there and those that were sent."""
        self.held_still: set[str] = set()
        """Keys whose reply has come and is not on record yet, so that their batch holds what was set aside."""
        self._out: dict[str, str] = {}
        """By key, the batch that a reply or failure came from which is not on record yet."""
        self._fewer = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, run: str, holder: str, work: Work) -> None:
        """From here on it is this run's. `holder`: whose claims keep others from the same batches."""
        self._run, self._holder, self._work = run, holder, work

    async def held(self, call: str) -> float | None:
        """Dollars that an open batch holds for this call; None where it is in none."""
        await self.open()
        batch, held = self._held.pop(call, (None, 0))  # a second try is not in it any more
        return None if batch is None or call not in batch.calls else held / BILLION

    async def open(self) -> Sequence[OpenBatch]:
        if self._opened is None:
            self._opened = asyncio.ensure_future(self._work(self._load))
        return await asyncio.shield(self._opened)

    def _load(self) -> list[OpenBatch]:
        found: list[OpenBatch] = []
        for one in batches.open_batches(self._ledger, endpoint=self._endpoint):
            if one.run == self._run:
                continue  # the run's other model at this endpoint is sending it
            self._known.add(one.id)
            if one.state in batches.UNSENT and batches.close_unsent(self._ledger, one.id, holder=self._holder):
                continue  # its calls are asked as if they had never been
            calls = batches.open_calls(self._ledger, one.id)
            entries = batches.open_entries(self._ledger, sorted(calls))
            batch = OpenBatch(
                id=one.id, state=one.state, calls=calls, file=one.file, name=one.name, entries=one.entries,
                at=one.at, done=one.done or 0,
            )  # fmt: skip
            self._held |= {call: (batch, entry.held) for call, entry in entries.items()}
            found.append(batch)
        self.followed += [one for one in found if one.state != batches.DROPPED]
        return found

    async def knows(self, batch: str) -> bool:
        """Whether its calls are collected, or sent anew, by this run."""
        await self.open()
        return batch in self._known

    async def holds_more(self) -> bool:
        """Whether batches that were there hold calls that were not asked for yet."""
        await self.open()
        return bool(self._held)

    def has_sent(self, call: str) -> bool:
        """Whether it waits in a batch, or is about to."""
        return any(call in one.calls for one in self.followed)

    async def take(self, batch: OpenBatch) -> set[str]:
        taken = await self._work(lambda: batches.take_batch(self._ledger, batch.id, holder=self._holder))
        if taken is None:
            raise TakenOver(batch.id)
        now, waiting = taken
        batch.state, batch.file, batch.name = now.state, now.file, now.name
        return waiting

    async def begin(self, batch: OpenBatch) -> set[str]:
        calls = sorted(batch.calls)
        ours = {call: one for call in calls if (one := self.reserved.get(call)) is not None}
        if self._budget.limited and len(ours) < len(calls):
            return batch.calls - ours.keys()  # whoever held their dollars has let go of them since
        held = {call: billionths(one.estimate or 0.0) if (one := ours.get(call)) else 0 for call in calls}
        row = {"id": batch.id, "endpoint": self._endpoint, "wire": self._wire, "run": self._run, "state": batch.state}
        self._known.add(batch.id)
        for one in ours.values():  # before: whoever is interrupted from here on leaves it to the batch
            one.in_batch = True
        elsewhere: set[str] = await self._work(
            lambda: batches.begin_batch(self._ledger, row, held, purse=self._budget.on_disk, holder=self._holder)
        )
        if not elsewhere:
            self.followed.append(batch)
        for one in ours.values() if elsewhere else ():
            one.in_batch = False
        return elsewhere

    async def change(self, batch: str, **values: Json) -> None:
        if values.get("state") == batches.DROPPED:
            self.followed = [one for one in self.followed if one.id != batch]
        await self._own(batch, lambda: batches.change_batch(self._ledger, batch, values, holder=self._holder))

    async def close(self, batch: str, note: str) -> None:
        await self._own(batch, lambda: batches.close_batch(self._ledger, batch, note=note, holder=self._holder))

    async def _own(self, batch: str, work: Callable[[], bool]) -> None:
        if not await self._work(work):
            raise TakenOver(batch)

    async def names(self) -> set[str]:
        return await self._work(lambda: batches.names_taken(self._ledger, endpoint=self._endpoint))

    async def room(self, batch: str, call: str) -> None:
        self._loop = asyncio.get_running_loop()
        while len(self._out) >= _OUT_MOST:
            self._fewer.clear()
            await self._fewer.wait()
        self._out[call] = batch

    def handed_out(self, calls: Sequence[str]) -> dict[str, str]:
        """Those of them that are not on record yet, with the batch that they came through. From the thread that
        writes."""
        return {call: batch for call in calls if (batch := self._out.get(call)) is not None}

    def settled(self, calls: Sequence[str]) -> None:
        """They are on record. From the thread that writes."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._let_in, calls)

    def _let_in(self, calls: Sequence[str]) -> None:
        for call in calls:
            self._out.pop(call, None)
        self._fewer.set()
        freed = self.held_still.intersection(calls)
        self.held_still -= freed
        self._budget.freed(len(freed))


class BatchDesks:
    """Those of a run: of the judge, and of the model that reads its replies where that is another."""

    def __init__(self, desks: Sequence[BatchDesk]) -> None:
        self._desks = desks

    @classmethod
    def of(cls, *desks: BatchDesk | None) -> "BatchDesks | None":
        there = [desk for desk in desks if desk is not None]
        return cls(there) if there else None

    @property
    def followed(self) -> list[OpenBatch]:
        """Each once: two models of one endpoint find the same there."""
        return list({one.id: one for desk in self._desks for one in desk.followed}.values())

    def have_sent(self, call: str) -> bool:
        return any(desk.has_sent(call) for desk in self._desks)

    async def know(self, batch: str) -> bool:
        return any([await desk.knows(batch) for desk in self._desks])

    async def hold_more(self) -> bool:
        return any([await desk.holds_more() for desk in self._desks])

    def begin(self, run: str, holder: str, work: Work) -> None:
        for desk in self._desks:
            desk.start(run, holder, work)

    def settled_by_others(self, connection: Connection, calls: Sequence[str]) -> set[str]:
        """Of those that came through a batch, the ones that are settled there already."""
        return batches.not_open(connection, self._by_batch(calls))

    def settle(self, connection: Connection, calls: Sequence[str]) -> None:
        for batch, some in sorted(self._by_batch(calls).items()):
            batches.settle(connection, batch, some)

    def _by_batch(self, calls: Sequence[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for desk in self._desks:
            for call, batch in desk.handed_out(calls).items():
                found.setdefault(batch, []).append(call)
        return found

    def settled(self, calls: Sequence[str]) -> None:
        for desk in self._desks:
            desk.settled(calls)
