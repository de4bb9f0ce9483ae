"""Claims about intervals where rows go together by item and by rater."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.stats.intervals import reach
from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap
from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.order import order_effect
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.shares.win_rate import win_rates


def judged(*, items: int = 40, raters: int = 12, rows: int = 12, seed: int = 3, taste: float = 0.7) -> Comparisons:
    """Items and raters with strengths of their own; raters of unequal diligence; four models."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(4, 1)
    item = np.repeat(np.arange(items), rows)
    pair = rng.integers(0, 6, len(item))
    share = 1 / np.arange(1, raters + 1)
    rater = rng.choice(raters, len(item), p=share / share.sum())
    mind = np.linspace(-0.5, 0.5, 4) + rng.normal(0, 1, (items, 4))
    tastes = rng.normal(0, taste, (raters, 4))
    a, b = first[pair], second[pair]
    lead = mind[item, a] - mind[item, b] + tastes[rater, a] - tastes[rater, b]
    sign = np.where(rng.random(len(item)) < 1 / (1 + np.exp(-lead)), 1, -1)
    sign[rng.random(len(item)) < 0.15] = 0
    return Comparisons(
        models=("A", "B", "C", "D"),
        model_a=a.astype(np.int32),
        model_b=b.astype(np.int32),
        sign=sign.astype(np.int8),
        item=item.astype(np.int32),
        first=rng.choice([-1, 1], len(item)).astype(np.int8),
        rater=rater.astype(np.int32),
        raters=tuple(f"r{code}" for code in range(raters)),
    )


def both(seen: Comparisons) -> Comparisons:
    return replace(seen, crossed=seen.rater)


def by_hand(solution: Solution, cluster: np.ndarray) -> np.ndarray:
    """The jackknife's sandwich of one grouping, row by row: each cluster's score as if it had had no say."""
    seen, strength = solution.comparisons, solution.fit.strength
    design = np.zeros((len(seen), len(strength)))
    design[np.arange(len(seen)), seen.model_a] = 1
    design[np.arange(len(seen)), seen.model_b] = -1
    chance = 1 / (1 + np.exp(-(design @ strength)))
    weight = np.ones(len(seen)) if seen.weight is None else seen.weight
    score = design * (weight * ((seen.sign + 1) / 2 - chance))[:, None]
    curved = weight * chance * (1 - chance)
    bread = np.linalg.pinv(design.T @ (curved[:, None] * design), rcond=1e-9)
    found = np.zeros((len(strength), len(strength)))
    for one in np.unique(cluster):
        rows = cluster == one
        information = design[rows].T @ (curved[rows][:, None] * design[rows])
        own = np.linalg.solve(np.eye(len(strength)) - information @ bread, score[rows].sum(axis=0))
        found += np.outer(bread @ own, bread @ own)
    return found


def cells(seen: Comparisons) -> np.ndarray:
    assert seen.item is not None
    assert seen.rater is not None
    return seen.item * 1000 + seen.rater


@pytest.mark.parametrize("weighted", [False, True])
def test_two_way_is_items_and_raters_less_what_they_share(weighted: bool):
    seen = judged()
    if weighted:
        seen = replace(seen, weight=np.random.default_rng(0).uniform(0.5, 2.0, len(seen)))
    solution = solve(both(seen))
    assert seen.item is not None
    assert seen.rater is not None
    expected = by_hand(solution, seen.item) + by_hand(solution, seen.rater) - by_hand(solution, cells(seen))
    assert np.linalg.eigvalsh(expected).min() > -1e-12
    # A light item's leverage is spread evenly over its models.
    found = spread(solution).covariance
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.01 * np.abs(expected).max())
    assert np.trace(found) > 1.3 * np.trace(spread(solve(seen)).covariance)


