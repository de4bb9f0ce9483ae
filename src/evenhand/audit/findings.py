"""What an audit found, in sentences: what is wrong with the judge, what is not, what cannot be told; and its gate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.audit.document import PROBLEMS_FOUND, Unit, bound_told, interval_told, told
from evenhand.audit.gate import Ruling
from evenhand.audit.measures.catalog import reading_of
from evenhand.audit.measures.record import Found, Measure, MeasureOffer
from evenhand.domain.estimate import Estimate
from evenhand.format.words import count
from evenhand.stats.intervals import Range

_HEADS: Mapping[Found, str] = {"fault": PROBLEMS_FOUND, "fine": "No sign of trouble", "open": "Too few cases to tell"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAnswer:
    """To one question of an audit."""

    measure: Measure
    found: Found
    words: str


def answers(measures: Sequence[Measure]) -> list[AuditAnswer]:
    """To each question that was asked, in the order of the measures; ways of planting that move the judge last."""
    made: list[AuditAnswer] = []
    moved = [one for one in measures if one.stands_out]
    for measure in measures:
        one, reading = measure.estimate, reading_of(measure, measures)
        if reading is not None and measure.silenced:
            words = f"no {measure.name.replace('_', ' ')} could be measured ({one.reason})"
            made.append(AuditAnswer(measure=measure, found="fault", words=words))
        if reading is None or one.value is None or one.lower is None or one.upper is None:
            continue
        found = reading.of(one.lower, one.upper)
        if found != "fault" and any(other.part_of == measure.name for other in moved):
            continue
        # Numbers that decide nothing are in the table.
        numbers = "" if found == "open" else f" ({_numbers(one, measure.unit)})"
        words = f"{reading.words(found, one.value)}{numbers}"
        made.append(AuditAnswer(measure=measure, found=found, words=words))
    return [
        *made,
        *(
            AuditAnswer(
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


def _numbers(one: Estimate, unit: Unit) -> str:
    return f"{told(one, unit)}, {interval_told(one, unit)}"


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
    at_least = f"at least {bound_told(lower, unit)}" if (rule.low is not None and not below) or above else ""
    at_most = f"at most {bound_told(upper, unit)}" if (rule.high is not None and not above) or below else ""
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
