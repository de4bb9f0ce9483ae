"""What is wrong with a data file, collected so that a person can mend it in one go."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from evenhand.domain.errors import EvenhandError

_SHOWN = 20
LISTED = 5
"""Names told in one sentence before the rest is counted."""


class DataError(EvenhandError, ValueError):
    """Data that cannot be used. The message says what is wrong, where, and what to do; nothing was loaded."""


class BenchmarkError(DataError):
    """No such benchmark, or its data cannot be used."""


class DownloadError(BenchmarkError):
    """A benchmark's file did not come, or not whole; the same command may bring it another time."""


class ResponsesError(DataError):
    """A file of responses cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """Where in a file: the data row counted from 1, and the file's line where rows have lines."""

    path: Path
    row: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        return ", ".join([str(self.path), *self._in_file()])

    def seen_from(self, other: "FilePlace") -> str:
        """Without the file's name where the other place is in the same file."""
        return ", ".join(self._in_file()) if self.path == other.path else str(self)

    def _in_file(self) -> list[str]:
        row = [] if self.row is None else [f"row {self.row}"]
        return row if self.line is None else [*row, f"line {self.line}"]


class Problems:
    """The problems met so far, told in the order of files and rows; beyond 20 the others are counted."""

    def __init__(self, error: type[DataError]) -> None:
        self._error = error
        self._met: list[tuple[FilePlace, str]] = []

    def add(self, place: FilePlace, sentence: str) -> None:
        self._met.append((place, sentence))

    @property
    def count(self) -> int:
        return len(self._met)

    @property
    def met(self) -> tuple[tuple[FilePlace, str], ...]:
        """In the order they were met."""
        return tuple(self._met)

    def raise_any(self) -> None:
        """Raises one error that tells them all, if there are any."""
        if not self._met:
            return
        files = list(dict.fromkeys(place.path for place, _ in self._met))
        ordered = sorted(self._met, key=lambda problem: (files.index(problem[0].path), problem[0].row or 0))
        told = [f"{place}: {sentence}" for place, sentence in ordered[:_SHOWN]]
        if len(ordered) == 1:
            raise self._error(told[0])
        lines = [f"{len(ordered)} problems were found and nothing was loaded.", *(f"- {text}" for text in told)]
        if len(ordered) > _SHOWN:
            lines.append(f"- and {len(ordered) - _SHOWN} more.")
        raise self._error("\n".join(lines))


def near(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> tuple[str, ...]:
    """Up to three known names that look like this one, nearest first; capitals do not matter."""
    folded = {other.casefold(): other for other in known}
    return tuple(folded[match] for match in get_close_matches(name.casefold(), folded, n=3, cutoff=cutoff))


def quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def listed(labels: Iterable[str]) -> str:
    """The first five, and how many more there are."""
    every = list(labels)
    more = len(every) - LISTED
    return ", ".join(every[:LISTED]) + (f" and {more} more" if more > 0 else "")
