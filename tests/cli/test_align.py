"""`evenhand align` as a person types it: files of preferences against independent figures, and the ledger."""

import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.cli.shell import Shell
from tests.refusals import says

HEADER = "item,rater,rater_kind,model_a,model_b,verdict"
MODELS = ("X", "Y", "Z")


class Explained(Shell):
    """Asks `align` for every figure, unless for a document or a table."""

    def run(self, *arguments: object, expect: int = 0) -> tuple[str, str]:
        whole = arguments[0] == "align" and not {"--json", "--format"} & set(arguments)
        return super().run(*arguments, *(["--explain"] if whole else []), expect=expect)

    def shortly(self, *arguments: object) -> str:
        return super().run("align", *arguments)[0]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explained:
    return Explained(tmp_path, monkeypatch, capsys)


def clipped(value: float) -> int:
    return max(-2, min(2, round(value)))


def study(seed: int = 3) -> tuple[list[str], dict[str, dict[tuple[int, str], Any]]]:
    """Rows of a file, and what each rater said of each case: people once, some missing; judges in both orders."""
    lots = random.Random(seed)
    rows: list[str] = []
    said: dict[str, dict[tuple[int, str], Any]] = {}
    for item in range(25):
        for model in MODELS:
            truth = lots.gauss({"X": 0.6, "Y": 0.0, "Z": -0.8}[model], 1)
            for person in ("ann", "bob", "cat"):
                if lots.random() < 0.85:
                    value = clipped(truth + lots.gauss(0, 0.6))
                    said.setdefault(person, {})[item, model] = value
                    rows.append(f"{item},{person},human,{model},reference,{value}")
            for judge, noise in (("near", 0.4), ("far", 1.5)):
                pair = clipped(truth + lots.gauss(0, noise)), clipped(truth + lots.gauss(0, noise))
                said.setdefault(judge, {})[item, model] = pair
                rows.append(f"{item},{judge},model,reference,{model},{-pair[0]}")
                rows.append(f"{item},{judge},model,{model},reference,{pair[1]}")
    return rows, said


PEOPLE = ("ann", "bob", "cat")


def means(said: dict[str, dict[tuple[int, str], Any]], *, of: tuple[str, ...] = PEOPLE) -> dict[tuple[int, str], float]:
    cases = sorted({case for person in of for case in said[person]})
    return {case: float(np.mean([said[person][case] for person in of if case in said[person]])) for case in cases}


def test_a_file_gives_the_figures_that_other_packages_give(shell: Shell):
    rows, said = study()
    made = shell.document("align", shell.file("p.csv", HEADER, *rows))
    people = means(said)
    assert made["baseline"] == "reference"
    assert made["cases"] == len(people)
    for rater in made["raters"]:
        both = said[rater["rater"]]
        dual = np.array([sum(both[case]) / 2 for case in people])
        mean = np.array(list(people.values()))
        decided = mean != 0
        assert rater["mae"] == pytest.approx(np.abs(dual - mean).mean())
        assert rater["consistency"] == pytest.approx((np.abs(dual - mean) <= 1).mean())
        assert rater["agreement"] == pytest.approx((np.sign(dual) == np.sign(mean))[decided].mean())
        assert rater["agreement_n"] == decided.sum()
        assert rater["kappa"] == pytest.approx(cohen_kappa_score(np.sign(dual), np.sign(mean)))
        first = np.array([both[case][0] for case in people])
        assert rater["published_order"]["mae"] == pytest.approx(np.abs(first - mean).mean())
        for of_model in rater["models"]:
            some = [n for n, (_, model) in enumerate(people) if model == of_model["model"]]
            assert of_model["mae"] == pytest.approx(np.abs(dual - mean)[some].mean())
    table = [[said[person].get(case, np.nan) for case in people] for person in PEOPLE]
    assert made["alpha"] == pytest.approx(krippendorff.alpha(table, level_of_measurement="ordinal"))


def test_whole_verdicts_give_scikit_learns_weighted_kappa(shell: Shell):
    lots = random.Random(5)
    pairs = [(lots.randint(-2, 2), lots.randint(-2, 2)) for _ in range(60)]
    rows = [f"{n},ann,human,X,Y,{person}" for n, (person, _) in enumerate(pairs)]
    rows += [f"{n},gpt,model,X,Y,{judge}" for n, (_, judge) in enumerate(pairs)]
    (rater,) = shell.document("align", shell.file("p.csv", HEADER, *rows))["raters"]
    # Nothing says which of X and Y comes first: each case either way round.
    person, judge = zip(*pairs, *((-one, -other) for one, other in pairs), strict=True)
    assert rater["kappa_weighted"] == pytest.approx(cohen_kappa_score(judge, person, weights="quadratic"))
    assert rater["both_orders"] is False
    assert rater["published_order"] is None


