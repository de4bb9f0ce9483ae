"""How a judge's words become a verdict: total readers, driven by a protocol's reading table."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evenhand.domain.identity import Json
from evenhand.domain.verdict import Choice, Grades, Levels, NoVerdict, Preference, Verdict
from evenhand.protocols.masking import Masks
from evenhand.protocols.patterns import Found, Pattern
from evenhand.protocols.plain import plain

# Raised whenever the code of reading, masking or plain text changes what any reply is read as.
READER_VERSION = 2

Kind: TypeAlias = Literal["preference", "grades", "choice"]
Take: TypeAlias = Literal["agree", "last"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{1,300})?|\.[0-9]{1,300})")
_BRACKETED = re.compile(r"\[[^\[\]\n]{1,60}\]")
_LOOSE_SPACE = re.compile(r"(?<=[^\w\s]) +| +(?=[^\w\s])")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRule:
    kind: Kind
    pattern: Pattern
    """The full marker. Preference and choice: the first group that took part is the decision, where none did there is
    no marker; grades: one group per response. What is captured and not offered is a marker without a decision."""
    source: Json
    """The reading table's content: what the reader's version is a hash of."""
    levels: Levels | None = None
    take: Take = "agree"
    unmarked: Pattern | None = None
    """Tried only where no marked decision is left."""
    ignore_case: bool = False
    ignore_space: bool = False
    values: Mapping[str, float] = field(default_factory=dict[str, float])
    """From the text captured, as `normal` writes it, to its value."""
    range: tuple[float, float] | None = None


def normal(text: str, *, ignore_case: bool, ignore_space: bool) -> str:
    """A captured text, or a key of `values`, as the two are compared."""
    text = "".join(text.split()) if ignore_space else text.strip()
    return text.casefold() if ignore_case else text


@dataclass(frozen=True, slots=True)
class _NotOffered:
    text: str


_Value: TypeAlias = float | _NotOffered


def read(
    rule: ReadingRule,
    reply: str,
    *,
    shown: Sequence[str] = (),
    options: int | None = None,
    fence: str | None = None,
) -> Verdict | NoVerdict:
    """The verdict in `reply`, or why there is none. Never raises, whatever the texts.

    `shown`: what the judge was shown, such as the candidates' answers; it must not speak for the judge.
    `options`: how many a choice was offered; None: as many as were shown.
    """
    text = plain(reply)
    if rule.ignore_space:
        text = _BRACKETED.sub(_tightened, text)
    masks = Masks(text, shown, fence=fence)
    count = options if options is not None else (len(shown) or None)
    for pattern in (rule.pattern, rule.unmarked):
        if pattern is None:
            continue
        verdict = _decision(rule, _own(pattern, text, masks, last_first=rule.take == "last"), options=count)
        if masks.overrun:
            return NoVerdict(reason="unreadable", detail="The reply holds too many decisions to tell whose they are.")
        if verdict is not None:
            return verdict
    return NoVerdict(reason="unreadable", detail="No decision was found.")


def _tightened(bracketed: re.Match[str]) -> str:
    return _LOOSE_SPACE.sub("", bracketed.group())


def _own(pattern: Pattern, text: str, masks: Masks, *, last_first: bool) -> Iterator[Found]:
    """The judge's own decisions: those that no candidate wrote."""
    found = [match for match in pattern.found_in(text) if any(match.groups)]
    for match in reversed(found) if last_first else found:
        if masks.overrun:
            return
        if not masks.hide(match.start, match.end):
            yield match


def _decision(rule: ReadingRule, own: Iterator[Found], *, options: int | None) -> Verdict | NoVerdict | None:
    """None where nothing was found. With `take = "last"` the matches come last first."""
    decided: dict[int, _Value] = {}
    groups = rule.pattern.groups if rule.kind == "grades" else 1
    for match in own:
        captures = match.groups if rule.kind == "grades" else [next(filter(None, match.groups))]
        for group, captured in enumerate(captures):
            if captured is None:
                continue
            value = _value(rule, captured, options)
            # Judges restate the options while they reason, so with "last" an earlier mention is not a decision.
            if decided.setdefault(group, value) != value and rule.take == "agree":
                return NoVerdict(reason="conflicting", detail="The reply decides in two different ways.")
        if rule.take == "last" and len(decided) == groups:
            break
    if not decided:
        return None
    if len(decided) < groups:
        return NoVerdict(reason="unreadable", detail=f"Only {len(decided)} of {groups} grades were found.")
    return _verdict(rule, [decided[group] for group in range(groups)], options)


def _value(rule: ReadingRule, captured: str, options: int | None) -> _Value:
    """The value of a captured text if it was among those offered."""
    text = normal(captured, ignore_case=rule.ignore_case, ignore_space=rule.ignore_space)
    number = rule.values.get(text) if rule.values else _number(text)
    if number is None:
        return _NotOffered(text)
    if rule.kind == "choice":
        offered = options is not None and number.is_integer() and 1 <= number <= options
    else:
        low, high = rule.range or (-math.inf, math.inf)
        offered = low <= number <= high
    return number if offered else _NotOffered(text)


def _number(text: str) -> float | None:
    # float() alone would also take "nan", "inf" and "1_0".
    return float(text) if _NUMBER.fullmatch(text) else None


def _verdict(rule: ReadingRule, values: list[_Value], options: int | None) -> Verdict | NoVerdict:
    numbers: list[float] = []
    for value in values:
        if isinstance(value, _NotOffered):
            return NoVerdict(reason="unreadable", detail=_not_offered(rule, value, options))
        numbers.append(value)
    if rule.kind == "grades":
        return Grades(values=tuple(numbers))
    if rule.kind == "choice":
        return Choice(value=int(numbers[0]) - 1)
    assert rule.levels is not None
    return Preference(value=int(numbers[0]), levels=rule.levels)


def _not_offered(rule: ReadingRule, value: _NotOffered, options: int | None) -> str:
    if rule.kind == "choice" and options is None:
        return "How many options were offered is not known."
    if not any(letter.isalnum() for letter in value.text):
        return "The last marker stands without a decision."
    return f"The decision {value.text[:40]!r} was not among those offered."
