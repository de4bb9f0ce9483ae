"""How many cases a gate needs so that a judge as good as assumed meets every rule."""

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.audit.gate import GateRule
from evenhand.audit.pair_power import JudgeModel
from evenhand.domain.identity import Json
from evenhand.stats.intervals import MANY, ONE_SIDED, UNSEEN, reach, reaches
from evenhand.stats.reliability.grade_score.option_rows import FloatArray, IntArray
from evenhand.stats.reliability.one_sided import exactly_above, exactly_flawless

JOINT_POWER = 0.97

MOST_CASES = 100_000
_FEW = 500
"""Below this many cases the normal approximation is no guide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    rule: GateRule
    assumed: float
    power: float
    """How likely the rule is to be met at the least, from this many cases on."""
    cases: int | None
    """Cases on as many items; None where a hundred thousand would not do."""
    least_items: int
    """With fewer the rule is never met, however many cases each item has."""

    def as_json(self) -> dict[str, Json]:
        return {
            "rule": str(self.rule),
            "assumed": self.assumed,
            "power": self.power,
            "cases": self.cases,
            "least_items": self.least_items,
        }


def plan(
    rules: Sequence[GateRule], assumptions: Mapping[str, float] | None = None, *, joint_power: float = JOINT_POWER
) -> tuple[Needed, ...]:
    """What may go wrong, 1 - `joint_power`, is shared equally by the rules (Bonferroni).

    A case is whatever the measure counts: a pair in both orders for swap_consistency and first_position, a trial for
    coverage; each on an item of its own, and worth one yes or no, which is the most it can vary. A pair whose verdict
    holds names each place once, so first_position varies by the pairs that are not consistent only: by
    swap_consistency as assumed, or as by default where there is a rule for it. Raises ValueError where an assumption
    would not meet its rule, and where two contradict each other.
    """
    if not 0 < joint_power < 1:
        raise ValueError(f"A joint power lies between 0 and 1; {joint_power:g} does not.")
    power = 1 - (1 - joint_power) / max(len(rules), 1)
    assumed = {rule.name: default_assumption(rule) for rule in rules} | dict(assumptions or {})
    _refuse_contradiction(assumed, assumptions or {})
    return tuple(_needed(rule, assumed, power) for rule in rules)


def _refuse_contradiction(assumed: Mapping[str, float], given: Mapping[str, float]) -> None:
    if {"first_position", "swap_consistency"} <= set(given):
        leaning, kept = abs(2 * assumed["first_position"] - 1), assumed["swap_consistency"]
        if leaning > 1 - kept + 1e-9:
            raise ValueError(
                f"first_position={assumed['first_position']:g} takes at least {leaning:g} of the pairs that change "
                f"with the order, so swap_consistency={kept:g} cannot be assumed with it."
            )


def default_assumption(rule: GateRule) -> float:
    """Midway between the bound and the best there is (for an upper bound 0), and the middle of a range."""
    if rule.name == "first_position":
        return 0.5
    if rule.low is not None:
        return (rule.low + (rule.within.high if rule.high is None else rule.high)) / 2
    assert rule.high is not None
    # A negative effect that has to be more negative still is best at its lowest.
    return (rule.high + (0.0 if rule.high > 0 else rule.within.low)) / 2


def _needed(rule: GateRule, assumptions: Mapping[str, float], power: float) -> Needed:
    assumed = assumptions[rule.name]
    if (rule.low is not None and assumed <= rule.low) or (rule.high is not None and assumed >= rule.high):
        raise ValueError(f"A judge with {rule.name}={assumed:g} would not meet {rule}; assume one that does.")
    guess = _rough_cases(rule, assumed, power)
    cases = None
    if guess <= MOST_CASES:
        # Power climbs in steps with small falls, so the last fall below counts and not the first rise above.
        kept = assumptions.get("swap_consistency") if rule.name == "first_position" else None
        n = np.arange(1 if guess < _FEW or kept is not None else guess // 2, 2 * guess + _FEW)
        powers = _powers(rule, assumed, n) if kept is None else _powers_of_pairs(rule, assumed, kept, n)
        short = n[powers < power]
        cases = int(short[-1]) + 1 if len(short) else int(n[0])
        if kept is not None and cases <= _FEW:
            cases = _counted_out(rule, JudgeModel.of(assumed, kept), power, near=cases)
    return Needed(rule=rule, assumed=assumed, power=power, cases=cases, least_items=_least_items(rule, assumed))


def _counted_out(rule: GateRule, judge: JudgeModel, power: float, *, near: int) -> int:
    """One more than the last number of pairs, of those that are few, with which the rule is met too seldom; the normal
    approximation says `near`."""
    n = min(_FEW, near + near // 2 + 50)
    while n > 0 and judge.power(rule.low, rule.high, n) >= power:
        n -= 1
    return n + 1


def _least_items(rule: GateRule, assumed: float) -> int:
    """So many that a record with the value assumed and no spread at all meets the rule."""
    n, within = np.arange(1, MOST_CASES), rule.within
    share = (assumed - within.low) / within.width
    met = np.ones(len(n), dtype=np.bool_)
    if rule.low is not None:
        met &= _reachable(n, (rule.low - within.low) / within.width, share)
    if rule.high is not None:
        met &= _reachable(n, (within.high - rule.high) / within.width, 1 - share)
    return int(n[met.argmax()]) if met.any() else MOST_CASES


def fewest_items(rule: GateRule) -> int:
    """With fewer no judge at all meets the rule, whatever its value and however many cases each item has."""
    n, within = np.arange(1, MOST_CASES), rule.within
    low = 0.0 if rule.low is None else (rule.low - within.low) / within.width
    high = 1.0 if rule.high is None else (rule.high - within.low) / within.width
    met = (_flawless(n) >= max(low, 1 - high)) & (_least_reach(n) <= high - low)
    return int(n[met.argmax()]) if met.any() else MOST_CASES


def _flawless(n: IntArray) -> FloatArray:
    """The lower bound of a record without a fault: the lower of Wilson's and the exact one."""
    return np.minimum(n / (n + reaches(n, ONE_SIDED) ** 2), exactly_flawless(n.astype(np.float64)))


