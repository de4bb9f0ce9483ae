"""A table as a file: JSONL, CSV or Parquet by the file's suffix; written whole or not at all."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from evenhand.benchmarks.data_error import FORMAT
from evenhand.domain.identity import Json
from evenhand.exchange.errors import ExchangeError
from evenhand.files.outputs import Place, replacing
from evenhand.format.printable import csv_text, no_formula

if TYPE_CHECKING:
    import polars as pl

Shape: TypeAlias = Literal["text", "whole", "number", "truth", "texts", "lists of texts", "verdict"]

FORMATS = (".jsonl", ".csv", ".parquet")

# JSON leaves these as they are, and many a reader ends its line at them.
_LINE_ENDS = {ord(one): f"\\u{ord(one):04x}" for one in "\x85\u2028\u2029"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTable:
    columns: Mapping[str, Shape]
    """Their names in order; every row has them all."""
    rows: Sequence[Mapping[str, Json]]


def check_format(path: Place, *, spreadsheet: bool = False) -> None:
    """Raises ExchangeError where the file's name does not say how a table is to be written."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise ExchangeError(f"{path}: the suffix says the format; give one of {', '.join(FORMATS)}.", code=FORMAT)
    if spreadsheet and suffix != ".csv":
        raise ExchangeError(f"{path}: --spreadsheet guards the cells of .csv files only; leave it out here.")


def write_table(table: ExchangeTable, path: Place, *, spreadsheet: bool = False) -> None:
    """Raises OutputRefused, and OSError where the disk refuses; then the old file stays as it was."""
    with replacing(path) as file:
        match path.suffix.lower():
            case ".csv":
                file.write(csv_bytes(table, spreadsheet=spreadsheet))
            case ".parquet":
                _frame(table).write_parquet(file)
            case _:
                file.writelines(jsonl_lines(table))


def jsonl_lines(table: ExchangeTable) -> Iterator[bytes]:
    for row in table.rows:
        try:
            yield (json.dumps(row, ensure_ascii=False, allow_nan=False).translate(_LINE_ENDS) + "\n").encode()
        except UnicodeEncodeError:
            # A model's reply may hold half of a surrogate pair: an escape can say it, UTF-8 cannot.
            yield (json.dumps(row, allow_nan=False) + "\n").encode("ascii")


def csv_bytes(table: ExchangeTable, *, spreadsheet: bool = False) -> bytes:
    rows = ([_cell(row[name], spreadsheet=spreadsheet) for name in table.columns] for row in table.rows)
    return csv_text(table.columns, rows).encode()


def _cell(value: Json, *, spreadsheet: bool) -> str:
    """A list or an object is JSON in its cell; nothing is an empty cell."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return _in_utf8(json.dumps(value, ensure_ascii=False))
    return _in_utf8(no_formula(value) if spreadsheet else value)


def _frame(table: ExchangeTable) -> "pl.DataFrame":
    import polars as pl

    types: dict[Shape, pl.DataType] = {
        "text": pl.String(),
        "whole": pl.Int64(),
        "number": pl.Float64(),
        "truth": pl.Boolean(),
        "texts": pl.List(pl.String()),
        "lists of texts": pl.List(pl.List(pl.String())),
        "verdict": pl.Struct(
            {"kind": pl.String(), "value": pl.Int64(), "levels": pl.Int64(), "values": pl.List(pl.Float64())}
        ),
    }
    return pl.DataFrame(
        [
            pl.Series(name, [_clean(row[name]) for row in table.rows], dtype=types[shape])
            for name, shape in table.columns.items()
        ]
    )


def _clean(value: Json) -> Json:
    if isinstance(value, str):
        return _in_utf8(value)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    return value


def _in_utf8(text: str) -> str:
    """Half of a surrogate pair becomes U+FFFD: neither CSV nor Parquet can hold it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
