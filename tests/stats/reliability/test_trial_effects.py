"""Worked examples of what an audit's trials tell, and properties that hold for any judge."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.reliability.trial_effects import Side, lean, length_slope, looking, repeatability, tie_rate

signs = st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=30)


def items(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def test_a_verdict_is_repeated_where_its_sign_is():
    found = repeatability([(1, 1), (0, 0), (1, -1), (0, 1)], items(4))
    assert (found.value, found.n) == (0.5, 4)


def test_ties_are_counted():
    assert tie_rate([0, 1, -1, 0], items(4)).value == 0.5


@given(signs)
def test_a_lean_turned_round_is_its_opposite(said: list[int]):
    one, other = lean(said, items(len(said))), lean([-sign for sign in said], items(len(said)))
    assert one.value == pytest.approx(-(other.value or 0))
    assert one.lower == pytest.approx(-(other.upper or 0))
    assert -1 <= (one.lower or 0) <= (one.value or 0) <= (one.upper or 0) <= 1


def test_a_slope_is_the_line_through_the_origin():
    """(25 x 0 + 25 x 1 + 75 x 1 + 75 x 1) / (2 x 25^2 + 2 x 75^2) = 175 / 12500 a word."""
    found = length_slope([0, 1, 1, 1], [25, 25, 75, 75], items(4))
    assert found.value == pytest.approx(1.4)
    assert found.n == 4


def test_who_always_takes_the_longer_has_a_slope_above_0():
    found = length_slope([1, 1] * 12, [25, 75] * 12, [str(number // 2) for number in range(24)])
    assert found.value == pytest.approx(1.6)
    assert 0 < (found.lower or 0) <= (found.upper or 0) <= 1.6 + 1e-9


def test_a_judge_that_does_not_care_for_length_has_no_slope():
    assert length_slope([1, -1, 1, -1], [25, 25, 75, 75], items(4)).value == pytest.approx(0)
    assert length_slope([], [], []).value is None


def said_of(twins: int, choose: Any) -> list[Side]:
    """`choose` says, of side and of the side whose answer stands first, which side's answer is chosen."""
    return [
        Side(
            twin=str(twin),
            side=side,
            right_first=first == side,
            sign=1 if choose(side, first) == first else -1,
        )
        for twin in range(twins)
        for side, first in itertools.product((0, 1), repeat=2)
    ]


def first_place(_side: int, first: int) -> int:
    return first


def test_who_sees_everything_gains_one_half_and_follows_every_image():
    found = looking(said_of(10, lambda side, _: side))
    assert (found.looks.value, found.with_image.value) == (0.5, 1.0)
    assert (found.follows.value, found.follows.n) == (1.0, 40)
    # t(9) = 2.26216: ten twins without a fault are 10 / 15.117 on the scale from 0 to 1.
    assert found.looks.lower == pytest.approx(10 / (10 + 2.26216**2) - 0.5, abs=1e-5)
    assert found.looks.n == 20


@pytest.mark.parametrize("habit", [first_place, lambda _, first: 1 - first, lambda _side, _first: 0])
def test_who_does_not_look_gains_nothing_whatever_the_habit(habit: Any):
    found = looking(said_of(10, habit))
    assert found.looks.value == pytest.approx(0)
    assert found.follows.value == 0


def test_a_showing_that_was_not_read_with_both_images_counts_nowhere():
    found = looking(said_of(1, lambda side, _: side)[1:])
    assert (found.looks.n, found.follows.n, found.with_image.n) == (1, 2, 3)


def test_a_tie_is_half_right():
    tie = Side(twin="t", side=0, right_first=True, sign=0)
    assert tie.right == 0.5
    assert Side(twin="t", side=0, right_first=False, sign=1).right == 0
