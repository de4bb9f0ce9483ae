"""Rows of a data file of Creation-MMBench, one in memory at a time: the images make it hundreds of megabytes."""

from collections.abc import Iterator
from pathlib import Path

from evenhand.benchmarks.data_error import FilePlace, Problems
from evenhand.benchmarks.files.rows import Row, read_rows, stream_rows

FORMATS = (".tsv", ".parquet", ".jsonl")
_ROWS_AT_ONCE = 50


def case_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """What cannot be read is added to `problems`."""
    if path.suffix.lower() == ".tsv":
        yield from stream_rows(path, problems, delimiter="\t")
    elif path.suffix.lower() == ".parquet":
        yield from _parquet(path, problems)
    else:
        yield from read_rows(path, problems, formats=FORMATS)


def _parquet(path: Path, problems: Problems) -> Iterator[Row]:
    import polars as pl

    try:
        frame = pl.scan_parquet(path)
        height = frame.select(pl.len()).collect().item()
        for start in range(0, height, _ROWS_AT_ONCE):
            batch = frame.slice(start, _ROWS_AT_ONCE).collect()
            for number, fields in enumerate(batch.iter_rows(named=True), start=start + 1):
                yield Row(place=FilePlace(path=path, row=number), fields=fields)
    except FileNotFoundError:
        problems.add(FilePlace(path=path), "There is no such file.", code="EH-FILE-MISSING")
    except (pl.exceptions.PolarsError, OSError) as error:
        problems.add(FilePlace(path=path), f"This is not Parquet that can be read: {error}.")
