"""What an audit found, in sentences: what is wrong with the judge, what is not, what cannot be told; and its gate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.audit.document import PROBLEMS_FOUND, Unit, told
from evenhand.audit.gate import Ruling
from evenhand.audit.measures import Measure
from evenhand.audit.offer import MeasureOffer
from evenhand.domain.estimate import Estimate
from evenhand.format.tables import count
from evenhand.stats.intervals import Range
from evenhand.stats.reliability.summary import COIN, CONSISTENT_ENOUGH, ENOUGH_COVERAGE, FAR_FROM_EVEN

Found: TypeAlias = Literal["fault", "fine", "open"]
SMALL_EFFECT = 0.2
"""An effect of this size turns one verdict of ten."""
_FEW_VERDICTS = 0.1
"""One verdict of ten, as a share."""
_HEADS: Mapping[Found, str] = {"fault": PROBLEMS_FOUND, "fine": "No sign of trouble", "open": "Too few cases to tell"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """How an interval of a measure is read; nothing at all is said of what has no value."""

    of: Callable[[float, float], Found]
    fault: str
    fine: str
    open: str


def _at_least(bound: float) -> Callable[[float, float], Found]:
    return lambda lower, upper: "fine" if lower >= bound else "fault" if upper < bound else "open"


def _near(middle: float, far: float) -> Callable[[float, float], Found]:
    def found(lower: float, upper: float) -> Found:
        if lower > middle or upper < middle:
            return "fault"
        return "fine" if middle - far <= lower and upper <= middle + far else "open"

    return found


_READINGS: Mapping[str, _Reading] = {
    "coverage": _Reading(
        of=_at_least(ENOUGH_COVERAGE),
        fault="it leaves many trials without a verdict",
        fine="it gives verdicts",
        open="whether it gives enough verdicts",
    ),
    "swap_consistency": _Reading(
        of=_at_least(CONSISTENT_ENOUGH),
        fault="its verdicts change with the order of the answers",
        fine="its verdicts hold when the answers swap positions",
        open="whether its verdicts hold when the answers swap positions",
    ),
    "first_position": _Reading(
        of=_near(COIN, FAR_FROM_EVEN),
        fault="it favours the {place} position",
        fine="it favours neither position",
        open="whether it favours a position",
    ),
    "repeatability": _Reading(
        of=_at_least(CONSISTENT_ENOUGH),
        fault="it does not repeat itself",
        fine="it repeats itself",
        open="whether it repeats itself",
    ),
    "length_effect": _Reading(
        of=_near(0.0, SMALL_EFFECT),
        fault="it prefers the {length} of two answers that say the same",
        fine="idle words do not move it",
        open="whether idle words move it",
    ),
    "planted_effect": _Reading(
        of=_near(0.0, SMALL_EFFECT),
        fault="words planted in an answer move it {way}",
        fine="words planted in an answer do not move it",
        open="whether words planted in an answer move it",
    ),
    "looks": _Reading(
        of=lambda lower, upper: "fine" if lower > 0 else "fault" if upper < SMALL_EFFECT else "open",
        fault="it does not go by the image",
        fine="it goes by the image",
        open="whether it goes by the image",
    ),
    "grade_above_chance": _Reading(
        of=lambda lower, upper: "fine" if lower > 0 else "fault" if upper < 0 else "open",
        fault="among all answers at once it goes by their position",
        fine="among all answers at once it does better than chance",
        open="whether it does better than chance among all answers at once",
    ),
    "transitivity": _Reading(
        of=_at_least(0.75),
        fault="its verdicts go round in circles",
        fine="its verdicts on three models go together",
        open="whether its verdicts on three models go together",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """To one question of an audit."""

    measure: Measure
    found: Found
    words: str


def answers(measures: Sequence[Measure]) -> list[Answer]:
    """To each question that was asked, in the order of the measures; ways of planting that move the judge last."""
    made: list[Answer] = []
    moved = [one for one in measures if one.stands_out]
    for measure in measures:
        one, reading = measure.estimate, _reading(measure, measures)
        if reading is not None and measure.silenced:
            words = f"no {measure.name.replace('_', ' ')} could be measured ({one.reason})"
            made.append(Answer(measure=measure, found="fault", words=words))
        if reading is None or one.value is None or one.lower is None or one.upper is None:
            continue
        found = reading.of(one.lower, one.upper)
        if measure.name == "planted_effect" and moved and found != "fault":
            continue
        # Numbers that decide nothing are in the table.
        numbers = "" if found == "open" else f" ({_numbers(one, measure.unit)})"
        words = f"{_sided(getattr(reading, found), measure.name, one.value)}{numbers}"
        made.append(Answer(measure=measure, found=found, words=words))
    return [
        *made,
        *(
            Answer(
                measure=one, found="fault", words=f"a planted {one.way} moves it ({_numbers(one.estimate, one.unit)})"
            )
            for one in moved
        ),
    ]


def findings(measures: Sequence[Measure]) -> list[str]:
    """What is wrong first."""
    said = answers(measures)
    by_kind = [(head, [one.words for one in said if one.found == found]) for found, head in _HEADS.items()]
    return [f"{head}: {'; '.join(words)}." for head, words in by_kind if words]


def _reading(measure: Measure, measures: Sequence[Measure]) -> _Reading | None:
    if measure.name == "human_agreement":
        ceiling = next((one.estimate for one in measures if one.name == "human_ceiling"), None)
        return None if ceiling is None or ceiling.value is None else _beside_people(ceiling.value, ceiling.lower)
    if measure.part_of == "coverage":
        return _under(measure.name.removeprefix("coverage_"))
    return _READINGS.get(measure.name)


def _under(protocol: str) -> _Reading:
    return _Reading(
        of=_at_least(ENOUGH_COVERAGE),
        fault=f"it leaves many trials under {protocol} without a verdict",
        fine=f"it gives verdicts under {protocol}",
        open=f"whether it gives enough verdicts under {protocol}",
    )


def _beside_people(ceiling: float, at_least: float | None) -> _Reading:
    """A fault where all of the judge's interval is below all of the people's."""

    def found(lower: float, upper: float) -> Found:
        if upper < (ceiling if at_least is None else at_least):
            return "fault"
        return "fine" if lower >= ceiling - _FEW_VERDICTS else "open"

    people = f"who agree with each other in {told(ceiling, 'share')}"
    return _Reading(
        of=found,
        fault=f"it agrees with people, {people}, far less",
        fine=f"it agrees with people about as often as they do, {people}",
        open=f"whether it agrees with people, {people}, as often as that",
    )


def _sided(words: str, name: str, value: float) -> str:
    above = value > (COIN if name == "first_position" else 0.0)
    return words.format(
        place="first" if above else "second",
        length="longer" if above else "shorter",
        way="as they ask" if above else "against what they ask",
    )


def _numbers(one: Estimate, unit: Unit) -> str:
    return f"{told(one.value, unit)}, {told(one.lower, unit)} to {told(one.upper, unit)}"


def ruling_sentence(ruling: Ruling, asked: Mapping[str, MeasureOffer], whole: Mapping[str, MeasureOffer]) -> str:
    """Of an undecided rule also what decides it, and whether the available items can give that: `asked` is what the
    trials give of each measure, `whole` what they would without a budget."""
    if ruling.result != "undecided":
        return f"{ruling.rule}: {ruling.result}{_one_sided(ruling)}."
    if ruling.measured.value is None:
        return f"{ruling.rule}: undecided, {ruling.measured.reason}."
    here = f"{count(ruling.measured.n)} cases on {ruling.measured.clusters} items are here{_one_sided(ruling)}"
    if ruling.decided_at is None or ruling.least_items is None:
        return f"{ruling.rule}: undecided; {here}, and no number is known that would decide it at this value."
    least = f", on {ruling.least_items} items at the least" if ruling.least_items > ruling.measured.clusters else ""
    start = f"{ruling.rule}: undecided; about {ruling.decided_at} cases would decide it{least}; {here}."
    name = ruling.rule.name
    return f"{start} {_what_to_do(ruling, asked.get(name), whole.get(name))}".rstrip()


def _one_sided(ruling: Ruling) -> str:
    """The bounds that the rule is compared with; each is nearer to the value than that of the two-sided interval."""
    if ruling.bounds is None:
        return ""
    rule, (lower, upper) = ruling.rule, ruling.bounds
    unit: Unit = "share" if rule.within == Range() else "effect"
    value = ruling.measured.value
    below = rule.low is not None and value is not None and value < rule.low
    above = rule.high is not None and value is not None and value > rule.high
    at_least = f"at least {told(lower, unit)}" if (rule.low is not None and not below) or above else ""
    at_most = f"at most {told(upper, unit)}" if (rule.high is not None and not above) or below else ""
    return f" (95 % one-sided: {', '.join(filter(None, (at_least, at_most)))})"


def _what_to_do(ruling: Ruling, asked: MeasureOffer | None, whole: MeasureOffer | None) -> str:
    if asked is None or whole is None or not asked.cases:
        return ""
    assert ruling.decided_at is not None
    assert ruling.least_items is not None
    # Of each case asked, as many came to be counted as will of the others.
    most = round(ruling.measured.n * whole.cases / asked.cases)
    if ruling.least_items > whole.items or ruling.decided_at > most:
        return (
            f"The {whole.items} available items give {most} at the most, so they cannot decide it: give more items and "
            "answers (--benchmark, --data, --responses) or ask for less."
        )
    return f"The available items give up to {most}: allow more with --budget."
