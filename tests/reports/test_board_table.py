"""Claims about the printed board."""

import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.board import Board
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.shown.columns import BoardColumn
from evenhand.reports.board.shown.leaders import leaders
from evenhand.reports.board.shown.table import print_board
from tests.ledger import scene
from tests.ledger.scene import TRIALS, prefers, record, without
from tests.refusals import tells


def printed(made: Board, *, width: int = 120, more: Sequence[BoardColumn] = (), explain: bool = True) -> str:
    out = io.StringIO()
    print_board(made, Console(file=out, width=width), more=more, explain=explain)
    return out.getvalue()


def judged_sample(ledger: Ledger, method: str) -> Board:
    ledger.register_benchmark(replace(scene.BENCHMARK, sample=True))
    scene.set_up(ledger)
    record(ledger, TRIALS, [prefers(trial, 1) for trial in TRIALS])
    return rank(ledger, method=method)


@pytest.mark.parametrize(("method", "heading"), [("win-rate", "95 % interval"), ("elo", "Elo")])
def test_the_board_names_data_judge_and_models_and_ends_with_whether_to_trust(
    ledger: Ledger, method: str, heading: str
):
    words = printed(judged_sample(ledger, method))
    for expected in (
        "numbers (a sample of ours)",
        "openai/judge under p (shown the caption), free readout",
        heading,
        "amber",
        "blue",
    ):
        assert expected in words
    assert words.index("blue") < words.index("Can this judge be trusted?")
    assert re.search(r"swap consistency +0 %", words)
    tells(words, "real models")


def test_a_models_name_is_never_read_as_markup(ledger: Ledger):
    made = judged_sample(ledger, "win-rate")
    odd = replace(made, models=tuple(replace(s, model=f"[red]{s.model}[/red]") for s in made.models))
    assert "[red]amber[/red]" in printed(odd)


def of_rows(*rows: tuple[str, str, str]) -> Board:
    return rank(pl.DataFrame(rows, schema=["model_a", "model_b", "winner"], orient="row"))


def test_a_narrow_window_drops_what_can_be_spared_and_says_so():
    made = of_rows(*[("a-model-of-twenty-chrs", "another", word) for word in ("model_a", "tie", "model_b", "tie")])
    wide, narrow = printed(made), printed(made, width=60)
    assert "tier" in wide.splitlines()[3]
    assert "wider window" not in wide
    head = narrow.splitlines()[3]
    assert "tier" not in head
    assert "rating" in head
    assert "95 % interval" in head
    assert "A wider window shows simultaneous, tier" in narrow
    assert max(map(len, narrow.splitlines())) <= 60


def test_what_is_asked_for_stands_in_a_column_of_its_own_and_in_a_sentence():
    made = of_rows(("X", "Y", "model_a"), ("Y", "X", "model_a"))
    words = printed(made, more=[BoardColumn(heading="of yours", cells={"X": "7 of 9"}, sentences=("So it is.",))])
    rows = {line.split()[4]: line for line in words.splitlines() if line[:1].isdigit()}
    assert rows["X"].endswith("7 of 9")
    assert rows["Y"].endswith("–")
    assert "So it is." in words


@pytest.mark.parametrize("width", [60, 80, 110, 120])
def test_what_has_no_room_beside_the_board_stands_under_it(width: int):
    names = ("a-model-of-twenty-chrs", "another")
    made = of_rows(*[(*names, word) for word in ("model_a", "tie", "model_b", "tie")])
    more = [
        BoardColumn(heading=f"column {n}", cells=dict.fromkeys(names, f"{n}00 to {n}99 points")) for n in range(1, 6)
    ]
    words = printed(made, width=width, more=more)
    lines = words.splitlines()
    assert max(map(len, lines)) <= width
    for number in range(1, 6):
        rows = [line for line in lines if f"{number}00 to {number}99 points" in line]
        assert len(rows) == 2
        assert "a-model-of-twenty" in rows[0] + rows[1]
    assert sum(line.startswith("─") for line in lines) > 1


def test_a_name_is_not_folded_for_a_column_asked_for():
    made = of_rows(*[("a-model-of-thirty-characters-now", "b", word) for word in ("model_a", "tie", "model_b", "tie")])
    more = [BoardColumn(heading="more", cells={"b": "1000 to 1100"})]
    for width in (80, 90, 95, 120):
        assert printed(made, width=width, more=more).count("a-model-of-thirty-characters-now") >= 1
    narrow, wide = printed(made, width=80, more=more), printed(made, width=120, more=more)
    assert [words.count("────\n") for words in (narrow, wide)] == [2, 1]


