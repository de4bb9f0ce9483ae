"""Which of two judges comes nearer to people, on the cases that both judged."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import Range
from evenhand.stats.reliability.agreement.alignment import against_people, are_near
from evenhand.stats.reliability.agreement.rater_matrix import HIGHEST, RaterMatrix
from evenhand.stats.reliability.paired_difference import TEST, PairedDifference, paired_difference, together

_SHARES = Range(low=-1, high=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedAlignment:
    """The first less the other."""

    mae: PairedDifference
    """Below 0: the first is nearer to people."""
    consistency: PairedDifference

    def as_json(self) -> dict[str, Json]:
        return {**self.mae.as_json("mae"), **self.consistency.as_json("consistency"), "test": TEST}


def paired_alignment(one: RaterMatrix, other: RaterMatrix, people: RaterMatrix) -> PairedAlignment:
    """Of two matrices of one rater each."""
    first, second = against_people(one, people), against_people(other, people)
    if first.levels is None or second.levels is None:
        missing = _missing("verdicts on different scales are compared by sign only")
        return PairedAlignment(mae=missing, consistency=missing)
    _, here, there = np.intersect1d(first.case, second.case, assume_unique=True, return_indices=True)
    first, second = first.only(here), second.only(there)
    highest = 2 * HIGHEST[people.levels]
    gaps = np.abs(first.judged - first.people) - np.abs(second.judged - second.people)
    mae = paired_difference(gaps, first.item, within=Range(low=-highest, high=highest))
    if people.levels != 5:
        return PairedAlignment(mae=mae, consistency=_missing("Consistency is defined for five levels"))
    near = are_near(first).astype(np.float64) - are_near(second).astype(np.float64)
    return PairedAlignment(mae=mae, consistency=paired_difference(near, first.item, within=_SHARES))


def read_at_once(found: Sequence[PairedAlignment]) -> tuple[PairedAlignment, ...]:
    """The same tests, read at once."""
    errors, shares = together([one.mae for one in found]), together([one.consistency for one in found])
    return tuple(PairedAlignment(mae=mae, consistency=near) for mae, near in zip(errors, shares, strict=True))


def _missing(reason: str) -> PairedDifference:
    return PairedDifference(difference=Estimate(value=None, reason=reason), p_value=None, p_adjusted=None)
