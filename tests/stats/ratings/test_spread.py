"""Claims about the covariance of Bradley-Terry strengths."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from evenhand.stats.intervals import reach
from evenhand.stats.ratings.bradley_terry.covariance import _clusters_by_group, spread
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, centred_inverse, slopes_at
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.bradley_terry.sandwich import clustered_scores
from evenhand.stats.ratings.bradley_terry.score_cells import likelihood_cells
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from tests.stats.ratings.made import drawn, played


def jackknifed(scores: np.ndarray, information: np.ndarray, models: int) -> np.ndarray:
    """CR3 by the book: of each cluster (rows of `scores`, slices of `information`) the step of a fit without it."""
    # The information has one null direction: all models stronger alike. Filling it changes no score's step.
    constant = np.zeros_like(information[0])
    constant[:models, :models] = 1 / models
    steps = np.stack(
        [
            np.linalg.solve(information.sum(axis=0) + constant - own, one)
            for one, own in zip(scores, information, strict=True)
        ]
    )
    steps[:, :models] -= steps[:, :models].mean(axis=1, keepdims=True)
    return steps.T @ steps


def by_hand(comparisons: Comparisons, clusters: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """The sandwich row by row."""
    models, rows = len(strength), len(comparisons)
    weight = np.ones(rows) if comparisons.weight is None else comparisons.weight
    design = np.zeros((rows, models))
    design[np.arange(rows), comparisons.model_a] = 1
    design[np.arange(rows), comparisons.model_b] = -1
    chance = 1 / (1 + np.exp(-design @ strength))
    count = int(clusters.max()) + 1
    information = np.zeros((count, models, models))
    curvature = (weight * chance * (1 - chance))[:, None, None]
    np.add.at(information, clusters, curvature * design[:, :, None] * design[:, None, :])
    scores = np.zeros((count, models))
    np.add.at(scores, clusters, design * (weight * ((comparisons.sign + 1) / 2 - chance))[:, None])
    return jackknifed(scores, information, models)


def effective(comparisons: Comparisons, model: int) -> float:
    """Items of equal weight that would tell as much: a row weighs p(1 - p) of its fitted chance."""
    assert comparisons.item is not None
    strength = solve(comparisons).fit.strength
    chance = 1 / (1 + np.exp(strength[comparisons.model_b] - strength[comparisons.model_a]))
    own = (comparisons.model_a == model) | (comparisons.model_b == model)
    weight = np.bincount(comparisons.item[own], weights=(chance * (1 - chance))[own])
    return float(weight.sum() ** 2 / (weight**2).sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["one pair an item", "many pairs an item", "both kinds"])
@pytest.mark.parametrize("items", [30, 70])
def test_the_clustered_sandwich_is_the_textbooks(kind: str, items: int, weighted: bool):
    table = drawn(rows=900, models=6, items=items, seed=3, weighted=weighted)
    pair = np.minimum(table.model_a, table.model_b) * 6 + np.maximum(table.model_a, table.model_b)
    assert table.item is not None
    item = {"one pair an item": pair * 3 + table.item % 3, "many pairs an item": table.item}.get(
        kind, np.where(table.item < items // 2, table.item, 100 + pair)
    )
    table = Comparisons(
        models=table.models, model_a=table.model_a, model_b=table.model_b, sign=table.sign, weight=table.weight,
        item=item.astype(np.int32),
    )  # fmt: skip
    solution = solve(table)
    found = spread(solution)
    expected = by_hand(table, item, solution.fit.strength)
    # A light item's leverage is spread evenly over its models, exact only where it compares one pair.
    close = 1e-7 if kind == "one pair an item" else 0.02
    np.testing.assert_allclose(found.covariance, expected, rtol=close, atol=close * np.abs(expected).max())
    seen = [len(np.unique(item[(table.model_a == m) | (table.model_b == m)])) for m in range(6)]
    assert found.clusters_of.tolist() == seen
    assert set(found.clusters.tolist()) == {len(np.unique(item))}


@pytest.mark.parametrize("weighted", [False, True])
def test_the_unclustered_sandwich_takes_each_row_for_a_cluster(weighted: bool):
    table = drawn(rows=900, models=6, items=70, seed=4, weighted=weighted)
    solution = solve(table)
    expected = by_hand(table, np.arange(900), solution.fit.strength)
    found = spread(solution, clustered=False).covariance
    # Rows of unlike weight in one cell are taken for alike in their leverage.
    np.testing.assert_allclose(found, expected, rtol=1e-2 if weighted else 1e-7, atol=1e-5 if weighted else 1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("items", ["in any order", "one after the other", "of one pair or of many"])
@pytest.mark.parametrize("covariate", [False, True])
def test_however_items_are_gathered_their_scores_are_the_same(weighted: bool, items: str, covariate: bool):
    table = drawn(rows=900, models=6, items=70, seed=5, weighted=weighted)
    assert table.item is not None
    pair = np.minimum(table.model_a, table.model_b) * 6 + np.maximum(table.model_a, table.model_b)
    named = {"one after the other": np.sort(table.item), "of one pair or of many": np.where(table.item < 35, pair, 50)}
    item = named.get(items, table.item).astype(np.int32)
    table = replace(table, item=item)
    extra = np.random.default_rng(0).integers(-1, 2, 900).astype(np.float64)[:, None]
    solution = solve(table, covariates=extra if covariate else None)
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    cells = likelihood_cells(solution.grouped.table, slopes_at(solution.grouped.table, solution.fit))
    given = (cells, solution.grouped.cell, item, table.weight, bread)
    whole = clustered_scores(*given)
    for numbers, sparse_from in ((60, 400), (60, 2), (1_000_000, 2)):
        parts = clustered_scores(*given, numbers=numbers, sparse_from=sparse_from)
        np.testing.assert_allclose(parts.product, whole.product, rtol=1e-4, atol=1e-4 * np.abs(whole.product).max())
        np.testing.assert_allclose(parts.effective, whole.effective)
        assert parts.clusters_of.tolist() == whole.clusters_of.tolist()
        assert parts.clusters == whole.clusters == len(np.unique(item))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_items_of_few_rows_multiplied_two_by_two_give_what_a_table_of_all_models_gives(
    weighted: bool, ties: Literal["half", "davidson"]
):
    table = drawn(rows=3000, models=6, items=1500, seed=6, weighted=weighted)
    assert table.item is not None
    # Two of them have more rows than are multiplied so.
    item = np.where(np.arange(3000) < 40, np.arange(3000) % 2, table.item).astype(np.int32)
    table = replace(table, item=item)
    extra = np.random.default_rng(0).integers(-1, 2, 3000).astype(np.float64)[:, None]
    solution = solve(table, covariates=extra, ties=ties)
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    cells = likelihood_cells(solution.grouped.table, slopes_at(solution.grouped.table, solution.fit))
    whole, parts = (
        clustered_scores(cells, solution.grouped.cell, item, table.weight, bread, sparse_from=width)
        for width in (400, 2)
    )
    np.testing.assert_allclose(parts.product, whole.product, rtol=1e-10, atol=1e-10 * np.abs(whole.product).max())
    np.testing.assert_allclose(parts.effective, whole.effective, rtol=1e-10)
    assert parts.clusters_of.tolist() == whole.clusters_of.tolist()
    assert parts.clusters == whole.clusters


def curvatures(log_likelihoods: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> np.ndarray:
    """Of each row: minus the second derivatives of its log-likelihood, by finite differences."""
    steps = np.eye(len(at)) * 1e-3

    def slopes(parameters: np.ndarray) -> np.ndarray:
        return np.stack(
            [(log_likelihoods(parameters + s) - log_likelihoods(parameters - s)) / 2e-3 for s in steps], axis=1
        )

    return -np.stack([(slopes(at + s) - slopes(at - s)) / 2e-3 for s in steps], axis=2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_slopes_of_covariates_have_the_textbooks_sandwich_too(ties: Literal["half", "davidson"], weighted: bool):
    """Scores and curvature by finite differences of the likelihood, row by row."""
    table = drawn(rows=500, models=4, items=40, seed=6, weighted=weighted)
    weight = np.ones(500) if table.weight is None else table.weight
    covariate = np.random.default_rng(0).integers(-2, 3, 500).astype(np.float64)[:, None]
    solution = solve(table, ties=ties, covariates=covariate)
    tie = [] if solution.fit.log_tie is None else [solution.fit.log_tie]
    best = np.concatenate((solution.fit.strength, solution.fit.slopes, tie))

    def log_likelihoods(parameters: np.ndarray) -> np.ndarray:
        gap = parameters[table.model_a] - parameters[table.model_b] + covariate[:, 0] * parameters[4]
        if ties == "half":
            return weight * (-np.logaddexp(0, -gap) + np.minimum(table.sign - 1, 0) * gap / 2)
        logits = np.stack((-gap / 2, np.full_like(gap, parameters[5]), gap / 2), axis=1)
        return weight * (logits[np.arange(500), table.sign + 1] - np.logaddexp.reduce(logits, axis=1))

    steps = np.eye(len(best)) * 1e-4
    scores = np.stack([(log_likelihoods(best + s) - log_likelihoods(best - s)) / 2e-4 for s in steps], axis=1)
    np.testing.assert_allclose(scores.sum(axis=0), 0, atol=1e-5)

    def total_slope(parameters: np.ndarray) -> np.ndarray:
        up = [log_likelihoods(parameters + s).sum() - log_likelihoods(parameters - s).sum() for s in steps]
        return np.array(up) / 2e-4

    information = -np.stack([(total_slope(best + s) - total_slope(best - s)) / 2e-4 for s in steps])
    np.testing.assert_allclose(information, solution.fit.information, atol=2e-3)
    assert table.item is not None
    curved = curvatures(log_likelihoods, best)
    for clustered, cluster in ((True, table.item), (False, np.arange(500))):
        summed = np.zeros((int(cluster.max()) + 1, len(best)))
        np.add.at(summed, cluster, scores)
        bent = np.zeros((len(summed), len(best), len(best)))
        np.add.at(bent, cluster, curved)
        expected = jackknifed(summed, bent, 4)
        found = spread(solution, clustered=clustered).covariance
        np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02 * np.abs(expected).max())


def test_a_covariate_that_the_models_explain_is_refused():
    table = drawn(rows=300, models=4, items=40, seed=7)
    of_models = np.array([0.0, 1.0, 5.0, 2.0])
    with pytest.raises(NoFiniteFit, match="covariates"):
        solve(table, covariates=(of_models[table.model_a] - of_models[table.model_b])[:, None])


def test_a_judge_who_always_prefers_the_first_proves_nothing():
    # Every item splits one to one: the items do not differ, and the gap of 0 must not look certain.
    items = 50
    board = bradley_terry(played([("X", "Y", 1)] * items + [("Y", "X", 1)] * items, items=[*range(items)] * 2))
    # One case an item: variance 4/G of the gap, half the gap a model.
    half = reach(items) * math.sqrt(4 / items) / 2 * 400 / math.log(10)
    x = board.models[0].rating
    assert (x.lower, x.upper) == pytest.approx((1000 - half, 1000 + half))
    assert "Some models' results hardly differ between items: there each item counts as one case." in board.notes


def test_nothing_but_ties_proves_nothing():
    x = bradley_terry(played([("X", "Y", 0)] * 3)).models[0].rating
    assert x.lower is not None
    assert x.lower < 700


def test_fewer_items_than_models_give_intervals_to_differences_only():
    table = drawn(rows=3000, models=12, items=8, seed=8)
    board = bradley_terry(table)
    assert all(one.rating.value is not None and one.rating.lower is None for one in board.models)
    gaps = differences(board)
    off = ~np.eye(12, dtype=bool)
    assert np.isfinite(gaps.lower[off]).all()
    behind = [effective(table, model) for model in range(12)]
    expected = np.array([[reach(min(one, other)) for other in behind] for one in behind])
    np.testing.assert_allclose((gaps.upper - gaps.value)[off], (expected * gaps.error)[off])
    assert any("12 ratings rest on 8 items, too few for an interval of each" in note for note in board.notes)


def test_one_item_gives_no_interval_at_all():
    board = bradley_terry(played([("X", "Y", 1), ("Y", "X", 1), ("X", "Y", 1)], items=[0, 0, 0]))
    assert board.models[0].rating.lower is None
    assert np.isnan(differences(board).lower).all()


def test_under_thirty_items_of_a_model_its_interval_takes_students_t():
    table = drawn(rows=2000, models=4, items=20, seed=9)
    board = bradley_terry(table)
    one = board.models[0].rating
    assert one.value is not None
    assert one.upper is not None
    error = board.spread.errors_of_strengths()[0] * board.scale.unit
    assert one.upper - one.value == pytest.approx(reach(effective(table, 0)) * error)
    assert 19 < effective(table, 0) < 20
    assert board.notes == ()


def test_without_items_every_row_counts_for_itself_and_that_is_said():
    table = drawn(rows=500, models=4, items=20, seed=10)
    bare = Comparisons(models=table.models, model_a=table.model_a, model_b=table.model_b, sign=table.sign)
    board = bradley_terry(bare)
    assert board.models[0].rating == bradley_terry(table, clustered=False).models[0].rating
    assert "No items are named: every row is taken for independent of every other." in board.notes


def test_differences_turn_their_sign_with_their_sides():
    gaps = differences(bradley_terry(drawn(rows=2000, models=5, items=60, seed=11)))
    np.testing.assert_allclose(gaps.lower, -gaps.upper.T)
    np.testing.assert_allclose(gaps.error, gaps.error.T)


@pytest.mark.slow
def test_clustered_intervals_cover_and_unclustered_ones_fail():
    """A small seeded version of bench/coverage.py: two showings of an item that agree most of the time."""
    from bench.coverage import covered

    shares = [covered(f"{kind}, 100 items shown twice", repetitions=150).held for kind in ("ratings", "unclustered")]
    assert 0.90 <= shares[0] <= 0.99
    assert shares[1] < 0.88


def test_a_step_too_long_is_halved_until_the_likelihood_rises():
    from evenhand.stats.ratings.bradley_terry.likelihood import _log_likelihood, _slopes, _uphill

    table = solve(played([("X", "Y", 1)] * 3 + [("Y", "X", 1)])).grouped.table
    start = np.zeros(2)
    reached = _log_likelihood(table, _slopes(table, start, False))
    step, _, now = _uphill(table, start, np.array([32.0, -32.0]), reached)
    assert now >= reached
    assert 0 < step[0] < 32


def test_a_difference_is_as_unsure_as_the_model_seen_on_fewer_items():
    battles = [("X", "Y", 1), ("Y", "X", 1)] * 40 + [("X", "Z", 1), ("Z", "X", 1), ("Z", "Y", 1), ("Y", "Z", 0)]
    table = replace(played(battles), item=np.arange(len(battles), dtype=np.int32))
    reaches = bradley_terry(table).spread.reach_of_differences()
    few = reach(effective(table, 2))
    assert few > 3
    assert (reaches[0, 2], reaches[2, 1]) == pytest.approx((few, few))
    assert reaches[0, 1] == pytest.approx(reach(min(effective(table, 0), effective(table, 1))))


def test_one_item_with_most_of_the_rows_counts_for_few_and_is_judged_by_the_others():
    # 39 items split evenly, the fortieth is 84 % of the rows and all for X.
    battles = [("X", "Y", 1), ("X", "Y", -1)] * 39 + [("X", "Y", 1)] * 410
    x = bradley_terry(played(battles, items=[*np.repeat(np.arange(39), 2).tolist(), *[39] * 410])).models[0].rating
    assert x.lower is not None
    assert x.lower < 1000


def test_the_interval_does_not_jump_between_29_and_30_items():
    def width(items: int) -> float:
        verdicts = [("X", "Y", 1), ("X", "Y", 1), ("X", "Y", -1)] * items
        return widths(played(verdicts, items=[*range(items * 3)]))[0] * math.sqrt(items)

    steps = [width(items) - width(items + 1) for items in (8, 9, 10, 11)]
    assert all(0 < later < before for before, later in itertools.pairwise(steps))


def test_a_single_item_gives_no_difference_an_interval():
    only = bradley_terry(played([("X", "Y", 1)] * 3 + [("X", "Y", -1)], items=[1] * 4))
    assert np.isnan(differences(only).error).all()
    assert np.isnan(differences(only).lower).all()


@pytest.mark.parametrize(("items", "follows"), [(4, 0.9), (8, 0.9), (16, 0.9)])
def test_a_newcomer_whose_items_split_one_to_one_is_not_known_best(items: int, follows: float):
    """A small seeded version of bench/coverage.py."""
    from bench.coverage import covered

    assert covered(f"newcomer, {items} items, position {follows:.0%}", repetitions=100, seed=2).held >= 0.93


def old_ones() -> list[tuple[str, str, int]]:
    return [("B", "C", sign) for sign in (1, 1, 0, -1, 1, -1, -1, 1)] * 50


def widths(table: Comparisons, *, clustered: bool = True) -> list[float]:
    ratings = [one.rating for one in bradley_terry(table, clustered=clustered).models]
    return [(one.upper or math.nan) - (one.lower or math.nan) for one in ratings]


def test_a_model_tied_with_unequal_opponents_is_known_least():
    table = played(old_ones() + [("A", "B", 0)] * 2 + [("A", "C", 0)] * 2)
    a, b, c = widths(table)
    assert a > 600
    assert a > max(b, c)
    said = "Some models' results hardly differ between items: there each item counts as one case."
    assert said in bradley_terry(table).notes


def test_items_that_all_split_prove_no_more_than_independent_rows():
    alone = [("A", "B", 1), ("A", "B", -1)]
    for split in (alone, [*alone, ("A", "C", 1), ("A", "C", -1)]):
        items = [*range(400), *np.repeat(np.arange(40), len(split)).tolist()]
        table = played(old_ones() + split * 40, items=items)
        assert widths(table)[0] >= widths(table, clustered=False)[0] > 60


def test_two_items_decided_among_forty_show_too_little_spread():
    split = [("A", "B", 1), ("A", "B", -1), ("A", "C", 1), ("A", "C", -1)]
    swept = [(a, b, sign) for sign in (1, -1) for a, b, _ in split]
    items = np.concatenate((np.arange(400), np.repeat(np.arange(40), 4)))
    table = played(old_ones() + swept + split * 38, items=items.tolist())
    solution = solve(table)
    plain = by_hand(table, items, solution.fit.strength)[0, 0]
    # Wilson's bound of none in 40 allows 40 z^2 / (40 + z^2) = 3.5 items where 2 are seen.
    assert spread(solution).covariance[0, 0] / plain == pytest.approx(1.75, abs=0.15)


def test_a_spread_that_clusters_do_show_is_left_alone():
    table = drawn(rows=3000, models=5, items=300, seed=12)
    solution = solve(table)
    assert table.item is not None
    expected = by_hand(table, table.item, solution.fit.strength)
    np.testing.assert_allclose(spread(solution).covariance, expected, rtol=5e-3, atol=1e-6)


@pytest.mark.parametrize(("clustered", "counted"), [(False, [4, 2]), (True, [3, 2])])
def test_of_groups_that_never_met_each_rests_on_its_own_clusters(clustered: bool, counted: list[int]):
    apart = [*[("A", "B", 1), ("A", "B", -1)] * 2, ("C", "D", 1), ("C", "D", -1)]
    solution = solve(played(apart, items=[1, 2, 3, 3, 1, 2]))
    assert _clusters_by_group(solution, clustered).tolist() == counted
