"""Claims about means of bounded numbers whose cases come in clusters."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Range, clustered_mean, clustered_share, reach
from tests.refusals import refused

rows = st.lists(
    st.tuples(st.floats(0, 1, width=16), st.sampled_from([0.25, 0.5, 1.0]), st.integers(0, 9)), min_size=1, max_size=40
)
Rows = list[tuple[float, float, int]]


def mean_of(cases: Rows, within: Range | None = None) -> Estimate:
    return clustered_mean(
        [row[0] for row in cases],
        [row[2] for row in cases],
        weights=[row[1] for row in cases],
        within=within or Range(),
    )


def bounds(estimate: Estimate) -> tuple[float, float, float]:
    assert estimate.value is not None
    assert estimate.lower is not None
    assert estimate.upper is not None
    return estimate.lower, estimate.value, estimate.upper


def test_twelve_values_in_six_clusters_worked_by_hand():
    # Mean .5; cluster residuals .2 .2 0 0 -.2 -.2, so V = 6/5 * .16/144 = 1/750 and .25/V = 187.5 cases.
    # t(5) = 2.570582; Wilson at .5: half = sqrt(q/4 + q²/4)/(1 + q) with q = t²/187.5 = .0352424.
    estimate = clustered_mean([0.6] * 4 + [0.5] * 4 + [0.4] * 4, [i // 2 for i in range(12)])
    assert bounds(estimate) == pytest.approx((0.40775, 0.5, 0.59225), abs=1e-5)
    assert (estimate.n, estimate.clusters) == (12, 6)


def test_many_values_in_the_middle_get_the_usual_interval():
    values = np.random.default_rng(3).uniform(0.3, 0.7, 4_000)
    half = 1.959964 * values.std(ddof=1) / math.sqrt(4_000)
    lower, value, upper = bounds(clustered_mean(values, range(4_000)))
    assert (lower, upper) == pytest.approx((value - half, value + half), rel=1e-3)


def test_values_that_are_yes_or_no_get_the_interval_of_a_share():
    won = [1.0] * 60 + [0.0] * 40
    share = bounds(clustered_share(won, [1.0] * 100, range(100)))
    # The share counts n cases, the mean n - 1, its variance being that of a sample.
    assert bounds(clustered_mean(won, range(100))) == pytest.approx(share, abs=1e-3)


def test_equal_values_prove_no_more_than_their_clusters():
    often = clustered_mean([1.0] * 300, [0, 1, 2] * 100)
    # t(2) = 4.30265: lower = 3 / (3 + 18.513).
    assert bounds(often) == pytest.approx((0.13945, 1, 1), abs=1e-4)
    assert bounds(clustered_mean([0.5] * 12, [0] * 12))[0] < 0.01


def test_equal_values_in_the_middle_are_not_less_sure_than_some_that_differ_a_little():
    # 1.95996² / (4 x 40) = .02401 of the way to either end.
    alike = bounds(clustered_mean([0.5] * 40, range(40)))
    assert alike == pytest.approx((0.487995, 0.5, 0.512005), abs=1e-6)
    nearly = bounds(clustered_mean([0.5 + 1e-7] + [0.5] * 39, range(40)))
    assert nearly == pytest.approx(alike, abs=1e-6)


@given(st.integers(2, 60), st.floats(0, 1, width=16))
def test_the_bounds_pass_without_a_jump_from_no_spread_to_a_little(groups: int, value: float):
    nearly = [value + (1e-9 if value < 0.5 else -1e-9), *[value] * (groups - 1)]
    one, other = (bounds(clustered_mean(each, range(groups))) for each in ([value] * groups, nearly))
    assert one == pytest.approx(other, abs=1e-4)


@given(rows)
def test_no_record_is_surer_than_one_at_the_very_end(cases: Rows):
    best = mean_of([(1.0, weight, cluster) for _, weight, cluster in cases])
    assert bounds(mean_of(cases))[0] <= bounds(best)[0] + 1e-12


def test_a_range_only_moves_and_stretches():
    plain = bounds(clustered_mean([0.2, 0.9, 0.4, 0.6], range(4)))
    wide = bounds(clustered_mean([-0.6, 0.8, -0.2, 0.2], range(4), within=Range(low=-1, high=1)))
    assert wide == pytest.approx([2 * one - 1 for one in plain])


def test_no_cases_have_no_value():
    assert clustered_mean([], []) == Estimate(value=None, reason="no cases")
    assert clustered_mean([0.5], ["a"], weights=[0.0]) == Estimate(value=None, reason="no cases")


def test_crossed_raters_widen_the_interval_where_raters_differ():
    rng = np.random.default_rng(5)
    rater, item = np.meshgrid(np.arange(6), np.arange(50))
    value = np.clip(0.5 + rng.normal(0, 0.1, 6)[rater] + rng.normal(0, 0.05, rater.shape), 0, 1).ravel()
    by_item = bounds(clustered_mean(value, item.ravel()))
    crossed = clustered_mean(value, item.ravel(), crossed_with=rater.ravel())
    assert crossed.clusters == 6
    assert bounds(crossed)[0] < by_item[0]
    assert bounds(crossed)[2] > by_item[2]


def test_crossed_variance_is_items_plus_raters_minus_cells():
    rng = np.random.default_rng(8)
    rater, item = (grid.ravel() for grid in np.meshgrid(np.arange(12), np.arange(15)))
    value = 0.5 + rng.uniform(-0.1, 0.1, 12)[rater] + rng.uniform(-0.1, 0.1, 15)[item] + rng.uniform(-0.2, 0.2, 180)
    left = value - value.mean()
    # Each group as if it had had no say in the mean.
    items = (15 / 14) ** 2 * sum(left[item == one].sum() ** 2 for one in range(15))
    raters = (12 / 11) ** 2 * sum(left[rater == one].sum() ** 2 for one in range(12))
    cells = (180 / 179) ** 2 * sum(left**2)
    variance = (items + raters - cells) / 180**2 * 11 / 12
    assert items + raters - cells > max(items, raters)
    pull = reach(12) ** 2 * variance / (value.mean() * (1 - value.mean()))
    half = math.sqrt(pull * value.mean() * (1 - value.mean()) + pull**2 / 4)
    lower, _, upper = bounds(clustered_mean(value, item, crossed_with=rater))
    assert upper - lower == pytest.approx(2 * half / (1 + pull))


@pytest.mark.parametrize("groups", [16, 60])
def test_95_in_100_intervals_hold_the_truth_where_cases_of_a_cluster_agree(groups: int):
    rng = np.random.default_rng(11)
    labels = np.repeat(np.arange(groups), 4)
    held = 0
    for _ in range(600):
        value = np.clip(rng.beta(4, 2, groups)[labels] * 0.8 + rng.uniform(0, 0.2, len(labels)), 0, 1)
        lower, _, upper = bounds(clustered_mean(value, labels))
        held += lower <= 0.8 * 4 / 6 + 0.1 <= upper
    assert 0.925 <= held / 600 <= 0.985


@pytest.mark.parametrize("raters", [6, 20])
def test_crossed_intervals_hold_the_truth_where_items_and_raters_both_vary(raters: int):
    rng = np.random.default_rng(17)
    rater, item = (grid.ravel() for grid in np.meshgrid(np.arange(raters), np.arange(40)))
    held = 0
    for _ in range(400):
        value = 0.5 + rng.uniform(-0.15, 0.15, 40)[item] + rng.uniform(-0.15, 0.15, raters)[rater]
        lower, _, upper = bounds(clustered_mean(value + rng.uniform(-0.2, 0.2, len(item)), item, crossed_with=rater))
        held += lower <= 0.5 <= upper
    assert 0.92 <= held / 400 <= 1


@given(rows)
def test_bounds_hold_the_value_and_stay_in_the_range(cases: Rows):
    lower, value, upper = bounds(mean_of(cases))
    assert 0 <= lower <= value + 1e-12
    assert value - 1e-12 <= upper <= 1
    assert lower < upper


@given(rows)
def test_the_other_side_is_a_mirror(cases: Rows):
    lower, value, upper = bounds(mean_of(cases))
    mirrored = mean_of([(1 - one, weight, cluster) for one, weight, cluster in cases])
    assert bounds(mirrored) == pytest.approx((1 - upper, 1 - value, 1 - lower), abs=1e-9)


@given(rows, st.randoms(use_true_random=False), st.permutations(range(10)))
def test_the_names_of_clusters_and_the_order_of_rows_do_not_matter(cases: Rows, random: Random, names: list[int]):
    renamed = [(one, weight, names[cluster]) for one, weight, cluster in cases]
    random.shuffle(renamed)
    assert bounds(mean_of(renamed)) == pytest.approx(bounds(mean_of(cases)), abs=1e-9)


def test_bad_rows_are_refused_with_a_sentence():
    with refused(ValueError, "value", "0 to 1"):
        clustered_mean([1.5], [0])
    with refused(ValueError, "value", "0 to 1"):
        clustered_mean([math.nan], [0])
    with refused(ValueError, "cluster", "(2,)", "(1,)"):
        clustered_mean([0.5], [0, 1])
    with refused(ValueError, "weights", "(1,)", "(2,)"):
        clustered_mean([0.5], [0], weights=[1.0, 1.0])
    with refused(ValueError, "weight", 0):
        clustered_mean([0.5], [0], weights=[-1.0])
    with refused(ValueError, "range", "from 1 to 1"):
        Range(low=1, high=1)


def test_orders_that_offset_each_other_prove_what_so_many_items_can():
    votes = [1.0, 0.0] * 16
    items = [item for item in range(16) for _ in range(2)]
    # None of 16 items differs: up to 1.96² / (16 + 1.96²) may, as much spread as of 82.6 cases; t(15) = 2.13145.
    assert bounds(clustered_mean(votes, items)) == pytest.approx((0.38586, 0.5, 0.61414), abs=1e-5)
