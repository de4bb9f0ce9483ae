"""Claims about looking more than once: worked values, and that those who look are wrong no more often than they say."""

import math

import numpy as np
import pytest

from evenhand.stats.sequential import anytime_half_width, betting, look_values

RESULTS = [1, 1, 0.5, 1, 0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(("looks", "last"), [(5, 2.1360), (7, 2.1680), (10, 2.1987)])
def test_the_last_of_planned_looks_reaches_as_far_as_worked_out(looks: int, last: float) -> None:
    assert look_values(looks)[-1] == pytest.approx(last, abs=5e-5)


def test_seven_looks_reach_as_far_as_worked_out() -> None:
    expected = [3.5264, 2.9654, 2.6795, 2.4936, 2.3583, 2.2532, 2.1680]
    assert look_values(7) == pytest.approx(expected, abs=1e-4), "worked out from 2.1680, which is rounded"


def test_one_look_is_the_usual_interval_and_forty_are_found_too() -> None:
    assert look_values(1)[0] == pytest.approx(1.959964, abs=1e-6)
    assert look_values(40)[-1] > look_values(10)[-1]
    with pytest.raises(ValueError, match="At least one look"):
        look_values(0)


def test_a_walk_leaves_the_planned_looks_one_time_in_twenty() -> None:
    walks = np.random.default_rng(0).normal(size=(200_000, 7)).cumsum(axis=1) / np.sqrt(np.arange(1, 8))
    beyond = (np.abs(walks) > look_values(7)).any(axis=1).mean()
    assert beyond == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 200_000))


@pytest.mark.parametrize(("error", "half"), [(0.1, 0.304106), (0.05, 0.155077), (0.2, 0.674365)])
def test_an_interval_for_all_times_is_as_wide_as_worked_out(error: float, half: float) -> None:
    assert anytime_half_width(error) == pytest.approx(half, abs=5e-7)
    assert anytime_half_width(0.0) == 0.0


@pytest.mark.parametrize(("rows", "value"), [(1, 1), (2, 1.130357), (5, 0.967499), (10, 3.772045)])
def test_bets_come_to_what_was_worked_out(rows: int, value: float) -> None:
    assert betting(RESULTS[:rows]).value == pytest.approx(value, abs=5e-7)


def test_eleven_wins_decide_and_ten_do_not() -> None:
    ten, eleven = betting([1] * 10), betting([1] * 11)
    assert (ten.value, eleven.value) == (pytest.approx(15.845147, abs=5e-7), pytest.approx(23.844475, abs=5e-7))
    assert (ten.decided, eleven.decided_at, eleven.better) == (False, 11, True)
    assert betting([0] * 11).better is False
    assert betting([]).value == 1


def test_what_is_decided_stays_decided() -> None:
    found = betting([1] * 11 + [0] * 11)
    assert found.value < 1
    assert (found.decided_at, found.better) == (11, True)
