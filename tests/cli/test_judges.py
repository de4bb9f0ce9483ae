"""`evenhand judges`: five scripted judges of known faults and prices in one ledger, held against people."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from tests import warm
from tests.cli.audited_judge import judge_process, quality

pytestmark = pytest.mark.slow

BENCHMARK = "visit-bench-sample"
DOLLARS = {"good": 30, "steady": 3, "bad": 1, "gullible": 40, "first": 2}
"""Per million tokens, in and out."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("judges")
    with ExitStack() as servers:
        for name, price in DOLLARS.items():
            url = servers.enter_context(judge_process(name))
            who = ("--judge", f"openai/{name}", "--judge-base-url", url, "--endpoint-name", "scripted", "--quiet")
            costs = ("--price", f"input={price},output={price}")
            run(folder, "judge", BENCHMARK, *who, *costs, "--pairs", "round-robin")
            run(folder, "audit", *who, *costs, "--part", "planted", "--part", "pairs", "--budget", "300")
        people(folder / "people.jsonl")
        run(folder, "import", "people.jsonl", "--judgements", "--benchmark", BENCHMARK)
        yield folder


def people(path: Path) -> None:
    """Four of them judge by the same quality as the judges; each errs on pairs of its own, one in eight."""
    benchmark = eh.load_benchmark(BENCHMARK)
    answers = eh.read_responses(eh.bundled_answers(benchmark), benchmark).responses
    label = {item.digest: item.label for item in benchmark.items}
    rows: list[str] = []
    for item in benchmark.items:
        mine = sorted((one for one in answers if one.item == item.digest), key=lambda one: one.model)
        for one, other in combinations(mine, 2):
            for person in range(4):
                right = quality(one.text) > quality(other.text)
                errs = quality(f"{person} {item.label} {one.model} {other.model}") < 1 / 8
                row = {
                    "item": label[item.digest], "rater": f"person {person}", "rater_kind": "human",
                    "model_a": one.model, "model_b": other.model, "verdict": 1 if right != errs else -1,
                }  # fmt: skip
                rows.append(json.dumps(row))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def run(folder: Path, *arguments: str, expect: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = warm.run(*arguments, cwd=folder, env={**environment, "COLUMNS": "120"})
    assert done.returncode == expect, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    return json.loads(run(folder, "judges", "--json"))


@pytest.fixture(scope="module")
def judges(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["judge"].removeprefix("openai/"): one for one in document["judges"]}


def test_each_fault_is_seen_in_its_column(judges: dict[str, dict[str, Any]]):
    assert set(judges) == set(DOLLARS)
    assert judges["first"]["first_position_lower"] > 0.8
    assert judges["first"]["swap_consistency_upper"] < 0.5
    assert judges["bad"]["planted_effect_lower"] > 0.2
    assert judges["bad"]["coverage"] < 1
    assert judges["gullible"]["planted_effect"] > judges["good"]["planted_effect"]
    for name in ("good", "gullible"):
        assert (judges[name]["swap_consistency"], judges[name]["first_position"]) == (1.0, 0.5)
    assert judges["good"]["planted_effect_lower"] <= 0 <= judges["good"]["planted_effect_upper"]
    near = sorted(judges, key=lambda name: judges[name]["agreement"])
    assert near[:2] == ["first", "bad"]


def test_people_stand_beside_as_the_ceiling_and_err_as_they_were_made_to(judges: dict[str, dict[str, Any]]):
    good = judges["good"]
    # A person errs in an eighth, and so does one of those it is held against.
    assert 0.7 < good["people_agreement"] < 0.95
    assert good["agreement"] > good["people_agreement"]


def test_a_judgement_costs_what_its_calls_cost(judges: dict[str, dict[str, Any]]):
    for name, price in DOLLARS.items():
        assert judges[name]["cost_per_1000_usd"] == pytest.approx(judges[name]["tokens"] * price / 1000)
        assert judges[name]["cost_per_1000_usd_lower"] < judges[name]["cost_per_1000_usd_upper"]
        assert judges[name]["latency_seconds"] > 0


def test_the_frontier_holds_whom_nobody_beats_in_both(judges: dict[str, dict[str, Any]]):
    def beaten(one: dict[str, Any]) -> bool:
        return any(
            other["cost_per_1000_usd"] <= one["cost_per_1000_usd"]
            and other["agreement"] >= one["agreement"]
            and other is not one
            for other in judges.values()
        )

    assert {name for name, one in judges.items() if one["frontier"]} == {
        name for name, one in judges.items() if not beaten(one)
    }
    assert judges["bad"]["frontier"]
    assert not judges["first"]["frontier"]


def test_the_cheaper_of_two_that_are_not_told_apart_is_to_be_paid(document: dict[str, Any]):
    assert document["take"] == "openai/steady"
    assert "Pay openai/steady" in document["conclusion"]
    assert any("openai/first favours the answer shown first" in one for one in document["notes"])


def test_it_is_printed_drawn_and_written(folder: Path):
    said = run(folder, "judges")
    assert "openai/steady" in said
    assert "$/1,000" in said
    run(folder, "judges", "--plot", "judges.svg", "--plot", "judges.html")
    assert "openai/gullible" in (folder / "judges.svg").read_text(encoding="utf-8")
    assert run(folder, "judges", "--format", "csv").startswith("judge,with people")
    assert "put in one person's place" in " ".join(run(folder, "judges", "--explain").split())


def test_the_report_of_one_has_all_of_them_with_their_audits_and_the_chart(folder: Path):
    run(folder, "report", "--judge", "openai/steady", "--out", "steady.html")
    page = (folder / "steady.html").read_text(encoding="utf-8")
    part = page.partition("<h3>Beside the other judges</h3>")[2].partition("</section>")[0]
    assert all(f"openai/{name}" in part for name in DOLLARS)
    assert all(words in part for words in ("Pay openai/steady", "with people", "planted", "tokens", "$/1,000"))
    assert "What each judge costs, and how often it agrees with people" in part


def test_the_calls_from_python_give_the_same(folder: Path, document: dict[str, Any]):
    assert eh.judges(ledger=f"sqlite:///{folder}/.evenhand/ledger.db").as_json() == document
