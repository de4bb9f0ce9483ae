"""Whether covariates drive a fit to infinity, which of them, and what is proven all the same.

A likelihood of this kind has a finite maximum if and only if no direction of the parameters, other than one that moves
no comparison, makes no verdict less probable (Albert and Anderson 1984, Biometrika 71, 1). Directions are found by
linear programming, only where a fit failed or went suspiciously far.
"""

import importlib
import math
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, Ties, spread_over_models
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import effective_clusters
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable, pair_table

Side: TypeAlias = Literal["upper", "lower", "both"]

_FAR = 15.0
"""Log-odds beyond which a fit may have come to rest only because nothing more can be seen to change."""
_FLAT = 1e-5
_ENDLESS = 30.0
"""Log-odds that no count of verdicts tells from infinite ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoFit:
    """Why a fit with covariates has no single finite maximum."""

    sides: tuple[Side | None, ...]
    """Of each covariate's slope: where it has no bound. All None: the data do not tell them from the strengths."""

    def why(self, column: int) -> str:
        side = self.sides[column]
        if side == "both":
            return "The verdicts agree with an effect of any size: it has no bounds."
        if side is not None:
            size = "large" if side == "upper" else "low"
            return f"The verdicts agree with an effect as {size} as one likes: no {side} bound."
        if any(self.sides):
            return "Another effect fitted with it has no bounds."
        return "The verdicts do not tell it from the models' strengths."


def covariate_fit(comparisons: Comparisons, covariates: FloatArray, *, ties: Ties = "half") -> Solution | NoFit:
    """Where Davidson's model has no finite fit and ties as halves have one, it is that one, as in `solve`."""
    found = _attempt(comparisons, covariates, ties)
    if found is None and ties == "davidson":
        half = _attempt(comparisons, covariates, "half")
        found = None if half is None else replace(half, ties_asked=ties)
    if found is not None:
        return found
    table = table_within_groups(comparisons, covariates)
    return NoFit(sides=unbounded_sides(limits(table)))


def table_within_groups(comparisons: Comparisons, covariates: FloatArray) -> PairTable:
    """Of the comparisons between models whose strengths differ by a finite number."""
    weighted = np.ones(len(comparisons), np.bool_) if comparisons.weight is None else comparisons.weight > 0
    comparisons = comparisons.rows(weighted)
    group = solve(comparisons).structure.group
    inside = group[comparisons.model_a] == group[comparisons.model_b]
    return pair_table(comparisons.rows(inside), covariates[weighted][inside]).table


def _attempt(comparisons: Comparisons, covariates: FloatArray, ties: Ties) -> Solution | None:
    try:
        found = solve(comparisons, ties=ties, covariates=covariates)
    except NoFiniteFit:
        return None
    table = found.grouped.table
    if float(np.abs(found.fit.differences(table)).max(initial=0.0)) > _FAR:
        sides = unbounded_sides(limits(table, with_ties=found.fit.log_tie is not None))
        return None if any(sides) else found
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeparationLimits:
    """Along a direction no verdict becomes less probable if and only if it keeps within all of these.

    Each one: (the step of `above` - the step of `below`) + `extras` . (the steps of the other parameters) >= 0.
    """

    models: int
    above: Codes
    below: Codes
    extras: FloatArray

    def matrix(self) -> Any:
        from scipy.sparse import csr_array

        count, width = len(self.above), int(self.extras.shape[1])
        places = np.tile(np.arange(self.models, self.models + width, dtype=np.int64), (count, 1))
        columns = np.column_stack((self.above, self.below, places))
        values = np.column_stack((np.ones(count), -np.ones(count), self.extras))
        rows = np.repeat(np.arange(count, dtype=np.int64), width + 2)
        return csr_array((values.ravel(), (rows, columns.ravel())), shape=(count, self.models + width))


