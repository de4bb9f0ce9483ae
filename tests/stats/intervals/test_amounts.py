"""Claims about means and medians of amounts without a highest value."""

import numpy as np
import pytest
from scipy.stats import binom, t

from evenhand.stats.intervals import amount_mean, median


def test_the_mean_of_cases_on_items_of_their_own_has_students_interval():
    values = [3.0, 4.5, 4.0, 7.5, 6.0, 5.0, 2.5, 8.0]
    found = amount_mean(values, np.arange(8))
    lower, upper = t.interval(0.95, 7, loc=np.mean(values), scale=np.std(values, ddof=1) / np.sqrt(8))
    assert (found.value, found.lower, found.upper) == pytest.approx((np.mean(values), lower, upper))
    assert (found.n, found.clusters) == (8, 8)


def test_cases_of_one_item_count_as_one():
    values = [1.0, 2.0, 4.0, 3.0]
    once = amount_mean(values, range(4))
    thrice = amount_mean(np.repeat(values, 3).tolist(), np.repeat(range(4), 3))
    assert (thrice.value, thrice.lower, thrice.upper) == pytest.approx((once.value, once.lower, once.upper))
    assert amount_mean([1.0, 9.0], [0, 0]).lower is None
    assert amount_mean([], []).value is None


@pytest.mark.parametrize("count", [6, 7, 10, 41, 200])
def test_a_medians_bounds_leave_out_one_in_forty_on_either_side_at_the_most(count: int):
    found = median([float(number) for number in range(count)])
    assert found.lower is not None
    assert found.upper == count - 1 - found.lower
    assert binom.cdf(found.lower, count, 0.5) <= 0.025 < binom.cdf(found.lower + 1, count, 0.5)


def test_so_few_values_have_no_bounds():
    assert (median([1.0, 2.0, 9.0]).value, median([1.0, 2.0, 9.0]).lower) == (2.0, None)
    assert median([]).reason == "no cases"
