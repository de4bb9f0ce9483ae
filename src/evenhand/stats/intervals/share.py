"""A share with an interval that counts clusters of like cases, not rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals.quantile import LEVEL
from evenhand.stats.intervals.wilson import Basis, Bounds, FloatArray, estimated, left_out

Numbers: TypeAlias = Sequence[float] | npt.NDArray[np.float64]
Labels: TypeAlias = Sequence[str] | Sequence[int] | npt.NDArray[np.int64]


def clustered_share(successes: Numbers, weights: Numbers, clusters: Labels, *, level: float = LEVEL) -> Estimate:
    """The weighted mean of `successes`, each in [0, 1] (a tie is one half), and its interval within [0, 1].

    `n` of the estimate is the sum of the weights; rows of weight 0 count nowhere. The interval is Wilson's on the
    effective number of cases (Korn and Graubard 1998, Survey Methodology 24, 193), its lower bound the lowest of the
    record's own and of those it would have with the faults of some clusters mended: faults that come in one cluster
    look like fewer cases than faults in two, and a record must not look surer for a fault more. The upper bound is its
    mirror. Raises ValueError on lengths that differ, successes outside [0, 1] and weights below 0.
    """
    won, weight, cluster = _checked(successes, weights, clusters)
    n = float(weight.sum())
    if n == 0:
        return Estimate(value=None, reason="no cases")
    share = min(max(float(weight @ won) / n, 0.0), 1.0)
    size, hits, faults = (_sums(cluster, each) for each in (weight, weight * won, weight * (1 - won)))
    residuals = _sums(cluster, weight * (won - share)) / n * left_out(size / n)
    rows = weight / n
    found = _Clustered(size=size, hits=hits, faults=faults, residuals=residuals, one_by_one=float(rows @ rows))
    return found.estimate(share, n, level)


def share_of_clusters(size: FloatArray, hits: FloatArray, squares: float, *, level: float = LEVEL) -> Estimate:
    """What `clustered_share` gives, from each cluster's weight and the weight of its successes.

    `squares`: of the weights of all rows, summed.
    """
    there = size > 0
    size, hits = size[there], hits[there]
    n = float(size.sum())
    if n == 0:
        return Estimate(value=None, reason="no cases")
    share = min(max(float(hits.sum()) / n, 0.0), 1.0)
    residuals = (hits - share * size) / n * left_out(size / n)
    faults = np.maximum(size - hits, 0.0)
    found = _Clustered(size=size, hits=hits, faults=faults, residuals=residuals, one_by_one=squares / n**2)
    return found.estimate(share, n, level)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Clustered:
    """Of each cluster; `one_by_one` is the variance of so many cases that have nothing in common, of each share that
    the record might have had."""

    size: FloatArray
    hits: FloatArray
    faults: FloatArray
    residuals: FloatArray
    one_by_one: float

    def estimate(self, share: float, n: float, level: float) -> Estimate:
        basis, one_by_one = Basis.of(self.size), self.one_by_one
        variance = np.array([self.residuals @ self.residuals])
        cases = float(basis.cases(np.array([share]), variance, one_by_one)[0])

        def bounds(at: float) -> Bounds:
            lower, upper = basis.bounds(share, cases, at)
            better, worse = (_lowest_lower(some, self.size, basis, one_by_one, at) for some in (self.faults, self.hits))
            return min(lower, better), max(upper, 1 - worse)

        return estimated(share, bounds, basis, cases=cases, n=n, level=level)


def share_of_sums(
    share: float, variance: float, basis: Basis, one_by_one: float, *, n: float, level: float = LEVEL
) -> Estimate:
    """A clustered share from sums alone, so without a look at records that are better or worse.

    `one_by_one`: the sum of the squares of the cases' shares of the weight.
    """
    if n == 0:
        return Estimate(value=None, reason="no cases")
    cases = float(basis.cases(np.array([share]), np.array([variance]), one_by_one)[0])
    return estimated(share, lambda at: basis.bounds(share, cases, at), basis, cases=cases, n=n, level=level)


def _checked(
    successes: Numbers, weights: Numbers, clusters: Labels
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
    """The rows with weight, their clusters numbered from 0."""
    won = np.asarray(successes, dtype=np.float64)
    weight = np.asarray(weights, dtype=np.float64)
    labels = np.asarray(clusters)
    if not won.shape == weight.shape == labels.shape or won.ndim != 1:
        raise ValueError(
            f"Successes, weights and clusters are three lists of one length, not {won.shape}, {weight.shape} and "
            f"{labels.shape}."
        )
    if not bool(np.all((won >= 0) & (won <= 1))):
        raise ValueError("A success is a number from 0 to 1.")
    if not bool(np.all((weight >= 0) & np.isfinite(weight))):
        raise ValueError("A weight is a finite number of at least 0.")
    counted = weight > 0
    _, numbered = np.unique(labels[counted], return_inverse=True)
    return won[counted], weight[counted], numbered


def _sums(cluster: npt.NDArray[np.intp], values: FloatArray) -> FloatArray:
    return np.bincount(cluster, weights=values).astype(np.float64)


def _lowest_lower(faults: FloatArray, size: FloatArray, basis: Basis, one_by_one: float, level: float) -> float:
    """Of the records that have the faults of its worst clusters only, from none to all but the last.

    Among records with as many faults, those whose faults are heaped on the fewest clusters count the fewest cases.
    """
    n = float(size.sum())
    worst_first = np.lexsort((-size, -faults / size))
    kept, weight = faults[worst_first], size[worst_first]
    missed = np.concatenate([[0.0], np.cumsum(kept)]) / n
    share = np.clip(1 - missed, 0.0, 1.0)
    factor = left_out(weight / n)
    kept, weight = kept * factor, weight * factor
    squares = np.concatenate([[0.0], np.cumsum(kept**2)])
    products = np.concatenate([[0.0], np.cumsum(kept * weight)])
    residuals = squares - 2 * missed * products + missed**2 * float(weight @ weight)
    lower = basis.lower(share, basis.cases(share, np.maximum(residuals, 0.0) / n**2, one_by_one), level)
    return float(lower[missed < missed[-1]].min(initial=1.0))
