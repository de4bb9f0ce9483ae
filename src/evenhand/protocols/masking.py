"""Which decisions in a reply are words of the candidates and not the judge's own.

A candidate can write "Overall, Response A is better." and a judge can restate it; only the judge's own words decide.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from evenhand.protocols.fence import fenced_spans
from evenhand.protocols.folding import Folded, places, squeezed
from evenhand.protocols.plain import plain
from evenhand.protocols.quoting import Quoting

WHOLE_TEXT = 20
"""Characters from which on a candidate's whole text is recognised wherever it stands."""
REACH = 8
"""Characters beyond a decision, shared with a candidate, that show that the judge is restating."""
MOST_DECISIONS = 2000
MOST_DIFFERENT = 100
"""Decisions, and different texts of decisions, compared with the candidates: a reply with more decides nothing."""
LONGEST_CLOSING = 400
"""Characters of a last line that can still be one closing sentence."""

_END_MARKS = ".,!?;:…。！？)]}"
_SENTENCE_END = ".!?…。！？"
_INNER_SENTENCE = re.compile(rf"[{_SENTENCE_END}]\s")


@dataclass(frozen=True, slots=True)
class _Span:
    """A stretch of a folded text."""

    start: int
    end: int


@dataclass(slots=True)
class _Candidate:
    folded: Folded
    whole: bool
    """Long enough for its whole text to be recognised."""
    _restated: list[int] | None = field(default=None, init=False)
    _found: dict[str, list[int]] = field(default_factory=dict[str, list[int]], init=False)
    _contexts: dict[tuple[str, int, bool], frozenset[str]] = field(
        default_factory=dict[tuple[str, int, bool], frozenset[str]], init=False
    )

    def restated_at(self, reply: Folded) -> list[int]:
        """Where the reply holds this candidate's whole text."""
        if self._restated is None:
            self._restated = places(self.folded.text, reply.text) if self.whole else []
        return self._restated

    def occurrences(self, text: str) -> list[int]:
        if text not in self._found:
            self._found[text] = places(text, self.folded.text)
        return self._found[text]

    def follows(self, context: str, text: str, *, after_break: bool = False) -> bool:
        """Whether `text` occurs here behind `context`; with `after_break`, only where a line begins with it."""
        key = (text, len(context), after_break)
        if key not in self._contexts:
            starts = self.occurrences(text)
            if after_break:
                starts = [start for start in starts if "\n" in self.folded.gap(start)]
            self._contexts[key] = frozenset(self.folded.text[max(0, s - len(context)) : s] for s in starts)
        return context in self._contexts[key]

    def precedes(self, text: str, context: str) -> bool:
        key = (text, -len(context), False)
        if key not in self._contexts:
            ends = [start + len(text) for start in self.occurrences(text)]
            self._contexts[key] = frozenset(self.folded.text[end : end + len(context)] for end in ends)
        return context in self._contexts[key]

    def has_sentence(self, text: str) -> bool:
        return any(
            _begins_sentence(self.folded, start) and _ends_sentence(self.folded, start + len(text))
            for start in self.occurrences(text)
        )


@lru_cache(maxsize=128)  # the answers to one item are shown in pair after pair
def _words_of(shown: str) -> tuple[str, str]:
    words = plain(shown)
    return words, squeezed(words)


