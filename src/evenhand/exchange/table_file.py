"""A file that holds a table: its bytes, its format, its separator, and on which line a row stands."""

import csv
import hashlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from evenhand.benchmarks.data_error import FORMAT, no_such_file
from evenhand.benchmarks.files.rows import GZIP, READERS, separator, unpacked, unpacked_name
from evenhand.exchange.errors import ExchangeError

STDIN = "-"

_KINDS = {kind: kind for kind in READERS} | {".ndjson": ".jsonl"}
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_BEGINNING = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableFile:
    path: Path
    """As messages name it."""
    held: bytes | None
    """What could be read only once, or had to be unpacked; None: it stands in the file at `path`."""
    kind: str
    """A suffix that says the format."""
    separator: str
    """Of CSV and TSV."""
    digest: str
    """SHA-256 of the file as it was given."""

    def at_once(self) -> Path | io.BytesIO:
        return self.path if self.held is None else io.BytesIO(self.held)

    def open(self) -> BinaryIO:
        return self.path.open("rb") if self.held is None else io.BytesIO(self.held)

    def read(self) -> bytes:
        return self.path.read_bytes() if self.held is None else self.held

    def line_of(self, row: int) -> int | None:
        """The line on which a row of a text file begins; both count from 1."""
        if self.kind == ".jsonl":
            return self._jsonl_line(row)
        if self.kind not in _SEPARATORS:
            return None
        with io.TextIOWrapper(self.open(), encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=self.separator)
            seen, line = -1, 1
            for cells in reader:
                seen += bool(cells)
                if seen == row and cells:
                    return line
                line = reader.line_num + 1
        return None

    def _jsonl_line(self, row: int) -> int | None:
        seen = 0
        with self.open() as file:
            for line, raw in enumerate(file, start=1):
                seen += bool(raw.strip())
                if seen == row:
                    return line
        return None


def table_file(path: Path) -> TableFile:
    """`-` is the standard input. Raises ExchangeError where there is nothing to be read."""
    if str(path) == STDIN:
        return _of_bytes(Path("standard input"), sys.stdin.buffer.read(), suffix="")
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            # A pipe gives its bytes once, and they are looked at more often than that.
            return _of_bytes(path, path.read_bytes(), suffix=unpacked_name(path).suffix)
        with path.open("rb") as file:
            beginning = file.read(_BEGINNING)
            file.seek(0)
            if beginning.startswith(GZIP):
                return _of_bytes(path, file.read(), suffix=unpacked_name(path).suffix)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise ExchangeError(f"{path}: {no_such_file(path)}", code="EH-FILE-MISSING") from error
    except IsADirectoryError as error:
        raise ExchangeError(f"{path}: This is a folder; name the file itself.") from error
    except OSError as error:
        raise ExchangeError(f"{path}: The file cannot be read ({error.strerror}).") from error
    kind = _kind(unpacked_name(path).suffix, beginning)
    return TableFile(path=path, held=None, kind=kind, separator=_separator(kind, beginning), digest=digest)


def _of_bytes(path: Path, given: bytes, *, suffix: str) -> TableFile:
    try:
        data = unpacked(given)
    except ValueError as error:
        raise ExchangeError(f"{path}: {error}", code=FORMAT) from error
    kind = _kind(suffix, data[:_BEGINNING])
    separator = _separator(kind, data[:_BEGINNING])
    return TableFile(path=path, held=data, kind=kind, separator=separator, digest=hashlib.sha256(given).hexdigest())


def _kind(suffix: str, beginning: bytes) -> str:
    """By the suffix, else by how the file begins."""
    if suffix.lower() in _KINDS:
        return _KINDS[suffix.lower()]
    if beginning.startswith(b"PAR1"):
        return ".parquet"
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"[", b"{"):
        return ".json" if text[:1] == b"[" else ".jsonl"
    return ".tsv" if b"\t" in text.split(b"\n", 1)[0] else ".csv"


def _separator(kind: str, beginning: bytes) -> str:
    return separator(beginning.decode("utf-8", "replace"), usual=_SEPARATORS.get(kind, ","))
