"""Claims about the worth of being shown first."""

import json
import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

from bench.planted import BETTER, FAVOURED, ORDER, judged
from evenhand.stats.intervals import reach
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.effect import Effect
from evenhand.stats.ratings.effects.order import order_effect
from evenhand.stats.ratings.scale import Scale
from tests.examples import examples
from tests.refusals import noted
from tests.stats.ratings.showings import Showing, judged_by, showings, shown, sides_exchanged

X_FIRST, Y_FIRST = ("X", "Y", 1), ("Y", "X", -1)
"""Showings that X won."""
X_FIRST_LOST, Y_FIRST_LOST = ("X", "Y", -1), ("Y", "X", 1)
BY_HAND = [X_FIRST] * 6 + [X_FIRST_LOST] * 2 + [Y_FIRST] * 3 + [Y_FIRST_LOST] * 5


def natural(effect: Effect) -> tuple[float, ...]:
    """Value, lower and upper end; NaN where there is none."""
    estimate = effect.natural
    return tuple(math.nan if end is None else end for end in (estimate.value, estimate.lower, estimate.upper))


def test_two_models_by_hand():
    # X won 6 of 8 when first and 3 of 8 when second: gap + effect = log 3, gap - effect = log 3/5.
    found = order_effect(shown(BY_HAND))
    # Each log-odds has variance 1/(n p q): 2/3 and 8/15; a quarter of the sum, and each row left out of its own eight.
    weights = [3 / 16] * 8 + [15 / 64] * 8
    half = reach(sum(weights) ** 2 / sum(one**2 for one in weights)) * math.sqrt((2 / 3 + 8 / 15) / 4) * 8 / 7
    # Leverage is worked out in steps, and the last is a hundred-thousandth of a score.
    expected = (math.log(5) / 2, math.log(5) / 2 - half, math.log(5) / 2 + half)
    assert natural(found.overall) == pytest.approx(expected, rel=1e-5)
    assert found.overall.points.value == pytest.approx(200 * math.log10(5))
    assert found.overall.points.n == 16
    assert found.after is not None
    assert [one.rating.value for one in found.after.models] == pytest.approx(
        [1000 + 100 * math.log10(9 / 5), 1000 - 100 * math.log10(9 / 5)]
    )
    assert found.notes == ()


def test_the_board_before_is_the_plain_one():
    found = order_effect(shown(BY_HAND), scale=Scale(start=500))
    assert found.before.models == bradley_terry(shown(BY_HAND), scale=Scale(start=500)).models
    assert found.after is not None
    assert sum(one.rating.value or 0 for one in found.after.models) == pytest.approx(1000)


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_another_maximiser_finds_the_same(ties: Literal["half", "davidson"]):
    rng = np.random.default_rng(3)
    rows = judged(rng, 40)
    rows = replace(rows, sign=(rows.sign * (rng.random(len(rows)) > 0.2)).astype(np.int8))
    weight = rng.uniform(0.5, 1.5, len(rows))
    rows = replace(rows, weight=weight)

    def loss(parameters: np.ndarray) -> float:
        gap = parameters[rows.model_a] - parameters[rows.model_b] + parameters[4]
        if ties == "half":
            return (
                float(weight @ (np.logaddexp(0, -gap) + (1 - rows.sign) / 2 * gap)) + float(parameters[:4].sum()) ** 2
            )
        logits = np.stack((-gap / 2, np.full_like(gap, parameters[5]), gap / 2), axis=1)
        chosen = logits[np.arange(len(gap)), rows.sign + 1] - np.logaddexp.reduce(logits, axis=1)
        return float(-weight @ chosen) + float(parameters[:4].sum()) ** 2

    best = minimize(loss, np.zeros(6 if ties == "davidson" else 5), method="BFGS", options={"gtol": 1e-7}).x
    found = order_effect(rows, ties=ties)
    assert found.overall.natural.value == pytest.approx(best[4], abs=1e-5)
    assert found.after is not None
    np.testing.assert_allclose(found.after.solution.fit.strength, best[:4], atol=1e-5)


@settings(max_examples=examples(40))
@given(showings)
def test_it_does_not_matter_from_which_side_a_showing_is_told(rows: list[Showing]):
    if not rows:
        return
    one, other = order_effect(shown(rows)), order_effect(sides_exchanged(shown(rows)))
    assert natural(one.overall) == pytest.approx(natural(other.overall), rel=1e-6, abs=1e-6, nan_ok=True)
    assert one.overall.reason == other.overall.reason


@settings(max_examples=examples(40))
@given(showings)
def test_every_effect_is_a_moderate_number_or_a_sentence(rows: list[Showing]):
    if not rows:
        return
    found = order_effect(shown(rows))
    value = found.overall.natural.value
    assert (value is None) == (found.after is None) == (found.overall.reason is not None)
    # No more than 60 rows cannot prove more than the odds of one loss in as many.
    assert value is None or abs(value) < 12


