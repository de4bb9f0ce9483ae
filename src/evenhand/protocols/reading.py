"""How a judge's words become a verdict: total readers, driven by a protocol's reading table."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evenhand.domain.identity import Json
from evenhand.domain.verdict import Choice, Grades, Levels, NoVerdict, Preference, Verdict
from evenhand.protocols.candidates import SHORTEST
from evenhand.protocols.closing import said_after
from evenhand.protocols.origin import Decided, DecisionContext, DecisionOrigin, Kind, NotOffered, Rank, Value
from evenhand.protocols.patterns import FoundDecision, Pattern
from evenhand.protocols.plain import plain
from evenhand.protocols.refusal import refuses

# Raised whenever the code of reading, origin, closing, fence, quoting, leads, candidates, letters, skeleton, refusal or
# plain changes what any reply is read as.
READER_VERSION = 9

MOST_DECISIONS = 200
"""Of a reply with more the last ones are read."""

Take: TypeAlias = Literal["agree", "last"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{1,300})?|\.[0-9]{1,300})")
_GRADED_AGAIN = re.compile(
    r"(?:(?!\b(?:response|assistant|score)\b)[^\n()]){0,80}?\b(?:I|my|mine|but|it|gets?|deserves?|earns?)\b"
    r"(?:(?!\b(?:response|assistant|score)\b)[^\n()]){0,60}?(?<![0-9.])(?P<number>[0-9]{1,3}(?:\.[0-9]{1,3})?)"
    r"\s*(?:/|out of)\s*10\b",
    re.IGNORECASE,
)
"""Behind a grade on its line: "10/10 is what it asks for; it gets 3/10"."""
_LOOSELY_BRACKETED = re.compile(r"\[(?=[^\[\]\n ]* )[^\[\]\n]{1,60}\]")
_A_SENTENCE = 12
_A_LINE = 200
_MANY = 1_000_000
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
    token: bool = False
    """Whether every reply closes with a line that carries its trial's token, which alone is read."""


def normal(text: str, *, ignore_case: bool, ignore_space: bool) -> str:
    """A captured text, or a key of `values`, as the two are compared."""
    text = "".join(text.split()) if ignore_space else text.strip()
    return text.casefold() if ignore_case else text


def read(
    rule: ReadingRule,
    reply: str,
    *,
    shown: Sequence[str] = (),
    options: int | None = None,
    fence: str | None = None,
    token: str | None = None,
) -> Verdict | NoVerdict:
    """The verdict in `reply`, or why there is none. Never raises, whatever the texts.

    `shown`: what the judge was shown, such as the candidates' answers; it must not speak for the judge.
    `options`: how many a choice was offered; None: as many as were shown.
    `token`: the trial's; then only what follows it on its line is read, which no candidate could have written.
    """
    text = plain(reply)
    count = options if options is not None else (len(shown) or None)
    if token is not None or rule.token:
        said = said_after(token, text, lines=rule.pattern.groups if rule.kind == "grades" else 1) if token else None
        if said is None:
            return _undecided(rule, text, "The line with this trial's token is missing.")
        text, shown, fence = said, (), None
    if rule.ignore_space:
        text = _LOOSELY_BRACKETED.sub(_tightened, text)
    origin = DecisionOrigin(text, shown, fence=fence)
    for pattern in (rule.pattern, rule.unmarked):
        if pattern is None:
            continue
        found = [match for match in pattern.found_in(text) if any(match.groups)]
        verdict = _decision(rule, found, origin, options=count)
        if verdict is not None:
            return verdict
    where = " after this trial's token" if token else ""
    return _undecided(rule, text, f"No decision was found{where}.")


def _undecided(rule: ReadingRule, text: str, why: str) -> NoVerdict:
    """Of a reply in which nothing stands as the judge's decision."""
    if not refuses(text):
        return NoVerdict(reason="unreadable", detail=why)
    captured = (one for found in rule.pattern.found_in(text) for one in found.groups if one)
    if any(not isinstance(_value(rule, one, _MANY), NotOffered) for one in captured):
        return NoVerdict(reason="unreadable", detail=why)
    return NoVerdict(reason="refused", detail=text[:200])


