"""Claims about intervals foreseen: they are as wide as those that come, whatever items hold."""

import math

import numpy as np
import pytest

from evenhand.stats.intervals import reach
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.planned_widths import Likeness, PlannedVotes, likeness_of, planned_widths, strengths_of
from evenhand.stats.ratings.scale import Scale


def votes_of(rows: np.ndarray, models: int) -> PlannedVotes:
    return PlannedVotes(models=models, item=rows[:, 0], model_a=rows[:, 1], model_b=rows[:, 2])


def comparisons_of(rows: np.ndarray, models: int) -> Comparisons:
    return Comparisons(
        models=tuple(f"m{number}" for number in range(models)),
        model_a=rows[:, 1].astype(np.int32),
        model_b=rows[:, 2].astype(np.int32),
        sign=rows[:, 3].astype(np.int8),
        item=rows[:, 0].astype(np.int32),
    )


def judged(seed: int, *, models: int, items: int, uneven: bool) -> np.ndarray:
    """Each model has good and bad items; the two orders of a battle share their luck; the first gains a little."""
    draw = np.random.default_rng(seed)
    strength = 0.8 * draw.normal(size=models)
    rows: list[tuple[int, int, int, int]] = []
    for item in range(items):
        many = int(draw.choice([2, 3, models])) if uneven else models
        there = sorted(draw.choice(models, size=many, replace=False).tolist())
        quality = strength + draw.normal(size=models)
        for place, one in enumerate(there):
            for other in there[place + 1 :]:
                luck = draw.logistic()
                for first in (1, -1):
                    lead = quality[one] - quality[other] + luck + 0.4 * first + 0.7 * draw.logistic()
                    rows.append((item, one, other, 1 if lead > 0 else -1))
    return np.array(rows, dtype=np.int64)


def test_two_equals_with_a_vote_an_item_have_the_binomial_interval() -> None:
    """By hand: the difference of n even votes has the variance 4 / n, each of the two ratings half its error; an item
    left out makes it wider by 1 / (1 - 1 / n)."""
    n = 200
    rows = np.stack([np.arange(n), np.zeros(n), np.ones(n)], axis=1).astype(np.int64)
    found = planned_widths(votes_of(rows, 2), np.zeros(2), Likeness())
    error = math.sqrt(4 / n / (1 - 1 / n)) / 2
    assert found.half == pytest.approx(np.full(2, reach(n) * error * Scale().unit))
    assert found.separated == pytest.approx(0.05)


def test_a_second_order_that_tells_nothing_new_buys_nothing() -> None:
    once = np.stack([np.arange(50), np.zeros(50), np.ones(50)], axis=1).astype(np.int64)
    twice = np.concatenate([once, once])
    one = planned_widths(votes_of(once, 2), np.zeros(2), Likeness()).half
    assert planned_widths(votes_of(twice, 2), np.zeros(2), Likeness()).half == pytest.approx(one)
    apart = planned_widths(votes_of(twice, 2), np.zeros(2), Likeness(same_pair=0.0)).half
    assert apart == pytest.approx(one / math.sqrt(2))


def test_names_of_models_and_items_change_nothing() -> None:
    rows = judged(3, models=4, items=30, uneven=True)
    strength, alike = np.array([0.5, 0.1, -0.2, -0.4]), Likeness(variance=0.9, same_pair=0.5, shared_model=0.1)
    found = planned_widths(votes_of(rows, 4), strength, alike)
    other = np.array([2, 0, 3, 1])
    renamed = rows.copy()
    renamed[:, 0] = 29 - rows[:, 0]
    renamed[:, 1], renamed[:, 2] = other[rows[:, 2]], other[rows[:, 1]]
    again = planned_widths(votes_of(renamed, 4), strength[np.argsort(other)], alike)
    assert again.half[other] == pytest.approx(found.half)
    assert again.separated == pytest.approx(found.separated)


def test_rounding_makes_no_information_of_the_direction_that_has_none() -> None:
    """By the usual cut-off of a pseudo-inverse a 0 that was rounded is inverted, on some processors and boards."""
    draw = np.random.default_rng(5)
    for _ in range(150):
        models = int(draw.integers(3, 40))
        pair = np.array([(a, b) for a in range(models) for b in range(a)], dtype=np.int64)
        votes = votes_of(np.insert(pair, 0, draw.integers(0, 9, len(pair)), axis=1), models)
        half = planned_widths(votes, draw.normal(size=models), Likeness()).half
        assert float(half.max()) < 100 * float(half.min())


def test_votes_drawn_alike_are_found_alike() -> None:
    rows = judged(5, models=4, items=400, uneven=False)
    seen = comparisons_of(rows, 4)
    alike = likeness_of(seen, strengths_of(seen))
    assert alike.variance == pytest.approx(1.0, abs=0.1)
    assert 0.2 < alike.same_pair < 0.8
    assert 0.0 < alike.shared_model < 0.3
    mixed = rows.copy()
    mixed[:, 0] = np.arange(len(rows))
    apart = comparisons_of(mixed, 4)
    assert likeness_of(apart, strengths_of(apart)).shared_model == 0.0, "no two votes share an item"


@pytest.mark.slow
@pytest.mark.parametrize(("models", "uneven"), [(2, False), (4, True), (6, True)])
def test_foreseen_from_a_quarter_of_the_items_the_width_is_what_comes(models: int, uneven: bool) -> None:
    """The mean of forty boards is right within 5 %, and four in five boards are within 15 %."""
    ratios: list[float] = []
    for seed in range(40):
        rows = judged(seed, models=models, items=100, uneven=uneven)
        seen = comparisons_of(rows[rows[:, 0] < 30], models)
        strength = strengths_of(seen)
        foreseen = planned_widths(votes_of(rows, models), strength, likeness_of(seen, strength)).half
        came = [one.rating for one in bradley_terry(comparisons_of(rows, models)).models]
        half = [(one.upper - one.lower) / 2 for one in came if one.upper is not None and one.lower is not None]
        assert len(half) == models
        ratios.append(float(foreseen.mean()) / float(np.mean(half)))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.05)
    assert np.mean([abs(ratio - 1) < 0.15 for ratio in ratios]) >= 0.8


@pytest.mark.parametrize(
    "unlike", [Likeness(variance=0.9, same_pair=-0.9, shared_model=-0.1), Likeness(shared_model=9)]
)
def test_votes_are_foreseen_no_more_alike_or_unlike_than_luck_on_an_item_makes_them(unlike: Likeness) -> None:
    rows = [(item, one, other) for item in range(3) for one in range(3) for other in range(3) if one != other]
    item, one, other = (np.array(column) for column in zip(*rows, strict=True))
    votes = PlannedVotes(models=3, item=item, model_a=one, model_b=other)
    assert (planned_widths(votes, np.zeros(3), unlike.bounded).half > 0).all()
    assert 0 <= 2 * unlike.bounded.shared_model <= unlike.bounded.same_pair <= unlike.variance
