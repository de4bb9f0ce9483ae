"""Claims about the tables as printed, and about variants beside each other; through the command."""

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from evenhand.domain.rater import Rater, Settings
from evenhand.domain.verdict import NoVerdict, Verdict
from evenhand.ledger.store.record import Ledger
from evenhand.reports.papers.scores.creation_sheets import two_decimals
from tests.exchange.world import Ran, run
from tests.refusals import tells
from tests.reports.papers.scores.creation_scene import (
    FACTUALITY,
    ITEMS,
    JUDGE,
    PREFERENCE,
    UNREADABLE,
    Shown,
    answers_of,
    for_model,
    grades,
    judge,
    set_up,
)

GENERIC, SPECIFIC = "text-only-generic", "text-only-query-specific"
TRUST = "swap consistency"


@pytest.fixture
def two_models(ledger: Ledger) -> Ledger:
    """`good` is a little better but failed once; `poor` answered one case of four."""
    set_up(ledger, *answers_of(["good"]), *answers_of(["poor"], items=ITEMS[:1]))

    def says(shown: Shown) -> Verdict | NoVerdict:
        if (shown.model, shown.label, shown.forward) == ("good", "4", False):
            return UNREADABLE
        return for_model(1 if shown.model == "good" and shown.label < "4" else -1, shown)

    judge(ledger, says)
    judge(ledger, lambda shown: grades(8 if shown.model == "good" else 6.25, 9, shown), FACTUALITY)
    return ledger


def score(ledger: Ledger, *arguments: str) -> Ran:
    ran = run("score", "creation-mmbench", "--store", ledger.url, *arguments)
    assert ran.code == 0, ran.err
    return ran


def cells(out: str, title: str) -> list[list[str]]:
    """The rows of the Markdown table under a title, its headings first."""
    _, _, rest = out.partition(f"**{title}")
    lines = [line for line in rest.partition("\n**")[0].splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def test_the_first_table_has_the_papers_columns_with_the_baseline_at_its_place(two_models: Ledger):
    assert cells(score(two_models, "--format", "md").out, "creation-mmbench") == [
        ["model", "VFS", "Reward", "WR", "MB", "Better", "Tie", "Worse", "MW", "Fail"],
        ["good", "8.00", "35.71", "85.71 %", "0", "6", "0", "1", "0", "1"],
        ["reference (baseline)", "9.00", "0.00", *["–"] * 7],
        ["poor (not ranked)", "6.25", "-50.00", "0.00 %", "0", "0", "0", "2", "0", "0"],
    ]


def test_a_model_without_a_rank_is_marked_for_people_and_keeps_its_name_for_programs(two_models: Ledger):
    assert "poor (not ranked)" in score(two_models).out.replace("\u00a0", " ")
    assert [row["model"] for row in rows_of(score(two_models, "--format", "csv"))][:2] == ["good", "poor"]


def test_tables_on_paper_say_how_far_the_judge_can_be_trusted(two_models: Ledger):
    told = score(two_models, "--json").document["reliability"]
    counted = "Wanted and read: 9 of 10 preferences and 8 of 8 grades."
    shares = f"The judge's swap consistency {100 * told['swap_consistency']:.0f} % ("
    for form, mark in (("md", "- "), ("latex", "% ")):
        lines = score(two_models, "--format", form).out.splitlines()
        assert f"{mark}{counted}" in lines
        assert any(line.startswith(mark + shares) and "first-position share" in line for line in lines)
        assert f"{mark}{told['reading'][0]}" in lines
    ran = score(two_models, "--format", "csv")
    assert counted in ran.err
    assert shares in ran.err
    assert "swap consistency" not in ran.out
    assert counted in score(two_models, "--explain").out.replace("\u00a0", " ")


def test_the_second_says_how_sure_and_gives_no_rank_to_who_answered_little(two_models: Ledger):
    headings, good, poor = cells(score(two_models, "--format", "md").out, "How sure")
    assert headings[:3] == ["model", "rank by Reward", "answered"]
    assert (good[1:3], poor[1:3]) == (["1", "4/4"], ["–", "1/4"])
    assert good[-3:] == ["9.00", "7/8", "6/6"]
    told = score(two_models, "--json").document["models"][0]
    assert good[3:6] == [
        f"{told['reward_lower']:.2f} to {told['reward_upper']:.2f}",
        f"{100 * told['win_rate_lower']:.0f} to {100 * told['win_rate_upper']:.0f} %",
        f"{told['vfs_lower']:.2f} to {told['vfs_upper']:.2f}",
    ]
    printed = score(two_models).out.replace("\u00a0", " ")
    tells(printed, "95 %", "4 items", "poor (1")  # before what matters less, without --explain


def test_at_most_six_lines_stand_under_the_tables_and_all_of_them_by_explain(two_models: Ledger):
    under = score(two_models).out.rpartition("Against reference, good has")[2].splitlines()
    command = [line for line in under if line.startswith("  evenhand audit")]
    lines = [line for line in under if line and line not in command]
    assert len(lines) == 6
    assert "trusted?" in lines[1]
    (left,) = [int(line.split()[2]) for line in lines if "more caution" in line]
    document = score(two_models, "--json").document
    explained = score(two_models, "--explain").out.replace("\u00a0", " ")
    assert all(note in explained for note in document["notes"])
    explaining = [note for note in document["notes"] if note.startswith(("The baseline is", "Each showing"))]
    assert left == len(document["notes"]) - len(explaining) - 2
    assert not any(note in line for note in explaining for line in lines)


def test_the_third_has_the_published_order_and_the_bands(two_models: Ledger):
    _, good, poor = cells(score(two_models, "--format", "md").out, "Otherwise")
    assert good == ["good", "8.00", "25.00", "75.00 %", "18.75", "43.75", "35.71"]
    assert poor[1:] == ["6.25", "-50.00", "0.00 %", "-50.00", "-50.00", "-87.50"]


def rows_of(ran: Ran) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(ran.out)))


