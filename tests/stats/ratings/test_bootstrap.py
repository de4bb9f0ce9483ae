"""Claims about Bradley-Terry intervals from resamples."""

from typing import Literal

import numpy as np
import pytest

from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap, resamples
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.resampling import Resampling, Unit, resampled_counts, resampled_orders
from evenhand.stats.ratings.scale import Scale
from tests.refusals import refused, tells
from tests.stats.ratings.made import drawn, played


@pytest.mark.parametrize("unit", ["items", "battles"])
def test_the_same_seed_gives_the_same_intervals_and_another_seed_others(unit: Unit):
    table = drawn(rows=800, models=5, items=60, seed=1)
    one, same, other = (
        bradley_terry_bootstrap(table, Resampling(rounds=50, unit=unit, seed=seed)) for seed in (7, 7, 8)
    )
    assert one.models == same.models
    assert one.models != other.models
    assert [a.rating.value for a in one.models] == [a.rating.value for a in bradley_terry(table).models]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", ["items", "battles"])
def test_a_table_of_counts_is_resampled_as_its_rows_would_be(unit: Unit, weighted: bool):
    table = drawn(rows=400, models=4, items=30, seed=2, weighted=weighted)
    solution = solve(table)
    resampling = Resampling(rounds=600, unit=unit, seed=3)
    (counts,) = resampled_counts(solution.grouped, table, resampling, at_once=600)
    assert counts.mean(axis=0) == pytest.approx(solution.grouped.table.counts, abs=1.5)
    totals = counts.sum(axis=(1, 2))
    assert (unit == "battles" and not weighted) == bool((totals == 400).all())


