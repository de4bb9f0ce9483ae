"""One-sided bounds from a two-sided interval, and how many cases would move one past a given number."""

from dataclasses import dataclass

from evenhand.domain.estimate import Estimate
from evenhand.intervals import LEVEL, Range, reach, wilson

GATE_LEVEL = 0.90
"""Two-sided level whose two bounds each hold one-sidedly at 95 %."""

MANY = 10**9
"""Clusters, so that the quantile is the normal one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An estimate at the usual level, on the scale from 0 to 1, its interval Wilson's as in `intervals`."""

    value: float
    lower: float
    upper: float
    n: float
    clusters: int

    @classmethod
    def of(cls, estimate: Estimate, within: Range) -> "Seen | None":
        """None where there is no value or no interval."""
        if estimate.value is None or estimate.lower is None or estimate.upper is None:
            return None
        value, lower, upper = (
            (number - within.low) / within.width for number in (estimate.value, estimate.lower, estimate.upper)
        )
        return cls(value=value, lower=lower, upper=upper, n=estimate.n, clusters=estimate.clusters)

    @property
    def tells_nothing(self) -> bool:
        return self.lower <= 0 and self.upper >= 1

    @property
    def like_cases(self) -> float:
        """The independent yes-or-no cases the interval is worth: Wilson's formula solved for n.

        A bound that was held back because a flawless record would reach no further looks like fewer cases; the other
        bound then tells.
        """
        bounds = [bound for bound in (self.lower, self.upper) if 0 < bound < 1]
        return reach(self.clusters, LEVEL) ** 2 * max(
            bound * (1 - bound) / (self.value - bound) ** 2 for bound in bounds
        )

    def one_sided(self) -> tuple[float, float]:
        """The bounds of `GATE_LEVEL`, made as those of the usual level were."""
        if self.tells_nothing:
            return self.lower, self.upper
        quantile = reach(self.clusters, GATE_LEVEL)
        lower, upper = wilson(self.value, self.like_cases, quantile)
        highest_lower, _ = wilson(1.0, min(self.n, float(self.clusters)), quantile)
        return min(lower, highest_lower), max(upper, 1 - highest_lower)

    def cases_to_tell_from(self, bound: float) -> float:
        """Roughly, if the value stays and new cases are as like each other as those seen."""
        quantile = reach(MANY, GATE_LEVEL)
        alike = quantile**2 * bound * (1 - bound) / (self.value - bound) ** 2
        share = bound if self.value > bound else 1 - bound
        # However little the values vary, a bound this near to an end takes so many clusters.
        clusters = quantile**2 * share / (1 - share)
        return self.n * max(alike / self.like_cases, clusters / self.clusters)
