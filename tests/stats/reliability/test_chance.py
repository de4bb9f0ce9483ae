"""Claims about what a judge who picks at random scores."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from evenhand.domain.estimate import Estimate
from evenhand.stats.reliability.grade_score.chance import above_chance, chance_level
from evenhand.stats.reliability.grade_score.chance_pattern import ChancePattern, enumerated
from evenhand.stats.reliability.grade_score.chance_table import EXACT
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, rotations
from evenhand.stats.reliability.grade_score.score import grade_score
from evenhand.stats.reliability.grade_score.scored_rows import Policy
from tests.stats.reliability.option_judges import as_the_authors_count


def whole(*options: int) -> dict[ChancePattern, float]:
    """Rows of so many options, every rotation read."""
    return {ChancePattern.whole(one): float(options.count(one)) for one in options}


@pytest.mark.parametrize("options", [*range(2, 8), pytest.param(8, marks=pytest.mark.slow)])
def test_the_table_is_what_its_script_makes(options: int):
    made, shipped = enumerated(ChancePattern.whole(options)), EXACT[options]
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
    chance = chance_level(whole(2, 2, 3))
    assert chance is not None
    assert chance.grade == pytest.approx((0.5 + 0.5 + EXACT[3].grade) / 3)
    assert chance.llm == pytest.approx((0.5 + 0.5 + EXACT[3].llm) / 3)
    assert chance.choice == pytest.approx((0.75 + 0.75 + EXACT[3].choice) / 3)
    assert chance.standard_error == 0


def test_beyond_eight_options_it_is_simulated_with_its_error():
    chance = chance_level(whole(9), seed=1)
    other = chance_level(whole(9), seed=2)
    assert chance is not None
    assert other is not None
    assert chance == chance_level(whole(9), seed=1)
    assert 0 < chance.standard_error < 5e-4
    assert chance.grade != other.grade
    assert abs(chance.grade - other.grade) < 4 * 2**0.5 * chance.standard_error
    assert 0.38 < chance.grade < EXACT[8].grade


def test_the_simulation_agrees_with_a_plain_one():
    rng = np.random.default_rng(12)
    plain = np.array([as_the_authors_count(rng.integers(0, 10, 10).tolist()) for _ in range(4_000)])
    chance = chance_level(whole(10))
    assert chance is not None
    llm, choice, grade = plain.mean(axis=0)
    assert (chance.llm, chance.choice, chance.grade) == pytest.approx((llm, choice, grade), abs=0.006)


def test_a_simulated_part_brings_its_share_of_the_error():
    alone, half = chance_level(whole(9)), chance_level(whole(9, 2))
    assert alone is not None
    assert half is not None
    assert half.standard_error == pytest.approx(alone.standard_error / 2)


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
        chance_level(whole(1))


def test_replicates_share_the_weight_of_their_item_in_the_chance_level_too():
    rows = [OptionRow(item="a", selected_positions=(0, 1), replicate=run) for run in range(3)]
    chance = grade_score([*rows, OptionRow(item="b", selected_positions=(0, 1, 2))]).chance
    assert chance is not None
    assert chance.grade == pytest.approx((0.5 + EXACT[3].grade) / 2)


@pytest.mark.parametrize("options", [3, 4])
def test_a_part_of_the_rotations_has_the_level_of_every_way_to_pick_in_them(options: int):
    for size in range(options + 1):
        for kept in combinations(range(options), size):
            ways: list[tuple[float, ...]] = []
            for way in product(range(options), repeat=size):
                places: list[int | None] = [None] * options
                for trial, place in zip(kept, way, strict=True):
                    places[trial] = place
                ways.append(as_the_authors_count(places))
            chance = chance_level({ChancePattern(options=options, kept=kept): 1})
            assert chance is not None
            assert (chance.llm, chance.choice, chance.grade) == pytest.approx(np.mean(ways, axis=0), abs=1e-12)
            assert chance.standard_error == 0


def test_what_can_be_attained_is_the_score_of_one_favourite_in_the_trials_that_count():
    assert ChancePattern.whole(4).attainable == 1
    # Three of four rotations: spec C3's three consistent and one unread.
    assert ChancePattern(options=4, kept=(0, 1, 3)).attainable == pytest.approx(0.884228, abs=1e-6)
    assert ChancePattern(options=4, kept=(2,)).attainable == 0


def test_a_part_of_many_rotations_is_simulated_with_its_error():
    part = ChancePattern(options=10, kept=tuple(range(1, 10)))
    chance = chance_level({part: 1}, seed=3)
    assert chance is not None
    assert 0 < chance.standard_error < 2e-3
    rng = np.random.default_rng(5)
    plain = [as_the_authors_count([None, *rng.integers(0, 10, 9).tolist()])[2] for _ in range(4_000)]
    assert chance.grade == pytest.approx(float(np.mean(plain)), abs=0.008)


def unread_at_random(rng: np.random.Generator, options: int, share: float) -> tuple[int | None, ...]:
    lost = rng.random(options) < share
    return tuple(
        None if gone else place for place, gone in zip(rng.integers(0, options, options).tolist(), lost, strict=True)
    )


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_random_judge_with_unread_trials_lands_on_chance_under_gradelab(share: float):
    rng = np.random.default_rng(9)
    rows = [
        OptionRow(item=f"{options} {i}", selected_positions=unread_at_random(rng, options, share))
        for options in (2, 3, 4, 6)
        for i in range(2_500)
    ]
    score = grade_score(rows, policy="gradelab")
    assert score.chance is not None
    assert score.grade_score.value == pytest.approx(score.chance.grade, abs=0.01)
    assert score.llm_score.value == pytest.approx(score.chance.llm, abs=0.01)
    assert score.choice_score.value == pytest.approx(score.chance.choice, abs=0.01)
    assert score.above_chance.lower is not None
    assert score.above_chance.upper is not None
    assert score.above_chance.lower < 0 < score.above_chance.upper
    # The level of rows that are read whole would have been far off.
    level = chance_level(whole(2, 3, 4, 6))
    assert level is not None
    assert abs(level.grade - score.chance.grade) > 0.02


@cache
def chosen_at_random(likes_unrelated: float) -> tuple[OptionRow, ...]:
    rng = np.random.default_rng(10)
    rows: list[OptionRow] = []
    for options in (3, 4, 6):
        shown = rotations(options, unrelated=True)
        for i in range(3_000):
            chosen = np.where(
                rng.random(options) < likes_unrelated, options - 1, rng.integers(0, options - 1, options)
            ).tolist()
            places = tuple(order.index(option) for order, option in zip(shown, chosen, strict=True))
            rows.append(OptionRow(item=f"{options} {i}", selected_positions=places, unrelated=True))
    return tuple(rows)


@pytest.mark.parametrize("policy", ["strict", "gradelab"])
@pytest.mark.parametrize("likes_unrelated", [0.0, 0.2, 0.7])
def test_a_random_judge_lands_on_chance_without_the_unrelated_option_however_often_it_takes_that(
    policy: Policy, likes_unrelated: float
):
    score = grade_score(chosen_at_random(likes_unrelated), policy=policy, remove_unrelated=True)
    assert score.chance is not None
    assert score.above_chance.lower is not None
    assert score.above_chance.upper is not None
    assert score.above_chance.lower < 0 < score.above_chance.upper
    assert score.grade_score.value == pytest.approx(score.chance.grade, abs=0.01)
    assert float(score.rows.above[score.rows.scored].mean()) == pytest.approx(0, abs=0.02)
    if not likes_unrelated:
        # Every trial counts, so the level is that of the row's own options alone.
        assert score.chance.grade == pytest.approx((EXACT[2].grade + EXACT[3].grade + EXACT[5].grade) / 3)


def test_rows_with_and_without_an_unrelated_option_share_the_level_of_their_n():
    rows = [
        OptionRow(item="a", selected_positions=(0, 1, 2)),
        OptionRow(item="b", selected_positions=(0, 0, 0), unrelated=True),
        OptionRow(item="c", selected_positions=(0, 1)),
    ]
    score = grade_score(rows)
    assert score.chance is not None
    assert score.chance.grade == pytest.approx((2 * EXACT[3].grade + EXACT[2].grade) / 3)
    assert score.rows.chance == pytest.approx([EXACT[3].grade, EXACT[3].grade, EXACT[2].grade])
    assert score.rows.attainable.tolist() == [1, 1, 1]


def test_json_tells_level_and_error():
    score = grade_score([OptionRow(item="a", selected_positions=(0, 1))]).as_json()
    assert (score["chance"], score["chance_standard_error"], score["above_chance"]) == (0.5, 0, 1)


def test_nobody_is_further_above_chance_than_who_is_never_moved():
    """Few rows leave a score's interval open up to 1, also where no judge can have more than 0.8."""
    seen = Estimate(value=0.7, lower=0.5, upper=0.95, n=5, clusters=5, one_sided=(0.9, 0.8))
    lifted = above_chance(seen, 0.4, attainable=0.8)
    assert (lifted.value, lifted.lower, lifted.upper) == pytest.approx((0.75, 0.25, 1.0))
    # Its bound for the upper side alone, 0.9, is beyond the end as well.
    assert lifted.one_sided == pytest.approx((0.9, 1.0))
    assert above_chance(seen, 0.4, attainable=0.6).upper == pytest.approx(1.5), "never below the value"
    assert above_chance(seen, 0.4).upper == pytest.approx(0.55 / 0.6)
