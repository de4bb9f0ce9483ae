"""Dollars: the most a call can cost is set aside before it is sent, and settled when its price is known."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from evenhand.ledger.store.budgets import (
    BILLION,
    BY_BATCH,
    BudgetAccount,
    BudgetAccountOnDisk,
    BudgetStanding,
    billionths,
)
from evenhand.ledger.store.record import Ledger

AGAIN_SECONDS = 0.5
"""After which it is looked again whether others have left some of a budget."""

Work: TypeAlias = Callable[..., Awaitable[Any]]
"""Does something with the ledger in the thread that writes to it."""


class Budget:
    """`most` in dollars, or None for no limit. What is set aside never exceeds it, whatever is in flight.

    Open, it is on disk: what other processes spend of it counts, and what a kill cuts off is spent.
    """

    def __init__(self, most: float | None) -> None:
        self.most = most
        self._purse = None if most is None else BudgetAccount(most)
        self._work: Work = asyncio.to_thread
        self._waits = False
        self._taking = asyncio.Lock()
        self._unsettled = 0
        self._settlements = 0
        self._settled = asyncio.Event()
        self.spent = 0.0
        """By the calls of this process."""
        self.reached = False
        self.refused: float | None = None
        """The most that a call can cost, in dollars, for which there was not enough; of all that may come next, the
        dearest."""
        self.overrun = ""
        """Why no budget can be kept with this endpoint, where that is so. A sentence."""

    @property
    def limited(self) -> bool:
        return self._purse is not None

    @property
    def on_disk(self) -> BudgetAccountOnDisk | None:
        return self._purse if isinstance(self._purse, BudgetAccountOnDisk) else None

    def open(self, ledger: Ledger, name: str, *, lasts: bool = False) -> bool:
        """Puts it on disk under this name; False where there is no limit, or it is there already.

        `lasts`: it is that of all runs of the command of that name, for good.
        """
        if self.most is None or self.on_disk is not None:
            return False
        self._purse = BudgetAccountOnDisk(ledger, name, most=self.most, lasts=lasts)
        return True

    def close(self, *, done: bool) -> None:
        """`done`: all that was wanted is asked, so that nothing is left to spend it on."""
        if (purse := self.on_disk) is not None:
            purse.leave(done=done)
            self._purse = BudgetAccount(0.0)

    def begin(self, run: str, work: Work, *, by_batch: bool, waits: bool = False) -> None:
        """From here on it is spent by this run. `by_batch`: through batches only. `waits`: for what calls of other runs
        leave of what they may cost."""
        self._work = work
        self._waits = waits
        if self._purse is not None:
            self._purse.begin(f"{BY_BATCH}{run}" if by_batch else run)

    def standing(self) -> BudgetStanding | None:
        """None where it is not on disk."""
        return None if (purse := self.on_disk) is None else purse.standing()

    def left(self) -> float:
        """The most that a call may cost where none is in flight, in dollars."""
        return math.inf if self._purse is None else self._purse.left() / BILLION

    async def reserve(self, estimate: float | None) -> bool:
        """False where the call could take the run over its budget.

        Estimates are upper bounds, so what the calls in flight really cost may leave room: it waits for them first.
        """
        if self._purse is None:
            return True
        assert estimate is not None, "a budget without a price is refused before the run starts"
        most = billionths(estimate)
        while True:
            before = self._settlements
            if self.overrun:
                return False
            if self._purse.bind(most):
                self._unsettled += 1
                return True
            if await self._take(most) or self._settlements != before:
                continue
            if not self._unsettled:
                if await self._others_may_leave_some():
                    await asyncio.sleep(AGAIN_SECONDS)
                    continue
                if self._waits and await self._take(most):  # they left some between the two looks
                    continue
                self.reached = True
                self.refuse(estimate)
                return False
            while self._settlements == before:
                self._settled.clear()
                await self._settled.wait()

    def refuse(self, estimate: float | None) -> None:
        self.refused = max(estimate or 0.0, self.refused or 0.0)

    async def _take(self, most: int) -> bool:
        """Whether that much is free, for a moment at least."""
        purse = self.on_disk
        if purse is None:
            return False
        async with self._taking:
            return purse.free >= most or await self._work(purse.take, most)

    async def _others_may_leave_some(self) -> bool:
        purse = self.on_disk
        if purse is None or not self._waits:
            return False
        await self.let_go()  # else two would wait for each other
        return await self._work(purse.others_hold)

    async def let_go_when_idle(self) -> None:
        """For ever: who has no call under way sets nothing aside. They may be waiting for a place that others have who
        wait for what is set aside here."""
        while self._waits and self.on_disk is not None:
            await asyncio.sleep(AGAIN_SECONDS)
            if not self._unsettled:
                await self.let_go()

    async def let_go(self) -> None:
        """Of what is set aside and no call under way needs: others may be waiting for it."""
        purse = self.on_disk
        if purse is not None and purse.free > 0:
            async with self._taking:
                await self._work(purse.let_go)

    def adopt(self) -> None:
        """A call whose most a batch holds is waited for, as others are: what it costs may leave room."""
        if self._purse is not None:
            self._unsettled += 1

    def set_more_aside(self, estimate: float, most: float) -> None:
        """For a call under way that can cost more than was set aside for it, whether there is room or not."""
        if self._purse is not None:
            self._purse.unbind(billionths(estimate), billionths(most))

    def settle(self, estimate: float | None, actual: float | None, *, frees: bool = True) -> None:
        """The call is over: what it cost replaces what was set aside; a failed call costs what is known, or nothing.

        `frees`: what was set aside is free with that; else when it is said to be `freed`.
        """
        self.spent += actual or 0.0
        if self._purse is None or estimate is None:
            return
        self._purse.unbind(billionths(estimate), billionths(actual or 0.0))
        if frees:
            self.freed(1)

    def freed(self, calls: int) -> None:
        """Nothing is set aside any more for so many calls."""
        if calls:
            self._unsettled -= calls
            self._settlements += calls
            self._settled.set()

    def stop(self, sentence: str) -> None:
        """Sets nothing more aside: the endpoint does not keep to what a call was allowed to cost."""
        self.overrun = self.overrun or sentence
        self.reached = True


def dollars_up(usd: float) -> str:
    """As one may give it for a budget: never less, with four decimals or, where it is very little, two figures."""
    decimals = max(4, 1 - math.floor(math.log10(usd))) if usd > 0 else 4
    return f"{math.ceil(round(usd * 10**decimals, 6)) / 10**decimals:.{decimals}f}"


def in_whole_billionths(usd: float) -> float:
    """Dollars as they come off a budget."""
    return billionths(usd) / BILLION
