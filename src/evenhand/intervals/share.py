"""A share with an interval that counts clusters of like cases, not rows."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.intervals.quantile import LEVEL, reach

Numbers: TypeAlias = Sequence[float] | npt.NDArray[np.float64]
Labels: TypeAlias = Sequence[str] | Sequence[int] | npt.NDArray[np.int64]
_FloatArray: TypeAlias = npt.NDArray[np.float64]


def clustered_share(successes: Numbers, weights: Numbers, clusters: Labels, *, level: float = LEVEL) -> Estimate:
    """The weighted mean of `successes`, each in [0, 1] (a tie is one half), and its interval within [0, 1].

    `n` of the estimate is the sum of the weights; rows of weight 0 count nowhere. The interval is Wilson's (1927,
    J. Am. Stat. Assoc. 22, 209) on the effective number of cases (Korn and Graubard 1998, Survey Methodology 24, 193).
    Raises ValueError on lengths that differ, successes outside [0, 1] and weights below 0.
    """
    won, weight, cluster = _checked(successes, weights, clusters)
    n = float(weight.sum())
    if n == 0:
        return share_of_sums(0.0, 0.0, 0.0, 0, level=level)
    share = min(max(float(weight @ won) / n, 0.0), 1.0)
    residuals = np.bincount(cluster, weights=weight * (won - share))
    return share_of_sums(share, n, float(residuals @ residuals), len(residuals), level=level)


def share_of_sums(share: float, n: float, squared_residuals: float, clusters: int, *, level: float = LEVEL) -> Estimate:
    """`clustered_share` where the sums are at hand already.

    `squared_residuals` is the sum over clusters of the squared sum of weight x (success - share).
    """
    if n == 0:
        return Estimate(value=None, reason="no cases")
    # In Wilson's formula t for z is the same as Korn and Graubard's n_eff (z/t)^2.
    quantile = reach(clusters, level)
    lower, upper = wilson(share, _effective_cases(share, n, squared_residuals, clusters), quantile)
    # One failure in many cases shows some spread and so may count more cases than none at all; it must not look surer.
    highest_lower, _ = wilson(1.0, min(n, clusters), quantile)
    lower, upper = min(lower, highest_lower), max(upper, 1 - highest_lower)
    return Estimate(value=share, lower=lower, upper=upper, n=n, clusters=clusters)


def _checked(
    successes: Numbers, weights: Numbers, clusters: Labels
) -> tuple[_FloatArray, _FloatArray, npt.NDArray[np.intp]]:
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


def _effective_cases(share: float, n: float, squared_residuals: float, groups: int) -> float:
    """n over the design effect, never above n.

    Design effect (Kish 1965, Survey Sampling, 8.2): the variance of the ratio, linearised and taken between clusters,
    over that of a simple random sample, p(1-p)/(n-1). With every case its own cluster it is 1.
    """
    if groups == 1:
        return min(n, 1.0)
    variance = groups / (groups - 1) * squared_residuals / n**2
    # Where no cluster differs from another the spread says nothing: each cluster then counts as one case at most.
    if math.isclose(variance, 0.0, abs_tol=1e-24):
        return min(n, float(groups))
    if n <= 1:
        return n
    design_effect = variance * (n - 1) / (share * (1 - share))
    return n / max(design_effect, 1.0)


def wilson(share: float, cases: float, quantile: float) -> tuple[float, float]:
    """Both bounds of a share seen in so many cases; `quantile` in standard errors."""
    pull = quantile**2 / cases
    centre = (share + pull / 2) / (1 + pull)
    half = math.sqrt(pull * share * (1 - share) + pull**2 / 4) / (1 + pull)
    # At 0 and 1 rounding would leave a bound a hair beside the value.
    lower = 0.0 if share == 0 else max(centre - half, 0.0)
    upper = 1.0 if share == 1 else min(centre + half, 1.0)
    return lower, upper
