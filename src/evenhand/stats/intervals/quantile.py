"""How many standard errors an interval reaches, by the number of clusters behind it."""

import math
from functools import cache
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate

FloatArray: TypeAlias = npt.NDArray[np.float64]

LEVEL = 0.95
"""Confidence of an interval where nothing else is asked for."""

ONE_SIDED = 0.90
"""Two-sided level whose two bounds each hold for one side at 95 %."""

MANY = 10**9
"""Clusters, so that the quantile is the normal one."""

FEW_CLUSTERS = 30
"""Below this many clusters a sentence says that Student's t widens the interval."""

_SERIES = 300
"""Clusters from which a series in their inverse has all digits that are printed."""

_CENTRE = 0.5
"""Level below which the rule for the tail does not serve."""


def reach(clusters: float, level: float = LEVEL) -> float:
    """Standard errors to each side of the estimate: Student's t with `clusters` - 1 degrees, whole or not.

    One cluster has no degree of freedom; one is the widest t there is, so that it never looks surer than two.
    """
    return _reach(float(max(clusters, 2.0)), level)


def reaches(clusters: npt.NDArray[np.float64] | npt.NDArray[np.int64], level: float = LEVEL) -> FloatArray:
    """Of each number of clusters."""
    if not 0 < level < 1:
        raise ValueError(f"A confidence level lies between 0 and 1; {level} does not.")
    distinct, place = np.unique(np.maximum(clusters, 2.0), return_inverse=True)
    few = distinct < _SERIES
    return np.concatenate((_student(distinct[few] - 1, level), _far(distinct[~few] - 1, level)))[place.ravel()].reshape(
        np.shape(clusters)
    )


def error_of(estimate: Estimate) -> float | None:
    """The standard error behind an interval that lies evenly about its value; None where there is no interval."""
    if estimate.lower is None or estimate.upper is None:
        return None
    return (estimate.upper - estimate.lower) / 2 / reach(estimate.effective or estimate.clusters)


@cache
def _reach(clusters: float, level: float) -> float:
    return float(reaches(np.array([clusters]), level)[0])


def _far(degrees: FloatArray, level: float) -> FloatArray:
    """Student's t with many degrees (Abramowitz and Stegun 1964, 26.7.5)."""
    z = NormalDist().inv_cdf(0.5 + level / 2)
    steps = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum((step / degrees**power for power, step in enumerate(steps, start=1)), np.zeros(len(degrees)))


def _student(degrees: FloatArray, level: float) -> FloatArray:
    """The t with `level` of the distribution between -t and t, by Newton's method on the logarithms of t and tail.

    Written out, so that no board pays for importing scipy's distributions. With s^2 = n / (n + t^2), the tail is
    s^n / n times the integral over x of exp(-x) / sqrt(1 - s^2 exp(-2x/n)), which Laguerre's rule takes exactly enough.
    """
    if level < _CENTRE:
        from scipy.special import stdtrit

        return np.asarray(stdtrit(degrees, 0.5 + level / 2), dtype=np.float64)
    tail, normal = 1 - level, NormalDist().inv_cdf(0.5 + level / 2)
    n = degrees
    log_scale = np.array([math.lgamma((one + 1) / 2) - math.lgamma(one / 2) for one in n.tolist()])
    log_scale += math.log(2 / math.sqrt(math.pi))
    node, weight = _laguerre()
    t = np.full(len(n), normal)
    for _ in range(100):
        log_square = -np.log1p(t**2 / n)
        part = (-np.expm1(log_square[:, None] - 2 * node / n[:, None])) ** -0.5 @ weight
        log_tail = log_scale + n / 2 * log_square - np.log(n) + np.log(part)
        log_slope = log_scale + (n + 1) / 2 * log_square - np.log(n) / 2 + np.log(t)
        step = (log_tail - math.log(tail)) * np.exp(log_tail - log_slope)
        t = t * np.exp(step)
        if float(np.abs(step).max(initial=0.0)) < 1e-12:
            break
    return t


@cache
def _laguerre() -> tuple[FloatArray, FloatArray]:
    return np.polynomial.laguerre.laggauss(60)