def test_each_strength_is_the_fit_of_its_resample():
    """All resamples together must come to what each gives alone."""
    table = drawn(rows=300, models=5, items=60, seed=4)
    solution = solve(table)
    resampling = Resampling(rounds=20, seed=5)
    together = resamples(solution, resampling).strength
    for strength, order in zip(together, resampled_items(table, resampling), strict=True):
        alone = solve(
            Comparisons(
                models=table.models, model_a=table.model_a[order], model_b=table.model_b[order], sign=table.sign[order]
            )
        )
        np.testing.assert_allclose(strength, alone.fit.strength, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unit", ["items", "battles"])
def test_one_product_for_all_rounds_adds_up_to_the_same(unit: Unit, weighted: bool):
    table = drawn(rows=400, models=4, items=30, seed=2, weighted=weighted)
    grouped, resampling = solve(table).grouped, Resampling(rounds=7, unit=unit, seed=3)
    plain, sparse = (
        np.concatenate(list(resampled_counts(grouped, table, resampling, at_once=3, sparse_from=limit)))
        for limit in (10**9, 0)
    )
    np.testing.assert_allclose(sparse, plain, rtol=1e-12)


def resampled_items(table: Comparisons, resampling: Resampling) -> list[np.ndarray]:
    """The rows of each resample of items, in the order that draws of counts and of rows share."""
    return [np.asarray(order) for order in resampled_orders(table, resampling)]


def test_resamples_of_many_rows_settle_together_and_none_is_fitted_alone():
    from evenhand.stats.ratings.bradley_terry.bootstrap import _together
    from evenhand.stats.ratings.bradley_terry.likelihood import centred_inverse

    table = drawn(rows=4000, models=5, items=60, seed=4)
    solution = solve(table)
    (counts,) = resampled_counts(solution.grouped, table, Resampling(rounds=30, unit="battles"), at_once=30)
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    strength, settled = _together(solution, counts, bread)
    assert settled.all()
    np.testing.assert_allclose(strength.sum(axis=1), 0, atol=1e-9)


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_the_bootstrap_over_items_agrees_with_the_clustered_sandwich(ties: Literal["half", "davidson"]):
    table = drawn(rows=4000, models=4, items=400, seed=6)
    sandwich = bradley_terry(table, ties=ties)
    boot = bradley_terry_bootstrap(table, Resampling(rounds=300, seed=1), ties=ties)
    for one, other in zip(sandwich.models, boot.models, strict=True):
        assert one.rating.upper is not None
        assert other.rating.upper is not None
        assert one.rating.lower is not None
        assert other.rating.lower is not None
        assert other.median == pytest.approx(one.rating.value, abs=5)
        assert other.rating.upper - other.rating.lower == pytest.approx(one.rating.upper - one.rating.lower, rel=0.25)


def test_where_ratings_outnumber_items_none_has_an_interval():
    table = drawn(rows=600, models=12, items=8, seed=3)
    board = bradley_terry_bootstrap(table, Resampling(rounds=40))
    for one in board.models:
        assert (one.rating.lower, one.rating.upper, one.rating.unbounded) == (None, None, None)
        assert one.median is not None
    assert board.notes == (
        "12 ratings rest on 8 items, too few for an interval of each: only differences of two models have one.",
        "Medians are of 40 resamples of items, seed 0.",
    )
    rows = bradley_terry_bootstrap(table, Resampling(rounds=40, unit="battles"))
    assert all(one.rating.lower is not None for one in rows.models)


def test_one_resample_is_no_resamples():
    board = bradley_terry_bootstrap(drawn(rows=60, models=2, items=40, seed=3), Resampling(rounds=1))
    assert board.notes[-1] == (
        "Intervals are percentiles of 1 resample of items, seed 0, widened by Student's t on the effective number of "
        "items."
    )


def test_resamples_without_a_finite_fit_leave_no_bound():
    # One win in twelve: more than a third of the resamples hold none.
    battles = [("X", "Y", 1)] * 11 + [("Y", "X", 1)]
    board = bradley_terry_bootstrap(played(battles), Resampling(rounds=200, seed=2))
    x = board.models[0].rating
    assert x.value is not None
    assert (x.lower, x.upper, x.unbounded) == (None, None, "both")
    assert any(note.endswith("of 200 resamples have no finite fit: they count as unbounded.") for note in board.notes)


def test_a_component_that_holds_keeps_its_bounds_where_another_falls_apart():
    battles = [("X", "Y", 1)] * 11 + [("Y", "X", 1)] + [("A", "B", 1), ("B", "A", 1)] * 60
    board = bradley_terry_bootstrap(played(battles), Resampling(rounds=100, seed=2))
    a, _, x, _ = board.models
    assert a.rating.lower is not None
    assert x.rating.unbounded == "both"


def test_an_anchor_has_no_interval_and_the_others_scatter_about_it():
    table = drawn(rows=800, models=5, items=60, seed=1)
    free = bradley_terry_bootstrap(table, Resampling(rounds=50))
    anchored = bradley_terry_bootstrap(table, Resampling(rounds=50), scale=Scale(anchor="model 2", anchor_value=1114))
    one = anchored.models[2].rating
    assert (one.value, one.lower, one.upper) == (pytest.approx(1114), None, None)
    widths = [
        [(one.rating.upper or 0) - (one.rating.lower or 0) for one in board.models if one.model != "model 2"]
        for board in (anchored, free)
    ]
    # A difference of two varies more than one model against the mean of five.
    assert all(about_anchor > 1.1 * about_mean for about_anchor, about_mean in zip(*widths, strict=True))


def test_no_battles_give_no_bounds():
    board = bradley_terry_bootstrap(played([], models=["X"]), Resampling(rounds=5))
    assert board.models[0].rating.value is None
    tells(board.models[0].rating.reason, "X", "no battles")


def test_no_round_is_refused():
    with refused(ValueError, "round", 0):
        Resampling(rounds=0)


def test_a_resample_far_from_the_data_is_fitted_by_itself():
    """With few rows a resample's curvature may be twice the data's, and steps borrowed from there would not settle."""
    table = drawn(rows=40, models=4, items=40, seed=11)
    solution = solve(table)
    resampling = Resampling(rounds=300, seed=6)
    compared = 0
    for strength, order in zip(
        resamples(solution, resampling).strength, resampled_items(table, resampling), strict=True
    ):
        if np.isnan(strength).any():
            continue
        compared += 1
        alone = solve(
            Comparisons(
                models=table.models, model_a=table.model_a[order], model_b=table.model_b[order], sign=table.sign[order]
            )
        )
        np.testing.assert_allclose(strength, alone.fit.strength, atol=1e-5)
    assert compared > 100
