"""Claims about the worth of being shown first to each of several raters."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bench.planted import ORDER, judged
from evenhand.stats.intervals import reach
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.order import order_effect
from tests.refusals import tells
from tests.stats.ratings.showings import judged_by, shown
from tests.stats.ratings.test_order_effect import (
    BY_HAND,
    X_FIRST,
    X_FIRST_LOST,
    Y_FIRST,
    Y_FIRST_LOST,
    natural,
)


def second_preferred(rows: Comparisons) -> Comparisons:
    """The winner of each showing stood in the other place."""
    return replace(rows, first=-np.ones(len(rows), np.int8))


def test_raters_have_effects_of_their_own():
    rng = np.random.default_rng(5)
    rows = judged_by(judged(rng, 60), second_preferred(judged(rng, 60)))
    found = order_effect(rows)
    one, other = (each.effect.natural for each in found.raters)
    assert [each.rater for each in found.raters] == ["rater 0", "rater 1"]
    assert one.lower is not None
    assert one.upper is not None
    assert other.lower is not None
    assert other.upper is not None
    assert one.lower < ORDER < one.upper
    assert other.lower < -ORDER < other.upper
    assert (one.n, one.clusters) == (720, 60)
    # Opposite raters cancel each other in the one intercept for both.
    assert abs(found.overall.natural.value or 1) < 0.2
    assert found.notes == (
        "2 of 2 raters judged pairs in both orders on at least 10 items and have an order effect of their own.",
    )
    assert found.after is not None
    assert len(found.after.solution.fit.slopes) == 2


def test_a_raters_effect_counts_its_own_items():
    rng = np.random.default_rng(6)
    few = judged(rng, 12)
    found = order_effect(judged_by(judged(rng, 60), few))
    solution = found.after.solution if found.after else None
    assert solution is not None
    effect = found.raters[1].effect.natural
    assert effect.clusters == 12
    assert effect.value is not None
    assert effect.upper is not None
    assert found.after is not None
    behind = float(found.after.spread.effective[5])
    assert 11 < behind < 12
    assert effect.upper - effect.value == pytest.approx(reach(behind) * math.sqrt(found.after.spread.covariance[5, 5]))


def test_a_raters_own_effect_is_as_sure_whether_or_not_raters_are_clusters():
    rng = np.random.default_rng(5)
    rows = judged_by(*(judged(rng, 40) for _ in range(3)))
    plain = order_effect(rows)
    both = order_effect(replace(rows, crossed=rows.rater))
    by_rater = order_effect(replace(rows, cluster=rows.rater, cluster_noun="rater"))
    for found in (both, by_rater):
        assert [natural(one.effect) for one in found.raters] == [
            pytest.approx(natural(one.effect)) for one in plain.raters
        ]
        assert natural(found.overall) != pytest.approx(natural(plain.overall))


def test_a_rater_who_follows_the_order_alone_is_left_out_of_the_corrected_board():
    rng = np.random.default_rng(7)
    fair, blind = judged(rng, 40), judged(rng, 40)
    blind = replace(blind, sign=np.ones(len(blind), np.int8))
    found = order_effect(judged_by(fair, blind))
    alone = order_effect(fair)
    assert found.raters[1].effect.natural.unbounded == "upper"
    assert natural(found.raters[0].effect) == pytest.approx(natural(alone.overall))
    assert found.after is not None
    assert alone.after is not None
    assert found.after.models == alone.after.models
    assert found.notes[-1] == "The corrected board leaves out the verdicts of rater 1: they follow the order alone."


def test_raters_who_all_drive_the_strengths_leave_no_board():
    driven = shown([X_FIRST] * 12 + [Y_FIRST] * 6 + [Y_FIRST_LOST] * 6)
    found = order_effect(judged_by(driven, driven))
    assert found.after is None
    assert not any("the corrected board rests" in note for note in found.notes)


def test_two_raters_who_follow_the_order_alone_leave_no_board():
    blind = shown([("X", "Y", 1), ("Y", "X", 1)] * 20)
    found = order_effect(judged_by(blind, blind))
    assert [each.effect.natural.unbounded for each in found.raters] == ["upper", "upper"]
    assert found.after is None


def test_raters_whose_effects_drive_the_strengths_leave_the_common_correction():
    # One always chose X when X was first, the other when X was second; in the other order both were undecided.
    one = shown([X_FIRST] * 12 + [Y_FIRST] * 6 + [Y_FIRST_LOST] * 6)
    other = shown([Y_FIRST] * 12 + [X_FIRST] * 6 + [X_FIRST_LOST] * 6)
    found = order_effect(judged_by(one, other))
    for each, side in zip(found.raters, ("upper", "lower"), strict=True):
        tells(each.effect.reason, f"no {side} bound")
    assert found.overall.natural.value == pytest.approx(0, abs=1e-9)
    assert found.after is not None
    assert len(found.after.solution.fit.slopes) == 1
    assert found.notes[-1] == (
        "The raters' own effects have no finite fit together: the corrected board rests on one effect for all."
    )


def test_a_rater_whose_effect_would_drive_the_strengths_is_held_by_another():
    driven = shown([X_FIRST] * 12 + [Y_FIRST] * 6 + [Y_FIRST_LOST] * 6)
    found = order_effect(judged_by(driven, shown(BY_HAND + BY_HAND[:8])))
    assert all(each.effect.natural.value is not None for each in found.raters)


def test_raters_with_few_items_share_one_effect():
    rng = np.random.default_rng(8)
    crowd = [judged(rng, 3) for _ in range(30)]
    alone = shown([("model 0", "model 1", 1), ("model 2", "model 3", 1)])
    found = order_effect(judged_by(judged(rng, 40), *crowd, alone))
    assert found.raters[0].effect.natural.value is not None
    assert found.raters[1].effect.reason == "It judged pairs in both orders on 3 items, fewer than 10."
    assert found.raters[31].effect.reason == "It saw no pair of models in both orders."
    assert found.after is not None
    assert len(found.after.solution.fit.slopes) == 2
    (note,) = found.notes
    tells(note, "1 of 32 raters", "10 items", "share one")


def test_too_many_raters_share_one_effect():
    rng = np.random.default_rng(9)
    found = order_effect(judged_by(*(judged(rng, 10) for _ in range(51))))
    assert {each.effect.reason for each in found.raters} == {
        "51 raters could have an effect of their own, more than 50: all share one."
    }
    assert found.after is not None
    assert len(found.after.solution.fit.slopes) == 1


def test_raters_do_not_take_the_intervals_from_a_board_with_few_items():
    rng = np.random.default_rng(10)
    found = order_effect(judged_by(*(judged(rng, 12) for _ in range(9))))
    assert found.raters[0].effect.reason == (
        "4 ratings and 9 effects would rest on 12 items: all raters share one effect."
    )
    assert found.after is not None
    assert found.after.models[0].rating.lower is not None
