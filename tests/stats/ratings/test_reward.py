"""Claims about Creation-MMBench's Reward and Win Rate; worked values of the paper's Table 5 and the authors' code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.ratings.shares.reward import FiveLevel, VoteCounts, reward
from tests.refusals import refused


def votes(values: list[int], *, items: list[str] | None = None, fails: float = 0) -> FiveLevel:
    return FiveLevel(
        value=np.array(values, dtype=np.int8),
        weight=np.ones(len(values)),
        item=items or [str(place) for place in range(len(values))],
        fails=fails,
    )


@pytest.mark.parametrize(
    ("counts", "expected_reward", "expected_win_rate"),
    [
        ((9, 400, 898, 163, 59, 1), 4.4801, 26.7495),
        ((0, 26, 448, 842, 194, 20), -39.8675, 1.7219),
        ((1, 92, 822, 500, 111, 4), -20.5767, 6.0944),
        ((6, 196, 984, 302, 42, 0), -5.8170, 13.2026),
        ((0, 24, 402, 845, 259, 0), -43.7582, 1.5686),
    ],
)
def test_rows_of_table_5(counts: tuple[int, ...], expected_reward: float, expected_win_rate: float):
    names = ("much_better", "better", "tie", "worse", "much_worse", "fail")
    row = VoteCounts(**dict(zip(names, counts, strict=True)))
    assert row.valid + row.fail == 1530
    assert row.reward == pytest.approx(expected_reward, abs=5e-5)
    assert row.win_rate is not None
    assert 100 * row.win_rate == pytest.approx(expected_win_rate, abs=5e-5)


def test_the_worked_example_of_two_cases_in_both_orders():
    # Forward B>A and A=B, reversed A>B and an unreadable reply: +1, 0, +1 and one fail.
    found = reward(votes([1, 0, 1], items=["one", "two", "one"], fails=1))
    assert found.counts == VoteCounts(better=2, tie=1, fail=1)
    assert found.counts.valid == 3
    assert found.reward.value == pytest.approx(100 / 3)
    assert found.win_rate.value == pytest.approx(2 / 3)
    assert (found.reward.n, found.reward.clusters) == (3, 2)
    assert found.band.worst == pytest.approx((100 - 100) / 4)
    assert found.band.best == pytest.approx((100 + 100) / 4)


def test_no_valid_vote_is_no_reward():
    found = reward(votes([], fails=3))
    assert found.reward.value is None
    assert found.win_rate.value is None
    assert found.counts.reward is None
    assert found.counts.win_rate is None
    assert (found.band.worst, found.band.best) == (-100, 100)
    assert reward(votes([])).band.worst is None


def test_a_value_beyond_much_better_is_refused():
    with refused(ValueError, "-2 to 2"):
        reward(votes([3]))


@given(st.lists(st.integers(-2, 2), min_size=1, max_size=40), st.integers(0, 5))
def test_the_mirrored_votes_have_the_opposite_reward_and_the_band_holds_it(values: list[int], fails: int):
    here, there = reward(votes(values, fails=fails)), reward(votes([-value for value in values], fails=fails))
    assert here.reward.value is not None
    assert there.reward.value == pytest.approx(-here.reward.value)
    assert here.counts.reward == pytest.approx(here.reward.value)
    assert here.win_rate.value == pytest.approx(here.counts.win_rate)
    assert here.band.worst is not None
    assert here.band.best is not None
    assert -100 <= here.band.worst <= here.reward.value + 1e-9
    assert here.reward.value - 1e-9 <= here.band.best <= 100


@given(st.lists(st.integers(-2, 2), min_size=2, max_size=20))
def test_replicates_that_share_a_showing_count_as_one(values: list[int]):
    once = reward(votes(values))
    items = [str(place) for place in range(len(values))]
    shared = FiveLevel(
        value=np.repeat(np.array(values, dtype=np.int8), 2),
        weight=np.full(2 * len(values), 0.5),
        item=np.repeat(items, 2).tolist(),
    )
    assert reward(shared).reward.value == pytest.approx(once.reward.value)
    assert reward(shared).counts == once.counts
