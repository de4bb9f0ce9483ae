"""`evenhand rank` as a person types it: battles files, and what was judged."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl
import pytest

from evenhand.cli.main import main

LLMFAO = Path(__file__).parents[2].parent / "shared" / "data" / "llmfao-crowd-comparisons.csv"
with_llmfao = pytest.mark.skipif(not LLMFAO.exists(), reason=f"{LLMFAO} is not here")


class Shell:
    """The program in this process, in a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys, self._monkeypatch = folder, capsys, monkeypatch
        self.said_beside = ""
        """On standard error, last."""
        monkeypatch.chdir(folder)

    def run(self, *arguments: object, expect: int = 0) -> str:
        """Standard output; where it is to fail, standard error, and nothing on the other."""
        self._monkeypatch.setattr(sys, "argv", ["evenhand", "rank", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        said = self._capsys.readouterr()
        assert left.value.code == expect, said.err
        assert "nobody foresaw" not in said.err
        if expect:
            assert said.out == ""
            return said.err
        self.said_beside = said.err
        return said.out

    def document(self, *arguments: object) -> dict[str, Any]:
        made = json.loads(self.run(*arguments, "--json"))
        assert made["schema"] == 1
        return made

    def battles(self, *rows: str, header: str = "model_a,model_b,winner") -> Path:
        path = self.folder / "battles.csv"
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def ratings(made: dict[str, Any]) -> dict[str, float]:
    return {row["model"]: row["rating"] for row in made["models"]}


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


@with_llmfao
def test_elo_in_file_order_is_evalicas_for_59_models(shell: Shell, llmfao: pl.DataFrame) -> None:
    import evalica

    made = shell.document(LLMFAO, "--method", "elo", "--k", "4")
    assert (made["battles"], made["items"], made["source"]) == (8931, 2139, LLMFAO.name)
    found = ratings(made)
    assert len(found) == 59
    assert found == pytest.approx(evalica.elo(*evalicas(llmfao), k=4).scores.to_dict(), abs=1e-6)
    assert found["GPT 4"] == pytest.approx(1095.59, abs=0.005)


@with_llmfao
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


@with_llmfao
def test_clustered_and_unclustered_intervals_stand_side_by_side(shell: Shell) -> None:
    words = shell.run(LLMFAO, "--item-column", "id", "--unclustered")
    (row,) = [line for line in words.splitlines() if "Claude Instant v1" in line]
    assert "1018 to 1121" in row
    assert row.endswith("1024 to 1115")
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


@with_llmfao
def test_59_models_are_printed_whole_with_an_account_of_how(shell: Shell) -> None:
    words = shell.run(LLMFAO, "--order-effect", "--compare", "GPT 4,command", "--baseline", "Weaver 12k")
    assert all(f"\n{place:2}  " in words for place in range(1, 60))
    for expected in (
        "Bradley-Terry from 8,931 rows on 2,139 items, 59 models",
        "Being shown first is worth 15.8 points (95\u00a0% interval 9 to 23).",
        "GPT 4 against command: better on 0 items, worse on 1, level on 0",
        "vs Weaver 12k: share won, a tie half a win",
        "Rank ranges hold for all models together",
        "no rater saw the answers of two models to one item in both orders",
    ):
        assert expected in words


def test_many_models_are_cut_unless_all_are_asked_for(shell: Shell) -> None:
    rows = [f"m{place:03},m{(place + 1) % 120:03},{'model_a' if place % 3 else 'model_b'}" for place in range(120)]
    path = shell.battles(*rows, *(row.replace("model_a", "tie") for row in rows))
    words = shell.run(path)
    assert "The first 50 of 120 models; --all prints every one" in words
    assert sum(f" m{place:03} " in words for place in range(120)) == 50
    everything = shell.run(path, "--all")
    assert sum(f" m{place:03} " in everything for place in range(120)) == 120


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
        (["--bootstrap", "1"], "--bootstrap needs at least 20 resamples, not 1; 1000 are usual."),
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
    assert "row 2, line 3: The winner is 'modelb'" in shell.run(path, expect=2)
    assert "There is no such file" in shell.run("nowhere.csv", expect=2)
    assert "give the file too" in shell.run("--item-column", "id", expect=2)


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


def test_ranking_a_file_loads_neither_the_ledger_nor_the_models(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a", "Y,X,model_a")
    program = (
        "import sys; sys.argv = ['evenhand', 'rank', sys.argv[1]]\n"
        "from evenhand.cli.main import evenhand\n"
        "evenhand.main(standalone_mode=False)\n"
        "heavy = {'sqlalchemy', 'aiohttp', 'scipy', 'altair', 'numba', 'alembic', 'PIL'} & set(sys.modules)\n"
        "print('heavy:', sorted(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("heavy: []\n")


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


def test_a_paired_test_through_a_baseline_is_in_the_document(shell: Shell) -> None:
    rows = [f"{item},X,base,model_a" for item in range(8)] + [f"{item},Y,base,model_b" for item in range(8)]
    path = shell.battles(*rows, header="item,model_a,model_b,winner")
    made = shell.document(path, "--compare", "X,Y", "--baseline", "base")
    (test,) = made["paired"]
    assert (test["baseline"], test["wins"], test["losses"], test["difference"]) == ("base", 8, 0, 1.0)
    assert test["p_value"] == pytest.approx(2 / 2**8)
    assert made["baseline"]["model"] == "base"
    assert {row["model"]: row["win_rate"] for row in made["baseline"]["models"]} == {"X": 1.0, "Y": 0.0}


def test_models_that_never_met_are_compared_through_a_baseline_and_by_their_ratings(shell: Shell) -> None:
    rows = [f"{item},X,base,{'model_b' if item == 0 else 'model_a'}" for item in range(8)]
    rows += [f"{item},Y,base,{'model_a' if item == 1 else 'model_b'}" for item in range(8)]
    path = shell.battles(*rows, header="item,model_a,model_b,winner")
    words = shell.run(path, "--compare", "X,Y", "--compare", "Y,base", "--baseline", "base")
    assert (
        "X and Y never met; both against base: better on 6 items, worse on 0, level on 2; mean difference of the"
        in words
    )
    # 2 * 400 * log10(7): each is 7 to 1 against base, one way or the other.
    assert "By all battles (Bradley-Terry) X is rated +676 points against Y (95\u00a0% interval" in words
    assert "2 pairs are compared" in words
    assert "take only p below 0.025 (Bonferroni)" in words
    made = shell.document(path, "--compare", "X,Y", "--baseline", "base")["paired"][0]
    assert made["rating_difference"] == pytest.approx(676.08, abs=0.01)
    assert made["rating_difference_lower"] < made["rating_difference"] < made["rating_difference_upper"]
    # A baseline that is one of the two leads nowhere.
    assert "no paired test, for X and Y never met" in shell.run(path, "--compare", "X,Y", "--baseline", "X")


def test_one_comparison_needs_no_remark_and_without_items_counts_battles(shell: Shell) -> None:
    words = shell.run(shell.battles("X,Y,model_a", "Y,X,tie", "Y,X,model_a"), "--compare", "X,Y")
    assert "X against Y: better on 1 battle, worse on 1, level on 1; share won less share lost +0.00" in words
    assert "pairs are compared" not in words


@with_llmfao
def test_a_bootstrap_of_too_few_items_bounds_no_rating(shell: Shell) -> None:
    made = shell.document(LLMFAO, "--item-column", "prompt", "--bootstrap", "20")
    assert {(one["rating_lower"], one["rating_upper"]) for one in made["models"]} == {(None, None)}
    words = " ".join(made["notes"])
    assert "59 ratings rest on 13 items, too few for an interval of each: only differences" in words
    assert "Medians are of 20 resamples of items, seed 0." in words
    assert "rest on the standard errors of differences (sandwich), not on the resamples" in words
    assert "Student" not in words
    assert "Intervals are percentiles" not in words


@with_llmfao
def test_of_many_raters_three_with_a_known_order_effect_are_named(shell: Shell) -> None:
    words = shell.run(LLMFAO, "--rater-column", "worker", "--order-effect")
    assert words.count("To rater ") == 3
    assert "is not known" not in words
    assert "And 121 more raters, 25 with a known effect; --json has each." in words


def test_one_item_is_said_in_sentences_that_agree(shell: Shell) -> None:
    path = shell.battles(*["1,X,Y,model_a", "1,X,Y,model_b"] * 5, header="item,model_a,model_b,winner")
    words = shell.run(path)
    assert "Bradley-Terry from 10 rows on 1 item, 2 models" in words
    assert "2 ratings rest on 1 item, too few for an interval of each: not even differences of two models" in words
    assert "no difference of two models has an interval" in words
    assert "Student" not in words
    assert "Rank ranges hold" not in words


def test_an_anchor_moves_its_own_component_only_and_says_so(shell: Shell) -> None:
    rows = ["X,Y,model_a", "Y,X,model_a", "P,Q,model_a", "Q,P,model_a"]
    anchored = shell.document(shell.battles(*rows), "--anchor", "X=1200")
    assert ratings(anchored) == pytest.approx({"X": 1200, "Y": 1200, "P": 1000, "Q": 1000})
    assert any("moves the ratings of its component alike, and of no other" in note for note in anchored["notes"])
    alone = shell.document(shell.battles(*rows[:2]), "--anchor", "X=1200")
    assert any("this moves all ratings alike" in note for note in alone["notes"])
    assert "did you mean 'gpt-4o'?" in shell.run(
        shell.battles("gpt-4o,b,tie", "b,gpt-4o,tie"), "--anchor", "gpt4o=1", expect=2
    )


def test_a_bare_elo_board_says_that_the_order_matters(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a", "Y,X,model_a")
    assert "Elo depends on the order of the battles" in shell.run(path, "--method", "elo")


def test_flags_that_a_document_uses_are_no_wrong_use_beside_json(shell: Shell) -> None:
    path = shell.battles("X,Y,model_a")
    elo = {one["model"]: one["elo"] for one in shell.document(path, "--k", "8")["models"]}
    assert elo == {"X": 1004.0, "Y": 996.0}


def test_without_items_one_sentence_says_so(shell: Shell) -> None:
    notes = shell.document(shell.battles(*["X,Y,model_a", "Y,X,model_a"] * 20))["notes"]
    assert [note for note in notes if "independent" in note] == [
        "Intervals of 95 %, every row taken for independent of every other (robust sandwich, times G/(G-1))."
    ]


def test_every_option_is_explained() -> None:
    from evenhand.cli.rank_command import command

    unexplained = [one.name for one in command.params if isinstance(one, click.Option) and not one.help]
    assert unexplained == []


def test_a_picture_that_was_written_is_named(shell: Shell) -> None:
    assert "Written: b.svg" not in shell.run(shell.battles("X,Y,model_a", "Y,X,model_a"), "--plot", "b.svg")
    assert shell.said_beside == "Written: b.svg\n"


def test_a_bootstrap_stands_in_the_table_with_its_median(shell: Shell) -> None:
    path = shell.battles(*["X,Y,model_a", "X,Y,model_b", "X,Y,model_a", "X,Y,tie"] * 10)
    words = shell.run(path, "--method", "elo", "--bootstrap", "40", "--resample", "battles", "--seed", "5")
    assert "median" in words
    assert "percentiles of 40 resamples of battles, seed 5" in words
    made = shell.document(path, "--bootstrap", "40")
    assert math.isclose(made["models"][0]["median"], made["models"][0]["rating"], abs_tol=60)
