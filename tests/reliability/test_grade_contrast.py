"""Sums and differences of runs, item by item."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.reliability.grade_comparison import paired_difference
from evenhand.reliability.grade_contrast import Measure, Part, contrast, difference
from evenhand.reliability.grade_score import GradeScore, grade_score
from evenhand.reliability.option_rows import OptionRow, rotations

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
    assert contrast([Part(weight=weight, score=score) for weight, score in parts]).value.value == 2


def test_the_mean_of_several_runs_is_compared_with_the_mean_of_others():
    assert difference([run(STEADY), run(FIRST)], [run(FIRST)]).value.value == 0.5
    assert difference([run(STEADY), run(FIRST)], [run(FIRST)], measure="choice").value.value == pytest.approx(1 / 3)


def test_without_a_common_item_there_is_no_number():
    found = difference([run((0, None, 0))], [run(STEADY)])
    assert found.value.value is None
    assert found.p_value is None


def test_a_contrast_of_nothing_is_refused():
    with pytest.raises(ValueError, match="a run at least"):
        contrast([])


@given(first=picks, second=picks)
def test_one_run_against_another_is_the_paired_difference(first: list[tuple[int, ...]], second: list[tuple[int, ...]]):
    one, other = run(*first), run(*second)
    known = paired_difference(one, other)
    measures: dict[Measure, Estimate] = {
        "grade": known.grade_score,
        "llm": known.llm_score,
        "choice": known.choice_score,
    }
    for measure, estimate in measures.items():
        found = difference([one], [other], measure=measure)
        assert found.value.value == pytest.approx(estimate.value)
        assert found.value.lower == pytest.approx(estimate.lower)
    assert difference([one], [other]).p_value == pytest.approx(known.p_value)


@given(first=picks, second=picks)
def test_turning_the_difference_turns_its_sign(first: list[tuple[int, ...]], second: list[tuple[int, ...]]):
    there, back = (
        difference([one], [other]).value for one, other in ((run(*first), run(*second)), (run(*second), run(*first)))
    )
    assert there.value is not None
    assert back.value is not None
    assert there.value == pytest.approx(-back.value)
    assert (there.lower, there.upper) == (pytest.approx(-(back.upper or 0)), pytest.approx(-(back.lower or 0)))
