"""How many letters a stretch of a reply has: those of its skeleton, and those beside the words of verdicts."""

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate

from evenhand.protocols.skeleton import skeleton

A_WORD, LONG, A_PHRASE, VERY_LONG = 6, 8, 12, 60
"""Letters, beside the words of verdicts and their headings, that nobody writes alike by accident."""

_VERDICT_WORDS = re.compile(
    r"\b(?:overall|response|assistant|option|answer|is|are|the|my|final|verdicts?|better|best|conclusion"
    r"|judge?ment|evaluation|"
    r"selection|decision|result|visual|factuality|score|for|of|and|[ab]|[0-9]+)\b|>|<|=",
    re.IGNORECASE,
)


class Letters:
    """Of one text, counted once: a reply may hold hundreds of decisions."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _in_skeleton(self) -> list[int]:
        return list(accumulate(map(_letters, self.text), initial=0))

    @cached_property
    def _in_prose(self) -> list[int]:
        return list(accumulate(map(str.isalnum, _VERDICT_WORDS.sub(_blank, self.text)), initial=0))

    def place_before(self, end: int, letters: int) -> int:
        """Where the last `letters` letters of a skeleton before `end` begin."""
        if letters == 0:
            return end
        counts = self._in_skeleton
        return max(0, bisect_right(counts, counts[end] - letters, hi=end) - 1)

    def prose(self, start: int, end: int) -> int:
        """How many letters there are beside the words of verdicts."""
        return self._in_prose[end] - self._in_prose[start]


def prose(text: str) -> int:
    """How many letters there are beside the words of verdicts."""
    return sum(map(str.isalnum, _VERDICT_WORDS.sub("", text)))


def _blank(words: re.Match[str]) -> str:
    return " " * len(words.group())


@lru_cache(maxsize=4096)
def _letters(character: str) -> int:
    return len(skeleton(character))