def test_each_person_is_held_against_the_mean_of_the_others(shell: Shell):
    rows, said = study()
    humans = shell.document("align", shell.file("p.csv", HEADER, *rows))["humans"]
    for person in humans["raters"]:
        others = tuple(name for name in PEOPLE if name != person["rater"])
        mean = means(said, of=others)
        own = said[person["rater"]]
        distances = [abs(own[case] - mean[case]) for case in own if case in mean]
        assert person["mae"] == pytest.approx(np.mean(distances))


def test_boards_in_opposite_order_correlate_at_minus_one(shell: Shell):
    rows: list[str] = []
    for item in range(8):
        for model, value in zip(MODELS, (2, 0, -2), strict=True):
            rows += [f"{item},ann,human,{model},reference,{value}", f"{item},gpt,model,{model},reference,{-value}"]
    (rater,) = shell.document("align", shell.file("p.csv", HEADER, *rows))["raters"]
    assert rater["board"]["spearman"] == pytest.approx(-1)
    assert rater["agreement"] == 0
    worst = rater["disagreements"][0]
    assert (worst["distance"], abs(worst["judged"]), abs(worst["people"])) == (4, 2, 2)
    assert [one["distance"] for one in rater["disagreements"]] == sorted(
        (one["distance"] for one in rater["disagreements"]), reverse=True
    )


def test_a_case_read_in_one_order_is_left_out_of_both(shell: Shell):
    rows = [f"{n},ann,human,X,reference,1" for n in range(3)]
    rows += [f"{n},gpt,model,reference,X,-1" for n in range(3)]
    rows += [f"{n},gpt,model,X,reference,2" for n in range(2)]
    (rater,) = shell.document("align", shell.file("p.csv", HEADER, *rows))["raters"]
    assert (rater["mae"], rater["mae_n"], rater["one_order_only"]) == (0.5, 2, 1)
    assert (rater["published_order"]["mae"], rater["published_order"]["mae_n"]) == (0, 2)


def test_without_a_baseline_every_model_has_a_place_on_the_board(shell: Shell):
    rows: list[str] = []
    for item in range(6):
        for a, b in (("X", "Y"), ("X", "Z"), ("Y", "Z")):
            rows += [f"{item},ann,human,{a},{b},1", f"{item},gpt,model,{b},{a},-1"]
    made = shell.document("align", shell.file("p.csv", HEADER, *rows))
    assert made["baseline"] is None
    assert set(made["raters"][0]["board"]["models"]) == set(MODELS)
    assert made["raters"][0]["board"]["spearman"] == pytest.approx(1)
    assert made["raters"][0]["consistency"] is None
    assert "each pair of models is counted by itself" in " ".join(made["notes"])


def test_verdicts_at_different_levels_are_compared_by_sign_only(shell: Shell):
    people = shell.file("people.csv", HEADER, *(f"{n},ann,human,X,Y,{2 if n % 2 else -1}" for n in range(8)))
    judge = shell.file("judge.csv", HEADER, *(f"{n},gpt,model,X,Y,{1 if n % 2 else -1}" for n in range(8)))
    (rater,) = shell.document("align", people, judge)["raters"]
    assert (rater["levels"], rater["mae"], rater["agreement"]) == (3, None, 1)
    (rater,) = shell.document("align", people, judge, "--levels", "5")["raters"]
    assert rater["mae"] == 0.5


def test_the_table_by_pair_names_agreement_where_there_is_no_consistency(shell: Shell):
    people = [f"{n},ann,human,{m},reference,{2 if n % 2 else -1}" for n in range(6) for m in ("X", "Y")]
    judge = [f"{n},gpt,model,{m},reference,{1 if n % 2 else -1}" for n in range(6) for m in ("X", "Y")]
    files = shell.file("people.csv", HEADER, *people), shell.file("judge.csv", HEADER, *judge)
    table = shell.run("align", *files)[0].split("By model: gpt")[1].split("By model")[0]
    assert "agreement" in table
    assert "Consistency" not in table
    whole = shell.run("align", *files, "--levels", "5")[0].split("Table 7 of Creation-MMBench")[1]
    assert "non-dual Consistency" in whole
    assert "agreement" not in whole


@pytest.mark.slow
def test_table_7_of_a_file_has_a_row_for_each_rater_model_and_evaluation(shell: Shell):
    rows, said = study()
    file = shell.file("p.csv", HEADER, *rows)
    table = list(csv.DictReader(io.StringIO(shell.run("align", file, "--format", "csv")[0])))
    found = {(row["rater"], row["model"], row["evaluation"]): row for row in table}
    assert len(table) == len(found) == (2 * 2 + 3) * (len(MODELS) + 1)
    people = means(said)
    for model in (*MODELS, "pooled"):
        cases = [case for case in people if model in (case[1], "pooled")]
        for how, value in (("dual", np.mean), ("non-dual", lambda pair: pair[0])):
            apart = [abs(float(value(said["near"][case])) - people[case]) for case in cases]
            assert float(found["near", model, how]["mae"]) == pytest.approx(np.mean(apart))
            assert float(found["near", model, how]["mae_n"]) == len(cases)
    assert found["ann", "X", "non-dual"]["method"] == "Human-as-a-judge"
    assert found["near", "X", "dual"]["method"] == "", "nobody knows what it was shown"
    markdown = shell.run("align", file, "--format", "md")[0]
    pooled = found["far", "pooled", "dual"]
    assert f"| judge: far | pooled | {float(pooled['mae']):.2f} |" in markdown
    assert "**Judge against judge, both orders" in markdown
    assert "tabular" in shell.run("align", file, "--format", "latex")[0]


