"""Batches on record: which calls are waited for where, and what is set aside for them until they are settled.

A batch holds its dollars itself, in a reservation of its own: whoever sent it may be killed, and nothing that will be
collected later counts as cut off. A call is settled in the commit that puts its reply, or its failure, on record.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, insert, select, text, update

from evenhand.ledger.store import schema, statements
from evenhand.ledger.store.budgets import BATCH_HOLDER, BudgetAccountOnDisk
from evenhand.ledger.store.claims import claim_one, claim_within, still_held
from evenhand.ledger.store.faults import until_made
from evenhand.ledger.store.links import mark
from evenhand.ledger.store.record import Ledger, chunks

_batches, _entries, _reservations = schema.batches.c, schema.batch_entries.c, schema.reservations.c

OVER = "over"
"""The state of a batch of which nothing is to come: collected, refused, or sent anew in another."""
DROPPED = "dropped"
"""The state of one whose calls are to be sent anew."""
UNSENT = ("uploading", "uploaded", DROPPED)
_BEGINNING = 7_204_118_906_557_310
"""PostgreSQL's lock of whoever begins a batch: of two who begin one with the same call, the later sees the other's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOnRecord:
    id: str
    endpoint: str
    wire: str
    run: str
    state: str
    """uploading, uploaded, creating, created, dropped, over."""
    file: str | None
    """What the provider calls the uploaded requests."""
    name: str | None
    """What the provider calls the batch."""
    entries: int
    done: int | None
    """Answered, when the provider was asked last."""
    note: str | None
    at: float
    changed: float
    expires: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEntry:
    batch: str
    held: int
    """Billionths of a dollar."""


@until_made
def open_batches(ledger: Ledger, *, endpoint: str | None = None) -> list[BatchOnRecord]:
    """Those that calls are waited for of, oldest first; all, or those of one endpoint identity."""
    query = _waited_for() if endpoint is None else _waited_for().where(_batches.endpoint == endpoint)
    with ledger.reading() as connection:
        return [_batch(row) for row in connection.execute(query)]


@until_made
def batches_of_runs(ledger: Ledger, runs: Iterable[str]) -> dict[str, list[BatchOnRecord]]:
    """By run, those that calls are waited for of, oldest first."""
    found: dict[str, list[BatchOnRecord]] = {}
    with ledger.reading() as connection:
        for some in chunks(runs):
            for row in connection.execute(_waited_for().where(_batches.run.in_(some))):
                found.setdefault(row.run, []).append(_batch(row))
    return found


@until_made
def names_taken(ledger: Ledger, *, endpoint: str) -> set[str]:
    """What the provider calls those of its batches that are on record."""
    query = select(_batches.name).where(_batches.endpoint == endpoint, _batches.name.is_not(None))
    with ledger.reading() as connection:
        return set(connection.execute(query).scalars())


@until_made
def open_calls(ledger: Ledger, batch: str) -> set[str]:
    """The keys that are waited for."""
    query = select(_entries.call).where(_entries.batch == batch, _entries.settled.is_(None))
    with ledger.reading() as connection:
        return set(connection.execute(query).scalars())


@until_made
def open_entries(ledger: Ledger, calls: Iterable[str]) -> dict[str, OpenEntry]:
    """By key, where a call is waited for."""
    found: dict[str, OpenEntry] = {}
    with ledger.reading() as connection:
        for some in chunks(calls):
            for row in connection.execute(statements.WAITING, {"keys": some}):
                found[row.call] = OpenEntry(batch=row.batch, held=row.held)
    return found


@until_made
def begin_batch(
    ledger: Ledger,
    row: Mapping[str, Any],
    held: Mapping[str, int],
    *,
    purse: BudgetAccountOnDisk | None,
    holder: str,
) -> set[str]:
    """Puts a batch on record with its calls, each with what was set aside for it; the holder sees to it. Or returns
    those of the calls that are on record by now, or wait in another batch, and puts nothing there.

    What a call holds already, in a batch that the holder sends anew, goes with it; the rest comes out of `purse`.
    """
    spare = 0 if purse is None else purse.spare()
    try:
        elsewhere, handed = _begin(ledger, row, held, purse=purse, holder=holder, spare=spare)
    except Exception:
        if purse is not None:
            purse.unbind(spare, 0)
        raise
    if purse is None:
        return elsewhere
    if elsewhere:
        purse.unbind(spare, 0)
    else:
        purse.handed_over(handed + spare)
    return elsewhere


