"""The statements of the busy path, each built once: SQLAlchemy takes longer to build one than SQLite to run it."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Dialect, Table, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.domain.verdict import CALL_FAILED
from evenhand.ledger import schema


def _among_keys(column: Column[str]) -> ColumnElement[bool]:
    """Filled at execution by the parameter `keys`, a list."""
    return column.in_(bindparam("keys", expanding=True))


_judgements, _calls, _claims = schema.judgements.c, schema.calls.c, schema.claims.c

DECIDED = select(_judgements.trial).where(
    _among_keys(_judgements.trial),
    _judgements.reader == bindparam("reader"),
    _judgements.reason.is_(None) | _judgements.reason.not_in(CALL_FAILED),
)
REASONS = DECIDED.add_columns(_judgements.reason).order_by(_judgements.seq)
ASKED = select(_judgements.trial).where(_among_keys(_judgements.trial))
FAILED = select(_judgements.trial).where(_among_keys(_judgements.trial), _judgements.reason.in_(CALL_FAILED))
CALLS = select(schema.calls).where(_among_keys(_calls.key))
ANSWERED = select(_calls.key).where(_among_keys(_calls.key))
CLAIMS = select(schema.claims).where(_among_keys(_claims.what))
_RELEASE = delete(schema.claims).where(_among_keys(_claims.what))
_RELEASE_OWN = _RELEASE.where(_claims.holder == bindparam("holder"))


def release(connection: Connection, keys: Sequence[str], *, holder: str) -> None:
    """Ends the claims on these keys: the holder's own, or with '' whoever holds them."""
    if holder:
        connection.execute(_RELEASE_OWN, {"keys": keys, "holder": holder})
    else:
        connection.execute(_RELEASE, {"keys": keys})


def insert_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Inserts the rows, all of the same columns, whose primary key is not there yet."""
    names = [column.name for column in table.primary_key]
    if len(rows) > 1 and rows[0].keys() >= set(names):
        # Two runs on PostgreSQL that insert the same rows in different orders would wait for each other for ever.
        rows = sorted(rows, key=itemgetter(*names))
    _insert(table, tuple(rows[0]), connection.dialect).run(connection, rows)


class _Insert:
    """Compiled once; where the driver takes tuples they are made here, in half the time of SQLAlchemy's own way."""

    def __init__(self, table: Table, columns: Sequence[str], dialect: Dialect) -> None:
        make = postgresql.insert if dialect.name == "postgresql" else sqlite.insert
        self._statement = make(table).on_conflict_do_nothing()
        self._text = str(self._statement.compile(dialect=dialect, column_keys=columns))
        # The table's order, which is the compiler's, not the rows' own.
        self._columns = [
            (column.name, column.type.dialect_impl(dialect).bind_processor(dialect))
            for column in table.columns
            if column.name in columns
        ]

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        if not connection.dialect.positional:
            connection.execute(self._statement, rows)
            return
        values = [
            tuple([row[name] if bound is None else bound(row[name]) for name, bound in self._columns]) for row in rows
        ]
        connection.exec_driver_sql(self._text, values)


@lru_cache(maxsize=64)
def _insert(table: Table, columns: tuple[str, ...], dialect: Dialect) -> _Insert:
    return _Insert(table, columns, dialect)
