"""What runs cost is what their replies cost, and what nobody knows is no zero."""

from dataclasses import replace

from evenhand.domain.call import Usage
from evenhand.ledger.record import Entries, Ledger
from evenhand.ledger.spending import Spent, Terms, endpoints_said, spending, terms_of
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
    assert terms_of(ledger, BENCHMARK.digest) == Terms(licence="CC0-1.0", citation="Ours.")
    assert terms_of(ledger, "f" * 64) == Terms(licence="", citation="")
