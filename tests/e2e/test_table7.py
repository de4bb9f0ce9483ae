"""Table 7's experiment in one ledger: each command gives the whole table of each board, and all of them agree."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import pytest

import evenhand as eh
from tests.e2e.table7_world import (
    GENERIC,
    ITEMS,
    JUDGES,
    MODELS,
    NAME,
    PEOPLE,
    PREFERENCE,
    SINGLE,
    SPECIFIC,
    built,
    done,
    grade,
    person,
    says,
)
from tests.e2e.workplace import Workplace
from tests.refusals import says as refuses

BOARDS = [(judge, see) for judge in JUDGES for see in ("images", "none")]
pytestmark = pytest.mark.slow
PLAIN = ("--variant", "default")
COMMANDS = (("score", NAME), ("rank",), ("report", "--format", "csv"), ("export", "--board", "--out", "-"))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return built(Workplace(tmp_path_factory.mktemp("table7") / "here"))


def document(here: Workplace, *arguments: str) -> dict[str, Any]:
    return done(here.run(*arguments, "--json")).document


def told(judge: str, see: str, item: str, model: str, *, forward: bool, variant: str = "") -> int | None:
    name = judge.removeprefix("openai/")
    return says(name, images=see == "images", item=item, model=model, forward=forward, variant=variant)


def votes(judge: str, see: str, model: str, variant: str = "") -> list[int]:
    """Of both orders, in favour of the model."""
    orders = [told(judge, see, item, model, forward=way, variant=variant) for item in ITEMS for way in (True, False)]
    return [one for one in orders if one is not None]


def run_of(here: Workplace, judge: str, protocol: str, see: str, variant: str | None = None) -> str:
    """Its id."""
    found = [
        one["run"]
        for one in document(here, "runs")["runs"]
        if (one["settings"].get("judge"), one["protocol"], one["see"]) == (judge, protocol, see)
        and one["settings"].get("variant") == variant
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("judge", "see"),
    BOARDS,
)
def test_each_command_gives_the_same_board_of_a_judge_and_what_it_was_shown(here: Workplace, judge: str, see: str):
    chosen = ("--judge", judge, "--see", see, *PLAIN)
    score = document(here, "score", NAME, *chosen)
    assert score["see"] == {PREFERENCE: see, "creation_factuality": "none"}
    assert sorted(one["model"] for one in score["models"]) == MODELS
    for one in score["models"]:
        said = votes(judge, see, one["model"])
        assert one["reward"] == pytest.approx(50 * fmean(said))
        assert (one["reward_n"], one["counts"]["fail"]) == (len(said), 2 * len(ITEMS) - len(said))
        grades = [
            grade(judge.removeprefix("openai/"), label, one["model"], way)
            for label, item in ITEMS.items()
            for way in (True, False)
            if item.factuality_criteria is not None
        ]
        assert one["vfs"] == pytest.approx(fmean(grades))

    rank = document(here, "rank", *chosen)
    assert (rank["judge"], rank["see"], rank["protocol"]) == (judge, see, PREFERENCE)
    for one in rank["models"]:
        if one["model"] != "reference":
            said = votes(judge, see, one["model"])
            signs = [sum(vote > 0 for vote in said), sum(vote < 0 for vote in said), said.count(0)]
            assert [one["wins"], one["losses"], one["ties"]] == signs

    report = document(here, "report", *chosen, "--format", "md", "--out", f"{judge.replace('/', '-')}-{see}.md")
    assert report["scores"] == [{name: value for name, value in score.items() if name != "reliability"}]
    assert report["board"]["models"] == rank["models"]

    rows = exported(here, "--board", *chosen)
    assert [(row["model"], row["rating"], row["see"]) for row in rows] == [
        (one["model"], one["rating"], see) for one in rank["models"]
    ]
    rows = exported(here, "--judgements", *chosen, "--protocol", PREFERENCE)
    assert len(rows) == 2 * len(ITEMS) * len(MODELS)
    assert rewards(rows) == pytest.approx({one["model"]: one["reward"] for one in score["models"]})


def test_a_notebook_gets_the_same(here: Workplace, tmp_path: Path):
    chosen: dict[str, Any] = {"judge": JUDGES[0], "see": "none", "variant": "default"}
    flags = ("--judge", JUDGES[0], "--see", "none", *PLAIN)
    ledger = eh.open_ledger(here.store)
    assert eh.score(NAME, ledger=ledger, **chosen).as_json() == document(here, "score", NAME, *flags)
    assert eh.rank(ledger, eh.Choice(**chosen)).as_json() == document(here, "rank", *flags)
    assert eh.align(ledger=ledger, **chosen).as_json() == document(here, "align", *flags)
    run = run_of(here, JUDGES[0], PREFERENCE, "none")
    assert eh.align(ledger=ledger, run=run).as_json() == document(here, "align", *flags)
    made = [eh.report(ledger, tmp_path / "a.md", **chosen), eh.report(ledger, tmp_path / "b.md", run=run)]
    boards = [one.as_json()["board"] for one in made]
    assert boards[0] == boards[1]
    assert {"audit": None, **cast("dict[str, Any]", boards[0])} == document(here, "rank", *flags)
    ledger.close()


def exported(here: Workplace, kind: str, *chosen: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done(here.run("export", kind, *chosen, "--out", "-")).out.splitlines()]


def rewards(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Of each model, from exported judgements."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["verdict"] is not None:
            first, second = row["models"]
            value = row["verdict"]["value"]
            model, value = (second, -value) if first == "reference" else (first, value)
            found.setdefault(model, []).append(50 * value)
    return {model: fmean(values) for model, values in found.items()}


def cases(judge: str, see: str) -> dict[tuple[str, str], tuple[int, int]]:
    """What was said in the published order and in the other, of the cases read in both."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for item in ITEMS:
        for model in MODELS:
            first, second = (told(judge, see, item, model, forward=way) for way in (True, False))
            if first is not None and second is not None:
                found[item, model] = first, second
    return found


