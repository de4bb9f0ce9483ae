"""`evenhand rank` as a person types it: battles files, and what was judged."""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.beside import LLMFAO, needs
from tests.cli.rank_shell import Shell, ratings
from tests.refusals import says
from tests.warm import LONG


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("flags", "rows", "expected"),
    [
        (["--method", "elo"], ["X,Y,model_a"], {"X": 1002.0, "Y": 998.0}),
        (
            ["--method", "elo", "--k", "4"],
            ["X,Y,model_a", "X,Y,model_a", "Y,X,tie"],
            {"X": 1003.931197, "Y": 996.068803},
        ),
        (
            ["--method", "elo"],
            ["X,Y,model_a", "Z,Y,model_b", "X,Z,model_a"],
            {"X": 1003.976909, "Y": 1000.011513, "Z": 996.011578},
        ),
        (
            ["--method", "elo"],
            ["X,Z,model_a", "Y,Z,model_a", "X,Y,model_a"],
            {"X": 1003.999934, "Y": 999.988553, "Z": 996.011513},
        ),
        ([], ["X,Y,model_a"] * 3 + ["X,Y,model_b"], {"X": 1095.4243, "Y": 904.5757}),
        (
            ["--anchor", "Y=1000"],
            ["X,Y,model_a", "X,Y,model_a", "Y,X,model_a", "X,Y,tie (bothbad)"],
            {"X": 1088.7395, "Y": 1000.0},
        ),
        (
            ["--scale", "100", "--base", "2", "--start", "0"],
            ["X,Y,model_a"] * 4 + ["X,Y,model_b"],
            {"X": 100.0, "Y": -100.0},
        ),
    ],
)
def test_worked_values(shell: Shell, flags: list[str], rows: list[str], expected: dict[str, float]) -> None:
    made = shell.document(shell.battles(*rows), *flags)
    assert ratings(made) == pytest.approx(expected, abs=1e-4 if "elo" not in flags else 1e-6)


@pytest.fixture(scope="module")
def llmfao() -> pl.DataFrame:
    return pl.read_csv(LLMFAO)


def evalicas(rows: pl.DataFrame) -> tuple[list[str], list[str], list[Any]]:
    from evalica import Winner

    words = {"left": Winner.X, "right": Winner.Y, "tie": Winner.Draw}
    return rows["left"].to_list(), rows["right"].to_list(), [words[word] for word in rows["winner"]]


@needs(LLMFAO)
def test_elo_in_file_order_is_evalicas_for_59_models(shell: Shell, llmfao: pl.DataFrame) -> None:
    import evalica

    made = shell.document(LLMFAO, "--method", "elo", "--k", "4")
    assert (made["battles"], made["items"], made["source"]) == (8931, 2139, LLMFAO.name)
    found = ratings(made)
    assert len(found) == 59
    assert found == pytest.approx(evalica.elo(*evalicas(llmfao), k=4).scores.to_dict(), abs=1e-6)
    assert found["GPT 4"] == pytest.approx(1095.59, abs=0.005)


@needs(LLMFAO)
def test_bradley_terry_is_evalicas_and_choixs(shell: Shell, llmfao: pl.DataFrame) -> None:
    import choix
    import evalica

    found = ratings(shell.document(LLMFAO, "--ties", "half"))
    names = sorted(found)
    odds = np.array([10 ** ((found[name] - 1000) / 400) for name in names])
    theirs = evalica.bradley_terry(*evalicas(llmfao), tolerance=1e-12, limit=10_000).scores.reindex(names).to_numpy()
    np.testing.assert_allclose(odds / odds.sum(), theirs / theirs.sum(), rtol=1e-4)
    code = {name: place for place, name in enumerate(names)}
    # Choix knows no ties: every win twice, every tie once each way.
    wins: list[tuple[int, int]] = []
    for left, right, winner in llmfao.select("left", "right", "winner").iter_rows():
        one, other = code[left], code[right]
        wins += {"left": [(one, other)] * 2, "right": [(other, one)] * 2}.get(winner, [(one, other), (other, one)])
    np.testing.assert_allclose(odds, np.exp(choix.ilsr_pairwise(59, wins)), rtol=1e-4)


