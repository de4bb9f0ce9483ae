"""The statements of the busy path, each built once: SQLAlchemy takes longer to build one than SQLite to run it."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    LargeBinary,
    Table,
    Text,
    TypeDecorator,
    any_,
    bindparam,
    delete,
    select,
    text,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from evenhand.domain.verdict import CALL_FAILED
from evenhand.ledger.store import links, schema


class _Among(FunctionElement[Any]):
    """Of a column: whether it is among those of the parameter `keys`, a list."""

    # Not Boolean: of that SQLAlchemy would write `… = 1` for SQLite, which then looks at every row of the table.
    type = NullType()
    inherit_cache = True


def _among_keys(column: Column[str]) -> ColumnElement[bool]:
    return _Among(column)


class _JsonList(TypeDecorator[Sequence[str]]):
    """Texts, as SQLite's json_each takes them."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> str:  # noqa: ARG002
        return orjson.dumps(list(value or ())).decode()


@compiles(_Among)
def _in_json(element: _Among, compiler: SQLCompiler, **how: Any) -> str:
    """As one value: a statement of as many values as there are keys is put together and parsed anew each time."""
    (column,) = element.clauses
    keys = compiler.process(bindparam("keys", type_=_JsonList()), **how)
    return f"{compiler.process(column, **how)} IN (SELECT value FROM json_each({keys}))"  # noqa: S608  our own names


@compiles(_Among, "postgresql")
def _in_array(element: _Among, compiler: SQLCompiler, **how: Any) -> str:
    (column,) = element.clauses
    return compiler.process(column == any_(bindparam("keys", type_=ARRAY(Text))), **how)


_judgements, _calls, _claims = schema.judgements.c, schema.calls.c, schema.claims.c
_entries = schema.batch_entries.c

DECIDED = select(_judgements.trial).where(
    _among_keys(_judgements.trial),
    _judgements.reader == bindparam("reader"),
    _judgements.reason.is_(None) | _judgements.reason.not_in(CALL_FAILED),
)
REASONS = DECIDED.add_columns(_judgements.reason).order_by(_judgements.seq)
RESULTS_SINCE = (
    select(_judgements.trial, _judgements.run, _judgements.reason)
    .where(
        _among_keys(_judgements.trial),
        _judgements.seq > bindparam("since"),
        _judgements.reason.is_(None) | _judgements.reason.not_in(CALL_FAILED),
    )
    .order_by(_judgements.seq)
)
ASKED = select(_judgements.trial).where(_among_keys(_judgements.trial))
FAILED = select(_judgements.trial).where(_among_keys(_judgements.trial), _judgements.reason.in_(CALL_FAILED))
CALLS = select(schema.calls).where(_among_keys(_calls.key))
ANSWERED = select(_calls.key).where(_among_keys(_calls.key))
CLAIMS = select(schema.claims).where(_among_keys(_claims.what))
WAITING = select(_entries.call, _entries.batch, _entries.held).where(
    _among_keys(_entries.call), _entries.settled.is_(None)
)
"""Calls in batches that are not settled."""
_RELEASE = delete(schema.claims).where(_among_keys(_claims.what))
_RELEASE_OWN = _RELEASE.where(_claims.holder == bindparam("holder"))
_RELEASE_ONE = "DELETE FROM claims WHERE what = ? AND (holder = ? OR '' = ?)"


def release(connection: Connection, keys: Sequence[str], *, holder: str) -> int:
    """Ends the claims on these keys: the holder's own, or with '' whoever holds them. Returns how many there were."""
    if (driver := links.driver_of(connection)) is not None:
        # One short statement many times over: one with as many keys has to be put together anew each time.
        return driver.executemany(_RELEASE_ONE, [(key, holder, holder) for key in keys]).rowcount
    if holder:
        return connection.execute(_RELEASE_OWN, {"keys": keys, "holder": holder}).rowcount
    return connection.execute(_RELEASE, {"keys": keys}).rowcount


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Inserts the rows, all of the same columns, whose primary key is not there yet. Returns how many those were."""
    rows = numbered(connection, table, rows)
    names = [column.name for column in table.primary_key]
    if len(rows) > 1 and rows[0].keys() >= set(names):
        # Two runs on PostgreSQL that insert the same rows in different orders would wait for each other for ever.
        rows = sorted(rows, key=itemgetter(*names))
    return _insert(table, tuple(rows[0]), type(connection.dialect), True).run(connection, rows)


def insert_all(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Inserts the rows, all of the same columns, and returns their numbers where the table has such."""
    rows = numbered(connection, table, rows)
    _insert(table, tuple(rows[0]), type(connection.dialect), False).run(connection, rows)
    return [row["seq"] for row in rows] if "seq" in rows[0] else []


