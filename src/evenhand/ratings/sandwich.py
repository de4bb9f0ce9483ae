"""The spread of fitted strengths without believing that rows are independent: the sandwich estimator's filling.

Liang and Zeger (1986, Biometrika 73, 13): inverse information, times the sum over clusters of each cluster's score with
itself, times inverse information. Rows of one item form a cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.ratings.codes import Codes
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.components import BoolArray, IntArray
from evenhand.ratings.item_blocks import item_blocks
from evenhand.ratings.likelihood import Slopes, laplacian, spread_over_models
from evenhand.ratings.sums import FloatArray, summed
from evenhand.ratings.table import Grouped, PairTable

_SPARSE_FROM = 400
"""Models beyond which an item's few entries are multiplied one by one, not as a full row."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    product: FloatArray
    """Sum over clusters of score score'; models, then slopes, then log_tie."""
    clusters: int
    clusters_of: IntArray
    """Of each model: the clusters it appears in."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RowScores:
    """Of each comparison: its item, its pair of models, and its weighted slopes."""

    pairs: PairTable
    item: Codes
    pair: Codes
    pull: FloatArray
    extras: tuple[FloatArray, ...]

    def rows(self, kept: BoolArray, item: Codes) -> "_RowScores":
        return _RowScores(
            pairs=self.pairs,
            item=item,
            pair=self.pair[kept],
            pull=self.pull[kept],
            extras=tuple(extra[kept] for extra in self.extras),
        )


def unclustered_scores(grouped: Grouped, comparisons: Comparisons, slopes: Slopes) -> Scores:
    """Every row its own cluster, from the table alone: rows of one cell have one score."""
    table = grouped.table
    squares = np.einsum("ro,ro->r", table.squares, slopes.by_difference**2)
    mixed = [squares * column for column in table.covariates.T]
    corner = table.covariates.T @ (squares[:, None] * table.covariates)
    if slopes.by_log_tie is not None:
        with_tie = np.einsum("ro,ro->r", table.squares, slopes.by_difference * slopes.by_log_tie)
        tie = np.einsum("ro,ro->", table.squares, slopes.by_log_tie**2)
        edge = (table.covariates.T @ with_tie)[:, None]
        corner = np.block([[corner, edge], [edge.T, np.array([[tie]])]])
        mixed.append(with_tie)
    return Scores(
        product=_assembled(table, squares, mixed, corner),
        clusters=len(comparisons),
        clusters_of=_rows_of(table, comparisons),
    )


def _rows_of(table: PairTable, comparisons: Comparisons) -> IntArray:
    if comparisons.weight is None:
        return table.of_models().sum(axis=1).astype(np.int64)
    sides = (comparisons.model_a, comparisons.model_b)
    one, other = (np.bincount(side, minlength=table.models) for side in sides)
    return one + other


def clustered_scores(grouped: Grouped, comparisons: Comparisons, slopes: Slopes) -> Scores:
    """Every item a cluster; without items every row."""
    if comparisons.item is None:
        return unclustered_scores(grouped, comparisons, slopes)
    scores = _row_scores(grouped, comparisons.item, comparisons.weight, slopes)
    items = int(comparisons.item.max(initial=-1)) + 1
    pair_of = np.full(items, -1, dtype=np.int32)
    pair_of[scores.item] = scores.pair
    several = np.zeros(items, dtype=np.bool_)
    several[scores.item[scores.pair != pair_of[scores.item]]] = True
    alone = _one_pair_items(scores, pair_of, (pair_of >= 0) & ~several)
    if not several.any():
        return alone
    mixed = several[scores.item]
    numbers = np.cumsum(several, dtype=np.int32) - 1
    together = _many_pair_items(scores.rows(mixed, numbers[scores.item[mixed]]), int(several.sum()))
    return Scores(
        product=alone.product + together.product,
        clusters=alone.clusters + together.clusters,
        clusters_of=alone.clusters_of + together.clusters_of,
    )


def _row_scores(grouped: Grouped, item: Codes, weight: FloatArray | None, slopes: Slopes) -> _RowScores:
    table = grouped.table
    cell = grouped.row * 3 + (grouped.sign + 1)
    pull = slopes.by_difference.ravel()[cell]
    extras = [(slopes.by_difference * column[:, None]).ravel()[cell] for column in table.covariates.T]
    if slopes.by_log_tie is not None:
        extras.append(slopes.by_log_tie.ravel()[cell])
    if weight is not None:
        pull = pull * weight
        extras = [extra * weight for extra in extras]
    pairs, pair = table, grouped.row
    if table.covariates.shape[1]:
        keys = table.first.astype(np.int64) * table.models + table.second
        _, one, place = np.unique(keys, return_index=True, return_inverse=True)
        first_rows = np.zeros(len(table), dtype=np.bool_)
        first_rows[one] = True
        pairs, pair = table.rows(first_rows), place.astype(np.int32)[grouped.row]
        # Rows stand in order of their pairs, so a pair's number is its place among the first rows.
    return _RowScores(pairs=pairs, item=item, pair=pair, pull=pull, extras=tuple(extras))


def _one_pair_items(scores: _RowScores, pair_of: Codes, chosen: BoolArray) -> Scores:
    """Items that compare one pair only: their scores lie along the pair, so sums by pair are enough."""
    pairs, count = scores.pairs, len(scores.pairs)
    pair = pair_of[chosen]

    def totals(values: FloatArray) -> FloatArray:
        return summed(scores.item, values, len(chosen))[chosen]

    pull = totals(scores.pull)
    extras = [totals(extra) for extra in scores.extras]
    squares = summed(pair, pull**2, count)
    mixed = [summed(pair, pull * extra, count) for extra in extras]
    corner = np.array([[one @ other for other in extras] for one in extras]).reshape(len(extras), len(extras))
    items_of_pair = summed(pair, None, count)
    items_of = np.diagonal(laplacian(pairs, items_of_pair)).astype(np.int64)
    return Scores(product=_assembled(pairs, squares, mixed, corner), clusters=len(pair), clusters_of=items_of)


def _many_pair_items(scores: _RowScores, items: int) -> Scores:
    models = scores.pairs.models
    width = models + len(scores.extras)
    product = np.zeros((width, width))
    items_of = np.zeros(models, dtype=np.int64)
    first, second = scores.pairs.first[scores.pair], scores.pairs.second[scores.pair]
    for block in item_blocks(scores.item, items, width):
        one, other, within = first[block.rows], second[block.rows], block.item * np.int32(models)
        seen = np.zeros(block.items * models, dtype=np.bool_)
        seen[within + one] = True
        seen[within + other] = True
        items_of += seen.reshape(block.items, models).sum(axis=0)
        pull, cells = scores.pull[block.rows], block.items * models
        sums = summed(within + one, pull, cells)
        sums -= summed(within + other, pull, cells)
        extras = [summed(block.item, extra[block.rows], block.items) for extra in scores.extras]
        product += _with_itself(np.column_stack([sums.reshape(block.items, models), *extras]))
    return Scores(product=product, clusters=items, clusters_of=items_of)


def _with_itself(sums: FloatArray) -> FloatArray:
    if sums.shape[1] < _SPARSE_FROM:
        return sums.T @ sums
    from scipy.sparse import csr_array

    sparse: Any = csr_array(sums)
    return np.asarray((sparse.T @ sparse).toarray(), dtype=np.float64)


def _assembled(table: PairTable, squares: FloatArray, mixed: Sequence[FloatArray], corner: FloatArray) -> FloatArray:
    """Sums by pair as one symmetric matrix."""
    edges = [spread_over_models(table, one) for one in mixed]
    if not edges:
        return laplacian(table, squares)
    edge = np.stack(edges, axis=1)
    return np.block([[laplacian(table, squares), edge], [edge.T, corner]])
