"""Claims about the worth of a longer answer."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from bench.planted import BETTER, FAVOURED, ORDER, SLOPE, judged
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.length import length_effect
from evenhand.stats.ratings.effects.order import order_effect
from tests.stats.ratings.showings import shown, sides_exchanged
from tests.stats.ratings.test_order_effect import BY_HAND, natural


def measured(rows: Comparisons, words: np.ndarray) -> Comparisons:
    """Without the order; `words` in favour of model_a."""
    return replace(rows, first=None, length=np.asarray(words, dtype=np.float64))


def test_two_models_by_hand():
    # The longer answer is by 100 words, and wins as the first one does in the order effect's example.
    found = length_effect(measured(shown(BY_HAND), np.full(16, 100.0)))
    effect = order_effect(shown(BY_HAND))
    assert natural(found.slope) == pytest.approx(natural(effect.overall))
    assert found.slope.points.value == pytest.approx(200 * math.log10(5))
    assert found.after is not None
    assert effect.after is not None
    assert [one.rating for one in found.after.models] == [one.rating for one in effect.after.models]
    assert found.order is None
    assert found.notes[0] == "Without an order effect: no row says which answer was shown first."


def test_the_slope_is_told_per_hundred_words():
    one = length_effect(measured(shown(BY_HAND), np.full(16, 100.0))).slope.points
    other = length_effect(measured(shown(BY_HAND), np.full(16, 50.0))).slope.points
    assert one.value is not None
    assert other.value == pytest.approx(2 * one.value)
    assert length_effect(measured(shown(BY_HAND), np.full(16, 50.0))).as_json()["words"] == 100


def test_another_maximiser_finds_slope_and_order_together():
    rows = judged(np.random.default_rng(3), 50, slope=SLOPE)
    length = rows.length
    assert length is not None

    def loss(parameters: np.ndarray) -> float:
        lead = parameters[rows.model_a] - parameters[rows.model_b] + parameters[4] * length / 100 + parameters[5]
        return float((np.logaddexp(0, -lead) + (1 - rows.sign) / 2 * lead).sum()) + float(parameters[:4].sum()) ** 2

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-7}).x
    found = length_effect(rows)
    assert found.order is not None
    assert (found.slope.natural.value, found.order.natural.value) == pytest.approx((best[4], best[5]), abs=1e-5)
    assert found.after is not None
    np.testing.assert_allclose(found.after.solution.fit.strength, best[:4], atol=1e-5)
    assert found.notes == ("An order effect, one for all raters, is fitted together with the length slope.",)


def test_it_does_not_matter_from_which_side_a_showing_is_told():
    rows = judged(np.random.default_rng(4), 30, slope=SLOPE)
    one, other = length_effect(rows), length_effect(sides_exchanged(rows))
    assert natural(one.slope) == pytest.approx(natural(other.slope))
    assert one.order is not None
    assert other.order is not None
    assert natural(one.order) == pytest.approx(natural(other.order))


def test_rows_without_a_length_are_left_out_and_counted():
    rows = judged(np.random.default_rng(5), 30, slope=SLOPE)
    assert rows.length is not None
    known = np.arange(len(rows)) % 9 > 0
    found = length_effect(replace(rows, length=np.where(known, rows.length, np.nan)))
    alone = length_effect(rows.rows(known))
    assert natural(found.slope) == natural(alone.slope)
    assert found.before.models == bradley_terry(rows.rows(known)).models
    assert found.notes[0] == "40 rows do not say how long the answers are: left out."
    assert found.slope.natural.n == len(rows) - 40


@pytest.mark.parametrize("length", [None, np.full(16, np.nan)])
def test_without_lengths_there_is_no_slope(length: np.ndarray | None):
    found = length_effect(replace(shown(BY_HAND), length=length))
    assert found.slope.reason == "No row says how long its answers are."
    assert found.after is None
    assert found.before.models == bradley_terry(shown(BY_HAND)).models
    assert found.notes == ()


def test_answers_of_one_length_tell_no_slope():
    found = length_effect(replace(shown(BY_HAND), length=np.zeros(16)))
    assert found.slope.reason == "No two answers differ in length."
    assert found.after is None


def test_lengths_that_follow_from_the_models_tell_no_slope():
    rows = judged(np.random.default_rng(6), 30)
    own = np.array([10.0, 70.0, 30.0, 200.0])
    found = length_effect(replace(rows, length=own[rows.model_a] - own[rows.model_b]))
    assert found.slope.reason == "The verdicts do not tell it from the models' strengths."
    assert found.as_json()["points"] is None
    assert found.after is None


@pytest.mark.parametrize(("verdict", "side"), [(1, "upper"), (-1, "lower")])
def test_a_judge_who_follows_the_length_alone_has_an_unbounded_slope(verdict: int, side: str):
    rows = shown([("X", "Y", verdict)] * 50 + [("Y", "X", verdict)] * 50, items=[*range(50)] * 2)
    slope = length_effect(measured(rows, np.full(100, 200.0))).slope.natural
    chance = 0.025 ** (1 / 50)
    bound = slope.lower if verdict > 0 else slope.upper
    assert bound == pytest.approx(verdict * math.log(chance / (1 - chance)) / 2, abs=1e-4)
    assert (slope.value, slope.unbounded, slope.n, slope.clusters) == (None, side, 100, 50)


def test_with_an_order_effect_beside_it_an_unbounded_slope_has_no_proof():
    rows = judged(np.random.default_rng(7), 20)
    longer = np.where(np.arange(len(rows)) % 3 == 0, 50.0, 170.0) * rows.sign
    found = length_effect(replace(rows, length=longer))
    assert (found.slope.natural.unbounded, found.slope.natural.lower) == ("upper", None)
    assert found.slope.reason == "The verdicts agree with an effect as large as one likes: no upper bound."


def test_an_unbounded_order_effect_leaves_no_slope():
    rng = np.random.default_rng(8)
    rows = judged(rng, 20)
    found = length_effect(replace(rows, sign=np.ones(len(rows), np.int8), length=rng.normal(0, 1, len(rows))))
    assert found.slope.reason is not None
    assert found.slope.natural.value is None
    assert found.after is None


def test_a_planted_slope_is_found_and_the_ranking_mended():
    found = length_effect(judged(np.random.default_rng(9), 300, slope=SLOPE, trap=True))
    slope = found.slope.natural
    assert slope.lower is not None
    assert slope.upper is not None
    assert slope.lower < SLOPE < slope.upper
    assert found.order is not None
    assert found.order.natural.lower is not None
    assert found.order.natural.upper is not None
    assert found.order.natural.lower < ORDER < found.order.natural.upper
    assert found.after is not None
    favoured, better = (found.before.models[code].rank for code in (FAVOURED, BETTER))
    assert (favoured, better) == (1, 3)
    assert [one.rank for one in found.after.models] == [4, 3, 2, 1]


def test_the_document_says_per_how_many_words():
    told = length_effect(judged(np.random.default_rng(10), 20, slope=SLOPE)).as_json()
    assert list(told)[-2:] == ["words", "order_effect"]
    assert isinstance(told["order_effect"], dict)
    json.dumps(told, allow_nan=False)
    assert length_effect(replace(shown(BY_HAND), length=np.zeros(16))).as_json()["order_effect"] is None
