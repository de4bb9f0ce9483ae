"""Parquet files that are parts of one table: those of a folder, or those that a pattern names."""

import glob
import hashlib
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks.data_error import CELL, COLUMN, EMPTY, FORMAT, TWICE, TYPE, FilePlace, quoted
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.table_file import TableFile, table_file
from evenhand.format.words import counted

if TYPE_CHECKING:
    import polars as pl

_PATTERN = frozenset("*?[")
_PARQUET = ".parquet"
_WHOLE_IN_FRACTIONS = 2**53
_ONLY = "Parts of one table are Parquet files"


def is_parted(path: Path) -> bool:
    """Whether it is a folder, or a pattern and no file's name."""
    try:
        return path.is_dir() or (bool(_PATTERN & set(str(path))) and not path.exists())
    except OSError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    file: TableFile
    rows: int
    schema: "Mapping[str, pl.DataType]"
    stamp: tuple[int, ...]

    @property
    def path(self) -> Path:
        return self.file.path

    def read(self, columns: "Mapping[str, pl.DataType]", begin: int, rows: int) -> "pl.DataFrame":
        import polars as pl

        # Errors of what cannot be decoded reach Python in two kinds, and the second is no Exception.
        try:
            scanned = pl.scan_parquet(self.path, glob=False).slice(begin, rows)
            found = scanned.select([pl.col(name).cast(kind) for name, kind in columns.items()]).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            self.refuse_changed()
            why = str(error).partition("\n")[0]
            raise ExchangeError(f"{self.path}: {quoted(columns)} cannot be read: {why}.", code=FORMAT) from error
        if found.height != rows:
            self.refuse_changed()
            raise ExchangeError(f"{self.path}: {rows:,} rows were expected, and {found.height:,} read.", code=FORMAT)
        for name, kind in columns.items():
            if kind == pl.Float64 and not self.schema[name].is_float() and _is_rounded(found.get_column(name)):
                raise ExchangeError(
                    f"{self.path}: The column `{name}` holds whole numbers here that are no longer told apart as the "
                    "fractions of another part; write it in one type.",
                    code=TYPE,
                )
        return found

    def refuse_changed(self) -> None:
        """Raises ExchangeError where the file is not what it was when it was opened."""
        if _stamp(self.path) != self.stamp:
            raise ExchangeError(f"{self.path}: The file changed while it was read; rank it when it is whole.")


