"""What is wrong with a data file, collected so that a person can mend it in one go."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand.domain.errors import EvenhandError
from evenhand.format.near_names import close_to

_SHOWN = 20
COLUMN = "EH-DATA-COLUMN"
"""The code of a column that is needed and not there."""
OTHER_NAMES = "A column of another name is named by --columns THEIRS=OURS."
BLANK, CELL, EMPTY, ENCODING = "EH-DATA-BLANK", "EH-DATA-CELL", "EH-DATA-EMPTY", "EH-DATA-ENCODING"
FORMAT, IMAGE, TWICE, TYPE = "EH-DATA-FORMAT", "EH-DATA-IMAGE", "EH-DATA-TWICE", "EH-DATA-TYPE"
ITEM_UNKNOWN, RESERVED = "EH-ITEM-UNKNOWN", "EH-NAME-RESERVED"
"""What each says stands in `DISTINCT`."""
_ALIKE = 3
"""Rows with the same problem from which on it is told once."""
LISTED = 5
"""Names told in one sentence before the rest is counted."""


class DataError(EvenhandError, ValueError):
    """Data that cannot be used; nothing was loaded."""

    code = "EH-DATA"


class BenchmarkError(DataError):
    """No such benchmark, or its data cannot be used."""

    code = "EH-BENCHMARK"


class DownloadError(BenchmarkError):
    """A benchmark's file did not come, or not whole; the same command may bring it another time."""

    code = "EH-DOWNLOAD"


class ResponsesError(DataError):
    """A file of responses cannot be used."""

    code = "EH-ANSWERS"


class IntakeError(DataError):
    """Rows that cannot be taken into a growing benchmark; none was."""

    code = "EH-ROWS"


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
        self._kinds: dict[str, str] = {}
        self._codes: set[str | None] = set()

    def add(self, place: FilePlace, sentence: str, *, code: str | None = None, kind: str | None = None) -> None:
        """`code`: of the error, if all problems have the same. `kind`: problems of one kind are told once."""
        self._met.append((place, sentence))
        if kind is not None:
            self._kinds[sentence] = kind
        self._codes.add(code)

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
        code = next(iter(self._codes)) if len(self._codes) == 1 else None
        files = list(dict.fromkeys(place.path for place, _ in self._met))
        ordered = sorted(self._met, key=lambda problem: (files.index(problem[0].path), problem[0].row or 0))
        if len(ordered) == 1:
            raise self._error("{}: {}".format(*ordered[0]), code=code)
        told = _told_once(ordered, self._kinds)
        lines = [f"{len(ordered)} problems were found and nothing was loaded."]
        lines += [f"- {text}" for text, _ in told[:_SHOWN]]
        more = sum(number for _, number in told[_SHOWN:])
        if more:
            lines.append(f"- and {more} more.")
        raise self._error("\n".join(lines), code=code)


def _told_once(ordered: Iterable[tuple[FilePlace, str]], kinds: Mapping[str, str]) -> list[tuple[str, int]]:
    """Each problem with how many it stands for: what is wrong with three rows of a file or more is told of the first,
    and the others are named."""
    alike: dict[tuple[Path, str], list[tuple[FilePlace, str]]] = {}
    for place, sentence in ordered:
        alike.setdefault((place.path, kinds.get(sentence, sentence)), []).append((place, sentence))
    told: list[tuple[str, int]] = []
    for here in alike.values():
        rows = list(dict.fromkeys(str(place.row) for place, _ in here if place.row is not None))
        if len(here) < _ALIKE or len(rows) < _ALIKE:
            told += [(f"{place}: {sentence}", 1) for place, sentence in here]
        else:
            place, sentence = here[0]
            told.append((f"{place}: {sentence} The same in rows {listed(rows[1:])}.", len(here)))
    return told


def lmms_eval_fault(columns: Iterable[str]) -> str | None:
    """A sentence where these are the columns of a samples file of lmms-eval."""
    found = set(columns)
    if "doc_id" not in found or not found & {"resps", "filtered_resps"}:
        return None
    return (
        "This is a samples file of lmms-eval, which names no model and holds its texts in lists. Write a row with "
        "`item` (its doc_id), `model` and `response` (the first of filtered_resps) for each of its rows: "
        "docs/how-to/move-from-others.md has the few lines of Python."
    )


def no_such_file(path: Path) -> str:
    """A sentence, with the names in its folder that look like it."""
    try:
        here = [one.name for one in path.parent.iterdir() if one.is_file()]
    except OSError:
        here = []
    close = near(path.name, here, cutoff=0.75)
    return f"There is no such file.{f' Did you mean {quoted(close)}?' if close else ''}"


def near(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> tuple[str, ...]:
    """Up to three known names that look like this one, nearest first; capitals do not matter."""
    folded = {other.casefold(): other for other in known}
    return tuple(folded[match] for match in close_to(name.casefold(), folded, most=3, cutoff=cutoff))


def quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def listed(labels: Iterable[str]) -> str:
    """The first five, and how many more there are."""
    every = list(labels)
    more = len(every) - LISTED
    return ", ".join(every[:LISTED]) + (f" and {more} more" if more > 0 else "")