def test_a_model_shown_in_one_order_stands_in_the_columns_of_one_order(shell: Shell):
    rows = [f"{n},{who},human,{m},reference,{n % 5 - 2}" for n in range(6) for m in ("X", "Y") for who in ("ann", "bo")]
    rows += [f"{n},gpt,model,reference,{m},{2 - n % 5}" for n in range(6) for m in ("X", "Y")]
    rows += [f"{n},gpt,model,X,reference,{n % 5 - 2}" for n in range(6)]
    out, _ = shell.run("align", shell.file("p.csv", HEADER, *rows), "--format", "csv")
    asked = [(row["model"], row["evaluation"]) for row in csv.DictReader(io.StringIO(out)) if row["rater"] == "gpt"]
    assert asked == [("X", "dual"), ("X", "non-dual"), ("Y", "non-dual"), ("pooled", "dual"), ("pooled", "non-dual")]


def test_the_pooled_row_of_table_7_pools_the_models_that_stand_above_it(shell: Shell):
    rows = [f"{n},ann,human,{m},reference,0" for n in range(10) for m in ("X", "Y")]
    for judge, of_x, of_y in (("gpt", 1, 2), ("own", 2, 1)):
        rows += [f"{n},{judge},model,reference,X,{-of_x if n < 5 else 0}" for n in range(10)]
        rows += [f"{n},{judge},model,X,reference,0" for n in range(10)]
        rows += [f"{n},{judge},model,reference,Y,{-of_y}" for n in range(10)]
    file = shell.file("p.csv", HEADER, *rows)
    table = list(csv.DictReader(io.StringIO(shell.run("align", file, "--format", "csv")[0])))
    found = {
        (row["model"], row["evaluation"]): (float(row["mae"]), int(row["mae_n"]))
        for row in table
        if row["rater"] == "gpt"
    }
    assert found == {
        ("X", "dual"): (0.25, 10), ("pooled", "dual"): (0.25, 10),
        ("X", "non-dual"): (0.5, 10), ("Y", "non-dual"): (2, 10), ("pooled", "non-dual"): (1.25, 20),
    }  # fmt: skip
    pairs = shell.document("align", file)["paired"]
    tested = {
        (one["question"], one["evaluation"], one["rater"]): (one["mae_difference"], one["mae_difference_n"])
        for one in pairs
    }
    assert tested["judges", "dual", "gpt"] == (-0.25, 10)
    assert tested["judges", "non-dual", "gpt"] == (0.25, 20)
    assert tested["orders", "dual", "gpt"] == (-0.25, 10)


def table_7_of(shell: Shell, *rows: str) -> list[list[str]]:
    """The cells that a terminal shows of Table 7."""
    out, _ = shell.run("align", shell.file("p.csv", HEADER, *rows))
    (_, table) = out.split("Table 7 of Creation-MMBench")
    return [line.split() for line in table.splitlines() if line.startswith(("judge: ", "Human: "))]


def test_a_terminal_shows_table_7_of_one_model_of_many_and_where_a_judge_met_nobody(shell: Shell):
    def said(who: str, kind: str, items: range, *models: str) -> list[str]:
        return [f"{n},{who},{kind},reference,{m},{n % 5 - 2}" for n in items for m in models]

    one = table_7_of(shell, *said("gpt", "model", range(6), "X"), *said("ann", "human", range(6), "X"))
    assert [row[1:3] for row in one] == [["gpt", "X"], ["gpt", "pooled"], ["ann", "pooled"]]
    met = table_7_of(
        shell,
        *said("first", "model", range(10, 16), "X", "Y"),
        *said("gpt", "model", range(6), "X", "Y"),
        *said("ann", "human", range(6), "X", "Y"),
    )
    assert ["judge:", "gpt", "Y"] in [row[:3] for row in met]
    names = [f"m{n}" for n in range(13)]
    many = table_7_of(shell, *said("gpt", "model", range(6), *names), *said("ann", "human", range(6), *names))
    assert [row[1:3] for row in many] == [["gpt", "pooled"], ["ann", "pooled"]]


def test_many_judges_in_pairs_are_counted_on_a_terminal(shell: Shell):
    raters = [("ann", "human"), *((f"j{n}", "model") for n in range(6))]
    rows = [f"{n},{who},{kind},reference,X,{n % 5 - 2}" for n in range(6) for who, kind in raters]
    file = shell.file("p.csv", HEADER, *rows)
    out, _ = shell.run("align", file)
    table = out.split("Judge against judge, one order")[1]
    assert sum(line.startswith("j") for line in table.splitlines()) == 12
    assert "3 more such pairs" in table
    assert len(shell.document("align", file)["paired"]) == 15


