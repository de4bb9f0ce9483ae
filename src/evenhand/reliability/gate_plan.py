"""How many cases a gate needs so that a judge as good as assumed meets every rule."""

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from evenhand.domain.identity import Json
from evenhand.intervals import FEW_CLUSTERS, reach
from evenhand.reliability.gate import Rule
from evenhand.reliability.one_sided import GATE_LEVEL, MANY
from evenhand.reliability.option_rows import FloatArray, IntArray

JOINT_POWER = 0.97
MOST_CASES = 100_000
_FEW = 500
"""Below this many cases the normal approximation is no guide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    rule: Rule
    assumed: float
    power: float
    """How likely the rule is to be met at the least, from this many cases on."""
    cases: int | None
    """Cases on as many items; None where a hundred thousand would not do."""

    def as_json(self) -> dict[str, Json]:
        return {"rule": str(self.rule), "assumed": self.assumed, "power": self.power, "cases": self.cases}


def plan(
    rules: Sequence[Rule], assumptions: Mapping[str, float] | None = None, *, joint_power: float = JOINT_POWER
) -> tuple[Needed, ...]:
    """What may go wrong, 1 - `joint_power`, is shared equally by the rules (Bonferroni).

    A case is whatever the measure counts: a pair in both orders for swap_consistency, a trial for coverage; each on an
    item of its own, and worth one yes or no, which is the most it can vary. Raises ValueError where an assumption
    would not meet its rule.
    """
    if not 0 < joint_power < 1:
        raise ValueError(f"A joint power lies between 0 and 1; {joint_power:g} does not.")
    power = 1 - (1 - joint_power) / max(len(rules), 1)
    return tuple(_needed(rule, (assumptions or {}).get(rule.name, default_assumption(rule)), power) for rule in rules)


def default_assumption(rule: Rule) -> float:
    """Midway between the bound and the best there is (for an upper bound 0), and the middle of a range."""
    if rule.name == "first_position":
        return 0.5
    if rule.low is not None:
        return (rule.low + (rule.within.high if rule.high is None else rule.high)) / 2
    assert rule.high is not None
    # A negative effect that has to be more negative still is best at its lowest.
    return (rule.high + (0.0 if rule.high > 0 else rule.within.low)) / 2


def _needed(rule: Rule, assumed: float, power: float) -> Needed:
    if (rule.low is not None and assumed <= rule.low) or (rule.high is not None and assumed >= rule.high):
        raise ValueError(f"A judge with {rule.name}={assumed:g} would not meet {rule}; assume one that does.")
    guess = _rough_cases(rule, assumed, power)
    if guess > MOST_CASES:
        return Needed(rule=rule, assumed=assumed, power=power, cases=None)
    # Power climbs in steps with small falls, so the last fall below counts and not the first rise above.
    n = np.arange(1 if guess < _FEW else guess // 2, 2 * guess + _FEW)
    short = n[_powers(rule, assumed, n) < power]
    cases = int(short[-1]) + 1 if len(short) else int(n[0])
    return Needed(rule=rule, assumed=assumed, power=power, cases=cases)


def _rough_cases(rule: Rule, assumed: float, power: float) -> int:
    """By the normal approximation; where both ends have to hold, as if what may go wrong were shared by them."""
    within = rule.within
    ends = [end for end in (rule.low, rule.high) if end is not None]
    reaches = reach(MANY, GATE_LEVEL), reach(MANY, 1 - 2 * (1 - power) / len(ends))
    share = (assumed - within.low) / within.width
    rough = 1.0
    for end in ends:
        bound = (end - within.low) / within.width
        spread = reaches[0] * math.sqrt(bound * (1 - bound)) + reaches[1] * math.sqrt(share * (1 - share))
        rough = max(rough, (spread / (share - bound)) ** 2)
    return math.ceil(rough)


def _powers(rule: Rule, assumed: float, n: IntArray) -> FloatArray:
    """For each number of cases: the probability that a judge with the value assumed meets the rule."""
    within = rule.within
    least, most = np.zeros(len(n)), n.astype(np.float64)
    if rule.low is not None:
        least = _fewest_hits(n, (rule.low - within.low) / within.width)
    if rule.high is not None:
        most = n - _fewest_hits(n, (within.high - rule.high) / within.width)
    share = (assumed - within.low) / within.width
    return np.maximum(_at_most(most, n, share) - _at_most(least - 1, n, share), 0.0)


def _fewest_hits(n: IntArray, bound: float) -> FloatArray:
    """The fewest hits in n cases whose lower bound, as for shares in `intervals`, reaches `bound`; n + 1 if none does.

    Wilson's lower bound of p reaches b where p - b is at least z sqrt(b (1 - b) / n).
    """
    quantile = _quantiles()[np.minimum(n, FEW_CLUSTERS)]
    hits = np.ceil(n * bound + quantile * np.sqrt(n * bound * (1 - bound)) - 1e-9)
    return np.where(hits <= n, hits, n + 1.0)


def _at_most(hits: FloatArray, n: IntArray, share: float) -> FloatArray:
    """P(X <= hits) of a binomial X."""
    special: Any = importlib.import_module("scipy.special")
    inside: FloatArray = special.bdtr(np.clip(hits, 0, n), n, share)
    return np.where(hits < 0, 0.0, np.where(hits >= n, 1.0, inside))


@cache
def _quantiles() -> FloatArray:
    """By number of clusters, the last for all from there on."""
    return np.array([reach(max(count, 1), GATE_LEVEL) for count in range(FEW_CLUSTERS + 1)])
