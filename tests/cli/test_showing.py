"""Claims about what `show` tells of runs and items."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.ledger.store.record import Ledger
from tests.database import url_in
from tests.exchange.world import run
from tests.ledger import scene
from tests.ledger.scene import BENCHMARK, STUDY, TRIALS, prefers, record
from tests.refusals import says


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Judged by a judge that always takes the answer shown first."""
    url = url_in(tmp_path)
    ledger = Ledger(url)
    scene.set_up(ledger)
    ledger.begin_run("judge", {"judge": "openai/judge", "as_json": True}, study=STUDY.key, version="0")
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    return url


def test_the_pairs_that_flipped_with_the_order_are_listed(store: str) -> None:
    (one,) = run("runs", "--json", "--store", store).document["runs"]
    shown = run("show", one["run"], "--json", "--store", store).document
    assert len(shown["flips"]) == 3
    assert shown["flips"][0]["means"] == ["amber, shown first, is better", "blue, shown first, is better"]
    assert "--flips` lists them" in run("show", one["run"], "--store", store).out
    listed = run("show", one["run"], "--flips", "--store", store).out
    assert "3 pairs changed their verdict with the order" in listed
    assert listed.count("shown first, is better") == 6


def test_an_item_that_several_hold_is_chosen_or_said(store: str) -> None:
    ledger = Ledger(store)
    newer = replace(BENCHMARK, items=BENCHMARK.items[:2])
    ledger.register_benchmark(newer)
    study = replace(STUDY, data=newer.digest, items=STUDY.items[:2])
    ledger.register_study(study, rater=scene.JUDGE, condition=scene.CONDITION, wanted=4)
    assert f"data {newer.digest[:12]}" in run("show", "--item", "1", "--store", store).out
    assert "Other data" not in run("show", "--item", "3", "--store", store).out
    other = replace(BENCHMARK, name="letters")
    ledger.register_benchmark(other)
    study = replace(STUDY, benchmark="letters", data=other.digest)
    ledger.register_study(study, rater=scene.JUDGE, condition=scene.CONDITION, wanted=6)
    refused = run("show", "--item", "1", "--store", store)
    assert refused.code == 2
    says(refused.refused, "EH-CHOOSE-SEVERAL", "'1'", "--benchmark: letters, numbers.")


def test_what_a_run_came_to_is_told_and_what_nobody_knows_of_it(store: str) -> None:
    ledger = Ledger(store)
    made = ledger.begin_run("judge", {"judge": "openai/judge"}, study=STUDY.key, version="0")
    ledger.end_run(made, {"planned": 6, "cost_usd": None, "no_verdict": {}})
    told = dict(re.findall(r"^  (\S.{17}) (.+)$", run("show", made, "--store", store).out, re.M))
    assert {name.strip(): value for name, value in told.items()} == {
        "judge": "openai/judge",
        "wanted": "6",
        "without a decision": "none",
        "cost in dollars": "unknown",
    }