def test_two_judges_of_a_file_are_tested_against_each_other(shell: Shell):
    rows, said = study()
    pairs = shell.document("align", shell.file("p.csv", HEADER, *rows))["paired"]
    one = next(pair for pair in pairs if (pair["question"], pair["evaluation"]) == ("judges", "dual"))
    people = means(said)
    gaps = [
        abs(np.mean(said[one["rater"]][case]) - mean) - abs(np.mean(said[one["less"]][case]) - mean)
        for case, mean in people.items()
    ]
    assert (one["rater"], one["less"], one["mae_difference_n"]) == ("near", "far", len(people))
    assert one["mae_difference"] == pytest.approx(np.mean(gaps))
    assert (one["mae_finding"], one["consistency_finding"]) == ("lower", "higher")


def test_what_a_judge_was_shown_is_not_asked_of_a_file(shell: Shell):
    rows, _ = study()
    file = shell.file("p.csv", HEADER, *rows)
    shell.refuses("EH-USAGE", "--see", "p.csv", of=("align", file, "--see", "none"))
    shell.refuses("EH-USAGE", "--run", "p.csv", of=("align", file, "--run", "abc"))


def test_cases_that_people_never_judged_are_not_counted_as_left_out(shell: Shell):
    rows = [f"{n},ann,human,X,reference,1," for n in range(2)]
    rows += [f"{n},gpt,model,reference,X,-1," for n in range(8)]
    rows += [f"{n},gpt,model,X,reference,{'1,' if n in (0, 1) else ',refused'}" for n in range(8)]
    (rater,) = shell.document("align", shell.file("p.csv", f"{HEADER},reason", *rows))["raters"]
    assert (rater["one_order_only"], rater["mae_n"]) == (0, 2)
    assert rater["coverage"] == {"wanted": 4, "with_verdict": 4, "reasons": {}}


def test_several_judges_make_a_jury(shell: Shell):
    rows, _ = study()
    made = shell.document("align", shell.file("p.csv", HEADER, *rows))
    assert [one["rater"] for one in made["jury"]["judges"]] == ["near", "far"]
    assert set(made["jury"]["chosen"]) == {"near"}


def test_any_rater_can_be_held_against_people(shell: Shell):
    rows, _ = study()
    made = shell.document("align", shell.file("p.csv", HEADER, *rows), "--judge", "ann")
    assert [one["rater"] for one in made["raters"]] == ["ann"]
    assert [one["rater"] for one in made["humans"]["raters"]] == ["bob", "cat"]


def test_the_page_names_raters_figures_and_people(shell: Shell):
    rows, _ = study()
    out, _ = shell.run("align", shell.file("p.csv", HEADER, *rows), "--disagreements", 1)
    for words in (
        "near, the mean of both orders",
        "Krippendorff's alpha",
        "A jury of 2",
        "in the published order alone",
        "same side as the mean",
        "verdict of most, ties too",
        "0 of 150 showings have no verdict",
        "intervals over items, these people taken as they are",
    ):
        assert words in out


def test_verdicts_that_are_missing_are_counted_by_reason_on_the_page_and_in_the_document(shell: Shell):
    rows = [f"{n},ann,human,X,reference,1," for n in range(4)]
    rows += [f"{n},gpt,model,reference,X,-1," for n in range(4)]
    rows += [f"{n},gpt,model,X,reference,{'1,' if n else ',refused'}" for n in range(4)]
    path = shell.file("p.csv", f"{HEADER},reason", *rows)
    out, _ = shell.run("align", path)
    assert "left out 1 case of which one order was not read" in out
    assert "1 of 8 showings have no verdict: 1 refused" in out
    (rater,) = shell.document("align", path)["raters"]
    assert rater["coverage"] == {"wanted": 8, "with_verdict": 7, "reasons": {"refused": 1}}


def test_where_no_rater_has_a_verdict_nothing_is_said_of_a_baseline(shell: Shell):
    rows = [f"{n},{name},{kind},X,Y,,refused" for n in range(4) for name, kind in (("ann", "human"), ("gpt", "model"))]
    path = shell.file("p.csv", f"{HEADER},reason", *rows)
    _, err = shell.run("align", path, expect=2)
    assert "nothing has a verdict" in err
    _, err = shell.run("align", path, "--against", "X", expect=2)
    assert "'X'" in err


def test_a_model_judged_in_one_order_only_keeps_its_cases(shell: Shell):
    rows = [f"{n},ann,human,{model},reference,1" for n in range(3) for model in ("X", "Y")]
    rows += [f"{n},gpt,model,reference,X,-1" for n in range(3)] + [f"{n},gpt,model,X,reference,2" for n in range(2)]
    rows += [f"{n},gpt,model,reference,Y,0" for n in range(3)]
    path = shell.file("p.csv", HEADER, *rows)
    (rater,) = shell.document("align", path)["raters"]
    assert {one["model"]: one["mae_n"] for one in rater["models"]} == {"X": 2, "Y": 3}
    assert (rater["one_order_only"], rater["models_in_one_order"], rater["both_orders"]) == (1, ["Y"], True)
    assert "the mean of both orders (one order only of Y)" in shell.run("align", path)[0]