def _begin(
    ledger: Ledger,
    row: Mapping[str, Any],
    held: Mapping[str, int],
    *,
    purse: BudgetAccountOnDisk | None,
    holder: str,
    spare: int,
) -> tuple[set[str], int]:
    """The calls that are elsewhere, and what came out of `purse`."""
    now = time.time()
    with ledger.writing() as connection:
        if elsewhere := _elsewhere(connection, list(held), holder):
            return elsewhere, 0
        mark(connection)
        claim_within(ledger, connection, _claim(row["id"]), holder=holder)
        before = _take_over(connection, list(held), now)
        fresh = {call: most for call, most in held.items() if call not in before}
        kept = fresh | before
        connection.execute(insert(schema.batches), [{**row, "entries": len(held), "at": now, "changed": now}])
        entries = [{"batch": row["id"], "call": call, "held": most, "settled": None} for call, most in kept.items()]
        ledger.insert_new(connection, schema.batch_entries, entries)
        if purse is not None:
            if total := sum(kept.values()):
                holds = {"holder": f"{BATCH_HOLDER}{row['id']}", "budget": purse.name, "run": row["run"]}
                connection.execute(insert(schema.reservations), [{**holds, "held": total, "until": now}])
            purse.hand_over(connection, sum(fresh.values()), spare=spare)
    return set(), sum(fresh.values())


@until_made
def take_batch(ledger: Ledger, batch: str, *, holder: str) -> tuple[BatchOnRecord, set[str]] | None:
    """The batch as it stands now, with the keys that are waited for; None where another live run sees to it. From here
    on the holder does."""
    if not claim_one(ledger, _claim(batch), holder=holder):
        return None
    with ledger.reading() as connection:
        row = connection.execute(select(schema.batches).where(_batches.id == batch)).one()
    return _batch(row), open_calls(ledger, batch)


@until_made
def change_batch(ledger: Ledger, batch: str, values: Mapping[str, Any], *, holder: str) -> bool:
    """False, and nothing is changed, where the holder does not see to it any more."""
    with ledger.writing() as connection:
        if not still_held(connection, _claim(batch), holder=holder):
            return False
        mark(connection)
        changed = {**values, "changed": time.time()}
        connection.execute(update(schema.batches).where(_batches.id == batch).values(**changed))
    return True


@until_made
def close_batch(ledger: Ledger, batch: str, *, holder: str, note: str) -> bool:
    """Nothing is waited for any more, and nothing set aside for it. False as `change_batch`."""
    with ledger.writing() as connection:
        if not still_held(connection, _claim(batch), holder=holder):
            return False
        _close(connection, batch, note)
    return True


@until_made
def close_unsent(ledger: Ledger, batch: str, *, holder: str) -> bool:
    """Closes a batch that was left before it was made; False where it is another's, or may have been made."""
    with ledger.writing() as connection:
        if not claim_within(ledger, connection, _claim(batch), holder=holder):
            return False
        unsent = select(_batches.id).where(_batches.id == batch, _batches.state.in_(UNSENT))
        if connection.execute(unsent).first() is None:
            return False
        _close(connection, batch, "It was never sent.")
    return True


def not_open(connection: Connection, by_batch: Mapping[str, Sequence[str]]) -> set[str]:
    """Those of the calls that are settled in their batch; the others nobody else settles until the transaction ends."""
    found: set[str] = set()
    for batch, calls in sorted(by_batch.items()):
        found |= set(calls).difference(connection.execute(_locked(calls, batch)).scalars())
    return found


