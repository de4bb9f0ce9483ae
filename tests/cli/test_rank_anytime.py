"""Claims about boards that are looked at every day: wider intervals, fewer claims, and bets that stay decided."""

from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from evenhand.stats.intervals import MANY, error_of, reach
from evenhand.stats.sequential import anytime_half_width, betting
from tests.exchange.world import Ran, run, write_lines

UNIT = 400 / 2.302585092994046


def battles(folder: Path, rows: list[tuple[str, str, str, int]]) -> Path:
    named = [{"model_a": a, "model_b": b, "winner": winner, "item": str(item)} for a, b, winner, item in rows]
    return write_lines(folder / "battles.jsonl", named)


def three(folder: Path) -> Path:
    """On 120 items ada beats bel on 90 and cal on 102, bel beats cal on 80."""
    rows = [("ada", "bel", "model_a" if item % 4 else "model_b", item) for item in range(120)]
    rows += [("ada", "cal", "model_a" if item >= 18 else "model_b", item) for item in range(120)]
    rows += [("bel", "cal", "model_a" if item % 3 else "model_b", item) for item in range(120)]
    return battles(folder, rows)


def ranked(file: Path, *more: object) -> Ran:
    done = run("rank", file, "--json", *more)
    assert done.code == 0, done.err
    return done


def by_model(done: Ran) -> dict[str, dict[str, Any]]:
    return {row["model"]: row for row in done.document["models"]}


def test_intervals_for_all_times_are_the_mixtures(tmp_path: Path) -> None:
    file = three(tmp_path)
    once, always = eh.rank(file), eh.rank(file, anytime=True)
    for before, after in zip(once.models, always.models, strict=True):
        error, value = error_of(before.rating), before.rating.value
        assert error is not None
        assert value is not None
        assert after.rating.value == value
        assert after.rating.upper is not None
        assert before.rating.upper is not None
        few = reach(before.rating.effective or before.rating.clusters) / reach(MANY)
        half = anytime_half_width(error / UNIT) * UNIT * few
        assert after.rating.upper - value == pytest.approx(half)
        assert half > before.rating.upper - value
    told = ranked(file, "--anytime")
    assert by_model(told)["ada"]["rating_upper"] == pytest.approx(always.models[0].rating.upper)
    assert "hold at all times together" in told.document["notes"][0]
    for more in ((), ("--explain",)):
        shown = " ".join(run("rank", file, "--anytime", *more).out.split())
        assert shown.count("hold at all times together") == 1, "nobody takes the board for one of a single look"


def test_claims_for_all_times_are_fewer_and_never_others(tmp_path: Path) -> None:
    file = three(tmp_path)
    once, always = by_model(ranked(file)), by_model(ranked(file, "--anytime"))
    assert (once["ada"]["rank_upper"], once["cal"]["rank_lower"]) == (1, 3)
    for model in once:
        for kind in ("rank", "rank_own"):
            assert always[model][f"{kind}_lower"] <= once[model][f"{kind}_lower"]
            assert always[model][f"{kind}_upper"] >= once[model][f"{kind}_upper"]
    assert always["cal"]["rank_lower"] > 1, "ada is far above cal at any time"
    assert always["ada"]["tier"] == 1


def test_bets_decide_after_eleven_wins_and_stay_decided(tmp_path: Path) -> None:
    wins = [("ada", "bel", "model_a", item) for item in range(11)]
    losses = [("bel", "ada", "model_a", item) for item in range(11, 15)]
    (told,) = ranked(battles(tmp_path, wins + losses), "--compare", "ada,bel", "--anytime").document["betting"]
    assert (told["decided_at"], told["better"], told["items"]) == (11, "ada", 15)
    assert told["e_value"] < 20
    (turned,) = ranked(battles(tmp_path, wins + losses), "--compare", "bel,ada", "--anytime").document["betting"]
    assert (turned["decided_at"], turned["better"]) == (11, "ada")
    few = battles(tmp_path, [*wins[:10], ("bel", "ada", "model_a", 10)])
    (open_,) = ranked(few, "--compare", "ada,bel", "--anytime").document["betting"]
    assert (open_["decided_at"], open_["better"]) == (None, None)
    shown = run("rank", few, "--compare", "ada,bel", "--anytime")
    assert "Nothing is decided between ada and bel" in " ".join(shown.out.split())


