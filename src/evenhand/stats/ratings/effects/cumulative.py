"""Maximum likelihood of verdicts with ordered levels: strengths, an order effect and the thresholds between levels.

The cumulative logit for paired comparisons (Agresti 1992, Applied Statistics 41, 287): a verdict lies above a cut c
with probability 1 / (1 + exp(c - d)), d being the difference of the strengths plus the order effect towards the model
shown first. Cuts lie symmetrically around 0, since exchanging the sides must exchange the levels; so the order effect
is told from them. With a = d - lower cut and b = d - upper cut, and h their distance, the probability of the level
between is (1 - exp(-h)) / ((1 + exp(-a)) (1 + exp(b))): its logarithm is concave in all parameters.
"""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, centred_inverse, laplacian, spread_over_models
from evenhand.stats.ratings.bradley_terry.score_cells import Factor
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import PairTable

_ITERATIONS = 100
_STEP = 1e-10
_RUNAWAY = 200.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Levels:
    """Which cuts each table row's verdict lies between. A size of verdict that never occurs is no level."""

    lower: FloatArray
    """Rows x K: the lower cut is this times the thresholds. All 0 where it is 0 or minus infinity."""
    upper: FloatArray
    lowest: FloatArray
    """Minus infinity where nothing lies below, else 0."""
    highest: FloatArray
    start: FloatArray
    """Thresholds of models that are all alike."""


def levels(value: FloatArray, weight: FloatArray) -> Levels:
    """`value` is positive for the row's `first`. Thresholds are those between sizes that occur, from tie upwards."""
    sizes, rank = np.unique(np.abs(value), return_inverse=True)
    steps = len(sizes) - 1
    units, none = np.eye(steps), np.zeros((1, steps))
    inner, outer = np.concatenate((none, units))[rank], np.concatenate((units, none))[rank]
    beyond = np.array([weight[rank > step].sum() for step in range(steps)]) / (2 * float(weight.sum()))
    return Levels(
        lower=np.where((value > 0)[:, None], inner, -outer),
        upper=np.where((value < 0)[:, None], -inner, outer),
        lowest=np.where((value < 0) & (rank == steps), -np.inf, 0.0),
        highest=np.where((value > 0) & (rank == steps), np.inf, 0.0),
        start=np.log((1 - beyond) / beyond),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cumulative:
    """A fit in natural units."""

    parameters: FloatArray
    """Strengths with mean 0 within each group, then slopes of the covariates, then thresholds."""
    information: FloatArray
    scores: FloatArray
    """Rows x (1 + K): slope of a row's log-likelihood by its difference, then by each threshold."""
    factors: tuple[Factor, ...]
    """Of each row's curvature: above its lower cut, below its upper one, and the gap between."""
    log_likelihood: float


def fit_cumulative(table: PairTable, of: Levels, gauge: IntArray) -> Cumulative:
    """Newton's method. Raises NoFiniteFit where it finds no maximum at finite parameters."""
    width = table.models + table.covariates.shape[1]
    parameters = np.concatenate((np.zeros(width), of.start))
    here = _at(table, of, parameters)
    for _ in range(_ITERATIONS):
        step = centred_inverse(here.information, gauge) @ _gradient(table, here.scores)
        here = _uphill(table, of, here, step)
        taken = float(np.abs(here.parameters - parameters).max(initial=0.0))
        parameters = here.parameters
        if float(np.abs(parameters).max(initial=0.0)) > _RUNAWAY:
            break
        if taken < _STEP:
            return here
    raise NoFiniteFit("The ratings do not settle: the likelihood has no finite maximum.")


def _uphill(table: PairTable, of: Levels, here: Cumulative, step: FloatArray) -> Cumulative:
    """Halved until thresholds keep their order and the likelihood does not fall by more than rounding."""
    lowest = here.log_likelihood - 1e-12 * (1 + abs(here.log_likelihood))
    first = table.models + table.covariates.shape[1]
    while True:
        parameters = here.parameters + step
        small = float(np.abs(step).max(initial=0.0)) < _STEP
        if bool((np.diff(parameters[first:], prepend=0.0) > 0).all()):
            there = _at(table, of, parameters)
            if there.log_likelihood >= lowest or small:
                return there
        elif small:
            return here
        step = step / 2


def _at(table: PairTable, of: Levels, parameters: FloatArray) -> Cumulative:
    count = table.counts.sum(axis=1)
    models, extra = table.models, table.covariates.shape[1]
    strength, slopes, thresholds = np.split(parameters, [models, models + extra])
    lead = strength[table.first] - strength[table.second] + table.covariates @ slopes
    lower, upper = of.lower @ thresholds + of.lowest, of.upper @ thresholds + of.highest
    above, below = _logistic(lower - lead), _logistic(lead - upper)
    # A distance beyond 50 changes nothing more; an infinite one would make 0 times infinity.
    distance = np.minimum(upper - lower, 50.0)
    open_ended = ~np.isfinite(upper - lower)
    log_gap = np.where(open_ended, 0.0, np.log(-np.expm1(-distance)))
    gap = np.where(open_ended, 0.0, 1 / np.expm1(distance))
    by_lead = above - below
    by_threshold = (below + gap)[:, None] * of.upper - (above + gap)[:, None] * of.lower
    log_probability = log_gap - np.logaddexp(0.0, lower - lead) - np.logaddexp(0.0, lead - upper)
    apart = np.column_stack((np.zeros_like(table.covariates), of.upper - of.lower))
    factors = (
        Factor(size=above * (1 - above), lead=True, extras=np.column_stack((table.covariates, -of.lower))),
        Factor(size=below * (1 - below), lead=True, extras=np.column_stack((table.covariates, -of.upper))),
        Factor(size=gap * (1 + gap), lead=False, extras=apart),
    )
    return Cumulative(
        parameters=parameters,
        information=_information(table, factors),
        scores=np.column_stack((by_lead, by_threshold)),
        factors=factors,
        log_likelihood=float(count @ log_probability),
    )


def _information(table: PairTable, factors: tuple[Factor, ...]) -> FloatArray:
    """Minus the second derivatives."""
    count, models = table.counts.sum(axis=1), table.models
    width = models + factors[0].extras.shape[1]
    found = np.zeros((width, width))
    for one in factors:
        size = count * one.size
        found[models:, models:] += one.extras.T @ (size[:, None] * one.extras)
        if one.lead:
            found[:models, :models] += laplacian(table, size)
            edge = np.array([spread_over_models(table, size * column) for column in one.extras.T]).reshape(-1, models)
            found[models:, :models] += edge
            found[:models, models:] += edge.T
    return found


def _gradient(table: PairTable, scores: FloatArray) -> FloatArray:
    count = table.counts.sum(axis=1)
    pull = count * scores[:, 0]
    return np.concatenate((spread_over_models(table, pull), table.covariates.T @ pull, count @ scores[:, 1:]))


def _logistic(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-np.logaddexp(0.0, -x)), dtype=np.float64)
