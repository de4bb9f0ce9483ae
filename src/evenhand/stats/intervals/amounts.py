"""Amounts that have no highest value, such as prices and seconds: their mean and their median, with intervals."""

from collections.abc import Sequence

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals.quantile import LEVEL, reach
from evenhand.stats.intervals.share import Labels


def amount_mean(values: Sequence[float], clusters: Labels, *, level: float = LEVEL) -> Estimate:
    """The mean with Student's interval, every cluster counted once; not below 0."""
    amounts = np.asarray(values, dtype=np.float64)
    if not len(amounts):
        return Estimate(value=None, reason="no cases")
    _, group = np.unique(np.asarray(clusters), return_inverse=True)
    number, mean = int(group.max()) + 1, float(amounts.mean())
    if number < 2:
        return Estimate(value=mean, n=len(amounts), clusters=number, reason="one item has no spread")
    sums = np.bincount(group, weights=amounts - mean)
    far = reach(number, level) * float(np.sqrt(number / (number - 1) * np.square(sums).sum())) / len(amounts)
    return Estimate(value=mean, lower=max(0.0, mean - far), upper=mean + far, n=len(amounts), clusters=number)


def median(values: Sequence[float], *, level: float = LEVEL) -> Estimate:
    """With the interval of order statistics, which rests on no distribution; none where so few values allow none."""
    from scipy.special import bdtr

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if not n:
        return Estimate(value=None, reason="no cases")
    # So few values lie below the median in a share of (1 - level) / 2 at the most.
    below = int(np.count_nonzero(bdtr(np.arange(n), n, 0.5) <= (1 - level) / 2)) - 1
    middle = float(np.median(ordered))
    if below < 0:
        return Estimate(value=middle, n=n, reason="so few values bound no median")
    return Estimate(value=middle, lower=float(ordered[below]), upper=float(ordered[n - 1 - below]), n=n)
