"""Two ways of judging or answering held against each other on the very same cases: the difference, and a test of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import Range, clustered_mean, reach
from evenhand.stats.multiplicity import holm
from evenhand.stats.reliability.grade_score.comparison import sign_flip_p_value

Finding: TypeAlias = Literal["higher", "lower", "undecided"]
LEVEL = 0.05
_HAIR = 1e-9
TEST = "sign flips of items, two-sided"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    difference: Estimate
    """Mean over the cases of one less the other; its interval counts items."""
    p_value: float | None
    """If the two were alike, each item's sum of differences might as well have the other sign. None without a case."""
    p_adjusted: float | None
    """For all that are tested together, by Holm; of one alone the same."""

    @property
    def finding(self) -> Finding:
        """Whether the first of the two is higher, at 5 % for all that are tested together.

        The interval must say so too; with few items it is the more careful of the two.
        """
        found = self.difference
        if self.p_adjusted is None or self.p_adjusted > LEVEL:
            return "undecided"
        if found.lower is not None and found.lower > 0:
            return "higher"
        return "lower" if found.upper is not None and found.upper < 0 else "undecided"

    def as_json(self, name: str) -> dict[str, Json]:
        return {
            **self.difference.as_json(f"{name}_difference"),
            f"{name}_p_value": self.p_value,
            f"{name}_p_adjusted": self.p_adjusted,
            f"{name}_finding": self.finding,
        }


def paired_difference(
    gaps: Sequence[float] | npt.NDArray[np.float64],
    items: Sequence[str] | npt.NDArray[np.int64],
    *,
    within: Range | None,
) -> PairedDifference:
    """`gaps`: of each case one less the other, all `within` what that can be.

    Of averages, such as a paper's printed cells, no range says how far each may lie from its neighbours: with None the
    interval is Student's, over the items' means.
    """
    values = np.asarray(gaps, dtype=np.float64)
    if not len(values):
        missing = Estimate(value=None, reason="no case has both")
        return PairedDifference(difference=missing, p_value=None, p_adjusted=None)
    _, place = np.unique(np.asarray(items), return_inverse=True)
    # What rounding leaves of equal sums is no difference.
    sums = np.bincount(place, weights=values).astype(np.float64)
    p_value = sign_flip_p_value(np.where(np.abs(sums) > _HAIR, sums, 0.0))
    found = _of_averages(sums / np.bincount(place)) if within is None else clustered_mean(values, place, within=within)
    return PairedDifference(difference=found, p_value=p_value, p_adjusted=p_value)


def _of_averages(means: npt.NDArray[np.float64]) -> Estimate:
    value, number = float(means.mean()), len(means)
    if number < 2:
        return Estimate(value=value, n=number, clusters=number, reason="one pair tells nothing of its spread")
    far = reach(number) * float(means.std(ddof=1)) / math.sqrt(number)
    return Estimate(value=value, lower=value - far, upper=value + far, n=number, clusters=number)


def together(tests: Sequence[PairedDifference]) -> tuple[PairedDifference, ...]:
    """The same tests, read at once."""
    adjusted = iter(holm([one.p_value for one in tests if one.p_value is not None]))
    return tuple(one if one.p_value is None else replace(one, p_adjusted=next(adjusted)) for one in tests)
