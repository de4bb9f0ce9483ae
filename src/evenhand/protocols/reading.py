"""How a judge's words become a verdict: total readers, driven by a protocol's reading table."""

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Literal, TypeAlias

from evenhand.domain.identity import Json
from evenhand.domain.verdict import Choice, Grades, Levels, NoVerdict, Preference, Verdict
from evenhand.protocols.candidates import LONG, SHORTEST, VERY_LONG, Candidates, prose
from evenhand.protocols.closing import said_after
from evenhand.protocols.fence import fenced_spans
from evenhand.protocols.patterns import Found, Pattern
from evenhand.protocols.plain import plain
from evenhand.protocols.quoting import Quoting

# Raised whenever the code of reading, closing, quoting, candidates, skeletons or plain text changes what any reply is
# read as.
READER_VERSION = 5

MOST_DECISIONS = 200
"""Of a reply with more the last ones are read."""

Kind: TypeAlias = Literal["preference", "grades", "choice"]
Take: TypeAlias = Literal["agree", "last"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{1,300})?|\.[0-9]{1,300})")
_BRACKETED = re.compile(r"\[[^\[\]\n]{1,60}\]")
_A_SENTENCE = 12
_MOST_MARKS = 20
_MANY = 1_000_000
_QUOTE_SIGN = re.compile(r"^[ >]*>", re.MULTILINE)
_END_MARKS = ".,!?;:…。！？)]}\"'“”‘’»`* \n"
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
        said = said_after(token, text) if token else None
        if said is None:
            return NoVerdict(reason="unreadable", detail="The line with this trial's token is missing.")
        text, shown, fence = said, (), None
    if rule.ignore_space:
        text = _BRACKETED.sub(_tightened, text)
    origin = _Origin(text, shown, fence=fence)
    for pattern in (rule.pattern, rule.unmarked):
        if pattern is None:
            continue
        found = [match for match in pattern.found_in(text) if any(match.groups)]
        verdict = _decision(rule, found, origin, options=count)
        if verdict is not None:
            return verdict
    where = " after this trial's token" if token else ""
    return NoVerdict(reason="unreadable", detail=f"No decision was found{where}.")


def has_form_of_decision(rule: ReadingRule, text: str) -> bool:
    """Whether words in `text` have the form that the rule reads, whoever wrote them and whatever they would count for.

    A value without a marker, such as a single letter, stands in many a text: it has no such form.
    """
    # Behind a token stands the decision alone, and its pattern may be loose.
    parts = text.split("\n") if rule.token else [text]
    if rule.ignore_space:
        parts = [_BRACKETED.sub(_tightened, part) for part in parts]
    for part, pattern in itertools.product(parts, (rule.pattern, rule.unmarked)):
        for found in pattern.found_in(part) if pattern else ():
            words = part[found.start : found.end].strip()
            marked = [one for one in found.groups if one and (len(words) > len(one.strip()) or len(words) >= SHORTEST)]
            whole = not rule.token or words == part.strip()
            if whole and any(not isinstance(_value(rule, one, _MANY), _NotOffered) for one in marked):
                return True
    return False


def _blank(sign: re.Match[str]) -> str:
    return " " * len(sign.group())


def _tightened(bracketed: re.Match[str]) -> str:
    return _LOOSE_SPACE.sub("", bracketed.group())


class _Rank(IntEnum):
    """How surely a decision is the judge's own; a surer one beats the others wherever they stand."""

    OWN = 1
    QUOTED = 2
    """In quotation marks, code, a block quote or parentheses, where judges put their own verdict too."""
    WRITTEN = 3
    """A candidate wrote the same."""
    SPOKEN_OF = 4
    """The judge speaks of quoting, planting or ignoring it: a decision only where there is no other."""
    ANOTHERS = 5
    """A candidate wrote it and it stands in quotation, or it is announced as another's text: never a decision."""


@dataclass(frozen=True, slots=True)
class _Standing:
    rank: _Rank
    disputed: bool = False
    """It may be the judge's own after all: standing last and differing, it leaves the reply without a decision."""


@dataclass(frozen=True, slots=True, eq=False)
class _Decided:
    value: _Value
    captured: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Led:
    """How a decision is led up to."""

    quoted: bool
    announced: bool
    introduced: bool
    spoken_of: bool

    @property
    def plainly(self) -> bool:
        return not (self.quoted or self.announced or self.introduced or self.spoken_of)


def _side(value: _Value, kind: Kind) -> float | None:
    """Which answer a value finds the better: 1, 2, … as shown, 0 for a tie; None where it finds none so."""
    if kind == "grades" or isinstance(value, _NotOffered):
        return None
    return value if kind == "choice" else {1: 1, 0: 0, -1: 2}[(value > 0) - (value < 0)]


