"""What the owner of a ledger made of benchmarks: which are opened, so that everybody may see their captions, references
and judges' words, and which grew here."""

import time

from sqlalchemy import func, select, update

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger


def open_benchmark(ledger: Ledger, data: str, *, by: str | None) -> None:
    """`data` is the digest of its data; opening again is no change."""
    table = schema.opened_benchmarks
    with ledger.writing() as connection:
        row = {"benchmark": data, "opened_by": by, "at": time.time()}
        ledger.insert_new(connection, table, [row])
        again = update(table).where(table.c.benchmark == data, table.c.closed.is_not(None))
        connection.execute(again.values(closed=None, opened_by=by, at=time.time()))


def close_benchmark(ledger: Ledger, data: str) -> None:
    """What everybody has seen of it until now stays known."""
    table = schema.opened_benchmarks
    with ledger.writing() as connection:
        last = connection.execute(select(func.max(schema.judgements.c.seq))).scalar() or 0
        is_open = update(table).where(table.c.benchmark == data, table.c.closed.is_(None))
        connection.execute(is_open.values(closed=time.time(), known=last))


def opened_benchmarks(ledger: Ledger) -> set[str]:
    table = schema.opened_benchmarks
    with ledger.reading() as connection:
        return set(connection.execute(select(table.c.benchmark).where(table.c.closed.is_(None))).scalars())


def once_opened(ledger: Ledger) -> dict[str, int]:
    """By benchmark that was open and closed again, up to which judgement everybody has seen what is in it."""
    table = schema.opened_benchmarks
    with ledger.reading() as connection:
        known = select(table.c.benchmark, table.c.known).where(table.c.known.is_not(None))
        return dict(connection.execute(known).all())


def grew_here(ledger: Ledger, name: str) -> bool:
    """Whether people let a benchmark of this name grow, as VisIT-Bench did."""
    table = schema.growing
    with ledger.reading() as connection:
        return connection.execute(select(table.c.id).where(table.c.name == name)).first() is not None
