"""Claims about which judge is to be taken, of files that were made to mislead."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.domain.estimate import Estimate
from tests.exchange.world import run, store_in, write_lines


def written(folder: Path, rows: list[tuple[object, ...]]) -> Path:
    path = folder / "said.csv"
    lines = ["item,rater,rater_kind,model_a,model_b,winner", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_who_judged_easier_cases_is_not_taken_for_nearer_to_people(tmp_path: Path):
    """On the hard cases, which both judged, Alpha is right in a fifth and Beta in four fifths; Alpha judged a hundred
    easy ones besides."""
    rows: list[tuple[object, ...]] = [(item, "ann", "human", "X", "Y", "model_a") for item in range(160)]
    for item in range(60):
        rows.append((item, "Alpha", "model", "X", "Y", "model_a" if item % 5 == 0 else "model_b"))
        rows.append((item, "Beta", "model", "X", "Y", "model_b" if item % 5 == 0 else "model_a"))
    rows += [(item, "Alpha", "model", "X", "Y", "model_a") for item in range(60, 160)]
    rows += [(item, "Beta", "model", "X", "Y", "model_b") for item in range(60, 70)]
    found = eh.judges(written(tmp_path, rows))
    near = {one["judge"]: one["agreement"] for one in found.rows()}
    assert found.choice.judge == "Beta"
    assert "on the same cases more often than Alpha" in found.choice.sentence
    assert set(near) == {"Alpha", "Beta"}


def test_one_pair_in_both_orders_does_not_hide_a_leaning_that_all_others_show(tmp_path: Path):
    rows: list[tuple[object, ...]] = []
    for item in range(200):
        first, second = ("X", "Y") if item % 2 else ("Y", "X")
        rows.append((item, "ann", "human", first, second, "model_a" if item % 3 else "model_b"))
        rows.append((item, "leaning", "model", first, second, "model_a" if item % 9 else "model_b"))
    alone = eh.judges(written(tmp_path, rows)).judges[0].first_position
    rows.append((1, "leaning", "model", "Y", "X", "model_b"))
    with_one = eh.judges(written(tmp_path, rows)).judges[0].first_position
    for found in (alone, with_one):
        assert found.lower is not None
        assert found.lower > 0.8


def test_a_leaning_that_one_order_shows_is_told_of_a_ledger_as_of_its_file(tmp_path: Path):
    rows: list[tuple[object, ...]] = []
    for item in range(60):
        first, second = ("X", "Y") if item % 2 else ("Y", "X")
        rows.append((item, "ann", "human", first, second, "model_a" if item % 3 else "model_b"))
        rows.append((item, "leaning", "model", first, second, "model_a" if item % 9 else "model_b"))
    said, store = written(tmp_path, rows), store_in(tmp_path)
    items = write_lines(tmp_path / "own.jsonl", [{"item": str(item), "instruction": f"Q{item}"} for item in range(60)])
    told = [{"item": str(item), "model": model, "response": model} for item in range(60) for model in "XY"]
    for file, what in ((write_lines(tmp_path / "told.jsonl", told), "--responses"), (said, "--judgements")):
        done = run("import", file, what, "--benchmark", items, "--store", store)
        assert done.code == 0, done.err
        assert "three levels" not in done.err, "a winner is one of three by its nature"
    (of_file,), (of_ledger,) = eh.judges(said).judges, eh.judges(ledger=store).judges
    assert of_ledger.first_position.value == pytest.approx(of_file.first_position.value)
    assert (of_ledger.first_position.lower or 0) > 0.6


def test_nobody_is_advised_to_pay_a_judge_that_may_know_nothing(tmp_path: Path):
    """Both follow a coin of their own; a third that follows people is then taken."""
    coins = {name: random.Random(name) for name in ("ann", "coin", "other")}
    rows: list[tuple[object, ...]] = []
    for item in range(120):
        for name, coin in coins.items():
            kind = "human" if name == "ann" else "model"
            rows.append((item, name, kind, "X", "Y", "model_a" if coin.random() < 0.5 else "model_b"))
    found = eh.judges(written(tmp_path, rows)).choice
    assert found.judge is None
    assert "None of these judges is shown to agree with people more than chance does." in found.sentence
    assert eh.judges(written(tmp_path, [row for row in rows if row[1] != "other"])).choice.judge is None
    people = [row for row in rows if row[1] == "ann"]
    knows = [(row[0], "knows", "model", *row[3:]) for row in people]
    assert eh.judges(written(tmp_path, [*rows, *knows])).choice.judge == "knows"


def follows(rate: float, seed: str) -> list[str]:
    """Winners of 120 cases in which people say X, of a judge that says so at this rate."""
    coin = random.Random(seed)
    said = ["model_a"] * round(120 * rate) + ["model_b"] * (120 - round(120 * rate))
    coin.shuffle(said)
    return said


def of_judges(said: dict[str, list[str]]) -> list[tuple[object, ...]]:
    """People are for X on one half of the cases and for Y on the other, and so is a judge that is right."""
    rows: list[tuple[object, ...]] = []
    for item in range(120):
        turned = item % 2
        for name, winners in {"ann": ["model_a"] * 120, **said}.items():
            kind = "human" if name == "ann" else "model"
            winner = winners[item]
            rows.append((item, name, kind, *(("Y", "X") if turned else ("X", "Y")), winner))
    return rows


def test_nobody_is_said_to_be_further_from_people_who_was_not_shown_to_be(tmp_path: Path):
    """The lower one may follow a coin, and no difference to the other is shown."""
    said = {"upper": follows(0.64, "upper"), "lower": follows(0.56, "lower")}
    found = eh.judges(written(tmp_path, of_judges(said)))
    kappa = {one.judge: one.kappa for one in found.judges}
    assert (kappa["upper"].lower or 0) > 0 > (kappa["lower"].lower or 0)
    assert found.choice.judge == "upper"
    assert "more often than" not in found.choice.sentence
    assert "Whether lower agrees with people more than chance does is not shown." in found.choice.sentence


def test_a_judge_that_another_is_shown_to_be_nearer_than_is_not_advised_for_its_price(tmp_path: Path):
    """`steady` is right wherever `cheap` is, and more; `wild` is right most often, and errs where the two do not."""
    wrong = {
        "cheap": range(0, 120, 4),
        "steady": [item for item in range(0, 120, 4) if item % 12],
        "wild": range(1, 115, 6),
    }
    said = {name: ["model_b" if item in some else "model_a" for item in range(120)] for name, some in wrong.items()}
    dollars = {"cheap": 1.0, "steady": 2.0, "wild": 3.0}
    found = eh.judges(written(tmp_path, of_judges(said)))
    assert [one.judge for one in found.judges] == ["wild", "steady", "cheap"]
    priced = replace(
        found,
        judges=tuple(replace(one, cost_per_1000_usd=Estimate(value=dollars[one.judge])) for one in found.judges),
    )
    assert priced.choice.judge == "steady"
    without = replace(priced, judges=tuple(one for one in priced.judges if one.judge != "steady"))
    assert without.choice.judge == "cheap", "no difference to the nearest is shown"
