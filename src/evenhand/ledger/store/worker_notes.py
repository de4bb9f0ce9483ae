"""What the worker last said of each kind of its work, and when it was last there."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import delete, insert, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerNote:
    sentence: str
    """Empty where all is well."""
    at: float


def leave_note(ledger: Ledger, work: str, sentence: str = "") -> None:
    table = schema.worker_notes
    with ledger.writing() as connection:
        connection.execute(delete(table).where(table.c.work == work))
        connection.execute(insert(table), [{"work": work, "sentence": sentence, "at": time.time()}])


def worker_notes(ledger: Ledger) -> Mapping[str, WorkerNote]:
    with ledger.reading() as connection:
        return {
            row.work: WorkerNote(sentence=row.sentence, at=row.at)
            for row in connection.execute(select(schema.worker_notes))
        }
