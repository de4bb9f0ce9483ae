"""How far fitted strengths may lie from the truth: their covariance, clustered by item."""

from dataclasses import dataclass

import numpy as np

from evenhand.intervals import FEW_CLUSTERS, LEVEL, reach
from evenhand.ratings.components import BoolArray, IntArray
from evenhand.ratings.likelihood import centred_inverse, slopes_at
from evenhand.ratings.sandwich import Scores, clustered_scores, unclustered_scores
from evenhand.ratings.solution import Solution
from evenhand.ratings.sums import FloatArray

_FLAT = 1e-9
"""A variance this small beside the model's own is rounding: the clusters do not differ at all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Natural units squared, centred as the strengths are."""

    covariance: FloatArray
    """Models, then slopes, then log_tie; 0 between groups."""
    clustered: bool
    clusters: IntArray
    """Of each model: the clusters its group's fit rests on."""
    clusters_of: IntArray
    """Of each model: the clusters it appears in."""
    determined: BoolArray
    """Of each model: its group has more clusters than parameters, so a single strength may have an interval."""
    flat: bool
    """Some difference did not vary between clusters; along it each cluster was counted as one case."""
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
        return reaches(self.clusters_of, level)

    def reach_of_differences(self, level: float = LEVEL) -> FloatArray:
        """M x M: by the model of the two that appears in fewer clusters."""
        one = reaches(self.clusters_of, level)
        return np.maximum(one[:, None], one[None, :])


def spread(solution: Solution, *, clustered: bool = True) -> Spread:
    """The sandwich, times G/(G-1) for the G clusters of a group; `bench/coverage.py` shows how well that covers."""
    slopes = slopes_at(solution.grouped.table, solution.fit)
    counted = clustered_scores if clustered else unclustered_scores
    return spread_of(solution, counted(solution.grouped, solution.comparisons, slopes), clustered=clustered)


def spread_of(solution: Solution, scores: Scores, *, clustered: bool = True) -> Spread:
    group = solution.structure.group
    bread = centred_inverse(solution.fit.information, group)
    clusters = _clusters_by_group(solution, clustered)[group]
    covariance = bread @ scores.product @ bread
    covariance *= _correction(clusters, scores.clusters, len(bread))
    covariance[: len(group), : len(group)] *= group[:, None] == group[None, :]
    determined = np.bincount(group, minlength=1)[group] - 1 + (len(bread) - len(group)) < clusters
    flat = _flat_pairs(covariance, bread, group)
    covariance = _with_floor(covariance, bread, flat & determined[:, None], _cases_per_cluster(solution, clusters))
    return Spread(
        covariance=covariance,
        clustered=clustered,
        clusters=clusters,
        clusters_of=scores.clusters_of,
        determined=determined,
        flat=bool((flat & determined[:, None]).any()),
        unknown=flat & ~determined[:, None],
    )


def reaches(clusters: IntArray, level: float) -> FloatArray:
    """Of each count of clusters, how many standard errors an interval extends to each side."""
    table = np.array([reach(count, level) for count in range(FEW_CLUSTERS + 1)])
    return table[np.minimum(clusters, FEW_CLUSTERS)]


def _correction(clusters: IntArray, all_clusters: int, size: int) -> FloatArray:
    factor = np.full(size, all_clusters / max(all_clusters - 1, 1))
    factor[: len(clusters)] = clusters / np.maximum(clusters - 1, 1)
    return np.sqrt(np.outer(factor, factor))


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
    size, axes = np.linalg.eigh(bread)
    kept = size > _FLAT * size.max()
    root = axes[:, kept] * np.sqrt(size[kept])
    white = axes[:, kept] / np.sqrt(size[kept])
    ratio, turn = np.linalg.eigh(white.T @ covariance @ white)
    missing = root @ turn[:, ratio < _FLAT]
    return covariance + cases * (missing @ missing.T)


def _clusters_by_group(solution: Solution, clustered: bool) -> IntArray:
    comparisons, group = solution.comparisons, solution.structure.group
    groups = int(group.max(initial=-1)) + 1
    item = comparisons.item if clustered else None
    if groups == 1:
        return np.array([len(comparisons) if item is None else np.count_nonzero(np.bincount(item))])
    of_row = group[comparisons.model_a]
    if item is None:
        return np.bincount(of_row, minlength=groups)
    items = int(item.max(initial=-1)) + 1
    pairs = np.unique(of_row * items + item)
    return np.bincount(pairs // max(items, 1), minlength=groups)
