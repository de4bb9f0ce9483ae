"""Claims about a plan, a run and a plan: what is expected is what comes, in dollars and in the width of intervals."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from sqlalchemy import func, select

from evenhand.ledger.read.spending import answered_calls
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from tests.cli.served import served
from tests.exchange.world import Ran, run, store_in, write_lines
from tests.refusals import says
from tests.scripted_server import Body, Canned, Script

PRICE = ("--price", "input=1000,output=2000,cached=100")
MODELS = ("ada", "bel", "cyd", "dan")
STRENGTH = dict(zip(MODELS, (0.9, 0.3, -0.3, -0.9), strict=True))


def wordy(body: Body) -> str:
    """Writes 40 to 160 words, then decides by the strengths that the answers state, with luck of its own."""
    words = json.dumps(body["messages"])
    lot = int.from_bytes(hashlib.sha256(words.encode()).digest()[:4], "big") / 2**32
    shown = [float(found) for found in re.findall(r"strength=(-?\d\.\d)", words)]
    lead = (shown[0] - shown[-1] if shown else 0.0) + 4 * (lot - 0.5)
    return "word " * (40 + int(120 * lot)) + f"\n\nOverall, Response {'A' if lead > 0 else 'B'} is better."


def world(folder: Path, items: int, *, uneven: bool = False, longer: int = 1) -> tuple[object, ...]:
    """Items of four answers; uneven ones have two, three or four. `longer`: times the captions are as long."""
    asked = [
        {
            "item": f"q{n}",
            "instruction": f"Ask {n}.",
            "caption": f"Square {n}. " * (1 + n % 7) * longer,
            "reference": "Yes.",
        }
        for n in range(items)
    ]
    answers = [
        {"item": f"q{n}", "model": model, "response": f"{model} on {n}: strength={STRENGTH[model]}. " * (1 + n % 3)}
        for n in range(items)
        for place, model in enumerate(MODELS)
        if not uneven or place < 2 + n % 3 or place == 3
    ]
    return (
        "--data", write_lines(folder / "items.jsonl", asked),
        "--responses", write_lines(folder / "answers.jsonl", answers),
    )  # fmt: skip


def judged(folder: Path, address: str, data: Sequence[object], *more: object) -> Ran:
    done = run(
        "judge", "visit-bench", *data, "--judge", "openai/judge", "--judge-base-url", address, "--store",
        store_in(folder), "--json", "--models", "ada", "--models", "bel", "--models", "cyd", "--models", "dan",
        "--allow-partial", *more,
    )  # fmt: skip
    assert done.code == 0, done.err
    return done


def halves(folder: Path) -> list[float]:
    board = json.loads(run("rank", "--store", store_in(folder), "--json").out)
    return [(one["rating_upper"] - one["rating_lower"]) / 2 for one in board["models"]]


@pytest.mark.slow
@pytest.mark.parametrize("uneven", [False, True])
def test_after_a_hundred_replies_the_plan_tells_what_is_spent_and_how_wide_intervals_become(
    tmp_path: Path, uneven: bool
) -> None:
    data = world(tmp_path, 60, uneven=uneven)
    with served(Script(judge=wordy, per_character=0.31)) as server:
        judged(tmp_path, server.base_url, data, *PRICE, "--limit", 20)
        plan = judged(tmp_path, server.base_url, data, *PRICE, "--dry-run").document
        ran = judged(tmp_path, server.base_url, data, *PRICE).document
        assert plan["expected"]["replies_on_record"] >= 100
        assert plan["cost_usd_expected"] == pytest.approx(ran["cost_usd"], rel=0.10)
        assert plan["cost_usd_low"] < ran["cost_usd"] < plan["cost_usd_high"]
        foreseen = plan["interval_expected"]
        assert foreseen["points"] == pytest.approx(fmean(halves(tmp_path)), rel=0.15)
        assert foreseen["points"] == pytest.approx(fmean(foreseen["models"].values()), abs=0.1)
        assert 0 <= foreseen["separated"] <= foreseen["separable"] == 3
        done = json.loads(run("runs", "--store", store_in(tmp_path), "--json").out)["runs"][0]
        assert done["expected_usd"] == pytest.approx(done["spent_usd"], rel=0.10)
        after = judged(tmp_path, server.base_url, data, *PRICE, "--dry-run").document
    assert (after["cost_usd_low"], after["cost_usd_expected"], after["cost_usd_high"]) == (0, 0, 0)


def luck(*of: object) -> float:
    """Between -0.5 and 0.5, the same for the same."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, of)).encode()).digest()[:4], "big") / 2**32 - 0.5


