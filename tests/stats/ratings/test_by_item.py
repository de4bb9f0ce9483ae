"""Claims about sums by item: what rests on them is what the rows say one by one."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.battle_rules import battles_in, joined
from evenhand.stats.ratings.bradley_terry.likelihood import centred_inverse, slopes_at
from evenhand.stats.ratings.bradley_terry.sandwich import clustered_scores, summed_scores
from evenhand.stats.ratings.bradley_terry.score_cells import likelihood_cells
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.by_item import cells_by_item, outcomes_by_item
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.share_sums import Policy
from evenhand.stats.ratings.shares.win_rate import mean_win_rates, tally, win_rates

ITEMS, MODELS = 300, 4


def drawn(seed: int, *, weighted: bool) -> Comparisons:
    """Some items have no row, some models meet rarely."""
    rng = np.random.default_rng(seed)
    rows = 20 * ITEMS
    one = rng.choice(MODELS, rows, p=[0.4, 0.3, 0.2, 0.1])
    other = (one + rng.integers(1, MODELS, rows)) % MODELS
    return Comparisons(
        models=tuple(f"model {code}" for code in range(MODELS)),
        model_a=one.astype(np.int32),
        model_b=other.astype(np.int32),
        sign=rng.choice([-1, 0, 1], rows, p=[0.3, 0.2, 0.5]).astype(np.int8),
        weight=rng.choice([0.5, 1.0, 3.0], rows) if weighted else None,
        item=rng.choice(np.arange(0, 2 * ITEMS, 2), rows).astype(np.int32),
    )


@pytest.fixture(params=[(1, False), (2, True)], ids=["even", "weighted"])
def rows(request: pytest.FixtureRequest) -> Comparisons:
    seed, weighted = request.param
    return drawn(seed, weighted=weighted)


def test_outcomes_are_the_same_from_cells_and_from_rows(rows: Comparisons) -> None:
    by_cells = outcomes_by_item(rows)
    assert by_cells is not None
    assert rows.item is not None
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    slow = np.zeros_like(by_cells)
    np.add.at(slow, (rows.item, rows.model_a, 1 + rows.sign), weight)
    np.add.at(slow, (rows.item, rows.model_b, 1 - rows.sign), weight)
    np.testing.assert_allclose(by_cells, slow, rtol=1e-12)


@pytest.mark.parametrize("policy", ["average", "creation", "visit"])
def test_win_rates_are_those_of_the_rows(rows: Comparisons, policy: Policy) -> None:
    slow = tally(rows, policy).estimates(LEVEL)
    for found, said in zip(win_rates(rows, policy=policy), slow, strict=True):
        assert found.win_rate.clusters == said.clusters
        assert [found.win_rate.value, found.win_rate.lower, found.win_rate.upper, found.win_rate.n] == pytest.approx(
            [said.value, said.lower, said.upper, said.n], rel=1e-12
        )


def test_mean_win_rates_are_those_of_rows_that_no_table_holds(rows: Comparisons) -> None:
    """Further models that nobody meets make the table too large for so few rows."""
    many = replace(rows, models=(*rows.models, *(f"nobody {code}" for code in range(2000))))
    few = rows.rows(np.flatnonzero(np.arange(len(rows)) % 10 == 0))
    assert cells_by_item(few) is None
    assert outcomes_by_item(many) is None
    spread = replace(few, item=np.arange(len(few), dtype=np.int32))
    assert cells_by_item(spread) is None
    twice = Comparisons(
        models=few.models, model_a=np.tile(few.model_a, 40), model_b=np.tile(few.model_b, 40),
        sign=np.tile(few.sign, 40), item=np.tile(few.item, 40) if few.item is not None else None,
        weight=np.tile(np.ones(len(few)) if few.weight is None else few.weight, 40) / 40,
    )  # fmt: skip
    assert cells_by_item(twice) is not None
    for found, said in zip(mean_win_rates(twice), mean_win_rates(few), strict=True):
        assert [found.win_rate.value, found.win_rate.clusters] == pytest.approx(
            [said.win_rate.value, said.win_rate.clusters], rel=1e-12
        )


def test_the_sandwich_is_that_of_the_rows(rows: Comparisons) -> None:
    solution = solve(rows)
    table = solution.grouped.table
    cells = likelihood_cells(table, slopes_at(table, solution.fit))
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    sums = cells_by_item(rows)
    assert sums is not None
    assert rows.item is not None
    found = summed_scores(cells, sums, bread)
    assert found is not None
    said = clustered_scores(cells, solution.grouped.cell, rows.item, rows.weight, bread)
    np.testing.assert_allclose(found.product, said.product, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.weight, said.weight, rtol=1e-10)
    np.testing.assert_allclose(found.squares, said.squares, rtol=1e-10)
    assert (found.clusters, found.clusters_of.tolist()) == (said.clusters, said.clusters_of.tolist())


def test_an_item_that_carries_much_is_left_to_its_rows(rows: Comparisons) -> None:
    heavy = replace(rows, weight=np.where(rows.item == 0, 1000.0, 1.0))
    solution = solve(heavy)
    table = solution.grouped.table
    cells = likelihood_cells(table, slopes_at(table, solution.fit))
    sums = cells_by_item(heavy)
    assert sums is not None
    assert summed_scores(cells, sums, centred_inverse(solution.fit.information, solution.structure.group)) is None


def test_battles_are_counted_as_they_would_be_joined(rows: Comparisons) -> None:
    assert battles_in(rows) == len(joined(rows, "visit"))
    raters = np.arange(len(rows), dtype=np.int32) % 3
    several = replace(rows, rater=raters, raters=("a", "b", "c"))
    assert battles_in(several) == len(joined(several, "visit")) > battles_in(rows)