def test_the_second_place_is_worth_what_the_first_costs():
    one, other = shown(BY_HAND), replace(shown(BY_HAND), first=-np.ones(16, np.int8))
    value, lower, upper = natural(order_effect(one).overall)
    assert natural(order_effect(other).overall) == pytest.approx((-value, -upper, -lower))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (replace(shown(BY_HAND), first=None), "No row says which answer was shown first."),
        (
            shown([X_FIRST, X_FIRST_LOST] * 5),
            "No pair of models was seen in both orders: being first cannot be told from being better.",
        ),
        (
            shown([X_FIRST, Y_FIRST] * 5),
            "Every pair of models seen in both orders was won by the same model each time, whichever stood first.",
        ),
        # X and Y are told apart in both directions, but only by X standing first; Z lost in both orders.
        (
            shown([X_FIRST, X_FIRST_LOST, ("X", "Z", 1), ("Z", "X", -1)]),
            "Every pair of models seen in both orders was won by the same model each time, whichever stood first.",
        ),
    ],
)
def test_without_both_orders_there_is_no_effect_and_a_sentence_says_why(rows: Comparisons, reason: str):
    found = order_effect(rows)
    assert found.overall.reason == reason
    assert found.after is None
    assert found.as_json()["points"] is None
    assert found.as_json()["reason"] == reason


def test_rows_of_unknown_order_count_for_the_ratings_only():
    known, unknown = shown(BY_HAND), shown([X_FIRST] * 3 + [X_FIRST_LOST])
    rows = replace(judged_by(known, unknown), rater=None, raters=(), item=None)
    rows = replace(rows, first=np.repeat([1, 0], [16, 4]).astype(np.int8))
    found = order_effect(rows)
    assert found.overall.natural.n == 16
    assert found.overall.natural.value == pytest.approx(math.log(5) / 2, abs=0.1)
    assert found.after is not None
    assert found.after.models[0].rating.n == 20
    assert found.notes[0] == (
        "4 rows do not say which answer was shown first: used for the ratings, not for the order effect."
    )


def test_rows_without_weight_count_nowhere():
    rows = shown([*BY_HAND, Y_FIRST_LOST, X_FIRST_LOST])
    weight = np.concatenate((np.ones(16), np.zeros(2)))
    assert natural(order_effect(replace(rows, weight=weight)).overall) == pytest.approx(
        natural(order_effect(shown(BY_HAND)).overall)
    )


@pytest.mark.parametrize(("verdict", "side", "place"), [(1, "upper", "first"), (-1, "lower", "second")])
def test_a_judge_who_follows_the_order_alone_has_an_unbounded_effect(verdict: int, side: str, place: str):
    items = [*range(50)] * 2
    found = order_effect(shown([("X", "Y", verdict)] * 50 + [("Y", "X", verdict)] * 50, items=items))
    effect = found.overall.natural
    # 50 items all alike: p to the 50th is 0.025.
    chance = 0.025 ** (1 / 50)
    assert verdict * ((effect.lower if verdict > 0 else effect.upper) or 0) == pytest.approx(
        math.log(chance / (1 - chance)), abs=1e-4
    )
    assert (effect.value, effect.upper if verdict > 0 else effect.lower) == (None, None)
    assert effect.unbounded == side
    assert effect.reason == (f"All 100 verdicts that bear on it went to the answer shown {place}: no {side} bound.")
    assert found.after is None
    assert effect.lower or effect.upper
    for scale in (1e-3, 1e3):
        rows = shown([("X", "Y", verdict)] * 50 + [("Y", "X", verdict)] * 50, items=items)
        scaled = order_effect(replace(rows, weight=np.full(100, scale))).overall.natural
        assert (scaled.lower or scaled.upper) == pytest.approx(effect.lower or effect.upper, abs=1e-6)


def test_an_effect_that_drives_the_strengths_with_it_is_unbounded_too():
    # First, X always won; second, half of the time: the gap may follow the effect to infinity.
    rows = [X_FIRST] * 12 + [Y_FIRST] * 6 + [Y_FIRST_LOST] * 6
    found = order_effect(shown(rows))
    assert found.overall.natural.unbounded == "upper"
    assert found.overall.reason == "The verdicts agree with an effect as large as one likes: no upper bound."
    assert found.after is None

    def best(effect: float) -> float:
        gaps = np.linspace(-10, 40, 50_001)
        first, second = -12 * np.logaddexp(0, -(gaps + effect)), -6 * np.logaddexp(0, effect - gaps)
        return float((first + second - 6 * np.logaddexp(0, gaps - effect)).max())

    lower = found.overall.natural.lower
    assert lower is not None
    assert best(lower) - 12 * math.log(0.5) == pytest.approx(math.log(0.025), abs=1e-3)