def limits(table: PairTable, *, with_ties: bool = False) -> SeparationLimits:
    """The extras are the covariates and, `with_ties`, Davidson's log(nu); without, a tie is half a win and a loss."""
    won, tied, lost = (table.counts[:, outcome] > 0 for outcome in (WIN, TIE, LOSS))
    one, other, covariates = table.first, table.second, table.covariates
    if not with_ties:
        up, down = won | tied, lost | tied
        return SeparationLimits(
            models=table.models,
            above=np.concatenate((one[up], other[down])),
            below=np.concatenate((other[up], one[down])),
            extras=np.concatenate((covariates[up], -covariates[down])),
        )
    # A win keeps its odds if neither loss nor tie gains on it: d >= -d and d >= 2 log(nu); a tie if |d| <= 2 log(nu).
    kinds = ((won, 1, 0.0), (won, 1, -2.0), (lost, -1, 0.0), (lost, -1, -2.0), (tied, 1, 2.0), (tied, -1, 2.0))
    return SeparationLimits(
        models=table.models,
        above=np.concatenate([(one if sign > 0 else other)[rows] for rows, sign, _ in kinds]),
        below=np.concatenate([(other if sign > 0 else one)[rows] for rows, sign, _ in kinds]),
        extras=np.concatenate(
            [np.column_stack((sign * covariates[rows], np.full(int(rows.sum()), tie))) for rows, sign, tie in kinds]
        ),
    )


def unbounded_sides(within: SeparationLimits) -> tuple[Side | None, ...]:
    """Where each of the extras has no bound; all None where no direction moves a verdict."""
    # Typed stubs of scipy leave these half unknown.
    optimize: Any = importlib.import_module("scipy.optimize")
    matrix, extras = within.matrix(), within.extras.shape[1]

    def furthest(towards: FloatArray) -> FloatArray:
        at_least = {"A_ub": -matrix, "b_ub": np.zeros(len(within.above))}
        found = optimize.linprog(-towards, **at_least, bounds=(-1, 1), method="highs")
        return np.asarray(found.x, dtype=np.float64)

    anywhere = furthest(np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel())
    if float((matrix @ anywhere).max(initial=0.0)) < _FLAT:
        return (None,) * extras
    units = np.eye(within.models + extras)[within.models :]
    return tuple(
        _side(up=float(furthest(unit) @ unit) > _FLAT, down=float(furthest(-unit) @ unit) < -_FLAT) for unit in units
    )


def _side(*, up: bool, down: bool) -> Side | None:
    return "both" if up and down else "upper" if up else "lower" if down else None


def proven_slope(comparisons: Comparisons, covariate: FloatArray, side: Side, level: float) -> float | None:
    """The bound of a slope that has none on `side`, in natural units: the other end of its interval.

    Beyond it the verdicts would be less probable than the tail, compared with the best that any slope makes of them,
    the strengths free to follow. Verdicts count as many cases as there are effective items. None where nothing
    worth telling is proven.
    """
    if side == "both":
        return None
    towards = 1.0 if side == "upper" else -1.0
    table = table_within_groups(comparisons, towards * covariate[:, None])
    size = float(np.abs(table.covariates).max(initial=0.0)) or 1.0
    cases = effective_clusters(comparisons) / comparisons.total
    profile = _Profile(replace(table, counts=table.counts * cases))
    lowest = profile.at(_ENDLESS / size) + math.log((1 - level) / 2)

    def above(slope: float) -> float:
        return profile.at(slope) - lowest

    low = 0.0
    while above(low) > 0:
        low = 2 * low - 1 / size
        if low < -_ENDLESS / size:
            return None
    optimize: Any = importlib.import_module("scipy.optimize")
    return towards * float(optimize.brentq(above, low, _ENDLESS / size, xtol=1e-9))


class _Profile:
    """The highest log-likelihood that strengths reach with a given slope; a search begins where the last one ended."""

    def __init__(self, table: PairTable) -> None:
        self._table = table
        self._strength = np.zeros(table.models)

    def at(self, slope: float) -> float:
        optimize: Any = importlib.import_module("scipy.optimize")
        table, offset = self._table, slope * self._table.covariates[:, 0]
        won, lost = (table.counts[:, outcome] + table.counts[:, TIE] / 2 for outcome in (WIN, LOSS))

        def loss(strength: FloatArray) -> tuple[float, FloatArray]:
            gap = strength[table.first] - strength[table.second] + offset
            log_loss = -np.logaddexp(0.0, gap)
            pull = won - (won + lost) * np.exp(log_loss + gap)
            return -float(won @ (log_loss + gap) + lost @ log_loss), -spread_over_models(table, pull)

        closely = {"ftol": 1e-14, "gtol": 1e-9}
        found = optimize.minimize(loss, self._strength, jac=True, method="L-BFGS-B", options=closely)
        self._strength = np.asarray(found.x, dtype=np.float64)
        return -float(found.fun)
