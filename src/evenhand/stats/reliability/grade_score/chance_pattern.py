"""Which of the orders shown count, and what a judge who picks at random and one who is never moved score on them."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from evenhand.stats.reliability.grade_score.option_rows import (
    FloatArray,
    IntArray,
    OptionScores,
    Orders,
    Tallies,
    counted,
    rotations,
    scores,
)

MOST_WAYS = 300_000
"""Up to here every way to pick is scored; beyond it a sample."""

_AT_ONCE = 2_000_000
"""Numbers held at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChancePattern:
    options: int
    kept: tuple[int, ...]
    """The trials whose choice counts, by number, rising."""
    orders: Orders | None = None
    """Of all trials, where they are not the rotations."""

    def __post_init__(self) -> None:
        if self.options < 2:
            raise ValueError(f"A judge with {self.options} option has no choice, so there is no chance level.")

    @classmethod
    def whole(cls, options: int, orders: Orders | None = None) -> "ChancePattern":
        return cls(options=options, kept=tuple(range(len(orders or range(options)))), orders=orders)

    @property
    def is_whole(self) -> bool:
        return len(self.kept) == len(self.orders or range(self.options))

    @property
    def ways(self) -> int:
        """To pick a place in each trial that counts, as many as have to be tried: see `enumerated`."""
        return self.options ** (len(self.kept) - (self.orders is None))

    @property
    def attainable(self) -> float:
        """The Grade Score of a judge who always picks the same option: 1 for a row shown in all its rotations.

        Of other orders that count in part it may hang on the option: then that of the option which fares best.
        """
        if len(self.kept) < 2:
            return 0.0
        if self.orders is not None:
            shown = np.array(self.orders)[list(self.kept)]
            place = np.stack([np.argmax(shown == option, axis=1) for option in range(self.options)])
            return float(_scores_of_places(place, self).grade.max())
        llm = math.log2(len(self.kept)) / math.log2(self.options)
        return 2 * llm / (llm + 1)

    def turned(self) -> "ChancePattern":
        """One for all that differ by a turn of the rotations, which changes no expected score."""
        if self.orders is not None:
            return self
        turns = (sorted((one + step) % self.options for one in self.kept) for step in range(self.options))
        return ChancePattern(options=self.options, kept=tuple(min(turns)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedPattern:
    llm: float
    choice: float
    grade: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    expected: ExpectedPattern
    standard_error: float
    """Of the Grade Score."""


@cache
def enumerated(pattern: ChancePattern) -> ExpectedPattern:
    """The mean over all options ** kept ways to pick a place in each rotation that counts.

    The places and the options chosen depend on each other, so both are counted in every one of them. In rotations
    adding one step to every place only turns places and options round, so the first place is held at 0.
    """
    options, kept = pattern.options, len(pattern.kept)
    if not kept:
        return ExpectedPattern(llm=0.0, choice=0.0, grade=0.0)
    ways = pattern.ways
    held = [0] if pattern.orders is None else []
    totals = np.zeros(3)
    for begun in range(0, ways, _AT_ONCE // kept):
        way = np.arange(begun, min(begun + _AT_ONCE // kept, ways))
        free = (way // options**trial % options for trial in range(kept - len(held)))
        place = np.stack([*(np.full_like(way, first) for first in held), *free], axis=1)
        found = _scores_of_places(place, pattern)
        totals += [found.llm.sum(), found.choice.sum(), found.grade.sum()]
    llm, choice, grade = (float(total) for total in totals / ways)
    return ExpectedPattern(llm=llm, choice=choice, grade=grade)


@cache
def simulated(pattern: ChancePattern, *, draws: int, seed: int) -> Simulated:
    shown = [option for order in pattern.orders or () for option in order]
    rng = np.random.default_rng([seed, pattern.options, *pattern.kept, *shown])
    kept = len(pattern.kept)
    at_once = max(1, _AT_ONCE // kept)
    parts = [
        _scores_of_places(rng.integers(0, pattern.options, (min(at_once, draws - begun), kept)), pattern)
        for begun in range(0, draws, at_once)
    ]
    llm, choice, grade = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("llm", "choice", "grade")
    )
    expected = ExpectedPattern(llm=float(llm.mean()), choice=float(choice.mean()), grade=float(grade.mean()))
    return Simulated(expected=expected, standard_error=float(grade.std(ddof=1)) / math.sqrt(draws))


def _scores_of_places(place: IntArray, pattern: ChancePattern) -> OptionScores:
    """Rows x trials that count: the places chosen."""
    orders = np.array(pattern.orders or rotations(pattern.options))[list(pattern.kept)]
    weight: FloatArray = np.ones(place.shape)
    return scores(
        Tallies(
            places=counted(place, weight, pattern.options),
            options=counted(orders[np.arange(len(pattern.kept)), place], weight, pattern.options),
        )
    )
