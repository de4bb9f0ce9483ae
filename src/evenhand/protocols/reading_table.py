"""The [reading], [grades] and [constrained] tables of a protocol.toml, checked key by key."""

import math
from typing import get_args

from evenhand.domain.identity import Json
from evenhand.domain.rubric import Rubric
from evenhand.domain.verdict import Levels, Preference
from evenhand.protocols.criteria import NAME_IN_PATTERN, criteria_pattern, grade_values
from evenhand.protocols.grading import GradingRule
from evenhand.protocols.offered import Constrained
from evenhand.protocols.patterns import Pattern, PatternError, compile_pattern
from evenhand.protocols.reading import Kind, ReadingRule, Take, normal
from evenhand.protocols.table import Table


def reading_rule(protocol: Table, *, kind: Kind, levels: Levels | None, rubric: Rubric | None = None) -> ReadingRule:
    """`rubric`: the pattern is then one for each criterion, and the values are those of its scale."""
    table = protocol.table("reading")
    if table is None:
        raise protocol.wrong("reading", "it is missing; it says how a reply is read.")
    ignore_case = table.optional("ignore_case", bool) or False
    ignore_space = table.optional("ignore_space", bool) or False
    # A list holds alternatives, tried in their order.
    several = isinstance(table.left.get("pattern"), list)
    pattern_source = "|".join(table.texts("pattern")) if several else table.take("pattern", str)
    pattern_source = _for_criteria(table, pattern_source, rubric)
    pattern = _pattern(table, "pattern", pattern_source, ignore_case=ignore_case)
    if rubric is not None and pattern.groups != len(rubric.criteria):
        raise table.wrong("pattern", "with a criterion's name in it, it must have one group: the grade.")
    unmarked_source = table.optional("unmarked", str)
    unmarked = None
    if unmarked_source is not None:
        unmarked = _pattern(table, "unmarked", unmarked_source, ignore_case=ignore_case)
        if kind == "grades" and unmarked.groups != pattern.groups:
            raise table.wrong("unmarked", f"it has {unmarked.groups} groups, but pattern has {pattern.groups}.")
    take: Take = table.one_of("take", get_args(Take), default="agree")
    bounds = _range(table, kind)
    token = table.optional("token", bool) or False
    written = table.table("values")
    table.done()
    values = _values(table, written, kind=kind, levels=levels, rubric=rubric)
    values = {normal(key, ignore_case=ignore_case, ignore_space=ignore_space): one for key, one in values.items()}
    range_written: Json = list(bounds) if bounds else None
    source: list[Json] = [pattern_source, unmarked_source, take, ignore_case, ignore_space, range_written, values]
    if token:
        source.append("token")
    return ReadingRule(
        kind=kind, levels=levels, pattern=pattern, unmarked=unmarked, take=take, ignore_case=ignore_case,
        ignore_space=ignore_space, values=values, range=bounds, token=token, source=source,
    )  # fmt: skip


def _for_criteria(table: Table, pattern: str, rubric: Rubric | None) -> str:
    if (NAME_IN_PATTERN in pattern) != (rubric is not None):
        raise table.wrong("pattern", f"{NAME_IN_PATTERN} in it and a criteria file go together.")
    return pattern if rubric is None else criteria_pattern(pattern, rubric)


def _values(
    table: Table, written: Table | None, *, kind: Kind, levels: Levels | None, rubric: Rubric | None
) -> dict[str, float]:
    """From each decision's words to its value; empty where grades are read as the numbers that they are."""
    if rubric is not None:
        if written is not None:
            raise table.wrong("values", "the grades that are offered are those of the criteria's scale.")
        return grade_values(rubric)
    if written is None and kind == "preference":
        raise table.wrong("values", "it is missing; it gives each decision its value for the response shown first.")
    return {} if written is None else _decisions(written, kind=kind, levels=levels)


def _pattern(table: Table, name: str, source: str, *, ignore_case: bool) -> Pattern:
    try:
        pattern = compile_pattern(source, ignore_case=ignore_case)
    except PatternError as refusal:
        raise table.wrong(name, str(refusal)) from None
    if pattern.groups == 0:
        raise table.wrong(name, "it has no group; the first group is the decision, as in '(A|B)'.")
    return pattern


def grading_rule(protocol: Table, *, kind: Kind, prompt: str | None) -> GradingRule | None:
    """None where nothing is graded beside the choice, or not under this prompt."""
    table = protocol.table("grades")
    if table is None:
        return None
    if kind != "choice":
        raise protocol.wrong("grades", f"only a choice has grades beside it, not a protocol of kind {kind}.")
    prompts = table.texts("prompts")
    source = table.take("pattern", str)
    pattern = _pattern(table, "pattern", source, ignore_case=True)
    if pattern.groups != 2:
        raise table.wrong("pattern", "it must have two groups: the option's number, and its grade.")
    bounds = _range(table, "grades")
    if bounds is None:
        raise table.wrong("range", "it is missing; it is the lowest and the highest grade.")
    table.done()
    if prompts and prompt not in prompts:
        return None
    return GradingRule(pattern=pattern, range=bounds, source=[source, list(bounds)])


def _range(table: Table, kind: Kind) -> tuple[float, float] | None:
    bounds = table.items("range")
    if bounds is None:
        return None
    if kind != "grades":
        raise table.wrong("range", f"only grades have a range, not a protocol of kind {kind}.")
    numbers = [number for bound in bounds if (number := _finite(bound)) is not None]
    if len(bounds) != 2 or len(numbers) != 2 or numbers[0] >= numbers[1]:
        raise table.wrong("range", f"it must be two numbers, the smaller first, not {bounds!r}.")
    return numbers[0], numbers[1]


def _decisions(table: Table, *, kind: Kind, levels: Levels | None) -> dict[str, float]:
    """Each decision's text and value; the value must be one that the kind of verdict can have."""
    decisions: dict[str, float] = {}
    for name, written in table.rest().items():
        number = _finite(written)
        if number is None:
            raise table.wrong(name, f"it must be a number, not {written!r}.")
        if kind != "grades" and not isinstance(written, int):
            raise table.wrong(name, f"it must be a whole number, not {written!r}.")
        if kind == "choice" and number < 1:
            raise table.wrong(name, f"it must be the option's number, counted from 1, not {written!r}.")
        if levels is not None:
            try:
                Preference(value=int(number), levels=levels)
            except ValueError as refusal:
                raise table.wrong(name, str(refusal)) from None
        decisions[name] = number
    if not decisions:
        raise table.wrong("", "it is empty; it gives each decision its value.")
    return decisions


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
        return None
    return float(value)


def constrained_readout(protocol: Table, *, kind: Kind, levels: Levels | None) -> Constrained | None:
    table = protocol.table("constrained")
    if table is None:
        return None
    if kind == "grades":
        raise protocol.wrong("constrained", "grades have no constrained readout; only a preference and a choice do.")
    begin = table.take("begin", str)
    offered = table.table("answers")
    table.done()
    if offered is None:
        raise table.wrong("answers", "it is missing; it gives each offered answer its value.")
    decisions = _decisions(offered, kind=kind, levels=levels)
    if len(decisions) < 2:
        raise table.wrong("answers", "at least two answers must be offered.")
    answers = {name: int(value) for name, value in decisions.items()}
    for name in answers:
        # One answer that begins like another would be told apart only by a later token.
        if any(other != name and other.startswith(name) for other in answers):
            raise table.wrong("answers", f"another answer begins with {name!r}, so their first tokens may be the same.")
    return Constrained(begin=begin, answers=answers, levels=levels)
