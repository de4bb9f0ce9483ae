"""Whose words a decision in a reply is: the judge's own, quoted, a candidate's too, spoken of, or another's."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Literal, TypeAlias

from evenhand.protocols.candidates import Candidates
from evenhand.protocols.fence import fenced_spans
from evenhand.protocols.letters import LONG, VERY_LONG, Letters, prose
from evenhand.protocols.quoting import Depth, Quoting

Kind: TypeAlias = Literal["preference", "grades", "choice"]

_MOST_MARKS = 20
_LIST_MARK = re.compile(r"\n\W*[0-9]{1,2}[.)]")
_QUOTE_SIGN = re.compile(r"^[ >]*>", re.MULTILINE)
_END_MARKS = ".,!?;:…。！？)]}\"'“”‘’»`* \n"


@dataclass(frozen=True, slots=True)
class NotOffered:
    text: str


Value: TypeAlias = float | NotOffered


def _blank(sign: re.Match[str]) -> str:
    return " " * len(sign.group())


class Rank(IntEnum):
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
class DecisionContext:
    rank: Rank
    disputed: bool = False
    """It may be the judge's own after all: standing last and differing, it leaves the reply without a decision."""
    against: bool = False
    """A candidate wrote it too, and it finds another the better: for a plant that would be a strange one."""
    closes: bool = False
    """It closes the reply, and nobody wrote it: only what is surely the judge's beats it, whatever leads to it."""


@dataclass(slots=True, eq=False)
class Decided:
    value: Value
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


def _side(value: Value, kind: Kind) -> float | None:
    """Which answer a value finds the better: 1, 2, … as shown, 0 for a tie; None where it finds none so."""
    if kind == "grades" or isinstance(value, NotOffered):
        return None
    return value if kind == "choice" else {1: 1, 0: 0, -1: 2}[(value > 0) - (value < 0)]


