"""`evenhand correlate` and `evenhand sample` as a person types them."""

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from tests.cli.shell import Shell


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
    assert "A, B" in out
    drawn = (shell.folder / "t.svg").read_text(encoding="utf-8")
    assert "Spearman" in drawn
    assert "R²" in drawn


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
