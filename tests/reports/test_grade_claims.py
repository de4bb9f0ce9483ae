"""The paper's findings, each found true, found false, or left open by data made so."""

from typing import get_args

import pytest

from evenhand.reports.grade.claims import Answer, Claim, claims
from evenhand.reports.grade.report import GradeCell
from tests.reports.grade_cells import ROWS, cell

HOLDS, FAILS, OPEN = get_args(Answer)
UNRELATED = "An unrelated option raises the Grade Score, whatever the prompt and the judge."
REMOVED = "It does so as well when the unrelated option, which changes N, is left out of the scoring."
FIRST_TWO = "It helps Prompts 1 and 2 more than Prompts 3 and 4."
VARIES = "Grade Scores differ between judges."
HIGHEST = "One judge has the highest Grade Score in every row."
NO_ORDER = "Telling the judge to mind no order (Prompt 3) gives a higher Grade Score than the other prompts."
SOME_MORE = "It helps some judges more than others."
ENTROPY = "The unrelated option raises the LLM Score (entropy of the positions)."
CHOICE = "The Choice Score stays as high with it (falls by less than 0.05)."
REASONS = "Prompts 1 and 2, which ask for reasons, give a higher Grade Score than Prompt 4, which asks for points."
SPREAD = "The same experiment repeated gives Grade Scores 0.05 to 0.12 apart."


def told(*cells: GradeCell) -> dict[str, Claim]:
    return {claim.claim: claim for claim in claims([one.graded for one in cells])}


def answer(claim: str, *cells: GradeCell) -> str:
    return told(*cells)[claim].answer


def pair(without: int, with_it: int, *, prompt: int = 1) -> tuple[GradeCell, GradeCell]:
    return cell(without, prompt=prompt), cell(with_it, unrelated=True, prompt=prompt)


def test_one_cell_tests_nothing():
    assert told(cell(10)) == {}


def test_an_unrelated_option_that_helps_hurts_or_changes_nothing():
    assert answer(UNRELATED, *pair(5, 25)) == HOLDS
    assert answer(UNRELATED, *pair(25, 5)) == FAILS
    assert answer(UNRELATED, *pair(15, 15)) == OPEN
    found = told(*pair(5, 25))[UNRELATED]
    assert found.value is not None
    assert found.value.value == pytest.approx(20 / ROWS)
    assert found.value.clusters == ROWS
    assert found.evidence.startswith("The Grade Score changes by +0.667 (95 % +0.")
    # Chance is .580 with three options and .571 with four.
    ending = "30 rows) (by -0.009 for a judge who picks at random); it is higher in 1 of 1 judge and prompt pairs."
    assert found.evidence.endswith(ending)


def test_one_prompt_that_falls_refutes_a_claim_about_all_of_them():
    assert answer(UNRELATED, *pair(0, 30), *pair(20, 4, prompt=2)) == FAILS


def test_one_of_many_prompts_that_falls_a_little_refutes_nothing():
    # Six rows that all went down: p = 2 / 2**6 for one pair, four times that for four.
    falls, others = pair(10, 4), [one for prompt in (2, 3, 4) for one in pair(15, 17, prompt=prompt)]
    alone = told(*falls)[UNRELATED]
    assert (alone.answer, alone.comparisons, alone.p_value) == (FAILS, 1, 2 / 2**6)
    assert alone.evidence.endswith("It clearly falls in 1: p = 0.031.")
    among = told(*falls, *others)[UNRELATED]
    assert (among.answer, among.comparisons, among.p_value) == (OPEN, 4, 8 / 2**6)


def test_the_unrelated_option_may_be_left_out_of_the_scoring():
    found = told(*pair(5, 25))[REMOVED]
    assert found.answer == HOLDS
    assert found.value is not None
    # The first place is the unrelated option's in one trial, and the next one shows the others in the same order; so a
    # follower of place scores 0 either way, which is -.579977 / .420023 above chance.
    assert found.value.value == pytest.approx(20 / ROWS * (1 + 0.579977 / 0.420023), abs=1e-5)
    assert found.value.clusters == ROWS


def test_a_pick_of_the_unrelated_option_costs_nothing_where_it_is_left_out_of_the_scoring():
    # Places 2, 3, 0, 0 of four: entropy 1.5 of 2 bits, the favourite in three of four trials.
    found = told(cell(30), cell(30, unrelated=True, distracted=True))
    changes = [claim.value.value for claim in (found[UNRELATED], found[REMOVED]) if claim.value is not None]
    assert changes == [-0.25, 0]


def test_the_gain_may_be_larger_under_the_first_two_prompts():
    assert answer(FIRST_TWO, *pair(0, 25), *pair(10, 12, prompt=3)) == HOLDS
    assert answer(FIRST_TWO, *pair(10, 12), *pair(0, 25, prompt=4)) == FAILS
    assert "--prompts all" in told(*pair(0, 25), *pair(0, 25, prompt=2))[FIRST_TWO].evidence


