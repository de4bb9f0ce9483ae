"""Columns of a table, from a file or a frame, and where in it a row stands; knows nothing of what they mean."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from evenhand.benchmarks.data_error import Place, Problems, near, quoted
from evenhand.benchmarks.rows import READERS, kind_of
from evenhand.exchange.errors import ExchangeError

if TYPE_CHECKING:
    import polars as pl

Source: TypeAlias = "Path | str | pl.DataFrame | pl.LazyFrame | Any"
"""A path, a polars or pandas frame, or anything else that exports itself as an Arrow stream."""

_KINDS = {kind: kind for kind in READERS} | {".ndjson": ".jsonl"}

# What JSON has besides text: polars writes it as text where other rows of the column hold text.
_NOT_TEXT = r"^(-?\d.*|true|false|[\[{].*)$"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnSource:
    names: tuple[str, ...]
    path: Path | None
    """None for a frame."""
    kind: str
    """A suffix that says the format, or "frame"."""
    take: "Callable[[str], pl.Series]"
    """A column by its name; a missing value is null."""

    def fault(self, sentence: str, *, row: int | None = None) -> ExchangeError:
        """The error to raise; `row` counts from 1."""
        return _fault(sentence, path=self.path, kind=self.kind, row=row)

    def one_of(self, wanted: Sequence[str]) -> str | None:
        """The first of the wanted names that the table has."""
        return next((name for name in wanted if name in self.names), None)

    def missing(self, wanted: str, *, expected: str) -> ExchangeError:
        close = near(wanted, self.names, cutoff=0.7)
        hint = f" Did you mean {quoted(close)}?" if close else ""
        return self.fault(f"No column `{wanted}`; found {quoted(self.names) or 'no columns'}.{hint} {expected}")


def open_columns(source: Source, *, texts: Iterable[str]) -> ColumnSource:
    """`texts` are the columns, where there, in which a number among texts is to be told and not read as text.

    Raises ExchangeError where the source cannot be read.
    """
    import polars as pl

    if isinstance(source, str | Path):
        return _of_file(Path(source), frozenset(texts))
    if isinstance(source, pl.LazyFrame):
        lazy = source
        return _of_frame(tuple(lazy.collect_schema().names()), lambda name: lazy.select(name).collect()[name])
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _of_pandas(cast("Any", source))
    try:
        frame = source if isinstance(source, pl.DataFrame) else pl.DataFrame(source)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        given = type(source).__name__
        raise ExchangeError(f"A path, a polars or a pandas frame is expected, and {given} was given.") from error
    return _of_frame(tuple(frame.columns), frame.get_column)


def _of_frame(names: tuple[str, ...], take: "Callable[[str], pl.Series]") -> ColumnSource:
    return ColumnSource(names=names, path=None, kind="frame", take=take)


def _of_pandas(frame: Any) -> ColumnSource:
    """Column by column through numpy, which needs neither pandas here nor pyarrow anywhere."""
    import polars as pl

    def take(name: str) -> pl.Series:
        values = frame[name].to_numpy()
        if values.dtype != object:
            return pl.Series(name, values, nan_to_null=True)
        values = values.copy()
        values[frame[name].isna().to_numpy()] = None
        return _series(name, values.tolist())

    names = tuple(str(name) for name in frame.columns)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ExchangeError(f"The frame names {quoted(twice)} more than once.")
    return _of_frame(names, take)


def _of_file(path: Path, texts: frozenset[str]) -> ColumnSource:
    kind = _kind(path)
    if kind == ".parquet":
        return _parquet(path)
    frame = _read_at_once(path, kind)
    if frame is not None and not _doubtful(frame, kind, texts):
        return ColumnSource(names=tuple(frame.columns), path=path, kind=kind, take=frame.get_column)
    columns = _read_row_by_row(path, kind)
    return ColumnSource(
        names=tuple(columns), path=path, kind=kind, take=lambda name: _series(name, columns[name], path=path, kind=kind)
    )


def _kind(path: Path) -> str:
    """By the suffix, else by how the file begins."""
    try:
        with path.open("rb") as file:
            begin = file.read(4096)
    except FileNotFoundError as error:
        raise ExchangeError(f"{path}: There is no such file.") from error
    except IsADirectoryError as error:
        raise ExchangeError(f"{path}: This is a folder; name the file itself.") from error
    except OSError as error:
        raise ExchangeError(f"{path}: The file cannot be read ({error.strerror}).") from error
    if path.suffix.lower() in _KINDS:
        return _KINDS[path.suffix.lower()]
    if begin.startswith(b"PAR1"):
        return ".parquet"
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"[", b"{"):
        return ".json" if text[:1] == b"[" else ".jsonl"
    return ".tsv" if b"\t" in text.split(b"\n", 1)[0] else ".csv"


def _parquet(path: Path) -> ColumnSource:
    import polars as pl

    def take(name: str) -> pl.Series:
        # One column at a time: texts are far larger than the codes that come of them.
        try:
            return pl.scan_parquet(path, glob=False).select(name).collect().to_series()
        except pl.exceptions.PolarsError as error:
            raise ExchangeError(f"{path}: The column `{name}` cannot be read: {error}.") from error

    try:
        names = tuple(pl.scan_parquet(path, glob=False).collect_schema().names())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ExchangeError(f"{path}: This is not Parquet that can be read: {error}.") from error
    return ColumnSource(names=names, path=path, kind=".parquet", take=take)


def _read_at_once(path: Path, kind: str) -> "pl.DataFrame | None":
    """None where polars cannot, or where a slower reading is just as good."""
    import polars as pl

    try:
        if kind == ".jsonl":
            return pl.read_ndjson(path, infer_schema_length=None)
        if kind in (".csv", ".tsv"):
            return pl.read_csv(path, separator="," if kind == ".csv" else "\t", infer_schema=False, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        return None
    return None


def _doubtful(frame: "pl.DataFrame", kind: str, texts: frozenset[str]) -> bool:
    """Whether polars may have passed over something that a reading row by row would tell."""
    if not frame.height:
        return True
    if kind == ".jsonl":
        named = [name for name in frame.columns if name in texts and frame.schema[name] == _text_type()]
        return any(frame[name].unique().str.contains(_NOT_TEXT).any() for name in named)
    # A row that ends early has nulls at its end; a name that occurs twice got a suffix.
    odd = any(name != name.strip() or "_duplicated_" in name for name in frame.columns)
    return odd or frame[frame.columns[-1]].null_count() > 0


def _text_type() -> "type[pl.String]":
    import polars as pl

    return pl.String


def _read_row_by_row(path: Path, kind: str) -> Mapping[str, list[object]]:
    problems = Problems(ExchangeError)
    columns: dict[str, list[object]] = {}
    count = 0
    for row in READERS[kind](path, path.read_bytes(), problems):
        for name, value in row.fields.items():
            cells = columns.setdefault(name, [])
            cells.extend([None] * (count - len(cells)))
            cells.append(None if value == "" else value)
        count += 1
    problems.raise_any()
    if not count:
        raise ExchangeError(f"{path}: The file is empty; at least one row is needed.")
    for cells in columns.values():
        cells.extend([None] * (count - len(cells)))
    return columns


def _series(name: str, values: Sequence[object], *, path: Path | None = None, kind: str = "frame") -> "pl.Series":
    import polars as pl

    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float}:
        values = [None if value is None else float(cast("float", value)) for value in values]
    try:
        return pl.Series(name, values, nan_to_null=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as mixed:
        if kinds == {int}:
            # Larger than any of polars' whole numbers: as text it stays what it is.
            return pl.Series(name, [None if value is None else str(value) for value in values])
        one, other = _two_types(values)
        types = f"{kind_of(values[other])} here and {kind_of(values[one])} in row {one + 1}"
        sentence = f"The column `{name}` mixes types: {types}; write all of it as one type."
        raise _fault(sentence, path=path, kind=kind, row=other + 1) from mixed


def _two_types(values: Sequence[object]) -> tuple[int, int]:
    """The first row that holds anything, and the first after it that holds something of another type."""
    present = [place for place, value in enumerate(values) if value is not None]
    first = type(values[present[0]])
    return present[0], next((place for place in present if type(values[place]) is not first), present[0])


def _fault(sentence: str, *, path: Path | None, kind: str, row: int | None) -> ExchangeError:
    if path is None:
        return ExchangeError(sentence if row is None else f"Row {row}: {sentence}")
    line = None if row is None else _line_of(path, kind, row)
    return ExchangeError(f"{Place(path=path, row=row, line=line)}: {sentence}")


def _line_of(path: Path, kind: str, row: int) -> int | None:
    """The line on which a row of a text file begins; both count from 1."""
    if kind == ".jsonl":
        return _jsonl_line(path, row)
    if kind not in (".csv", ".tsv"):
        return None
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter="," if kind == ".csv" else "\t")
        seen, line = -1, 1
        for cells in reader:
            seen += bool(cells)
            if seen == row and cells:
                return line
            line = reader.line_num + 1
    return None


def _jsonl_line(path: Path, row: int) -> int | None:
    seen = 0
    with path.open("rb") as file:
        for line, raw in enumerate(file, start=1):
            seen += bool(raw.strip())
            if seen == row:
                return line
    return None