def has_form_of_decision(rule: ReadingRule, text: str) -> bool:
    """Whether words in `text` have the form that the rule reads, whoever wrote them and whatever they would count for.

    A value without a marker, such as a single letter, stands in many a text: it has no such form.
    """
    # Behind a token stands the decision alone, and its pattern may be loose.
    parts = text.split("\n") if rule.token else [text]
    if rule.ignore_space:
        parts = [_LOOSELY_BRACKETED.sub(_tightened, part) for part in parts]
    for part, pattern in itertools.product(parts, (rule.pattern, rule.unmarked)):
        for found in pattern.found_in(part) if pattern else ():
            words = part[found.start : found.end].strip()
            marked = [one for one in found.groups if one and (len(words) > len(one.strip()) or len(words) >= SHORTEST)]
            whole = not rule.token or words == part.strip()
            if whole and any(not isinstance(_value(rule, one, _MANY), NotOffered) for one in marked):
                return True
    return False


def _tightened(bracketed: re.Match[str]) -> str:
    return _LOOSE_SPACE.sub("", bracketed.group())


def _decision(
    rule: ReadingRule, found: Sequence[FoundDecision], origin: DecisionOrigin, *, options: int | None
) -> Verdict | NoVerdict | None:
    """None where nothing was found that can be the judge's own."""
    by_group = _by_group(rule, found, origin, options)
    groups = len(by_group)
    once = [decided[0] for decided in by_group if len(decided) == 1]
    if len(once) == groups and origin.is_closed_by(sorted(once, key=_by_place)):  # as nearly every reply
        return _verdict(rule, [one.value for one in once], options)
    standings = _standings(rule, by_group, origin)
    values: list[Value] = []
    for decided in by_group:
        value = _of_group(rule, decided, standings)
        if isinstance(value, NoVerdict):
            return value
        if value is None:
            continue
        if doubt := _doubt(rule, value, decided, by_group, standings, origin):
            return NoVerdict(reason="conflicting", detail=doubt)
        values.append(value)
    if not values:
        return None
    if len(values) < groups:
        return NoVerdict(reason="unreadable", detail=f"Only {len(values)} of {groups} grades were found.")
    return _verdict(rule, values, options)


def _by_group(
    rule: ReadingRule, found: Sequence[FoundDecision], origin: DecisionOrigin, options: int | None
) -> list[list[Decided]]:
    """For grades one list a response, else one."""
    by_group: list[list[Decided]] = [[] for _ in range(rule.pattern.groups if rule.kind == "grades" else 1)]
    for match in found:
        captures = match.groups if rule.kind == "grades" else [next(filter(None, match.groups))]
        for group, captured in enumerate(captures):
            if captured is not None:
                by_group[group].append(_decided(rule, match, captured, origin, options))
    return by_group


def _decided(
    rule: ReadingRule, match: FoundDecision, captured: str, origin: DecisionOrigin, options: int | None
) -> Decided:
    value = _value(rule, captured, options)
    if isinstance(value, NotOffered) and len(captured) >= _A_SENTENCE:
        # A pattern may begin before the sentence that it finds to be spoken of.
        start = max(match.start, origin.text.rfind(captured, match.start, match.end))
        return Decided(value, captured, start, start + len(captured))
    goes_on = rule.kind == "grades" and "10" in origin.text[match.end : match.end + _A_LINE].partition("\n")[0]
    if goes_on and (again := _GRADED_AGAIN.match(origin.text, match.end)):
        value = value if value == float(again["number"]) else NotOffered(f"{captured}, then {again['number']}")
    return Decided(value, captured, match.start, match.end)