def test_a_large_effect_that_is_finite_stays_a_number():
    rows = shown([X_FIRST, X_FIRST_LOST, Y_FIRST, Y_FIRST_LOST])
    rows = replace(rows, weight=np.array([1e7, 1.0, 1.0, 1.0]))
    assert order_effect(rows).overall.natural.value == pytest.approx(math.log(1e7) / 2, rel=1e-4)


def test_a_judge_without_any_swing_is_not_known_to_have_none():
    # Both showings of every item agree: no item shows an effect, and one in 100 might have.
    wins = [("X", "Y", 1), ("Y", "X", -1)] * 50 + [("X", "Y", -1), ("Y", "X", 1)] * 50
    effect = order_effect(shown(wins, items=np.repeat(np.arange(100), 2).tolist())).overall.natural
    half = -math.log(0.025) * 4 / 200
    assert (effect.value, effect.lower, effect.upper) == pytest.approx((0, -half, half), abs=1e-9)


def test_items_that_agree_make_the_effect_surer_and_rows_of_one_item_do_not():
    rows = judged(np.random.default_rng(1), 60)
    alone = replace(rows, item=None)
    paired, single = order_effect(rows).overall.natural, order_effect(alone).overall.natural
    assert paired.value == single.value
    assert paired.lower is not None
    assert single.lower is not None
    assert paired.lower > single.lower
    repeated = replace(rows, item=(np.arange(len(rows)) % 7).astype(np.int32))
    assert order_effect(repeated).overall.natural.clusters == 7


def test_as_many_parameters_as_items_leave_the_effect_without_interval():
    rows = judged(np.random.default_rng(2), 60)
    few = order_effect(replace(rows, item=(np.arange(len(rows)) % 4).astype(np.int32)))
    assert few.overall.natural.value is not None
    assert few.overall.natural.lower is None
    assert few.notes == ("The order effect rests on too few items for an interval.",)


def test_the_document_tells_every_rater():
    rng = np.random.default_rng(11)
    told = order_effect(judged_by(judged(rng, 20), judged(rng, 3))).as_json()
    assert list(told) == [
        "points", "points_lower", "points_upper", "points_n", "natural", "natural_lower", "natural_upper", "natural_n",
        "reason", "raters",
    ]  # fmt: skip
    raters = told["raters"]
    assert isinstance(raters, list)
    assert [one["rater"] for one in raters if isinstance(one, dict)] == ["rater 0", "rater 1"]
    assert order_effect(shown(BY_HAND)).as_json()["raters"] is None
    json.dumps(told, allow_nan=False)


def test_davidsons_model_without_a_finite_fit_falls_back_and_says_so():
    found = order_effect(shown(BY_HAND), ties="davidson")
    assert found.overall.natural.value == pytest.approx(math.log(5) / 2)
    assert found.after is not None
    assert noted(found.after.notes, "Davidson's", "half a win")


def test_a_planted_advantage_of_the_first_place_is_found_and_the_ranking_mended():
    rows = judged(np.random.default_rng(12), 300, trap=True)
    found = order_effect(rows)
    effect = found.overall.natural
    assert effect.lower is not None
    assert effect.upper is not None
    assert effect.lower < ORDER < effect.upper
    assert found.after is not None
    favoured, better = (found.before.models[code].rank for code in (FAVOURED, BETTER))
    assert (favoured, better) == (2, 3)
    assert [one.rank for one in found.after.models] == [4, 3, 2, 1]


def test_a_model_that_won_everything_is_bounded_with_regard_to_its_place():
    # Z always stood first: some of what its wins prove is the place's.
    rows = [X_FIRST] * 30 + [X_FIRST_LOST] * 10 + [Y_FIRST] * 10 + [Y_FIRST_LOST] * 30
    rows += [("Z", "X", 1), ("Z", "Y", 1)] * 10
    found = order_effect(shown(rows))
    assert found.after is not None
    effect = found.overall.points.value or 0
    before, after = (board.models[2].rating.lower for board in (found.before, found.after))
    assert effect == pytest.approx(400 * math.log10(3))
    assert before is not None
    assert after == pytest.approx(before - effect)


@pytest.mark.slow
def test_intervals_hold_what_was_planted():
    """A small seeded version of bench/planted.py."""
    from bench.planted import found

    share = found(items=40, repetitions=60, seed=1)
    assert share.order >= 0.87
    assert share.length >= 0.87
    assert share.ordinal_order >= 0.87
    assert 0.90 <= share.ordinal_gaps <= 0.99
    assert share.right_before < 0.2
    assert share.right_after > 0.75
