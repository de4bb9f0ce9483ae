"""What people did and what was refused, line after line; lines are added and never changed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger

_LONGEST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent:
    what: str
    """A short name: `invited`, `refused: form token`."""
    person: str | None = None
    address: str = ""
    detail: str = ""
    at: float = 0.0
    """Seconds since the epoch; set when it is written."""
    seq: int = 0


def write_down(ledger: Ledger, *events: LogEvent) -> None:
    with ledger.writing() as connection:
        write_down_within(connection, *events)


def write_down_within(connection: Connection, *events: LogEvent) -> None:
    """Together with what it tells of, so that both are on disk at once."""
    rows = [
        {
            "at": time.time(),
            "what": one.what,
            "person": one.person,
            "address": one.address[:_LONGEST],
            "detail": one.detail[:_LONGEST],
        }
        for one in events
    ]
    connection.execute(insert(schema.audit_log), rows)


def events(ledger: Ledger, *, before: int | None = None, most: int = 100) -> Sequence[LogEvent]:
    """The newest first; `before` a sequence number."""
    table = schema.audit_log
    query = select(table).order_by(table.c.seq.desc()).limit(most)
    if before is not None:
        query = query.where(table.c.seq < before)
    with ledger.reading() as connection:
        return [
            LogEvent(what=row.what, person=row.person, address=row.address, detail=row.detail, at=row.at, seq=row.seq)
            for row in connection.execute(query)
        ]