def test_agreement_with_the_majority_is_of_signs_and_with_the_mean_of_strength(shell: Shell):
    people = {"ann": 1, "bob": 1, "cat": -2}
    rows = [f"{n},{name},human,X,Y,{value}" for n in range(4) for name, value in people.items()]
    rows += [f"{n},gpt,model,X,Y,1" for n in range(4)]
    made = shell.document("align", shell.file("p.csv", HEADER, *rows))
    (rater,) = made["raters"]
    assert (rater["agreement"], rater["majority"], rater["majority_n"]) == (None, 1, 4)
    assert {"majority", "over_people"} <= set(made["humans"])


def test_an_even_jury_that_splits_says_so(shell: Shell):
    rows = [f"{n},ann,human,X,Y,1" for n in range(4)]
    rows += [f"{n},one,model,X,Y,1" for n in range(4)]
    rows += [f"{n},two,model,X,Y,{-1 if n < 3 else 1}" for n in range(4)]
    path = shell.file("p.csv", HEADER, *rows)
    assert shell.document("align", path)["jury"]["majority_ties"] == 3
    out, _ = shell.run("align", path)
    assert (
        "no verdict leads alone in 3 cases, which count as equal for the majority. A jury of 2 can split evenly." in out
    )


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["1,ann,human,X,Y,3"], "row 1, line 2: The field `verdict` is `3`; expected +2"),
        (["1,ann,human,X,X,1"], "`X` is compared with itself"),
        (["1,ann,robot,X,Y,1"], "`rater_kind` is `robot`; expected `human` or `model`"),
        (["1,ann,human,X,Y,1"], "Only ann's verdicts are here"),
        (["1,gpt,model,X,Y,1"], "No person's verdict is here"),
        (["1,ann,human,X,Y,1", "1,ann,model,X,Y,1"], "The rater `ann` is model here and human at row 1"),
    ],
)
def test_a_file_that_does_not_fit_gets_a_sentence(shell: Shell, rows: list[str], says: str):
    assert says in shell.refused("align", shell.file("p.csv", HEADER, *rows))


def test_wrong_use_gets_a_sentence(shell: Shell):
    rows, _ = study()
    path = shell.file("p.csv", HEADER, *rows)
    shell.refuses("EH-CHOOSE-NOTHING", "'nera'", "mean 'near'", of=("align", path, "--judge", "nera"))
    shell.refuses("EH-USAGE", "--benchmark", of=("align", path, "--benchmark", "b"))
    shell.refuses("EH-CHOOSE-NOTHING", "'W'", "--against", of=("align", path, "--against", "W"))
    choices = shell.file("choices.csv", "A_model,B_model,model_selection.A,model_selection.B", "X,Y,True,False")
    shell.refuses("EH-FILE-OTHER", "`evenhand import --judgements`", of=("align", choices))


BENCHMARK = "visit-bench-sample"
ITEMS = [f"s{number:02}" for number in range(1, 9)]


def test_the_ledger_gives_what_the_same_verdicts_give_as_a_file_and_both_texts(shell: Shell):
    lots = random.Random(1)
    people = [
        f"{item},{person},human,{model},reference,{lots.randint(-2, 2)}"
        for item in ITEMS
        for model in ("sample-careful", "sample-brief", "sample-rambling")
        for person in ("ann", "bob")
    ]
    judge = [
        f"{item},gpt,model,{pair[0]},{pair[1]},{lots.randint(-2, 2)}"
        for item in ITEMS
        for model in ("sample-careful", "sample-brief", "sample-rambling")
        for pair in (("reference", model), (model, "reference"))
    ]
    path = shell.file("p.csv", HEADER, *people, *judge)
    sample = Path(__file__).parents[2] / "src/evenhand/benchmarks/visit_bench/sample/answers.jsonl"
    shell.run("import", sample, "--responses", "--benchmark", BENCHMARK)
    shell.run("import", path, "--judgements", "--benchmark", BENCHMARK)
    of_file = shell.document("align", path)
    of_ledger = shell.document("align", "--benchmark", BENCHMARK)
    for name in ("mae", "consistency", "agreement", "kappa", "kappa_weighted", "one_order_only"):
        assert of_ledger["raters"][0][name] == pytest.approx(of_file["raters"][0][name]), name
    assert of_ledger["alpha"] == pytest.approx(of_file["alpha"])
    worst = of_ledger["raters"][0]["disagreements"][0]
    rows = map(json.loads, sample.read_text(encoding="utf-8").splitlines())
    answers = {(row["item"], row["model"]): row["response"] for row in rows}
    assert worst["response"] == answers[worst["item"], worst["model"]]
    assert worst["against_response"]
    assert worst["instruction"]
    changed = shell.file("new.jsonl", json.dumps({"item": "s01", "model": "sample-brief", "response": "Another."}))
    shell.run("import", changed, "--responses", "--benchmark", BENCHMARK, "--replace")
    after = shell.document("align", "--benchmark", BENCHMARK)
    assert (after["cases"], after["raters"][0]["mae_n"]) == (
        of_ledger["cases"] - 1,
        of_ledger["raters"][0]["mae_n"] - 1,
    )
    shell.refuses("EH-CHOOSE-NOTHING", "'gpd'", of=("align", "--benchmark", BENCHMARK, "--judge", "gpd"))


