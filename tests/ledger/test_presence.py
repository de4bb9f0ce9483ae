"""Runs on other machines: on PostgreSQL who holds claims and has no connection any more is taken to be dead soon."""

import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from evenhand.ledger.store import schema
from evenhand.ledger.store.budgets import BudgetAccountOnDisk
from evenhand.ledger.store.claims import ABSENT_SECONDS, LEASE_SECONDS, claim_calls, holder_name, renew
from evenhand.ledger.store.presence import LOCKED, Presence, absent
from evenhand.ledger.store.record import Ledger
from tests.database import a_server, the_server
from tests.ledger.test_server_cut import ENDED_BY_SERVER

pytestmark = pytest.mark.slow

OURS = holder_name("ours", present=True)
THEIRS = f"another-machine|1|1|theirs{LOCKED}"
NOTICED_SECONDS = 60


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Ledger]:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "of its own"
    with closing(Ledger(the_server().ledger_of(place))) as made:
        yield made
    the_server().forget(lambda one: one == place)


def left(ledger: Ledger) -> float:
    """Seconds until their lease ends."""
    with ledger.reading() as connection:
        query = select(schema.claims.c.until).where(schema.claims.c.holder == THEIRS)
        return connection.execute(query).scalars().one() - time.time()


def until_noticed(ledger: Ledger) -> None:
    """The server ends what a closed connection held a moment after it was closed."""
    deadline = time.monotonic() + NOTICED_SECONDS
    with ledger.reading() as connection:
        while not absent(connection, [THEIRS]):
            assert time.monotonic() < deadline, "the server still shows a holder whose connection was closed"
            time.sleep(0.01)


def test_a_lease_ends_soon_when_its_holders_connection_is_gone_and_not_before(ledger: Ledger) -> None:
    presence = Presence(ledger.engine, THEIRS)
    assert presence.keep()
    assert not presence.keep(), "it is shown all the while"
    assert claim_calls(ledger, ["call"], holder=THEIRS).mine == {"call"}
    assert claim_calls(ledger, ["call"], holder=OURS).others == {"call"}
    assert left(ledger) > ABSENT_SECONDS
    presence.end()
    until_noticed(ledger)
    assert claim_calls(ledger, ["call"], holder=OURS).others == {"call"}, "it may come back"
    assert left(ledger) <= ABSENT_SECONDS
    while claim_calls(ledger, ["call"], holder=OURS).mine != {"call"}:
        time.sleep(0.2)


def test_a_holder_whose_connections_were_cut_comes_back_and_keeps_its_claims(ledger: Ledger) -> None:
    with closing(Ledger(ledger.url)) as theirs:
        presence = Presence(theirs.engine, THEIRS)
        assert presence.keep()
        assert claim_calls(theirs, ["call"], holder=THEIRS).mine == {"call"}
        with ledger.engine.connect() as connection:
            name = connection.execute(text("SELECT current_database()")).scalar_one()
            assert connection.execute(ENDED_BY_SERVER, {"name": name}).scalar_one() >= 1
        assert claim_calls(ledger, ["call"], holder=OURS).others == {"call"}
        assert left(ledger) <= ABSENT_SECONDS
        assert presence.keep(), "shown anew"
        assert renew(theirs, holder=THEIRS) == 1
        assert claim_calls(ledger, ["call"], holder=OURS).others == {"call"}
        assert left(ledger) > LEASE_SECONDS - ABSENT_SECONDS
        presence.end()
        assert not presence.keep(), "it has ended"


def test_a_holder_who_shows_nothing_keeps_its_lease(ledger: Ledger) -> None:
    silent = "another-machine|1|1|silent"
    assert claim_calls(ledger, ["call"], holder=silent).mine == {"call"}
    assert claim_calls(ledger, ["call"], holder=OURS).others == {"call"}
    with ledger.reading() as connection:
        assert connection.execute(select(schema.claims.c.until)).scalar_one() - time.time() > ABSENT_SECONDS


CLOCK = """
import sys, time
real = time.time
time.time = lambda: real() + float(sys.argv[2])
from evenhand.ledger.store.budgets import BudgetAccountOnDisk
from evenhand.ledger.store.claims import claim_calls
from evenhand.ledger.store.record import Ledger
ledger = Ledger(sys.argv[1])
claimed = claim_calls(ledger, ["theirs", "ours"], holder="another-machine|1|1|run")
print(*sorted(claimed.mine), BudgetAccountOnDisk(ledger, "shared", most=1.0, lasts=False).others_hold())
ledger.close()
"""


@pytest.mark.parametrize("ahead", [-1000, 1000])
def test_a_machine_whose_clock_is_wrong_takes_over_no_live_claim_and_loses_none(ledger: Ledger, ahead: int) -> None:
    assert claim_calls(ledger, ["theirs"], holder="a-machine|1|1|run").mine == {"theirs"}
    purse = BudgetAccountOnDisk(ledger, "shared", most=1.0, lasts=False)
    assert purse.take(10)
    with ledger.writing() as connection:
        connection.execute(update(schema.reservations).values(holder="a-machine|1|1|run"))
    command = [sys.executable, "-c", CLOCK, ledger.url, str(ahead)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    assert said.split() == ["ours", "True"]
    assert claim_calls(ledger, ["ours"], holder="a-machine|1|1|run").others == {"ours"}


def test_a_holder_that_finds_no_free_connection_to_show_itself_by_knows_that_others_may_take_it_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.chdir(tmp_path)
    with a_server(more="-c max_connections=12") as own, closing(Ledger(own.ledger_of(tmp_path))) as ledger:
        assert claim_calls(ledger, ["call"], holder=THEIRS).mine == {"call"}
        presence = Presence(ledger.engine, THEIRS)
        held: list[psycopg.Connection[tuple[object, ...]]] = []
        with ledger.reading():  # which keeps the one that there is
            with suppress(psycopg.OperationalError):
                while True:
                    held.append(psycopg.connect(own.url()))
            assert presence.keep()
            assert presence.keep(), "it is not shown yet"
            for one in held:
                one.close()
            deadline = time.monotonic() + NOTICED_SECONDS
            while presence.keep():
                assert time.monotonic() < deadline, "it is not shown though connections are free"
                time.sleep(0.01)
            presence.end()
