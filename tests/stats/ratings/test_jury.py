"""Claims about juries: what a case is, what weights are learned, and what that does to the intervals."""

from dataclasses import replace

import numpy as np
import pytest

from bench.jury import World, fitted
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.jury import (
    Bench,
    bench_of,
    by_agreement,
    by_people,
    held_out,
    jury_votes,
    rates,
    shared_errors,
    weighted,
)


def votes(rows: list[tuple[int, str, int, int]], *, judges: tuple[str, ...] = ("x", "y")) -> Comparisons:
    """Item, judge, 1 where the first model was shown first, what was said in favour of it; of two models."""
    return Comparisons(
        models=("a", "b"),
        model_a=np.zeros(len(rows), np.int32),
        model_b=np.ones(len(rows), np.int32),
        sign=np.array([said for *_, said in rows], np.int8),
        item=np.array([item for item, *_ in rows], np.int32),
        first=np.array([first for *_, first, _ in rows], np.int8),
        rater=np.array([judges.index(judge) for _, judge, *_ in rows], np.int32),
        raters=judges,
    )


def bench(said: list[list[float]], people: list[float] | None = None) -> Bench:
    """Judges x items, one case each."""
    number = len(said[0])
    return Bench(
        judges=tuple(f"j{place}" for place in range(len(said))),
        models=("a", "b"),
        item=np.arange(number),
        one=np.zeros(number, np.int64),
        other=np.ones(number, np.int64),
        said=np.array(said),
        people=np.full(number, np.nan) if people is None else np.array(people),
        order=np.zeros(len(said)),
    )


def test_both_orders_make_one_saying_and_a_judge_who_follows_position_says_nothing():
    found = bench_of(votes([(0, "x", 1, 1), (0, "x", -1, -1), (0, "y", 1, 1), (0, "y", -1, 1)]), None)
    assert found.said.tolist() == [[0.0], [1.0]]
    assert found.order.tolist() == [1.0, 0.0]


def test_a_judges_order_effect_is_taken_out_of_a_single_order():
    """Item 0 says that x adds 1 to the first shown; of item 1 nothing but that is left."""
    found = bench_of(votes([(0, "x", 1, 1), (0, "x", -1, -1), (1, "x", 1, 1), (1, "y", 1, 1), (0, "y", 1, 1)]), None)
    assert found.said[0].tolist() == [0.0, 0.0]
    # y was never asked in both orders, so all that it says in favour of the first shown is taken for order.
    assert found.said[1].tolist() == [0.0, 0.0]


def test_majority_and_mean():
    of = bench([[1.0, -1.0, 0.0], [1.0, 1.0, 0.2], [-0.5, 1.0, -0.1]])
    assert jury_votes(of, "majority").score.tolist() == [1.0, 1.0, 0.0]
    assert jury_votes(of, "mean").score.tolist() == pytest.approx([0.5, 1 / 3, 0.1 / 3])


def test_who_said_nothing_leaves_its_weight_to_the_others():
    of = bench([[1.0, np.nan], [-1.0, -1.0]])
    assert weighted(of, np.array([0.75, 0.25])).tolist() == pytest.approx([0.5, -1.0])


def test_weights_by_people_are_least_squares_of_none_below_zero():
    rng = np.random.default_rng(0)
    said = rng.choice([-1.0, 1.0], (3, 4_000))
    people = 0.6 * said[0] + 0.2 * said[1] - 0.2 * said[2]
    assert by_people(bench(said.tolist(), people.tolist())) == pytest.approx([0.75, 0.25, 0.0], abs=0.01)


def test_judges_who_say_the_same_share_their_weight():
    rng = np.random.default_rng(1)
    one, other = rng.choice([-1.0, 1.0], (2, 2_000))
    weights = by_people(bench([one.tolist(), one.tolist(), other.tolist()], (one + other).tolist()))
    assert weights == pytest.approx([0.25, 0.25, 0.5], abs=0.01)


def test_rates_without_people_are_those_that_the_judges_have():
    rng = np.random.default_rng(2)
    truth = rng.choice([-1.0, 1.0], 20_000)
    true = np.array([0.9, 0.8, 0.65, 0.55])
    said = np.where(rng.random((4, len(truth))) < true[:, None], truth, -truth)
    assert rates(bench(said.tolist())) == pytest.approx(true, abs=0.015)
    odds = np.log(true / (1 - true))
    assert by_agreement(bench(said.tolist())) == pytest.approx(odds / odds.sum(), abs=0.02)


def test_weights_of_an_item_are_never_learned_on_it():
    """People turned round on one item change that item's score only through other items, so not at all."""
    of = World(items=60, people=1.0).drawn(np.random.default_rng(3))
    lied = replace(of, people=np.where(of.item == 7, -of.people, of.people))
    before, after = jury_votes(of, "learned"), jury_votes(lied, "learned")
    assert before.score[of.item == 7].tolist() == after.score[of.item == 7].tolist()
    assert before.score[of.item != 7].tolist() != after.score[of.item != 7].tolist()


def test_learned_weights_widen_the_intervals_and_given_ones_do_not():
    of = World(items=60, people=0.5).drawn(np.random.default_rng(4))
    _, known, whole = fitted(jury_votes(of, "learned"))
    assert (whole > known).all()
    _, known, whole = fitted(jury_votes(of, "mean"))
    np.testing.assert_array_equal(known, whole)


def test_intervals_hold_the_truth():
    """Of 30 boards of ten differences each; `bench/jury.py` has more, and the worlds."""
    rng = np.random.default_rng(0)
    truth, *_ = fitted(jury_votes(World(items=2_000).drawn(rng), "learned"))
    held: list[float] = []
    for _ in range(30):
        value, _, whole = fitted(jury_votes(World(items=60).drawn(rng), "learned"))
        held.append(float((np.abs(value - truth) <= 2 * whole).mean()))
    assert np.mean(held) >= 0.93


def test_a_jury_is_held_against_the_best_single_judge_of_other_items():
    of = World(people=1.0).drawn(np.random.default_rng(5))
    found = held_out(jury_votes(of, "learned"))
    assert found is not None
    assert found.by_people
    assert set(found.chosen) == {"judge 0"}
    assert found.gain.value == pytest.approx((found.jury.value or 0) - (found.single.value or 0))
    people = np.sign(of.people)
    said = np.sign(of.said[0])
    assert found.single.value == pytest.approx(np.where(said == 0, 0.5, said == people).mean())


def test_two_judges_alone_are_held_against_nothing():
    of = bench([[1.0] * 30, [-1.0] * 30])
    assert held_out(jury_votes(of, "mean")) is None
    with pytest.raises(ValueError, match="third judge"):
        jury_votes(of, "learned")


def test_errors_in_common_are_told():
    of = World(items=200, people=1.0).drawn(np.random.default_rng(6))
    found = shared_errors(of)
    assert found is not None
    assert found[1, 2] > found[0, 3] + 0.15


def test_too_little_to_learn_from_is_said():
    with pytest.raises(ValueError, match="20 items"):
        jury_votes(bench([[1.0] * 30, [-1.0] * 30], [1.0] * 5 + [np.nan] * 25), "learned")
    with pytest.raises(ValueError, match="20 items"):
        jury_votes(bench([[1.0] * 5] * 3), "learned")
    with pytest.raises(ValueError, match="two judges"):
        bench_of(votes([(0, "x", 1, 1)], judges=("x",)), None)
    with pytest.raises(ValueError, match="items"):
        bench_of(replace(votes([(0, "x", 1, 1), (0, "y", 1, 1)]), item=None), None)
