"""Claims about the wager on a judge's moves, and about how many rows a shift takes."""

import math

import numpy as np
import pytest

from evenhand.stats.reliability.judge_change import (
    ALARM,
    BETS,
    Direction,
    Moves,
    leading,
    onset,
    rows_to_find,
    shift_to_find,
    wagers,
)

FIRST, LONGER = Direction(toward="first"), Direction(toward="longer")


def moves(moved: object, *, look: object = None, first: object = None, second: object = None, longer: object = None):
    given = np.asarray(moved, dtype=np.float64)
    rows = len(given)

    def codes(of: object, usual: int) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
        return np.full(rows, usual, dtype=np.int32) if of is None else np.asarray(of, dtype=np.int32)

    return Moves(
        moved=given,
        look=codes(look, 0),
        item=np.arange(rows),
        first=codes(first, 0),
        second=codes(second, 1),
        longer=np.zeros(rows) if longer is None else np.asarray(longer, dtype=np.float64),
        models=("ada", "bel", "cyd"),
    )


@pytest.mark.parametrize(("shift", "rows"), [(0.02, 1766), (0.03, 785), (0.05, 283), (0.07, 145), (0.12, 50)])
def test_rows_for_a_shift_of_a_judge_that_moves_nine_verdicts_in_a_hundred(shift: float, rows: int):
    assert rows_to_find(shift, square=0.09) == rows
    assert shift_to_find(rows, square=0.09) == pytest.approx(shift, rel=0.011)


def test_the_wager_by_hand():
    """Of moves 1, 0, 1/2: the mean over bets of ((1 + b)(1 + b/2) + (1 - b)(1 - b/2))/2 = 1 + b²/2."""
    squares = sum(bet**2 for bet in BETS) / len(BETS)
    assert wagers([1, 0, 0.5]).tolist() == pytest.approx([1.0, 1.0, 1 + squares / 2])
    assert wagers([1] * 10)[-1] == pytest.approx(np.mean([((1 + b) ** 10 + (1 - b) ** 10) / 2 for b in BETS]))


def test_the_wager_knows_no_sign_and_no_order():
    some = [1, -1, 0.5, 0, 0, 1, 1, -0.5]
    assert wagers(some)[-1] == pytest.approx(wagers([-one for one in some])[-1])
    assert wagers(some)[-1] == pytest.approx(wagers(some[::-1])[-1])


def test_a_judge_that_never_moves_is_never_suspected():
    assert moves(np.zeros(5000)).worth.tolist() == [1.0] * 5000


def test_the_whole_is_the_mean_of_three_questions():
    """Two models, so that a wager on the one is that on the other; lengths equal, so that nothing is won on length."""
    toward_first = [1, 1, 1, -1, 1, 1]
    found = moves(toward_first)
    alone = wagers(toward_first)[-1]
    assert found.worth[-1] == pytest.approx((alone + 1.0 + alone) / 3)
    shown = moves(toward_first, first=[0, 1, 0, 1, 0, 1], second=[1, 0, 1, 0, 1, 0])
    assert shown.worth[-1] == pytest.approx((alone + 1.0 + wagers([1, -1, 1, 1, 1, -1])[-1]) / 3)


def test_models_that_come_later_take_no_alarm_back():
    """Eleven rows in favour of ada, shown first and second in turn; then cyd comes, of whom nothing has moved."""
    turns = np.arange(11) % 2
    before = moves(1 - 2 * turns, first=turns, second=1 - turns)
    assert before.alarm == 0
    after = moves([*(1 - 2 * turns), 0, 0], look=[0] * 11 + [1, 1], first=[*turns, 2, 0], second=[*(1 - turns), 1, 2])
    assert after.worth[:11].tolist() == pytest.approx(before.worth.tolist())
    assert after.alarm == 0
    assert after.worth[-1] < ALARM, "or the alarm would not have been taken back"


def test_calling_the_models_otherwise_changes_nothing():
    moved = [1, -1, 1, 0.5, 1, 1]
    one = moves(moved, first=[0, 1, 2, 0, 1, 2], second=[1, 2, 0, 2, 0, 1], longer=[3, -2, 0, 1, 1, -4])
    other = moves(moved, first=[2, 0, 1, 2, 0, 1], second=[0, 1, 2, 1, 2, 0], longer=[3, -2, 0, 1, 1, -4])
    assert one.worth.tolist() == pytest.approx(other.worth.tolist())


def test_what_moved_toward_long_answers_is_called_so_and_since_when():
    draws = np.random.default_rng(1)
    look = np.repeat(np.arange(8), 100)
    longer = draws.choice([-5.0, 5.0], 800)
    quiet = draws.choice([-1, 0, 1], 800, p=[0.05, 0.9, 0.05])
    loud = draws.choice([-1, 0, 1], 800, p=[0.02, 0.84, 0.14]) * np.sign(longer)
    first = draws.integers(0, 3, 800)
    found = moves(np.where(look >= 3, loud, quiet), look=look, longer=longer, first=first, second=(first + 1) % 3)
    assert found.alarm is not None
    assert found.alarm >= 3
    assert leading(found)[0] == LONGER
    began = onset(found, LONGER)
    assert began.earliest <= 3 <= began.latest
    assert began.latest - began.earliest <= 2
    since = found.of_looks(range(3, 8)).shift(LONGER).mean
    assert since.lower is not None
    assert since.upper is not None
    assert since.lower < 0.12 < since.upper
    towards = found.of_looks(range(3, 8)).shift(FIRST).mean
    assert towards.lower is not None
    assert towards.lower < 0 < (towards.upper or 0)


def test_rows_of_equal_length_tell_nothing_of_length():
    found = moves([1, 1, 1, -1], longer=[0, math.nan, 4, 4])
    assert found.shift(LONGER).mean.value == 0
    assert found.shift(LONGER).mean.n == 2


@pytest.mark.slow
def test_of_judges_that_stay_as_they_are_few_are_ever_suspected():
    """24 looks of 100 rows, 400 judges; a monthly z test of all rows so far suspects most of them."""
    alarms = suspected = 0
    for seed in range(400):
        draws = np.random.default_rng(seed)
        moved = draws.choice([-1.0, 0.0, 1.0], 2400, p=[0.045, 0.91, 0.045])
        first = draws.integers(0, 3, 2400)
        found = moves(
            moved,
            look=np.repeat(np.arange(24), 100),
            longer=draws.normal(size=2400),
            first=first,
            second=(first + 1) % 3,
        )
        alarms += found.alarm is not None
        monthly = moved.reshape(24, 100)
        suspected += bool((np.abs(monthly.mean(axis=1)) > 1.96 * monthly.std(axis=1) / 10).any())
    assert alarms <= 0.05 * 400
    assert suspected > 0.6 * 400
    assert ALARM == 20
