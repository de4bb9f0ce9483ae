"""Dollars at the command line: what it would cost, and where it stops."""

import json

import pytest
from PIL import Image

from tests.e2e.workplace import Workplace, drawn, judging, stats
from tests.refusals import says
from tests.scripted_server import server_process

PRICE = ("--price", "input=2.5,output=10")


def test_a_budget_stops_the_run_cleanly_and_a_larger_one_asks_the_rest(here: Workplace) -> None:
    with server_process() as url:
        ran = here.judge(url, *drawn(20), *PRICE, "--max-cost", "0.03")
        document = ran.document
        assert ran.code == 3
        assert f"is reached; {document['not_reached']} trials are not asked" in ran.err
        assert 0 < document["cost_usd"] <= 0.03
        assert document["called"] == document["verdicts"] == stats(url)["requests"]
        assert document["planned"] == document["called"] + document["not_reached"]
        assert document["not_reached"] > 0

        board = here.run("rank", "--json").document
        assert board["votes"] == document["verdicts"]
        assert sum(row["wins"] for row in board["models"]) == document["verdicts"]

        more = here.judge(url, *drawn(20), *PRICE, "--max-cost", "5")
        assert more.code == 0
        assert (more.document["known"], more.document["called"]) == (document["called"], document["not_reached"])
        assert stats(url)["repeats"] == 0


def test_an_endpoint_that_ignores_the_limit_of_tokens_ends_the_run_with_its_first_reply(here: Workplace) -> None:
    with server_process("--bills", "--latency", "0.1", "--overlong", "100000") as url:
        ran = here.judge(url, *drawn(50), *PRICE, "--max-cost", "3", "--max-connections", "2")
        seen = stats(url)
    assert ran.code == 3
    assert "gpt-4o wrote 100000 tokens where" in ran.err
    assert "no budget can be kept with an endpoint that does not keep to the limit of tokens" in ran.err
    assert seen["requests"] <= 2, "the calls in flight, and none after them"
    assert ran.document["verdicts"] == seen["requests"], "what was paid for is kept"


def test_an_endpoint_that_says_it_used_nothing_is_not_believed(here: Workplace) -> None:
    with server_process("--bills", "--reports", "zero") as url:
        ran = here.judge(url, *drawn(20), *PRICE, "--max-cost", "0.05")
        billed = stats(url)["billed"]
    assert ran.code == 3
    assert ran.document["cost_usd"] is None
    assert 0 < (billed["input"] * 2.5 + billed["output"] * 10) / 1e6 <= 0.05
    note = "calls did not say how many tokens they used, or said none: what they cost is not known. Against the budget"
    assert ran.err.count(note) == 1


@pytest.mark.parametrize("model", ["gpt-4o-mini", "gpt-4o", "another"])
def test_images_that_take_thousands_of_tokens_keep_within_the_budget(here: Workplace, model: str) -> None:
    """The first by the rule that is known, the others because the first replies show it."""
    here.folder.mkdir(exist_ok=True)
    for n in range(30):
        Image.new("RGB", (16, 16), (n, 0, 7)).save(here.folder / f"{n}.png")
    rows = [{"item": f"{n}", "instruction": f"What does picture {n} show?", "images": [f"{n}.png"]} for n in range(30)]
    (here.folder / "pictures.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with server_process("--bills", "--latency", "0.2", "--per-image", "8500") as url:
        given = ("--model", f"openai/{model}", "--base-url", url, "--endpoint-name", "scripted", "--max-tokens", "100")
        ran = here.run("answer", "pictures.jsonl", *given, *PRICE, "--max-cost", "0.15", "--json", "--quiet")
        seen = stats(url)["billed"]
    assert ran.code == 3
    assert 0.1 < (seen["input"] * 2.5 + seen["output"] * 10) / 1e6 <= 0.15


def test_a_budget_without_a_known_price_is_wrong_use(here: Workplace) -> None:
    with server_process() as url:
        ran = here.judge(url, *drawn(2), "--max-cost", "1")
        assert stats(url)["requests"] == 0
    assert (ran.code, ran.document["code"], ran.document["exit_code"]) == (2, "EH-PRICE-UNKNOWN", 2)
    says(ran.refused, "EH-PRICE-UNKNOWN", "--max-cost", "openai/gpt-4o", "--price")


def test_a_dry_run_asks_nothing_writes_nothing_and_tells_what_the_run_then_does(here: Workplace) -> None:
    with server_process() as url:
        dry = here.judge(url, *drawn(10), *PRICE, "--dry-run")
        assert dry.code == 0
        assert stats(url)["requests"] == 0
        assert list(here.files()) == [], "no ledger, and nothing in the folder for temporary files"
        assert (dry.document["calls_at_least"], dry.document["calls_at_most"]) == (20, 40)

        part = here.judge(url, *drawn(4), *PRICE)
        assert part.document["called"] == 8
        before = here.stored()
        dry = here.judge(url, *drawn(10), *PRICE, "--dry-run")
        assert here.stored() == before
        ran = here.judge(url, *drawn(10), *PRICE)
        assert dry.document["trials"] == ran.document["planned"]
        assert dry.document["known"] == ran.document["known"]
        assert dry.document["calls_at_least"] == ran.document["requests"] == ran.document["called"]
        assert ran.document["cost_usd"] <= dry.document["cost_usd"]


def test_a_dry_run_of_very_many_trials_says_that_it_is_an_estimate(here: Workplace) -> None:
    nobody = "http://127.0.0.1:9/v1"
    many = (*drawn(10), "--replicates", "1100", *PRICE, "--dry-run")
    told = here.judge(nobody, *many).document
    assert (told["trials"], told["known"], told["calls_at_least"]) == (22000, 0, 22000)
    assert {**told["estimated_from"], "input_within": None} == {"trials": 2000, "of": 22000, "input_within": None}
    assert 0 < told["estimated_from"]["input_within"] < 0.05
    said = here.run(*(word for word in judging(nobody, *many) if word != "--json")).out
    assert "That is an estimate: 2,000 of the 22,000 trials without a result were drawn" in " ".join(said.split())


@pytest.mark.parametrize("dollars", ["nan", "inf"])
def test_a_budget_that_is_no_number_is_refused_before_a_call(here: Workplace, dollars: str) -> None:
    with server_process() as url:
        ran = here.judge(url, *drawn(2), *PRICE, "--max-cost", dollars)
        assert stats(url)["requests"] == 0
    assert ran.code == 2
    says(ran.refused, "EH-USAGE", "--max-cost", f"not {dollars}")
