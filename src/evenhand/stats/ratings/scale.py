"""Where the numbers of a board lie: points per tenfold odds, and the value of the mean or of an anchor."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A gap of `points` makes the odds of winning `base` to one."""

    points: float = 400
    base: float = 10
    start: float = 1000
    """The mean of the models, and Elo's first rating."""
    anchor: str | None = None
    """A model whose rating is `anchor_value`; all others move with it, and intervals are of the difference to it."""
    anchor_value: float = 1000

    def __post_init__(self) -> None:
        if not (self.points > 0 and self.base > 1):
            raise ValueError(f"A scale needs points > 0 and base > 1, not {self.points} and {self.base}.")

    @property
    def unit(self) -> float:
        """Points of one natural unit of strength, odds of e to one."""
        return self.points / math.log(self.base)