def _standings(
    rule: ReadingRule, by_group: Sequence[Sequence[Decided]], origin: DecisionOrigin
) -> dict[Decided, DecisionContext]:
    """Of the last ones of each group."""
    standings: dict[Decided, DecisionContext] = {}
    alone: dict[Decided, bool] = {}
    for group in by_group:
        alone |= dict.fromkeys(group[-MOST_DECISIONS:], len({one.value for one in group}) == 1)
    before: Decided | None = None
    lines = 1 if rule.kind == "grades" else 0  # one score a line
    in_order = sorted(alone, key=_by_place)
    closing = origin.closing(in_order)
    for one in in_order:
        standing = origin.rank(one, kind=rule.kind, alone=alone[one], closing=one in closing)
        said = standings[before] if before else standing
        if before and said.rank >= Rank.SPOKEN_OF and origin.continues(before, one, lines=lines):
            standing = max(said, standing, key=_by_rank)  # "It says: Response A … 1/10 Response B … 10/10"
        standings[one] = standing
        before = one
    return standings


def _by_place(decided: Decided) -> int:
    return decided.start


def _by_rank(standing: DecisionContext) -> Rank:
    return standing.rank


def _of_group(
    rule: ReadingRule, decided: Sequence[Decided], standings: Mapping[Decided, DecisionContext]
) -> Value | NoVerdict | None:
    if len(decided) == 1 and standings[decided[0]].rank == Rank.OWN:  # as in nearly every reply
        return decided[0].value
    unread = {one.value for one in decided[:-MOST_DECISIONS]}
    last = [(standings[one], one.value) for one in decided[-MOST_DECISIONS:]]
    return _judges_own(rule, last, unread=unread)


def _doubt(
    rule: ReadingRule, value: Value, decided: Sequence[Decided], by_group: Sequence[Sequence[Decided]],
    standings: Mapping[Decided, DecisionContext], origin: DecisionOrigin,
) -> str | None:  # fmt: skip
    """Why this value, which the ranks chose among those decided, may still be a candidate's; None where it is not."""
    if len(decided) == 1 and standings[decided[0]].rank == Rank.OWN:
        return None
    if _is_in_passing(rule, value, decided, standings, origin):
        return "What decides is named in passing, after another decision."
    if _differs_from_the_close(value, decided, standings, origin):
        return "What closes the reply differs, and may be the judge's own."
    doubtful = min(standings[one].rank for one in decided[-MOST_DECISIONS:]) >= Rank.WRITTEN
    if doubtful and origin.declares_another(value, rule.kind, [one for group in by_group for one in group]):
        return "What decides may be a candidate's, and the judge's words differ."
    return None


def _is_in_passing(
    rule: ReadingRule, value: Value, decided: Sequence[Decided], standings: Mapping[Decided, DecisionContext],
    origin: DecisionOrigin,
) -> bool:  # fmt: skip
    """Whether the decision with this value is named in passing, after another one that the judge may have meant.

    What a candidate wrote in a code that only the judge understood is restated so, whatever the words that lead to it.
    """
    ranked = [one for one in decided if one in standings]
    possible = [one for one in ranked if standings[one].rank <= Rank.WRITTEN]
    others = [
        one for one in ranked
        if _begun(rule, one) not in (None, value) and (one in possible or isinstance(one.value, NotOffered))
    ]  # fmt: skip
    if not possible or not others or isinstance(value, NotOffered):
        return False
    highest = min(standings[one].rank for one in possible)
    chosen = next(one for one in reversed(possible) if standings[one].rank == highest)
    if highest == Rank.QUOTED and any(standings[one].rank == Rank.WRITTEN for one in others):
        return True
    before = {
        one: standings[one].rank == highest or standings[one].against or isinstance(one.value, NotOffered)
        for one in others
        if one.start < chosen.start
    }
    return bool(before) and origin.is_in_passing(chosen, before, among=sorted(standings, key=_by_place))


