"""A scale from low to high, on which numbers of one kind are drawn beside each other."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    low: float
    high: float

    def share(self, value: float) -> float:
        """How far along it lies, from 0 to 1."""
        span = (self.high - self.low) or 1.0
        return min(max((value - self.low) / span, 0.0), 1.0)


SHARES = Axis(low=0.0, high=1.0)