def numbered(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """With the next numbers, where the table has such: the database would not tell which it gave."""
    if "seq" not in table.c or "seq" in rows[0]:
        return rows
    if (driver := links.driver_of(connection)) is None:
        wanted = {"table": table.name, "rows": len(rows)}
        numbers = list(connection.execute(_NEXT_NUMBERS, wanted).scalars())
    else:
        (last,) = driver.execute(f"SELECT max(seq) FROM {table.name}").fetchone()  # noqa: S608  our own name
        numbers = itertools.count((last or 0) + 1)
    return [{**row, "seq": number} for row, number in zip(rows, numbers, strict=False)]


_NEXT_NUMBERS = text("SELECT nextval(pg_get_serial_sequence(:table, 'seq')) FROM generate_series(1, :rows)")


_COUNTED = {"preserve_rowcount": True}
"""Of rows that are put in SQLAlchemy does not say how many they were, unless it is asked to."""
_TOGETHER = 500
"""Rows that PostgreSQL gets at one time, as one text."""


class _Insert:
    """Compiled once. SQLite's driver gets the rows as tuples that are made here, PostgreSQL as one JSON text: a
    statement for each row costs both sides more than all that is in it."""

    def __init__(self, table: Table, columns: Sequence[str], dialect: Dialect, *, new: bool) -> None:
        if dialect.name == "postgresql":  # whose dialect no other ledger loads
            from sqlalchemy.dialects.postgresql import insert
        else:
            from sqlalchemy.dialects.sqlite import insert
        statement = insert(table)
        self._statement = statement.on_conflict_do_nothing() if new else statement
        self._text = str(self._statement.compile(dialect=dialect, column_keys=columns))
        # The table's order, which is the compiler's, not the rows' own.
        given = [column for column in table.columns if column.name in columns]
        self._names = [str(column.name) for column in given]
        self._given = _of_names(self._names)
        self._bounds = [
            (place, bound) for place, column in enumerate(given) if (bound := _bound(column, dialect)) is not None
        ]
        self._as_json = None
        if dialect.name == "postgresql" and not any(isinstance(column.type, LargeBinary) for column in given):
            self._as_json = _from_json(table, given, dialect, new=new)
        self._table = table
        self._shape = links.SHAPES.get(table)
        self._places = None if self._shape is None else _getter(self._shape, self._names)

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> int:
        """Returns how many were put in."""
        values = [self._values(row) for row in rows] if self._bounds else [self._given(row) for row in rows]
        if (driver := links.driver_of(connection)) is not None:
            new = driver.executemany(self._text, values).rowcount
        elif self._as_json is not None:
            new = sum(self._put(connection, self._as_json, part) for part in _parts(values))
        else:
            new = connection.execute(self._statement, rows, execution_options=_COUNTED).rowcount
        if self._places is not None:
            links.cover(connection, self._table, map(self._places, values), new=new)
        return new

    def _values(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        values = list(self._given(row))
        for place, bound in self._bounds:
            values[place] = bound(values[place])
        return tuple(values)

    def _put(self, connection: Connection, statement: str, values: Sequence[tuple[Any, ...]]) -> int:
        given = orjson.dumps([dict(zip(self._names, one, strict=True)) for one in values]).decode()
        return connection.exec_driver_sql(statement, {"rows": given}).rowcount


def _bound(column: Column[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """What makes a value what the driver takes; None where it takes it as it is."""
    if isinstance(column.type, schema.FreeText):
        return schema.escaped  # SQLAlchemy would put three calls around it
    return column.type.dialect_impl(dialect).bind_processor(dialect)


def _from_json(table: Table, columns: Sequence[Column[Any]], dialect: Dialect, *, new: bool) -> str:
    """Puts in what the parameter `rows` holds, a list of objects with the columns' names."""
    quoted = dialect.identifier_preparer.quote
    names = ", ".join(quoted(column.name) for column in columns)
    typed = ", ".join(f"{quoted(column.name)} {column.type.compile(dialect)}" for column in columns)
    rows = f"SELECT {names} FROM json_to_recordset(CAST(%(rows)s AS json)) AS given ({typed})"  # noqa: S608  our own names
    return f"INSERT INTO {quoted(table.name)} ({names}) {rows}{' ON CONFLICT DO NOTHING' if new else ''}"


def _parts(values: Sequence[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    return (values[start : start + _TOGETHER] for start in range(0, len(values), _TOGETHER))


def _of_names(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    if len(names) == 1:
        (name,) = names
        return lambda row: (row[name],)
    return itemgetter(*names)


def _getter(shape: links.RowShape, names: Sequence[str]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Of a row's values those that its token covers; a column that was not given holds nothing."""
    places = [names.index(column.name) if column.name in names else None for column in shape.columns]
    if None in places or len(places) == 1:
        return lambda values: tuple([None if place is None else values[place] for place in places])
    return itemgetter(*places)


@lru_cache(maxsize=128)
def _insert(table: Table, columns: tuple[str, ...], kind: type[Dialect], new: bool) -> _Insert:
    """The same for every ledger of a kind of database: each engine has a dialect of its own."""
    return _Insert(table, columns, kind(), new=new)
