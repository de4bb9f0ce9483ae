"""What a judge who picks at random would score on the given rows, and how far a judge is above it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.reliability.grade_score.chance_pattern import (
    MOST_WAYS,
    ChancePattern,
    ExpectedPattern,
    Simulated,
    enumerated,
    simulated,
)
from evenhand.stats.reliability.grade_score.chance_table import EXACT

DRAWS = 100_000
DRAWS_OF_A_PART = 10_000
"""Of rows that do not count whole: there may be very many patterns, each with few rows."""
_PICKS, _PICKS_OF_A_PART = 20_000_000, 1_000_000
"""Drawn at most: the more orders a row is shown in, the less its score varies, so that fewer rows tell as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """The standard error of the Grade Score is 0 where the value is exact."""

    llm: float
    choice: float
    grade: float
    standard_error: float

    def as_json(self) -> dict[str, Json]:
        return {
            "chance": self.grade,
            "chance_llm_score": self.llm,
            "chance_choice_score": self.choice,
            "chance_standard_error": self.standard_error,
        }


def chance_level(rows: Mapping[ChancePattern, float], *, seed: int = 0) -> Chance | None:
    """The mean over rows: how many (or what weight of) rows there are for each pattern of orders that count.

    A random judge's choices in the trials that count say nothing of which trials do, as long as a place is no reason
    for a reply not to be read; so its mean score over rows is the mean of these levels, whatever the patterns.
    Exact where the ways to pick can all be tried, of rotations to eight options; beyond, simulated once for each
    pattern. None without rows.
    """
    total = sum(rows.values())
    if not total:
        return None
    found = [(weight / total, expected(pattern, seed=seed)) for pattern, weight in rows.items()]
    return Chance(
        llm=math.fsum(share * one.expected.llm for share, one in found),
        choice=math.fsum(share * one.expected.choice for share, one in found),
        grade=math.fsum(share * one.expected.grade for share, one in found),
        standard_error=math.hypot(*(share * one.standard_error for share, one in found)),
    )


def above_chance(score: Estimate, chance: float, *, attainable: float = 1.0) -> Estimate:
    """(score - chance) / (attainable - chance): 0 for a judge who picks at random, 1 for one never moved by order."""

    def lifted(value: float | None) -> float | None:
        return None if value is None else (value - chance) / (attainable - chance)

    found = replace(score, value=lifted(score.value), lower=lifted(score.lower), upper=lifted(score.upper), cases=None)
    if found.value is None or found.upper is None or found.upper <= max(found.value, 1.0):
        return found
    # No judge is above one who is never moved; what holds for the upper side alone then ends there too, at the latest.
    capped = max(found.value, 1.0)
    down, up = found.one_sided or (1.0, 1.0)
    reached = up * (found.upper - found.value) / (capped - found.value) if capped > found.value else 1.0
    return replace(found, upper=capped, one_sided=(down, min(reached, 1.0)))


def expected(pattern: ChancePattern, *, seed: int = 0) -> Simulated:
    """What a judge who picks at random scores on average on a row of which these trials count."""
    if pattern.orders is None and pattern.is_whole and pattern.options in EXACT:
        return _exact(EXACT[pattern.options])
    if pattern.ways <= MOST_WAYS:
        return _exact(enumerated(pattern.turned()))
    most, picks = (DRAWS, _PICKS) if pattern.is_whole else (DRAWS_OF_A_PART, _PICKS_OF_A_PART)
    draws = max(most // 10, min(most, picks // len(pattern.kept)))
    return simulated(pattern.turned(), draws=draws, seed=seed)


def _exact(known: ExpectedPattern) -> Simulated:
    return Simulated(expected=known, standard_error=0.0)
