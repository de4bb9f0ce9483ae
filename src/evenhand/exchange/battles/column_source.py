"""Columns of a table, from a file or a frame, and where in it a row stands; knows nothing of what they mean."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from evenhand.benchmarks.data_error import CELL, COLUMN, EMPTY, FORMAT, TWICE, TYPE, FilePlace, Problems, near, quoted
from evenhand.benchmarks.files.rows import READERS, delimited, kind_of
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.table_file import TableFile, table_file

if TYPE_CHECKING:
    import polars as pl

Source: TypeAlias = "Path | str | pl.DataFrame | pl.LazyFrame | Any"
"""A path, a polars or pandas frame, or anything else that exports itself as an Arrow stream."""

_DELIMITED = (".csv", ".tsv")

# What JSON has besides text: polars writes it as text where other rows of the column hold text.
_NOT_TEXT = r"^(-?\d.*|true|false|[\[{].*)$"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnSource:
    names: tuple[str, ...]
    file: TableFile | None
    """None for a frame."""
    take: "Callable[[str], pl.Series]"
    """A column by its name; a missing value is null."""
    places: Sequence[int] | None = None
    """The row of the file that each row here was made of, from 1; None: they are one and the same."""
    as_read: Mapping[str, Sequence[object]] | None = None
    """The columns before they were given types, where they were read row by row."""

    def fault(self, sentence: str, *, row: int | None = None, code: str | None = None) -> ExchangeError:
        """The error to raise; `row` counts from 1. Of a row it is a cell that is wrong, unless `code` says else."""
        place = row if row is None or self.places is None else self.places[row - 1]
        return _fault(sentence, file=self.file, row=place, code=code or (CELL if row is not None else None))

    def cells(self, name: str) -> list[object]:
        """A column as values; NaN is None, and all are None where there is no such column."""
        if name not in self.names:
            return [None] * len(self.take(self.names[0]))
        values: Sequence[object] = self.take(name).to_list() if self.as_read is None else self.as_read[name]
        return [None if isinstance(one, float) and math.isnan(one) else one for one in values]

    def one_of(self, *wanted: str) -> str | None:
        """The table's own name of the first wanted column that it has; letter case decides only between two."""
        for name in wanted:
            if name in self.names:
                return name
            alike = [other for other in self.names if other.strip().casefold() == name.casefold()]
            if len(alike) == 1:
                return alike[0]
        return None

    def missing(self, wanted: str, *, expected: str) -> ExchangeError:
        close = near(wanted, self.names, cutoff=0.7)
        hint = f" Did you mean {quoted(close)}?" if close else ""
        found = quoted(self.names) or "no columns"
        return self.fault(f"No column `{wanted}`; found {found}.{hint} {expected}", code=COLUMN)


def open_columns(source: Source, *, texts: Iterable[str]) -> ColumnSource:
    """`texts` are the columns, where there, in which a cell of another type than the others is to be told.

    Raises ExchangeError where the source cannot be read.
    """
    import polars as pl

    if isinstance(source, str | Path):
        return _of_file(table_file(Path(source)), frozenset(name.casefold() for name in texts))
    if isinstance(source, pl.LazyFrame):
        lazy = source
        return _of_frame(tuple(lazy.collect_schema().names()), lambda name: lazy.select(name).collect()[name])
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _of_pandas(cast("Any", source))
    try:
        frame = source if isinstance(source, pl.DataFrame) else pl.DataFrame(source)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        given = type(source).__name__
        sentence = f"A path, a polars or a pandas frame is expected, and {given} was given."
        raise ExchangeError(sentence, code=TYPE) from error
    return _of_frame(tuple(frame.columns), frame.get_column)


def _of_frame(names: tuple[str, ...], take: "Callable[[str], pl.Series]") -> ColumnSource:
    return ColumnSource(names=names, file=None, take=take)


def _of_pandas(frame: Any) -> ColumnSource:
    """Column by column through numpy, which needs neither pandas here nor pyarrow anywhere."""
    import polars as pl

    def take(name: str) -> pl.Series:
        values = frame[name].to_numpy()
        if values.dtype != object:
            return pl.Series(name, values, nan_to_null=True)
        values = values.copy()
        values[frame[name].isna().to_numpy()] = None
        return series_of(name, values.tolist())

    names = tuple(str(name) for name in frame.columns)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ExchangeError(f"The frame names {quoted(twice)} more than once.", code=TWICE)
    return _of_frame(names, take)