def test_csv_is_one_table_of_the_documents_numbers_with_the_baseline(two_models: Ledger):
    told = score(two_models, "--json").document["models"]
    *rows, baseline = rows_of(score(two_models, "--format", "csv"))
    assert [(row["model"], row["rank"], row["baseline"]) for row in rows] == [
        ("good", "1", "false"), ("poor", "", "false"),
    ]  # fmt: skip
    for row, model in zip(rows, told, strict=True):
        for name in ("reward", "reward_lower", "reward_upper", "win_rate", "win_rate_upper", "vfs", "vfs_lower",
                     "reward_if_unanswered_worst", "answered", "judged"):  # fmt: skip
            assert float(row[name]) == model[name], name
        assert float(row["forward_reward"]) == model["forward"]["reward"]
        assert int(row["counts_fail"]) == model["counts"]["fail"]
        assert int(row["coverage_preference_wanted"]) == model["coverage"]["preference"]["wanted"]
    assert (baseline["model"], baseline["baseline"], baseline["reward"]) == ("reference", "true", "0")
    assert (float(baseline["vfs"]), baseline["rank"], baseline["win_rate"]) == (9, "", "")


def test_csv_by_task_names_the_category(two_models: Ledger):
    rows = rows_of(score(two_models, "--by", "task", "--format", "csv"))
    assert [(row["model"], row["category"], row["task"], row["items"], row["reward"]) for row in rows] == [
        ("good", "Literary Writing", "story_continue", "2", "50.0"),
        ("good", "Creative Multimodal Understanding", "meme_explanation", "1", "50.0"),
        ("good", "other", "haiku_of_my_own", "1", "-50.0"),
        ("poor", "Literary Writing", "story_continue", "2", "-50.0"),
        ("poor", "Creative Multimodal Understanding", "meme_explanation", "1", ""),
        ("poor", "other", "haiku_of_my_own", "1", ""),
    ]
    by_category = rows_of(score(two_models, "--by", "category", "--format", "csv"))
    assert [row["category"] for row in by_category[:3]] == [
        "Literary Writing", "Creative Multimodal Understanding", "other",
    ]  # fmt: skip
    assert "task" not in by_category[0]


def test_what_the_table_says_of_itself_is_in_every_form(two_models: Ledger):
    said = "The baseline is reference; its Reward is 0 by definition."
    assert f"\n- {said}\n" in score(two_models, "--format", "md").out
    assert f"\n% {said}\n" in score(two_models, "--format", "latex").out
    as_csv = score(two_models, "--format", "csv")
    assert said in as_csv.err
    assert said not in as_csv.out


