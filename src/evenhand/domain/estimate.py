"""A number with its interval and the number of cases behind it, or the reason why there is none."""

from dataclasses import dataclass, field
from typing import Literal

from evenhand.domain.identity import Json

_ROUNDING = 1e-9
"""Sums of shares that make a whole number miss it by less."""


def whole(count: float) -> float:
    """174 for 174.0 and what rounding left of it, so that a document says 174; true fractions stay."""
    return round(count) if abs(count - round(count)) <= _ROUNDING * max(1.0, abs(count)) else count


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    value: float | None
    lower: float | None = None
    upper: float | None = None
    n: float = 0
    """Cases; fractional where replicates share a trial's weight."""
    clusters: int = 0
    unbounded: Literal["upper", "lower", "both"] | None = None
    reason: str | None = None
    """Why there is no value; beside a value, why there is no interval."""
    one_sided: tuple[float, float] | None = field(default=None, compare=False)
    """How far on the way from the value to the lower and to the upper bound a bound lies that holds for its side alone
    at 95 %. Parts of the way, so that they stay right when value and bounds are moved or stretched."""

    effective: float | None = field(default=None, compare=False)
    """Clusters of equal weight that would tell as much as these; None: each weighs the same."""

    cases: float | None = field(default=None, compare=False)
    """Of a share, and of what is one on another scale: the independent yes-or-no cases that its spread is worth;
    infinite where it shows none. None where it is not a share."""

    def as_json(self, name: str) -> dict[str, Json]:
        """The fields x, x_lower, x_upper, x_n of a JSON document, and why a bound or the value is missing."""
        fields: dict[str, Json] = {
            name: self.value,
            f"{name}_lower": self.lower,
            f"{name}_upper": self.upper,
            f"{name}_n": whole(self.n),
        }
        if self.unbounded:
            fields["unbounded"] = self.unbounded
        if self.reason:
            fields[f"{name}_reason"] = self.reason
        return fields
