"""Claims about fits that covariates drive to infinity."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, Ties
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.bradley_terry.unbounded_fits import (
    NoFit,
    covariate_fit,
    limits,
    proven_slope,
    table_within_groups,
    unbounded_sides,
)
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.order import order_effect
from evenhand.stats.ratings.effects.ordinal import ordinal
from tests.examples import examples
from tests.refusals import noted
from tests.stats.ratings.showings import shown

X_WON_OR_TIED = [("X", "Y", 1), ("X", "Y", 0)] * 5
Y_WON_OR_TIED = [("Y", "X", 1), ("Y", "X", 0)] * 5


def drawn_fits(count: int) -> Iterator[tuple[Comparisons, np.ndarray]]:
    """Few rows and strong effects: many of them separable."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        models, rows = int(rng.integers(2, 6)), int(rng.integers(6, 40))
        one = rng.integers(0, models, rows)
        other = (one + rng.integers(1, models, rows)) % models
        columns = rng.choice([-1.0, 1.0], (rows, 2))
        lead = rng.normal(0, 1.5, models)
        chance = 1 / (1 + np.exp(-(lead[one] - lead[other] + columns @ rng.normal(0, 3, 2))))
        sign = np.where(rng.random(rows) < chance, 1, -1) * (rng.random(rows) > 0.1)
        yield (
            Comparisons(
                models=tuple(map(str, range(models))), model_a=one.astype(np.int32), model_b=other.astype(np.int32),
                sign=sign.astype(np.int8),
            ),
            columns,
        )  # fmt: skip


@pytest.mark.drawn
@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_a_fit_is_given_exactly_where_no_direction_leads_to_infinity(ties: Ties):
    believed, count = 0, examples(150)
    for rows, columns in drawn_fits(count):
        table = table_within_groups(rows, columns)
        found = covariate_fit(rows, columns, ties=ties)
        separable = any(unbounded_sides(limits(table)))
        if isinstance(found, NoFit):
            assert any(found.sides) == separable
        else:
            assert not separable
            assert float(np.abs(found.fit.slopes).max()) < 15
            believed += 1
    assert 1 / 8 < believed / count < 15 / 16


@pytest.mark.slow
def test_a_search_that_comes_to_rest_far_out_is_not_believed():
    """Newton's steps end also where rounding hides what would still change."""
    deceived = 0
    for rows, columns in drawn_fits(80):
        try:
            alone = solve(rows, ties="davidson", covariates=columns)
        except NoFiniteFit:
            continue
        if alone.fit.log_tie is not None and any(unbounded_sides(limits(alone.grouped.table, with_ties=True))):
            deceived += 1
            found = covariate_fit(rows, columns, ties="davidson")
            assert isinstance(found, NoFit) or found.fit.log_tie is None
    assert deceived


def test_davidsons_ties_may_grow_with_the_order_effect_where_halves_hold_it():
    rows = shown(X_WON_OR_TIED + Y_WON_OR_TIED)
    table = table_within_groups(rows, np.ones((20, 1)))
    assert unbounded_sides(limits(table, with_ties=True)) == ("upper", "upper")
    assert unbounded_sides(limits(table)) == (None,)
    found = order_effect(rows, ties="davidson")
    # Three quarters of the points for the first place.
    assert found.overall.natural.value == pytest.approx(math.log(3))
    assert found.after is not None
    assert noted(found.after.notes, "Davidson's", "half a win")


def test_both_sides_are_open_where_the_covariate_bears_on_nothing():
    rows = shown([("X", "Y", 1), ("Y", "X", 1), ("X", "Y", 0)])
    columns = np.column_stack((np.zeros(3), np.ones(3)))
    table = table_within_groups(replace(rows, sign=np.ones(3, np.int8)), columns)
    sides = unbounded_sides(limits(table))
    assert sides == ("both", "upper")
    assert NoFit(sides=sides).why(0) == "The verdicts agree with an effect of any size: it has no bounds."
    assert NoFit(sides=("upper", None)).why(1) == "Another effect fitted with it has no bounds."
    assert proven_slope(rows, np.ones(3), "both", 0.95) is None


def test_a_bound_that_proves_nothing_is_not_told():
    # One verdict among thousands of times its weight: its item counts for next to nothing.
    rows = shown([("X", "Y", 1), ("Y", "X", 1), ("Y", "X", -1)])
    effect = order_effect(replace(rows, weight=np.array([1.0, 1e10, 1e10]))).overall.natural
    assert (effect.value, effect.lower, effect.upper) == (None, None, None)
    assert effect.reason is not None


@pytest.mark.drawn
def test_levels_are_given_a_fit_exactly_where_no_direction_leads_to_infinity():
    rng = np.random.default_rng(1)
    given, count = 0, examples(100)
    for _ in range(count):
        rows = [("X", "Y") if heads else ("Y", "X") for heads in rng.random(int(rng.integers(4, 20))) < 0.5]
        verdicts = np.clip(np.rint(rng.normal(1.5, 1.2, len(rows))), -2, 2).astype(int).tolist()
        found = ordinal(shown([(*pair, value) for pair, value in zip(rows, verdicts, strict=True)], five=True))
        assert (found.levels is None) == (found.reason is not None)
        if found.levels is not None:
            assert float(np.abs(found.levels.board.solution.fit.slopes).max(initial=0)) < 12
            given += 1
    assert 1 / 12 < given / count < 1