def test_by_category_is_the_published_leaderboard_and_a_table_for_each_model(two_models: Ledger):
    out = score(two_models, "--by", "category", "--format", "md").out
    assert cells(out, "creation-mmbench by category**") == [
        ["model", "all VFS", "all Reward", "LW VFS", "LW Reward", "CMU VFS", "CMU Reward", "other VFS", "other Reward"],
        ["good", "8.00", "35.71", "8.00", "50.00", "8.00", "50.00", "–", "-50.00"],
        ["poor (not ranked)", "6.25", "-50.00", "6.25", "-50.00", "–", "–", "–", "–"],
    ]
    assert cells(out, "creation-mmbench by category: poor")[1][:4] == ["Literary Writing", "2", "6.25", "-50.00"]


def test_latex_sets_the_same_numbers(two_models: Ledger):
    out = score(two_models, "--format", "latex").out
    assert r"good & 8.00 & 35.71 & 85.71 \% & 0 & 6 & 0 & 1 & 0 & 1 \\" in out
    assert r"poor (not ranked) & 6.25 & $-$50.00" in out


def test_the_judges_reliability_stands_under_the_table_and_in_the_document(two_models: Ledger):
    assert TRUST in score(two_models, "--explain").out
    reliability = score(two_models, "--json").document["reliability"]
    assert reliability["swap_consistency"] == 1


def test_a_table_of_grades_alone_says_nothing_of_preferences_that_do_not_exist(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln"]))
    judge(ledger, lambda shown: grades(7, 9, shown), FACTUALITY)
    assert TRUST not in score(ledger).out
    assert score(ledger, "--json").document["reliability"] is None


def with_variants(ledger: Ledger, **other: Any) -> None:
    """Three variants of one model, the query-specific one without the last case; `painter` only sees images."""
    set_up(ledger, *answers_of(["kiln", "painter"]))
    for variant, value, grade in (("", 0, 8.5), (GENERIC, -1, 7.0), (SPECIFIC, 1, 8.0)):
        if variant:
            ledger.add_responses(answers_of(["kiln"], items=ITEMS[: 3 if variant == SPECIFIC else 4], variant=variant))
        how = replace(PREFERENCE, variant=variant, **(other if variant == SPECIFIC else {}))
        judge(ledger, lambda shown, value=value: for_model(value, shown), how)
        judge(
            ledger,
            lambda shown, grade=grade: grades(grade, 9, shown),
            replace(how, protocol="creation_factuality"),
        )


def test_variants_stand_beside_each_other_as_in_table_6_the_vision_run_last(ledger: Ledger):
    with_variants(ledger)
    out = score(ledger, "--compare-variants", "--format", "md").out
    assert cells(out, "creation-mmbench") == [
        ["model", "Generic VFS", "Generic Reward", "Query-Specific VFS", "Query-Specific Reward", "Vision VFS",
         "Vision Reward"],
        ["kiln", "7.00", "-50.00", "8.00", "50.00", "8.50", "0.00"],
        ["painter", "–", "–", "–", "–", "8.50", "0.00"],
    ]  # fmt: skip
    rows = rows_of(score(ledger, "--compare-variants", "--format", "csv"))
    assert [(row["variant"], row["reward"]) for row in rows if row["model"] == "kiln"] == [
        (GENERIC, "-50.0"), (SPECIFIC, "50.0"), ("default", "0.0"),
    ]  # fmt: skip
    document = score(ledger, "--compare-variants", "--json").document
    assert [one["variant"] for one in document["variants"]] == [GENERIC, SPECIFIC, "default"]
    assert [one["models"][0]["reward"] for one in document["variants"]] == [-50, 50, 0]
    assert [one["models"][0]["answered"] for one in document["variants"]] == [4, 3, 4]
    # Of one model there is no row of all.
    assert "its p is not adjusted" not in out
    several = run("score", "creation-mmbench", "--store", ledger.url)
    assert several.code == 2
    assert f"choose one with --variant: default, {GENERIC}, {SPECIFIC}" in several.err


def test_that_the_p_of_all_models_is_not_adjusted_is_said(ledger: Ledger):
    set_up(ledger, *answers_of(["kiln", "loom"]), *answers_of(["kiln", "loom"], variant=GENERIC))
    for variant, value in (("", 1), (GENERIC, -1)):
        judge(ledger, lambda shown, value=value: for_model(value, shown), replace(PREFERENCE, variant=variant))
    document = score(ledger, "--compare-variants", "--json").document
    # Four items of one sign: 2 of 16 ways; twice that for two models by Holm, and not for the row of both.
    assert [(one["model"], one["reward_p_value"], one["reward_p_adjusted"]) for one in document["differences"]] == [
        ("kiln", 1 / 8, 1 / 4), ("loom", 1 / 8, 1 / 4), (None, 1 / 8, 1 / 8),
    ]  # fmt: skip
    said = " ".join(score(ledger, "--compare-variants").out.split())
    assert "by Holm for the models of two variants" in said
    assert "'all models' is a question of its own" in said


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"rater": replace(JUDGE, settings=Settings(temperature=1.0))}, "judges or settings"),
        ({"prompt": "cd"}, "preference prompts"),
        ({"see": "images"}, "views of the image for preference (no image, the images: judge all with one --see)"),
        ({"against": "painter"}, "baselines"),
    ],
)
def test_variants_judged_in_different_ways_are_not_compared(ledger: Ledger, other: dict[str, Any], what: str):
    with_variants(ledger, **other)
    refused = run("score", "creation-mmbench", "--store", ledger.url, "--compare-variants")
    assert refused.code == 2
    assert f"under different {what}" in " ".join(refused.err.split())


