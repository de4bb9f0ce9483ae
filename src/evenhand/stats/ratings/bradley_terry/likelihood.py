"""Maximum likelihood of paired comparisons: strengths, slopes of covariates and, by Davidson's model, ties.

A comparison with difference d = strength(first) - strength(second) + covariates . slopes is won with probability
1 / (1 + exp(-d)) (Bradley and Terry 1952, Biometrika 39, 324), a tie counting as half a win and half a loss. Davidson
(1970, J. Am. Stat. Assoc. 65, 317): win, loss and tie are as exp(d/2) : exp(-d/2) : nu.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable

Ties: TypeAlias = Literal["half", "davidson"]
Gauge: TypeAlias = npt.NDArray[np.int64]

_NOTHING = 1e-9
"""Of the largest: an axis of the inverse information along which nothing is told."""
_ITERATIONS = 100
_STEP = 1e-10
_RUNAWAY = 200.0
_ENTANGLED = 1e10


class NoFiniteFit(ArithmeticError):
    """The likelihood has no maximum at finite parameters, or none that these data single out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Natural units: a strength of 1 more makes the odds of winning e times as high."""

    strength: FloatArray
    """Mean 0 within each gauge group."""
    slopes: FloatArray
    log_tie: float | None
    """Davidson's log(nu); None where ties are halves."""
    information: FloatArray
    """Minus the second derivatives at the maximum: models, then slopes, then log_tie."""
    log_likelihood: float

    def differences(self, table: PairTable) -> FloatArray:
        return self.strength[table.first] - self.strength[table.second] + table.covariates @ self.slopes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LikelihoodSlopes:
    """Of each table row's log-likelihood for a loss, a tie and a win (rows x 3), and its curvature (rows)."""

    by_difference: FloatArray
    by_log_tie: FloatArray | None
    curvature: FloatArray
    curvature_mixed: FloatArray | None
    curvature_tie: FloatArray | None
    log_probability: FloatArray


def fit(table: PairTable, *, gauge: Gauge, ties: Ties = "half", near: FloatArray | None = None) -> Fit:
    """Newton's method from equal strengths, or from those `near`, where a fit of nearly the same table ended, if they
    are the likelier: from strengths that the table speaks against the first step can go where the likelihood is flat.

    `gauge` numbers, for each model, the group within which its strength is told: mean 0 there. Every table row must lie
    within one group. Raises NoFiniteFit where the likelihood has no single finite maximum.
    """
    models, extra = table.models, table.covariates.shape[1]
    with_ties = ties == "davidson"
    parameters = np.zeros(models + extra + with_ties)
    unknown = _unknown(gauge)
    here = _slopes(table, parameters, with_ties)
    reached = _log_likelihood(table, here)
    if near is not None:
        begun = parameters.copy()
        begun[:models] = near - unknown @ near
        there = _slopes(table, begun, with_ties)
        if (likelier := _log_likelihood(table, there)) > reached:
            parameters, here, reached = begun, there, likelier
    if extra:
        _refuse_entangled(_information(table, here), gauge)
    for _ in range(_ITERATIONS):
        step = _solved(_information(table, here), _gradient(table, here), unknown)
        taken, here, reached = _uphill(table, parameters, step, reached)
        parameters = parameters + taken
        # Without covariates the groups of models have settled that there is a maximum, however far out.
        if extra and float(np.abs(parameters).max(initial=0.0)) > _RUNAWAY:
            break
        if float(np.abs(taken).max(initial=0.0)) < _STEP:
            return Fit(
                strength=parameters[:models],
                slopes=parameters[models : models + extra],
                log_tie=float(parameters[-1]) if with_ties else None,
                information=_information(table, here),
                log_likelihood=reached,
            )
    raise NoFiniteFit("The ratings do not settle: the likelihood has no finite maximum.")


