"""A run's hold on the ledger: who writes, what is claimed and for how long, and what others do beside it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic

from evenhand.engine.run.batches import BatchDesks
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.claiming import CLAIM_BATCH, LOOK_SECONDS, Claiming, Lease
from evenhand.engine.run.others import Others
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.run.task import R, S, Task
from evenhand.ledger.store.claims import holder_name, release_all
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWork:
    """How a run shares its work with other runs on the ledger, and itself with other processes."""

    waits: bool = False
    """For what other runs hold, until they have asked it or left it."""
    claims: int = CLAIM_BATCH
    """So much at once."""
    crew: bool = False
    """Several processes are at the run."""
    helps: bool = False
    """Another process leads, and counts what is on record."""


class Holding(Generic[S, R]):
    """From `begin` to `end`. What is committed, claimed and set aside goes through it, in the writer's one thread."""

    def __init__(
        self,
        task: Task[S, R],
        *,
        ledger: Ledger,
        context: CallContext,
        run: str,
        sharing: SharedWork,
        tally: Tally,
        stop: StopSign,
        in_flight: Callable[[], int],
    ) -> None:
        holder = holder_name(run, present=True)
        self.desks = BatchDesks.of(context.batches, context.second and context.second.batches)
        self.others = Others(ledger, study=task.study, run=run)
        self.writer = Writer(
            ledger,
            study=task.study,
            holder=holder,
            in_flight=in_flight,
            shared=sharing.crew,
            purse=context.budget.on_disk,
            batches=self.desks,
        )
        self.claiming = Claiming(
            task,
            ledger=ledger,
            writer=self.writer,
            holder=holder,
            tally=tally,
            desks=self.desks,
            others=self.others,
            waits=sharing.waits,
        )
        self.lease = Lease(ledger, holder=holder, writer=self.writer, stop=stop)
        self._ledger, self._holder, self._budget = ledger, holder, context.budget
        self._sharing, self._stop = sharing, stop
        context.budget.begin(run, self.writer.run, by_batch=context.by_batch, waits=sharing.waits)
        if self.desks is not None:
            self.desks.begin(run, holder, self.writer.run)

    async def begin(self) -> None:
        await self.lease.begin(self._budget.on_disk)
        await self.writer.run(self.others.begin)

    def beside(self) -> "list[asyncio.Task[None]]":
        """What goes on all the while; for whoever ends the run to cancel."""
        each = (self.lease.keep(), self._leave_to_others(), self._watch_others())
        return [asyncio.create_task(one) for one in each]

    async def end(self, *, last: Entries) -> None:
        """Commits what is pending and `last`, and lets go of the rest."""
        try:
            await self.writer.close(last=last, then=self._let_go)
        finally:
            await self.lease.end()

    async def _leave_to_others(self) -> None:
        try:
            await self._budget.let_go_when_idle()
        except LedgerError as error:
            self._stop.fail(error)

    async def _watch_others(self) -> None:
        """What they have done that this run has not come to."""
        while self._sharing.waits and not self._sharing.helps:
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(LedgerError):
                await self.writer.run(self.others.look)

    def _let_go(self) -> None:
        release_all(self._ledger, holder=self._holder)
        if (purse := self._budget.on_disk) is not None:
            # Where a commit failed, what its calls cost is not on record: that is kept off the budget.
            purse.give_back(keep=isinstance(self._stop.error, LedgerError))