def test_one_variant_alone_is_nothing_to_compare(two_models: Ledger):
    refused = run("score", "creation-mmbench", "--store", two_models.url, "--compare-variants")
    assert (refused.code, "the ledger holds only default" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("creation-mmbench", "--by", "skill"), "has no table by skill; it has one by category or task"),
        (("visit-bench", "--by", "task"), "has no table by task; it has one by skill or source"),
        (("visit-bench", "--against", "gpt-4o"), "are of creation-mmbench's table"),
        (("visit-bench", "--run", "a", "--run", "b"), "give one --run"),
        (("creation-mmbench", "--compare-variants", "--by", "task"), "leave out --by"),
        (("options",), "has no paper's table here"),
        (("creation-mbench",), "There is no benchmark 'creation-mbench'; did you mean 'creation-mmbench'"),
    ],
)
def test_flags_that_do_not_fit_get_a_sentence(two_models: Ledger, arguments: tuple[str, ...], sentence: str):
    refused = run("score", *arguments, "--store", two_models.url)
    assert (refused.code, sentence in refused.err) == (2, True), refused.err


def test_a_run_is_chosen_by_its_id(two_models: Ledger):
    study = judge(
        two_models,
        lambda shown: for_model(2, shown),
        replace(PREFERENCE, rater=replace(JUDGE, settings=Settings(temperature=1.0))),
    )
    mixed = run("score", "creation-mmbench", "--store", two_models.url)
    assert (mixed.code, "--run" in mixed.err) == (2, True)
    warm = two_models.begin_run("judge", {}, study=study.key, version="0")
    idle = two_models.begin_run("answer", {}, study=None, version="0")
    (first, _) = score(two_models, "--run", warm, "--json").document["models"]
    assert first["reward"] == 100
    refused = run("score", "creation-mmbench", "--store", two_models.url, "--run", idle)
    assert (refused.code, "judged nothing" in refused.err) == (2, True)


def test_a_run_is_its_board_under_whatever_protocol(two_models: Ledger):
    ann = Rater(kind="human", name="ann")
    study = judge(
        two_models,
        lambda shown: for_model(2, shown),
        replace(PREFERENCE, protocol="creation_people", rater=ann, orders="published"),
    )
    by_hand = two_models.begin_run("compare", {}, study=study.key, version="0")
    found = score(two_models, "--run", by_hand, "--json").document
    assert (found["judge"], [one["reward"] for one in found["models"]]) == ("ann", [100, 100])
    assert found == score(two_models, "--judge", "ann", "--protocol", "creation_people", "--json").document


def test_a_number_that_rounds_to_nothing_has_no_sign():
    assert [two_decimals(value) for value in (-0.001, 0.0, -0.006, 4.875, None)] == [
        "0.00",
        "0.00",
        "-0.01",
        "4.88",
        "–",
    ]
