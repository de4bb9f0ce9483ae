"""Rows of a data file, each with the place it came from; knows nothing of what the rows mean."""

import codecs
import csv
import gzip
import io
import json
import math
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from evenhand.benchmarks.data_error import (
    EMPTY,
    ENCODING,
    FORMAT,
    TWICE,
    TYPE,
    FilePlace,
    Problems,
    no_such_file,
    quoted,
)
from evenhand.benchmarks.files.sheet import SheetError, first_sheet
from evenhand.format.near_names import with_article

# csv refuses cells above 131,072 characters unless told otherwise; a looping model writes longer answers.
_LONGEST_CELL = 64 * 1024 * 1024
_LINE_END = "\r\n"
GZIP = b"\x1f\x8b"
"""How a packed file begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    place: FilePlace
    fields: dict[str, object]
    """Values as the format has them; NaN is None."""


def read_rows(path: Path, problems: Problems, *, formats: Sequence[str] | None = None) -> list[Row]:
    """All rows that could be read; what could not is added to `problems`."""
    accepted = tuple(formats or READERS)
    suffix = unpacked_name(path).suffix.lower()
    reader = READERS.get(suffix) if suffix in accepted else None
    if reader is None:
        sentence = f"Files of this kind are not read here; give one of {', '.join(accepted)}."
        problems.add(FilePlace(path=path), sentence, code=FORMAT)
        return []
    if path.is_dir():
        problems.add(FilePlace(path=path), "This is a folder; name the file itself.")
        return []
    if path.is_fifo() or path.is_socket() or path.is_char_device():
        sentence = "This is a pipe or a device and no file, and might never end; write what it gives into a file first."
        problems.add(FilePlace(path=path), sentence)
        return []
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        problems.add(FilePlace(path=path), no_such_file(path), code="EH-FILE-MISSING")
        return []
    except OSError as error:
        problems.add(FilePlace(path=path), f"The file cannot be read ({error.strerror}).")
        return []
    try:
        data = unpacked(data)
    except ValueError as error:
        problems.add(FilePlace(path=path), str(error), code=FORMAT)
        return []
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        problems.add(FilePlace(path=path), "The file is UTF-16; save it as UTF-8.", code=ENCODING)
        return []
    before = problems.count
    rows = list(reader(path, data, problems))
    if not rows and problems.count == before:
        what = "empty but for its header" if data.strip() and suffix in _WITH_HEADER else "empty"
        problems.add(FilePlace(path=path), f"The file is {what}; at least one row is needed.", code=EMPTY)
    return rows


def unpacked_name(path: Path) -> Path:
    """Without the `.gz` of a packed file: its suffix says the format, and its stem what the file is called."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


def unpacked(data: bytes) -> bytes:
    """As it is where it is not packed with gzip. Raises ValueError, a sentence, where it is and cannot be unpacked."""
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"This is not gzip that can be unpacked: {error}.") from error


class Frame(Protocol):
    """A polars or pandas frame, eager or lazy."""

    @property
    def columns(self) -> Any: ...


def given_rows(rows: "Frame | Iterable[Mapping[str, object]]", problems: Problems) -> list[Row]:
    """The rows of a frame, or records; their place is told under the name `a frame` or `the records`."""
    is_frame = hasattr(type(rows), "columns")
    path = Path("a frame" if is_frame else "the records")
    found: list[Row] = []
    for number, value in enumerate(_records(rows) if is_frame else cast("Iterable[object]", rows), start=1):
        place = FilePlace(path=path, row=number)
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, object]", value)
            found.append(Row(place=place, fields={name: _without_nan(cell) for name, cell in fields.items()}))
        else:
            problems.add(place, f"A record with names was expected and {kind_of(value)} was found.", code=TYPE)
    if not found and not problems.count:
        problems.add(FilePlace(path=path), "There are no rows; at least one is needed.", code=EMPTY)
    return found


def _records(frame: Any) -> Iterable[object]:
    if hasattr(frame, "collect"):
        frame = frame.collect()
    # polars has to_dicts; pandas to_dict, by rows when asked so.
    return frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")


def _jsonl(path: Path, data: bytes, problems: Problems) -> Iterator[Row]:
    number = 0
    # Lines of bytes: those of text also end at separators that JSON text may hold.
    for line, raw in enumerate(data.removeprefix(codecs.BOM_UTF8).splitlines(), start=1):
        if not raw.strip():
            continue
        number += 1
        place = FilePlace(path=path, row=number, line=line)
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            sentence = f"Byte {error.start + 1} of the line is not UTF-8; save the file as UTF-8."
            problems.add(place, sentence, code=ENCODING)
        else:
            yield from json_row(text, place, problems)