class _Origin:
    """Whose words a decision in a reply is. `text` is the reply's plain text."""

    def __init__(self, text: str, shown: Sequence[str], *, fence: str | None) -> None:
        self.text = text
        self._candidates = Candidates(shown)
        self._quoting = Quoting(text)
        self._fenced = fenced_spans(text, fence) if fence else []
        self._beginnings: dict[tuple[int, int], int] = {}

    @cached_property
    def _unquoted(self) -> str:
        return _QUOTE_SIGN.sub(_blank, self.text) if ">" in self.text else self.text

    @cached_property
    def _is_a_candidates(self) -> bool:
        """Whether the whole reply is what one candidate wrote."""
        return self._candidates.is_one(self._unquoted)

    def rank(self, decided: _Decided, *, kind: Kind, alone: bool, closing: bool) -> _Standing:
        """`alone`: no other value was found, so that OWN and WRITTEN come to the same."""
        start, end = decided.start, decided.start + len(self.text[decided.start : decided.end].rstrip(_END_MARKS))
        quoting = self._quoting
        if self._is_fenced(start, end):
            return _Standing(_Rank.ANOTHERS)
        if alone and closing and quoting.is_bare(start, end):  # as nearly every reply ends
            return _Standing(_Rank.OWN)
        led = _Led(
            quoted=quoting.quotes(start, end),
            announced=quoting.announced(start),
            introduced=quoting.introduced(start),
            spoken_of=quoting.spoken_of(start, end) or quoting.follows(start),
        )
        if alone and led.plainly and closing:
            return _Standing(_Rank.OWN)
        writers = self._writers(decided, end)
        if alone and led.plainly and not writers:
            return _Standing(_Rank.OWN)
        if writers:
            favoured = _side(decided.value, kind)
            against = bool(favoured) and favoured not in writers and not led.quoted and (closing or led.plainly)
            return self._written(start, end, led, against=against)
        return self._unwritten(decided, end, led, meant=self._meant(decided, kind), alone=alone)

    def _written(self, start: int, end: int, led: _Led, *, against: bool) -> _Standing:
        """Of a decision that a candidate wrote too; `against`: one that finds another better than its writers, and that
        nothing tells to be theirs, or that closes the reply."""
        quoting = self._quoting
        if not (led.announced or against) and self._closes(start, end, led):
            return _Standing(_Rank.WRITTEN)
        restated = self._restated(start, end)
        if led.announced or led.quoted or led.introduced or quoting.labelled(start):
            told = led.announced or led.introduced or led.spoken_of or restated.rank > _Rank.WRITTEN
            told = told or (led.quoted and quoting.in_prose_of_another(start))
            standing = _Standing(_Rank.ANOTHERS, disputed=not told)
        elif restated.rank > _Rank.SPOKEN_OF or not led.spoken_of:
            standing = restated
        else:
            standing = _Standing(_Rank.SPOKEN_OF)
        if against and standing.rank >= _Rank.SPOKEN_OF and not self._is_long(start, end):
            # Who writes a verdict against itself wants the judge not to be heard.
            return _Standing(_Rank.SPOKEN_OF, disputed=True)
        return standing

    def _is_long(self, start: int, end: int) -> bool:
        """Whether the stretch of a candidate's with a decision in it is quoted, or more than is alike by accident."""
        begin = self._begins(start, end)
        goes_on = any(map(str.isalnum, self.text[end : end + 200]))
        marked = self._quoting.quotes(begin, end) or (goes_on and self._quoting.after_a_colon(begin))
        return self._is_a_candidates or prose(self.text[begin:start]) >= (LONG if marked else VERY_LONG)

    def _unwritten(self, decided: _Decided, end: int, led: _Led, *, meant: bool, alone: bool) -> _Standing:
        """Of a decision that no candidate wrote; `meant`: one declared the same in other words."""
        if led.announced or (led.introduced and meant):
            return _Standing(_Rank.ANOTHERS)
        if led.introduced or led.spoken_of:
            return _Standing(_Rank.SPOKEN_OF, disputed=not (led.quoted or meant))
        if meant or self._below_a_candidates(decided.start):
            return _Standing(_Rank.WRITTEN)
        if not led.quoted or isinstance(decided.value, _NotOffered):
            return _Standing(_Rank.OWN)  # what is captured to be seen not to be offered is spoken of in quotation marks
        closes = self._closes(decided.start, end, led)
        own = closes and (alone or self._quoting.in_parentheses(decided.start, end))
        return _Standing(_Rank.OWN) if own else _Standing(_Rank.QUOTED, disputed=closes)

    def _closes(self, start: int, end: int, led: _Led) -> bool:
        quoting = self._quoting
        told = led.spoken_of or led.introduced or quoting.in_block_quote(start)
        return led.quoted and not told and quoting.closes(start, end)

    def declares_another(self, value: _Value, kind: Kind, decided: Sequence[_Decided]) -> bool:
        """Whether the reply finds another side the better, or gives another grade, in words that are no decision."""
        parts: list[str] = []
        at = 0
        for one in sorted(decided, key=lambda one: one.start):
            parts.append(self.text[at : one.start])
            at = max(at, one.end)
        rest = Candidates([". ".join([*parts, self.text[at:]])])
        if kind == "grades":
            return bool(rest.grades() - {value})
        return bool(rest.sides() - {_side(value, kind)})

    def _is_fenced(self, start: int, end: int) -> bool:
        return any(begin <= start and end <= stop for begin, stop in self._fenced)

    def closing(self, decided: Sequence[_Decided]) -> frozenset[_Decided]:
        """Those at the reply's end with nothing else in their paragraph: the judge's, known without any candidate."""
        run: list[_Decided] = []
        after = len(self.text)
        for one in reversed(decided):
            if after - one.end > _MOST_MARKS or any(map(str.isalnum, self.text[one.end : after])):
                break
            run.append(one)
            after = one.start
        begins = after == 0 or self.text[after - 2 : after] == "\n\n"
        return frozenset(run) if begins or (run and self._quoting.is_own(after)) else frozenset()

    def continues(self, before: _Decided, decided: _Decided, *, lines: int) -> bool:
        """Whether nothing stands between the two but so many line breaks."""
        between = self.text[before.end : decided.start]
        breaks = self.text[before.start : decided.start].count("\n", -len(between) - 2)
        return max(breaks, between.count("\n")) <= lines and not any(map(str.isalnum, between))

    def _writers(self, decided: _Decided, end: int) -> frozenset[int]:
        if writers := self._candidates.writers(self.text[decided.start : end]):
            return writers
        # The bare value with the brackets that it stands in, below a heading of the judge's own.
        at = self.text.rfind(decided.captured, decided.start, decided.end)
        if at < 0 or not any(mark in decided.captured for mark in "<>="):
            return frozenset()
        left, right = at, at + len(decided.captured)
        while left > 0 and self.text[left - 1] in "[ ":
            left -= 1
        while right < len(self.text) and self.text[right] in "] ":
            right += 1
        return self._candidates.writers(self.text[left:right])

    def _meant(self, decided: _Decided, kind: Kind) -> bool:
        """Whether a candidate declared the same in other words."""
        if isinstance(decided.value, _NotOffered):
            return self._candidates.said_sides(decided.captured)
        if kind == "grades":
            return decided.value in self._candidates.grades()
        return _side(decided.value, kind) in self._candidates.sides()

    def _begins(self, start: int, end: int) -> int:
        if (start, end) not in self._beginnings:
            self._beginnings[start, end] = self._candidates.begins(self._unquoted, start, end)
        return self._beginnings[start, end]

    def _below_a_candidates(self, start: int) -> bool:
        """Whether nothing but decisions stands between it and a paragraph that a candidate wrote: an answer restated
        whole, and what the judge made of its last line."""
        begin = self._unquoted.rfind("\n\n", 0, start)
        if begin < 0 or prose(self._unquoted[begin:start]):
            return False
        above = self._unquoted[self._unquoted.rfind("\n\n", 0, begin) + 1 : begin]
        return prose(above) >= VERY_LONG and bool(self._candidates.writers(above))

    def _restated(self, start: int, end: int) -> _Standing:
        """What a decision is that stands in a longer stretch of a candidate's."""
        if self._is_a_candidates and any(map(str.isalnum, self.text[:start] + self.text[end:])):
            return _Standing(_Rank.ANOTHERS)
        begin = self._begins(start, end)
        if begin >= start:
            return _Standing(_Rank.WRITTEN)
        quoting = self._quoting
        quoted = quoting.quotes(begin, end)
        # A few words over several lines, or a sentence that is neither quoted nor follows a colon, may be the judge's,
        # and the candidate's by foresight.
        own = prose(self.text[begin:start])
        if quoted or quoting.after_a_colon(begin):
            doubtful = own < LONG and "\n" in self.text[begin:start]
        else:
            doubtful = 0 < own < VERY_LONG or (own == 0 and "\n" in self.text[begin:start])
        told = quoting.announced(begin) or quoting.introduced(begin) or quoting.labelled(begin)
        if told or quoted:
            return _Standing(_Rank.ANOTHERS, disputed=doubtful)
        spoken_of = quoting.spoken_of(begin, end)
        return _Standing(_Rank.SPOKEN_OF, disputed=doubtful) if spoken_of else _Standing(_Rank.WRITTEN)


