"""Claims about what a board says of anchors, Elo's passes, spellings and missing verdicts, everywhere alike."""

import json
import random
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.shown.columns import outside_its_interval
from evenhand.reports.board.shown.leaders import leaders
from evenhand.reports.page.sheets import board_sheet


def battles(folder: Path, *rows: str, header: str = "item,model_a,model_b,winner") -> Path:
    path = folder / "battles.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def unread(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """B's comparisons often end without a verdict."""
    rng = random.Random(1)
    rows = []
    for item in range(60):
        for a, b, chance in (("A", "B", 0.6), ("A", "C", 0.8), ("B", "C", 0.7)):
            value = 1 if rng.random() < chance else -1
            lost = "B" in (a, b) and rng.random() < 0.3
            verdict = None if lost else {"kind": "preference", "value": value, "levels": 2}
            rows.append(
                {
                    "item": str(item), "models": [a, b], "protocol": "p", "rater": "r", "rater_kind": "model",
                    "replicate": 0, "verdict": verdict, "reason": "unreadable" if lost else None, "run": "x", "at": 0,
                    "cost_usd": 0,
                }
            )  # fmt: skip
    path = tmp_path_factory.mktemp("unread") / "judgements.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_the_board_says_what_share_of_the_missing_would_change_the_leader(unread: Path):
    board = rank(unread)
    made = board.as_json()
    assert made["tipping_point"]["leader"] == "A"  # type: ignore[index, call-overload]
    assert made["tipping_point"]["challenger"] == "B"  # type: ignore[index, call-overload]
    assert 0.7 < made["tipping_point"]["share"] < 0.8  # type: ignore[index, call-overload, operator]
    sentence = board.findings.tipping_point.sentence  # type: ignore[union-attr]
    assert sentence.startswith("The leader changes if more than 7")
    assert sentence in made["notes"]  # type: ignore[operator]
    assert sentence in " ".join(str(board).split())


def test_the_board_names_the_model_whose_verdicts_are_missing_more_often(unread: Path):
    board = rank(unread)
    models = json.loads(board.to_json())["models"]
    shares = {one["model"]: (one["missing_share"], one["missing_more_than_others"]) for one in models}
    assert [model for model, (_, more) in shares.items() if more] == ["B"]
    assert shares["B"][0] == pytest.approx(35 / 120)
    assert any(one.startswith("Verdicts are missing more often of B 29.2 % of 120") for one in board.notes)


def test_a_column_for_own_missing_verdicts_does_not_call_itself_the_worst_case(unread: Path):
    board = rank(unread)
    assert "rank if own missing" in board_sheet(board).headings
    assert any("not the worst that all of them together could do" in one for one in str(board).splitlines())


def test_nothing_is_said_of_missing_verdicts_where_none_are_known_to_be_missing(tmp_path: Path):
    board = rank(battles(tmp_path, "1,A,B,model_a", "2,A,B,model_b"))
    made = board.as_json()
    assert made["tipping_point"] is None
    assert board.about_missing == ()


def one_after_the_other(folder: Path) -> Path:
    # A wins the first half and loses the second: the last battles weigh most.
    rows = [f"{n},A,B,{'model_a' if n < 150 else 'model_b'}" for n in range(300)]
    return battles(folder, *rows)


def test_an_elo_outside_its_interval_says_so_in_its_row(tmp_path: Path):
    board = rank(one_after_the_other(tmp_path), method="elo", bootstrap=100)
    assert all(outside_its_interval(one.rating) for one in board.models)
    assert all(one.note is not None and "one pass lies outside its interval" in one.note for one in board.models)
    words = str(board)
    printed = [line for line in words.splitlines() if line.startswith(("1 ", "2 "))]
    assert len(printed) == 2
    assert all("†" in line for line in printed)
    assert "†: the rating, of one pass, lies outside its interval" in " ".join(words.split())
    even = rank(battles(tmp_path, "1,A,B,model_a", "2,A,B,model_b"), method="elo", bootstrap=50)
    assert "†" not in str(even)
    assert all(f"{one.median:.1f}" in " ".join(printed) for one in board.models)
    sheet = board_sheet(board)
    assert "median" in sheet.headings
    assert all(any("rating outside" in cell for cell in row) for row in sheet.rows)
    assert "median of the resamples" in leaders(board)[0]


def test_a_difference_of_ratings_comes_with_the_verdicts_it_rests_on(tmp_path: Path):
    from evenhand.reports.board.shown.columns import compared

    path = battles(
        tmp_path,
        *[f"{n},A,B,{'model_a' if n % 3 else 'model_b'}" for n in range(12)],
        "99,C,A,model_a",
        "98,A,C,model_a",
    )
    paired = compared(rank(path), "A,B", None).document["paired"]
    assert paired["rating_difference_n"] == 14  # type: ignore[index, call-overload]


def test_davidsons_nu_is_told_with_its_interval(tmp_path: Path):
    rows = [f"{n},A,B,{('model_a', 'model_b', 'tie', 'model_a', 'model_b')[n % 5]}" for n in range(100)]
    board = rank(battles(tmp_path, *rows), scoring=eh.Scoring(ties="davidson"))
    nu = board.as_json()["davidson"]
    # Two equal models: nu / (2 + nu) of the battles are ties.
    assert nu["nu"] == pytest.approx(0.5)  # type: ignore[index, call-overload]
    assert nu["nu_lower"] < 0.5 < nu["nu_upper"]  # type: ignore[index, call-overload, operator]
    assert nu["nu_n"] == 100  # type: ignore[index, call-overload]
    assert "Two equal models tie 20 % of the time (Davidson's nu 0.50)." in board.notes
    assert rank(battles(tmp_path, *rows)).as_json()["davidson"] is None


def test_two_spellings_of_one_name_are_one_model(tmp_path: Path):
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    rows = [f"{n},{composed if n % 2 else decomposed},B,{'model_a' if n % 3 else 'model_b'}" for n in range(30)]
    board = rank(battles(tmp_path, *rows))
    assert sorted(one.model for one in board.models) == ["B", composed]
    assert f"{composed} is one model, in two spellings of one name (Unicode's NFC and NFD)." in board.notes


def test_the_seed_chooses_the_simulations_behind_rank_ranges(tmp_path: Path):
    rows = [
        f"{n},{a},{b},{'model_a' if (n * 7) % 5 else 'model_b'}"
        for n in range(60)
        for a, b in (("A", "B"), ("B", "C"), ("C", "A"))
    ]
    board = rank(battles(tmp_path, *rows), seed=5)
    assert any("in 10,000 simulations, seed 5" in one for one in board.notes)


def test_a_board_printed_in_python_names_parameters_and_no_flags(tmp_path: Path):
    again = ["9,X,Y,model_b,0"] * 8
    rows = [f"{item},X,Y,{'model_a' if item < 6 else 'model_b'},0" for item in range(10)]
    path = battles(tmp_path, *rows, *again, header="item,model_a,model_b,winner,rater")
    printed = str(rank(path))
    assert "(`repeats` count)" in printed
    assert "Its `notes` tell" in printed
    assert "--" not in printed.replace("─", "")
    wide = battles(tmp_path, *(f"{item},m{item},m{item + 1},model_a" for item in range(120)))
    assert "to_polars() has every one" in str(rank(wide))
