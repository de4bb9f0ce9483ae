"""Cohen's kappa, plain and weighted, of two raters on the same cases; clustered by item."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, reach, wilson
from evenhand.stats.reliability.grade_score.option_rows import FloatArray, IntArray

Weighting: TypeAlias = Literal["none", "quadratic"]

MOST_VALUES = 2_000
"""Different values that a table of every pair of them can hold."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    shares: FloatArray
    cost: FloatArray
    """What a pair of different verdicts costs."""

    @property
    def observed(self) -> float:
        return float((self.shares * self.cost).sum())

    @property
    def expected(self) -> float:
        return float(self.shares.sum(axis=1) @ self.cost @ self.shares.sum(axis=0))

    def influence(self) -> FloatArray:
        """What one more case in a cell does to kappa, times the number of cases."""
        by_row, by_column = self.cost @ self.shares.sum(axis=0), self.shares.sum(axis=1) @ self.cost
        moved = by_row[:, None] + by_column[None, :] - 2 * self.expected
        return (self.observed * moved / self.expected - (self.cost - self.observed)) / self.expected


def cohens_kappa(
    one: FloatArray, other: FloatArray, item: IntArray, *, weighting: Weighting = "none", level: float = LEVEL
) -> Estimate:
    """1 - observed / expected disagreement (Cohen 1960 and 1968); 0 for verdicts that have nothing in common.

    Weighted kappa is the quadratic one, which takes means of several people as they are
    and does not depend on how they are binned. Distances are those of the values themselves. The interval is the delta
    method's, clustered by item, on Fisher's z.
    """
    if not one.shape == other.shape == item.shape or one.ndim != 1:
        raise ValueError("The two raters' verdicts and the items are three lists of one length.")
    if not len(one):
        return Estimate(value=None, reason="no cases")
    values, code = np.unique(np.concatenate([one, other]), return_inverse=True)
    if len(values) > MOST_VALUES:
        raise ValueError(f"Kappa takes at most {MOST_VALUES} different values, not {len(values)}.")
    row, column = code[: len(one)], code[len(one) :]
    counts = np.bincount(row * len(values) + column, minlength=len(values) ** 2)
    table = _Table(shares=counts.reshape(len(values), -1) / len(one), cost=_cost(values, weighting))
    if table.expected == 0:
        return Estimate(value=None, n=len(one), reason="both raters gave one and the same verdict throughout")
    if 1 in (len(np.unique(row)), len(np.unique(column))):
        # With a rater who always says the same kappa is 0 whatever the other says: that proves nothing.
        clusters = len(np.unique(item))
        return Estimate(value=0.0, lower=-1.0, upper=1.0, n=len(one), clusters=clusters)
    sums = summed_by_item(table.influence()[row, column], item)
    error = standard_error(sums) / len(one)
    return fisher_estimate(1 - table.observed / table.expected, error, n=len(one), clusters=len(sums), level=level)


def _cost(values: FloatArray, weighting: Weighting) -> FloatArray:
    apart = np.abs(values[:, None] - values[None, :])
    match weighting:
        case "none":
            return (apart > 0).astype(np.float64)
        case "quadratic":
            return apart**2


def summed_by_item(values: FloatArray, item: IntArray) -> FloatArray:
    """One sum for each item that occurs."""
    sums = np.bincount(item, weights=values).astype(np.float64, copy=False)
    return sums[np.bincount(item) > 0]


def standard_error(sums: FloatArray) -> float:
    """Of the total of independent clusters' sums."""
    centred = sums - sums.mean()
    return math.sqrt(len(sums) / max(len(sums) - 1, 1) * float(centred @ centred))


def fisher_estimate(value: float, error: float, *, n: float, clusters: int, level: float = LEVEL) -> Estimate:
    """A coefficient of agreement, at most 1, with bounds from its standard error on the scale of Fisher's z.

    A record without a flaw shows no spread. If the cases not seen were at chance, the coefficient would be the share
    that was seen, so the lower bound stays at or below Wilson's for so many items without a failure.
    """
    quantile = reach(clusters, level)
    highest_lower, _ = wilson(1.0, float(clusters), quantile)
    if clusters == 1:
        return Estimate(value=value, lower=-1.0, upper=1.0, n=n, clusters=clusters)
    lower = upper = value
    if abs(value) < 1:
        z, half = math.atanh(value), quantile * error / (1 - value**2)
        lower, upper = math.tanh(z - half), math.tanh(z + half)
    return Estimate(
        value=value,
        lower=max(min(lower, highest_lower), -1.0),
        upper=min(max(upper, -highest_lower), 1.0),
        n=n,
        clusters=clusters,
    )