def _decision(
    rule: ReadingRule, found: Sequence[Found], origin: _Origin, *, options: int | None
) -> Verdict | NoVerdict | None:
    """None where nothing was found that can be the judge's own."""
    groups = rule.pattern.groups if rule.kind == "grades" else 1
    by_group: list[list[_Decided]] = [[] for _ in range(groups)]
    for match in found:
        captures = match.groups if rule.kind == "grades" else [next(filter(None, match.groups))]
        for group, captured in enumerate(captures):
            if captured is not None:
                by_group[group].append(_decided(rule, match, captured, origin, options))
    standings = _standings(rule, by_group, origin)
    values: list[_Value] = []
    for decided in by_group:
        unread = {one.value for one in decided[:-MOST_DECISIONS]}
        last = [(standings[one], one.value) for one in decided[-MOST_DECISIONS:]]
        value = _judges_own(rule, last, unread=unread)
        if isinstance(value, NoVerdict):
            return value
        if value is None:
            continue
        doubtful = min(one.rank for one, _ in last) >= _Rank.WRITTEN
        if doubtful and origin.declares_another(value, rule.kind, [one for group in by_group for one in group]):
            return NoVerdict(
                reason="conflicting", detail="What decides may be a candidate's, and the judge's words differ."
            )
        values.append(value)
    if not values:
        return None
    if len(values) < groups:
        return NoVerdict(reason="unreadable", detail=f"Only {len(values)} of {groups} grades were found.")
    return _verdict(rule, values, options)


