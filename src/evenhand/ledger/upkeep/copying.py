"""A ledger copied whole into another database, and images moved to another place: each part compared by its digest.

A copy is one transaction, or one file that gets its name at the end: whatever cuts it off, there is no half of it.
"""

import hashlib
import os
import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Engine,
    Float,
    Table,
    Text,
    func,
    insert,
    literal,
    literal_column,
    select,
    text,
    tuple_,
)
from sqlalchemy import type_coerce as as_type
from sqlalchemy.exc import DBAPIError

from evenhand.domain.identity import Json
from evenhand.files.private_files import make_durable, make_empty, make_folder, name_new
from evenhand.files.whole import UNFINISHED
from evenhand.images.places import Copied, copied
from evenhand.ledger.store import kept, schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.kept import DATABASE, Kept, noted
from evenhand.ledger.store.links import driver_of
from evenhand.ledger.store.opening import (
    LedgerError,
    engine_to_fill,
    explained,
    hold_to_make,
    refuse_way_out,
    server_engine,
    shown,
    sqlite_path,
    tables_in,
    unmoved,
    url_and_images,
)
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.tables import bring_to_head
from evenhand.ledger.upkeep.chain import Head, head_of

_ROWS = 500
"""Read and written at a time."""
_MOST = 1 << 256
_APART = (kept.files, kept.notes)
"""Tables that are copied as what they hold: in the other ledger it may lie elsewhere."""

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDigest:
    """What a table holds, the same in whatever database and order."""

    table: str
    rows: int
    digest: str

    def as_json(self) -> dict[str, Json]:
        return {"table": self.table, "rows": self.rows, "digest": self.digest}


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    source: str
    target: str
    tables: tuple[TableDigest, ...]
    """As they were read, and read again where they were written."""
    images: Copied
    submitted: Copied
    images_in: str
    head: Head

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.tables)

    @property
    def digest(self) -> str:
        """Of all tables together."""
        return hashlib.sha256(orjson.dumps([[one.table, one.rows, one.digest] for one in self.tables])).hexdigest()

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "from": self.source,
            "to": self.target,
            "rows": self.rows,
            "digest": self.digest,
            "tables": [one.as_json() for one in self.tables],
            "images": {"files": self.images.files, "bytes": self.images.size, "where": self.images_in},
            "submitted": {"files": self.submitted.files, "bytes": self.submitted.size},
            "chain": self.head.as_json(),
        }


