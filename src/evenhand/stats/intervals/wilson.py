"""Wilson's bounds, and how sure any bound may be with so few clusters behind it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals.quantile import MANY, ONE_SIDED, reach

FloatArray: TypeAlias = npt.NDArray[np.float64]
Bounds: TypeAlias = tuple[float, float]


def wilson(share: float, cases: float, quantile: float) -> Bounds:
    """Both bounds of a share seen in so many cases; `quantile` in standard errors."""
    lower, mirrored = wilson_lower(np.array([share, 1 - share]), np.array([cases, cases]), quantile)
    # At 0 and 1 rounding would leave a bound a hair beside the value.
    return min(float(lower), share), max(1 - float(mirrored), share)


def wilson_lower(share: FloatArray, cases: FloatArray, quantile: float) -> FloatArray:
    """The lower bounds only (Wilson 1927, J. Am. Stat. Assoc. 22, 209); the upper ones are their mirror."""
    pull = quantile**2 / cases
    half = np.sqrt(pull * share * (1 - share) + pull**2 / 4)
    return np.where(share == 0, 0.0, np.maximum((share + pull / 2 - half) / (1 + pull), 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a share or a mean between 0 and 1 rests on."""

    clusters: int
    effective: float
    """Clusters of equal weight that would tell as much about the spread."""

    @classmethod
    def of(cls, size: FloatArray) -> "Basis":
        """Of clusters of this weight; its scale is no matter."""
        return cls(clusters=len(size), effective=float(size.sum()) ** 2 / float(np.square(size).sum()))

    def lower(self, share: FloatArray, cases: FloatArray, level: float) -> FloatArray:
        """Wilson's lower bounds for so many effective cases, but none surer than so few clusters allow.

        None is above that of a record without a fault. And where k of G alike clusters move away as far as they can,
        the mean moves by k/G of the way and its bound by z sqrt(k)/G the other way: z²/4 of a cluster more at the most.
        With so much reach from the outset, no spread passes into a little without a jump to more certainty.
        """
        # In Wilson's formula t for z is the same as Korn and Graubard's n_eff (z/t)^2.
        quantile = reach(self.effective, level)
        own = np.minimum(wilson_lower(share, cases, quantile), share * (1 - self.least_reach(level)))
        return np.minimum(own, self.flawless(level))

    def bounds(self, share: float, cases: float, level: float) -> Bounds:
        lower, mirrored = self.lower(np.array([share, 1 - share]), np.array([cases, cases]), level)
        return min(float(lower), share), max(1 - float(mirrored), share)

    def least_reach(self, level: float) -> float:
        """The part of the way to either end that an interval covers at the least."""
        return min(reach(MANY, level) ** 2 / (4 * self.effective), 1.0)

    def flawless(self, level: float) -> float:
        """Wilson's lower bound where no cluster has a fault, each counting once."""
        return self.effective / (self.effective + reach(self.effective, level) ** 2)

    def cases(self, share: FloatArray, variance: FloatArray, one_by_one: float) -> FloatArray:
        """Independent yes-or-no cases that would make the mean vary so much between clusters.

        Clusters whose cases offset each other, such as two orders of one pair, show next to nothing. As many of them
        are taken to have gone all one way as Wilson's bound of none seen allows, but the variance is not taken for more
        than `one_by_one` of a single case's, what it would be if no two cases had anything in common.
        """
        if self.clusters == 1:
            return np.ones(share.shape)
        single = share * (1 - share)
        # Variances are as if no cluster had had a say in the mean: of G alike ones G/(G-1) more than unbiased.
        own = variance * (self.effective - 1) / self.effective
        least = single * min(UNSEEN / (self.effective + UNSEEN) / self.effective, one_by_one)
        most = np.maximum(own, least)
        return np.divide(single, most, out=np.full(share.shape, np.inf), where=(single > 0) & (most > 0))


UNSEEN = 1.96**2
"""Wilson's upper bound of a share seen in none of G clusters is UNSEEN / (G + UNSEEN): his rule of three."""


def left_out(share: FloatArray) -> FloatArray:
    """What a cluster's residual is multiplied by, so that it is as if the cluster, with this share of the weight, had
    had no say in the mean."""
    return 1 / (1 - np.minimum(share, _ALL))


_ALL = 0.999
"""Of all weight that a cluster is taken to have at the most: one that has all has no residual."""


def estimated(
    value: float, bounds: Callable[[float], Bounds], basis: Basis, *, cases: float, n: float, level: float
) -> Estimate:
    """The value with its bounds, which are given for a level, at this level and for one side at 95 %."""
    (lower, upper), inner = bounds(level), bounds(ONE_SIDED)
    parts = _part(value, inner[0], lower), _part(value, inner[1], upper)
    return Estimate(
        value=value,
        lower=lower,
        upper=upper,
        n=n,
        clusters=basis.clusters,
        one_sided=parts,
        effective=basis.effective,
        cases=cases,
    )


def _part(value: float, inner: float, outer: float) -> float:
    return 1.0 if outer == value else (inner - value) / (outer - value)
