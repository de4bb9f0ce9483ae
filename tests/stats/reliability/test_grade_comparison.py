"""Claims about Grade Score runs repeated, and about differences that lean to a side."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.stats.reliability.grade_score.comparison import run_spread, sign_flip_p_value
from tests.stats.reliability.option_judges import follows_content, follows_place, row_of


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
