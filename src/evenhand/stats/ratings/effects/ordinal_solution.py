"""Strengths from verdicts with levels, as far as the data determine them."""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.stats.ratings.bradley_terry.components import Structure, structure
from evenhand.stats.ratings.bradley_terry.covariance import Covariance, spread_of
from evenhand.stats.ratings.bradley_terry.likelihood import Fit, NoFiniteFit, centred_inverse
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores, Factor, distinct_pairs
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.bradley_terry.two_way import cluster_scores
from evenhand.stats.ratings.bradley_terry.unbounded_fits import SeparationLimits, unbounded_sides
from evenhand.stats.ratings.codes import Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.cumulative import Cumulative, Levels, fit_cumulative, levels
from evenhand.stats.ratings.effects.order_columns import in_both_orders, orders
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import Grouped, PairTable, pair_table

_FAR = 15.0
"""Log-odds beyond which a fit may have come to rest only because nothing more can be seen to change."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrdinalSolution:
    solution: Solution
    """Its slopes are the order effect, if fitted, then the thresholds."""
    spread: Covariance
    with_order: bool
    sizes: tuple[int, ...]
    """Of each threshold: the smallest verdict beyond it."""


def ordinal_solution(seen: Comparisons, value: Signs) -> OrdinalSolution | str:
    """`value` is positive for model_a. A sentence where there is no finite fit."""
    found = _structure(seen, value)
    inside = found.group[seen.model_a] == found.group[seen.model_b]
    sizes = np.unique(np.abs(value[inside]))
    if not sizes.any():
        return "Every verdict between models that can be compared is a tie: the levels tell nothing."
    within = seen.rows(inside)
    of = orders(seen, found.group)
    with_order = bool(in_both_orders(of).any())
    order = of.first[inside] * with_order
    grouped = pair_table(within, np.column_stack((order, value[inside].astype(np.float64))))
    fitted = _fitted(grouped.table, found, with_order)
    if isinstance(fitted, str):
        return fitted
    solution = Solution(
        everything=seen,
        comparisons=within,
        grouped=replace(grouped, table=fitted.table),
        table=pair_table(seen).table,
        structure=found,
        fit=fitted.fit,
        ties_asked="half",
        # A model that cannot be placed has only verdicts of the outermost level, which lies beyond the last threshold.
        offset=of.first * fitted.order - np.sign(value) * fitted.last,
    )
    bread = centred_inverse(fitted.fit.information, found.group)
    scores = _item_scores(within, grouped, fitted, bread)
    return OrdinalSolution(
        solution=solution,
        spread=spread_of(solution, bread, scores),
        with_order=with_order,
        sizes=tuple(sizes[1:].tolist()),
    )


def _structure(seen: Comparisons, value: Signs) -> Structure:
    """Only verdicts of the outermost level leave a difference without bound; all others hold it from both sides.

    Without the verdicts between groups a lower level may be the outermost one: then it is looked at again.
    """
    size = np.abs(value)
    outermost = int(size.max(initial=0))
    while True:
        ends = np.where(size >= outermost, np.sign(value), 0).astype(np.int8)
        found = structure(pair_table(replace(seen, sign=ends, value=None)).table)
        inside = found.group[seen.model_a] == found.group[seen.model_b]
        now = int(size[inside].max(initial=0))
        if now in (0, outermost):
            return found
        outermost = now


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitted:
    table: PairTable
    """Its covariates are the order and, for each threshold, zeros: nothing is added to a lead by them."""
    fit: Fit
    scores: FloatArray
    factors: tuple[Factor, ...]
    order: float
    last: float


def _fitted(table: PairTable, found: Structure, with_order: bool) -> "_Fitted | str":
    of = levels(table.covariates[:, 1], table.counts.sum(axis=1))
    table = replace(table, covariates=table.covariates[:, : int(with_order)])
    try:
        best = fit_cumulative(table, of, found.group)
    except NoFiniteFit:
        return _why(table, of)
    if _far(table, best) and any(unbounded_sides(_limits(table, of))):
        return _why(table, of)
    slopes = best.parameters[table.models :]
    zeros = np.zeros((len(table), len(of.start)))
    return _Fitted(
        table=replace(table, covariates=np.column_stack((table.covariates, zeros))),
        fit=Fit(
            strength=best.parameters[: table.models],
            slopes=slopes,
            log_tie=None,
            information=best.information,
            log_likelihood=best.log_likelihood,
        ),
        scores=best.scores,
        factors=best.factors,
        order=float(slopes[0]) if with_order else 0.0,
        last=float(slopes[-1]) if len(of.start) else 0.0,
    )


def _far(table: PairTable, best: Cumulative) -> bool:
    strength, extras = best.parameters[: table.models], best.parameters[table.models :]
    apart = np.abs(strength[table.first] - strength[table.second])
    return float(apart.max(initial=0.0)) + float(np.abs(extras).max(initial=0.0)) > _FAR


def _limits(table: PairTable, of: Levels) -> SeparationLimits:
    """A level is as probable as ever if the lead gains on the cut below it, and the cut above gains on the lead."""
    low, high = np.isfinite(of.lowest), np.isfinite(of.highest)
    return SeparationLimits(
        models=table.models,
        above=np.concatenate((table.first[low], table.second[high])),
        below=np.concatenate((table.second[low], table.first[high])),
        extras=np.concatenate(
            (
                np.column_stack((table.covariates[low], -of.lower[low])),
                np.column_stack((-table.covariates[high], of.upper[high])),
            )
        ),
    )


def _why(table: PairTable, of: Levels) -> str:
    sides = unbounded_sides(_limits(table, of))
    with_order = table.covariates.shape[1] > 0
    named = ["the order effect"] if with_order and sides[0] else []
    named += ["the thresholds between levels"] if any(sides[int(with_order) :]) else []
    if not named:
        return "The verdicts' levels do not settle ratings, order effect and thresholds together."
    return f"The verdicts' levels have no finite fit: nothing bounds {' and '.join(named)}."


def _item_scores(within: Comparisons, grouped: Grouped, fitted: _Fitted, bread: FloatArray) -> ScoreVectors:
    """As the rows are clustered; without items every row is one."""
    table, scores = fitted.table, fitted.scores
    thresholds = scores.shape[1] - 1
    pairs, pair = distinct_pairs(table)
    extras = [scores[:, 0] * column for column in table.covariates.T[: table.covariates.shape[1] - thresholds]]
    cells = CellScores(
        pairs=pairs,
        pair=pair,
        pull=scores[:, 0],
        extras=(*extras, *scores.T[1:]),
        factors=fitted.factors,
    )
    if within.grouped_by is None:
        within = replace(within, cluster=np.arange(len(within), dtype=np.int32))
    return cluster_scores(cells, grouped.row, within, bread)
