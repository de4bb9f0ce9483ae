"""Dollars: an estimate is reserved before a call is sent and settled when its price is known."""


class Budget:
    """`most` in dollars, or None for no limit. Reservations never exceed it, whatever is in flight."""

    def __init__(self, most: float | None, *, spent: float = 0.0) -> None:
        self._most = most
        self._reserved = 0.0
        self.spent = spent
        self.reached = False

    def reserve(self, estimate: float | None) -> bool:
        """False where the call could take the run over its budget."""
        if self._most is None:
            return True
        assert estimate is not None, "a budget without a price is refused before the run starts"
        if self.spent + self._reserved + estimate > self._most:
            self.reached = True
            return False
        self._reserved += estimate
        return True

    def settle(self, estimate: float | None, actual: float | None) -> None:
        """The call is over: what it cost replaces what was reserved; a failed call costs what is known, or nothing."""
        if self._most is not None and estimate is not None:
            self._reserved -= estimate
        self.spent += actual or 0.0
