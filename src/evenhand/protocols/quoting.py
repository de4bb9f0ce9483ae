"""Whether a place in a plain text stands inside quotation marks, a block quote, or right after "Response A says:"."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

_CLOSERS = {'"': '"', "“": '”"', "„": "“”", "«": "»", "‹": "›", "「": "」", "『": "』", "'": "'", "‘": "’'"}
_FAMILIES = (re.compile('["“”„«»‹›「」『』]'), re.compile(r"(?<![^\W_])['‘’]|['‘’](?![^\W_])"))  # not an apostrophe
_NEWLINE = re.compile("\n")
_CODE = re.compile("`+")
_OPENS_AFTER = re.compile(r"[\s(\[{<:;,/—–\-\"'“‘]")
_ATTRIBUTION = re.compile(
    r"(?i:\b(?:response|assistant|answer|option|candidate|model))\s+[(\[]?[A-Z0-9]{1,2}[)\]]?(?:['’]s)?"
    r"(?:\s+(?:says|said|states|stated|writes|wrote|reads|claims|claimed|adds|added|answers|answered|text))?\s*:\s*\Z"
)
_ATTRIBUTION_LENGTH = 60


@dataclass(slots=True)
class Quoting:
    plain: str
    _lines: list[int] | None = field(default=None, init=False)
    _marks: list[list[int]] | None = field(default=None, init=False)
    _code: list[int] | None = field(default=None, init=False)

    def quotes(self, start: int, end: int) -> bool:
        return (
            self._in_block_quote(start)
            or self._attributed(start)
            or self._in_code(start, end)
            or self._in_marks(start, end)
        )

    def _in_block_quote(self, start: int) -> bool:
        if self._lines is None:
            self._lines = [0, *(newline.end() for newline in _NEWLINE.finditer(self.plain))]
        line_start = self._lines[bisect_right(self._lines, start) - 1]
        return self.plain[line_start : line_start + 8].lstrip().startswith(">")

    def _attributed(self, start: int) -> bool:
        return _ATTRIBUTION.search(self.plain[max(0, start - _ATTRIBUTION_LENGTH) : start]) is not None

    def _in_code(self, start: int, end: int) -> bool:
        if self._code is None:
            self._code = [run.start() for run in _CODE.finditer(self.plain)]
        before = bisect_left(self._code, start)
        return before % 2 == 1 and bisect_left(self._code, end) < len(self._code)

    def _in_marks(self, start: int, end: int) -> bool:
        if self._marks is None:
            self._marks = [[mark.start() for mark in family.finditer(self.plain)] for family in _FAMILIES]
        return any(self._between(marks, start, end) for marks in self._marks)

    def _between(self, marks: list[int], start: int, end: int) -> bool:
        """The nearest mark on the left opens and the nearest on the right closes it: nothing is counted over the whole
        text, so an inch mark or a stray quotation mark far away changes nothing."""
        left, right = bisect_left(marks, start) - 1, bisect_left(marks, end)
        if left < 0 or right >= len(marks):
            return False
        opener = marks[left]
        before, after = self.plain[max(0, opener - 1) : opener], self.plain[opener + 1 : opener + 2]
        opens = (not before or _OPENS_AFTER.match(before) is not None) and not after.isspace()
        return opens and self.plain[marks[right]] in _CLOSERS.get(self.plain[opener], "")
