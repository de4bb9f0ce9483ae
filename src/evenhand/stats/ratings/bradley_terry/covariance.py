"""How far fitted strengths may lie from the truth: their covariance, clustered by item, by rater or by both."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.intervals import LEVEL, UNSEEN, reaches
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import centred, centred_inverse, slopes_at, square_roots
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors, unclustered_scores
from evenhand.stats.ratings.bradley_terry.sandwich import summed_scores
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores, likelihood_cells
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.bradley_terry.two_way import cluster_scores
from evenhand.stats.ratings.by_item import cells_by_item
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import count_of
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import PairTable

_FLAT = 1e-9
"""A variance this small beside the model's own is rounding: the clusters do not differ at all."""

_SURELY = 1 - 1e-6
"""Of two numbers that may come out alike, and then a hair apart."""

_EVEN = 0.1
"""Of a vote told as a win and a loss: where the two are no further apart, by its weight, it decided nothing."""

_IMPLAUSIBLE = 3.09
"""Standard errors below: clusters of independent rows are so alike once in a thousand times."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Covariance:
    """Natural units squared, centred as the strengths are."""

    covariance: FloatArray
    """Models, then slopes, then log_tie; 0 between groups."""
    clustered: bool
    clusters: IntArray
    """Of each model: the clusters its group's fit rests on."""
    clusters_of: IntArray
    """Of each model: the clusters it appears in, of the first grouping."""
    crossed: int | None = None
    """Clusters of the second grouping, such as raters; None: there is none."""
    effective: FloatArray
    """Of each parameter: how many clusters of equal weight would tell as much; of two groupings, the fewer."""
    determined: BoolArray
    """Of each model: its group has more clusters than parameters, so a single strength may have an interval."""
    flat: bool
    """Something did (all but) not vary between clusters; along it each cluster was counted as one case."""
    unknown: BoolArray
    """M x M: the two models' difference did not vary between clusters, and these are too few to count as cases."""

    def errors_of_strengths(self) -> FloatArray:
        """Standard errors; NaN where a single strength may have none."""
        own = np.diagonal(self.covariance)[: len(self.clusters)]
        return np.where(self.determined, np.sqrt(np.maximum(own, 0.0)), np.nan)

    def errors_of_differences(self) -> FloatArray:
        """M x M standard errors; NaN where the clusters show no spread, and so nothing about it."""
        variance = _of_differences(self.covariance, len(self.clusters))
        return np.sqrt(np.where((variance > 0) & ~self.unknown, variance, np.nan))

    def reach_of_strengths(self, level: float = LEVEL) -> FloatArray:
        return reaches(self.effective[: len(self.clusters)], level)

    def reach_of_differences(self, level: float = LEVEL) -> FloatArray:
        """M x M: by the model of the two that rests on fewer clusters."""
        one = self.reach_of_strengths(level)
        return np.maximum(one[:, None], one[None, :])


def spread(solution: Solution, *, clustered: bool = True) -> Covariance:
    """The sandwich of scores that are each as if its cluster had had no say (`bench/coverage.py`: what it covers)."""
    table, seen = solution.grouped.table, solution.comparisons
    slopes = slopes_at(table, solution.fit)
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    if seen.vote is None:
        independent = by_model(table, np.einsum("ro,ro->r", table.squares, slopes.by_difference**2))
    else:
        independent = _of_votes(solution, _by_vote(seen, slopes.by_difference.ravel().take(solution.grouped.cell)) ** 2)
    if clustered and seen.grouped_by is not None:
        scores = _clustered(solution, likelihood_cells(table, slopes), bread)
    else:
        scores = unclustered_scores(table, slopes, bread, _rows_of(table, seen))
    return spread_of(solution, bread, scores, clustered=clustered, independent=independent)


