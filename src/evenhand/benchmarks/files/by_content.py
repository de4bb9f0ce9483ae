"""The item that a row of somebody else's file speaks of, found by its instruction, images and category."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

from evenhand.benchmarks.data_error import LISTED, FilePlace, listed
from evenhand.benchmarks.files.cells import is_nothing, read_list
from evenhand.benchmarks.files.rows import Row
from evenhand.domain.item import Benchmark, Item

_IMAGES = ("images", "image", "image_url")
_NO_ITEM = "has no item with this instruction"
_OTHER_IMAGES = "has this instruction only with other images"
_SEVERAL = "has several items that fit, and neither image nor category tells them apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched:
    place: FilePlace
    why: str
    """The rest of a sentence that begins with the benchmark's name."""
    words: str
    """The beginning of its instruction, quoted."""


class ItemsByContent:
    """Finds items, and remembers the rows that fit none, to be told together."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._by_instruction: dict[str, list[Item]] = {}
        for item in benchmark.items:
            self._by_instruction.setdefault(_spaced(item.instruction), []).append(item)
        self._unmatched: list[Unmatched] = []
        self._miscalled: list[tuple[FilePlace, str]] = []

    def find(self, row: Row) -> Item | None:
        """None where no item fits, or more than one; `unmatched` tells it later."""
        instruction = str(row.fields.get("instruction") or "")
        fitting = self._by_instruction.get(_spaced(instruction), [])
        why = _NO_ITEM
        names = _images_of(row.fields)
        if fitting and names:
            fitting = self._with_images(fitting, names)
            why = _OTHER_IMAGES
        category = row.fields.get("instruction_category")
        if len(fitting) > 1:
            fitting = [item for item in fitting if _letters(item.category) == _letters(category)] or fitting
            why = _SEVERAL
        if len(fitting) == 1:
            self._compare(fitting[0], category, row.place)
            return fitting[0]
        self._unmatched.append(Unmatched(place=row.place, why=why, words=_shortened(instruction)))
        return None

    @property
    def misfits(self) -> tuple[Unmatched, ...]:
        """The rows that fit no item, in the order they were met."""
        return tuple(self._unmatched)

    def unmatched(self) -> Iterator[tuple[FilePlace, str]]:
        """A sentence for each way in which rows did not fit: the words of the first of them, and the numbers of all."""
        for why in (_NO_ITEM, _OTHER_IMAGES, _SEVERAL):
            rows = [one for one in self._unmatched if one.why == why]
            if rows:
                first = rows[0].place
                told = [f"{one.place.seen_from(first)} ({one.words})" for one in rows]
                yield first, f"{self._benchmark.name} {why}; rows: {len(rows)}: {listed(told)}{_every(rows)}."

    def miscalled(self) -> list[str]:
        """A sentence about the rows that were matched and name another category than their item has, if any."""
        if not self._miscalled:
            return []
        first = self._miscalled[0][0]
        told = [f"{place.seen_from(first)} ({words})" for place, words in self._miscalled]
        return [
            f"{first}: Rows that name another category than {self._benchmark.name} has for their item, whose own is "
            f"kept; rows: {len(told)}: {listed(told)}."
        ]

    def _compare(self, item: Item, category: object, place: FilePlace) -> None:
        if item.category and not is_nothing(category) and _letters(category) != _letters(item.category):
            self._miscalled.append((place, f'"{_spaced(str(category))}", not "{item.category}"'))

    def _with_images(self, items: Sequence[Item], names: Sequence[str]) -> list[Item]:
        """Those with the very images; else those whose images have the same file names, in the same order."""
        addresses = self._benchmark.addresses
        wanted = [addresses.get(name, name) for name in names]
        exact = [item for item in items if [addresses.get(name, name) for name in item.images] == wanted]
        called = {digest: name for name, digest in addresses.items()}
        return exact or [item for item in items if _same_files(names, [called.get(n, n) for n in item.images])]


def _same_files(one: Sequence[str], other: Sequence[str]) -> bool:
    """By the file names alone; but two addresses that differ are two images, whatever their last part."""
    return len(one) == len(other) and all(
        _file_name(here) == _file_name(there) and not ("://" in here and "://" in there)
        for here, there in zip(one, other, strict=True)
    )


def _every(rows: Sequence[Unmatched]) -> str:
    """The numbers of all rows, where not all were told."""
    if len(rows) <= LISTED:
        return ""
    by_file: dict[Path, list[int]] = {}
    for one in rows:
        by_file.setdefault(one.place.path, []).append(one.place.row or 0)
    files = [f"{path}: {_runs(numbers)}" if len(by_file) > 1 else _runs(numbers) for path, numbers in by_file.items()]
    return f"; all of them are rows {'; '.join(files)}"


def _runs(numbers: Sequence[int]) -> str:
    """1, 3-7, 9."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    return ", ".join("-".join(map(str, run)) for run in found)


def _images_of(fields: Mapping[str, object]) -> list[str]:
    """Under the first of the usual names: one image, or a list of them, as text or as it is; [] where none is said."""
    for name in _IMAGES:
        value = fields.get(name)
        listed = read_list(value)
        if listed is not None:
            return [one.strip() for one in listed if isinstance(one, str)]
        if isinstance(value, dict):
            value = cast("dict[str, object]", value).get("path")
        if isinstance(value, str) and not is_nothing(value):
            return [value.strip()]
    return []


def _file_name(name: str) -> str:
    path = urlsplit(name).path if "://" in name else name
    return unquote(path).replace("\\", "/").rpartition("/")[2].casefold()


def _spaced(text: str) -> str:
    # Spreadsheets change line ends and trim; the words stay.
    return " ".join(text.split())


def _letters(value: object) -> str:
    """Underscores, spaces and capitals do not make two categories."""
    return "".join(char for char in str(value or "").casefold() if char.isalnum())


def _shortened(text: str) -> str:
    words = _spaced(text)
    return f'"{words[:60]}…"' if len(words) > 60 else f'"{words}"'