def test_two_verdicts_on_one_item_are_one_bet(tmp_path: Path) -> None:
    rows = [("ada", "bel", "model_a", item) for item in range(10) for _ in range(2)]
    (told,) = ranked(battles(tmp_path, rows), "--compare", "ada,bel", "--anytime").document["betting"]
    assert (told["items"], told["e_value"]) == (10, pytest.approx(15.845147, abs=1e-6))


def test_an_item_shown_in_one_order_waits_for_the_other_so_that_bets_stay_decided(tmp_path: Path) -> None:
    whole = [(*pair, item) for item in range(12) for pair in (("ada", "bel", "model_a"), ("bel", "ada", "model_b"))]
    half = [("ada", "bel", "model_a", item) for item in range(12, 15)]
    turned = [("bel", "ada", "model_a", item) for item in range(12, 15)]
    (before,) = ranked(battles(tmp_path, whole[:20] + half), "--compare", "ada,bel", "--anytime").document["betting"]
    assert (before["items"], before["decided_at"]) == (10, None), "three wins more would have decided it"
    (after,) = ranked(battles(tmp_path, whole[:20] + half + turned), "--compare", "ada,bel", "--anytime").document[
        "betting"
    ]
    assert (after["items"], after["decided_at"]) == (13, None)
    (all_,) = ranked(battles(tmp_path, whole), "--compare", "ada,bel", "--anytime").document["betting"]
    assert (all_["items"], all_["decided_at"]) == (12, 11)


def test_bets_on_a_soft_board_are_on_soft_verdicts(tmp_path: Path) -> None:
    rows = [
        {"model_a": "ada", "model_b": "bel", "winner": "model_a", "item": str(item), "soft": 0.75} for item in range(10)
    ]
    rows += [{"model_a": "bel", "model_b": "ada", "winner": "model_a", "item": "10", "soft": 0.75}]
    file = write_lines(tmp_path / "soft.jsonl", rows)
    (soft,) = ranked(file, "--soft", "--compare", "ada,bel", "--anytime").document["betting"]
    (hard,) = ranked(file, "--compare", "ada,bel", "--anytime").document["betting"]
    assert soft["e_value"] == pytest.approx(betting([0.75] * 10 + [0.25]).value)
    assert hard["e_value"] == pytest.approx(betting([1.0] * 10 + [0.0]).value)


def test_juries_and_resamples_have_no_intervals_for_all_times(tmp_path: Path) -> None:
    rows = [
        {"model_a": a, "model_b": b, "winner": "model_a" if (item + len(judge)) % 3 else "model_b", "item": str(item),
         "rater": judge, "rater_kind": "model"}
        for item in range(30) for a, b in (("ada", "bel"), ("bel", "cal"), ("ada", "cal"))
        for judge in ("acme/one", "openai/four", "mistral/seven")
    ]  # fmt: skip
    file = write_lines(tmp_path / "judges.jsonl", rows)
    assert run("rank", file, "--jury", "learned").code == 0
    for more in (("--jury", "learned"), ("--jury", "mean", "--compare", "ada,bel"), ("--bootstrap", 20)):
        refused = run("rank", file, "--anytime", *more)
        assert refused.code == 2
        assert "leave --anytime" in refused.err


def test_other_methods_have_no_intervals_for_all_times(tmp_path: Path) -> None:
    refused = run("rank", three(tmp_path), "--method", "elo", "--anytime")
    assert refused.code == 2
    assert "Bradley-Terry's" in refused.err
