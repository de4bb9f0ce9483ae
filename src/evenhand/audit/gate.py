"""Rules a judge must meet before it may be used: read from text, then met, not met or undecided."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.audit.measures.catalog import find_measure, known_measures
from evenhand.audit.measures.record import AuditMeasure
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import Range
from evenhand.stats.reliability.one_sided import ObservedShare

Result: TypeAlias = Literal["met", "not met", "undecided"]

_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)"
_BOUND = re.compile(rf"(\w+)\s*(>=|<=)\s*({_NUMBER})")
_WITHIN = re.compile(rf"(\w+)\s+in\s+({_NUMBER})\s*\.\.\s*({_NUMBER})")
_ASSUMED = re.compile(rf"(\w+)\s*=\s*({_NUMBER})")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """`low` <= measure <= `high`, each where it is given."""

    name: str
    low: float | None = None
    high: float | None = None

    @property
    def within(self) -> Range:
        return _measure(self.name).within

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            return f"{self.name} in {self.low:g}..{self.high:g}"
        return f"{self.name}>={self.low:g}" if self.low is not None else f"{self.name}<={self.high:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    rule: GateRule
    result: Result
    measured: Estimate
    bounds: tuple[float, float] | None = None
    """Each one-sided at 95 %; None where nothing was measured."""
    decided_at: int | None = None
    """Of an undecided rule: about how many cases in all would decide it if the value stayed; None if none would."""
    least_items: int | None = None
    """Of an undecided rule: with fewer it stays so at this value, however many cases each item has."""

    def as_json(self) -> dict[str, Json]:
        return {
            "rule": str(self.rule),
            "result": self.result,
            **self.measured.as_json("measured"),
            "bounds": None if self.bounds is None else list(self.bounds),
            "decided_at": self.decided_at,
            "items": self.measured.clusters,
            "least_items": self.least_items,
        }


def parse_rules(text: str) -> tuple[GateRule, ...]:
    """`swap_consistency>=0.8, first_position in 0.4..0.6`; raises ValueError with one sentence on anything else."""
    return tuple(_rule(part.strip()) for part in text.split(","))


def parse_assumptions(text: str) -> dict[str, float]:
    """`swap_consistency=0.95, coverage=1`; raises ValueError with one sentence on anything else."""
    assumed: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        found = _ASSUMED.fullmatch(part)
        if not found:
            raise ValueError(f"{part!r} is no assumption; write NAME=x, for example swap_consistency=0.95.")
        name, value = _known(found[1]), float(found[2])
        if name in assumed:
            raise ValueError(f"{name} is assumed twice; keep one.")
        within = _measure(name).within
        if not within.low <= value <= within.high:
            raise ValueError(f"{name} lies between {within.low:g} and {within.high:g}; {value:g} cannot be assumed.")
        assumed[name] = value
    return assumed


def judged(rules: Sequence[GateRule], measured: Mapping[str, Estimate]) -> tuple[Ruling, ...]:
    """Each rule by one-sided 95 % bounds; `in` by one at either end. What was not measured is undecided.

    The estimates are those that are printed, at the usual two-sided level.
    """
    missing = Estimate(value=None, reason="not measured")
    return tuple(_ruling(rule, measured.get(rule.name, missing)) for rule in rules)


def passed(rulings: Sequence[Ruling]) -> bool:
    return all(ruling.result == "met" for ruling in rulings)


def _rule(part: str) -> GateRule:
    bound, within = _BOUND.fullmatch(part), _WITHIN.fullmatch(part)
    if bound:
        name, value = _known(bound[1]), float(bound[3])
        rule = GateRule(name=name, low=value) if bound[2] == ">=" else GateRule(name=name, high=value)
    elif within:
        rule = GateRule(name=_known(within[1]), low=float(within[2]), high=float(within[3]))
    else:
        raise ValueError(f"{part!r} is no rule; write NAME >= x, NAME <= x or NAME in a..b, with commas between rules.")
    _refuse_hopeless(rule)
    return rule


def _known(name: str) -> str:
    return _measure(name).name


def _measure(name: str) -> AuditMeasure:
    found = find_measure(name)
    if found is None:
        raise ValueError(f"{name!r} is not measured; choose from {', '.join(known_measures().by_name)}.")
    return found


def _refuse_hopeless(rule: GateRule) -> None:
    within = rule.within
    if rule.low is not None and rule.high is not None and not rule.low < rule.high:
        raise ValueError(f"{rule} is empty: the first number must be below the second.")
    for bound in (rule.low, rule.high):
        if bound is not None and not within.low <= bound <= within.high:
            raise ValueError(f"{rule} is out of range: {rule.name} lies between {within.low:g} and {within.high:g}.")
    if rule.low == within.high or rule.high == within.low:
        raise ValueError(f"{rule} can never be shown: no number of trials proves a measure to be at its very end.")


def _ruling(rule: GateRule, measured: Estimate) -> Ruling:
    within = rule.within
    seen = ObservedShare.of(measured, within)
    if seen is None:
        return Ruling(rule=rule, result="undecided", measured=measured)
    lower, upper = (within.low + within.width * bound for bound in seen.one_sided)
    low = -math.inf if rule.low is None else rule.low
    high = math.inf if rule.high is None else rule.high
    result: Result = "undecided"
    if low <= lower and upper <= high:
        result = "met"
    elif upper < low or high < lower:
        result = "not met"
    if result != "undecided":
        return Ruling(rule=rule, result=result, measured=measured, bounds=(lower, upper))
    ends = _to_tell_from(rule, seen)
    return Ruling(
        rule=rule,
        result=result,
        measured=measured,
        bounds=(lower, upper),
        decided_at=max((math.ceil(seen.cases_to_tell_from(end)) for end in ends), default=None),
        least_items=max((math.ceil(seen.clusters_to_tell_from(end)) for end in ends), default=None),
    )


def _to_tell_from(rule: GateRule, seen: ObservedShare) -> list[float]:
    """The ends, on the scale from 0 to 1, that the value must be told from; none where no number of cases would do."""
    within = rule.within
    low, high = (None if one is None else (one - within.low) / within.width for one in (rule.low, rule.high))
    if seen.value in (low, high) or seen.tells_nothing:
        return []
    if low is not None and seen.value < low:
        return [low]
    if high is not None and seen.value > high:
        return [high]
    return [one for one in (low, high) if one is not None]
