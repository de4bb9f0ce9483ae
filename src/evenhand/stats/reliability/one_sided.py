"""One-sided bounds of an estimate, and how many cases would move one past a given number."""

import math
from dataclasses import dataclass

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, MANY, ONE_SIDED, Basis, Range, reach

_AT_THE_LIMIT = 1e-9


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
    """Each bound at 95 % for its side alone."""

    @classmethod
    def of(cls, estimate: Estimate, within: Range) -> "ObservedShare | None":
        """None where there is no value or no interval."""
        if estimate.value is None or estimate.lower is None or estimate.upper is None:
            return None
        value, lower, upper = (
            (number - within.low) / within.width for number in (estimate.value, estimate.lower, estimate.upper)
        )
        down, up = estimate.one_sided or (1.0, 1.0)
        return cls(
            value=value,
            lower=lower,
            upper=upper,
            n=estimate.n,
            clusters=estimate.clusters,
            effective=float(estimate.clusters) if estimate.effective is None else estimate.effective,
            one_sided=(value + down * (lower - value), value + up * (upper - value)),
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
        alike = reach(MANY, ONE_SIDED) ** 2 * bound * (1 - bound) / (self.value - bound) ** 2
        return self.n * max(alike / self.like_cases, self.clusters_to_tell_from(bound) / self.clusters)

    def clusters_to_tell_from(self, bound: float) -> float:
        """So many it takes however little the values vary."""
        squared = reach(MANY, ONE_SIDED) ** 2
        share, value = (bound, self.value) if self.value > bound else (1 - bound, 1 - self.value)
        return max(squared * share / (1 - share), squared * value / (4 * (value - share)))
