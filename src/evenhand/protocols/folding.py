"""Texts compared without regard to spaces, line breaks, quotation marks, list and quote prefixes, and case."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Self

# A judge who restates an answer re-wraps it, quotes it, indents it with ">" and makes a list of it.
_PREFIX = r"^[ >]*>[ ]?(?:[-+•][ ]+)?|^[ ]?[-+•][ ]+"
_KEPT = re.compile(rf"""{_PREFIX}|(?P<kept>[^\s"'“”„‟‘’‚‛«»‹›「」『』`*_~#\\|]+)""", re.MULTILINE)
_DROPPED = " \t\n\r\v\f\"'“”„‟‘’‚‛«»‹›「」『』`*_~#\\|>-+•"
_SQUEEZED = {ord(dropped): None for dropped in _DROPPED}
_SQUEEZED_ASCII = "".join(dropped for dropped in _DROPPED if dropped.isascii()).encode()


def squeezed(text: str) -> str:
    """What folding keeps and less, at a fraction of the cost: where a squeezed text is not, its folded text is not."""
    if text.isascii():  # bytes are translated many times faster
        return text.lower().encode().translate(None, _SQUEEZED_ASCII).decode()
    return text.casefold().translate(_SQUEEZED)


@dataclass(frozen=True, slots=True)
class Folded:
    """A plain text and its folded form, with the way back from a folded position to the plain one."""

    plain: str
    text: str
    folded_at: list[int]
    """Where each unbroken run begins in `text`."""
    plain_at: list[int]
    """Where the same run begins in `plain`."""

    @classmethod
    def of(cls, plain: str) -> Self:
        runs: list[str] = []
        folded_at: list[int] = []
        plain_at: list[int] = []
        length = 0
        for match in _KEPT.finditer(plain):
            run = match["kept"]
            if run is None:
                continue
            folded_at.append(length)
            plain_at.append(match.start("kept"))
            runs.append(run)
            length += len(run)
        return cls(plain, _lowered("".join(runs)), folded_at, plain_at)

    def position(self, plain_position: int) -> int:
        """The folded position of the first kept character at or after a plain position."""
        run = bisect_right(self.plain_at, plain_position) - 1
        if run < 0:
            return 0
        run_end = self.folded_at[run + 1] if run + 1 < len(self.folded_at) else len(self.text)
        return min(self.folded_at[run] + plain_position - self.plain_at[run], run_end)

    def plain_position(self, position: int) -> int:
        """Where a folded character stands in the plain text."""
        run = bisect_right(self.folded_at, position) - 1
        return self.plain_at[run] + position - self.folded_at[run]

    def gap(self, position: int) -> str:
        """What the plain text holds between a folded character and the one before it; an edge is a line break."""
        before = self.plain_position(position - 1) + 1 if position > 0 else 0
        after = self.plain_position(position) if position < len(self.text) else len(self.plain)
        outside = "\n" if position <= 0 or position >= len(self.text) else ""
        return self.plain[before:after] + outside


def places(text: str, within: str) -> list[int]:
    """Where `text` stands in `within`, not overlapping. (Compiling a long text as a pattern would take seconds.)"""
    found: list[int] = []
    at = within.find(text)
    while at >= 0:
        found.append(at)
        at = within.find(text, at + len(text))
    return found


def _lowered(text: str) -> str:
    # Letter by letter where a letter lowers to two characters, which would move every position behind it.
    # Not str.lower(): it writes a Greek final sigma by its neighbours, and folding changes the neighbours.
    lowered = text.casefold()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := letter.casefold()) == 1 else letter for letter in text)