def test_parts_of_pairs_are_rounded_and_said_to_be():
    # Each pair was shown twice with X first, once to a tie: half of it is without ties.
    rows = [(i, a, b, w) for i in range(5) for a, b, w in (("X", "Y", "model_a"), ("X", "Y", "tie"), ("Y", "X", "tie"))]
    rows += [(i, "Y", "X", "model_b") for i in range(3)]
    made = rank(pl.DataFrame(rows, schema=["item", "model_a", "model_b", "winner"], orient="row"))
    words = printed(made)
    assert "5 pairs" in words
    assert "about 1 pair\n" in words


def test_a_board_with_ranges_says_what_they_are():
    words = printed(of_rows(("X", "Y", "model_a"), ("Y", "X", "model_a")), width=400)
    assert (
        "own range: the ranks a model may hold, right for that model alone (at 95 %); simultaneous: right for" in words
    )
    assert "Tier 1: no model is separated above it" in words
    assert "Ranges are wide where few rows separate the models." in words
    narrow = printed(
        of_rows(("a-model-of-twenty-chrs", "Y", "model_a"), ("Y", "a-model-of-twenty-chrs", "tie")), width=60
    )
    assert "own range: the ranks a model may hold" in narrow
    assert "simultaneous:" not in narrow
    assert "Tier 1" not in narrow
    elo = rank(pl.DataFrame([("X", "Y", "tie")], schema=["model_a", "model_b", "winner"], orient="row"), method="elo")
    assert "range:" not in printed(elo)


def test_missing_verdicts_show_where_models_might_stand(ledger: Ledger):
    scene.set_up(ledger)
    said = [prefers(TRIALS[0], 1), prefers(TRIALS[1], 1), *(without(trial, "refused") for trial in TRIALS[2:])]
    record(ledger, TRIALS, said)
    made = rank(ledger)
    words = printed(made)
    assert [line.split()[-1] for line in words.splitlines() if "amber" in line or " blue" in line][:2] == ["1–2"] * 2
    assert "if all its own missing verdicts went to it, and if all went against it" in words.replace("\n", " ")
    bands = json.loads(made.to_json())["bands"]
    assert [(one["model"], one["missing"], one["rank_best"], one["rank_worst"]) for one in bands["models"]] == [
        ("amber", 4, 1, 2),
        ("blue", 4, 1, 2),
    ]


def test_a_model_that_was_only_asked_in_vain_is_on_the_board_without_a_rating(ledger: Ledger):
    scene.set_up(ledger)
    record(ledger, TRIALS, [without(trial, "refused") for trial in TRIALS])
    made = rank(judged_battles(ledger, studies(ledger)))
    assert [(one.model, one.rating.value, one.rank) for one in made.models] == [
        ("amber", None, None),
        ("blue", None, None),
    ]
    tells(printed(made), made.models[0].note)


def test_many_sentences_about_single_models_hide_nothing_that_was_left_out():
    names = [f"m{place:02}" for place in range(20)]
    made = of_rows(*[(name, "loser", "model_a") for name in names], ("loser", "loser", "tie"))
    words = printed(made)
    tells(words, "--json")
    tells(words, "1 row", "itself")
    assert len(made.basis) > 20


def test_who_leads_is_said_first_and_how_it_was_made_after_what_was_found(tmp_path: Path):
    # 30 items for A, one more with a fourth of the weight, and three without a verdict.
    trials = [(f"i{n}", f"r{n}", 1) for n in range(30)] + [("much", f"s{n}", -1) for n in range(10)]
    shared = {"protocol": "p", "rater_kind": "model", "replicate": 0, "run": "x", "at": 0, "cost_usd": 0}
    rows: list[Any] = [
        {"item": item, "rater": rater, "verdict": {"kind": "preference", "value": value, "levels": 2}, "reason": None}
        for item, rater, value in trials
    ]
    rows += [{"item": f"lost{n}", "rater": f"t{n}", "verdict": None, "reason": "unreadable"} for n in range(3)]
    file = tmp_path / "battles.jsonl"
    file.write_text("\n".join(json.dumps({"models": ["A", "B"], **shared, **one}) for one in rows))
    board = rank(file)
    words = " ".join(printed(board).split())
    told = [
        leaders(board)[0],
        board.about_ranks[0],
        *board.clusters.sentences,
        *board.about_missing,
        "own range: the ranks",
        board.basis[0],
    ]
    assert (len(board.clusters.sentences), len(board.about_missing)) == (1, 1)
    places = [words.index(" ".join(one.split())) for one in told]
    assert places == sorted(places)
    # The conclusion stands right under the table, and nothing is printed twice.
    assert "─" not in words[places[0] :]
    assert words.count(board.about_ranks[0]) == 1
