"""Sums and differences of runs, item by item."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.reliability.grade_score.contrast import ContrastPart, contrast, difference
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, rotations
from evenhand.stats.reliability.grade_score.score import GradeScore, grade_score
from tests.refusals import refused
from tests.stats.reliability.option_judges import follows_content, follows_place, row_of

STEADY = tuple(order.index(0) for order in rotations(3))
FIRST = (0, 0, 0)

picks = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=8)


def run(*rows: tuple[int | None, ...]) -> GradeScore:
    return grade_score([OptionRow(item=str(n), selected_positions=row) for n, row in enumerate(rows)])


def test_a_difference_by_hand():
    found = difference([run(STEADY, STEADY)], [run(STEADY, FIRST)])
    assert found.value.value == 0.5
    assert found.value.clusters == 2
    assert found.p_value == 1  # one of two items moved: the coin may fall either way


def test_only_items_scored_in_all_runs_count():
    found = difference([run(STEADY, STEADY, (0, None, 0))], [run(FIRST, STEADY, STEADY)])
    assert (found.value.value, found.value.clusters) == (0.5, 2)


def test_a_change_of_changes_by_hand():
    parts = [(1, run(STEADY)), (-1, run(FIRST)), (-1, run(FIRST)), (1, run(STEADY))]
    assert contrast([ContrastPart(weight=weight, score=score) for weight, score in parts]).value.value == 2


def test_the_mean_of_several_runs_is_compared_with_the_mean_of_others():
    assert difference([run(STEADY), run(FIRST)], [run(FIRST)]).value.value == 0.5
    assert difference([run(STEADY), run(FIRST)], [run(FIRST)], measure="choice").value.value == pytest.approx(1 / 3)


def test_without_a_common_item_there_is_no_number():
    found = difference([run((0, None, 0))], [run(STEADY)])
    assert found.value.value is None
    assert found.p_value is None


def test_a_contrast_of_nothing_is_refused():
    with refused(ValueError, "contrast", "run"):
        contrast([])


def test_the_difference_is_taken_item_by_item():
    with_it = grade_score(
        [row_of(item, 4, follows_content(0), unrelated=True) for item in "abc"] + [row_of("d", 4, follows_place(0))]
    )
    without = grade_score([row_of("a", 3, follows_content(0))] + [row_of(i, 3, follows_place(0)) for i in "bce"])
    # a: 1 - 1, b and c: 1 - 0; d and e stand alone.
    assert difference([with_it], [without]).value.value == pytest.approx(2 / 3)
    assert difference([with_it], [without], measure="llm").value.value == pytest.approx(2 / 3)
    assert difference([with_it], [without], measure="choice").value.value == pytest.approx(2 / 3 * 2 / 3)
    # Of two differences not 0, both up, 2 of 4 signs are as far.
    assert difference([with_it], [without]).p_value == 0.5


def test_above_chance_a_steady_judge_has_one_and_a_follower_of_place_less_than_nothing():
    # Three options: chance .579977, so that a score of 0 is at -.579977 / .420023.
    found = difference([run(STEADY, STEADY)], [run(STEADY, FIRST)], measure="above")
    assert found.value.value == pytest.approx((1 + 0.579977 / 0.420023) / 2, abs=1e-5)
    assert found.value.upper is not None
    assert found.value.upper <= 1 + 0.579977 / 0.420023 + 1e-5


def test_replicates_are_averaged_before_they_are_compared():
    one = grade_score([row_of("a", 2, follows_content(0)), row_of("a", 2, follows_place(0), replicate=1)])
    other = grade_score([row_of("a", 2, follows_place(0))])
    assert difference([one], [other]).value.value == 0.5


@given(first=picks, second=picks)
def test_turning_the_difference_turns_its_sign(first: list[tuple[int, ...]], second: list[tuple[int, ...]]):
    there, back = (
        difference([one], [other]).value for one, other in ((run(*first), run(*second)), (run(*second), run(*first)))
    )
    assert there.value is not None
    assert back.value is not None
    assert there.value == pytest.approx(-back.value)
    assert (there.lower, there.upper) == (pytest.approx(-(back.upper or 0)), pytest.approx(-(back.lower or 0)))