def _reachable(n: IntArray, bound: float, share: float) -> npt.NDArray[np.bool_]:
    """Whether the lower bound of a share without spread reaches `bound`; as `Basis` in `intervals` holds it back."""
    return np.minimum(share * (1 - _least_reach(n)), _flawless(n)) >= bound


def _least_reach(n: IntArray) -> FloatArray:
    return np.minimum(reach(MANY, ONE_SIDED) ** 2 / (4 * n), 1.0)


def _rough_cases(rule: GateRule, assumed: float, power: float) -> int:
    """By the normal approximation; where both ends have to hold, as if what may go wrong were shared by them."""
    within = rule.within
    ends = [end for end in (rule.low, rule.high) if end is not None]
    reaches = reach(MANY, ONE_SIDED), reach(MANY, 1 - 2 * (1 - power) / len(ends))
    share = (assumed - within.low) / within.width
    rough = 1.0
    for end in ends:
        bound = (end - within.low) / within.width
        spread = reaches[0] * math.sqrt(bound * (1 - bound)) + reaches[1] * math.sqrt(share * (1 - share))
        rough = max(rough, (spread / (share - bound)) ** 2)
    return math.ceil(rough)


def _powers(rule: GateRule, assumed: float, n: IntArray) -> FloatArray:
    """For each number of cases: the probability that a judge with the value assumed meets the rule."""
    within = rule.within
    least, most = np.zeros(len(n)), n.astype(np.float64)
    if rule.low is not None:
        least = _fewest_hits(n, (rule.low - within.low) / within.width)
    if rule.high is not None:
        most = n - _fewest_hits(n, (within.high - rule.high) / within.width)
    share = (assumed - within.low) / within.width
    return np.maximum(_at_most(most, n, share) - _at_most(least - 1, n, share), 0.0)


def _powers_of_pairs(rule: GateRule, assumed: float, kept: float, n: IntArray) -> FloatArray:
    """As `_powers`, of first_position, where so many of the n pairs are kept; the share's distribution taken as normal,
    which is no more than a first guess where they are few.

    A pair's share of the first place is 1/2 where the verdict holds, else 0 or 1.
    """
    special: Any = importlib.import_module("scipy.special")
    variance = max(1 - kept, abs(2 * assumed - 1)) / 4 - (assumed - 0.5) ** 2
    # As `Basis.cases` of n alike pairs.
    cases = n / np.maximum(variance / max(assumed * (1 - assumed), 1e-12), np.minimum(UNSEEN / (n + UNSEEN), 0.5))
    quantile = reaches(n, ONE_SIDED)

    def reached(bound: float, share: float) -> FloatArray:
        least = np.maximum(bound + quantile * np.sqrt(bound * (1 - bound) / cases), bound / (1 - _least_reach(n)))
        gap = (share - least) / np.sqrt(np.maximum(variance, 1e-12) / n)
        return np.where(_reachable(n, bound, 1.0), special.ndtr(gap), 0.0)

    low = reached(rule.low, assumed) if rule.low is not None else np.ones(len(n))
    high = reached(1 - rule.high, 1 - assumed) if rule.high is not None else np.ones(len(n))
    return np.maximum(low + high - 1, 0.0)


def _fewest_hits(n: IntArray, bound: float) -> FloatArray:
    """The fewest hits in n cases whose lower bound, as the gate has it, reaches `bound`; n + 1 if none does.

    Wilson's lower bound of p reaches b where p - b is at least t sqrt(b (1 - b) / (n - 1)). The exact one is never far.
    """
    quantile = reaches(n, ONE_SIDED)
    hits = np.ceil(n * (bound + quantile * np.sqrt(bound * (1 - bound) / np.maximum(n - 1, 1))) - 1e-9)
    hits = np.minimum(hits, n + 1.0)
    while True:
        cases = np.where(hits >= n, np.inf, np.maximum(n - 1.0, 1.0))
        short = (hits <= n) & ~exactly_above(hits / n, cases, n.astype(np.float64), bound)
        if not short.any():
            return hits
        hits = hits + short


def _at_most(hits: FloatArray, n: IntArray, share: float) -> FloatArray:
    """P(X <= hits) of a binomial X."""
    special: Any = importlib.import_module("scipy.special")
    inside: FloatArray = special.bdtr(np.clip(hits, 0, n), n, share)
    return np.where(hits < 0, 0.0, np.where(hits >= n, 1.0, inside))
