"""Batches on PostgreSQL, where two may look at one row at one moment: claimed, handed over and settled once."""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from evenhand.engine.run.budget import Budget
from evenhand.ledger.store import schema
from evenhand.ledger.store.batches import batches_of_runs, begin_batch, open_batches, open_entries, settle
from evenhand.ledger.store.claims import claim_one, holder_name
from evenhand.ledger.store.record import Ledger
from tests.batch_server import Batching, BatchServer
from tests.engine.test_batches import TRIALS, Post
from tests.engine.test_batches_attacked import all_once
from tests.ledger.test_batches import HOLDER, purse_of, row, settled, taken
from tests.ledger.test_postgresql import SECONDS, ledger, server

pytestmark = pytest.mark.slow
__all__ = ["ledger", "server"]


BLOCKED = text("SELECT count(*) FROM pg_locks WHERE NOT granted")


def until_blocked(ledger: Ledger) -> None:
    """Somebody waits for somebody else."""
    deadline = time.monotonic() + SECONDS
    while True:
        with ledger.reading() as connection:
            if connection.execute(BLOCKED).scalar_one():
                return
        assert time.monotonic() < deadline, "nobody waits"
        time.sleep(0.01)


@contextmanager
def settling(ledger: Ledger, *calls: str) -> Generator[Connection]:
    """Another who has settled these calls, and has not committed yet."""
    with closing(Ledger(ledger.url, create=False)) as own, own.writing() as connection:
        settle(connection, "first", calls)
        yield connection


def meanwhile(ledger: Ledger, pool: ThreadPoolExecutor, *calls: str) -> "Future[None]":
    """This one settles these, and waits for the other by now."""
    waiting = pool.submit(settled, ledger, *calls)
    until_blocked(ledger)
    return waiting


def test_a_call_that_two_settle_at_one_moment_gives_back_its_dollars_once(ledger: Ledger) -> None:
    purse = purse_of(ledger, 300)
    begin_batch(ledger, row("first"), {"a": 100, "b": 200}, purse=purse, holder=HOLDER)
    purse.give_back(keep=False)
    with ThreadPoolExecutor(1) as pool:
        with settling(ledger, "a"):
            waiting = meanwhile(ledger, pool, "a")
        waiting.result(SECONDS)
    assert taken(ledger) == 200
    assert set(open_entries(ledger, ["a", "b"])) == {"b"}


def test_of_two_who_settle_the_last_two_calls_the_later_ends_the_batch(ledger: Ledger) -> None:
    begin_batch(ledger, row("first"), {"a": 0, "b": 0}, purse=None, holder=HOLDER)
    with ThreadPoolExecutor(1) as pool:
        with settling(ledger, "a"):
            waiting = meanwhile(ledger, pool, "b")
        waiting.result(SECONDS)
    assert not open_batches(ledger)
    assert batches_of_runs(ledger, ["r"]) == {}


def test_calls_that_are_sent_anew_while_another_settles_them_hold_nothing_twice(ledger: Ledger) -> None:
    purse = purse_of(ledger, 300)
    begin_batch(ledger, {**row("first"), "state": "dropped"}, {"a": 100, "b": 200}, purse=purse, holder=HOLDER)
    purse.give_back(keep=False)
    with ThreadPoolExecutor(1) as pool:
        with settling(ledger, "a"):
            anew = pool.submit(begin_batch, ledger, row("second"), {"a": 0, "b": 0}, purse=purse, holder=HOLDER)
            until_blocked(ledger)
        anew.result(SECONDS)
    assert taken(ledger) == 200
    assert {call: one.held for call, one in open_entries(ledger, ["a", "b"]).items()} == {"a": 0, "b": 200}


def test_of_two_runs_one_sees_to_a_batch(ledger: Ledger) -> None:
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda n: claim_one(ledger, "batch first", holder=holder_name(f"run {n}")), range(8)))
    assert sum(got) == 1


def test_of_two_who_begin_batches_with_one_call_at_one_moment_one_does(ledger: Ledger) -> None:
    def begin(number: int) -> set[str]:
        with closing(Ledger(ledger.url, create=False)) as own:
            calls = {"shared": 0, f"own {number}": 0}
            return begin_batch(own, row(f"batch {number}"), calls, purse=None, holder=holder_name(f"run {number}"))

    with ThreadPoolExecutor(8) as pool:
        elsewhere = list(pool.map(begin, range(8)))
    assert sorted(elsewhere, key=len) == [set(), *[{"shared"}] * 7]
    assert len(open_batches(ledger)) == 1


@asynccontextmanager
async def post(ledger: Ledger, **batching: Any) -> AsyncGenerator[Post]:
    async with BatchServer(batching=Batching(**batching)) as server:
        yield Post(ledger=ledger, server=server)


async def test_a_batch_is_sent_left_and_collected_and_charged_once(ledger: Ledger) -> None:
    async with post(ledger, polls=3) as bench:
        study = bench.study()
        first = await bench.post(study, wait=0.0, budget=Budget(1.0))
        assert first.tally.in_batches == TRIALS
        assert first.budget is not None
        assert first.budget.taken == pytest.approx(sum(one["held"] for one in bench.rows("batch_entries")) / 1e9)
        last = await bench.post(study, budget=Budget(1.0))
        assert last.tally.verdicts == TRIALS
        assert last.budget is not None
        assert last.budget.taken == pytest.approx(bench.cost())
        all_once(bench)


async def test_two_processes_on_one_server_send_and_collect_everything_once(ledger: Ledger) -> None:
    """At the same time, on ledgers of their own to the same database."""
    async with post(ledger, polls=3, most=3, late=True) as bench:
        study = bench.study()
        with closing(Ledger(ledger.url, create=False)) as other:
            both = [bench, Post(ledger=other, server=bench.server)]
            await asyncio.gather(*(one.post(study, budget=Budget(1.0)) for one in both))
        await bench.post(study, budget=Budget(1.0))
        all_once(bench)
        with ledger.reading() as connection:
            assert not connection.execute(select(schema.claims)).all()


def test_nothing_waits_for_ever_where_two_settle_in_other_orders(ledger: Ledger) -> None:
    calls = {f"{number:03}": 1 for number in range(200)}
    purse = purse_of(ledger, 200)
    begin_batch(ledger, row("first"), calls, purse=purse, holder=HOLDER)
    purse.give_back(keep=False)
    with ThreadPoolExecutor(2) as pool, closing(Ledger(ledger.url, create=False)) as other:
        orders = [(ledger, list(calls)), (other, list(calls)[::-1])]
        for done in [pool.submit(settled, one, *keys) for one, keys in orders]:
            done.result(SECONDS)
    assert taken(ledger) == 0
    with ledger.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM batch_entries WHERE settled IS NULL")).scalar() == 0
