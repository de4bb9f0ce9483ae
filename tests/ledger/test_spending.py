"""What runs cost is what their replies cost, and what nobody knows is no zero."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sqlalchemy import select, text

from evenhand.domain.call import Usage
from evenhand.ledger.read.spending import DataTerms, Spent, endpoints_said, spending, terms_of
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.runs import charged, charged_to
from tests.database import url_in
from tests.ledger.scene import BENCHMARK, REPLY, asked, set_up


def test_a_run_costs_what_its_replies_cost(ledger: Ledger):
    entries = Entries()
    entries.add_call(asked("one"), REPLY, run="a", at=1.0, cost_usd=0.5)
    entries.add_call(asked("two"), replace(REPLY, usage=Usage(), requests=1), run="a", at=2.0, cost_usd=None)
    entries.add_call(asked("three"), REPLY, run="b", at=3.0, cost_usd=0.25)
    ledger.commit(entries)
    found = spending(ledger, ["a", "none"])
    assert found == {
        "a": Spent(
            replies=2, requests=4, input_tokens=10, output_tokens=5, uncounted=1, cost_usd=0.5, unpriced=1
        )
    }  # fmt: skip


def test_what_was_charged_is_summed_up_by_run_and_by_command_whatever_became_of_the_run(ledger: Ledger):
    ended, killed, other = (
        ledger.begin_run(name, {}, study=None, version="1") for name in ("judge x", "judge x", "judge y")
    )
    for run, usd in ((ended, 0.5), (killed, 0.25), (ended, 0.125), (other, 8.0)):
        entries = Entries()
        entries.charge(run, usd)
        ledger.commit(entries)
    ledger.end_run(ended, {"charged_usd": 99.0})
    assert charged(ledger, ended) == 0.625
    assert charged_to(ledger, "judge x") == 0.875
    assert (charged(ledger, "none"), charged_to(ledger, "judge")) == (0.0, 0.0)


def test_what_is_charged_together_is_one_row_for_each_run(ledger: Ledger):
    together = Entries()
    for run, usd in (("a", 0.5), ("b", 1.0), ("a", 0.25), ("c", 0.0)):
        some = Entries()
        some.charge(run, usd)
        together.extend(some)
    ledger.commit(together)
    with ledger.reading() as connection:
        rows = connection.execute(select(schema.charges.c.run, schema.charges.c.usd)).all()
    assert sorted(map(tuple, rows)) == [("a", 0.75), ("b", 1.0)]


def test_calls_that_were_taken_out_are_neither_kept_nor_charged_a_second_time():
    entries = Entries(release=["trial"])
    entries.add_call(asked("one"), REPLY, run="a", at=1.0, cost_usd=0.5)
    entries.charge("a", 0.5)
    taken = entries.take_calls()
    assert (len(taken.calls), taken.charges, taken.release) == (1, {"a": 0.5}, [])
    assert entries == Entries(release=["trial"])


def test_runs_of_an_older_ledger_are_charged_what_their_replies_cost(tmp_path: Path):
    with closing(Ledger(url_in(tmp_path))) as ledger:
        run = ledger.begin_run("judge", {}, study=None, version="1")
        entries = Entries()
        entries.add_call(asked("one"), REPLY, run=run, at=1.0, cost_usd=0.5)
        entries.add_call(asked("two"), REPLY, run=run, at=1.0, cost_usd=0.25)
        entries.add_call(asked("three"), REPLY, run=run, at=1.0, cost_usd=None)
        ledger.commit(entries)
        with ledger.writing() as connection:
            for table in ("charges", "budgets", "reservations", "links", "tips"):
                connection.execute(text(f"DROP TABLE {table}"))
            connection.execute(text("ALTER TABLE people_places DROP COLUMN replicate"))
            connection.execute(text("UPDATE alembic_version SET version_num = '0008'"))
    with closing(Ledger(url_in(tmp_path))) as ledger:
        assert charged(ledger, run) == 0.75


def test_endpoints_are_named_with_their_fingerprints(ledger: Ledger):
    entries = Entries()
    entries.add_call(asked("one"), REPLY, run="a", at=1.0, cost_usd=None)
    entries.add_call(asked("two"), REPLY, run="a", at=1.0, cost_usd=None)
    entries.add_call(asked("three"), replace(REPLY, fingerprint=""), run="a", at=1.0, cost_usd=None)
    entries.add_call(asked("four"), replace(REPLY, fingerprint="", model=""), run="a", at=1.0, cost_usd=None)
    entries.add_call(asked("five"), replace(REPLY, model="other"), run="b", at=1.0, cost_usd=None)
    ledger.commit(entries)
    assert endpoints_said(ledger, ["a"]) == ("judge-0613", "judge-0613 (fp_1)")


def test_a_benchmark_keeps_its_terms(ledger: Ledger):
    set_up(ledger)
    assert terms_of(ledger, BENCHMARK.digest) == DataTerms(licence="CC0-1.0", citation="Ours.")
    assert terms_of(ledger, "f" * 64) == DataTerms(licence="", citation="")