def test_a_ledger_without_people_gets_a_sentence(shell: Shell):
    sample = Path(__file__).parents[2] / "src/evenhand/benchmarks/visit_bench/sample/answers.jsonl"
    shell.run("import", sample, "--responses", "--benchmark", BENCHMARK)
    assert "no person's verdict" in shell.refused("align", "--benchmark", BENCHMARK)


def test_many_pairs_are_rows_of_a_table_that_fits_a_terminal(shell: Shell):
    """Six pairs of models with long names, of which no one is in every pair."""
    names = [f"a-model-with-a-rather-long-name-{letter}" for letter in "abcd"]
    rows: list[str] = []
    for item in range(4):
        for place, first in enumerate(names):
            for second in names[place + 1 :]:
                for rater, kind in (("ann", "human"), ("bob", "human"), ("judge", "model")):
                    rows.append(f"{item},{rater},{kind},{first},{second},{1 if item % 2 else -1}")
    printed, _ = shell.run("align", shell.file("p.csv", HEADER, *rows))
    table = printed.partition("By pair: judge")[2].partition("By pair: ann")[0]
    assert max(map(len, table.splitlines())) <= 120
    heading, *rest = [line.split() for line in table.splitlines() if line.strip("─━ ")]
    assert heading == ["pair", "MAE", "agreement"]
    assert len(rest) == 7  # six pairs and all of them
    assert rest[-1][0] == "pooled"


def test_two_raters_files_of_battles_are_compared_as_they_are(shell: Shell):
    header = "Question,left,right,choice"
    ann = shell.file("ann.csv", header, "1,X,Y,A", "2,Y,X,A", "3,X,Y,draw", "4,X,Y,B")
    bob = shell.file("bob.csv", header, "1,Y,X,B", "2,X,Y,A", "3,X,Y,A", "4,X,Y,B")
    how = ("--columns", "Question=item,choice=winner", "--winner-words", "draw=tie")
    (rater,) = shell.document("align", ann, bob, *how, "--judge", "bob")["raters"]
    assert (rater["rater"], rater["agreement"]) == ("bob", pytest.approx(2 / 3))
    assert rater["majority"] == pytest.approx(2 / 4)
    alone = shell.document("align", ann, bob, *how)
    assert (alone["raters"], [one["rater"] for one in alone["humans"]["raters"]]) == ([], ["ann", "bob"])
    assert alone["humans"]["agreement"] == pytest.approx((2 / 3 + 2 / 4) / 2, abs=0.05)
    told = shell.refused("align", ann, bob)
    assert len(told.splitlines()) == 3, "what is lacking is told once for each file"
    says(told, "EH-DATA-COLUMN", "`item`, `verdict` (or `winner`)", "found `Question`", "--columns THEIRS=OURS")
    assert "`rater`" not in told
    shell.refuses("EH-USAGE", "--winner-words", of=("align", "--winner-words", "A=tie"))
    shell.refuses("EH-USAGE", "--columns", "one column", of=("align", ann, "--columns", "a=item,b=item"))


def test_people_alone_are_held_against_each_other_without_a_flag(shell: Explained):
    ann = shell.file("ann.csv", "item,model_a,model_b,winner", "1,X,Y,X", "2,X,Y,Y", "3,X,Y,X", "4,X,Y,X")
    bob = shell.file("bob.csv", "item,model_a,model_b,winner", "1,X,Y,X", "2,X,Y,Y", "3,X,Y,Y", "4,Y,X,X")
    made = shell.document("align", ann, bob)
    assert (made["raters"], made["humans"]["agreement"]) == ([], 0.75)
    assert "75 % of 8 comparisons" in made["conclusions"][0]
    printed = shell.shortly(ann, bob).replace("\u00a0", " ")
    assert "ann" in printed
    assert made["conclusions"][0] in printed
    assert "By pair" not in printed


@pytest.mark.parametrize(
    ("differs", "words"),
    [(9, "more often than by chance"), (2, "which chance alone may give"), (1, "less often than by chance")],
)
def test_people_alone_are_held_against_chance_without_the_name_of_a_statistic(
    shell: Explained, differs: int, words: str
):
    """Bob says the opposite on every so many-th item."""
    rows: list[str] = []
    for item in range(36):
        ann = 1 if item // 2 % 2 else -1
        rows += [f"{item},ann,human,X,Y,{ann}", f"{item},bob,human,X,Y,{ann if item % differs else -ann}"]
    path = shell.file("p.csv", HEADER, *rows)
    printed = shell.shortly(path)
    assert words in printed
    assert "Krippendorff" not in printed
    assert "Krippendorff" in shell.run("align", path)[0]


