"""An audit in one or two sentences: what its trials decide, what they leave open, and how many would decide that."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.audit.findings import AuditAnswer, answers
from evenhand.audit.gate import GateRule, Ruling, judged
from evenhand.audit.measures.catalog import find_measure
from evenhand.audit.measures.record import Measure, MeasureOffer
from evenhand.format.words import counted

_TWO_SIDED = 1.75
"""A finding is read off a two-sided interval, which takes 1.4 times the cases of a rule's one-sided bound, and on few
items, by Student's t, about so many."""
_ROUND = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much was asked, and how much the available items could give."""

    trials: int
    left_out: int
    asked: Mapping[str, MeasureOffer]
    whole: Mapping[str, MeasureOffer]

    def needed(self, measure: Measure) -> int | None:
        """About how many trials in all would answer its question if its value stayed; None where those of the items at
        hand would not, or nobody knows."""
        rule = _rule(measure.name)
        asked, whole = self.asked.get(measure.name), self.whole.get(measure.name)
        if rule is None or asked is None or whole is None or not asked.cases:
            return None
        (ruling,) = judged([rule], {measure.name: measure.estimate})
        times = _times(ruling)
        if times is None or times * asked.cases > whole.cases or (ruling.least_items or 0) > whole.items:
            return None
        return min(_ROUND * math.ceil(times * self.trials / _ROUND), self.trials + self.left_out)


def _rule(name: str) -> GateRule | None:
    """What the finding of that name answers."""
    found = find_measure(name)
    if found is None or (found.low is None and found.high is None):
        return None
    return GateRule(name=name, low=found.low, high=found.high)


def _times(ruling: Ruling) -> float | None:
    """As many cases as there are."""
    if ruling.result != "undecided":
        return _TWO_SIDED
    if ruling.decided_at is None or ruling.least_items is None:
        return None
    measured = ruling.measured
    return _TWO_SIDED * max(ruling.decided_at / measured.n, ruling.least_items / measured.clusters)


def conclusion(measures: Sequence[Measure], extent: Extent) -> str:
    said = answers(measures)
    unsure = [one for one in said if one.found == "open"]
    faults = sum(one.found == "fault" for one in said)
    if not said:
        return "Nothing could be measured."
    if not unsure:
        fine = "" if faults == len(said) else "; no sign of trouble in the others"
        return f"Problems found in {_of(faults, said)}{fine}." if faults else "No sign of trouble in what was measured."
    here = f"{counted(extent.trials, 'trial')} on {_items(extent.asked)} are too few"
    if len(unsure) == len(said):
        return f"This audit decides nothing: {here}. {_to_do(unsure, extent)}"
    if not faults:
        return f"No sign of trouble so far, but {here} for {_of(len(unsure), said)}. {_to_do(unsure, extent)}"
    others = "the other " if faults + len(unsure) == len(said) else "another "
    return f"Problems found in {_of(faults, said)}; {here} for {others}{len(unsure)}. {_to_do(unsure, extent)}"


def _of(number: int, said: Sequence[AuditAnswer]) -> str:
    return f"{number} of {counted(len(said), 'question')}"


def _items(offers: Mapping[str, MeasureOffer]) -> str:
    """`12 items and 20 images of the audit's twins`: a side of a twin is no item of the benchmark."""
    widest = max(offers.values(), key=lambda one: one.items, default=MeasureOffer(cases=0, items=0))
    own = counted(widest.items - widest.of_twins, "item")
    return f"{own} and {counted(widest.of_twins, 'image')} of the audit's twins" if widest.of_twins else own


def _to_do(unsure: Sequence[AuditAnswer], extent: Extent) -> str:
    needed = [extent.needed(one.measure) for one in unsure]
    enough = [number for number in needed if number is not None]
    more = f"more than the {_items(extent.whole)} available (--benchmark, --data, --responses)"
    if not enough or not extent.left_out:
        return f"To decide {'it' if len(unsure) == 1 else 'them'} takes {more}."
    every = len(enough) == len(unsure)
    which = ("it" if len(unsure) == 1 else f"all {len(unsure)}") if every else f"{len(enough)} of these"
    start = f"About {max(enough):,} trials would decide {which}: --budget {max(enough)}."
    rest = len(unsure) - len(enough)
    return start if every else f"{start} The other {'takes' if rest == 1 else f'{rest} take'} {more}."
