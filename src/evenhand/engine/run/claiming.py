"""What of a plan is this run's to ask: claimed in the ledger, beside what others hold and have answered since."""

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from evenhand.domain.call import Request
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.batches import BatchDesks
from evenhand.engine.run.others import Others, ResultsOfOthers
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.run.task import Due, R, S, Task
from evenhand.ledger.store.batches import open_entries
from evenhand.ledger.store.budgets import BudgetAccountOnDisk
from evenhand.ledger.store.claims import LEASE_SECONDS, Claimed, renew
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.presence import Presence
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.writer import Writer

CLAIM_BATCH = 500
LOOK_SECONDS = 1.0
"""Between two looks at what other runs hold, and whether others can see that this one lives."""
_FAILED_MOST = 2000
"""Trials that failed here of which it is looked whether another run has asked them since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours(Generic[S]):
    """Of a batch."""

    mine: Sequence[Due[S]]
    """This run has claimed them."""
    waiting: Collection[str]
    """Keys of their calls that wait in batches which this run does not see to: they are not sent again."""


class Claiming(Generic[S, R]):
    """Takes what is due, a batch at a time."""

    def __init__(
        self,
        task: Task[S, R],
        *,
        ledger: Ledger,
        writer: Writer,
        holder: str,
        tally: Tally,
        desks: BatchDesks | None,
        others: Others,
        waits: bool,
    ) -> None:
        """`waits`: for what other runs hold."""
        self._task = task
        self._ledger = ledger
        self._writer = writer
        self._holder = holder
        self._tally = tally
        self._desks = desks
        self._others = others
        self._waits = waits
        self.came: set[str] = set()
        """Of what is no trial, calls that other runs have made since they were planned here."""
        self.left: list[Due[S]] = []
        """What other runs hold that are waited for, or have taken over; two may share a claim, as they ask the same."""
        self._with_crew: set[str] = set()
        """Of these, the keys that processes of this run held when last looked at."""
        self.met_others = False
        self._failed: dict[str, tuple[Due[S], NoVerdict]] = {}
        """What got no reply here, and why; another run may get one."""

    @property
    def failed(self) -> bool:
        """Whether something got no reply here that another run may get."""
        return bool(self._failed)

    async def take(self, batch: Sequence[Due[S]]) -> Ours[S]:
        """What of it is ours now. What others hold stands in `left`, and what they have decided is known."""
        claimed = await self._claim(batch)
        if self._waits:
            looked_at, keys = {id(due) for due in batch}, {due.key for due in batch}
            self.left = [due for due in self.left if id(due) not in looked_at]
            batch, claimed = await self._answered_meanwhile(batch, claimed)
            self.left += [due for due in batch if due.key in claimed.others]
            self._tally.in_batches += len(keys - claimed.mine - claimed.decided - claimed.others)
            self.met_others = self.met_others or bool(claimed.others)
            self._with_crew = (self._with_crew - keys) | claimed.crew
            self._tally.elsewhere = sum(due.key not in self._with_crew for due in self.left)
        else:
            if self._task.study is None:  # a claim does not say whether the first of two calls was made meanwhile
                batch = await self._with_replies(batch, claimed.mine)
            self._tally.elsewhere += len(claimed.others - claimed.crew)
        self._tally.known += len(claimed.decided)
        found = await self.count_of_others(claimed.decided)
        self._tally.known_no_verdict.update({why: number for why, number in found.others.items() if why})
        await self.link(sorted(claimed.decided))
        mine = [due for due in batch if due.key in claimed.mine]
        waiting = await self.in_open_batches([due.request.key for due in mine if due.stored is None])
        return Ours(mine=mine, waiting=waiting)

    async def count_of_others(self, keys: Collection[str]) -> ResultsOfOthers:
        """Of these trials, which have a result, what others have put on record since this run began."""
        found = await self._writer.run(self._others.among, keys)
        self._tally.by_crew += found.crew.total()
        self._tally.meanwhile += found.others.total()
        return found

    def left_over(self) -> list[Due[S]]:
        """What others held, to be looked at again; each once where what they hold still is left to them."""
        left = [*self.left]
        if not self._waits:
            self.left = []
        return left

    def has_failed(self, due: Due[S], lacking: NoVerdict) -> None:
        if self._waits and len(self._failed) < _FAILED_MOST:
            self._failed[due.key] = (due, lacking)

    def lost(self, due: Due[S]) -> None:
        """Another run has taken it over, or has answered it otherwise."""
        self._failed.pop(due.key, None)
        self.left.append(due)

    async def answered_elsewhere(self) -> AsyncGenerator[Due[S]]:
        """Of what failed here, and is looked at now, what others have got a reply to since; it is not asked a second
        time here."""
        batch = [due for due, _ in self._failed.values()][:CLAIM_BATCH]
        claimed = await self._claim(batch)
        await self._writer.run(self._ledger.commit, Entries(release=sorted(claimed.mine), holder=self._holder))
        for due in batch:
            if due.key in claimed.others:
                continue
            _, lacking = self._failed.pop(due.key)
            if due.key in claimed.decided:
                self._tally.take_back(lacking)
                yield due

    async def link(self, trials: list[str]) -> None:
        """Says that the study wants them, which are on record."""
        if trials and self._task.study is not None:
            await self._writer.run(self._ledger.link, self._task.study, trials)

    async def _claim(self, batch: Sequence[Due[S]]) -> Claimed:
        """Where others are waited for, without what they hold in batches: that may take a day."""
        claimed = await self._writer.run(lambda: self._task.claim(self._ledger, batch, holder=self._holder))
        if not self._waits or not claimed.others:
            return claimed
        held = await self._with_replies(batch, claimed.others)
        calls = {due.key: self._asked_next(due) for due in held if due.key in claimed.others}
        waiting = await self.in_open_batches([*calls.values()])
        return replace(claimed, others={key for key, call in calls.items() if call not in waiting})

    async def _with_replies(self, batch: Sequence[Due[S]], keys: Collection[str]) -> list[Due[S]]:
        """The batch; those of these `keys` with the replies that have come on record since they were planned: another
        run may be at the next step, or have ended before it."""
        unheard = [due.request.key for due in batch if due.key in keys and due.stored is None]
        found = await self._writer.run(self._ledger.find_calls, unheard) if unheard else {}
        came = {due.key for due in batch if due.stored is None and due.request.key in found}
        return [replace(due, stored=found[due.request.key]) if due.key in came else due for due in batch]

    def _asked_next(self, due: Due[S]) -> str:
        """The key of the call that its result waits for: the first, or the one after what is on record."""
        result = due.stored and self._task.read(due, [due.stored.reply])
        return result.key if isinstance(result, Request) else due.request.key

    async def _answered_meanwhile(self, batch: Sequence[Due[S]], claimed: Claimed) -> tuple[Sequence[Due[S]], Claimed]:
        """Where a call says whether something is decided, others may have made it for another name: what came of it
        is written down here too. Elsewhere they may have made it, and gone no further: it is not made again."""
        asked = claimed.mine if self._task.study is not None else claimed.mine | claimed.decided
        batch = await self._with_replies(batch, asked)
        known = {due.key for due in batch if due.key in asked and due.stored is not None}
        if self._task.study is None:
            self.came |= claimed.decided & known
        return batch, replace(claimed, mine=claimed.mine | known, decided=claimed.decided - known)

    async def in_open_batches(self, calls: Sequence[str]) -> Collection[str]:
        """Those that somebody sent in a batch that this run does not see to: they are not sent again."""
        found = await self._writer.run(open_entries, self._ledger, calls)
        if self._desks is None or not found:
            return found
        own = {batch for batch in {one.batch for one in found.values()} if await self._desks.know(batch)}
        return [call for call, one in found.items() if one.batch not in own]


class Lease:
    """How long what was claimed is this run's, and what shows others that it lives."""

    def __init__(self, ledger: Ledger, *, holder: str, writer: Writer, stop: StopSign) -> None:
        self._ledger = ledger
        self._holder = holder
        self._writer = writer
        self._stop = stop
        self._presence = Presence(ledger.engine, holder)
        self._purse: BudgetAccountOnDisk | None = None
        self._until = 0.0
        """Till then what was claimed is ours, if not longer: by the clock, which goes on while a machine sleeps."""

    @property
    def over(self) -> bool:
        return time.time() >= self._until

    async def begin(self, purse: BudgetAccountOnDisk | None) -> None:
        """`purse`: what is set aside there is renewed too."""
        self._purse = purse
        await self._writer.run(self._presence.keep)
        self._until = time.time() + LEASE_SECONDS

    async def begin_anew(self) -> None:
        await self._writer.run(self._renew)
        self._until = time.time() + LEASE_SECONDS

    async def keep(self) -> None:
        """For ever."""
        renewed = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS if self._presence.needed else LEASE_SECONDS / 4)
            # A thread of its own: the one that writes may be waiting for the server.
            unseen = await asyncio.to_thread(self._presence.keep)
            if unseen:  # others may have taken over what we hold, which is looked at before any of it is asked
                self._until = 0.0
            due = time.monotonic() - renewed >= LEASE_SECONDS / 4
            if not unseen and not due:
                continue
            try:
                await self._writer.run(self._renew)
                renewed = time.monotonic()
            except LedgerError as error:
                if due:
                    self._stop.fail(error)

    async def end(self) -> None:
        await asyncio.to_thread(self._presence.end)

    def _renew(self) -> None:
        now = time.time()
        renew(self._ledger, holder=self._holder)
        if now < self._until:  # else some may be others' by now, which is looked at before any is asked
            self._until = now + LEASE_SECONDS
        if self._purse is not None:
            self._purse.renew()
