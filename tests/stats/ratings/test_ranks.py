"""Claims about rank ranges and tiers."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import (
    RankRanges,
    _scatter,
    elo_rank_ranges,
    rank_ranges,
    win_rate_rank_ranges,
)
from evenhand.stats.ratings.differences.simultaneous import bonferroni
from evenhand.stats.ratings.elo.ratings import elo_bootstrap
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.shares.win_rate import tally, win_rates
from tests.examples import examples
from tests.refusals import tells
from tests.stats.ratings.made import Game, drawn, games, played


def ranges(ranked: RankRanges) -> dict[str, tuple[int | None, int | None, int | None]]:
    return {one.model: (one.rank_lower, one.rank_upper, one.tier) for one in ranked.ranges}


def of(battles: list[Game], **more: object) -> dict[str, tuple[int | None, int | None, int | None]]:
    return ranges(rank_ranges(bradley_terry(played(battles, **more))))  # type: ignore[arg-type]


def duel(wins: int, losses: int, a: str = "A", b: str = "B") -> list[Game]:
    return [(a, b, 1)] * wins + [(a, b, -1)] * losses


def test_a_clear_winner_holds_its_rank_alone():
    assert of(duel(90, 10)) == {"A": (1, 1, 1), "B": (2, 2, 2)}


def test_models_that_cannot_be_told_apart_share_their_ranks_and_a_tier():
    ranked = rank_ranges(bradley_terry(played(duel(50, 50))))
    assert ranges(ranked) == {"A": (1, 2, 1), "B": (1, 2, 1)}
    assert ranked.notes[-1] == "No two models are separated at 95 %."


def test_where_own_ranges_are_narrower_no_sentence_says_any_rank():
    ranked = rank_ranges(bradley_terry(drawn(rows=150, models=12, items=60, seed=0)))
    assert not ranked.separated.any()
    assert min(one.own_upper - one.own_lower for one in ranked.ranges) < 11  # type: ignore[operator]
    (told,) = [one for one in ranked.notes if "separated" in one]
    assert "any rank" not in told
    assert "when all are judged together" in told


def test_with_two_models_the_range_says_what_their_difference_says():
    for wins in range(10, 20):
        rated = bradley_terry(played(duel(wins, 20 - wins)))
        assert (ranges(rank_ranges(rated))["A"] == (1, 1, 1)) == bool(differences(rated).lower[0, 1] > 0)


def test_many_pairs_must_be_surer_than_one():
    rated = bradley_terry(drawn(rows=3000, models=12, items=400, seed=2))
    alone = differences(rated).lower > 0
    together = rank_ranges(rated).separated
    assert together.any()
    assert not (together & ~alone).any()
    assert (alone & ~together).any()


def test_the_board_says_how_many_differences_were_judged_at_once():
    ranked = rank_ranges(bradley_terry(drawn(rows=3000, models=12, items=400, seed=2)), seed=7)
    assert ranked.notes == (
        "Simultaneous rank ranges hold for all models together at 95 %: 66 differences of two models judged at once, "
        "by the largest in 10,000 simulations, seed 7.",
    )


def test_few_items_leave_the_number_of_pairs_to_bonferroni():
    ranked = rank_ranges(bradley_terry(drawn(rows=3000, models=5, items=29, seed=2)))
    assert "by Bonferroni's inequality." in ranked.notes[0]


def test_one_item_proves_no_rank():
    ranked = rank_ranges(bradley_terry(played(duel(30, 10), items=[1] * 40)))
    assert ranges(ranked) == {"A": (1, 2, 1), "B": (1, 2, 1)}
    assert ranked.notes == (
        "Any may hold any rank among those it can be compared with, for no difference of two has an interval.",
    )


def test_a_single_lucky_win_proves_no_rank():
    assert of(duel(1, 0)) == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_forty_one_wins_of_forty_one_prove_one():
    assert of(duel(41, 0)) == {"A": (1, 1, 1), "B": (2, 2, 2)}


def test_the_fewest_wins_that_prove_a_rank_are_six():
    # 2 / 2^5 > 0.05 >= 2 / 2^6
    assert of(duel(5, 0))["A"] == (1, 2, 1)
    assert of(duel(6, 0))["A"] == (1, 1, 1)


def test_forty_one_showings_of_one_item_prove_nothing():
    assert of(duel(41, 0), items=[1] * 41) == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_showings_that_share_a_weight_are_one_case():
    assert of(duel(6, 0), weight=0.5)["A"] == (1, 2, 1)


def test_a_row_however_heavy_is_one_case():
    for battles in (duel(1, 0), duel(5, 0)):
        heavy = replace(played(battles, weight=1000.0), item=None)
        assert ranges(rank_ranges(bradley_terry(heavy))) == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_what_follows_from_sure_claims_is_sure():
    chain = duel(41, 0) + duel(41, 0, "B", "C")
    assert of(chain) == {"A": (1, 1, 1), "B": (2, 2, 2), "C": (3, 3, 3)}


def test_a_model_that_won_all_is_above_rated_models_it_never_met():
    rated = duel(30, 30) + duel(30, 30, "B", "C") + duel(30, 30, "A", "C")
    found = of([*rated, *duel(60, 0, "X", "A"), *duel(0, 60, "Y", "A")])
    assert found == {"X": (1, 1, 1), "A": (2, 4, 2), "B": (2, 4, 2), "C": (2, 4, 2), "Y": (5, 5, 3)}


def test_components_are_ranked_apart_and_idle_models_not_at_all():
    found = of([*duel(90, 10), *duel(90, 10, "C", "D"), *duel(50, 50, "D", "E")], models=["idle"])
    assert found["A"] == (1, 1, 1)
    assert found["B"] == (2, 2, 2)
    assert found["C"] == (1, 1, 1)
    assert found["E"] == found["D"] == (2, 3, 2)
    assert found["idle"] == (None, None, None)


def test_no_battles_have_no_ranks_and_no_sentence():
    ranked = rank_ranges(bradley_terry(played([], models=["A", "B"])))
    assert ranges(ranked) == {"A": (None, None, None), "B": (None, None, None)}
    assert ranked.notes == ()


def test_more_models_than_a_simulation_is_worth_are_judged_by_bonferroni():
    ranked = rank_ranges(bradley_terry(drawn(rows=8000, models=201, items=4000, seed=1)))
    tells(ranked.notes[0], "20,100 differences", "Bonferroni's")
    assert ranked.separated.any()


def test_a_tier_is_one_below_the_lowest_separated_above():
    ranked = rank_ranges(bradley_terry(drawn(rows=3000, models=12, items=400, seed=2)))
    tier = np.array([one.tier for one in ranked.ranges])
    assert tier.max() > 2
    for code, one in enumerate(tier):
        above = tier[ranked.separated[:, code]]
        assert one == 1 + above.max(initial=0)


def test_names_and_sides_do_not_matter():
    made = drawn(rows=2000, models=6, items=300, seed=4)
    turn = np.array([3, 5, 0, 1, 4, 2], dtype=np.int32)
    turned = Comparisons(
        models=made.models,
        model_a=turn[made.model_b],
        model_b=turn[made.model_a],
        sign=-made.sign,
        item=made.item,
    )
    for method in (lambda c: rank_ranges(bradley_terry(c)), win_rate_rank_ranges):
        one, other = method(made), method(turned)
        assert np.array_equal(other.separated[np.ix_(turn, turn)], one.separated)


@settings(max_examples=examples(60), deadline=None)
@given(games)
def test_a_model_stands_within_its_range(battles: list[Game]):
    rated = bradley_terry(played(battles, items=[number % 7 for number in range(len(battles))]))
    for one, held in zip(rated.models, rank_ranges(rated).ranges, strict=True):
        if one.rank is None:
            assert held.rank_lower is None
        else:
            assert held.rank_lower is not None
            assert held.rank_upper is not None
            assert held.rank_lower <= one.rank <= held.rank_upper


def round_robin(rng: np.random.Generator, models: int, items: int) -> Comparisons:
    """Equal models, both orders on every item, and a taste for each item that makes its votes alike."""
    one, other = np.triu_indices(models, 1)
    taste = rng.normal(0, 0.7, (items, models))
    chance = 1 / (1 + np.exp(taste[:, other] - taste[:, one]))
    sign = np.concatenate([np.where(rng.random(chance.shape) < chance, 1, -1).ravel() for _ in range(2)])
    return Comparisons(
        models=tuple("ABCDEFGH"[:models]),
        model_a=np.tile(one, 2 * items).astype(np.int32),
        model_b=np.tile(other, 2 * items).astype(np.int32),
        sign=sign.astype(np.int8),
        item=np.tile(np.repeat(np.arange(items), len(one)), 2).astype(np.int32),
    )


@pytest.mark.slow
def test_all_ranges_contain_their_true_ranks_where_single_intervals_fail():
    rng = np.random.default_rng(11)
    rounds, models = 120, 6
    right = {"bradley-terry": 0, "win-rate": 0, "single": 0}
    for _ in range(rounds):
        made = round_robin(rng, models, 40)
        rated = bradley_terry(made)
        # Equal models may hold any rank: a range is right if no claim was made at all.
        right["bradley-terry"] += not rank_ranges(rated).separated.any()
        right["win-rate"] += not win_rate_rank_ranges(made).separated.any()
        right["single"] += not (differences(rated).lower > 0).any()
    assert right["bradley-terry"] >= 0.93 * rounds
    assert right["win-rate"] >= 0.93 * rounds
    assert right["single"] < 0.75 * rounds


def shuffled(battles: list[Game]) -> list[Game]:
    return [battles[place] for place in np.random.default_rng(0).permutation(len(battles))]


def test_elo_ranges_come_from_the_scatter_of_its_resamples():
    made = played(shuffled([*duel(270, 30), *duel(160, 140, "B", "C"), *duel(270, 30, "A", "C")]))
    ranked = elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=100), k=16))
    assert ranges(ranked) == {"A": (1, 1, 1), "B": (2, 3, 2), "C": (2, 3, 2)}
    tells(ranked.notes[0], "3 differences", "100 resamples")


def test_the_scatter_of_draws_is_their_covariance_and_what_is_missing_counts_nowhere():
    draws = np.random.default_rng(0).normal(size=(9, 3))
    mean, deviations, covariance = _scatter(draws)
    np.testing.assert_allclose(mean, draws.mean(axis=0))
    np.testing.assert_allclose(deviations, draws - draws.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(draws.T))
    draws[:4, 2] = np.nan
    _, _, covariance = _scatter(draws)
    np.testing.assert_allclose(covariance[:2, :2], np.cov(draws[:, :2].T))
    np.testing.assert_allclose(covariance[2, 2], np.var(draws[4:, 2], ddof=1))


def test_the_order_of_a_file_proves_no_elo_rank():
    in_order = played([*duel(150, 0), *duel(0, 150)])
    resampled = elo_bootstrap(in_order, Resampling(rounds=100), k=16)
    passed = {one.model: one.rating.value or 0.0 for one in resampled.ratings}
    assert passed["B"] - passed["A"] > 300
    assert ranges(elo_rank_ranges(in_order, resampled)) == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_two_resamples_prove_no_rank():
    made = played(shuffled(duel(160, 140)))
    for seed in range(20):
        resampled = elo_bootstrap(made, Resampling(rounds=2, seed=seed), k=16)
        assert ranges(elo_rank_ranges(made, resampled)) == {"A": (1, 2, 1), "B": (1, 2, 1)}
    one = elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=1)))
    assert ranges(one) == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_elo_ranges_stay_within_components_and_leave_out_idle_models():
    made = played(shuffled([*duel(270, 30), *duel(270, 30, "C", "D")]), models=["idle"])
    ranked = elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=60), k=16))
    assert ranges(ranked) == {
        "A": (1, 1, 1),
        "B": (2, 2, 2),
        "C": (1, 1, 1),
        "D": (2, 2, 2),
        "idle": (None, None, None),
    }


def test_a_model_that_resamples_leave_out_is_judged_by_the_others():
    made = played(shuffled([*duel(270, 30), ("C", "B", 1)]))
    ranked = elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=60), k=16))
    assert ranges(ranked)["A"] == (1, 2, 1)
    assert ranges(ranked)["C"] == (1, 3, 1)


@pytest.mark.parametrize("items", [[0, 1, 2], [0, 0, 0], [0, 0, 1]])
def test_three_lucky_wins_prove_no_elo_rank(items: list[int]):
    made = played(duel(3, 0), items=items)
    ranked = elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=200)))
    assert ranges(ranked) == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_resamples_that_are_all_alike_prove_no_elo_rank():
    made = played(duel(10, 0))
    ranked = elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=200)))
    assert ranges(ranked) == {"A": (1, 2, 1), "B": (1, 2, 1)}


def test_the_fewest_items_that_prove_an_elo_rank_are_six():
    for items, proven in ((5, False), (6, True)):
        made = played(duel(150, 0), items=[row % items if row < 100 else 0 for row in range(150)])
        ranked = elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=200)))
        assert bool(ranked.separated.any()) is proven


def test_no_battles_have_no_elo_ranges():
    made = played([], models=["A", "B"])
    assert ranges(elo_rank_ranges(made, elo_bootstrap(made, Resampling(rounds=3))))["A"] == (None, None, None)


def test_in_a_duel_win_rates_are_apart_where_the_winners_share_is_separated_from_half():
    for wins in range(10, 26):
        made = played(duel(wins, 25 - wins))
        lower = win_rates(made)[0].win_rate.lower
        assert lower is not None
        assert (ranges(win_rate_rank_ranges(made))["A"] == (1, 1, 1)) == (lower > 0.5)


def test_three_lucky_wins_leave_the_rank_by_win_rate_open():
    made = played([*duel(150, 150), *duel(3, 0, "C", "A")])
    assert ranges(win_rate_rank_ranges(made))["C"] == (1, 3, 1)


def test_win_rates_under_another_policy_are_ranked_by_it():
    made = played([*duel(60, 20), *[("A", "B", 0)] * 120])
    assert ranges(win_rate_rank_ranges(made, policy="visit"))["A"] == (1, 1, 1)
    with_ties_only = played([("A", "B", 0)] * 9)
    assert ranges(win_rate_rank_ranges(with_ties_only, policy="visit"))["A"] == (None, None, None)


@pytest.mark.parametrize("items", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_covariance_of_win_rates_is_the_sum_over_items(items: bool, weighted: bool):
    made = drawn(rows=60, models=4, items=12, seed=3, weighted=weighted)
    if not items:
        made = Comparisons(
            models=made.models, model_a=made.model_a, model_b=made.model_b, sign=made.sign, weight=made.weight
        )
    counted = tally(made, "average")
    weight = made.weight if made.weight is not None else np.ones(len(made))
    total = np.zeros((4, 4))
    labels = made.item if made.item is not None else np.arange(len(made))
    for item in set(labels.tolist()):
        score, part = np.zeros(4), np.zeros(4)
        for row in np.flatnonzero(labels == item):
            a, b, sign = made.model_a[row], made.model_b[row], made.sign[row]
            part[[a, b]] += weight[row] / counted.n[[a, b]]
            score[a] += weight[row] * ((1 + sign) / 2 - counted.share[a]) / counted.n[a]
            score[b] += weight[row] * ((1 - sign) / 2 - counted.share[b]) / counted.n[b]
        # As if the item had had no say in the shares.
        total += np.outer(score / (1 - part), score / (1 - part))
    assert counted.covariance() == pytest.approx(total)


def test_a_provisional_elo_on_the_wrong_side_of_the_start_proves_no_rank():
    """N is far above the loser Y in every resample, but what it is worth lies below what it shows: nothing is sure."""
    old = [("X", "Y", 1)] * 400
    new = [("N", "X", -1)] * 20 + [("N", "Y", 1)] * 2
    made = played([*old, *new])
    boot = elo_bootstrap(made, Resampling(rounds=100))
    shown = {one.model: one.median or 0.0 for one in boot.ratings}
    assert shown["Y"] < shown["N"] < 1000 < shown["X"]
    found = {one.model: (one.rank_lower, one.rank_upper) for one in elo_rank_ranges(made, boot).ranges}
    assert found == {"X": (1, 1), "Y": (2, 3), "N": (2, 3)}


@pytest.mark.parametrize("found", [lambda made: rank_ranges(bradley_terry(made)), win_rate_rank_ranges])
def test_one_item_more_does_not_change_the_rule_of_ranges(found: Callable[[Comparisons], RankRanges]):
    whole = drawn(rows=4000, models=6, items=32, seed=2)
    assert whole.item is not None
    careful = bonferroni(15, 0.95).level
    levels = [found(whole.rows(whole.item < items)).judged.joint.level for items in (8, 12, 18, 24, 29, 30, 31)]
    away = [careful - level for level in levels]
    assert all(one > 0 for one in away)
    assert away[0] < 0.2 * away[-1]
    # Between 29 and 30 items it goes on as it does before and after.
    assert abs(away[5] - away[4]) < 0.4 * away[5]
    assert all(one < other * 1.3 for one, other in itertools.pairwise(away))