def copy_ledger(source: Ledger, to: str, *, images: str | None = None, told: Told = lambda _: None) -> CopyReport:
    """Copies a ledger as it is at this moment, others may go on writing, to a URL where there is none yet.

    `images`: where those of the copy are to lie, if not where they usually do. Raises LedgerError and PlaceError; what
    was begun is then not there.
    """
    url, within = url_and_images(to)
    path = sqlite_path(url)
    beside = Path(".evenhand") if path is None else path.parent
    wanted = images or within
    word = None if wanted is None else kept.as_word(wanted, beside=None if path is None else beside)
    where = shown(url)
    with explained(where), _target(url) as connection, source.reading(apart=True) as reading, unmoved(reading):
        head = head_of(reading)
        tables = tuple(_copied_tables(reading, connection, told))
        if word is not None:
            connection.execute(insert(schema.meta), [{"name": kept.WORD, "value": word}])
        told("Copying images")
        places = kept.opened(DATABASE if word is None and path is None else word, _Within(connection, where), beside)
        done = _copied_files(source.places, places)
        _compare(tables, connection, told)
        _go_on_numbering(connection)
    return CopyReport(
        source=source.where,
        target=where,
        tables=tables,
        images=done[0],
        submitted=done[1],
        images_in=places.images.where,
        head=head,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where images lay, where they lie now, and what was copied."""

    source: str
    target: str
    images: Copied
    submitted: Copied


def move_images(ledger: Ledger, url: str) -> Move:
    """Copies images and submitted files to another place, which is put on record; the database gives up its own."""
    before = ledger.places
    on_server = ledger.engine.dialect.name != "sqlite"
    word = kept.as_word(url, beside=None if on_server else ledger.beside)
    after = kept.opened(DATABASE if word is None and on_server else word, ledger, ledger.beside)
    source, target, none = before.images.where, after.images.where, Copied(files=0, size=0)
    if after.word == before.word:
        return Move(source=source, target=target, images=none, submitted=none)
    images, submitted = _copied_files(before, after)
    kept.put_on_record(ledger, word)
    for place in (before.images, before.submitted) if before.word == DATABASE else ():
        for digest, _ in list(place.sizes()):
            place.remove(digest)
    return Move(source=source, target=target, images=images, submitted=submitted)


def _copied_files(before: Kept, after: Kept) -> tuple[Copied, Copied]:
    for name, target in after.notes.items():
        known = set(noted(target))
        if fresh := [line for line in noted(before.notes[name]) if line not in known]:
            target.add(fresh)
    one, other = (
        copied((digest for digest, _ in source.sizes()), source, target)
        for source, target in ((before.images, after.images), (before.submitted, after.submitted))
    )
    return one, other


class _Within:
    """A ledger that is being made: whatever is asked of it is a part of the one transaction."""

    def __init__(self, connection: Connection, where: str) -> None:
        self._connection = connection
        self.where = where

    @contextmanager
    def reading(self) -> Generator[Connection]:
        yield self._connection

    writing = reading


@contextmanager
def _target(url: str) -> Generator[Connection]:
    """A transaction on a new database with empty tables."""
    path = sqlite_path(url)
    if path is None:
        with closing_engine(server_engine(url)) as engine, engine.connect() as connection, connection.begin():
            hold_to_make(connection)
            if tables_in(connection):
                raise _not_empty(shown(url))
            _make_tables(connection)
            yield connection
        return
    if os.path.lexists(path):
        raise _not_empty(str(path))
    make_folder(path.parent)
    for name in (kept.IMAGES, kept.SUBMITTED):
        refuse_way_out(path.parent / name, within=path.parent)
    unfinished = path.with_name(f".evenhand-{secrets.token_hex(8)}{UNFINISHED}")
    make_empty(unfinished)
    try:
        with closing_engine(engine_to_fill(unfinished)) as engine, engine.connect() as connection, connection.begin():
            _make_tables(connection)
            yield connection
        make_durable(unfinished)
        name_new(unfinished, path)  # which refuses what came there meanwhile
        make_durable(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def closing_engine(engine: Engine) -> Generator[Engine]:
    try:
        yield engine
    finally:
        engine.dispose()


def _not_empty(where: str) -> LedgerError:
    return LedgerError(
        f"There is something at {where} already; name a new file or an empty database: a copy never overwrites what is "
        "there.",
        code="EH-LEDGER-EXISTS",
    )


def _make_tables(connection: Connection) -> None:
    bring_to_head(connection, None)
    connection.execute(schema.meta.delete())  # the copy is the same ledger: its words come with it


def _tables() -> list[Table]:
    return [table for table in schema.metadata.sorted_tables if table not in _APART]


def _copied_tables(source: Connection, target: Connection, told: Told) -> Iterator[TableDigest]:
    for number, table in enumerate(tables := _tables(), start=1):
        told(f"Copying table {number} of {len(tables)}, {table.name}")
        counted = _Counted(table)
        put = _putter(target, table)
        for rows in _read(source, table):
            counted.add(rows)
            put(rows)
        yield counted.digest()


def _compare(tables: Sequence[TableDigest], connection: Connection, told: Told) -> None:
    """Raises LedgerError where what was written is not what was read."""
    told("Comparing the copy")
    for read, table in zip(tables, _tables(), strict=True):
        counted = _Counted(table)
        for rows in _read(connection, table):
            counted.add(rows)
        if (written := counted.digest()) != read:
            raise LedgerError(
                f"The table {table.name} of the copy is not as it was read ({written.rows} rows, {read.rows} were "
                "read), so there is no copy. Run the same command again; where that does not help, see that the server "
                "is not set to round numbers (extra_float_digits).",
                code="EH-COPY-DIFFERS",
            )


def _read(connection: Connection, table: Table) -> Iterator[list[Any]]:
    """Rows as they are stored, a few hundred at a time, each after the last by its key; of SQLite by when they were
    written, as they lie together in the file, and in the copy too."""
    # The keys as they are stored: a type of ours would write them in another way than they were read.
    keys: list[ColumnElement[Any]] = [
        as_type(column, Text()) if isinstance(column.type, schema.FreeText) else column for column in table.primary_key
    ]
    if connection.dialect.name == "sqlite":
        keys = [literal_column("rowid", BigInteger)]
    width = len(table.columns)
    query = select(*table.columns, *keys).order_by(*keys).limit(_ROWS)
    if table is schema.meta:
        query = query.where(schema.meta.c.name != kept.WORD)  # of which each ledger has its own
    last: tuple[Any, ...] | None = None
    while True:
        following = query
        if last is not None:
            values = [literal(value, key.type) for value, key in zip(last, keys, strict=True)]
            following = query.where(tuple_(*keys) > tuple_(*values) if len(keys) > 1 else keys[0] > values[0])
        rows = [row for part in fetched(connection, following) for row in part]
        if rows:
            yield [row[:width] for row in rows]
        if len(rows) < _ROWS:
            return
        last = rows[-1][width:]


class _Counted:
    """The digest of a table's rows, which grows by adding theirs: no order is the same in two databases."""

    def __init__(self, table: Table) -> None:
        self._name = table.name
        columns = list(table.columns)
        self._floats = [place for place, column in enumerate(columns) if isinstance(column.type, Float)]
        self._truths = [place for place, column in enumerate(columns) if isinstance(column.type, Boolean)]
        self._rows = self._sum = 0

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        for row in rows:
            values = list(row)
            for place in self._floats:
                if values[place] is not None:
                    values[place] = float(values[place]).hex()
            for place in self._truths:
                if values[place] is not None:
                    values[place] = int(values[place])
            try:
                stored = orjson.dumps(values)
            except TypeError:
                raise LedgerError(
                    f"The table {self._name} holds a row that no version of Evenhand wrote, so it cannot be copied; "
                    "`evenhand ledger check` tells what was changed.",
                    code="EH-LEDGER-DAMAGED",
                ) from None
            self._sum = (self._sum + int.from_bytes(hashlib.sha256(stored).digest())) % _MOST
        self._rows += len(rows)

    def digest(self) -> TableDigest:
        return TableDigest(table=self._name, rows=self._rows, digest=f"{self._sum:064x}")


def _putter(connection: Connection, table: Table) -> Callable[[Sequence[Sequence[Any]]], None]:
    """What writes rows as they are stored, by the quickest way of the database."""
    quoted = connection.dialect.identifier_preparer.quote
    names = ", ".join(quoted(column.name) for column in table.columns)
    if (sqlite := driver_of(connection)) is not None:
        slots = ", ".join("?" for _ in table.columns)
        statement = f"INSERT INTO {quoted(table.name)} ({names}) VALUES ({slots})"  # noqa: S608  our own names
        return lambda rows: sqlite.executemany(statement, rows)
    truths = [place for place, column in enumerate(table.columns) if isinstance(column.type, Boolean)]
    driver: Any = connection.connection.dbapi_connection
    errors: Any = connection.dialect.dbapi
    statement = f"COPY {quoted(table.name)} ({names}) FROM STDIN"

    def put(rows: Sequence[Sequence[Any]]) -> None:
        try:
            with driver.cursor() as cursor, cursor.copy(statement) as copying:
                for row in rows:
                    values = list(row)
                    for place in truths:
                        values[place] = None if values[place] is None else bool(values[place])
                    copying.write_row(values)
        except errors.Error as error:
            raise DBAPIError("COPY", None, error) from error

    return put


def _go_on_numbering(connection: Connection) -> None:
    """A server numbers rows by a counter of its own, which copying does not move."""
    if connection.dialect.name == "sqlite":
        return
    for table in schema.metadata.sorted_tables:
        if "seq" in table.c and (last := connection.execute(select(func.max(table.c.seq))).scalar()):
            connection.execute(_SET, {"table": table.name, "last": last})


_SET = text("SELECT setval(pg_get_serial_sequence(:table, 'seq'), :last)")