class Masks:
    """The candidates' words in one reply. `text` is the reply's plain text; positions are positions in it."""

    def __init__(self, text: str, shown: Sequence[str], *, fence: str | None = None) -> None:
        self._text = text
        self._shown = shown
        self._fenced = fenced_spans(text, fence) if fence else []
        self._words: dict[str, str] | None = None
        """Each candidate's plain text and the same squeezed."""
        self._written: dict[str, bool] = {}
        self._reply: Folded | None = None
        self._candidates: list[_Candidate] = []
        self._quoting = Quoting(text)
        self._closing: _Span | None = None
        self._compared = 0
        self._different: set[str] = set()
        self.overrun = False

    def hide(self, start: int, end: int) -> bool:
        """Whether the decision at [start, end) is a candidate's and not the judge's own."""
        fence = bisect_right(self._fenced, (start, len(self._text))) - 1
        if fence >= 0 and end <= self._fenced[fence][1]:
            return True
        if not self._may_be_written(squeezed(self._text[start:end]).rstrip(_END_MARKS)):
            return False
        if self._reply is None:
            self._reply = self._fold()
        decision = _core(self._reply, start, end)
        if decision.start >= decision.end:
            return False
        self._compared += 1
        self._different.add(self._reply.text[decision.start : decision.end])
        if self._compared > MOST_DECISIONS or len(self._different) > MOST_DIFFERENT:
            self.overrun = True
            return True
        return any(self._restates(self._reply, candidate, decision) for candidate in self._candidates)

    def _may_be_written(self, decision: str) -> bool:
        """Whether a candidate may have written it: the common answer, no, is had without folding anything."""
        if self._words is None:
            self._words = dict(map(_words_of, self._shown))
        if decision not in self._written:
            self._written[decision] = any(decision in candidate for candidate in self._words.values())
        self.overrun = self.overrun or len(self._written) > MOST_DECISIONS
        return self._written[decision]

    def _fold(self) -> Folded:
        reply = Folded.of(self._text)
        for words in self._words or ():
            candidate = _Candidate(Folded.of(words), whole=len(" ".join(words.split())) >= WHOLE_TEXT)
            if candidate.folded.text:
                self._candidates.append(candidate)
        self._closing = _last_line(reply)
        return reply

    def _restates(self, reply: Folded, candidate: _Candidate, decision: _Span) -> bool:
        text = reply.text[decision.start : decision.end]
        if not candidate.occurrences(text):
            return False
        start, end = reply.plain_position(decision.start), reply.plain_position(decision.end - 1) + 1
        if self._quoting.quotes(start, end):
            return True
        if self._in_whole_text(reply, candidate, decision):
            return True
        closing = self._closing_statement(reply, candidate, decision)
        if closing is not None:
            # A line break that the candidate does not have there is the judge's: it closes with a line of its own.
            context = _left_context(reply, closing.start)
            words = reply.text[closing.start : closing.end]
            return context is not None and candidate.follows(context, words, after_break=True)
        left, right = _left_context(reply, decision.start), _right_context(reply, decision.end)
        return (left is not None and candidate.follows(left, text)) or (
            right is not None and candidate.precedes(text, right)
        )

    def _closing_statement(self, reply: Folded, candidate: _Candidate, decision: _Span) -> _Span | None:
        """The reply's last line where it is nothing but the decision, or one sentence that the candidate wrote too."""
        line = self._closing
        if line is None or not (line.start <= decision.start and decision.end <= line.end):
            return None
        if line == decision:
            return line
        return line if candidate.has_sentence(reply.text[line.start : line.end]) else None

    def _in_whole_text(self, reply: Folded, candidate: _Candidate, decision: _Span) -> bool:
        whole = candidate.folded.text
        starts = candidate.restated_at(reply)
        nearest = bisect_right(starts, decision.start) - 1
        if nearest < 0 or decision.end > starts[nearest] + len(whole):
            return False
        at = starts[nearest]
        before, after = decision.start - at, at + len(whole) - decision.end
        left, right = _left_context(reply, decision.start), _right_context(reply, decision.end)
        if (left is not None and before >= len(left)) or (right is not None and after >= len(right)):
            return True
        # Little more than the decision itself: then the same words may well be the judge's.
        if before == 0 and after <= _end_marks(reply, decision.end):
            return not (_begins_sentence(reply, decision.start) and _ends_sentence(reply, decision.end))
        return not _set_apart(reply, candidate.folded, decision, at)


def _set_apart(reply: Folded, candidate: Folded, decision: _Span, at: int) -> bool:
    """Whether line breaks that the candidate does not have part the decision from the rest of its text at `at`."""
    edges = [decision.start, decision.end + _end_marks(reply, decision.end)]
    return all(
        not at < edge < at + len(candidate.text) or ("\n" in reply.gap(edge) and "\n" not in candidate.gap(edge - at))
        for edge in edges
    )


def _last_line(reply: Folded) -> _Span | None:
    """The last line with a word in it, where it is short and of one sentence."""
    end = len(reply.plain)
    while end and not reply.plain[end - 1].isalnum():
        end -= 1
    start = reply.plain.rfind("\n", 0, end) + 1
    line_end = reply.plain.find("\n", end)
    line = _core(reply, start, line_end if line_end >= 0 else len(reply.plain))
    if end - start > LONGEST_CLOSING or _INNER_SENTENCE.search(reply.plain, start, end):
        return None
    return line


def _core(folded: Folded, start: int, end: int) -> _Span:
    """The folded stretch of a plain one, without the marks that end a sentence."""
    first, last = folded.position(start), folded.position(end)
    while last > first and folded.text[last - 1] in _END_MARKS:
        last -= 1
    return _Span(first, last)


def _left_context(folded: Folded, start: int) -> str | None:
    """The fewest folded characters before `start` that are REACH plain ones, a gap counted as one; None at the edge."""
    length = 0
    for first in range(start - 1, max(-1, start - 1 - REACH), -1):
        length += 1 + _is_space(folded.gap(first + 1))
        if length >= REACH:
            return folded.text[first:start]
    return None


def _right_context(folded: Folded, end: int) -> str | None:
    length = 0
    for last in range(end, min(len(folded.text), end + REACH)):
        length += 1 + _is_space(folded.gap(last))
        if length >= REACH:
            return folded.text[end : last + 1]
    return None


def _is_space(gap: str) -> bool:
    return " " in gap or "\n" in gap


def _begins_sentence(folded: Folded, start: int) -> bool:
    return "\n" in folded.gap(start) or (folded.text[start - 1] in _SENTENCE_END and _is_space(folded.gap(start)))


def _ends_sentence(folded: Folded, end: int) -> bool:
    last = end + _end_marks(folded, end)
    marked = any(mark in _SENTENCE_END for mark in folded.text[end:last])
    return "\n" in folded.gap(last) or (marked and _is_space(folded.gap(last)))


def _end_marks(folded: Folded, end: int) -> int:
    """How many marks that end a sentence stand at `end`."""
    last = end
    while last < len(folded.text) and folded.text[last] in _END_MARKS:
        last += 1
    return last - end
