"""Which measures an audit takes, built in or of installed packages, in the order in which they are told."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from evenhand.audit.measures.coverage import COVERAGE
from evenhand.audit.measures.length import LENGTH_EFFECT
from evenhand.audit.measures.looks import LOOKS
from evenhand.audit.measures.options import GRADE_ABOVE_CHANCE
from evenhand.audit.measures.pairs import FIRST_POSITION, REPEATABILITY, SWAP_CONSISTENCY, TIE_RATE, TRANSITIVITY
from evenhand.audit.measures.people import HUMAN_AGREEMENT
from evenhand.audit.measures.planted import PLANTED_EFFECT
from evenhand.audit.measures.record import NO_CASES, AuditMeasure, AuditReplies, Measure, MeasureOffer, Reading
from evenhand.audit.trials import Block, Purposeful, Sources
from evenhand.domain.estimate import Estimate
from evenhand.domain.verdict import NoVerdict
from evenhand.installed import AddedKind, InstalledError
from evenhand.stats.intervals import Range

if TYPE_CHECKING:
    from evenhand.audit.design import Design

Result = TypeVar("Result")

BUILT_IN: Mapping[str, AuditMeasure] = {
    one.name: one
    for one in (
        COVERAGE,
        SWAP_CONSISTENCY,
        FIRST_POSITION,
        TIE_RATE,
        TRANSITIVITY,
        REPEATABILITY,
        LENGTH_EFFECT,
        PLANTED_EFFECT,
        GRADE_ABOVE_CHANCE,
        LOOKS,
        HUMAN_AGREEMENT,
    )
}
INSTALLED = AddedKind("evenhand.measures", "audit measure", AuditMeasure)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMeasures:
    by_name: Mapping[str, AuditMeasure]
    faults: tuple[str, ...]
    """Sentences: what is installed and cannot be used."""


@cache
def known_measures() -> KnownMeasures:
    """Built in, then installed ones; what packages add is looked for once."""
    found, faults = dict(BUILT_IN), INSTALLED.clashes(BUILT_IN)
    taken = {one.part for one in BUILT_IN.values()}
    for name in INSTALLED.names():
        if name in BUILT_IN:
            continue
        try:
            record = INSTALLED.load(name)
            if not isinstance(record.within, Range) or not callable(record.measure):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise INSTALLED.refused(name, "its record needs a Range as `within` and a function as `measure`")
            if record.part in taken - {""}:
                raise INSTALLED.refused(name, f"its part '{record.part}' is one of the audit's own")
        except InstalledError as error:
            faults.append(str(error))
            continue
        part = record.part or (name if record.trials is not None else "")
        found[name] = replace(record, part=part, package=INSTALLED.package(name))
    return KnownMeasures(by_name=found, faults=tuple(faults))


def find_measure(name: str) -> AuditMeasure | None:
    # Almost always a built-in one, of which no package need be asked.
    return BUILT_IN.get(name) or known_measures().by_name.get(name)


def part_names() -> tuple[str, ...]:
    """What the trials of an audit are for, in the order in which they are asked."""
    return tuple(one.part for one in known_measures().by_name.values() if one.trials is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    blocks: Mapping[str, list[Block]]
    """By part."""
    faults: tuple[str, ...]
    """Sentences: parts of packages that failed, and are left out."""


def wanted(sources: Sources, seed: int, parts: Sequence[str]) -> Wanted:
    """The trials of these parts."""
    blocks: dict[str, list[Block]] = {}
    faults: list[str] = []
    for one in known_measures().by_name.values():
        if one.trials is None or one.part not in parts:
            continue
        make = one.trials
        try:
            blocks[one.part] = _of(one, lambda make=make: _checked(make(sources, seed)))
        except InstalledError as error:
            faults.append(str(error))
    return Wanted(blocks=blocks, faults=tuple(faults))


def _checked(blocks: Sequence[Block]) -> list[Block]:
    """Fails here, where a package is named, and not where trials are asked."""
    made = [tuple(block) for block in blocks]
    keys = [one.trial.key for block in made for one in block]
    if not all(isinstance(key, str) for key in keys):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("a trial has no key")
    return made


def offers(trials: Sequence[Purposeful]) -> dict[str, MeasureOffer]:
    """By measure, if every one of the trials got a verdict; what only the record can tell is left out."""
    found: dict[str, MeasureOffer] = {}
    for one in known_measures().by_name.values():
        try:
            offer = _offer(one, trials)
        except InstalledError:
            continue
        if offer is not None:
            found[one.name] = offer
    return found


def _offer(one: AuditMeasure, trials: Sequence[Purposeful]) -> MeasureOffer | None:
    offer = one.offer
    return None if offer is None else _of(one, lambda: offer(one.shown(trials)))


def measures(design: "Design", heard: AuditReplies, *, seed: int = 0) -> list[Measure]:
    """All that the trials alone can tell; what could not be measured has a reason for a value."""
    return [
        each
        for one in known_measures().by_name.values()
        if one.measure is not None
        for each in _measured(one, design, heard, seed)
    ]


def _measured(one: AuditMeasure, design: "Design", heard: AuditReplies, seed: int) -> list[Measure]:
    count = one.measure
    assert count is not None
    try:
        found = _of(one, lambda: _fitting(one, count(design, heard, seed)))
        # Coverage tells of replies without a verdict itself.
        return found if one is COVERAGE else _or_silence(one, found, design.purposeful, heard)
    except InstalledError as error:
        # The calls are paid for: one package's fault must not cost the other measures.
        nothing = Estimate(value=None, reason=str(error).rstrip("."))
        return [Measure(name=one.name, estimate=nothing, design=one.about or one.name)]


def _fitting(one: AuditMeasure, found: object) -> list[Measure]:
    made = cast("list[Measure]", found)
    if one.package and (not isinstance(found, list) or not all(isinstance(each, Measure) for each in made)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError("it gave no list of Measure")
    numbers = [number for each in made for number in (each.estimate.value, each.estimate.lower, each.estimate.upper)]
    if not all(number is None or math.isfinite(number) for number in numbers):
        raise ValueError("it gave numbers that are not finite")
    others = [each.name for each in made if one.name not in (each.name, each.part_of)]
    if one.package and (others or not any(each.name == one.name for each in made)):
        raise ValueError(f"it must give {one.name} and what is part of that, not {', '.join(others) or 'nothing'}")
    return made


def _or_silence(
    one: AuditMeasure, found: Sequence[Measure], trials: Sequence[Purposeful], heard: AuditReplies
) -> list[Measure]:
    """Where nothing could be counted because replies of its trials hold no verdict, that is the reason."""
    said = [heard.verdicts[each.trial.key] for each in one.shown(trials) if each.trial.key in heard.verdicts]
    missing = Counter(each.reason for each in said if isinstance(each, NoVerdict))
    offered = _offer(one, trials)
    if not missing or offered is None or not offered.cases:
        return list(found)
    why = f"{missing.total()} of {len(said)} replies without a verdict: {', '.join(sorted(missing))}"
    if len(missing) == 1:
        why = f"{missing.total()} of {len(said)} replies {min(missing)}"
    return [
        replace(each, estimate=replace(each.estimate, reason=why), silenced=True)
        if each.estimate.reason == NO_CASES
        else each
        for each in found
    ]


def reading_of(measure: Measure, measures: Sequence[Measure]) -> Reading | None:
    """How it is read beside the others; None where nothing is said of it."""
    one = find_measure(measure.part_of or measure.name)
    if one is None:
        return None
    try:
        return _of(one, lambda: _tried(_reading(one, measure, measures), measure.estimate))
    except InstalledError:
        return None


def _reading(one: AuditMeasure, measure: Measure, measures: Sequence[Measure]) -> Reading | None:
    if one.reading_beside is not None:
        return one.reading_beside(measure, measures)
    return one.reading if measure.name == one.name else None


def _tried(reading: Reading | None, one: Estimate) -> Reading | None:
    """Fails here, where a package is named, and not where the sentences are made."""
    if reading is not None and one.value is not None and one.lower is not None and one.upper is not None:
        reading.words(reading.of(one.lower, one.upper), one.value)
    return reading


def charts(document: Mapping[str, Any]) -> dict[str, Any]:
    """Of the measures that have one, by part or name; a package's that cannot be drawn is left out."""
    made: dict[str, Any] = {}
    for one in known_measures().by_name.values():
        if one.chart is None:
            continue
        draw = one.chart
        try:
            chart = _of(one, lambda draw=draw: draw(document))
        except InstalledError:
            continue
        if chart is not None:
            made[one.part or one.name] = chart
    return made


def _of(one: AuditMeasure, call: Callable[[], Result]) -> Result:
    """Raises InstalledError where a package's code fails."""
    return INSTALLED.run(one.name, call) if one.package else call()