def settle(connection: Connection, batch: str, calls: Sequence[str]) -> None:
    """These calls of the batch are on record with this transaction: what was set aside for them there is free again.
    Where another run has sent one of them again since, it waits in that batch as before."""
    rows = connection.execute(_locked(calls, batch)).all()
    if not rows:
        return
    own = (_entries.batch == batch, _entries.call.in_(calls), _entries.settled.is_(None))
    connection.execute(update(schema.batch_entries).where(*own).values(settled=time.time()))
    # Or of two who settle the last two calls of it neither would see that they were the last.
    connection.execute(select(_batches.id).where(_batches.id == batch).with_for_update())
    if held := sum(row.held for row in rows):
        _give_back(connection, batch, held)
    left = select(func.count()).where(_entries.batch == batch, _entries.settled.is_(None))
    if not connection.execute(left).scalar():
        over = {"state": OVER, "changed": time.time()}
        connection.execute(update(schema.batches).where(_batches.id == batch).values(**over))


def _close(connection: Connection, batch: str, note: str) -> None:
    left = select(_entries.call).where(_entries.batch == batch, _entries.settled.is_(None))
    for some in chunks(list(connection.execute(left).scalars())):
        settle(connection, batch, some)
    values = {"state": OVER, "changed": time.time(), "note": note}
    connection.execute(update(schema.batches).where(_batches.id == batch).values(**values))


def _claim(batch: str) -> str:
    return f"batch {batch}"


def _elsewhere(connection: Connection, calls: list[str], holder: str) -> set[str]:
    """Those that are answered, or wait in a batch that the holder does not send anew."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:ours)"), {"ours": _BEGINNING})
    found: set[str] = set()
    for some in chunks(calls):
        found |= set(connection.execute(statements.ANSWERED, {"keys": some}).scalars())
        rows = connection.execute(_open(some)).all()
        own = {batch for batch in {row.batch for row in rows} if _is_dropped(connection, batch, holder)}
        found |= {row.call for row in rows if row.batch not in own}
    return found


def _is_dropped(connection: Connection, batch: str, holder: str) -> bool:
    state = connection.execute(select(_batches.state).where(_batches.id == batch)).scalar()
    return state == DROPPED and still_held(connection, _claim(batch), holder=holder)


def _take_over(connection: Connection, calls: list[str], now: float) -> dict[str, int]:
    """By key, what calls hold in batches that are sent anew; they hold it there no more."""
    found: dict[str, int] = {}
    for some in chunks(calls):
        rows = connection.execute(_locked(some)).all()
        for batch in {row.batch for row in rows}:
            own = {row.call: row.held for row in rows if row.batch == batch}
            found |= own
            _hold_less(connection, batch, sum(own.values()))
        taken = _entries.call.in_(some)
        connection.execute(update(schema.batch_entries).where(taken, _entries.settled.is_(None)).values(settled=now))
    return found


def _give_back(connection: Connection, batch: str, held: int) -> None:
    holder = _reservations.holder == f"{BATCH_HOLDER}{batch}"
    budget = connection.execute(select(_reservations.budget).where(holder)).scalar()
    _hold_less(connection, batch, held)
    own = schema.budgets.c.name == budget
    connection.execute(update(schema.budgets).where(own).values(taken=schema.budgets.c.taken - held))


def _hold_less(connection: Connection, batch: str, held: int) -> None:
    holder = _reservations.holder == f"{BATCH_HOLDER}{batch}"
    connection.execute(update(schema.reservations).where(holder).values(held=_reservations.held - held))
    connection.execute(delete(schema.reservations).where(holder, _reservations.held <= 0))


def _waited_for() -> Select[Any]:
    waiting = select(_entries.batch).where(_entries.settled.is_(None))
    return select(schema.batches).where(_batches.id.in_(waiting), _batches.state != OVER).order_by(_batches.at)


def _open(calls: Sequence[str]) -> Any:
    where: ColumnElement[bool] = _entries.call.in_(calls)
    return select(_entries.call, _entries.batch, _entries.held).where(where, _entries.settled.is_(None))


def _locked(calls: Sequence[str], batch: str | None = None) -> Any:
    """Nobody else settles them until the transaction ends: on PostgreSQL two may look at one moment."""
    found = _open(calls) if batch is None else _open(calls).where(_entries.batch == batch)
    return found.order_by(_entries.batch, _entries.call).with_for_update()


def _batch(row: Row[Any]) -> BatchOnRecord:
    return BatchOnRecord(**{column.name: getattr(row, column.name) for column in schema.batches.columns})