def slopes_at(table: PairTable, fitted: Fit) -> LikelihoodSlopes:
    tie = [] if fitted.log_tie is None else [fitted.log_tie]
    return _slopes(table, np.concatenate((fitted.strength, fitted.slopes, tie)), fitted.log_tie is not None)


def log_win_probability(difference: FloatArray, log_tie: float | None) -> FloatArray:
    at = _half(difference) if log_tie is None else _davidson(difference, log_tie)
    return at.log_probability[:, WIN]


def centred_inverse(information: FloatArray, gauge: Gauge) -> FloatArray:
    """The inverse on the space where strengths have mean 0 in each gauge group."""
    constant, size = _constant_direction(information, _unknown(gauge))
    try:
        inverse = np.linalg.inv(information + size * constant)
    except np.linalg.LinAlgError as singular:
        raise NoFiniteFit("The data do not tell the parameters apart.") from singular
    return np.asarray(inverse - constant / size, dtype=np.float64)


def square_roots(inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R and W with R R' = inverse and W' inverse W = 1, without the axes along which nothing is told."""
    size, axes = np.linalg.eigh(inverse)
    kept = size > _NOTHING * size.max(initial=0.0)
    return axes[:, kept] * np.sqrt(size[kept]), axes[:, kept] / np.sqrt(size[kept])


def centred(covariance: FloatArray, gauge: Gauge) -> FloatArray:
    """Against the mean of each gauge group."""
    belongs = np.equal.outer(np.unique(gauge), gauge).astype(np.float64)
    share = belongs / belongs.sum(axis=1, keepdims=True)
    found = covariance - belongs.T @ (share @ covariance)
    return found - (found @ share.T) @ belongs


def _solved(information: FloatArray, gradient: FloatArray, unknown: FloatArray) -> FloatArray:
    constant, size = _constant_direction(information, unknown)
    try:
        return np.asarray(np.linalg.solve(information + size * constant, gradient), dtype=np.float64)
    except np.linalg.LinAlgError as singular:
        raise NoFiniteFit("The data do not tell the parameters apart.") from singular


def _unknown(gauge: Gauge) -> FloatArray:
    """The projection on what the data cannot tell: a shift of a whole group."""
    return (gauge[:, None] == gauge[None, :]) / np.bincount(gauge)[gauge]


def _constant_direction(information: FloatArray, unknown: FloatArray) -> tuple[FloatArray, float]:
    """That projection on the space of all parameters, and a size that keeps it in proportion."""
    models = len(unknown)
    constant = unknown
    if len(information) > models:
        constant = np.zeros_like(information)
        constant[:models, :models] = unknown
    return constant, float(np.diagonal(information)[:models].sum()) / max(models, 1) or 1.0


def _refuse_entangled(information: FloatArray, gauge: Gauge) -> None:
    """A covariate that follows from the models alone would be solved for all the same, out of rounding errors."""
    constant, size = _constant_direction(information, _unknown(gauge))
    scale = np.sqrt(np.maximum(np.diagonal(information + size * constant), 1e-300))
    if float(np.linalg.cond((information + size * constant) / np.outer(scale, scale))) > _ENTANGLED:
        raise NoFiniteFit("The data do not tell the covariates from the models' strengths.")


def _uphill(
    table: PairTable, parameters: FloatArray, step: FloatArray, reached: float
) -> tuple[FloatArray, LikelihoodSlopes, float]:
    """The step, halved until the likelihood does not fall by more than rounding."""
    with_ties = len(parameters) > table.models + table.covariates.shape[1]
    lowest = reached - 1e-12 * (1 + abs(reached))
    while True:
        here = _slopes(table, parameters + step, with_ties)
        now = _log_likelihood(table, here)
        if now >= lowest or float(np.abs(step).max(initial=0.0)) < _STEP:
            return step, here, now
        step = step / 2


def _slopes(table: PairTable, parameters: FloatArray, with_ties: bool) -> LikelihoodSlopes:
    models, extra = table.models, table.covariates.shape[1]
    strength, slopes = parameters[:models], parameters[models : models + extra]
    difference = strength[table.first] - strength[table.second]
    if extra:
        difference = difference + table.covariates @ slopes
    return _davidson(difference, float(parameters[-1])) if with_ties else _half(difference)


def _half(difference: FloatArray) -> LikelihoodSlopes:
    log_loss = -np.logaddexp(0.0, difference)
    log_win = log_loss + difference
    win = np.exp(log_win)
    loss = np.exp(log_loss)
    return LikelihoodSlopes(
        by_difference=np.stack((-win, 0.5 - win, loss), axis=1),
        by_log_tie=None,
        curvature=win * loss,
        curvature_mixed=None,
        curvature_tie=None,
        log_probability=np.stack((log_loss, (log_loss + log_win) / 2, log_win), axis=1),
    )


def _davidson(difference: FloatArray, log_tie: float) -> LikelihoodSlopes:
    logits = np.stack((-difference / 2, np.full_like(difference, log_tie), difference / 2), axis=1)
    logits -= logits.max(axis=1, keepdims=True)
    log_probability = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    probability = np.exp(log_probability)
    loss, tie, win = probability[:, LOSS], probability[:, TIE], probability[:, WIN]
    expected = win - loss
    return LikelihoodSlopes(
        by_difference=0.5 * (np.array([-1.0, 0.0, 1.0]) - expected[:, None]),
        by_log_tie=np.array([0.0, 1.0, 0.0]) - tie[:, None],
        curvature=0.25 * (win + loss - expected**2),
        curvature_mixed=-0.5 * expected * tie,
        curvature_tie=tie * (1 - tie),
        log_probability=log_probability,
    )


def _log_likelihood(table: PairTable, here: LikelihoodSlopes) -> float:
    return float(np.einsum("ro,ro->", table.counts, here.log_probability))


def _gradient(table: PairTable, here: LikelihoodSlopes) -> FloatArray:
    pull = np.einsum("ro,ro->r", table.counts, here.by_difference)
    parts = [spread_over_models(table, pull), table.covariates.T @ pull]
    if here.by_log_tie is not None:
        parts.append(np.array([np.einsum("ro,ro->", table.counts, here.by_log_tie)]))
    return np.concatenate(parts)


def spread_over_models(table: PairTable, of_rows: FloatArray) -> FloatArray:
    """Each model's sum: a row counts for its `first` and against its `second`."""
    return summed(table.first, of_rows, table.models) - summed(table.second, of_rows, table.models)


def laplacian(table: PairTable, of_rows: FloatArray) -> FloatArray:
    """The sum over rows of of_rows x x', x being +1 at `first` and -1 at `second`."""
    models = table.models
    pairs = table.first.astype(np.int64) * models + table.second
    off = summed(pairs, of_rows, models * models).reshape(models, models)
    off += off.T
    return np.diag(off.sum(axis=1)) - off


def _information(table: PairTable, here: LikelihoodSlopes) -> FloatArray:
    counted = table.counts.sum(axis=1)
    models, covariates = table.models, table.covariates
    after = models + covariates.shape[1]
    size = after + (here.curvature_tie is not None)
    curvature = counted * here.curvature
    if size == models:
        return laplacian(table, curvature)
    lower = np.zeros((size, size))
    lower[:models, :models] = laplacian(table, curvature)
    for column in range(after - models):
        lower[models + column, :models] = spread_over_models(table, curvature * covariates[:, column])
    lower[models:after, models:after] = covariates.T @ (curvature[:, None] * covariates)
    if here.curvature_mixed is not None and here.curvature_tie is not None:
        mixed = counted * here.curvature_mixed
        lower[-1, :models] = spread_over_models(table, mixed)
        lower[-1, models:after] = covariates.T @ mixed
        lower[-1, -1] = counted @ here.curvature_tie
    return np.tril(lower) + np.tril(lower, -1).T