def lucky(body: Body) -> str:
    """Decides by the strengths that the answers state, with a little luck of its own."""
    words = json.dumps(body["messages"])
    one, *_, other = [float(found) for found in re.findall(r"strength=(-?\d\.\d+)", words)]
    return f"Overall, Response {'A' if one - other + 0.7 * luck(words) > 0 else 'B'} is better."


def came_and_foreseen(folder: Path, seed: int) -> tuple[float, float]:
    """Of a model placed by 48 battles on twelve items, where the others have 45 on forty; a model is much better on one
    item than on another."""
    strength = STRENGTH | {"new": 0.0}
    items = [{"item": f"q{n}", "instruction": f"Ask {n} of {seed}.", "caption": f"Square {n}."} for n in range(60)]
    answers = [
        {"item": f"q{n}", "model": model, "response": f"{model}: strength={own / 3 + 1.6 * luck(seed, model, n):.4f}."}
        for n in range(60)
        for model, own in strength.items()
        if model != "new" or n < 12
    ]
    data = (
        "--data", write_lines(folder / "items.jsonl", items),
        "--responses", write_lines(folder / "answers.jsonl", answers),
    )  # fmt: skip
    with served(Script(judge=lucky)) as server:
        judged(folder, server.base_url, data, "--pairs", "random", "--battles", 90)
        ask = (
            "judge", "visit-bench", *data, "--judge", "openai/judge", "--judge-base-url", server.base_url, "--store",
            store_in(folder), "--json", "--pairs", "random", "--new", "new", "--reference-battles", 0,
            "--allow-partial",
        )  # fmt: skip
        foreseen = run(*ask, "--dry-run").document["expected_interval"]
        assert run(*ask).code == 0
    board = json.loads(run("rank", "--store", store_in(folder), "--json").out)
    (new,) = (one for one in board["models"] if one["model"] == "new")
    assert foreseen["models_on_record"] == 4
    return (new["rating_upper"] - new["rating_lower"]) / 2, foreseen["points"]


def test_many_battles_on_few_items_are_not_foreseen_to_tell_as_much_as_on_many(tmp_path: Path) -> None:
    """By the root of the battles alone it would be .64 of what comes."""
    every: list[tuple[float, float]] = []
    for seed in range(3):
        (tmp_path / str(seed)).mkdir()
        every.append(came_and_foreseen(tmp_path / str(seed), seed))
    assert 0.75 < fmean(foreseen / came for came, foreseen in every) < 1.25


def leaning(body: Body) -> str:
    """Mostly for the second answer, so that two orders of a battle end less alike than by chance."""
    return f"Overall, Response {'A' if luck(json.dumps(body['messages'])) < 0.25 else 'B'} is better."


def test_a_board_of_few_items_promises_no_interval_as_narrow_as_chance_made_its_votes_unlike(tmp_path: Path) -> None:
    """Taken at its word, what six items show foresees .55 of what comes."""
    items = [{"item": f"q{n}", "instruction": f"Ask {n} of 0.", "caption": f"Square {n}."} for n in range(6)]
    answers = [
        {"item": f"q{n}", "model": model, "response": f"{model}: strength={own / 3 + 1.6 * luck(0, model, n):.4f}."}
        for n in range(6)
        for model, own in (STRENGTH | {"new": 0.0}).items()
    ]
    before = write_lines(tmp_path / "before.jsonl", [one for one in answers if one["model"] != "new"])
    joins = (
        "--responses", write_lines(tmp_path / "answers.jsonl", answers), "--pairs", "random", "--new", "new",
        "--reference-battles", 0, "--allow-partial",
    )  # fmt: skip
    with served(Script(judge=leaning)) as server:
        ask = (
            "judge", "visit-bench", "--data", write_lines(tmp_path / "items.jsonl", items), "--judge", "openai/judge",
            "--judge-base-url", server.base_url, "--store", store_in(tmp_path), "--json",
        )  # fmt: skip
        assert run(*ask, "--responses", before).code == 0
        foreseen = run(*ask, *joins, "--dry-run").document["expected_interval"]
        assert run(*ask, *joins).code == 0
        again = run(*ask, *joins, "--dry-run").document["expected_interval"]
    assert again["models_on_record"] == foreseen["models_on_record"] == 4, "by the others, whatever its own is"
    board = json.loads(run("rank", "--store", store_in(tmp_path), "--json").out)
    (new,) = (one for one in board["models"] if one["model"] == "new")
    assert foreseen["points"] > 0.65 * (new["rating_upper"] - new["rating_lower"]) / 2