def _is_rounded(fractions: "pl.Series") -> bool:
    """Whether some are so large that several whole numbers become one."""
    return bool((fractions.abs() >= _WHOLE_IN_FRACTIONS).any())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartedSource(ColumnSource):
    """All parts as one table; a row that does not fit is told by its part and its row in that."""

    parts: "tuple[_Part, ...]"

    def fault(self, sentence: str, *, row: int | None = None, code: str | None = None) -> ExchangeError:
        if row is None:
            # Of a method of a class with slots, `super()` without arguments is of the class that was made before it.
            return ColumnSource.fault(self, sentence, code=code)
        left = (row if self.places is None else self.places[row - 1]) - 1
        for part in self.parts:
            if left < part.rows:
                place = FilePlace(path=part.path, row=left + 1)
                return ExchangeError(f"{place}: {sentence}", code=code or CELL)
            left -= part.rows
        return ColumnSource.fault(self, sentence, code=code)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """In the order of their names; all have the same columns."""

    path: Path
    """The folder or the pattern, as it was given."""
    each: tuple[_Part, ...]

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.each)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.each[0].schema)

    @property
    def copies(self) -> tuple[str, ...]:
        """Of parts with the same bytes as one before them, which that is."""
        first: dict[str, _Part] = {}
        return tuple(
            f"{self.name_of(part)} holds the same bytes as {self.name_of(other)}"
            for part in self.each
            if part.rows and (other := first.setdefault(part.file.digest, part)) is not part
        )

    def name_of(self, part: _Part) -> str:
        """From the folder that holds all of them."""
        return os.path.relpath(part.path, os.path.commonpath([one.path.parent for one in self.each]))

    @property
    def told_by_folders(self) -> tuple[str, ...]:
        """What folders called `NAME=VALUE`, as other programs cut a table, tell parts apart by and no column has."""
        told: dict[str, set[str]] = {}
        for part in self.each:
            for folder in part.path.parts[:-1]:
                name, is_told, value = folder.partition("=")
                if is_told and name not in self.names:
                    told.setdefault(name, set()).add(value)
        return tuple(sorted(name for name, values in told.items() if len(values) > 1))

    @property
    def file(self) -> TableFile:
        """The whole: its digest is of a list of the parts' digests and names, as `sha256sum` writes it."""
        listed = "".join(f"{part.file.digest}  {part.path.name}\n" for part in self.each)
        digest = hashlib.sha256(listed.encode()).hexdigest()
        return TableFile(path=self.path, held=None, kind=_PARQUET, separator=",", digest=digest)

    def refuse_changed(self) -> None:
        for part in self.each:
            part.refuse_changed()

    def whole(self) -> ColumnSource:
        import polars as pl

        def take(name: str) -> pl.Series:
            kind = {name: self.type_of(name)}
            return pl.concat([part.read(kind, 0, part.rows) for part in self.each]).to_series()

        return PartedSource(names=self.names, file=self.file, take=take, parts=self.each)

    def beginning(self, most: int) -> "Parts":
        """Itself, or where it has more rows than that the first of them, of as many parts."""
        if self.rows <= most:
            return self
        left, each = most, list[_Part]()
        for part in self.each:
            each.append(replace(part, rows=min(part.rows, left)))
            left -= each[-1].rows
            if not left:
                break
        return replace(self, each=tuple(each))

    def unread(self) -> ColumnSource:
        """The names of the columns alone."""

        def take(name: str) -> "pl.Series":
            raise ExchangeError(f"{self.path}: The column `{name}` cannot be read yet.")

        return ColumnSource(names=self.names, file=self.file, take=take)

    def slices(self, columns: Sequence[str], rows: int) -> "Iterator[tuple[int, ColumnSource]]":
        """So many rows of a part at a time, with the number of the part; parts without a row give none."""
        kinds = {name: self.type_of(name) for name in columns}
        for number, part in enumerate(self.each):
            for begin in range(0, part.rows, rows):
                many = min(rows, part.rows - begin)
                frame = part.read(kinds, begin, many)
                places = range(begin + 1, begin + many + 1)
                yield number, ColumnSource(names=self.names, file=part.file, take=frame.get_column, places=places)
            part.refuse_changed()

    def type_of(self, name: str) -> "pl.DataType":
        """Of a column in all parts. Raises ExchangeError where they do not agree."""
        import polars as pl

        found: pl.DataType = pl.Null()
        first = self.each[0]
        for part in self.each:
            kind = part.schema[name]
            kind = pl.String() if isinstance(kind, (pl.Categorical, pl.Enum)) else kind
            if kind in (pl.Null, found):
                continue
            if found == pl.Null:
                found, first = kind, part
            elif found.is_numeric() and kind.is_numeric():
                found = pl.Int64() if found.is_integer() and kind.is_integer() else pl.Float64()
            else:
                raise ExchangeError(
                    f"{part.path}: The column `{name}` holds {kind} here and {found} in {first.path.name}; write it in "
                    "one type.",
                    code=TYPE,
                )
        return found


def open_parts(path: Path) -> Parts:
    """Of a folder, or of a pattern. Raises ExchangeError where a file of it is no part of one table."""
    paths = _in_folder(path) if path.is_dir() else _of_pattern(path)
    each = tuple(map(_opened, paths))
    _refuse_twice(each)
    for part in each[1:]:
        _refuse_other_columns(each[0], part)
    return Parts(path=path, each=each)


def _in_folder(folder: Path) -> list[Path]:
    try:
        # What other tools leave beside the parts of a table begins so.
        found = sorted(one for one in folder.iterdir() if not one.name.startswith((".", "_")))
    except OSError as error:
        raise ExchangeError(f"{folder}: The folder cannot be read ({error.strerror}).") from error
    for one in found:
        if os.path.isdir(one):
            raise ExchangeError(
                f"{one}: This is a folder among the parts; a pattern names the parts of several folders, such as "
                f"'{folder}/**/*{_PARQUET}'."
            )
    if not found:
        raise ExchangeError(f"{folder}: No file in it is a part. {_ONLY}.", code=EMPTY)
    return found