def _clustered(solution: Solution, cells: CellScores, bread: FloatArray) -> ScoreVectors:
    """By sums where they are at hand, else row by row."""
    seen, grouped = solution.comparisons, solution.grouped
    plain = seen.crossed is None and not grouped.table.covariates.shape[1]
    sums = seen.once(cells_by_item) if plain else None
    found = None if sums is None else summed_scores(cells, sums, bread)
    return cluster_scores(cells, grouped.cell, seen, bread) if found is None else found


def _by_vote(seen: Comparisons, of_rows: FloatArray) -> FloatArray:
    """Summed over the rows that tell one vote, by their weights."""
    assert seen.vote is not None
    assert seen.weight is not None
    return summed(seen.vote, seen.weight * of_rows, int(seen.vote.max(initial=-1)) + 1)


def _of_votes(solution: Solution, of_votes: FloatArray) -> FloatArray:
    """Of each model, the sum over its votes."""
    seen = solution.comparisons
    assert seen.vote is not None
    of_model = np.zeros(len(seen.models))
    for side in (seen.model_a, seen.model_b):
        who = np.zeros(len(of_votes), dtype=np.int64)
        who[seen.vote] = side
        of_model += summed(who, of_votes, len(seen.models))
    return of_model


def _rows_of(table: PairTable, seen: Comparisons) -> IntArray:
    if seen.weight is None:
        return table.of_models().sum(axis=1).astype(np.int64)
    one, other = (np.bincount(side, minlength=table.models) for side in (seen.model_a, seen.model_b))
    return one + other


def spread_of(
    solution: Solution,
    bread: FloatArray,
    scores: ScoreVectors,
    *,
    clustered: bool = True,
    independent: FloatArray | None = None,
    clusters_by_group: IntArray | None = None,
) -> Covariance:
    """`independent`: of each model, its squared scores row by row; without it, what the fit expects them to be.

    `clusters_by_group`: on how many each group's fit rests, where the solution's own rows do not tell it.
    """
    group = solution.structure.group
    clusters = (_clusters_by_group(solution, clustered) if clusters_by_group is None else clusters_by_group)[group]
    covariance = bread @ scores.product @ bread
    covariance[: len(group), : len(group)] *= group[:, None] == group[None, :]
    determined = np.bincount(group, minlength=1)[group] - 1 + (len(bread) - len(group)) < clusters
    flat = _flat_pairs(covariance, bread, group)
    covariance = _with_floor(covariance, bread, flat & determined[:, None], _cases_per_cluster(solution, clusters))
    expected = np.diagonal(solution.fit.information)[: len(group)]
    alone = expected if independent is None else independent
    missing, still = _missing_of_models(solution, covariance, scores.clusters_of, alone)
    covariance[: len(group), : len(group)] += centred(np.diag(missing), group)
    crossed = solution.comparisons.crossed if clustered else None
    return Covariance(
        covariance=covariance,
        clustered=clustered,
        crossed=None if crossed is None else count_of(crossed),
        clusters=clusters,
        clusters_of=scores.clusters_of,
        effective=scores.effective,
        determined=determined,
        flat=bool((flat & determined[:, None]).any() or still.any()),
        unknown=flat & ~determined[:, None],
    )


def _of_differences(covariance: FloatArray, models: int) -> FloatArray:
    among = covariance[:models, :models]
    own = np.diagonal(among)
    return np.maximum(own[:, None] + own[None, :] - 2 * among, 0.0)


def _flat_pairs(covariance: FloatArray, bread: FloatArray, group: IntArray) -> BoolArray:
    models = len(group)
    comparable = (group[:, None] == group[None, :]) & ~np.eye(models, dtype=np.bool_)
    return comparable & (_of_differences(covariance, models) < _FLAT * _of_differences(bread, models))


def _cases_per_cluster(solution: Solution, clusters: IntArray) -> float:
    whole = float(solution.grouped.table.counts.sum())
    return max(whole / max(int(np.unique(clusters).sum()), 1), 1.0)