def test_a_first_plan_takes_the_length_that_the_protocol_states_and_no_rating_out_of_nothing(tmp_path: Path) -> None:
    data = world(tmp_path, 3)
    plan = judged(tmp_path, "http://127.0.0.1:9/v1", data, *PRICE, "--dry-run").document
    assert plan["expected"]["output_tokens"] == 250 * plan["calls_at_least"]
    assert "as the protocol states" in plan["expected"]["basis"]
    assert plan["cost_usd_low"] == plan["cost_usd_at_least"]
    assert plan["cost_usd_high"] == plan["cost_usd"]
    assert plan["interval_expected"]["points"] is None
    assert "on record" in plan["interval_expected"]["basis"]


def test_stated_strengths_foresee_intervals_and_must_name_all_who_play(tmp_path: Path) -> None:
    data = world(tmp_path, 6)
    file = tmp_path / "strengths.csv"
    file.write_text("model,rating\nada,1100\nbel,1040\ncyd,980\ndan,900\n")
    plan = judged(tmp_path, "http://127.0.0.1:9/v1", data, *PRICE, "--dry-run", "--strengths", file).document
    foreseen = plan["interval_expected"]
    assert foreseen["points"] > 0
    assert set(foreseen["models"]) == set(MODELS)
    assert foreseen["votes_on_record"] == 0
    file.write_text("model,rating\nada,1100\nbel,1040\n")
    ask = ("judge", "visit-bench", *data, "--judge", "openai/judge", "--store", store_in(tmp_path))
    alone = run(*ask, "--dry-run", "--strengths", file, "--models", "ada", "--models", "cyd")
    says(alone.refused, alone.error_code, "cyd", "--strengths")
    said = run(*ask, "--strengths", file)
    says(said.refused, said.error_code, "--strengths", "--dry-run")


def test_what_images_take_is_unknown_of_a_model_without_a_published_rule(tmp_path: Path) -> None:
    def planned(judge: str) -> dict[str, object]:
        sample = ("judge", "creation-mmbench-sample", "--judge", judge, *PRICE, "--store", store_in(tmp_path))
        return run(*sample, "--protocol", "creation_preference", "--see", "images", "--dry-run", "--json").document

    known, unknown = planned("openai/gpt-4o"), planned("openai/gpt-99")
    assert known["image_tokens_by"] == "OpenAI's rule"
    assert known["cost_usd_expected"]
    assert (unknown["image_tokens_by"], unknown["cost_usd_expected"]) == (None, None)
    assert not unknown["image_tokens_known"]


def test_batch_prices_stand_in_the_plan(tmp_path: Path) -> None:
    data = world(tmp_path, 3)
    price = ("--price", "input=1000,output=2000,batch=0.25")
    plan = judged(tmp_path, "http://127.0.0.1:9/v1", data, *price, "--dry-run").document["expected"]
    assert plan["cost_usd_batch"] == pytest.approx(plan["cost_usd"] / 4)


def test_cached_tokens_are_priced_told_and_expected_next_time(tmp_path: Path) -> None:
    data = world(tmp_path, 8, longer=100)
    with served(Script(judge=wordy, cache_blocks=10_000)) as server:
        first = judged(tmp_path, server.base_url, data, *PRICE, "--limit", 4, "--max-connections", 1)
        told = first.document["tokens"]
        plan = judged(tmp_path, server.base_url, data, *PRICE, "--dry-run").document["expected"]
    assert told["cached"] > 0.3 * told["input"]
    paid = (1000 * (told["input"] - told["cached"]) + 100 * told["cached"] + 2000 * told["output"]) / 1e6
    assert first.document["cost_usd"] == pytest.approx(paid)
    assert "came from the provider's cache" in first.err
    assert plan["cached_tokens"] / plan["input_tokens"] == pytest.approx(told["cached"] / told["input"], rel=0.05)
    assert "provider's cache" in run("runs", "--store", store_in(tmp_path)).out