def _decided(rule: ReadingRule, match: Found, captured: str, origin: _Origin, options: int | None) -> _Decided:
    value = _value(rule, captured, options)
    if isinstance(value, _NotOffered) and len(captured) >= _A_SENTENCE:
        # A pattern may begin before the sentence that it finds to be spoken of.
        start = max(match.start, origin.text.rfind(captured, match.start, match.end))
        return _Decided(value, captured, start, start + len(captured))
    return _Decided(value, captured, match.start, match.end)


def _standings(rule: ReadingRule, by_group: Sequence[Sequence[_Decided]], origin: _Origin) -> dict[_Decided, _Standing]:
    """Of the last ones of each group."""
    standings: dict[_Decided, _Standing] = {}
    alone: dict[_Decided, bool] = {}
    for group in by_group:
        alone |= dict.fromkeys(group[-MOST_DECISIONS:], len({one.value for one in group}) == 1)
    before: _Decided | None = None
    lines = 1 if rule.kind == "grades" else 0  # one score a line
    in_order = sorted(alone, key=lambda one: one.start)
    closing = origin.closing(in_order)
    for one in in_order:
        standing = origin.rank(one, kind=rule.kind, alone=alone[one], closing=one in closing)
        said = standings[before] if before else standing
        if before and said.rank >= _Rank.SPOKEN_OF and origin.continues(before, one, lines=lines):
            standing = max(said, standing, key=_by_rank)  # "It says: Response A … 1/10 Response B … 10/10"
        standings[one] = standing
        before = one
    return standings


def _by_rank(standing: _Standing) -> _Rank:
    return standing.rank


def _judges_own(
    rule: ReadingRule, found: Sequence[tuple[_Standing, _Value]], *, unread: Set[_Value]
) -> _Value | NoVerdict | None:
    """`unread`: the values of those before, of which it is not known whose they are."""
    possible = [(standing, value) for standing, value in found if standing.rank < _Rank.ANOTHERS]
    if not possible:
        return None
    highest = min(standing.rank for standing, _ in possible)
    values = [value for standing, value in possible if standing.rank == highest]
    # Judges restate the options while they reason, so with "last" an earlier mention is not a decision.
    chosen = values[-1]
    if highest >= _Rank.WRITTEN and not isinstance(chosen, _NotOffered):
        values = [value for value in values if not isinstance(value, _NotOffered)]
    unsure = highest > _Rank.OWN and not unread <= {chosen}
    if unsure or ((rule.take == "agree" or highest >= _Rank.WRITTEN) and _differ([*values, *unread])):
        return NoVerdict(reason="conflicting", detail="The reply decides in two different ways.")
    # A decision that a candidate wrote too, and that stands last, may be restated or may be the judge's own: planting
    # what the judge will say must not make an earlier mention its verdict.
    last = [(one, value) for one, value in found if one.rank <= _Rank.WRITTEN or one.disputed][-1:]
    if last and (last[0][0].rank == _Rank.WRITTEN or last[0][0].disputed) and last[0][1] != chosen:
        return NoVerdict(
            reason="conflicting", detail="The last decision differs from the one before, and may be a candidate's."
        )
    return chosen


def _differ(values: Iterable[_Value]) -> bool:
    return len(set(values)) > 1


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