def json_row(text: str, place: FilePlace, problems: Problems) -> Iterator[Row]:
    """The row that a line of JSONL holds; none where it cannot be read, and then `problems` says so."""
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        sentence = f"This is not JSON: {error.msg} at column {error.colno}. Each line is one JSON object."
        problems.add(place, sentence, code=FORMAT)
    except (ValueError, RecursionError) as error:
        problems.add(place, f"This is not JSON that can be used: {error}.", code=FORMAT)
    else:
        yield from _row(value, place, problems)


def _json(path: Path, data: bytes, problems: Problems) -> Iterator[Row]:
    text = _decoded(path, data, problems)
    if text is None or not text.strip():
        return
    try:
        value = _parse(text)
    except json.JSONDecodeError as error:
        place = FilePlace(path=path, line=error.lineno)
        problems.add(place, f"This is not JSON: {error.msg} at column {error.colno}.", code=FORMAT)
        return
    except (ValueError, RecursionError) as error:
        problems.add(FilePlace(path=path), f"This is not JSON that can be used: {error}.", code=FORMAT)
        return
    if not isinstance(value, list):
        sentence = f"A list of objects was expected and {kind_of(value)} was found."
        problems.add(FilePlace(path=path), sentence, code=TYPE)
        return
    for number, element in enumerate(cast("list[object]", value), start=1):
        yield from _row(element, FilePlace(path=path, row=number), problems)


def delimited(delimiter: str) -> Callable[[Path, bytes, Problems], Iterator[Row]]:
    """The reader of files whose cells are separated by it, or by what `separator` finds in the header instead."""

    def read(path: Path, data: bytes, problems: Problems) -> Iterator[Row]:
        text = _decoded(path, data, problems)
        if text is not None:
            found = separator(text, usual=delimiter)
            yield from cell_rows(path, io.StringIO(text, newline=""), problems, delimiter=found)

    return read


def separator(text: str, *, usual: str) -> str:
    """The usual one, unless the header has none of it and another instead: some spreadsheets write `;` into CSV."""
    header = text.lstrip("\r\n ").split("\n", 1)[0]
    return next((one for one in (usual, ";", "\t", ",") if one in header), usual)


def stream_rows(path: Path, problems: Problems, *, delimiter: str = "\t") -> Iterator[Row]:
    """Rows of a delimited file of any size, one in memory at a time; what cannot be read is added to `problems`."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield from cell_rows(path, lines, problems, delimiter=delimiter)
    except FileNotFoundError:
        problems.add(FilePlace(path=path), no_such_file(path), code="EH-FILE-MISSING")
    except OSError as error:
        problems.add(FilePlace(path=path), f"The file cannot be read ({error.strerror}).")
    except UnicodeDecodeError:
        problems.add(FilePlace(path=path), "The file is not UTF-8; save it as UTF-8.", code=ENCODING)


def cell_rows(
    path: Path, lines: Iterable[str], problems: Problems, *, delimiter: str = ",", longest: int | None = None
) -> Generator[Row, None, bool]:
    """The rows under a header; returns whether the reading came to the end. Raises what `lines` raises.

    `longest`: the most characters of a row; a longer one is a problem, and the end of the reading.
    """
    counted = _CountedLines(lines, longest)
    reader = csv.reader(counted, delimiter=delimiter, strict=True)
    rows = _RowsUnderHeader(path, problems)
    line = 1
    with _long_cells():
        try:
            for cells in reader:
                counted.end_row()
                here, line = line, reader.line_num + 1
                if any(cell.strip() for cell in cells):
                    yield from rows.row(cells, line=here)
                if rows.unusable:
                    return False
        except csv.Error as error:
            place = FilePlace(path=path, row=rows.count + 1, line=line)
            problems.add(place, f"The row cannot be read: {error}.", code=FORMAT)
            return False
    return True


class _CountedLines:
    """Lines for csv, which would take all of a file into a cell whose quotation mark is never closed."""

    def __init__(self, lines: Iterable[str], longest: int | None) -> None:
        self._lines = iter(lines)
        self._longest = longest
        self._characters = 0

    def end_row(self) -> None:
        self._characters = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._characters += len(line)
        if self._longest is not None and self._characters - len(_LINE_END) > self._longest:
            raise csv.Error(
                f"it is longer than {self._longest:,} characters, or a quotation mark in it is never closed"
            )
        return line


_turn = threading.Lock()
_readers: list[int] = []
"""csv's limit as each reader at work found it: what the first found is put back when all have ended."""


