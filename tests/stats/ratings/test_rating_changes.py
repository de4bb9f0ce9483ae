"""Claims about ratings by two sets of verdicts on the same items."""

import numpy as np
import pytest

from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap, rating_changes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.resampling import Resampling

MODELS = ("a", "b", "c", "d")
DRAWN = Resampling(rounds=200, seed=1)


def judged(seed: int, *, items: int = 40, of_items: int = 0, raised: float = 0.0) -> Comparisons:
    """Every pair on every item. `of_items`: the seed of what makes items alike for all judges; `raised`: what a judge
    gives d besides."""
    shared, own = np.random.default_rng(of_items), np.random.default_rng(seed)
    strength = np.array([0.6, 0.2, -0.2, -0.6 + raised])
    pairs = [(one, other) for one in range(4) for other in range(one + 1, 4)]
    item, first, second = (
        np.array(column) for column in zip(*((i, *p) for i in range(items) for p in pairs), strict=True)
    )
    lean = shared.normal(0, 1.5, size=(items, 4))
    gap = strength[first] - strength[second] + lean[item, first] - lean[item, second]
    won = own.random(len(item)) < 1 / (1 + np.exp(-gap))
    return Comparisons(
        models=MODELS,
        model_a=first.astype(np.int32),
        model_b=second.astype(np.int32),
        sign=np.where(won, 1, -1).astype(np.int8),
        item=item.astype(np.int32),
    )


def test_the_same_verdicts_make_no_difference_at_all():
    found = rating_changes(judged(1), judged(1), DRAWN)
    assert [one.model for one in found] == list(MODELS)
    for one in found:
        assert (one.difference.value, one.difference.lower, one.difference.upper) == (0, 0, 0)
        assert not one.moved


def test_the_way_back_is_the_way_there_turned_round():
    there, back = rating_changes(judged(1), judged(2), DRAWN), rating_changes(judged(2), judged(1), DRAWN)
    for one, other in zip(there, back, strict=True):
        assert one.difference.value == pytest.approx(-(other.difference.value or 0))
        assert one.difference.lower == pytest.approx(-(other.difference.upper or 0))
        assert one.difference.n == 40


def test_the_difference_is_that_of_the_two_ratings_and_a_raised_model_moved():
    found = {one.model: one for one in rating_changes(judged(1), judged(2, raised=3.0), DRAWN)}
    raised = found["d"]
    assert raised.difference.value == pytest.approx((raised.second.value or 0) - (raised.first.value or 0))
    assert raised.moved
    assert (raised.difference.lower or 0) > 0


def test_what_items_have_in_common_leaves_the_difference():
    """Beside two intervals that know nothing of each other the paired one is narrower, as the items are the same."""
    one, other = judged(1), judged(2)
    for change, *alone in zip(
        rating_changes(one, other, DRAWN),
        bradley_terry_bootstrap(one, DRAWN).models,
        bradley_terry_bootstrap(other, DRAWN).models,
        strict=True,
    ):
        first, second = [(rated.rating.upper or 0) - (rated.rating.lower or 0) for rated in alone]
        paired = (change.difference.upper or 0) - (change.difference.lower or 0)
        assert 0 < paired < 0.9 * np.hypot(first, second)


def test_other_models_or_items_are_refused():
    with pytest.raises(ValueError, match="same models and items"):
        rating_changes(judged(1), judged(2, items=39), DRAWN)


def test_who_won_everything_has_no_difference_and_nobody_a_bound_of_unlike_items():
    every = judged(1)
    swept = Comparisons(
        models=MODELS,
        model_a=every.model_a,
        model_b=every.model_b,
        sign=np.where(every.model_a == 0, 1, every.sign).astype(np.int8),
        item=every.item,
    )
    best, *_ = rating_changes(every, swept, DRAWN)
    assert best.difference.value is None
    assert best.difference.reason == "it has no finite rating in one of the two"


@pytest.mark.slow
def test_of_two_judges_of_one_truth_the_interval_holds_0_as_often_as_it_says():
    held = [
        (one.difference.lower or 0) <= 0 <= (one.difference.upper or 0)
        for seed in range(100)
        for one in rating_changes(judged(2 * seed, of_items=seed), judged(2 * seed + 1, of_items=seed), DRAWN)
    ]
    assert 0.92 <= np.mean(held) <= 0.99
