"""A withheld test that is asked again and again: which figure is shown, which is published, what bias to expect."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, clustered_mean

Told: TypeAlias = Literal["scores", "ladder", "items"]
"""What a team learns of each submission: its full score, the ladder's row, or the verdict on every item."""

BIAS: Mapping[Told, Mapping[int, float]] = MappingProxyType(
    {
        "scores": {5: 0.015, 50: 0.042, 200: 0.080},
        "ladder": {5: 0.013, 50: 0.026, 200: 0.029},
        "items": {5: 0.242},
    }
)
"""Shown minus true by number of submissions: simulated with 700 items, two equally good answers to each."""
BIAS_ITEMS = 700


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A submission beside the one that is shown now, item by item."""

    gain: float
    """Mean of the differences."""
    error: float
    """Its standard error: the least gain that is not shown."""
    items: int
    moved: int
    """Items on which the two differ."""
    up: bool


def step(shown: Sequence[float], new: Sequence[float]) -> Step:
    """Scores of the same items, from 0 to 1, in the same order. Raises ValueError on fewer than two.

    The ladder without a parameter (Blum and Hardt 2015, ICML): up only where the mean difference is greater than its
    standard error.
    """
    if len(shown) != len(new) or len(new) < 2:
        raise ValueError(f"Two scores of each of two items at least are needed, not {len(shown)} and {len(new)}.")
    differences = np.asarray(new, dtype=np.float64) - np.asarray(shown, dtype=np.float64)
    items, total = len(new), float(differences.sum())
    # mean > sd / sqrt(n) is total^2 > sum of squares, which quarters of a point do not round.
    up = total > 0 and total**2 > float(np.square(differences).sum())
    return Step(
        gain=total / items,
        error=float(differences.std(ddof=1)) / math.sqrt(items),
        items=items,
        moved=int(np.count_nonzero(differences)),
        up=up,
    )


def rounded(scores: Sequence[float]) -> float:
    """Their mean, to a whole number of items won; halves go up. Raises ValueError on none."""
    if not scores:
        raise ValueError("Nothing was scored.")
    return math.floor(math.fsum(scores) + 0.5) / len(scores)


def reserve_share(scores: Sequence[float], *, publications: int, level: float = LEVEL) -> Estimate:
    """The published figure: the mean over reserve items, scored once, with an interval at 1 - alpha / `publications`,
    so that all that were ever published hold together (Bonferroni)."""
    if publications < 1:
        raise ValueError(f"It is one publication at least, not {publications}.")
    return clustered_mean(scores, list(range(len(scores))), level=1 - (1 - level) / publications)


MISSED = 1e-6
"""How likely so many new answers as `fewest_new` says may be to leave fewer than are wanted in the reserve."""


@cache
def fewest_new(items: int, reserve: int, *, among: int) -> int:
    """How many of all items take in `among` of the reserve, wherever they are, as its lots were drawn: but for one time
    in a million, so that whoever is told whether they did learns nothing. More than there are, where the reserve has
    not so many."""

    def missed(some: int) -> float:
        few = range(min(among, some + 1))
        return sum(comb(reserve, one) * comb(items - reserve, some - one) for one in few) / comb(items, some)

    return bisect_left(range(items + 1), True, key=lambda some: missed(some) <= MISSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedBias:
    """What the table says of so many submissions."""

    submissions: int
    """Of the table's row: at least as many as were made, unless the table ends before."""
    bias: float
    beyond: bool
    """Whether more were made than the table knows of, so that the bias may be greater."""


def expected_bias(told: Told, submissions: int) -> ExpectedBias | None:
    """None before there is a second submission: the first was fitted to nothing."""
    if submissions < 2:
        return None
    rows = BIAS[told]
    at = next((count for count in sorted(rows) if count >= submissions), max(rows))
    return ExpectedBias(submissions=at, bias=rows[at], beyond=submissions > at)
