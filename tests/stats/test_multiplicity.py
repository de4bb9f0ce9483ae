"""Claims about p-values corrected for their number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.stats.multiplicity import holm

p_values = st.lists(st.floats(0, 1), max_size=12)


def test_holm_by_hand():
    # Sorted .01 .02 .03 .2 times 4 3 2 1: .04 .06 .06 .2.
    assert holm([0.02, 0.2, 0.01, 0.03]) == pytest.approx((0.06, 0.2, 0.04, 0.06))
    assert holm([0.03]) == (0.03,)
    assert holm([]) == ()


@given(p_values)
def test_it_lies_between_no_correction_and_bonferronis(values: list[float]):
    for plain, adjusted in zip(values, holm(values), strict=True):
        assert plain <= adjusted <= min(1.0, plain * len(values)) + 1e-15


@given(p_values)
def test_the_order_of_the_p_values_is_kept(values: list[float]):
    found = holm(values)
    for one, first in zip(values, found, strict=True):
        for other, second in zip(values, found, strict=True):
            assert one > other or first <= second


def test_where_nothing_differs_some_comparison_is_called_different_in_at_most_five_of_a_hundred():
    rng = np.random.default_rng(3)
    wrong = sum(min(holm(stats.norm.sf(rng.normal(size=20)).tolist())) <= 0.05 for _ in range(2_000))
    assert wrong / 2_000 < 0.065