def beside(shell: Explained, judged: str, *, items: int = 40) -> tuple[dict[str, Any], str]:
    """Two people who agree on three of four items, and a judge who says the same as ann, against her, or on every
    second item."""
    rows: list[str] = []
    for item in range(items):
        ann = 1 if item % 2 else -1
        bob = ann if item % 4 else -ann
        said = {
            "like ann": ann,
            "against both": -ann if item % 4 else ann * (1 if item % 8 else -1),
            "half": ann if item % 3 else -ann,
        }[judged]
        rows += [f"{item},ann,human,X,Y,{ann}", f"{item},bob,human,X,Y,{bob}", f"{item},gpt,model,X,Y,{said}"]
    path = shell.file("p.csv", HEADER, *rows)
    (rater,) = shell.document("align", path)["raters"]
    return rater, shell.shortly(path).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("judged", "claim"),
    [
        ("like ann", "gpt agrees with people more often than people agree with each other"),
        ("against both", "gpt agrees with people less often than people agree with each other"),
        ("half", "No difference is shown between gpt and a person"),
    ],
)
def test_the_conclusion_tells_two_figures_of_the_same_comparisons(shell: Explained, judged: str, claim: str):
    rater, printed = beside(shell, judged)
    judge, people = rater["beside_people"]["judge"], rater["beside_people"]["people"]
    assert judge["agreement_n"] == people["agreement_n"] == 80
    gap = rater["beside_people"]["agreement_difference"]
    assert gap == pytest.approx(judge["agreement"] - people["agreement"])
    assert rater["conclusion"].startswith(claim)
    shares = f"{100 * judge['agreement']:.0f} % against {100 * people['agreement']:.0f} % of the same 80 comparisons"
    assert shares in rater["conclusion"]
    assert rater["conclusion"] in printed
    told = {float(number) for number in re.findall(r"([\d.]+) %(?! interval)", printed)}
    assert told == {round(100 * judge["agreement"]), round(100 * people["agreement"])}, "no third share"


def test_ties_are_half_where_judge_and_people_are_compared_and_the_sentence_says_so(shell: Explained):
    """People say "equal" of a third of the cases each, and never take sides against each other; the judge tosses a
    coin where ann says "equal"."""
    rows: list[str] = []
    for item in range(240):
        said = 1 if item % 2 else -1
        for person, name in enumerate(("ann", "bob", "cat")):
            rows.append(f"{item},{name},human,X,Y,{0 if item // 2 % 3 == person else said}")
        coin = said if item // 6 % 2 else -said
        rows.append(f"{item},gpt,model,X,Y,{coin if item // 2 % 3 == 0 else said}")
    path = shell.file("p.csv", HEADER, *rows)
    (rater,) = shell.document("align", path)["raters"]
    found = rater["beside_people"]
    assert found["agreement_difference_lower"] > 0
    assert found["judge_side"] == found["people_side"] == pytest.approx(5 / 6)
    assert rater["conclusion"].startswith("No difference is shown between gpt and a person")
    assert "83 % against 83.3 % of the same 720 comparisons, a tie counted as half" in rater["conclusion"]
    printed = shell.shortly(path).replace("\u00a0", " ")
    assert rater["conclusion"] in printed
    assert "on the same comparisons, a tie half" in printed
    assert "judge, a tie half" in shell.run("align", path)[0]


def test_the_short_form_fits_a_screen_and_explain_tells_the_rest(shell: Explained, monkeypatch: pytest.MonkeyPatch):
    rows, _ = study()
    path = shell.file("p.csv", HEADER, *rows)
    monkeypatch.setenv("COLUMNS", "80")
    short, whole = shell.shortly(path), shell.run("align", path)[0]
    assert len(short.splitlines()) < 30 < len(whole.splitlines())
    assert "--explain" in short
    assert "Krippendorff" not in short
    assert "Krippendorff" in whole


def test_lines_that_are_folded_keep_their_indent(shell: Explained):
    from rich.console import Console

    from evenhand.api.reading import align
    from evenhand.reports.alignment.table import print_alignment

    rows, _ = study()
    console = Console(width=60, record=True, file=io.StringIO(), highlight=False)
    print_alignment(align(shell.file("p.csv", HEADER, *rows)), console, explain=True)
    lines = console.export_text().splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("  Whether the boards"))
    end = next(n for n in range(start, len(lines)) if lines[n].startswith("  rank correlation"))
    assert end - start > 1
    assert all(line.startswith("  ") for line in lines[start:end])


@pytest.mark.slow
def test_a_page_and_a_picture_of_agreement(shell: Explained):
    rows, _ = study()
    path = shell.file("p.csv", HEADER, *rows)
    _, err = shell.run("align", path, "--plot", "align.html", "--plot", "align.svg")
    assert "Written: align.html" in err
    page, picture = ((shell.folder / name).read_text() for name in ("align.html", "align.svg"))
    made = shell.document("align", path)
    assert all(sentence in page.replace("&#39;", "'").replace("\u00a0", " ") for sentence in made["conclusions"])
    assert "Where near and people part" in page
    assert "src=" not in page
    assert "<svg" in picture
    shell.refuses("EH-OUTPUT-EXISTS", "align.csv", of=("align", path, "--plot", shell.file("align.csv", "mine")))