def mean_of_people(item: str, model: str) -> float:
    return fmean(person(name, item, model) for name in PEOPLE)


def distances(judge: str, see: str, *, dual: bool) -> dict[tuple[str, str], float]:
    return {
        case: abs((fmean(said) if dual else said[0]) - mean_of_people(*case))
        for case, said in cases(judge, see).items()
    }


def check_figures(figures: Mapping[str, Any], apart: list[float]) -> None:
    assert figures["mae"] == pytest.approx(fmean(apart))
    assert figures["consistency"] == pytest.approx(fmean(one <= 1 + 1e-9 for one in apart))
    assert figures["mae_n"] == len(apart)


def test_table_7_is_what_judges_and_people_said(here: Workplace):
    aligned = document(here, "align", *PLAIN)
    raters = {(one["judge"], one["see"]): one for one in aligned["raters"]}
    assert set(raters) == {*BOARDS, (SINGLE, "images")}
    for judge, see in BOARDS:
        one = raters[judge, see]
        for dual, figures in ((True, one), (False, one["published_order"])):
            apart = distances(judge, see, dual=dual)
            check_figures(figures, list(apart.values()))
            for part in figures["models"]:
                check_figures(part, [value for (_, model), value in apart.items() if model == part["model"]])
    assert raters[SINGLE, "images"]["published_order"] is None
    people = {one["rater"]: one for one in aligned["humans"]["raters"]}
    assert set(people) == set(PEOPLE)

    table = list(csv.DictReader(io.StringIO(done(here.run("align", *PLAIN, "--format", "csv")).out)))
    found = {(row["method"], row["judge"], row["model"], row["evaluation"]): row for row in table}
    for judge, see in BOARDS:
        method = "MLLM-as-a-judge" if see == "images" else "LLM-as-a-judge"
        for how in ("dual", "non-dual"):
            apart = distances(judge, see, dual=how == "dual")
            for model in (*MODELS, "pooled"):
                some = [value for (_, name), value in apart.items() if model in (name, "pooled")]
                assert float(found[method, judge, model, how]["mae"]) == pytest.approx(fmean(some))
    alone = [how for _, judge, _, how in found if judge == SINGLE]
    assert alone == ["non-dual"] * 4
    assert {how for method, _, _, how in found if method == "Human-as-a-judge"} == {"non-dual"}
    assert len(table) == 4 * (4 * 2 + 1 + 4)
    printed = done(here.run("align", *PLAIN, "--explain")).out
    one = raters[JUDGES[0], "images"]
    lines = [line.split() for line in printed.splitlines() if line.startswith(f"MLLM: {JUDGES[0]} ")]
    (row,) = [line for line in lines if "pooled" in line]
    assert row[2:] == [
        "pooled", f"{one['mae']:.2f}", f"{100 * one['consistency']:.2f}", "%",
        f"{one['published_order']['mae']:.2f}", f"{100 * one['published_order']['consistency']:.2f}", "%",
    ]  # fmt: skip