def _of_file(file: TableFile, texts: frozenset[str]) -> ColumnSource:
    if file.kind == ".parquet":
        return _parquet(file)
    frame = _read_at_once(file)
    if frame is not None and not _doubtful(frame, file.kind, texts):
        return ColumnSource(names=tuple(frame.columns), file=file, take=frame.get_column)
    columns = _read_row_by_row(file)
    return ColumnSource(
        names=tuple(columns), file=file, take=lambda name: series_of(name, columns[name], file=file), as_read=columns
    )


def _parquet(file: TableFile) -> ColumnSource:
    import polars as pl

    def take(name: str) -> pl.Series:
        # One column at a time: texts are far larger than the codes that come of them.
        try:
            return pl.scan_parquet(file.at_once(), glob=False).select(name).collect().to_series()
        except pl.exceptions.PolarsError as error:
            raise ExchangeError(f"{file.path}: The column `{name}` cannot be read: {error}.") from error

    try:
        names = tuple(pl.scan_parquet(file.at_once(), glob=False).collect_schema().names())
    except (pl.exceptions.PolarsError, OSError) as error:
        sentence = f"{file.path}: This is not Parquet that can be read: {error}."
        raise ExchangeError(sentence, code=FORMAT) from error
    return ColumnSource(names=names, file=file, take=take)


def _read_at_once(file: TableFile) -> "pl.DataFrame | None":
    """None where polars cannot, or where a slower reading is just as good."""
    import polars as pl

    try:
        if file.kind == ".jsonl":
            return pl.read_ndjson(file.at_once(), infer_schema_length=None)
        if file.kind in _DELIMITED:
            return pl.read_csv(file.at_once(), separator=file.separator, infer_schema=False, glob=False)
    except (pl.exceptions.PolarsError, OSError):
        return None
    return None


def _doubtful(frame: "pl.DataFrame", kind: str, texts: frozenset[str]) -> bool:
    """Whether polars may have passed over something that a reading row by row would tell."""
    if not frame.height:
        return True
    if kind == ".jsonl":
        named = [name for name in frame.columns if name.casefold() in texts]
        return any(_untold(frame[name]) for name in named)
    # A row that ends early has nulls at its end; a name that occurs twice got a suffix.
    odd = any(name != name.strip() or "_duplicated_" in name for name in frame.columns)
    return odd or frame[frame.columns[-1]].null_count() > 0


def _untold(column: "pl.Series") -> bool:
    """Whether polars may have made one type of several: of lists and objects it drops what does not fit the others."""
    import polars as pl

    if column.dtype == pl.String:
        return bool(column.unique().str.contains(_NOT_TEXT).any())
    return column.dtype.is_nested()


def _read_row_by_row(file: TableFile) -> Mapping[str, list[object]]:
    read = delimited(file.separator) if file.kind in _DELIMITED else READERS[file.kind]
    data = file.read()
    problems = Problems(ExchangeError)
    columns: dict[str, list[object]] = {}
    count = 0
    for row in read(file.path, data, problems):
        for name, value in row.fields.items():
            cells = columns.setdefault(name, [])
            cells.extend([None] * (count - len(cells)))
            cells.append(None if value == "" else value)
        count += 1
    problems.raise_any()
    if not count:
        what = "There are no rows under the header" if data.strip() and file.kind in _DELIMITED else "The file is empty"
        raise ExchangeError(f"{file.path}: {what}; at least one row is needed.", code=EMPTY)
    for cells in columns.values():
        cells.extend([None] * (count - len(cells)))
    return columns


def series_of(name: str, values: Sequence[object], *, file: TableFile | None = None) -> "pl.Series":
    """Raises ExchangeError where the values are of several types."""
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
        raise _fault(sentence, file=file, row=other + 1, code=TYPE) from mixed


def _two_types(values: Sequence[object]) -> tuple[int, int]:
    """The first row that holds anything, and the first after it that holds something of another type."""
    present = [place for place, value in enumerate(values) if value is not None]
    first = type(values[present[0]])
    return present[0], next((place for place in present if type(values[place]) is not first), present[0])


def _fault(sentence: str, *, file: TableFile | None, row: int | None, code: str | None = None) -> ExchangeError:
    if file is None:
        return ExchangeError(sentence if row is None else f"Row {row}: {sentence}", code=code)
    line = None if row is None else file.line_of(row)
    return ExchangeError(f"{FilePlace(path=file.path, row=row, line=line)}: {sentence}", code=code)
