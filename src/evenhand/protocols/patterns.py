"""Regular expressions in linear time whatever the text (RE2): a protocol given by path cannot hang a reader."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import re2


class PatternError(ValueError):
    """A pattern that RE2 refuses: a sentence."""


@dataclass(frozen=True, slots=True)
class Found:
    start: int
    end: int
    groups: tuple[str | None, ...]


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...
    def groups(self) -> tuple[str | bytes | None, ...]: ...


class _Regexp(Protocol):
    groups: int

    def finditer(self, text: str | bytes) -> Iterator[_Match]: ...


# re2 carries no types of its own.
_compile = cast("Callable[[str, re2.Options], _Regexp]", re2.compile)
_Refusal = cast("type[Exception]", re2.error)


@dataclass(frozen=True, slots=True)
class Pattern:
    regexp: _Regexp

    @property
    def groups(self) -> int:
        return self.regexp.groups

    def found_in(self, text: str) -> Iterator[Found]:
        """Every match from left to right, but for an empty one right after another at the text's end.

        `text` must hold no lone surrogate, which RE2 cannot encode.
        """
        # re2 counts the characters before every position, which in ASCII are the bytes.
        for match in self.regexp.finditer(text.encode() if text.isascii() else text):
            start, end = match.span()
            groups = tuple([group.decode() if isinstance(group, bytes) else group for group in match.groups()])
            yield Found(start, end, groups)
            if end == len(text):
                return  # most replies end with their decision: RE2 need not be started again for nothing


def compile_pattern(source: str, *, ignore_case: bool = False) -> Pattern:
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False  # RE2 would write to stderr beside the error it returns.
    try:
        return Pattern(_compile(source, options))
    except _Refusal as refusal:
        reason: object = refusal.args[0] if refusal.args else "no reason given"
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(
            f"RE2 refuses it ({said}); look-around and back-references do not exist there, and \\Z is \\z."
        ) from None
