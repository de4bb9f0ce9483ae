"""A withheld test that is asked again and again."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from evenhand.stats.intervals import clustered_mean
from evenhand.stats.ladder import BIAS, MISSED, Told, expected_bias, fewest_new, reserve_share, rounded, step

SHOWN = (1, 0, 1, 0, 1, 0, 1, 0)
NEW = (1, 1, 1, 0, 1, 1, 1, 0)
ITEMS = 700


def test_the_worked_value() -> None:
    found = step(SHOWN, NEW)
    assert found.up
    assert found.gain == 0.25
    assert round(found.error, 4) == 0.1637
    assert (found.items, found.moved) == (8, 2)
    assert rounded(NEW) == 0.75


def test_what_is_no_better_than_chance_or_worse_does_not_show() -> None:
    assert not step(NEW, SHOWN).up
    assert not step(SHOWN, SHOWN).up
    one_more = (1, 1, 1, 0, 1, 0, 1, 0)
    assert not step(SHOWN, one_more).up, "a single item is exactly its own standard error"


def test_the_rule_is_that_the_mean_exceeds_its_standard_error() -> None:
    for shown, new in product(product((0.0, 0.25, 1.0), repeat=3), repeat=2):
        found = step(shown, new)
        if not math.isclose(found.gain, found.error, abs_tol=1e-12):
            assert found.up == (found.gain > found.error)
        else:
            assert not found.up


def test_a_score_is_rounded_to_whole_items() -> None:
    assert rounded([0.25, 0.5, 1.0]) == pytest.approx(2 / 3)
    assert rounded([0.5, 0.0]) == 0.5
    with pytest.raises(ValueError, match="Nothing"):
        rounded([])


def test_two_items_are_the_fewest_and_both_lists_are_of_the_same() -> None:
    for shown, new in (((1.0,), (0.0,)), ((1.0, 0.0), (1.0,))):
        with pytest.raises(ValueError, match="two items"):
            step(shown, new)


def chance_of_being_shown(gain: float) -> float:
    """Of a submission truly better by `gain`, of two that differ on about a fifth of the items."""
    rng, runs = np.random.default_rng(3), 8000
    lots = rng.random((runs, ITEMS))
    better = np.where(lots < 0.1025 + gain / 2, 1.0, np.where(lots > 0.8975 + gain / 2, -1.0, 0.0))
    return sum(step([0.0] * ITEMS, row).up for row in better.tolist()) / runs


@pytest.mark.slow
def test_a_real_gain_is_shown_mostly() -> None:
    assert chance_of_being_shown(0.05) == pytest.approx(0.97, abs=0.01)
    assert chance_of_being_shown(0.02) == pytest.approx(0.57, abs=0.012)


def test_the_reserve_has_an_ordinary_interval_at_a_level_divided_by_the_publications() -> None:
    scores = [1.0] * 120 + [0.5] * 10 + [0.0] * 80
    once, often = reserve_share(scores, publications=1), reserve_share(scores, publications=10)
    assert once.value == often.value == pytest.approx(125 / 210)
    ordinary = clustered_mean(scores, list(range(210)), level=0.95)
    assert (once.lower, once.upper) == (ordinary.lower, ordinary.upper)
    corrected = clustered_mean(scores, list(range(210)), level=0.995)
    assert (often.lower, often.upper) == (corrected.lower, corrected.upper)
    assert once.lower is not None
    assert once.upper is not None
    assert once.upper - once.lower == pytest.approx(2 * 1.96 * np.std(scores) / math.sqrt(210), rel=0.03)
    with pytest.raises(ValueError, match="one publication"):
        reserve_share(scores, publications=0)


def test_all_intervals_of_the_reserve_hold_together() -> None:
    """Five publications of 210 items each: any interval misses at most one time in twenty."""
    rng, missed, rounds = np.random.default_rng(5), 0, 300
    for _ in range(rounds):
        found = [reserve_share(list((rng.random(210) < 0.6) * 1.0), publications=5) for _ in range(5)]
        missed += any(not (one.lower or 0.0) <= 0.6 <= (one.upper or 0.0) for one in found)
    assert missed / rounds < 0.05 + 2 * math.sqrt(0.05 * 0.95 / rounds)


def test_the_expected_bias_is_the_table() -> None:
    assert BIAS["scores"] == {5: 0.015, 50: 0.042, 200: 0.080}
    assert BIAS["ladder"] == {5: 0.013, 50: 0.026, 200: 0.029}
    assert BIAS["items"] == {5: 0.242}
    assert expected_bias("ladder", 1) is None
    cases: tuple[tuple[Told, int, int, float, bool], ...] = (
        ("ladder", 5, 5, 0.013, False),
        ("ladder", 6, 50, 0.026, False),
        ("ladder", 200, 200, 0.029, False),
        ("ladder", 201, 200, 0.029, True),
        ("items", 6, 5, 0.242, True),
    )
    for told, asked, at, bias, beyond in cases:
        found = expected_bias(told, asked)
        assert found is not None
        assert (found.submissions, found.bias, found.beyond) == (at, bias, beyond)


def climbed(seed: int, submissions: int = 200) -> dict[int, float]:
    """Shown minus true of a team that answers each item in one of two equally good ways, by lot, again and again."""
    rng = np.random.default_rng(seed)
    won = (rng.random((2, ITEMS)) < 0.5) * 1.0
    shown: list[float] | None = None
    found: dict[int, float] = {}
    for number in range(1, submissions + 1):
        new: list[float] = won[rng.integers(0, 2, ITEMS), np.arange(ITEMS)].tolist()
        if shown is None or step(shown, new).up:
            shown = new
        if number in BIAS["ladder"]:
            found[number] = rounded(shown) - 0.5
    return found


@pytest.mark.slow
def test_a_team_that_climbs_is_shown_no_more_than_the_table_expects() -> None:
    teams = [climbed(seed) for seed in range(100)]
    for submissions, bias in BIAS["ladder"].items():
        gains = [one[submissions] for one in teams]
        error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains))
        assert float(np.mean(gains)) <= bias + 2 * error
    at_the_end = [one[200] for one in teams]
    error = float(np.std(at_the_end, ddof=1)) / math.sqrt(len(teams))
    assert abs(float(np.mean(at_the_end)) - BIAS["ladder"][200]) <= 2 * error


@pytest.mark.parametrize(("items", "reserve", "wanted"), [(700, 210, 65), (700, 70, 196), (60, 18, 42), (20, 7, 18)])
def test_so_many_new_answers_are_as_good_as_sure_to_have_five_in_reserve(items: int, reserve: int, wanted: int) -> None:
    assert fewest_new(items, reserve, among=5) == wanted
    drawn = np.random.default_rng(1).hypergeometric(reserve, items - reserve, wanted, 100_000)
    assert int(drawn.min()) >= 5
    assert stats.hypergeom.cdf(4, items, reserve, wanted) <= MISSED < stats.hypergeom.cdf(4, items, reserve, wanted - 1)


def test_no_number_of_new_answers_has_five_in_a_reserve_of_four() -> None:
    assert fewest_new(20, 4, among=5) == 21