def _begun(rule: ReadingRule, one: Decided) -> float | None:
    """The value decided, also where a sentence goes on without a stop: "Final Answer: A It is exact."."""
    if not isinstance(one.value, NotOffered):
        return one.value
    first = normal(one.captured.partition(" ")[0], ignore_case=rule.ignore_case, ignore_space=rule.ignore_space)
    return rule.values.get(first)


def _differs_from_the_close(
    value: Value, decided: Sequence[Decided], standings: Mapping[Decided, DecisionContext], origin: DecisionOrigin
) -> bool:
    last = decided[-1]
    if last.value == value or not standings[last].closes:
        return False
    chosen = next(one for one in reversed(decided) if one.value == value and one in standings)
    return standings[chosen].rank >= Rank.WRITTEN or origin.depth(chosen, list(standings)) > 0


def _judges_own(
    rule: ReadingRule, found: Sequence[tuple[DecisionContext, Value]], *, unread: Set[Value]
) -> Value | NoVerdict | None:
    """`unread`: the values of those before, of which it is not known whose they are."""
    possible = [(standing, value) for standing, value in found if standing.rank < Rank.ANOTHERS]
    if not possible:
        return None
    highest = min(standing.rank for standing, _ in possible)
    values = [value for standing, value in possible if standing.rank == highest]
    # Judges restate the options while they reason, so with "last" an earlier mention is not a decision.
    chosen = values[-1]
    if highest >= Rank.WRITTEN and not isinstance(chosen, NotOffered):
        values = [value for value in values if not isinstance(value, NotOffered)]
    unsure = highest > Rank.OWN and not unread <= {chosen}
    if unsure or ((rule.take == "agree" or highest >= Rank.WRITTEN) and _differ([*values, *unread])):
        return NoVerdict(reason="conflicting", detail="The reply decides in two different ways.")
    # A decision that a candidate wrote too, and that stands last, may be restated or may be the judge's own: planting
    # what the judge will say must not make an earlier mention its verdict.
    last = [(one, value) for one, value in found if one.rank <= Rank.WRITTEN or one.disputed][-1:]
    if last and (last[0][0].rank == Rank.WRITTEN or last[0][0].disputed) and last[0][1] != chosen:
        return NoVerdict(
            reason="conflicting", detail="The last decision differs from the one before, and may be a candidate's."
        )
    return chosen


def _differ(values: Iterable[Value]) -> bool:
    return len(set(values)) > 1


def _value(rule: ReadingRule, captured: str, options: int | None) -> Value:
    """The value of a captured text if it was among those offered."""
    text = normal(captured, ignore_case=rule.ignore_case, ignore_space=rule.ignore_space)
    number = rule.values.get(text) if rule.values else _number(text)
    if number is None:
        return NotOffered(text)
    if rule.kind == "choice":
        offered = options is not None and number.is_integer() and 1 <= number <= options
    else:
        low, high = rule.range or (-math.inf, math.inf)
        offered = low <= number <= high
    return number if offered else NotOffered(text)


def _number(text: str) -> float | None:
    # float() alone would also take "nan", "inf" and "1_0".
    return float(text) if _NUMBER.fullmatch(text) else None


def _verdict(rule: ReadingRule, values: list[Value], options: int | None) -> Verdict | NoVerdict:
    numbers: list[float] = []
    for value in values:
        if isinstance(value, NotOffered):
            return NoVerdict(reason="unreadable", detail=_not_offered(rule, value, options))
        numbers.append(value)
    if rule.kind == "grades":
        return Grades(values=tuple(numbers))
    if rule.kind == "choice":
        return Choice(value=int(numbers[0]) - 1)
    assert rule.levels is not None
    return Preference(value=int(numbers[0]), levels=rule.levels)


def _not_offered(rule: ReadingRule, value: NotOffered, options: int | None) -> str:
    if rule.kind == "choice" and options is None:
        return "How many options were offered is not known."
    if not any(letter.isalnum() for letter in value.text):
        return "The last marker stands without a decision."
    return f"The decision {value.text[:40]!r} was not among those offered."
