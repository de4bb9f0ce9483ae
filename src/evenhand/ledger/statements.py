"""The statements of the busy path, each built once: SQLAlchemy takes longer to build one than SQLite to run it."""

from functools import cache

from sqlalchemy import Column, ColumnElement, Table, bindparam, delete, insert, select
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
FAILED = select(_judgements.trial).where(_among_keys(_judgements.trial), _judgements.reason.in_(CALL_FAILED))
CALLS = select(schema.calls).where(_among_keys(_calls.key))
ANSWERED = select(_calls.key).where(_among_keys(_calls.key))
CLAIMS = select(schema.claims).where(_among_keys(_claims.what))
RELEASE = delete(schema.claims).where(_among_keys(_claims.what))
JUDGE = insert(schema.judgements)


@cache
def insert_new(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Inserts the rows whose primary key is not there yet."""
    if dialect == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()
