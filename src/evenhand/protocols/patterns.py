"""Regular expressions in linear time whatever the text (RE2): a protocol given by path cannot hang a reader."""

from collections.abc import Callable, Iterator, Sequence
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


class Regexp(Protocol):
    """Of the package, in the way of Python's own."""

    groups: int

    def search(self, text: bytes, start: int, end: int) -> _Match | None: ...


class _Engine(Protocol):
    """RE2 itself."""

    def Match(self, anchor: object, text: bytes, start: int, end: int) -> Sequence[tuple[int, int]]:  # noqa: N802
        """Where the first match is and each of its groups; (-1, -1) for none."""
        ...


class Wrapped:
    """RE2 as its package shows it."""

    def __init__(self, regexp: Regexp) -> None:
        self._regexp = regexp

    def Match(self, anchor: object, text: bytes, start: int, end: int) -> Sequence[tuple[int, int]]:  # noqa: N802, ARG002
        found = self._regexp.search(text, start, end)
        groups = range(self._regexp.groups + 1)
        return [(-1, -1) for _ in groups] if found is None else [found.span(group) for group in groups]


# re2 carries no types of its own.
_compile = cast("Callable[[str, re2.Options], Regexp]", re2.compile)
_Refusal = cast("type[Exception]", re2.error)
_ANYWHERE: object = getattr(getattr(re2, "_Anchor", None), "UNANCHORED", None)


def _engine(regexp: Regexp) -> _Engine:
    # The package's own wrapper takes as long to tell where groups are as RE2 to find them. What it wraps has no name
    # that is promised to stay.
    inner: _Engine | None = getattr(regexp, "_regexp", None)
    return Wrapped(regexp) if inner is None or _ANYWHERE is None else inner


@dataclass(frozen=True, slots=True)
class Pattern:
    regexp: Regexp
    groups: int
    engine: _Engine

    def finds(self, text: str) -> bool:
        return self.finds_in(text.encode("utf-8", "replace"))

    def finds_in(self, data: bytes) -> bool:
        return self.engine.Match(_ANYWHERE, data, 0, len(data))[0][0] >= 0

    def found_in(self, text: str) -> Iterator[FoundDecision]:
        """Every match from left to right, but for an empty one right after another at the text's end.

        `text` must hold no lone surrogate, which RE2 cannot encode.
        """
        # Bytes, because re2 would count the characters before every position anew.
        data = text.encode()
        ascii_only = len(data) == len(text)
        at = byte = place = 0
        while True:
            (start, end), *spans = self.engine.Match(_ANYWHERE, data, at, len(data))
            if start < 0:
                return
            groups = tuple([data[left:right].decode() if left >= 0 else None for left, right in spans])
            if ascii_only:
                yield FoundDecision(start, end, groups)
            else:
                first = place + len(data[byte:start].decode())
                byte, place = end, first + len(data[start:end].decode())
                yield FoundDecision(first, place, groups)
            if end == len(data):
                return  # most replies end with their decision: RE2 need not be started again for nothing
            at = end if end > at else _next_character(data, at)  # past an empty match


def _next_character(data: bytes, at: int) -> int:
    at += 1
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at


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
    return Pattern(regexp, regexp.groups, _engine(regexp))
