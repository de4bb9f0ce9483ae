"""Claims about what a judge who picks at random scores."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from evenhand.domain.estimate import Estimate
from evenhand.reliability.chance import above_chance, chance_level
from evenhand.reliability.chance_table import EXACT, enumerated
from evenhand.reliability.grade_score import grade_score
from evenhand.reliability.option_rows import OptionRow
from tests.reliability.option_judges import as_the_authors_count


@pytest.mark.parametrize("options", range(2, 9))
def test_the_table_is_what_its_script_makes(options: int):
    made, shipped = enumerated(options), EXACT[options]
    assert (made.llm, made.choice, made.grade) == pytest.approx((shipped.llm, shipped.choice, shipped.grade), abs=1e-12)


@pytest.mark.parametrize("options", range(2, 6))
def test_the_table_is_the_mean_of_every_way_to_pick(options: int):
    ways = [as_the_authors_count(way) for way in product(range(options), repeat=options)]
    llm, choice, grade = np.mean(ways, axis=0)
    shipped = EXACT[options]
    assert (shipped.llm, shipped.choice, shipped.grade) == pytest.approx((llm, choice, grade), abs=1e-12)


def test_the_levels_to_six_options_as_printed_in_the_docs():
    assert [round(EXACT[options].grade, 3) for options in range(2, 7)] == [0.5, 0.58, 0.571, 0.539, 0.505]


def test_two_options_by_hand():
    # Of four ways two pick the same place twice (0, 1/2, 0) and two the same option (1, 1, 1).
    assert (EXACT[2].llm, EXACT[2].choice, EXACT[2].grade) == (0.5, 0.75, 0.5)


def test_rows_of_different_n_are_averaged():
    chance = chance_level(Counter([2, 2, 3]))
    assert chance is not None
    assert chance.grade == pytest.approx((0.5 + 0.5 + EXACT[3].grade) / 3)
    assert chance.llm == pytest.approx((0.5 + 0.5 + EXACT[3].llm) / 3)
    assert chance.choice == pytest.approx((0.75 + 0.75 + EXACT[3].choice) / 3)
    assert chance.standard_error == 0


def test_beyond_eight_options_it_is_simulated_with_its_error():
    chance = chance_level(Counter([9]), seed=1)
    other = chance_level(Counter([9]), seed=2)
    assert chance is not None
    assert other is not None
    assert chance == chance_level(Counter([9]), seed=1)
    assert 0 < chance.standard_error < 5e-4
    assert chance.grade != other.grade
    assert abs(chance.grade - other.grade) < 4 * 2**0.5 * chance.standard_error
    assert 0.38 < chance.grade < EXACT[8].grade


def test_the_simulation_agrees_with_a_plain_one():
    rng = np.random.default_rng(12)
    plain = np.array([as_the_authors_count(rng.integers(0, 10, 10).tolist()) for _ in range(4_000)])
    chance = chance_level(Counter([10]))
    assert chance is not None
    llm, choice, grade = plain.mean(axis=0)
    assert (chance.llm, chance.choice, chance.grade) == pytest.approx((llm, choice, grade), abs=0.006)


def test_a_simulated_part_brings_its_share_of_the_error():
    whole, half = chance_level(Counter([9])), chance_level(Counter([9, 2]))
    assert whole is not None
    assert half is not None
    assert half.standard_error == pytest.approx(whole.standard_error / 2)


def test_a_random_judge_lands_on_the_chance_level():
    rng = np.random.default_rng(8)
    rows = [
        OptionRow(item=f"{options} {i}", selected_positions=tuple(rng.integers(0, options, options).tolist()))
        for options in range(2, 7)
        for i in range(2_000)
    ]
    score = grade_score(rows)
    assert score.above_chance.value == pytest.approx(0, abs=0.01)
    assert score.above_chance.lower is not None
    assert score.above_chance.upper is not None
    assert score.above_chance.lower < 0 < score.above_chance.upper


def test_above_chance_is_zero_at_chance_and_one_at_the_top():
    lifted = above_chance(Estimate(value=0.79, lower=0.58, upper=1.0, n=7, clusters=7), 0.58)
    assert (lifted.value, lifted.lower, lifted.upper) == pytest.approx((0.5, 0, 1))
    assert (lifted.n, lifted.clusters) == (7, 7)
    assert above_chance(Estimate(value=None, reason="no cases"), 0.5).value is None


def test_without_rows_there_is_no_level_and_one_option_has_none():
    assert chance_level({}) is None
    with pytest.raises(ValueError, match="no choice"):
        chance_level(Counter([1]))


def test_replicates_share_the_weight_of_their_item_in_the_chance_level_too():
    rows = [OptionRow(item="a", selected_positions=(0, 1), replicate=run) for run in range(3)]
    chance = grade_score([*rows, OptionRow(item="b", selected_positions=(0, 1, 2))]).chance
    assert chance is not None
    assert chance.grade == pytest.approx((0.5 + EXACT[3].grade) / 2)


def test_json_tells_level_and_error():
    score = grade_score([OptionRow(item="a", selected_positions=(0, 1))]).as_json()
    assert (score["chance"], score["chance_standard_error"], score["above_chance"]) == (0.5, 0, 1)