@needs(LLMFAO)
def test_clustered_and_unclustered_intervals_stand_side_by_side(shell: Shell) -> None:
    words = shell.run(LLMFAO, "--item-column", "id", "--unclustered")
    (row,) = [line for line in words.splitlines() if "Claude Instant v1" in line]
    assert "1014 to 1124" in row
    assert row.endswith("1023 to 1116")
    assert "clustered by 2,139 items" in words
    # The same numbers in the document.
    made = shell.document(LLMFAO, "--unclustered")
    clustered = next(one for one in made["models"] if one["model"] == "Claude Instant v1")
    unclustered = next(one for one in made["unclustered"] if one["model"] == "Claude Instant v1")
    assert clustered["rating"] == unclustered["rating"]
    assert (
        clustered["rating_upper"] - clustered["rating_lower"]
        > unclustered["rating_upper"] - unclustered["rating_lower"]
    )


@needs(LLMFAO)
def test_59_models_are_printed_whole_with_an_account_of_how(shell: Shell) -> None:
    words = shell.run(LLMFAO, "--order-effect", "--compare", "GPT 4,command", "--baseline", "Weaver 12k")
    assert all(f"\n{place:2}  " in words for place in range(1, 60))
    for expected in (
        "Bradley-Terry from 8,931 rows on 2,139 items, 59 models",
        "Being shown first is worth 15.8 points (95\u00a0% interval 2 to 30).",
        "GPT 4 against command: better on 0 items, worse on 1, level on 0",
        "vs Weaver 12k: share won, a tie half a win",
        "Simultaneous rank ranges hold for all models together",
        "no rater saw the answers of two models to one item in both orders",
    ):
        assert expected in words


@pytest.mark.slow
def test_many_models_are_cut_unless_all_are_asked_for(shell: Shell) -> None:
    rows = [f"m{place:03},m{(place + 1) % 101:03},{'model_a' if place % 3 else 'model_b'}" for place in range(101)]
    path = shell.battles(*rows, *(row.replace("model_a", "tie") for row in rows))
    # The method that takes least: how many are printed is not its business.
    words = shell.run(path, "--method", "win-rate")
    assert "The first 50 of 101 models; --all prints every one" in words
    assert sum(f" m{place:03} " in words for place in range(101)) == 50
    everything = shell.run(path, "--method", "win-rate", "--all")
    assert sum(f" m{place:03} " in everything for place in range(101)) == 101


def test_components_stand_under_headings(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a", "Y,X,model_a", "Z,X,tie", "A,B,model_a", "B,A,tie", "A,A,tie")
    words = shell.run(path)
    assert words.index("component 1") < words.index(" X ") < words.index("component 2") < words.index(" A ")
    assert words.count("1 row set a model against itself: left out.") == 1


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--judge", "openai/x"], "--judge chooses from the ledger, and battles.csv is a file: give one of the two."),
        (["--run", "7"], "--run chooses from the ledger"),
        (["--see", "none"], "--see chooses from the ledger"),
        (["--store", "sqlite:///x.db"], "--store chooses from the ledger"),
        (["--anchor", "X"], "--anchor is NAME=1000, a model and its rating, not 'X'."),
        (["--anchor", "Q=1000"], "No model is named 'Q'; there is X, Y."),
        (["--method", "elo", "--anchor", "X=1"], "Elo has no anchor"),
        (["--scale", "0"], "--scale must be above 0"),
        (["--start", "nan"], "--start is a finite number, not nan."),
        (["--unit", "battles"], "no item column is known; name one with --item-column."),
        (["--item-column", "thing"], "No column `thing`; found `model_a`, `model_b`, `winner`."),
        (["--compare", "X"], "A comparison is of two models, A,B, not 'X'."),
        (["--compare", "X,Q"], "No model is named 'Q'; there is X, Y."),
        (["--baseline", "Q"], "No model is named 'Q'"),
        (["--method", "win-rate", "--bootstrap", "20"], "Win rates have intervals without a bootstrap"),
        (["--method", "elo", "--unclustered"], "Unclustered intervals are Bradley-Terry's"),
        (["--bootstrap", "1"], "A bootstrap needs at least 20 resamples, not 1; 1000 are usual."),
        (["--bootstrap", "19"], "at least 20"),
        (["--k", "8"], "--k is Elo's step and means nothing to bradley-terry: give --method elo, or leave it out."),
        (["--resample", "battles"], "--resample says what a bootstrap draws: give --bootstrap N too."),
        (["--join", "mt-bench"], "give --unit battles."),
        (["--method", "win-rate", "--start", "0"], "--start is of ratings in points; a win rate is a share"),
        (["--plot", "board.gif"], "A picture is written as .svg, .png, .html; board.gif ends in none of them."),
    ],
)
def test_wrong_use_gets_one_sentence(shell: Shell, flags: list[str], sentence: str) -> None:
    shell.battles("X,Y,model_a", "Y,X,model_a")
    refused = shell.run("battles.csv", *flags, expect=2)
    assert sentence in refused
    assert [path.name for path in shell.folder.iterdir()] == ["battles.csv"]


