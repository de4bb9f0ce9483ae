"""What batches hold of a budget: taken once, wherever it is held, until the calls are settled."""

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from evenhand.ledger.store import schema
from evenhand.ledger.store.batches import (
    begin_batch,
    change_batch,
    close_batch,
    open_batches,
    open_entries,
    settle,
    take_batch,
)
from evenhand.ledger.store.budgets import BY_BATCH, BudgetAccountOnDisk, cut_off
from evenhand.ledger.store.claims import holder_name, release_all
from evenhand.ledger.store.record import Ledger
from tests.database import url_in

HOLDER = holder_name("r")
OTHER = holder_name("another")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(url_in(tmp_path))


def row(name: str) -> dict[str, str]:
    return {"id": name, "endpoint": "e", "wire": "openai", "run": "r", "state": "uploading"}


def taken(ledger: Ledger) -> int:
    with ledger.reading() as connection:
        return connection.execute(select(schema.budgets.c.taken)).scalar_one()


def held(ledger: Ledger) -> int:
    with ledger.reading() as connection:
        return int(connection.execute(select(func.sum(schema.reservations.c.held))).scalar_one())


def settled(ledger: Ledger, *calls: str) -> None:
    with ledger.writing() as connection:
        settle(connection, "first", calls)


def purse_of(ledger: Ledger, most: int) -> BudgetAccountOnDisk:
    purse = BudgetAccountOnDisk(ledger, "budget", most=1.0, lasts=False)
    assert purse.take(most)
    assert purse.bind(most)
    return purse


def test_what_a_batch_holds_its_process_holds_no_more(ledger: Ledger) -> None:
    purse = purse_of(ledger, 300)
    assert taken(ledger) == purse.held > 300, "some of it for no call yet"
    begin_batch(ledger, row("first"), {"a": 100, "b": 200}, purse=purse, holder=HOLDER)
    assert (taken(ledger), held(ledger)) == (300, 300)
    assert (purse.held, purse.bound) == (0, 0)
    assert cut_off(ledger, "budget") == 0
    settled(ledger, "a")
    assert (taken(ledger), held(ledger)) == (200, 200)
    settled(ledger, "a")  # once is enough
    assert taken(ledger) == 200
    assert [one.id for one in open_batches(ledger)] == ["first"]
    settled(ledger, "b")
    assert taken(ledger) == 0
    assert not open_batches(ledger)


def test_calls_that_are_sent_anew_take_with_them_what_is_held(ledger: Ledger) -> None:
    purse = purse_of(ledger, 300)
    begin_batch(ledger, row("first"), {"a": 100, "b": 200}, purse=purse, holder=HOLDER)
    assert change_batch(ledger, "first", {"state": "dropped"}, holder=HOLDER)
    assert begin_batch(ledger, row("second"), {"b": 0}, purse=purse, holder=HOLDER) == set()
    purse.give_back(keep=False)
    assert (taken(ledger), held(ledger)) == (300, 300)
    assert {call: (one.batch, one.held) for call, one in open_entries(ledger, ["a", "b"]).items()} == {
        "a": ("first", 100),
        "b": ("second", 200),
    }
    assert close_batch(ledger, "second", note="refused", holder=HOLDER)
    assert (taken(ledger), held(ledger)) == (100, 100)
    assert open_entries(ledger, ["b"]) == {}


@pytest.mark.parametrize("state", ["creating", "dropped"])
def test_what_waits_in_a_batch_of_another_goes_into_no_second_one(ledger: Ledger, state: str) -> None:
    begin_batch(ledger, {**row("first"), "state": state}, {"a": 0, "b": 0}, purse=None, holder=OTHER)
    assert begin_batch(ledger, row("second"), {"b": 0, "c": 0}, purse=None, holder=HOLDER) == {"b"}
    assert [one.id for one in open_batches(ledger)] == ["first"]
    assert open_entries(ledger, ["c"]) == {}


def test_what_another_has_seen_to_meanwhile_is_not_changed(ledger: Ledger) -> None:
    begin_batch(ledger, row("first"), {"a": 0}, purse=None, holder=HOLDER)
    assert take_batch(ledger, "first", holder=OTHER) is None
    with ledger.writing() as connection:
        connection.execute(update(schema.claims).values(until=1.0))
    taken_over = take_batch(ledger, "first", holder=OTHER)
    assert taken_over is not None
    assert (taken_over[0].state, taken_over[1]) == ("uploading", {"a"})
    release_all(ledger, holder=OTHER)
    assert not change_batch(ledger, "first", {"state": "creating"}, holder=HOLDER)
    assert not close_batch(ledger, "first", note="refused", holder=HOLDER)
    assert [one.state for one in open_batches(ledger)] == ["uploading"]


def a_dead_process() -> str:
    """As what it holds is on record."""
    code = "from evenhand.ledger.store.claims import holder_name; print(holder_name('killed'))"
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("by_batch", [True, False])
def test_what_a_killed_process_had_set_aside_is_cut_off_only_where_it_sends_itself(
    ledger: Ledger, by_batch: bool
) -> None:
    killed = BudgetAccountOnDisk(ledger, "budget", most=1.0, lasts=False)
    killed.run = f"{BY_BATCH}killed" if by_batch else "killed"
    assert killed.take(300)
    assert killed.bind(300)
    begin_batch(ledger, row("first"), {"a": 100}, purse=killed, holder=HOLDER)
    alive = BudgetAccountOnDisk(ledger, "budget", most=1.0, lasts=False)
    assert alive.standing().taken == pytest.approx(3e-7)  # nobody is dead
    with ledger.writing() as connection:
        own = schema.reservations.c.run == killed.run
        connection.execute(update(schema.reservations).where(own).values(holder=a_dead_process()))
    after = BudgetAccountOnDisk(ledger, "budget", most=1.0, lasts=False).standing()
    assert after.killed
    assert after.taken == pytest.approx(1e-7 if by_batch else 3e-7)
    assert after.cut_off == pytest.approx(0 if by_batch else 2e-7)
