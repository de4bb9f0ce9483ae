"""The signs in a judge's plain text that a place in it is quoted, announced as another's text, or spoken of."""

import re
from bisect import bisect_left
from collections.abc import Callable
from enum import IntEnum
from functools import cached_property

from evenhand.protocols.leads import (
    ACCORDING,
    ATTRIBUTION,
    BY_LABEL,
    CANDIDATE_SAYING,
    CODE_WORD,
    CONNECTIVE,
    CORRECTING,
    DECODING,
    FOLLOWING,
    FOLLOWS,
    HEADING,
    HEADING_A_VERDICT,
    HYPOTHETICAL,
    NAME,
    OF_ANOTHER,
    OWN,
    REJECTING,
    SAYING,
    SAYING_SOMETHING,
    SIGNS,
    SPOKEN_OF,
    THEN_SPOKEN_OF,
    WEIGHING,
)
from evenhand.protocols.letters import A_WORD, LONG, prose

_WINDOW = 240
"""Characters before a place in which its announcement is looked for."""
_MOST_LIST_LINES = 12
_LONGEST_HEADING = 60
_MOST_QUOTED_ON = 80
"""Characters of a quotation that may follow a decision in it."""
_MOST_BETWEEN = 3000
"""Characters between two decisions in which the later one is looked for to be announced."""

_CLOSERS = {'"': '"', "“": '”"', "„": "“”", "«": "»", "»": "«", "‹": "›", "「": "」", "『": "』", "'": "'", "‘": "’'"}
_DOUBLE = '"“”„«»‹›「」『』'
_SINGLE = "'‘’"
_PARENTHESES = "()（）"
_CODE = re.compile("`+|~~+|</?(?:code|pre|blockquote|q|quote)>", re.IGNORECASE)
_CLOSER = re.compile("[\"'’“”»«›」』)）`~<]")
_OPENS_AFTER = re.compile(r"[\s(\[{<:;,/—–\-\"'“‘|]")

_NO_HEADING = re.compile('[:"“”‘«(]')
_CLOSING_MARK = re.compile('["”’»」`]')
_LIST_ITEM = re.compile(r"\s*(?:[-+•*|>]|\(?[0-9]{1,2}[.)]|\(?[a-z][.)])\s")
_NEW_SENTENCE = re.compile(r"[\])}\"'”’]*(?:[.!?…。！？][\])}\"'”’]*\s+(?![a-z])|\s+(?=[A-Z]))")
_BARE_LEAD = re.compile(r"[\s\-+•*#>0-9.)|\"'“‘«„(\[`_~{]*")
_SENTENCE_END = re.compile(r"[.!?…。！？](?<![\"“«(].)(?<![\"“«(]\.\..)[\"'”’)\]]*\s")


class Depth(IntEnum):
    """What a decision of a reply is led by."""

    BY_ITSELF = 0
    """It begins its line, or a heading of the judge's leads to it."""
    IN_A_LINE = 1
    """It begins a sentence within its line, or a clause of the judge's leads to it."""
    LED = 2
    """Other words do, and whose it is they may tell in words that no list knows."""
    BESIDE_A_NAME = 3
    """It stands in a sentence that names a candidate, or under a line that does."""