def test_judge_against_judge_is_tested_on_the_cases_that_both_have(here: Workplace):
    pairs = document(here, "align", *PLAIN)["paired"]
    of = {(one["question"], one["evaluation"], one["rater"], one["less"]): one for one in pairs}
    for judge in JUDGES:
        for how in ("dual", "non-dual"):
            one = of["images", how, f"{judge} (sees images)", f"{judge} (sees none)"]
            seeing, blind = (distances(judge, see, dual=how == "dual") for see in ("images", "none"))
            gaps = [seeing[case] - blind[case] for case in seeing if case in blind]
            assert (one["mae_difference"], one["mae_difference_n"]) == (pytest.approx(fmean(gaps)), len(gaps))
            assert one["mae_difference_lower"] < one["mae_difference"] < one["mae_difference_upper"]
            assert [part["model"] for part in one["models"]] == MODELS
    found = {(one["question"], one["evaluation"]): 0 for one in pairs}
    for one in pairs:
        found[one["question"], one["evaluation"]] += 1
    # In one order the third judge is there too, who was shown the images.
    assert found == {
        ("images", "dual"): 2, ("judges", "dual"): 2, ("images", "non-dual"): 2, ("judges", "non-dual"): 4,
        ("orders", "dual"): 4,
    }  # fmt: skip


def test_a_run_is_the_board_that_it_is_part_of_in_every_command(here: Workplace):
    judge = JUDGES[0]
    run, chosen = run_of(here, judge, PREFERENCE, "none"), ("--judge", judge, "--see", "none", *PLAIN)
    assert document(here, "score", NAME, "--run", run) == document(here, "score", NAME, *chosen)
    assert document(here, "rank", "--run", run) == document(here, "rank", *chosen)
    tables = [done(here.run("report", *how, "--format", "csv")).out for how in (("--run", run), chosen)]
    assert tables[0] == tables[1]
    aligned, by_see = (document(here, "align", *how) for how in (("--run", run), chosen))
    assert [(one["judge"], one["see"]) for one in aligned["raters"]] == [(judge, "none")]
    assert aligned == by_see
    assert exported(here, "--board", "--run", run) == exported(here, "--board", *chosen)
    rows = exported(here, "--judgements", "--run", run)
    assert {(row["protocol"], row["see"]) for row in rows} == {(PREFERENCE, "none"), ("creation_factuality", "none")}
    refuses(here.run("score", NAME, "--run", run, "--see", "images").refused, "EH-CHOOSE-UNLIKE", "no image")


def test_a_run_of_grades_is_part_of_the_board_of_its_judges_preferences(here: Workplace):
    judge = JUDGES[0]
    run = run_of(here, judge, "creation_factuality", "none")
    for command in (
        ("score", NAME),
        ("rank",),
        ("report", "--format", "csv"),
        ("align",),
        ("export", "--board", "--out", "-"),
    ):
        refuses(here.run(*command, "--run", run).refused, "EH-CHOOSE-SEVERAL", "--see: images, none")
    chosen = ("--judge", judge, "--see", "images", *PLAIN)
    assert document(here, "rank", "--run", run, "--see", "images") == document(here, "rank", *chosen)
    assert document(here, "score", NAME, "--run", run, "--see", "images") == document(here, "score", NAME, *chosen)


def test_runs_that_do_not_go_together_are_told_why(here: Workplace):
    judge = JUDGES[0]
    plain, generic = run_of(here, judge, PREFERENCE, "none"), run_of(here, judge, PREFERENCE, "images", GENERIC)
    both = here.run("align", "--run", plain, "--run", generic).refused
    refuses(both, "EH-CHOOSE-UNLIKE", "different answers", plain, generic, f"variant {GENERIC}", "variant default")
    alone = here.run("align", "--run", generic).refused
    refuses(alone, "EH-CHOOSE-NOTHING", generic, "people judged", "variant default")
    outside = here.run("align", "--run", plain, "--variant", GENERIC).refused
    refuses(outside, "EH-CHOOSE-UNLIKE", plain, "variant default", f"--variant {GENERIC}")
    elsewhere = here.run("align", "--run", plain, "--benchmark", "visit-bench-sample").refused
    refuses(elsewhere, "EH-CHOOSE-UNLIKE", plain, NAME, "--benchmark visit-bench-sample")