def test_what_models_are_called_changes_no_figure(shell: Explained):
    """Without a baseline a pair has no first model but by the alphabet."""
    lots = random.Random(5)
    rows = [
        (item, who, kind, *pair, lots.choice(("model_a", "model_a", "tie", "model_b")))
        for item in range(30)
        for pair in (("heron", "lynx"), ("lynx", "otter"), ("heron", "otter"))
        for who, kind in (("ann", "human"), ("bob", "human"), ("j", "model"))
    ]
    found: list[tuple[Any, ...]] = []
    for number, names in enumerate(({}, {"heron": "zheron"}, {"lynx": "alynx", "otter": "a otter"})):
        lines = [",".join(str(names.get(str(cell), cell)) for cell in row) for row in rows]
        shell.file(f"{number}.csv", "item,rater,rater_kind,model_a,model_b,winner", *lines)
        said = json.loads(shell.run("align", f"{number}.csv", "--json")[0])
        (judge,) = said["raters"]
        names_of = ("kappa", "kappa_lower", "kappa_weighted", "ac1", "ac1_upper", "agreement", "mae")
        found.append((*(judge[name] for name in names_of), said["alpha"], said["alpha_lower"], said["alpha_upper"]))
    assert found[1] == pytest.approx(found[0])
    assert found[2] == pytest.approx(found[0])
    people = [(row[1], (1, 0, -1)[("model_a", "tie", "model_b").index(row[5])]) for row in rows]
    ann, bob = ([value for who, value in people if who == name] for name in ("ann", "bob"))
    both = [[*ann, *(-one for one in ann)], [*bob, *(-one for one in bob)]]
    # Theirs takes the two ways round for twice the verdicts, of which chance has one in two hundred more.
    theirs = krippendorff.alpha(both, level_of_measurement="ordinal")
    assert found[0][-3] == pytest.approx(theirs, abs=0.01)


def test_a_plan_tells_what_more_verdicts_of_people_would_bring(shell: Explained):
    lots = random.Random(4)
    rows: list[str] = []
    for item in range(60):
        for place, first in enumerate("ABC"):
            for strength, second in enumerate("ABC"[place + 1 :], start=1):
                felt = lots.gauss(-0.5 * strength, 1)
                rows.append(f"{item},gpt,model,{first},{second},{1 if felt + lots.gauss(0, 0.5) > 0 else -1}")
                if item < 30:
                    rows.append(f"{item},ann,human,{first},{second},{1 if felt > 0 else -1}")
    path = shell.file("p.csv", HEADER, *rows)
    (told,) = shell.document("align", path, "--plan", "60")["plan"]
    assert (told["judge"], told["verdicts"], told["more"]) == ("gpt", 90, 60)
    now, then = told["half_width_now"], told["half_width_then"]
    assert then["people"] == pytest.approx(now["people"] * (90 / 150) ** 0.5, rel=0.03)
    assert then["together"] < then["people"]
    assert 0.3 < told["correlation"] < 1
    assert told["worth"] > 150
    printed = " ".join(shell.shortly(path, "--plan", "60").split())
    assert f"± {then['people']:.0f} points by people alone, to ± {then['together']:.0f} with gpt" in printed
    assert "plan" not in shell.document("align", path)
    (beyond,) = shell.document("align", path, "--plan", "91")["plan"]
    assert "90 more" in beyond["reason"]
    one_way = [f"{item},ann,human,A,B,1" for item in range(4)]
    few = shell.file("few.csv", HEADER, *(row for row in rows if "human" not in row), *one_way)
    (unrated,) = shell.document("align", few, "--plan", "5")["plan"]
    assert "point one way" in unrated["reason"]
    alone = shell.file("alone.csv", HEADER, *(row for row in rows if "human" in row), "99,bob,human,A,B,1")
    shell.refuses("EH-ALIGN", "--judge", of=("align", alone, "--plan", "5"))


def test_a_file_without_raters_is_said_to_be_taken_for_a_person(shell: Explained):
    people = ["item,model_a,model_b,winner,rater", *(f"{n},X,Y,model_a,{who}" for n in range(6) for who in "ab")]
    (shell.folder / "people.csv").write_text("\n".join(people))
    judge = ["item,model_a,model_b,winner", *(f"{n},X,Y,model_b" for n in range(6))]
    (shell.folder / "judge.csv").write_text("\n".join(judge))
    said = "judge is taken for a person, as no column says otherwise; --judge NAME holds a rater against the others."
    assert said in shell.shortly("people.csv", "judge.csv")
    for told in (("--judge", "judge"), ("--rater", "judge", "--rater-kind", "model")):
        assert "taken for a person" not in shell.shortly("people.csv", "judge.csv", *told)