class Quoting:
    def __init__(self, plain: str, writers: Callable[[str], frozenset[int]]) -> None:
        """`writers`: the candidates that wrote a text, by their places as shown."""
        self.plain = plain
        self.writers = writers
        self._leads: dict[int, str] = {}
        """What announces each place that was asked for."""

    def quotes(self, start: int, end: int) -> bool:
        """In quotation marks, code, a block quote or parentheses."""
        if self.in_block_quote(start):
            return True
        if len(self.plain) - end < _WINDOW and not _CLOSER.search(self.plain, end):
            return False  # at the reply's end, where nothing is closed any more
        return (
            self._in_code(start, end)
            or self._between(self._double, start, end)
            or self._between(self._single, start, end)
            or self.in_parentheses(start, end)
        )

    @cached_property
    def _double(self) -> list[int]:
        return _places(self.plain, _DOUBLE)

    @cached_property
    def _single(self) -> list[int]:
        return [place for place in _places(self.plain, _SINGLE) if not _is_apostrophe(self.plain, place)]

    @cached_property
    def _brackets(self) -> list[int]:
        return _places(self.plain, _PARENTHESES)

    @cached_property
    def _code(self) -> list[int]:
        may_have = "`" in self.plain or "~~" in self.plain or "</" in self.plain
        return [run.start() for run in _CODE.finditer(self.plain)] if may_have else []

    def _line_start(self, place: int) -> int:
        return self.plain.rfind("\n", 0, place) + 1

    def in_block_quote(self, start: int) -> bool:
        line = self._line_start(start)
        return self.plain[line : line + 8].lstrip().startswith(">")

    def _in_code(self, start: int, end: int) -> bool:
        before = bisect_left(self._code, start)
        return before % 2 == 1 and bisect_left(self._code, end) < len(self._code)

    def in_parentheses(self, start: int, end: int) -> bool:
        """The nearest one on the left opens and the nearest on the right closes."""
        left, right = bisect_left(self._brackets, start) - 1, bisect_left(self._brackets, end)
        if left < 0 or right >= len(self._brackets):
            return False
        return self.plain[self._brackets[left]] in "(（" and self.plain[self._brackets[right]] in ")）"

    def _between(self, marks: list[int], start: int, end: int) -> bool:
        """The nearest mark on the left opens and the nearest on the right closes it: nothing is counted over the whole
        text, so an inch mark or a stray quotation mark far away changes nothing."""
        left, right = bisect_left(marks, start) - 1, bisect_left(marks, end)
        if left < 0 or right >= len(marks):
            return False
        opener = marks[left]
        before, after = self.plain[max(0, opener - 1) : opener], self.plain[opener + 1 : opener + 2]
        spaced = after.isspace() and self.plain[opener] != "«"
        opens = (not before or _OPENS_AFTER.match(before) is not None) and not spaced
        return opens and self.plain[marks[right]] in _CLOSERS.get(self.plain[opener], "")

    def is_bare(self, start: int, end: int) -> bool:
        """Neither in marks nor behind words that lead to it, but for a heading with nothing before it."""
        lead = self._announcement(start)
        if lead and HEADING.fullmatch(lead) and not self._then_spoken_of(start, end):
            lead = self._announcement(start - len(lead))
        return not lead and not self.quotes(start, end)

    def announced(self, start: int) -> bool:
        """As a candidate's text, by what stands right before it: "Response B says:", "a string that decodes to"."""
        lead = self._announcement(start)
        if lead and HYPOTHETICAL.search(lead):
            return True
        if not lead or REJECTING.search(lead) or _weighs(lead):
            return False
        if SAYING_SOMETHING.search(lead):
            return True
        if OWN.search(lead):
            return False
        decoding = DECODING.search(lead) and (CODE_WORD.search(lead) or BY_LABEL.search(lead))
        if CANDIDATE_SAYING.search(lead) or ACCORDING.search(lead):
            return True
        return bool(decoding or (FOLLOWS.search(lead) and BY_LABEL.search(lead)))

    def after_a_colon(self, start: int) -> bool:
        lead = self._announcement(start)
        return ":" in lead or "：" in lead

    def in_prose_of_another(self, start: int) -> bool:
        """In a sentence about a candidate: "Response A tacks on …", whatever its verb."""
        lead = self._announcement(start)
        return prose(lead) >= LONG and BY_LABEL.search(lead) is not None and not OWN.search(lead)

    def is_own(self, start: int) -> bool:
        """Behind words such as "my final verdict is"."""
        lead = self._announcement(start)
        if not lead or not OWN.search(lead):
            return False
        return HEADING.fullmatch(lead) is not None or not SAYING_SOMETHING.search(lead)

    @staticmethod
    def _is_the_judges(lead: str) -> bool:
        """Whether what it leads to is the judge's, as by "Contrary to what Response A claims:"."""
        return OWN.search(lead) is not None or REJECTING.search(lead) is not None or _weighs(lead)

    def follows(self, start: int) -> bool:
        """From what was said before: "which means", "it follows that". A judge's own verdict stands there too."""
        lead = self._announcement(start)
        return lead != "" and not OWN.search(lead) and bool(DECODING.search(lead) or FOLLOWS.search(lead))

    def introduced(self, start: int) -> bool:
        """As words of what was spoken of before: "it says:". A judge's own verdict stands there too."""
        lead = self._announcement(start)
        return lead != "" and not self._is_the_judges(lead) and SAYING.search(lead) is not None

    def spoken_of(self, start: int, end: int) -> bool:
        """Behind a candidate's label, or in a sentence or under a line that speaks of quoting, planting or ignoring."""
        lead = self._announcement(start)
        if (
            lead
            and not self._is_the_judges(lead)
            and (
                any(sign.search(lead) for sign in SIGNS)
                or (
                    SPOKEN_OF.search(lead) and (OF_ANOTHER.search(lead) or OF_ANOTHER.search(self.plain, end, end + 60))
                )
            )
        ):
            return True
        return self._then_spoken_of(start, end)

    def _then_spoken_of(self, start: int, end: int) -> bool:
        """By the words that follow on its line."""
        line_end = self.plain.find("\n", end)
        line_end = len(self.plain) if line_end < 0 else line_end
        if end >= line_end or (_NEW_SENTENCE.match(self.plain, end, line_end) and not self.quotes(start, end)):
            return False
        if THEN_SPOKEN_OF.match(self.plain, end, line_end):
            return True
        closed = _CLOSING_MARK.search(self.plain, end, min(line_end, end + _MOST_QUOTED_ON))
        return closed is not None and THEN_SPOKEN_OF.match(self.plain, closed.start(), line_end) is not None

    def heading(self, start: int) -> int:
        """Where the words begin that head a verdict at `start`, as "My final verdict is:" does; `start` without any."""
        at = max(self._line_start(start), start - _LONGEST_HEADING)
        head = HEADING.search(self.plain[at:start])
        return at + head.start() if head else start

    def is_one_sentence(self, start: int, end: int) -> bool:
        return "\n" not in self.plain[start:end] and not _SENTENCE_END.search(self.plain, start, end)

    def closes(self, start: int, end: int) -> bool:
        """Whether it is all that the last paragraph says, but for a word or two such as "Final verdict"."""
        paragraph = self.plain.rfind("\n\n", 0, start) + 2
        around = self.plain[max(paragraph, start - _WINDOW) : start] + self.plain[end : end + _WINDOW]
        whole = (paragraph >= start - _WINDOW or paragraph < 2) and len(self.plain) - end < _WINDOW
        return whole and prose(around) == 0

    def labelled(self, start: int) -> bool:
        """Right behind a candidate's label, as "Response A: …"."""
        lead = self._announcement(start)
        return lead != "" and ATTRIBUTION.search(lead) is not None and not OWN.search(lead)

    def depth(self, start: int, since: int) -> Depth:
        """How far from standing for itself a decision is, by what leads to it from `since` on."""
        lead, here = self._announcement(start), self.plain[max(self._line_start(start), since) : start]
        if not _BARE_LEAD.fullmatch(here):
            lead = here[-len(lead) :] if lead else ""
        if REJECTING.search(lead) or HEADING_A_VERDICT.match(lead) or CORRECTING.match(lead):
            return Depth.BY_ITSELF
        if _weighs(lead):
            return Depth.IN_A_LINE
        if NAME.search(lead):
            return Depth.BESIDE_A_NAME
        words = prose(CONNECTIVE.sub("", lead))
        if words >= A_WORD or (words and lead.rstrip(" *_`\"'“").endswith((":", "："))):
            return Depth.LED
        return Depth.IN_A_LINE if prose(CONNECTIVE.sub("", here)) >= A_WORD else Depth.BY_ITSELF

    def corrects(self, start: int, end: int) -> bool:
        """Whether what stands between two decisions takes the first back."""
        return self._stands_between(CORRECTING, start, end)

    def heads(self, start: int, end: int) -> bool:
        """Whether what stands between two decisions announces a verdict of the judge's own."""
        return self._stands_between(HEADING_A_VERDICT, start, end)

    def _stands_between(self, sign: re.Pattern[str], start: int, end: int) -> bool:
        """In words that no candidate wrote."""
        found = sign.search(self.plain[max(start, end - _MOST_BETWEEN) : end])
        return found is not None and not self.writers(found.group())

    def _announcement(self, start: int) -> str:
        """What stands before a place in its sentence, or the line that introduces it."""
        known = self._leads.get(start)
        if known is None:
            lead = self._lead(start)
            bare = not lead or _BARE_LEAD.fullmatch(lead)
            known = self._leads[start] = self._introduction(start) if bare else lead
        return known

    def _lead(self, start: int) -> str:
        """What stands before a place in its sentence, on its line."""
        lead = self.plain[max(self._line_start(start), start - _WINDOW) : start]
        if not lead.strip():
            return ""
        ends = [mark.end() for mark in _SENTENCE_END.finditer(lead)]
        if ends and not lead[ends[-1] :].strip() and _mentions_following(lead):
            return lead  # "It reads as follows. …"
        return lead[ends[-1] :] if ends else lead

    def _introduction(self, start: int) -> str:
        """The line that introduces a line or a list: one that ends with a colon, or is a heading."""
        place = self._line_start(start)
        listed = _LIST_ITEM.match(self.plain, place) is not None
        for _ in range(_MOST_LIST_LINES):
            if place <= 0:
                return ""
            end = place - 1
            place = self._line_start(end)
            if place == end:
                continue
            line = self.plain[max(place, end - _WINDOW) : end]
            words = line.rstrip(" *_`\"'“”")
            colon = words.endswith((":", "："))
            if not words or (not colon and listed and _LIST_ITEM.match(line)):
                continue
            if not (colon or _is_heading(words) or words.endswith("—") or _mentions_following(line)):
                return ""
            ends = [mark.end() for mark in _SENTENCE_END.finditer(line)]
            lead = line[ends[-1] :] if ends and ends[-1] < len(line) else line
            quoted = self.in_block_quote(place) and not self.in_block_quote(start)
            return "" if quoted or self._is_a_candidates(lead) else lead
        return ""

    def _is_a_candidates(self, lead: str) -> bool:
        """Whether a candidate wrote the line, to have what the judge writes below it put down to another one."""
        named = list(BY_LABEL.finditer(lead))
        tail = lead[named[-1].start() :] if named else lead
        writers = self.writers(tail if prose(tail) else lead)
        label = named[-1].group().rstrip(")]").lower()[-1:] if named else ""
        return bool(writers) and not any(label in (str(place), chr(ord("a") + place - 1)) for place in writers)


def _weighs(lead: str) -> bool:
    """Whether a clause of the judge's leads to what follows, and no solving of a code."""
    return WEIGHING.search(lead) is not None and not CODE_WORD.search(lead)


def _is_heading(words: str) -> bool:
    if len(words) > _LONGEST_HEADING or words.endswith((".", "!", "?", "]", ",")):
        return False
    # Emphasis is gone from the plain text: a line of bold type looks like any other.
    if words.startswith("#"):
        return True
    return not (_NO_HEADING.search(words) or _LIST_ITEM.match(words)) and SPOKEN_OF.search(words) is not None


def _mentions_following(line: str) -> bool:
    end = line[-40:]
    return "follow" in end.lower() and FOLLOWING.search(end) is not None


def _places(text: str, marks: str) -> list[int]:
    found: list[int] = []
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            found.append(at)
            at = text.find(mark, at + 1)
    return sorted(found)


def _is_apostrophe(text: str, place: int) -> bool:
    return text[place - 1 : place].isalnum() and text[place + 1 : place + 2].isalnum()
