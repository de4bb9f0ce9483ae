"""Ratings and their errors, recomputed by statsmodels.

Its cluster covariance has no correction for few or uneven clusters, so it is held against ours where both must agree:
many clusters of like weight.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.planted import judged as levels_judged
from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.ordinal import ordinal
from tests.stats.ratings.test_two_way import both, judged

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    sm: Any = pytest.importorskip("statsmodels.api")
    OrderedModel: Any = pytest.importorskip("statsmodels.miscmodels.ordinal_model").OrderedModel

APART = np.array([[1, -1, 0, 0], [1, 0, -1, 0], [1, 0, 0, -1], [0, 1, -1, 0], [0, 1, 0, -1], [0, 0, 1, -1]])
"""All differences of four models."""


def design(rows: Comparisons) -> np.ndarray:
    """The last model is the one that the others are held against."""
    found = np.zeros((len(rows), 4))
    found[np.arange(len(rows)), rows.model_a] = 1
    found[np.arange(len(rows)), rows.model_b] = -1
    return found[:, :3]


def logit(rows: Comparisons, groups: np.ndarray) -> Any:
    outcome = (rows.sign + 1) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sm.GLM(outcome, design(rows), family=sm.families.Binomial()).fit(
            cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
        )


def errors_of_differences(covariance: np.ndarray) -> np.ndarray:
    contrasts = APART if len(covariance) == 4 else APART[:, :3]
    return np.sqrt(np.einsum("ci,ij,cj->c", contrasts, covariance, contrasts))


def test_ratings_and_errors_by_item_are_those_of_a_clustered_logit():
    rows = judged(items=600, raters=2, rows=6)
    assert rows.item is not None
    theirs, ours = logit(rows, rows.item), solve(rows)
    np.testing.assert_allclose(APART @ ours.fit.strength, APART[:, :3] @ theirs.params, atol=1e-6)
    expected = errors_of_differences(np.asarray(theirs.cov_params()))
    found = errors_of_differences(spread(ours).covariance)
    np.testing.assert_allclose(found, expected, rtol=0.01)
    alone = errors_of_differences(np.asarray(logit(rows, np.arange(len(rows))).cov_params()))
    assert (np.abs(expected / alone - 1) > 0.05).any(), "clusters matter here, so the agreement says something"


def test_errors_by_item_and_rater_are_those_of_a_two_way_clustered_logit():
    rows = judged(items=600, raters=150, rows=6)
    rng = np.random.default_rng(0)
    rows = replace(rows, rater=rng.integers(0, 150, len(rows)).astype(np.int32))
    assert rows.item is not None
    assert rows.rater is not None
    theirs = logit(rows, np.column_stack((rows.item, rows.rater)))
    expected = errors_of_differences(np.asarray(theirs.cov_params()))
    found = errors_of_differences(spread(solve(both(rows))).covariance)
    np.testing.assert_allclose(found, expected, rtol=0.03)


def test_five_levels_are_an_ordered_logit():
    """Each row stands once from either side, so that an ordered logit with free thresholds finds symmetric ones."""
    rows = levels_judged(np.random.default_rng(2), 60, levels=5)
    assert rows.value is not None
    assert rows.first is not None
    ours = ordinal(rows).levels
    assert ours is not None
    assert ours.order is not None
    seen = np.column_stack((design(rows), rows.first))
    both_sides = np.concatenate((rows.value, -rows.value)) + 2, np.concatenate((seen, -seen))
    theirs = OrderedModel(*both_sides, distr="logit").fit(method="bfgs", disp=False, gtol=1e-8, maxiter=500)
    assert theirs.params[:4] == pytest.approx(
        [*(ours.board.solution.fit.strength[:3] - ours.board.solution.fit.strength[3]), ours.order.natural.value],
        abs=1e-4,
    )
    cuts = OrderedModel(*both_sides, distr="logit").transform_threshold_params(theirs.params)[1:-1]
    near, far = (one.lead.value for one in ours.thresholds)
    assert near is not None
    assert far is not None
    assert cuts == pytest.approx([-far, -near, near, far], abs=1e-4)
