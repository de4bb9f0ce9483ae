"""`evenhand correlate` and `evenhand sample` as a person types them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from evenhand.domain.response import REFERENCE
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from tests.cli.shell import Shell
from tests.reports.papers.scores.visit_scene import BENCHMARK, FIRST, ITEMS, SECOND, Says, Shown, judge
from tests.scripted_server import server_process


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


TABLE = ("model,A,B,C", "m1,1,2,30%", "m2,2,2.5,10", "m3,3,4,20", "m4,4,3,–", "m5,5,6,10", "m6,6,5.5,5")


def test_every_two_benchmarks_have_scipys_coefficients_over_the_models_that_both_score(shell: Shell):
    made = shell.document("correlate", shell.file("t.csv", *TABLE))
    columns = {"A": [1, 2, 3, 5, 6], "B": [2, 2.5, 4, 6, 5.5], "C": [30, 10, 20, 10, 5]}
    assert [(pair["first"], pair["second"]) for pair in made["pairs"]] == [("A", "B"), ("A", "C"), ("B", "C")]
    for pair in made["pairs"][1:]:
        one, other = columns[pair["first"]], columns[pair["second"]]
        ranks: Any = stats.spearmanr(one, other)
        line: Any = stats.pearsonr(one, other)
        assert pair["spearman"] == pytest.approx(ranks.statistic)
        assert pair["r_squared"] == pytest.approx(line.statistic**2)
        assert pair["spearman_n"] == 5
        assert (pair["spearman_lower"], pair["spearman_upper"]) == (None, None)
        assert "no interval" in pair["spearman_reason"]
        assert pair["r_squared_lower"] <= pair["r_squared"] <= pair["r_squared_upper"]
    assert made["pairs"][0]["spearman_n"] == 6


def test_columns_of_standard_errors_give_the_correlation_without_them(shell: Shell):
    rows = [f"m{one},{one},{one + one % 2},0.5,0.5" for one in range(8)]
    made = shell.document("correlate", shell.file("e.csv", "model,A,B,A_se,B_se", *rows))
    assert made["benchmarks"] == ["A", "B"]
    (pair,) = made["pairs"]
    assert pair["latent_lower"] < pair["latent"] <= pair["latent_upper"] == 1
    assert pair["one_truth"]["spearman_lower"] < pair["spearman"]
    assert pair["reliability"][0] == pytest.approx(1 - 0.25 / 6)
    printed, _ = shell.run("correlate", shell.folder / "e.csv")
    assert "of one truth" in printed
    assert "conservative" in printed
    few = shell.file("f.csv", "model,A,B,A_se,B_se", *rows[:3])
    (pair,) = shell.document("correlate", few)["pairs"]
    assert (pair["latent_lower"], pair["latent_upper"]) == (None, None)
    assert "3 models are too few" in pair["latent_reason"]
    assert "3 models are too few" in " ".join(shell.run("correlate", few)[0].split())
    wrong = shell.file("w.csv", "model,A,B,A_se", "m1,1,2,-1", "m2,2,3,1")
    assert "a standard error is 0 or more" in shell.refused("correlate", wrong)


def test_a_table_and_a_picture_are_made(shell: Shell):
    out, _ = shell.run("correlate", shell.file("t.csv", *TABLE), "--plot", shell.folder / "t.svg")
    assert "A and B" in out
    drawn = (shell.folder / "t.svg").read_text(encoding="utf-8")
    assert "Spearman" in drawn
    assert "R²" in drawn


def test_why_a_figure_is_missing_stands_under_the_table_and_not_in_a_column(shell: Shell):
    rows = ["m1,1,2,0.5,0.5,7", "m2,2,1,0.5,0.5,7", "m3,3,3,0.5,0.5,7"]
    out, _ = shell.run("correlate", shell.file("t.csv", "model,A,B,A_se,B_se,C", *rows))
    table, _, under = out.partition("A and B: no interval: 3 models are too few")
    assert max(map(len, table.splitlines())) < 120
    assert "\nA and C; B and C: " in under


def test_a_correlation_of_exactly_zero_stands_between_the_positive_and_the_negative(shell: Shell):
    rows = ["m1,1,1,2,5,1", "m2,2,2,4,4,1", "m3,3,3,1,3,1", "m4,4,4,3,2,1"]
    out, _ = shell.run("correlate", shell.file("z.csv", "model,A,B,C,D,E", *rows))
    found = {pair["first"] + pair["second"]: pair["spearman"] for pair in shell.document("correlate", "z.csv")["pairs"]}
    assert found["AC"] == 0
    places = [out.index(f"{one} and {other}") for one, other in ("AB", "AC", "AD", "AE")]
    assert places == sorted(places)


def _likes(order: str, but: str) -> Says:
    """A judge who likes models in this order, but on one item the last better than the first."""

    def says(shown: Shown) -> Preference:
        turned = shown.label == but and {shown.first[0], shown.second[0]} == {order[0], order[-1]}
        return FIRST if (order.index(shown.first[0]) < order.index(shown.second[0])) != turned else SECOND

    return says


PLANTS = ("amber", "basil", "cedar", "dill")


def test_a_board_of_the_ledger_is_a_column_beside_the_tables_with_its_standard_errors(shell: Shell):
    ledger = Ledger(f"sqlite:///{shell.folder}/.evenhand/ledger.db")
    judge(ledger, dict.fromkeys(ITEMS, PLANTS), _likes("abcd", "s1"))
    ledger.close()
    rows = ("amber,4,0.5", "basil,3,0.5", "cedar,2,0.5", "dill,1,0.5", "elder,0,0.5")
    made = shell.document("correlate", shell.file("scores.csv", "model,other,other_se", *rows), "--boards")
    assert (made["benchmarks"], made["models"]) == (["other", "visit-bench"], 5)
    (pair,) = made["pairs"]
    assert (pair["spearman"], pair["spearman_n"]) == (pytest.approx(1.0), 4)
    assert pair["one_truth"]["spearman_lower"] < 1
    shell.refuses("EH-CHOOSE-NOTHING", "visit-bench", "TABLE", of=("correlate",))
    named_alike = shell.file("t.csv", "model,visit-bench", "amber,1")
    assert "'visit-bench'" in shell.refused("correlate", named_alike, "--boards")


def test_without_a_table_every_two_boards_of_the_ledger_are_correlated(shell: Shell):
    ledger = Ledger(f"sqlite:///{shell.folder}/.evenhand/ledger.db")
    judge(ledger, dict.fromkeys(("s1", "s2", "s3"), PLANTS), _likes("abcd", "s1"))
    more = replace(BENCHMARK, name="more")
    judge(ledger, dict.fromkeys(("m1", "m2"), PLANTS), _likes("dcba", "m1"), benchmark=more)
    ledger.close()
    made = shell.document("correlate")
    assert (made["benchmarks"], made["models"]) == (["visit-bench", "more"], 4)
    assert made["pairs"][0]["spearman"] == pytest.approx(-1.0)
    assert any("evenhand align" in note for note in made["notes"])
    out, err = shell.run("correlate")
    assert "visit-bench and more" in out
    assert "Bradley-Terry" in err


def test_grades_beside_the_preferences_of_one_board_are_no_second_board(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-the-test")
    with server_process("--judge", "by-quality") as base_url:
        asked = ("--judge", "openai/j", "--judge-base-url", base_url, "--limit", "3", "--quiet")
        shell.run("judge", "creation-mmbench-sample", *asked)
        shell.run("judge", "visit-bench-sample", *asked)
    notes = shell.document("correlate")["notes"]
    assert any("creation_factuality" in note for note in notes)
    assert not any("share its items" in note for note in notes)


def test_the_references_of_two_benchmarks_are_not_one_model(shell: Shell):
    ledger = Ledger(f"sqlite:///{shell.folder}/.evenhand/ledger.db")
    players = ("amber", "basil", "cedar", REFERENCE)
    judge(ledger, dict.fromkeys(("s1", "s2", "s3"), players), _likes("abcr", "s1"))
    pair = replace(BENCHMARK, name="pairs", items=(ITEMS["m1"], ITEMS["m2"]))
    judge(ledger, dict.fromkeys(("m1", "m2"), players), _likes("abcr", "m1"), benchmark=pair)
    other = replace(BENCHMARK, name="again")
    judge(ledger, dict.fromkeys(("s1", "s2", "s3"), players), _likes("abcr", "s2"), benchmark=other)
    ledger.close()
    found = {(one["first"], one["second"]): one["spearman_n"] for one in shell.document("correlate")["pairs"]}
    assert found[("visit-bench", "pairs")] == 3
    assert found[("visit-bench", "again")] == 4, "they are of the same data"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["model,A,B", "m1,1,x"], "t.csv, row 1, line 2: The column `B` is `x`; expected a number"),
        (["model,A", "m1,1"], "Two columns of scores are needed besides `model`"),
        (["model,A,B", "m1,1,2", "m1,2,3"], "The model `m1` stands in row 1"),
        (["model,A,B", ",1,2"], "The column `model` is empty"),
        (["model,A,B", "m1,1,inf"], "is `inf`; expected a number"),
    ],
)
def test_a_table_that_does_not_fit_gets_a_sentence(shell: Shell, lines: list[str], says: str):
    assert says in shell.refused("correlate", shell.file("t.csv", *lines))


def test_questions_are_drawn_put_on_record_and_written(shell: Shell):
    made = shell.document("sample", "creation-mmbench-sample", "--per-task", 1, "--seed", 1, "--out", "q.jsonl")
    written = [json.loads(line) for line in (shell.folder / "q.jsonl").read_text(encoding="utf-8").splitlines()]
    assert written == made["items"]
    assert made["questions"] == len({row["task"] for row in written})
    ledger = Ledger(f"sqlite:///{shell.folder}/.evenhand/ledger.db", create=False)
    (study,) = studies(ledger, purposes=("people",))
    ledger.close()
    assert (study.key, study.rater.kind, study.wanted) == (made["study"], "human", 0)
    shell.run("sample", "creation-mmbench-sample", "--out", "q.jsonl")  # its own file it writes over
    shell.file("q.jsonl", "changed by hand")
    assert "exists already" in shell.refused("sample", "creation-mmbench-sample", "--out", "q.jsonl")
    shell.run("sample", "creation-mmbench-sample", "--out", "q.jsonl", "--force")


def test_answers_on_record_are_to_be_compared_with_the_baseline(shell: Shell):
    sample = Path(__file__).parents[2] / "src/evenhand/benchmarks/creation_mmbench/sample/answers.jsonl"
    shell.run("import", sample, "--responses", "--benchmark", "creation-mmbench-sample")
    made = shell.document("sample", "creation-mmbench-sample", "--per-task", 1)
    assert made["against"] == "reference"
    assert made["comparisons"] == made["questions"] * (len(made["models"]) - 1)
    shell.refuses("EH-CHOOSE-NOTHING", "'nobody'", of=("sample", "creation-mmbench-sample", "--models", "nobody"))
    out, _ = shell.run("sample", "creation-mmbench-sample", "--per-task", 1)
    assert "is in the ledger" in out
    asked = {row["item"]: row["instruction"].split() for row in made["items"]}
    lines = [line.split() for line in out.splitlines() if line.endswith("…")]
    assert lines
    for item, *_, last, _ in lines:
        assert last in asked[item]
