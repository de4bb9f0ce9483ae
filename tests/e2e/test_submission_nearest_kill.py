"""A submission placed among its nearest by real workers that are killed on the way: all comes out as unkilled."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from evenhand.ledger.read.projection import studies
from evenhand.ledger.submissions.intakes import set_terms
from tests.e2e.test_submission_worker import IN_FLIGHT, Entry, opened, worker
from tests.e2e.workplace import Workplace, killed_once, stats
from tests.engine.contest import OWNER, Contest
from tests.engine.nearest import NEAREST, contest_in, entering, founded_in
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow


def placed_in(here: Workplace) -> Entry:
    """A board, and a submission to it that its team has confirmed."""
    founded_in(here.place)
    with closing(opened(here)) as ledger:
        contest: Contest = contest_in(ledger)
        set_terms(ledger, contest.id, replace(NEAREST, until="width=1", looks=4, max_calls=60), by=OWNER)
        return Entry(here, contest.id, entering(contest))


def batches(entry: Entry) -> list[str]:
    with closing(entry.opened()) as ledger:
        return [one.key for one in studies(ledger) if one.batch is not None]


def killed(here: Workplace, url: str, *, after: int) -> None:
    """Once the server has seen so many requests more."""
    reached = stats(url)["requests"] + after
    killed_once(url, lambda: here.start(*worker(url)), requests=reached, answered=reached + IN_FLIGHT)


def test_killed_twice_it_ends_with_the_row_of_one_that_was_not(here: Workplace) -> None:
    with server_process("--judge", "by-strength", "--latency", "0.05") as url:
        entry = placed_in(here)
        assert here.run(*worker(url)).code == 0
        entry.approve(budget=1000.0)
        whole = Entry(here.copy("whole"), entry.intake, entry.id)
        assert whole.here.run(*worker(url)).code == 0
        asked = stats(url)["requests"]
        killed(here, url, after=18)
        killed(here, url, after=20)
        last = here.run(*worker(url))
        assert last.code == 0, last.err
        calls = stats(url)["requests"] - asked
    assert batches(entry) == batches(whole), "the same looks and the same batches, wherever it was killed"
    rows = [one.receipt()["row"] for one in (entry, whole)]
    assert rows[0] == rows[1]
    assert entry.stands.judged
    assert not entry.stands.judged.partial
    row = rows[0]
    assert isinstance(row, dict)
    placed = row["placed"]
    assert isinstance(placed, dict)
    made = placed["calls"]
    assert isinstance(made, int)
    assert made <= calls <= made + 2 * IN_FLIGHT, "paid twice"
    (here.folder / "receipt.json").write_text(json.dumps(entry.receipt()))
    verified = here.run("verify", "receipt.json")
    assert verified.code == 0, verified.out + verified.err
    assert here.run("ledger", "check").code == 0