def _with_floor(covariance: FloatArray, bread: FloatArray, flat: BoolArray, cases: float) -> FloatArray:
    """Directions without spread get the model's own variance as if each cluster were one case.

    A judge who always prefers the first answer splits every item one to one: no item differs from another, and that is
    no proof that the models are equal. The same rule as a share's (see `intervals`).
    """
    if not flat.any():
        return covariance
    root, white = square_roots(bread)
    ratio, turn = np.linalg.eigh(white.T @ covariance @ white)
    missing = root @ turn[:, ratio < _FLAT]
    return covariance + cases * (missing @ missing.T)


def _missing_of_models(
    solution: Solution, covariance: FloatArray, clusters_of: IntArray, independent: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Of each model: the variance its clusters are too alike to show, and whether they show none to speak of.

    The clusters of a judge who mostly follows position split one to one but for a few, and where none or one of those
    few is among them the sandwich is next to nothing. Where a model's score varies less than independent rows plausibly
    would, it is taken to vary so much, or as if as many clusters had gone all one way as Wilson's bound of none seen
    allows, whichever is less; and where not one cluster's worth of that is seen, each cluster is one case.
    """
    models, table, information = len(clusters_of), solution.grouped.table, solution.fit.information
    shown = np.einsum("ij,ji->i", information @ covariance, information)[:models]
    own = np.diagonal(information)[:models]
    weight = by_model(table, table.counts.sum(axis=1))
    clusters = np.maximum(clusters_of, 1)
    one_way = own * weight / clusters**2
    plausible = _least_plausible(clusters) * independent
    unseen = clusters * UNSEEN / (clusters + UNSEEN)
    undecided = _undecided(solution, weight, independent)
    still = (shown < _SURELY * one_way) & (undecided | (shown < plausible))
    least = np.where(still, clusters * one_way, np.minimum(unseen * one_way, plausible))
    known = own > 0
    return np.where(known, np.maximum(least - shown, 0.0) / np.where(known, own, 1.0) ** 2, 0.0), still & known


def _undecided(solution: Solution, weight: FloatArray, independent: FloatArray) -> BoolArray:
    """Of each model: whether hardly a verdict of it decided anything. Ties count as halves.

    A soft verdict far from even decided, however little it varies: a judge that is never sure is none that mostly ties.
    """
    table, seen = solution.grouped.table, solution.comparisons
    own = np.diagonal(solution.fit.information)[: len(weight)]
    usual = by_model(table, table.squares.sum(axis=1)) / np.where(weight > 0, weight, 1.0)
    little = independent * weight < _SURELY * UNSEEN * own * usual**2
    if seen.vote is None:
        return little
    whole, lead = _by_vote(seen, np.ones(len(seen))), _by_vote(seen, seen.sign.astype(np.float64))
    return little & (_of_votes(solution, np.where(np.abs(lead) > _EVEN * whole, whole, 0.0)) < UNSEEN)


def _least_plausible(clusters: IntArray) -> FloatArray:
    """Of the variance of independent clusters, the share that so many show at least, by Wilson and Hilferty (1931)."""
    part = 2 / (9 * np.maximum(clusters - 1, 1))
    return np.maximum(1 - part - _IMPLAUSIBLE * np.sqrt(part), 0.2) ** 3


def by_model(table: PairTable, of_rows: FloatArray) -> FloatArray:
    """Of each model: the sum over the table's rows that it is in."""
    return summed(table.first, of_rows, table.models) + summed(table.second, of_rows, table.models)


def _clusters_by_group(solution: Solution, clustered: bool) -> IntArray:
    comparisons, group = solution.comparisons, solution.structure.group
    groups = int(group.max(initial=-1)) + 1
    item = comparisons.grouped_by if clustered else None
    if groups == 1:
        return np.array([len(comparisons) if item is None else np.count_nonzero(np.bincount(item))])
    of_row = group[comparisons.model_a]
    if item is None:
        return np.bincount(of_row, minlength=groups)
    items = int(item.max(initial=-1)) + 1
    pairs = np.unique(of_row * items + item)
    return np.bincount(pairs // max(items, 1), minlength=groups)
