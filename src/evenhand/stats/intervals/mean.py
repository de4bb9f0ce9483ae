"""A mean of numbers with a lowest and a highest possible value, its interval counting clusters, not rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals.quantile import LEVEL
from evenhand.stats.intervals.share import Labels, Numbers
from evenhand.stats.intervals.wilson import Basis, Bounds, FloatArray, estimated, left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What a value can be at the least and at the most."""

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"A range goes from a lower to a higher number, not from {self.low} to {self.high}.")

    @property
    def width(self) -> float:
        return self.high - self.low


UNIT = Range()


def clustered_mean(
    values: Numbers,
    clusters: Labels,
    *,
    weights: Numbers | None = None,
    crossed_with: Labels | None = None,
    within: Range = UNIT,
    level: float = LEVEL,
) -> Estimate:
    """The weighted mean and its interval, which stays within the range the values can have.

    On the scale from 0 to 1 it is Wilson's interval for the number of yes-or-no cases that would vary as much as the
    mean does between clusters: the usual one in the middle, wider towards the middle near an end. However little the
    values differ, a part of the way to the range's ends is covered, and no bound is surer than that of a record at the
    very end, so that three equal values prove little.

    `crossed_with` names a second, crossed grouping such as raters; the variance is then that of Cameron, Gelbach and
    Miller (2011, J. Bus. Econ. Stat. 29, 238), and the grouping with fewer groups sets the quantile.
    Raises ValueError on lengths that differ, on values outside the range and on weights below 0.
    """
    value, weight = _checked(values, weights, within)
    groupings = [
        _numbered(labels, weight) for labels in ([clusters] if crossed_with is None else [clusters, crossed_with])
    ]
    counted = weight > 0
    scaled, weight = (value[counted] - within.low) / within.width, weight[counted]
    n = float(weight.sum())
    if n == 0:
        return Estimate(value=None, reason="no cases")
    mean = min(max(float(weight @ scaled) / n, 0.0), 1.0)
    basis = min(
        (Basis.of(np.bincount(one, weights=weight).astype(np.float64)) for one in groupings),
        key=lambda one: one.effective,
    )
    variance = _variance(weight * (scaled - mean) / n, weight, groupings)
    # Of values between yes and no a single case varies less.
    squares = float(np.square(weight * (scaled - mean)).sum()) / n**2
    one_by_one = squares / (mean * (1 - mean)) if 0 < mean < 1 else 0.0
    # Not scaled back, so that a mean of few decimals keeps them: 4.875 must not become 4.8749.
    value = min(max(float(weight @ value[counted]) / n, within.low), within.high)
    cases = float(basis.cases(np.array([mean]), np.array([variance]), one_by_one)[0])
    return estimated(value, _bounds(mean, cases, basis, within), basis, cases=cases, n=n, level=level)


def joined_means(
    value: float,
    influences: FloatArray,
    spread: FloatArray,
    *,
    within: Range,
    level: float = LEVEL,
    crossed: FloatArray | None = None,
    added: float = 0.0,
    squares: float = 0.0,
) -> Estimate:
    """A mean or a difference of several means, of which each may be over other clusters than the next.

    `influences`: what each cluster moves it by, as if it had had no say in the means themselves; they may be of any
    size, and only the bounds stay within the range. `spread`: what each cluster would add to the variance if all values
    varied alike; 0 where it has none. The effective number of clusters is that of Satterthwaite, so that a mean of ten
    is not made surer by two hundred under the other. Where every mean is over the same clusters with the same weights,
    all is as in `clustered_mean`. `crossed`: the weights of clusters across these, such as raters, and `added` the
    variance they add; of the two the fewer set the quantile. `squares`: the variance if no two values had anything in
    common; clusters that offset each other do not make it less than that.
    """
    sizes = [one[one > 0] for one in (spread, crossed) if one is not None]
    basis = min((Basis.of(one) for one in sizes), key=lambda one: one.effective)
    scaled = min(max((value - within.low) / within.width, 0.0), 1.0)
    variance = float(np.square(influences / within.width).sum()) + added / within.width**2
    single = scaled * (1 - scaled) * within.width**2
    one_by_one = squares / single if single > 0 else 0.0
    cases = float(basis.cases(np.array([scaled]), np.array([variance]), one_by_one)[0])
    bounds = _bounds(scaled, cases, basis, within)
    return estimated(value, bounds, basis, cases=cases, n=basis.clusters, level=level)


def _bounds(share: float, cases: float, basis: Basis, within: Range) -> Callable[[float], Bounds]:
    def bounds(at: float) -> Bounds:
        lower, upper = basis.bounds(share, cases, at)
        return within.low + within.width * lower, within.low + within.width * upper

    return bounds


def _checked(values: Numbers, weights: Numbers | None, within: Range) -> tuple[FloatArray, FloatArray]:
    value = np.asarray(values, dtype=np.float64)
    weight = np.ones(value.shape) if weights is None else np.asarray(weights, dtype=np.float64)
    if value.shape != weight.shape or value.ndim != 1:
        raise ValueError(f"Values and weights are two lists of one length, not {value.shape} and {weight.shape}.")
    # Sums of thirds can pass an end by a rounding error.
    slack = 1e-9 * within.width
    if not bool(np.all((value >= within.low - slack) & (value <= within.high + slack))):
        raise ValueError(f"A value is a number from {within.low:g} to {within.high:g}.")
    if not bool(np.all((weight >= 0) & np.isfinite(weight))):
        raise ValueError("A weight is a finite number of at least 0.")
    return value, weight


def _numbered(labels: Labels, weight: FloatArray) -> npt.NDArray[np.intp]:
    given: npt.NDArray[Any] = np.asarray(labels)
    if given.shape != weight.shape:
        raise ValueError(f"Every value has a cluster; {given.shape} labels were given for {weight.shape} values.")
    return np.unique(given[weight > 0], return_inverse=True)[1]


def _variance(residuals: FloatArray, weight: FloatArray, groupings: list[npt.NDArray[np.intp]]) -> float:
    """Of the sum of the values."""
    alone = [_between(residuals, weight, one) for one in groupings]
    if len(groupings) == 1:
        return alone[0]
    first, second = groupings
    cell = np.unique(first * (int(second.max(initial=-1)) + 1) + second, return_inverse=True)[1]
    # In small tables the combination can fall below what one grouping alone shows.
    return max(sum(alone) - _between(residuals, weight, cell), *alone)


def _between(residuals: FloatArray, weight: FloatArray, group: npt.NDArray[np.intp]) -> float:
    size = np.bincount(group, weights=weight)
    sums = np.bincount(group, weights=residuals) * left_out(size / size.sum())
    return float(sums @ sums)