def test_where_nothing_is_chosen_the_sentence_names_what_there_is(here: Workplace):
    of_judge = ("--judge", JUDGES[0], *PLAIN)
    for command in COMMANDS:
        refuses(here.run(*command, *of_judge).refused, "EH-CHOOSE-SEVERAL", "--see: images, none")
        refuses(here.run(*command, *of_judge, "--see", "caption").refused, "EH-CHOOSE-NOTHING", "--see caption")
    refuses(here.run("align", *PLAIN, "--see", "caption").refused, "EH-CHOOSE-NOTHING", "--see caption")


def test_judgements_are_exported_whole_and_each_row_says_of_which_board_it_is(here: Workplace):
    rows = exported(here, "--judgements")
    once = len(ITEMS) * len(MODELS)
    graded = 2 * len(MODELS) * sum(item.factuality_criteria is not None for item in ITEMS.values())
    counts: dict[tuple[Any, ...], int] = {}
    for row in rows:
        board = row["rater"], row["protocol"], row["see"], row["variant"]
        counts[board] = counts.get(board, 0) + 1
    assert counts == {
        **{(judge, PREFERENCE, see, "default"): 2 * once for judge, see in BOARDS},
        **{(judge, "creation_factuality", "none", "default"): graded for judge in JUDGES},
        (SINGLE, PREFERENCE, "images", "default"): once,
        **{(JUDGES[0], PREFERENCE, "images", variant): 2 * once for variant in (GENERIC, SPECIFIC)},
        **{(JUDGES[0], "creation_factuality", "none", variant): graded for variant in (GENERIC, SPECIFIC)},
        **{(name, "imported", None, "default"): once for name in PEOPLE},
    }
    assert {row["benchmark"] for row in rows} == {NAME}
    blind = exported(here, "--judgements", "--see", "none", "--judge", JUDGES[1])
    assert len(blind) == 2 * once + graded


def test_an_export_of_several_boards_is_mixed_by_no_reader_and_one_of_a_board_is_read(here: Workplace):
    of_judge = ("export", "--judgements", "--judge", JUDGES[0], "--protocol", PREFERENCE, *PLAIN)
    done(here.run(*of_judge, "--out", "both.jsonl", "--force"))
    refuses(here.run("rank", "both.jsonl").refused, "EH-CHOOSE-SEVERAL", "2 boards", "images", "--see")
    for reader in (
        ("align", "both.jsonl", "people.csv"),
        ("import", "both.jsonl", "--judgements", "--benchmark", NAME),
    ):
        assert "--see" in here.run(*reader).refused
    done(here.run(*of_judge, "--see", "images", "--out", "one.jsonl", "--force"))
    board = document(here, "rank", "one.jsonl")
    flags = ("--judge", JUDGES[0], "--see", "images", *PLAIN)
    assert [one["rating"] for one in board["models"]] == pytest.approx(
        [one["rating"] for one in document(here, "rank", *flags)["models"]]
    )
    of_file = document(here, "align", "one.jsonl", "people.csv")["raters"][0]
    (on_record,) = document(here, "align", *flags)["raters"]
    assert (of_file["mae"], of_file["consistency"]) == (on_record["mae"], on_record["consistency"])


def test_query_specific_beats_generic_beside_what_the_judge_was_shown(here: Workplace):
    judge = JUDGES[0]
    asked = ("score", NAME, "--compare-variants")
    compared = document(here, *asked, "--judge", judge, "--see", "images")
    assert [one["variant"] for one in compared["variants"]] == [GENERIC, SPECIFIC, "default"]
    found = {(one["variant"], one["less"], one["model"]): one for one in compared["differences"]}
    for model in MODELS:
        gaps = [
            50 * (more - less)
            for item in ITEMS
            for way in (True, False)
            if (more := told(judge, "images", item, model, forward=way, variant=SPECIFIC)) is not None
            and (less := told(judge, "images", item, model, forward=way, variant=GENERIC)) is not None
        ]
        one = found[SPECIFIC, GENERIC, model]
        assert (one["reward_difference"], one["reward_difference_n"]) == (pytest.approx(fmean(gaps)), len(gaps))
        assert one["reward_p_adjusted"] <= 0.05
    whole = found[SPECIFIC, GENERIC, None]
    assert (whole["reward_finding"], whole["vfs_finding"]) == ("higher", "higher")
    assert 0 < whole["reward_difference_lower"] < whole["reward_difference_upper"]
    assert found[GENERIC, "default", None]["reward_finding"] == "lower"

    run = run_of(here, judge, PREFERENCE, "images", GENERIC)
    assert document(here, *asked, "--run", run) == compared
    refuses(here.run(*asked, "--judge", judge).refused, "EH-CHOOSE-SEVERAL", "--see: images, none")
    refuses(here.run(*asked, "--judge", judge, "--see", "none").refused, "EH-CHOOSE-NOTHING", "default")
    printed = done(here.run(*asked, "--judge", judge, "--see", "images", "--format", "md")).out
    assert "Does Query-Specific beat Generic? Of all models together: Reward higher" in printed


