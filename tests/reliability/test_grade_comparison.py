"""Claims about paired Grade Score runs and about runs repeated."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.reliability.grade_comparison import paired_difference, run_spread, sign_flip_p_value
from evenhand.reliability.grade_score import grade_score
from evenhand.reliability.option_rows import OptionRow
from tests.reliability.option_judges import follows_content, follows_place, row_of


def test_the_difference_is_taken_item_by_item():
    with_it = grade_score(
        [row_of(item, 4, follows_content(0), unrelated=True) for item in "abc"] + [row_of("d", 4, follows_place(0))]
    )
    without = grade_score([row_of("a", 3, follows_content(0))] + [row_of(i, 3, follows_place(0)) for i in "bce"])
    difference = paired_difference(with_it, without)
    # a: 1 - 1, b and c: 1 - 0; d and e stand alone.
    assert difference.grade_score.value == pytest.approx(2 / 3)
    assert difference.llm_score.value == pytest.approx(2 / 3)
    assert difference.choice_score.value == pytest.approx(2 / 3 * 2 / 3)
    assert (difference.grade_score.n, difference.grade_score.clusters, difference.left_out) == (3, 3, 2)
    # Two differences not 0, both up: 2 of 4 signs are as far.
    assert difference.p_value == 0.5


def test_turning_the_runs_round_turns_the_sign():
    rng = np.random.default_rng(2)
    one, other = (
        grade_score(
            [OptionRow(item=str(i), selected_positions=tuple(rng.integers(0, 3, 3).tolist())) for i in range(30)]
        )
        for _ in range(2)
    )
    there, back = paired_difference(one, other), paired_difference(other, one)
    assert there.grade_score.value == pytest.approx(-(back.grade_score.value or 0))
    assert there.p_value == pytest.approx(back.p_value)
    assert there.grade_score.lower == pytest.approx(-(back.grade_score.upper or 0))


def test_replicates_are_averaged_before_they_are_compared():
    one = grade_score([row_of("a", 2, follows_content(0)), row_of("a", 2, follows_place(0), replicate=1)])
    other = grade_score([row_of("a", 2, follows_place(0))])
    assert paired_difference(one, other).grade_score.value == 0.5


def test_nothing_in_common_gives_no_number():
    difference = paired_difference(
        grade_score([row_of("a", 2, follows_place(0))]), grade_score([row_of("b", 2, follows_place(0))])
    )
    assert (difference.grade_score.value, difference.p_value, difference.left_out) == (None, None, 2)
    assert difference.as_json()["grade_score_difference_reason"] == "no cases"


@given(st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.75, 1.0]), max_size=8))
def test_the_test_turns_every_sign(differences: list[float]):
    moved = np.array([one for one in differences if one])
    sums = [abs(float(np.dot(signs, moved))) for signs in product((1, -1), repeat=len(moved))]
    expected = sum(one >= abs(moved.sum()) - 1e-12 for one in sums) / len(sums)
    assert sign_flip_p_value(np.array(differences)) == pytest.approx(expected)


def test_exact_and_normal_meet_where_one_follows_the_other():
    # scipy's permutation test turns the same signs.
    values = np.random.default_rng(6).normal(0.05, 0.5, 60)
    drawn = stats.permutation_test((values,), np.sum, permutation_type="samples", n_resamples=20_000, rng=1)
    assert 0.05 < drawn.pvalue < 0.9
    assert sign_flip_p_value(values) == pytest.approx(drawn.pvalue, abs=0.015)
    assert sign_flip_p_value(values[:20]) == pytest.approx(
        stats.permutation_test((values[:20],), np.sum, permutation_type="samples", n_resamples=20_000, rng=1).pvalue,
        abs=0.015,
    )


def test_the_spread_of_runs_is_over_items_that_all_of_them_scored():
    rows = [
        row_of("a", 2, follows_content(0)),
        row_of("b", 2, follows_content(0)),
        row_of("a", 2, follows_place(0), replicate=1),
        row_of("b", 2, follows_content(0), replicate=1),
        row_of("c", 2, follows_place(0), replicate=1),
    ]
    spread = run_spread(rows)
    assert (spread.runs, spread.items, spread.widest) == ((1.0, 0.5), 2, 0.5)
    assert spread.standard_deviation == pytest.approx(0.5 / 2**0.5)


def test_one_run_has_no_spread():
    spread = run_spread([row_of("a", 2, follows_content(0))])
    assert (spread.runs, spread.standard_deviation, spread.widest) == ((1.0,), None, None)
    assert run_spread([]).runs == ()
