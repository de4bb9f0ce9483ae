"""What the owner of a ledger made of benchmarks: which are opened, so that everybody may see their captions, references
and judges' words, and which grew here."""

import time

from sqlalchemy import delete, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger


def open_benchmark(ledger: Ledger, data: str, *, by: str | None) -> None:
    """`data` is the digest of its data; opening again is no change."""
    with ledger.writing() as connection:
        row = {"benchmark": data, "opened_by": by, "at": time.time()}
        ledger.insert_new(connection, schema.opened_benchmarks, [row])


def close_benchmark(ledger: Ledger, data: str) -> None:
    table = schema.opened_benchmarks
    with ledger.writing() as connection:
        connection.execute(delete(table).where(table.c.benchmark == data))


def opened_benchmarks(ledger: Ledger) -> set[str]:
    with ledger.reading() as connection:
        return set(connection.execute(select(schema.opened_benchmarks.c.benchmark)).scalars())


def grew_here(ledger: Ledger, name: str) -> bool:
    """Whether people let a benchmark of this name grow, as VisIT-Bench did."""
    table = schema.growing
    with ledger.reading() as connection:
        return connection.execute(select(table.c.id).where(table.c.name == name)).first() is not None