def test_a_file_that_does_not_fit_names_the_row(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a", "X,Y,modelb")
    says(shell.refused(path), "EH-DATA-CELL", "row 2, line 3: ", "'modelb'")
    says(shell.refused("nowhere.csv"), "EH-FILE-MISSING", "nowhere.csv")
    says(shell.refused("--item-column", "id"), "EH-USAGE", "--item-column", "file")


@pytest.mark.slow
def test_the_board_is_drawn_in_every_format(shell: Shell) -> None:
    path = shell.battles(*["X,Y,model_a", "Y,X,model_a", "Y,Z,tie"] * 3, "W,X,model_a")
    shell.run(path, "--plot", "b.svg", "--plot", "b.html", "--plot", "b.png")
    drawn = (shell.folder / "b.svg").read_text(encoding="utf-8")
    assert ">X<" in drawn
    assert "battles.csv" in drawn
    assert "every row for itself; 10 rows" in drawn
    assert "an arrow without a point: no finite rating, only a bound" in drawn
    assert (shell.folder / "b.png").read_bytes().startswith(b"\x89PNG")
    assert "<html" in (shell.folder / "b.html").read_text(encoding="utf-8").lower()


@pytest.mark.parametrize(("flags", "loaded"), [([], []), (["--json"], ["scipy"])])
def test_ranking_a_file_loads_neither_the_ledger_nor_the_models(
    shell: Shell, flags: list[str], loaded: list[str]
) -> None:
    path = shell.battles("X,Y,model_a", "Y,X,model_a")
    program = (
        "import sys; sys.argv = ['evenhand', 'rank', *sys.argv[1:]]\n"
        "from evenhand.cli.main import evenhand\n"
        "evenhand.main(standalone_mode=False)\n"
        "heavy = {'sqlalchemy', 'aiohttp', 'scipy', 'altair', 'numba', 'alembic', 'PIL'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), *flags], capture_output=True, text=True, timeout=LONG, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"heavy: {loaded}\n")


def test_five_levels_and_length_are_read_off_a_file(shell: Shell) -> None:
    rng = np.random.default_rng(3)
    rows: list[str] = []
    for item in range(60):
        longer = int(rng.integers(-80, 80))
        for first in ("X", "Y"):
            lead = 0.6 + 0.02 * longer + 0.5 * (1 if first == "X" else -1) + rng.logistic()
            value = int(np.digitize(lead, [-2, -0.5, 0.5, 2])) - 2
            rows.append(f"{item},X,Y,{value},{first},{100 + longer},100")
    path = shell.battles(*rows, header="item,model_a,model_b,verdict,first_shown,length_a,length_b")
    made = shell.document(path)
    # Planted: 0.02 a word in natural units, 0.5 for standing first.
    slope, order = made["length_effect"], made["order_effect"]
    assert slope["natural_lower"] < 2.0 < slope["natural_upper"]
    assert order["natural_lower"] < 0.5 < order["natural_upper"]
    assert made["ordinal"]["levels"]["thresholds"][1]["verdict"] == 2
    words = shell.run(path, "--ordinal", "--length", "--order-effect")
    for expected in ("five levels", "at equal", "without", "100 words more are worth", "much better half of the time"):
        assert expected in words
    assert "swap consistency" in words


def test_ratings_at_equal_length_are_left_out_where_the_slope_could_be_anything(shell: Shell) -> None:
    header = "item,model_a,model_b,winner,length_a,length_b"
    winners = ("model_a", "model_b", "model_a", "model_a", "model_b")
    alike = [f"{item},X,Y,{winners[item % 5]},{150 + item % 2},100" for item in range(20)]
    words = " ".join(shell.run(shell.battles(*alike, header=header), "--length").split())
    assert "Ratings at equal length are left out: by that interval even 51 words" in words
    assert "at equal" not in words.split("Ratings at equal length")[0]
    apart = [f"{item},X,Y,{winners[item % 5]},{100 + 40 * (item % 3 - 1)},100" for item in range(60)]
    words = shell.run(shell.battles(*apart, header=header), "--length")
    assert "at equal" in words
    assert "are left out" not in words


def test_a_paired_test_through_a_baseline_is_in_the_document(shell: Shell) -> None:
    rows = [f"{item},X,base,model_a" for item in range(8)] + [f"{item},Y,base,model_b" for item in range(8)]
    path = shell.battles(*rows, header="item,model_a,model_b,winner")
    made = shell.document(path, "--compare", "X,Y", "--baseline", "base")
    (test,) = made["paired"]
    assert (test["baseline"], test["wins"], test["losses"], test["difference"]) == ("base", 8, 0, 1.0)
    assert test["p_value"] == pytest.approx(2 / 2**8)
    assert made["baseline"]["model"] == "base"
    assert {row["model"]: row["win_rate"] for row in made["baseline"]["models"]} == {"X": 1.0, "Y": 0.0}


def test_a_bootstrap_stands_in_the_table_with_its_median(shell: Shell) -> None:
    path = shell.battles(*["X,Y,model_a", "X,Y,model_b", "X,Y,model_a", "X,Y,tie"] * 10)
    words = shell.run(path, "--method", "elo", "--bootstrap", "40", "--resample", "battles", "--seed", "5")
    assert "median" in words
    assert "Intervals are percentiles of 40 resamples of battles, seed 5" in words
    made = shell.document(path, "--bootstrap", "40")
    assert math.isclose(made["models"][0]["median"], made["models"][0]["rating"], abs_tol=60)


def test_winners_in_other_words_are_told_what_they_mean(shell: Shell) -> None:
    usual = shell.battles("X,Y,model_a", "X,Y,model_a", "X,Y,model_b", "Y,X,tie").rename(shell.folder / "usual.csv")
    path = shell.battles("X,Y,A", "X,Y,A", "X,Y,B", "Y,X,draw")
    words = ("--winner-words", "A=model_a,B=model_b,draw=tie")
    assert ratings(shell.document(path, *words)) == ratings(shell.document(usual))
    says(shell.refused(path, "--winner-words", "A=model_a,B=model_b"), "EH-DATA-CELL", "draw", "--winner-words")
    other = shell.battles("X,Y,A", header="links,rechts,besser")
    says(shell.refused(other), "EH-DATA-COLUMN", "`links`, `rechts`, `besser`", "--columns THEIRS=OURS")
    foreign = shell.battles("X,Y,links", "X,Y,rechts", "Y,X,links")
    says(shell.refused(foreign), "EH-DATA-CELL", "3 rows", "'links', 'rechts'.", "--winner-words THEIRS=model_a")
    says(shell.refused(path, "--winner-words", "A=first"), "EH-USAGE", "'first'", "model_b")
    says(shell.refused(path, "--winner-words", "A"), "EH-USAGE", "THEIRS=OURS")
    names = shell.battles("X,Y,X", "X,Y,X", "X,Y,Y", "Y,X,draw")
    assert ratings(shell.document(names, "--winner-words", "draw=tie")) == ratings(shell.document(usual))
    alike = shell.battles("tie,Y,tie", "Y,tie,tie", "Y,tie,draw")
    says(shell.refused(alike, "--winner-words", "draw=tie"), "EH-DATA-CELL", "`tie`", "--winner-as")
    assert shell.document(alike, "--winner-words", "draw=tie", "--winner-as", "words")["models"][0]["ties"] == 3
    assert shell.document(alike, "--winner-words", "draw=tie", "--winner-as", "names")["models"][0]["ties"] == 1


def test_a_board_is_written_as_csv_markdown_and_latex(shell: Shell) -> None:
    rows = [f"{item},x_1,y,{'model_a' if item % 3 else 'model_b'}" for item in range(9)]
    path = shell.battles(*rows, header="item,model_a,model_b,winner")
    headings, first, second = shell.shortly(path, "--format", "csv", "--unclustered").splitlines()
    assert headings.startswith("model,rank,")
    assert headings.endswith(",unclustered")
    assert (first.split(",")[:2], second.split(",")[:2]) == (["x_1", "1"], ["y", "2"])
    assert f"{shell.document(path)['models'][0]['rating']:.1f}" in first
    assert "| x\\_1 | 1 |" in shell.shortly(path, "--format", "md")
    latex = shell.shortly(path, "--format", "latex")
    assert "x\\_1 & 1 &" in latex
    assert "\n% " in latex