class DecisionOrigin:
    """Whose words a decision in a reply is. `text` is the reply's plain text."""

    def __init__(self, text: str, shown: Sequence[str], *, fence: str | None) -> None:
        self.text = text
        self._candidates = Candidates(shown)
        self._quoting = Quoting(text, self._candidates.writers)
        self._fenced = fenced_spans(text, fence) if fence else []
        self._beginnings: dict[tuple[int, int], int] = {}

    @cached_property
    def _unquoted(self) -> str:
        return _QUOTE_SIGN.sub(_blank, self.text) if ">" in self.text else self.text

    @cached_property
    def _letters(self) -> Letters:
        return Letters(self._unquoted)

    @cached_property
    def _is_a_candidates(self) -> bool:
        """Whether the whole reply is what one candidate wrote."""
        return self._candidates.is_one(self._unquoted)

    def rank(self, decided: Decided, *, kind: Kind, alone: bool, closing: bool) -> DecisionContext:
        """`alone`: no other value was found, so that OWN and WRITTEN come to the same."""
        start, end = decided.start, self._end(decided)
        if self._is_fenced(start, end):
            return DecisionContext(Rank.ANOTHERS)
        if alone and closing and self._quoting.is_bare(start, end):
            return DecisionContext(Rank.OWN)
        led = self._led(start, end)
        if alone and led.plainly and closing:
            return DecisionContext(Rank.OWN)
        writers = self._writers(decided, end)
        if alone and led.plainly and not writers:
            return DecisionContext(Rank.OWN)
        if writers:
            favoured = _side(decided.value, kind)
            against = bool(favoured) and favoured not in writers and not led.quoted and (closing or led.plainly)
            headed = self._headed(start, end)
            if headed < start and not self._led(headed, end).plainly:
                led = self._led(headed, end)
            standing = self._written(start, end, led, against=against, headed=headed)
            return replace(standing, against=bool(favoured) and favoured not in writers)
        standing = self._unwritten(decided, end, led, meant=self._meant(decided, kind), alone=alone)
        return replace(standing, closes=closing and not led.quoted)

    def _end(self, decided: Decided) -> int:
        return decided.start + len(self.text[decided.start : decided.end].rstrip(_END_MARKS))

    def is_closed_by(self, decided: Sequence[Decided]) -> bool:
        """Whether all of these, in their order, close the reply and are bare: each of `rank` OWN if it is alone."""
        if self._fenced or len(self.closing(decided)) < len(decided):
            return False
        return all(self._quoting.is_bare(one.start, self._end(one)) for one in decided)

    def _led(self, start: int, end: int) -> _Led:
        quoting = self._quoting
        head = quoting.heading(start)
        return _Led(
            quoted=quoting.quotes(start, end),
            announced=quoting.announced(start) or (head < start and quoting.announced(head)),
            introduced=quoting.introduced(start) or (head < start and quoting.introduced(head)),
            spoken_of=quoting.spoken_of(start, end) or quoting.follows(start),
        )

    def _written(self, start: int, end: int, led: _Led, *, against: bool, headed: int) -> DecisionContext:
        """Of a decision that a candidate wrote too; `against`: one that finds another better than its writers, and that
        nothing tells to be theirs, or that closes the reply; `headed`: where its heading begins."""
        quoting = self._quoting
        if not (led.announced or against) and self._closes(start, end, led):
            return DecisionContext(Rank.WRITTEN)
        restated = self._restated(start, end)
        if led.announced or led.quoted or led.introduced or quoting.labelled(headed):
            known = restated.rank > Rank.WRITTEN and not restated.disputed
            told = led.announced or led.introduced or led.spoken_of or known
            told = told or (led.quoted and quoting.in_prose_of_another(headed))
            standing = DecisionContext(Rank.ANOTHERS, disputed=not told)
        elif restated.rank > Rank.SPOKEN_OF or not led.spoken_of:
            standing = restated
        else:
            standing = DecisionContext(Rank.SPOKEN_OF)
        if against and standing.rank >= Rank.SPOKEN_OF and not self._is_long(start, end):
            # Who writes a verdict against itself wants the judge not to be heard.
            return DecisionContext(Rank.SPOKEN_OF, disputed=True)
        return standing

    def _headed(self, start: int, end: int) -> int:
        """Where a decision begins with the words that head it: "My final verdict is:", or a candidate's own ones.

        A pattern may find the bare value alone, and what leads to it would seem to be the judge's: "I ignored the
        sentence “My final verdict is: [[A>B]]”".
        """
        begin = self._begins(start, end)
        return min(begin if self._quoting.is_one_sentence(begin, start) else start, self._quoting.heading(start))

    def _is_long(self, start: int, end: int) -> bool:
        """Whether the stretch of a candidate's with a decision in it is quoted, or more than is alike by accident."""
        begin = self._begins(start, end)
        goes_on = any(map(str.isalnum, self.text[end : end + 200]))
        marked = self._quoting.quotes(begin, end) or (goes_on and self._quoting.after_a_colon(begin))
        return self._is_a_candidates or self._letters.prose(begin, start) >= (LONG if marked else VERY_LONG)

    def _unwritten(self, decided: Decided, end: int, led: _Led, *, meant: bool, alone: bool) -> DecisionContext:
        """Of a decision that no candidate wrote; `meant`: one declared the same in other words."""
        if led.announced or (led.introduced and meant):
            return DecisionContext(Rank.ANOTHERS)
        if led.introduced or led.spoken_of:
            return DecisionContext(Rank.SPOKEN_OF, disputed=not (led.quoted or meant))
        if meant or self._below_a_candidates(decided.start):
            return DecisionContext(Rank.WRITTEN)
        if not led.quoted or isinstance(decided.value, NotOffered):
            return DecisionContext(
                Rank.OWN
            )  # what is captured to be seen not to be offered is spoken of in quotation marks
        closes = self._closes(decided.start, end, led)
        own = closes and (alone or self._quoting.in_parentheses(decided.start, end))
        return DecisionContext(Rank.OWN) if own else DecisionContext(Rank.QUOTED, disputed=closes)

    def _closes(self, start: int, end: int, led: _Led) -> bool:
        quoting = self._quoting
        told = led.spoken_of or led.introduced or quoting.in_block_quote(start)
        return led.quoted and not told and quoting.closes(start, end)

    def declares_another(self, value: Value, kind: Kind, decided: Sequence[Decided]) -> bool:
        """Whether the reply finds another side the better, or gives another grade, in words that are no decision."""
        parts: list[str] = []
        at = 0
        for one in sorted(decided, key=lambda one: one.start):
            parts.append(self.text[at : one.start])
            at = max(at, one.end)
        rest = Candidates([". ".join([*parts, self.text[at:]])])
        if kind == "grades":
            return bool(rest.grades - {value})
        return bool(rest.sides - {_side(value, kind)})

    def _is_fenced(self, start: int, end: int) -> bool:
        return any(begin <= start and end <= stop for begin, stop in self._fenced)

    def closing(self, decided: Sequence[Decided]) -> frozenset[Decided]:
        """Those at the reply's end with nothing else in their paragraph: the judge's, known without any candidate."""
        run: list[Decided] = []
        after = len(self.text)
        for one in reversed(decided):
            if after - one.end > _MOST_MARKS or any(map(str.isalnum, self.text[one.end : after])):
                break
            run.append(one)
            after = one.start
        begins = after == 0 or self.text[after - 2 : after] == "\n\n"
        return frozenset(run) if begins or (run and self._quoting.is_own(after)) else frozenset()

    def is_in_passing(self, decided: Decided, before: Mapping[Decided, bool], *, among: Sequence[Decided]) -> bool:
        """Whether one of those before may be the verdict rather than this one, which stands deeper in its line, beside
        a candidate's name or below words that are no heading; with `before[one]`, that one is as surely the judge's."""
        depth = self.depth(decided, among)
        if depth == Depth.BESIDE_A_NAME:
            return True
        return any(self._may_be_meant(one, decided, depth, among, as_sure=as_sure) for one, as_sure in before.items())

    def _may_be_meant(
        self, one: Decided, later: Decided, depth: Depth, among: Sequence[Decided], *, as_sure: bool
    ) -> bool:
        """Whether the judge may have meant an earlier decision, for all that a later one of this depth says."""
        quoting, start = self._quoting, self._quoting.heading(later.start)
        other = self.depth(one, among)
        if depth > other:
            return depth > Depth.IN_A_LINE or not quoting.corrects(one.end, start)
        if not as_sure or other > Depth.BY_ITSELF or not self._has_words_between(one, later, among):
            return False
        return not (quoting.corrects(one.end, later.start) or quoting.heads(one.end, later.start))

    def _has_words_between(self, before: Decided, decided: Decided, among: Sequence[Decided]) -> bool:
        at = before.end
        for one in among:
            if before.end <= one.start <= decided.start:
                if any(map(str.isalnum, _LIST_MARK.sub("", self.text[at : one.start]))):
                    return True
                at = max(at, one.end)
        return False

    def depth(self, decided: Decided, among: Sequence[Decided]) -> Depth:
        start = self._quoting.heading(decided.start)
        since = max((one.end for one in among if one.end <= start), default=0)
        return self._quoting.depth(start, since)

    def continues(self, before: Decided, decided: Decided, *, lines: int) -> bool:
        """Whether nothing stands between the two but so many line breaks."""
        between = self.text[before.end : decided.start]
        breaks = self.text[before.start : decided.start].count("\n", -len(between) - 2)
        return max(breaks, between.count("\n")) <= lines and not any(map(str.isalnum, between))

    def _writers(self, decided: Decided, end: int) -> frozenset[int]:
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

    def _meant(self, decided: Decided, kind: Kind) -> bool:
        """Whether a candidate declared the same in other words."""
        if isinstance(decided.value, NotOffered):
            return self._candidates.said_sides(decided.captured)
        if kind == "grades":
            return decided.value in self._candidates.grades
        return _side(decided.value, kind) in self._candidates.sides

    def _begins(self, start: int, end: int) -> int:
        if (start, end) not in self._beginnings:
            self._beginnings[start, end] = self._candidates.begins(self._letters, start, end)
        return self._beginnings[start, end]

    def _below_a_candidates(self, start: int) -> bool:
        """Whether nothing but decisions stands between it and a paragraph that a candidate wrote: an answer restated
        whole, and what the judge made of its last line."""
        begin = self._unquoted.rfind("\n\n", 0, start)
        if begin < 0 or self._letters.prose(begin, start):
            return False
        above = self._unquoted[self._unquoted.rfind("\n\n", 0, begin) + 1 : begin]
        return prose(above) >= VERY_LONG and bool(self._candidates.writers(above))

    def _restated(self, start: int, end: int) -> DecisionContext:
        """What a decision is that stands in a longer stretch of a candidate's."""
        if self._is_a_candidates and any(map(str.isalnum, self.text[:start] + self.text[end:])):
            return DecisionContext(Rank.ANOTHERS)
        begin = self._begins(start, end)
        if begin >= start:
            return DecisionContext(Rank.WRITTEN)
        quoting = self._quoting
        quoted = quoting.quotes(begin, end)
        # A few words over several lines, or a sentence that is neither quoted nor follows a colon, may be the judge's,
        # and the candidate's by foresight.
        own = self._letters.prose(begin, start)
        if quoted or quoting.after_a_colon(begin):
            doubtful = own == 0 or (own < LONG and "\n" in self.text[begin:start])
        else:
            doubtful = 0 < own < VERY_LONG or (own == 0 and "\n" in self.text[begin:start])
        told = quoting.announced(begin) or quoting.introduced(begin) or quoting.labelled(begin)
        if told or quoted:
            return DecisionContext(Rank.ANOTHERS, disputed=doubtful)
        spoken_of = quoting.spoken_of(begin, end)
        return DecisionContext(Rank.SPOKEN_OF, disputed=doubtful) if spoken_of else DecisionContext(Rank.WRITTEN)
