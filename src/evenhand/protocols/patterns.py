"""Regular expressions in linear time whatever the text (RE2): a protocol given by path cannot hang a reader."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import re2

from evenhand.domain.errors import EvenhandError


class PatternError(EvenhandError, ValueError):
    """A pattern that RE2 refuses."""

    code = "EH-PATTERN"


class FoundDecision(NamedTuple):
    start: int
    end: int
    groups: tuple[str | None, ...]


class _Match(Protocol):
    def span(self, group: int = 0) -> tuple[int, int]: ...


class _Regexp(Protocol):
    groups: int

    def finditer(self, text: bytes) -> Iterator[_Match]: ...
    def search(self, text: bytes) -> _Match | None: ...


# re2 carries no types of its own.
_compile = cast("Callable[[str, re2.Options], _Regexp]", re2.compile)
_Refusal = cast("type[Exception]", re2.error)


@dataclass(frozen=True, slots=True)
class Pattern:
    regexp: _Regexp
    groups: int

    def finds(self, text: str) -> bool:
        return self.regexp.search(text.encode("utf-8", "replace")) is not None

    def found_in(self, text: str) -> Iterator[FoundDecision]:
        """Every match from left to right, but for an empty one right after another at the text's end.

        `text` must hold no lone surrogate, which RE2 cannot encode.
        """
        # Bytes, because re2 would count the characters before every position anew.
        data = text.encode()
        ascii_only = len(data) == len(text)
        byte = place = 0
        for match in self.regexp.finditer(data):
            start, end = match.span()
            # re2 takes twice as long for groups().
            spans = map(match.span, range(1, self.groups + 1))
            groups = tuple([data[left:right].decode() if left >= 0 else None for left, right in spans])
            if ascii_only:
                yield FoundDecision(start, end, groups)
            else:
                first = place + len(data[byte:start].decode())
                byte, place = end, first + len(data[start:end].decode())
                yield FoundDecision(first, place, groups)
            if end == len(data):
                return  # most replies end with their decision: RE2 need not be started again for nothing


def compile_pattern(source: str, *, ignore_case: bool = False, groupless: bool = False) -> Pattern:
    """`groupless`: its groups capture nothing, so that it can be searched for many times faster."""
    options = re2.Options()
    options.never_capture = groupless
    options.case_sensitive = not ignore_case
    options.max_mem = 32 << 20  # with RE2's own 8 MB, VisIT's pattern would not fit and take forty times as long
    options.log_errors = False  # RE2 would write to stderr beside the error it returns.
    try:
        regexp = _compile(source, options)
    except _Refusal as refusal:
        reason: object = refusal.args[0] if refusal.args else "no reason given"
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(
            f"RE2 refuses it ({said}); look-around and back-references do not exist there, and \\Z is \\z."
        ) from None
    return Pattern(regexp, regexp.groups)
