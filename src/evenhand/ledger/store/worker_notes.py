"""What the worker last said of each kind of its work, and when it was last there."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select, update

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerNote:
    sentence: str
    """Empty where all is well."""
    at: float


def leave_note(ledger: Ledger, work: str, sentence: str = "") -> None:
    table, said = schema.worker_notes, {"sentence": sentence, "at": time.time()}
    with ledger.writing() as connection:
        # Not deleted and inserted: on PostgreSQL two workers may leave one at once.
        ledger.insert_new(connection, table, [{"work": work, **said}])
        connection.execute(update(table).where(table.c.work == work).values(said))


def worker_notes(ledger: Ledger) -> Mapping[str, WorkerNote]:
    with ledger.reading() as connection:
        return {
            row.work: WorkerNote(sentence=row.sentence, at=row.at)
            for row in connection.execute(select(schema.worker_notes))
        }