def test_rows_that_only_one_grouping_joins_are_clustered_by_that_one():
    seen = judged()
    assert seen.item is not None
    alone = replace(seen, rater=np.arange(len(seen), dtype=np.int32), raters=tuple(map(str, range(len(seen)))))
    plain = spread(solve(seen))
    np.testing.assert_allclose(spread(solve(both(alone))).covariance, plain.covariance, rtol=1e-6, atol=1e-9)
    # A rater for each four items: what is of one item is of one rater too.
    nested = replace(seen, crossed=(seen.item // 4).astype(np.int32))
    by_rater = spread(solve(replace(seen, cluster=nested.crossed)))
    np.testing.assert_allclose(spread(solve(nested)).covariance, by_rater.covariance, rtol=1e-6, atol=1e-9)


def test_no_direction_has_less_than_no_variance():
    # Raters who offset each other on every item: their own scores hardly vary.
    seen = judged(items=12, raters=4, rows=6, taste=0.0)
    found = spread(solve(both(seen))).covariance
    assert np.linalg.eigvalsh(found).min() > -1e-9


def test_the_grouping_with_fewer_effective_clusters_sets_students_t():
    seen = judged(raters=5)
    solution = solve(both(seen))
    assert seen.rater is not None
    assert seen.crossed is None
    around = spread(solution)
    raters = spread(solve(replace(seen, cluster=seen.rater)))
    items = spread(solve(seen))
    np.testing.assert_allclose(around.effective, np.minimum(raters.effective, items.effective))
    assert around.effective.max() < 5
    np.testing.assert_allclose(around.reach_of_strengths(), [reach(one) for one in around.effective[:4]])
    assert around.crossed == 5


def test_the_order_effect_and_win_rates_are_two_way_too():
    seen = judged()
    one, two = order_effect(seen).overall.natural, order_effect(both(seen)).overall.natural
    assert one.value == pytest.approx(two.value)
    assert (one.lower, one.upper) != (two.lower, two.upper)
    for narrow, wide in zip(win_rates(seen), win_rates(both(seen)), strict=True):
        assert narrow.win_rate.value == wide.win_rate.value
        assert narrow.win_rate.lower is not None
        assert wide.win_rate.lower is not None
        assert wide.win_rate.lower < narrow.win_rate.lower


def test_resamples_of_items_are_widened_by_what_raters_add():
    seen, drawn = judged(), Resampling(rounds=200)
    alone, crossed = bradley_terry_bootstrap(seen, drawn), bradley_terry_bootstrap(both(seen), drawn)
    errors = spread(solve(both(seen))).errors_of_strengths() / spread(solve(seen)).errors_of_strengths()
    for code, (one, two) in enumerate(zip(alone.models, crossed.models, strict=True)):
        assert one.rating.upper is not None
        assert two.rating.upper is not None
        assert one.rating.value is not None
        assert two.rating.upper - one.rating.value > 0.99 * errors[code] * (one.rating.upper - one.rating.value)
    assert any("and by what raters add" in note for note in crossed.notes)


def test_what_students_t_is_on_is_not_told_twice_where_raters_are_few():
    assert bradley_terry(both(judged(raters=6))).notes == ()


@pytest.mark.slow
def test_crossed_raters_of_unequal_diligence_are_covered():
    """A small seeded version of bench/coverage.py."""
    from bench.coverage import covered

    found = covered("ratings, raters, unequal", repetitions=60)
    assert found.held > 0.93
    assert found.claimed < 0.1


@pytest.mark.parametrize("about", ["items of these sizes", "items that weigh alike"])
def test_where_strength_rises_with_size_intervals_hold_what_they_are_about(about: str):
    """A small seeded version of bench/coverage_sizes.py; over items drawn anew they hold in 90 to 92 %."""
    from bench.coverage import covered

    found = covered(f"sizes (sd 1.5) and strength rise together, 100 items, {about}", repetitions=150)
    assert found.held > 0.93


def test_no_rows_at_all_have_no_clusters_and_no_intervals():
    nothing = both(judged()).rows(np.zeros(480, dtype=np.bool_))
    assert all(one.rating.value is None for one in bradley_terry(nothing).models)


@pytest.mark.parametrize("design", ["items", "items and raters", "items of two rows", "orders"])
def test_a_row_told_as_two_of_half_its_weight_changes_no_bound(design: str):
    seen = {
        "items": judged(),
        "items and raters": both(judged()),
        "items of two rows": judged(items=60, rows=2),
        "orders": replace(judged(), first=np.where(np.arange(480) % 2, 1, -1).astype(np.int8)),
    }[design]
    again = np.concatenate((np.arange(len(seen)), np.arange(0, len(seen), 3), np.arange(0, len(seen), 3)))
    share = np.where(np.arange(len(seen)) % 3, 1.0, 1 / 3)
    split = replace(seen.rows(again), weight=share.take(again))
    others = {"items and raters": [], "orders": [_shares, _order]}.get(design, [_shares])
    for estimates in (_ratings, *others):
        np.testing.assert_allclose(estimates(split), estimates(seen), rtol=1e-9)


def test_only_a_spread_smaller_than_chance_alone_would_leave_counts_rows():
    """Which a row told in two halves changes: the share of a model whose items are so alike moves a little."""
    seen = both(judged())
    halves = np.tile(np.arange(len(seen)), 2)
    split = _shares(replace(seen.rows(halves), weight=np.full(len(halves), 0.5)))
    moved = np.abs(split - _shares(seen))
    assert (moved.max(axis=1) > 1e-9).tolist() == [False, True, False, False]
    assert moved.max() < 5e-3
    alone = replace(seen, item=None, crossed=None)
    surer = _ratings(replace(alone.rows(halves), weight=np.full(len(halves), 0.5)))
    # Without items each row is a cluster: two halves are then two verdicts that have nothing in common.
    assert np.diff(surer) == pytest.approx(np.diff(_ratings(alone)) / 2**0.5, rel=0.02)


def _ratings(seen: Comparisons) -> np.ndarray:
    return np.array([(one.rating.lower, one.rating.upper) for one in bradley_terry(seen).models], dtype=np.float64)


def _shares(seen: Comparisons) -> np.ndarray:
    return np.array([(one.win_rate.lower, one.win_rate.upper) for one in win_rates(seen)], dtype=np.float64)


def _order(seen: Comparisons) -> np.ndarray:
    found = order_effect(seen).overall.natural
    return np.array([found.lower, found.upper], dtype=np.float64)
