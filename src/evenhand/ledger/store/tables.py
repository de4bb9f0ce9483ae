"""Makes the tables of a new ledger, and brings those of an older one up to date.

Every change so far has added tables, columns that may be empty, and indexes: what `schema` has and the ledger has not
is made. What has to be moved as well is a step of its own.
"""

import json
import secrets
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, insert, inspect, select, text, update
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.schema import CreateColumn

from evenhand.ledger.store import links, schema, submission_schema

HEAD = "0014"
"""The version of the tables that this Evenhand writes, compared as text. Raise it with every change of the schema."""

_FIRST_WITH_LINKS = "0012"


@cache
def _statements(kind: type[Dialect]) -> tuple[str, ...]:
    """That make every table and index of a new ledger: SQLAlchemy takes longer to write them than SQLite to obey."""
    dialect = kind()
    said: list[str] = []

    def note(statement: Any, *_: Any, **__: Any) -> None:
        said.append(str(statement.compile(dialect=dialect)))

    schema.metadata.create_all(MockConnection(dialect, note), checkfirst=False)
    return tuple(said)


def bring_to_head(connection: Connection, before: str | None) -> None:
    """`before`: the tables' version; None of a ledger that is made. In a transaction that writes."""
    if before is None:
        # SQLAlchemy would take as long over them as SQLite.
        driver = links.driver_of(connection)
        for statement in _statements(type(connection.dialect)):
            if driver is None:
                connection.exec_driver_sql(statement)
            else:
                driver.execute(statement)
        # The name that older versions of Evenhand look for; they refuse what is newer than they are.
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
    else:
        schema.metadata.create_all(connection)
        _add_columns(connection)
        _add_indexes(connection)
        for version, step in _STEPS:
            if before < version:
                step(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": HEAD})
    _first_words(connection)
    if before is not None and before < _FIRST_WITH_LINKS:
        links.cover_what_is_there(connection)


def _add_columns(connection: Connection) -> None:
    there = inspect(connection)
    for table in schema.metadata.sorted_tables:
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                words = CreateColumn(column).compile(dialect=connection.dialect)
                connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {words}"))


def _add_indexes(connection: Connection) -> None:
    for table in schema.metadata.sorted_tables:
        for index in table.indexes:
            index.create(connection, checkfirst=True)


def _first_words(connection: Connection) -> None:
    known = set(connection.execute(select(schema.meta.c.name)).scalars())
    fresh: dict[str, Any] = {
        "fence_secret": secrets.token_hex(32),
        "ledger_id": secrets.token_hex(8),
        "signing_key": secrets.token_hex(32),
    }
    rows = [{"name": name, "value": value} for name, value in fresh.items() if name not in known]
    if rows:
        connection.execute(insert(schema.meta), rows)


def _move_receipts(connection: Connection) -> None:
    """Out of the events, which pages read often, into a table of their own."""
    events, receipts = submission_schema.submission_events, submission_schema.receipts
    judged = select(events.c.seq, events.c.submission).where(events.c.kind == "judged")
    for event, submission in connection.execute(judged).all():
        said = json.loads(connection.execute(select(events.c.content).where(events.c.seq == event)).scalar_one())
        receipt = said["receipt"]
        row = {"event": event, "submission": submission, "content": _canonical(receipt)}
        connection.execute(insert(receipts), [row])
        said["receipt"] = {name: receipt[name] for name in ("row", "moved", "study") if name in receipt}
        connection.execute(update(events).where(events.c.seq == event).values(content=_canonical(said)))


def _canonical(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _charge_runs(connection: Connection) -> None:
    connection.execute(
        text("INSERT INTO charges (run, usd) SELECT run, sum(cost_usd) FROM calls WHERE cost_usd > 0 GROUP BY run")
    )


def _number_replicates(connection: Connection) -> None:
    connection.execute(text("UPDATE people_places SET replicate = 0 WHERE person IS NOT NULL"))


_STEPS = (("0008", _move_receipts), ("0009", _charge_runs), ("0010", _number_replicates))
"""What is moved besides, in order, each with the version that it came with."""