@pytest.mark.slow
def test_a_service_tier_changes_what_is_paid_and_nothing_that_is_known(tmp_path: Path) -> None:
    data = world(tmp_path, 3)
    full = Canned(status=429, body={"error": {"message": "Resource Unavailable", "code": "resource_unavailable"}})
    with served(Script(judge=wordy), full) as server:
        flex = judged(tmp_path, server.base_url, data, *PRICE, "--service-tier", "flex")
        again = judged(tmp_path, server.base_url, data, *PRICE).document
        other = tmp_path / "usual"
        other.mkdir()
        usual = judged(other, server.base_url, data, *PRICE).document
    asked = flex.document
    assert asked["service_tiers"] == {"flex": asked["called"]}
    assert "flex" in flex.err
    assert asked["requests"] == asked["called"] + 1, "no room was found once, and the call was tried again"
    assert again["requests"] == 0, "what was answered under one tier is known under another"
    assert asked["cost_usd"] == pytest.approx(usual["cost_usd"] / 2)
    assert "flex" in run("runs", "--store", store_in(tmp_path)).out


def test_a_service_tier_of_a_provider_without_one_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    said = run(
        "judge", "visit-bench-sample", "--judge", "anthropic/claude-3", "--service-tier", "flex", "--dry-run",
        "--store", store_in(tmp_path),
    )  # fmt: skip
    assert said.code == 2
    says(said.refused, "EH-SETTING-REFUSED", "flex", "anthropic", "--service-tier")


def spent_last(folder: Path) -> tuple[float, float]:
    """What the last run was expected to cost, and what it did."""
    last = json.loads(run("runs", "--store", store_in(folder), "--json").out)["runs"][0]
    return last["expected_usd"], last["spent_usd"]


def within(plan: dict[str, float], spent: float, *, rel: float) -> None:
    assert plan["cost_usd_low"] < plan["cost_usd_expected"] < plan["cost_usd_high"]
    assert plan["cost_usd_low"] < spent < plan["cost_usd_high"]
    assert plan["cost_usd_expected"] == pytest.approx(spent, rel=rel)


def hesitant(body: Body) -> str:
    """Of three replies two hold no decision, which the extractor then finds."""
    if "FinalAnswerExtractionGPT" in str(body["messages"][0]["content"]):
        return "Overall, Response A is better."
    lot = hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()
    return wordy(body) if int(lot, 16) % 3 == 0 else f"{lot}: both have merits."


def test_the_share_of_calls_that_extract_a_decision_is_learned_at_the_extractors_price(tmp_path: Path) -> None:
    data = world(tmp_path, 8)
    with served(Script(judge=hesitant)) as server:
        flags = ("--extractor", "openai/finder", "--extractor-base-url", server.base_url)
        price = ("--price", "openai/finder:input=9000,output=90000", *PRICE)
        first = judged(tmp_path, server.base_url, data, *flags, *price, "--limit", 4).document
        plan = judged(tmp_path, server.base_url, data, *flags, *price, "--dry-run").document
        ran = judged(tmp_path, server.base_url, data, *flags, *price).document
    followed = first["requests"] / first["called"] - 1
    assert 0.4 < followed < 0.9
    assert plan["expected"]["calls"] == pytest.approx(plan["calls_at_least"] * (1 + followed), rel=0.01)
    assert f"{followed:.0%} of the replies followed by a call that extracts the decision" in plan["expected"]["basis"]
    within(plan, ran["cost_usd"], rel=0.10)
    expected, spent = spent_last(tmp_path)
    assert expected == pytest.approx(spent, rel=0.10)


@pytest.mark.slow
def test_what_was_paid_for_tries_in_vain_is_expected_again(tmp_path: Path) -> None:
    data = world(tmp_path, 10)
    with served(Script(judge=wordy, faults={"empty": 0.3})) as server:
        judged(tmp_path, server.base_url, data, *PRICE, "--limit", 5)
        _, paid = spent_last(tmp_path)
        with Ledger(store_in(tmp_path)) as ledger, ledger.reading() as connection:
            replies = connection.execute(select(func.sum(schema.calls.c.cost_usd))).scalar_one()
        plan = judged(tmp_path, server.base_url, data, *PRICE, "--dry-run").document
        judged(tmp_path, server.base_url, data, *PRICE)
    assert paid > 1.2 * replies
    assert f"{paid / replies - 1:.1%} more paid for tries in vain" in plan["expected"]["basis"]
    assert plan["expected"]["requests"] > 1.2 * plan["expected"]["calls"]
    expected, spent = spent_last(tmp_path)
    within(plan, spent, rel=0.12)
    assert expected == pytest.approx(spent, rel=0.12)