def test_judges_may_differ():
    good, bad, like = cell(25, judge="good"), cell(3, judge="bad"), cell(4, judge="like")
    found = told(good, bad, like)
    assert found[VARIES].answer == HOLDS
    assert found[VARIES].evidence.startswith("good minus bad, the widest gap, is +0.733")
    assert found[VARIES].evidence.endswith("(Holm, 3 comparisons).")
    assert found[HIGHEST].answer == HOLDS
    assert answer(VARIES, bad, like) == OPEN
    assert answer(HIGHEST, bad, like) == OPEN


def test_more_judges_make_more_pairs_and_each_pair_proves_less():
    # Six rows that all went one way: p = 2 / 2**6 for one pair, three times that for three.
    first, second, between = cell(10, judge="a"), cell(4, judge="b"), cell(7, judge="c")
    assert answer(VARIES, first, second) == HOLDS
    assert answer(VARIES, first, second, between) == OPEN


def test_a_judge_beaten_in_one_row_is_not_highest_in_every_row():
    cells = (
        cell(25, judge="good"), cell(3, judge="bad"),
        cell(28, judge="good", prompt=2), cell(5, judge="bad", prompt=2),
        cell(2, judge="good", prompt=3), cell(22, judge="bad", prompt=3),
    )  # fmt: skip
    found = told(*cells)[HIGHEST]
    assert found.answer == FAILS
    assert (
        found.evidence
        == "good is highest in 2 of 3 rows of the table; bad clearly beats it in 1: p = 4.9e-06 (Holm, 3 comparisons)."
    )


def test_a_judge_beaten_a_little_in_one_of_many_rows_may_still_be_highest():
    beaten = (cell(4, judge="good"), cell(10, judge="other"))
    others = [
        cell(steady, judge=judge, prompt=prompt)
        for prompt in (2, 3, 4)
        for judge, steady in (("good", 25), ("other", 5))
    ]
    assert told(*beaten)[HIGHEST].evidence == "other is highest in 1 of 1 rows of the table."
    found = told(*beaten, *others)[HIGHEST]
    # Holm: the fourth smallest of four is not multiplied, so the row itself is still a defeat ...
    assert found.answer == FAILS
    # ... and it is none among rows in which the two do not differ.
    flat = [cell(15, judge=judge, prompt=prompt) for prompt in (2, 3, 4) for judge in ("good", "other")]
    assert told(*beaten, *flat)[HIGHEST].answer == OPEN
    assert told(*beaten, *flat)[HIGHEST].comparisons == 4


def test_the_warning_of_order_may_help_and_help_some_more():
    plain, warned = cell(5), cell(25, prompt=3)
    assert answer(NO_ORDER, plain, warned) == HOLDS
    assert answer(NO_ORDER, cell(25), cell(5, prompt=3)) == FAILS
    assert answer(SOME_MORE, plain, warned) == OPEN
    other = (cell(15, judge="other"), cell(15, judge="other", prompt=3))
    found = told(plain, warned, *other)[SOME_MORE]
    assert found.answer == HOLDS
    assert found.evidence.startswith("Its effect on openai/gpt-4o is larger than on other by +0.667")


def test_prompts_are_compared_with_the_unrelated_option_alike():
    # Prompt 3 was asked only with it, Prompt 1 only without: nothing can be said of the prompts.
    assert "Prompt 3 and another prompt" in told(cell(5), cell(25, prompt=3, unrelated=True))[NO_ORDER].evidence


def test_the_parts_of_the_score():
    found = told(*pair(5, 25))
    assert found[ENTROPY].answer == HOLDS
    assert found[CHOICE].answer == HOLDS
    assert "(by +0.054 for a judge who picks at random)" in found[ENTROPY].evidence
    assert answer(CHOICE, *pair(25, 5)) == FAILS
    assert answer(ENTROPY, *pair(25, 5)) == FAILS


def test_asking_for_reasons_against_asking_for_points():
    assert answer(REASONS, cell(25), cell(5, prompt=4)) == HOLDS
    assert answer(REASONS, cell(5, prompt=2), cell(25, prompt=4)) == FAILS
    assert "--prompts 1,2,4" in told(cell(25), cell(5, prompt=3))[REASONS].evidence


def test_what_was_not_asked_cannot_be_told_and_says_what_it_would_take():
    found = told(cell(10), cell(12, prompt=2))
    assert {one.claim for one in found.values() if one.evidence.startswith("That needs")} == {
        UNRELATED, VARIES, HIGHEST, NO_ORDER, ENTROPY, CHOICE, REASONS,
    }  # fmt: skip
    assert {one.answer for one in found.values()} == {OPEN}


def test_runs_that_lie_as_far_apart_as_the_authors():
    assert answer(SPREAD, cell(15, runs=(17, 18))) == HOLDS
    assert answer(SPREAD, cell(15, runs=(15, 15))) == FAILS
    found = told(cell(0, runs=(30,)))[SPREAD]
    assert found.answer == FAILS
    assert found.evidence == "Of 2 runs the farthest two lie 1.000 apart, on 30 rows."
    assert SPREAD not in told(cell(15), cell(15, prompt=2))
