"""How many standard errors an interval reaches, by the number of clusters behind it."""

import math
from functools import cache
from statistics import NormalDist

LEVEL = 0.95
"""Confidence of an interval where nothing else is asked for."""

ONE_SIDED = 0.90
"""Two-sided level whose two bounds each hold for one side at 95 %."""

MANY = 10**9
"""Clusters, so that the quantile is the normal one."""

FEW_CLUSTERS = 30
"""Below this many clusters Student's t with one degree less stands for the normal quantile."""


def reach(clusters: int, level: float = LEVEL) -> float:
    """Standard errors to each side of the estimate: normal from 30 clusters on, else t with `clusters` - 1 degrees."""
    if not 0 < level < 1:
        raise ValueError(f"A confidence level lies between 0 and 1; {level} does not.")
    normal = NormalDist().inv_cdf(0.5 + level / 2)
    if clusters >= FEW_CLUSTERS:
        return normal
    # One cluster has no degree of freedom; one is the widest t there is, so that it never looks surer than two.
    return _student(max(clusters - 1, 1), level, at_least=normal)


@cache
def _student(degrees: int, level: float, *, at_least: float) -> float:
    """The t with `level` of the distribution between -t and t, by bisection.

    The two-sided probability is a finite sum for whole degrees (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4), so that
    no board pays a third of a second for importing scipy.
    """
    low, high = at_least, 2 * at_least
    while _between(high, degrees) < level:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _between(middle, degrees) < level else (low, middle)
    return high


def _between(t: float, degrees: int) -> float:
    """P(|T| <= t)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = degrees % 2 == 1
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for step in range(3 if odd else 2, degrees - 1, 2):
        term *= cosine**2 * (step - 1) / step
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