def exported_boards(here: Workplace) -> dict[tuple[str, str, str | None, str], list[dict[str, Any]]]:
    """All rows of one export, by rater, protocol, what was shown, and variant: nothing else is known of the ledger."""
    found: dict[tuple[str, str, str | None, str], list[dict[str, Any]]] = {}
    for row in exported(here, "--judgements"):
        found.setdefault((row["rater"], row["protocol"], row["see"], row["variant"]), []).append(row)
    return found


def in_favour(row: Mapping[str, Any]) -> tuple[str, bool, float] | None:
    """The model, whether the baseline was shown first, and the verdict in the model's favour."""
    if row["verdict"] is None:
        return None
    first, second = row["models"]
    value = row["verdict"]["value"]
    return (second, True, -value) if first == "reference" else (first, False, value)


def graded(rows: list[dict[str, Any]], model: str) -> list[float]:
    return [row["verdict"]["values"][row["models"].index(model)] for row in rows if model in row["models"]]


def case_verdicts(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[bool, float]]:
    found: dict[tuple[str, str], dict[bool, float]] = {}
    for row in rows:
        if (said := in_favour(row)) is not None:
            found.setdefault((row["item"], said[0]), {})[said[1]] = said[2]
    return found


def people_of(boards: Mapping[tuple[str, str, str | None, str], list[dict[str, Any]]]) -> dict[tuple[str, str], float]:
    said: dict[tuple[str, str], list[float]] = {}
    for (_, protocol, _, _), rows in boards.items():
        if protocol == "imported":
            for case, one in case_verdicts(rows).items():
                said.setdefault(case, []).extend(one.values())
    assert {len(one) for one in said.values()} == {len(PEOPLE)}
    return {case: fmean(one) for case, one in said.items()}


def test_one_export_gives_every_figure_of_every_board_again(here: Workplace):
    boards = exported_boards(here)
    people = people_of(boards)
    raters = {(one["judge"], one["see"]): one for one in document(here, "align", *PLAIN)["raters"]}
    for judge, see in BOARDS:
        rows = boards[judge, PREFERENCE, see, "default"]
        votes_of: dict[str, list[float]] = {}
        for row in rows:
            if (said := in_favour(row)) is not None:
                votes_of.setdefault(said[0], []).append(said[2])
        chosen = ("--judge", judge, "--see", see, *PLAIN)
        scored = document(here, "score", NAME, *chosen)
        report = document(here, "report", *chosen, "--format", "md", "--out", f"again-{judge[7:]}-{see}.md")
        assert report["scores"][0]["models"] == scored["models"]
        ranked = {one["model"]: one for one in document(here, "rank", *chosen)["models"]}
        board = {row["model"]: row for row in exported(here, "--board", *chosen)}
        assert sorted(votes_of) == sorted(one["model"] for one in scored["models"]) == MODELS
        for one in scored["models"]:
            said = votes_of[one["model"]]
            assert one["reward"] == pytest.approx(50 * fmean(said))
            assert one["win_rate"] == pytest.approx(fmean(vote > 0 for vote in said))
            words = {2: "much_better", 1: "better", 0: "tie", -1: "worse", -2: "much_worse"}
            assert {name: one["counts"][name] for name in words.values()} == {
                name: said.count(value) for value, name in words.items()
            }
            grades = graded(boards[judge, "creation_factuality", "none", "default"], one["model"])
            assert one["vfs"] == pytest.approx(fmean(grades))
            signs = [sum(v > 0 for v in said), sum(v < 0 for v in said), said.count(0)]
            assert [ranked[one["model"]][name] for name in ("wins", "losses", "ties")] == signs
            assert [board[one["model"]][name] for name in ("wins", "losses", "ties")] == signs
        both = {case: said for case, said in case_verdicts(rows).items() if len(said) == 2}
        for dual, figures in ((True, raters[judge, see]), (False, raters[judge, see]["published_order"])):
            apart = {
                case: abs((fmean(said.values()) if dual else said[True]) - people[case]) for case, said in both.items()
            }
            check_figures(figures, list(apart.values()))
            for part in figures["models"]:
                check_figures(part, [value for (_, model), value in apart.items() if model == part["model"]])
