"""Dollars: an estimate is reserved before a call is sent and settled when its price is known."""

import asyncio


class Budget:
    """`most` in dollars, or None for no limit. Reservations never exceed it, whatever is in flight."""

    def __init__(self, most: float | None, *, spent: float = 0.0) -> None:
        self._most = most
        self._reserved = 0.0
        self._unsettled = 0
        self._settled = asyncio.Event()
        self.spent = spent
        self.reached = False

    @property
    def limited(self) -> bool:
        return self._most is not None

    def allows(self, estimate: float | None) -> bool:
        """Whether such a call may be made where none is in flight."""
        return self._most is None or (estimate is not None and self.spent + estimate <= self._most)

    async def reserve(self, estimate: float | None) -> bool:
        """False where the call could take the run over its budget.

        Estimates are upper bounds, so what the calls in flight really cost may leave room: it waits for them first.
        """
        if self._most is None:
            return True
        assert estimate is not None, "a budget without a price is refused before the run starts"
        while self.spent + self._reserved + estimate > self._most:
            if not self._unsettled:
                self.reached = True
                return False
            self._settled.clear()
            await self._settled.wait()
        self._unsettled += 1
        self._reserved += estimate
        return True

    def settle(self, estimate: float | None, actual: float | None) -> None:
        """The call is over: what it cost replaces what was reserved; a failed call costs what is known, or nothing."""
        self.spent += actual or 0.0
        if self._most is None or estimate is None:
            return
        self._unsettled -= 1
        self._reserved = self._reserved - estimate if self._unsettled else 0.0
        self._settled.set()