def _of_pattern(pattern: Path) -> list[Path]:
    _refuse_circles(pattern)
    _refuse_unread_folders(pattern)
    found = _meant(pattern)
    files = [one for one in found if not os.path.isdir(one)]
    for one in found:
        if os.path.isdir(one) and one.suffix == _PARQUET:
            raise ExchangeError(f"{one}: This is a folder; the pattern '{one}/*{_PARQUET}' names the parts in it.")
    if not files:
        raise ExchangeError(f"{pattern}: No file's name fits this pattern.", code="EH-FILE-MISSING")
    return files


def _meant(pattern: Path) -> list[Path]:
    """As with a `.`, names that begin with `_` only where the pattern begins so itself."""
    named = [part for part in pattern.parts if part.startswith("_")]
    return sorted(
        path
        for path in map(Path, glob.glob(str(pattern), recursive=True))
        if all(any(fnmatch(part, one) for one in named) for part in path.parts if part.startswith("_"))
    )


def _refuse_circles(pattern: Path) -> None:
    """`**` follows links: two that lead back would be followed some 2^40 ways."""
    if "**" not in pattern.parts:
        return
    begun = Path(*pattern.parts[: pattern.parts.index("**")])
    walks = (os.walk(one, followlinks=True) for one in (_meant(begun) if _PATTERN & set(str(begun)) else [begun]))
    for folder, names, _ in itertools.chain.from_iterable(walks):
        for link in filter(os.path.islink, (os.path.join(folder, name) for name in names)):
            above = Path(os.path.abspath(link)).parents
            if os.path.realpath(link) in map(os.path.realpath, above):
                raise ExchangeError(
                    f"{link}: This link leads back to a folder above it, so that `**` comes to no end; take it away, "
                    "or name the folders."
                )


def _refuse_unread_folders(pattern: Path) -> None:
    """Parts in them would be left out without a word."""
    for depth, part in enumerate(pattern.parts):
        for one in _meant(Path(*pattern.parts[:depth])) if _PATTERN & set(part) else ():
            if os.path.isdir(one) and not os.access(one, os.R_OK | os.X_OK):
                raise ExchangeError(f"{one}: The folder cannot be read; the pattern may mean parts in it.")


def _opened(path: Path) -> _Part:
    import polars as pl

    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ExchangeError(f"{str(path)!r}: This name is not UTF-8; give the file another.", code=FORMAT) from None
    stamp = _stamp(path)
    if stamp and not path.is_file():
        raise ExchangeError(f"{path}: {_ONLY}, and this is no file; move it out of the way.", code=FORMAT)
    file = table_file(path)
    if file.kind != _PARQUET:
        raise ExchangeError(
            f"{path}: {_ONLY}, and this is {file.kind.removeprefix('.').upper()}; name the parts with a pattern, such "
            f"as '{path.parent}/*{_PARQUET}', or this file itself.",
            code=FORMAT,
        )
    if file.held is not None:
        raise ExchangeError(f"{path}: {_ONLY} that are not packed with gzip; unpack this one.", code=FORMAT)
    try:
        scanned = pl.scan_parquet(path, glob=False)
        schema = dict(scanned.collect_schema())
        rows = int(scanned.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ExchangeError(
            f"{path}: This is not Parquet that can be read: {error}. It may be cut short, or still be written.",
            code=FORMAT,
        ) from error
    return _Part(file=file, rows=rows, schema=schema, stamp=stamp)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        told = os.stat(path)
    except OSError:
        return ()
    return told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns


def _refuse_twice(parts: Sequence[_Part]) -> None:
    """Two names of one file would count its rows twice."""
    seen: dict[tuple[int, ...], _Part] = {}
    for part in parts:
        other = seen.setdefault(part.stamp[:2], part)
        if other is not part:
            raise ExchangeError(
                f"{part.path}: This is the same file as {other.path.name}, and its rows would count twice.", code=TWICE
            )


def _refuse_other_columns(first: _Part, part: _Part) -> None:
    lacking = [name for name in first.schema if name not in part.schema]
    beyond = [name for name in part.schema if name not in first.schema]
    if not lacking and not beyond:
        return
    told = [f"{counted(len(names), 'column')} {words} ({quoted(names)})"
            for names, words in ((lacking, "missing"), (beyond, "more")) if names]  # fmt: skip
    raise ExchangeError(
        f"{part.path}: The columns are not those of {first.path.name}: {' and '.join(told)}. Parts of one table have "
        "the same.",
        code=COLUMN,
    )