def test_what_answers_are_likely_to_cost_is_what_they_do(tmp_path: Path) -> None:
    data = world(tmp_path, 40)[:2]
    with served(Script(judge=wordy)) as server:

        def answered(*more: object) -> Any:
            model = ("--model", "openai/m", "--base-url", server.base_url, "--name", "m", "--store", store_in(tmp_path))
            return run("answer", "visit-bench", *data, *model, *PRICE, "--json", *more).document

        nothing = answered("--dry-run")
        answered("--limit", 20)
        plan, ran = answered("--dry-run"), answered()
    assert nothing["expected"]["output_tokens"] == 250 * 40
    assert (nothing["cost_usd_low"], nothing["cost_usd_high"]) == (nothing["cost_usd_at_least"], nothing["cost_usd"])
    assert (plan["expected"]["replies_on_record"], ran["called"]) == (20, 20)
    within(plan, ran["cost_usd"], rel=0.15)
    assert spent_last(tmp_path)[0] == pytest.approx(plan["cost_usd_expected"], rel=0.01)


def test_a_model_that_answered_long_ago_is_found_behind_those_that_answered_since(tmp_path: Path) -> None:
    data = world(tmp_path, 6)[:2]
    with served(Script(judge=wordy)) as server:
        for name in ("old", "new", "newer"):
            model = ("--model", f"openai/{name}", "--base-url", server.base_url, "--endpoint-name", "scripted")
            run("answer", "visit-bench", *data, *model, "--store", store_in(tmp_path), "--json")
    with Ledger(store_in(tmp_path)) as ledger:
        found = answered_calls(ledger, command="answer", endpoint="scripted", model="old", most=6)
    assert len(found) == 6


@pytest.mark.parametrize("second", [True, False])
def test_what_descriptions_are_likely_to_cost_is_what_they_do_of_one_model_or_two(tmp_path: Path, second: bool) -> None:
    sample = ("describe-images", "creation-mmbench-sample", "--mode", "query-specific", "--store", store_in(tmp_path))
    with served(Script(judge=wordy, per_image=300)) as server, served(Script(judge=wordy, per_character=0.4)) as other:
        model = ("--model", "openai/gpt-4o", "--base-url", server.base_url, "--name", "eye", "--max-tokens", 500)
        asker = ("--query-model", "openai/asker", "--query-base-url", other.base_url) if second else ()
        price = ("--price", "openai/asker:input=3000,output=70000", *PRICE)

        def described(*more: object) -> Any:
            return run(*sample, *model, *asker, *price, "--json", *more).document

        nothing = described("--dry-run")
        first = described("--limit", 6)
        plan, ran = described("--dry-run"), described()
    tokens, longest = nothing["tokens"], 4096 if second else 500
    assert tokens["input_at_most"] - tokens["input"] == pytest.approx(longest * nothing["trials"], rel=0.02)
    assert nothing["cost_usd_at_least"] == nothing["cost_usd_low"] < nothing["cost_usd_expected"]
    assert nothing["cost_usd_expected"] < nothing["cost_usd_high"] == nothing["cost_usd"]
    assert nothing["cost_usd_low"] < first["cost_usd"] + ran["cost_usd"] < nothing["cost_usd_high"]
    assert plan["expected"]["replies_on_record"] == 12
    assert plan["expected"]["calls"] == ran["requests"] == 2 * ran["called"]
    within(plan, ran["cost_usd"], rel=0.15)
    assert spent_last(tmp_path) == (plan["cost_usd_expected"], pytest.approx(ran["cost_usd"]))


@pytest.mark.slow
def test_what_an_audit_is_likely_to_cost_is_what_it_does(tmp_path: Path) -> None:
    with served(Script(judge=wordy)) as server:
        judge = ("audit", "--judge", "openai/judge", "--base-url", server.base_url, "--store", store_in(tmp_path))

        def audited(*more: object) -> Any:
            return run(*judge, *PRICE, "--part", "pairs", "--json", *more).document

        audited("--budget", 40)
        plan = audited("--budget", 120, "--dry-run")
        audited("--budget", 120)
    assert plan["expected"]["replies_on_record"] >= 40
    runs = json.loads(run("runs", "--store", store_in(tmp_path), "--json").out)["runs"]
    within(plan, sum(one["spent_usd"] for one in runs) - _first(runs), rel=0.10)


def _first(runs: Sequence[dict[str, float]]) -> float:
    """What the earlier of two audits with as many runs cost."""
    return sum(one["spent_usd"] for one in runs[len(runs) // 2 :])