@contextmanager
def _long_cells() -> Generator[None]:
    """csv's limit is one for the process, and servers read in threads: it stays raised until the last has ended."""
    with _turn:
        _readers.append(csv.field_size_limit(_LONGEST_CELL))
    try:
        yield
    finally:
        with _turn:
            csv.field_size_limit(_readers.pop())


class _RowsUnderHeader:
    """Rows of cells whose names stand in the first row."""

    def __init__(self, path: Path, problems: Problems) -> None:
        self._path = path
        self._problems = problems
        self._header: list[str] = []
        self.count = 0
        self.unusable = False

    def row(self, cells: Sequence[object], *, line: int | None) -> Iterator[Row]:
        if not self._header:
            self._header = [str(cell).strip() for cell in cells]
            # Spreadsheets write the columns beside a table too, without a name.
            twice = sorted(name for name, times in Counter(self._header).items() if name and times > 1)
            if twice:
                self.unusable = True
                place = FilePlace(path=self._path, line=line)
                self._problems.add(place, f"The header names {quoted(twice)} more than once.", code=TWICE)
            return
        self.count += 1
        place = FilePlace(path=self._path, row=self.count, line=line)
        if len(cells) == len(self._header):
            named = zip(self._header, cells, strict=True)
            yield Row(place=place, fields={name: cell for name, cell in named if name or cell != ""})
        else:
            sentence = f"The row has {len(cells)} cells and the header has {len(self._header)}."
            self._problems.add(place, sentence, code=FORMAT)


def _xlsx(path: Path, data: bytes, problems: Problems) -> Iterator[Row]:
    try:
        sheet = first_sheet(data)
    except SheetError as error:
        problems.add(FilePlace(path=path), str(error), code=FORMAT)
        return
    rows = _RowsUnderHeader(path, problems)
    for cells in sheet:
        if any(cell != "" for cell in cells) and not rows.unusable:
            yield from rows.row([_whole(cell) for cell in cells], line=None)


def _whole(cell: object) -> object:
    # A sheet has no whole numbers, only floats.
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _parquet(path: Path, data: bytes, problems: Problems) -> Iterator[Row]:
    import polars as pl

    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as error:
        problems.add(FilePlace(path=path), f"This is not Parquet that can be read: {error}.", code=FORMAT)
        return
    for number, fields in enumerate(frame.iter_rows(named=True), start=1):
        place = FilePlace(path=path, row=number)
        yield Row(place=place, fields={name: _without_nan(value) for name, value in fields.items()})


_WITH_HEADER = (".csv", ".tsv", ".xlsx", ".parquet")
READERS: dict[str, Callable[[Path, bytes, Problems], Iterator[Row]]] = {
    ".jsonl": _jsonl,
    ".json": _json,
    ".csv": delimited(","),
    ".tsv": delimited("\t"),
    ".xlsx": _xlsx,
    ".parquet": _parquet,
}


def kind_of(value: object) -> str:
    """What a value is, in words for a sentence: "a list", "a number", "nothing (null)"."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    kinds = {"str": "text", "list": "a list", "dict": "an object"}
    return kinds.get(type(value).__name__, with_article(type(value).__name__))


def _row(value: object, place: FilePlace, problems: Problems) -> Iterator[Row]:
    if isinstance(value, dict):
        yield Row(place=place, fields=cast("dict[str, object]", value))
    else:
        problems.add(place, f"An object {{…}} was expected and {kind_of(value)} was found.", code=TYPE)


def _parse(text: str) -> object:
    # What json.loads says of it; given the decoder's options, it makes a new one for each text.
    return json.loads(text) if text.startswith("\ufeff") else _decoder.decode(text)


def _constant(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is not a value")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        times = Counter(name for name, _ in pairs)
        raise ValueError(f"a field is named twice: {quoted(sorted(name for name, n in times.items() if n > 1))}")
    return fields


# parse_constant: other tools write a missing text as a bare NaN, which is not JSON.
_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def _without_nan(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


def _decoded(path: Path, data: bytes, problems: Problems) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(FilePlace(path=path, line=line), "The file is not UTF-8 here; save it as UTF-8.", code=ENCODING)
        return None


def renamed(rows: Iterable[Row], names: Mapping[str, str]) -> list[Row]:
    """`names`: the new name of a field by its old one."""
    return [
        Row(place=row.place, fields={names.get(name, name): value for name, value in row.fields.items()})
        for row in rows
    ]
