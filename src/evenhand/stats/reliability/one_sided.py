"""One-sided bounds of an estimate, and how many cases would move one past a given number."""

import importlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, MANY, ONE_SIDED, Basis, Range, reach, reaches
from evenhand.stats.reliability.grade_score.option_rows import FloatArray

_AT_THE_LIMIT = 1e-9


def exactly_above(share: FloatArray, cases: FloatArray, effective: FloatArray, bound: float) -> npt.NDArray[np.bool_]:
    """Whether the exact lower bound reaches `bound`: so many hits, or more, come by chance in at most 5 of 100 records
    of a share of `bound`. Cases are counted as in `_exact_bounds`."""
    special: Any = importlib.import_module("scipy.special")
    n = _exact_cases(cases, effective)
    hits = np.clip(share, 0.0, 1.0) * n
    tail: FloatArray = special.betainc(np.maximum(hits, _NONE), n - hits + 1, bound)
    possible = bound <= exactly_flawless(effective) + _AT_THE_LIMIT
    return (bound <= 0) | ((hits > 0) & (tail <= _TAIL + _AT_THE_LIMIT) & possible)


def exactly_flawless(effective: FloatArray) -> FloatArray:
    """The exact lower bound of so many clusters without a fault, which no record with one may pass."""
    return _TAIL ** (1 / effective)


def _exact_bounds(share: float, cases: float, effective: float) -> tuple[float, float]:
    """Clopper and Pearson's, each at 95 % for its side (1934, Biometrika 26, 404), of the cases the spread is worth.

    Wilson's upper bound of 19 in 20 lies below 0.99: a judge as good as that would be told in 17 of 100 audits that it
    is not.
    """
    special: Any = importlib.import_module("scipy.special")
    n = float(_exact_cases(np.array([cases]), np.array([effective]))[0])
    lower, mirrored = (
        0.0 if one <= 0 else float(special.betaincinv(one * n, (1 - one) * n + 1, _TAIL)) for one in (share, 1 - share)
    )
    highest = float(exactly_flawless(np.array([effective]))[0])
    return min(lower, highest), 1 - min(mirrored, highest)


def _exact_cases(cases: FloatArray, effective: FloatArray) -> FloatArray:
    """Fewer where few clusters tell of the spread (Korn and Graubard 1998); the clusters where it shows none."""
    seen = np.where(np.isinf(cases), effective, cases)
    known = np.minimum(reaches(seen + 1, ONE_SIDED) / reaches(effective, ONE_SIDED), 1.0)
    return np.where(np.isinf(cases), effective, seen * known**2)


_TAIL = (1 - ONE_SIDED) / 2
_NONE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedShare:
    """An estimate at the usual level, on the scale from 0 to 1, its interval made as in `intervals`."""

    value: float
    lower: float
    upper: float
    n: float
    clusters: int
    effective: float
    one_sided: tuple[float, float]
    """Each bound at 95 % for its side alone: of a share the further of Wilson's and the exact one."""

    @classmethod
    def of(cls, estimate: Estimate, within: Range) -> "ObservedShare | None":
        """None where there is no value or no interval."""
        if estimate.value is None or estimate.lower is None or estimate.upper is None:
            return None
        value, lower, upper = (
            (number - within.low) / within.width for number in (estimate.value, estimate.lower, estimate.upper)
        )
        down, up = estimate.one_sided or (1.0, 1.0)
        effective = float(estimate.clusters) if estimate.effective is None else estimate.effective
        sides = value + down * (lower - value), value + up * (upper - value)
        if estimate.cases is not None and estimate.clusters > 1:
            exact = _exact_bounds(value, estimate.cases, effective)
            sides = min(sides[0], exact[0]), max(sides[1], exact[1])
        return cls(
            value=value,
            lower=lower,
            upper=upper,
            n=estimate.n,
            clusters=estimate.clusters,
            effective=effective,
            one_sided=sides,
        )

    @property
    def tells_nothing(self) -> bool:
        return self.lower <= 0 and self.upper >= 1

    @property
    def like_cases(self) -> float:
        """The independent yes-or-no cases that the spread is worth: Wilson's formula solved for n.

        Infinite where both bounds are held back by the number of clusters, which then alone decides, or lie on the
        value.
        """
        quantile = reach(self.effective, LEVEL)
        basis = Basis(clusters=self.clusters, effective=self.effective)
        part, flawless = 1 - basis.least_reach(LEVEL), basis.flawless(LEVEL)
        limits = min(self.value * part, flawless), max(1 - (1 - self.value) * part, 1 - flawless)
        solved = [
            quantile**2 * bound * (1 - bound) / (self.value - bound) ** 2
            for bound, limit in zip((self.lower, self.upper), limits, strict=True)
            if 0 < bound < 1 and bound != self.value and abs(bound - limit) > _AT_THE_LIMIT
        ]
        return max(solved, default=math.inf)

    def cases_to_tell_from(self, bound: float) -> float:
        """Roughly, if the value stays and new cases are as like each other as those seen."""
        gap = abs(self.value - bound)
        alike = reach(MANY, ONE_SIDED) ** 2 * bound * (1 - bound) / gap**2
        # What an exact bound takes more than Wilson's (Casagrande, Pike and Smith 1978, Biometrics 34, 483).
        alike *= (1 + math.sqrt(1 + 2 / (alike * gap))) ** 2 / 4
        return self.n * max(alike / self.like_cases, self.clusters_to_tell_from(bound) / self.clusters)

    def clusters_to_tell_from(self, bound: float) -> float:
        """So many it takes however little the values vary."""
        squared = reach(MANY, ONE_SIDED) ** 2
        share, value = (bound, self.value) if self.value > bound else (1 - bound, 1 - self.value)
        flawless = max(squared * share / (1 - share), math.log(_TAIL) / math.log(share)) if share > 0 else 0.0
        return max(flawless, squared * value / (4 * (value - share)))
