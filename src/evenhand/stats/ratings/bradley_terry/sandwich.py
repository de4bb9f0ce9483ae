"""The spread of fitted strengths without believing that rows are independent: the sandwich estimator's filling.

Liang and Zeger (1986, Biometrika 73, 13): inverse information, times the sum over clusters of each cluster's score with
itself, times inverse information. Rows of one item form a cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import LikelihoodSlopes, laplacian, spread_over_models
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import NUMBERS, ItemBlock, item_order, items_met
from evenhand.stats.ratings.sums import SPARSE_FROM, FloatArray, summed
from evenhand.stats.ratings.table import Grouped, PairTable

_FEW = 16
"""Models that an item is thought to meet where there are many."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreVectors:
    product: FloatArray
    """Sum over clusters of score score'; models, then slopes, then log_tie."""
    clusters: int
    clusters_of: IntArray
    """Of each model: the clusters it appears in."""

    def plus(self, other: "ScoreVectors") -> "ScoreVectors":
        """With those of other clusters."""
        return ScoreVectors(
            product=self.product + other.product,
            clusters=self.clusters + other.clusters,
            clusters_of=self.clusters_of + other.clusters_of,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _CellScores:
    """Of each of the table's counts: its pair of models, and the slopes of a comparison counted there."""

    pairs: PairTable
    pair: IntArray
    pull: FloatArray
    extras: tuple[FloatArray, ...]

    def of_rows(self, cell: Codes, weight: FloatArray | None, block: ItemBlock) -> "_RowScores":
        # numpy would widen them at every use.
        cells = cell.astype(np.int64)
        extras = [extra.take(cells) for extra in self.extras]
        pull = self.pull.take(cells)
        if weight is not None:
            pull, extras = pull * weight, [extra * weight for extra in extras]
        item = block.item.astype(np.int64)
        return _RowScores(items=block.items, item=item, pair=self.pair.take(cells), pull=pull, extras=tuple(extras))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RowScores:
    """Of each comparison of a block: its item, its pair of models and its weighted slopes."""

    items: int
    item: IntArray
    pair: IntArray
    pull: FloatArray
    extras: tuple[FloatArray, ...]

    def kept(self, rows: BoolArray) -> "_RowScores":
        if rows.all():
            return self
        return _RowScores(
            items=self.items,
            item=self.item[rows],
            pair=self.pair[rows],
            pull=self.pull[rows],
            extras=tuple(extra[rows] for extra in self.extras),
        )

    def by_item(self, values: FloatArray) -> FloatArray:
        return summed(self.item, values, self.items)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ItemScores:
    """Of items that compare one pair only: their scores lie along the pair."""

    pair: IntArray
    pull: FloatArray
    extras: tuple[FloatArray, ...]


def unclustered_scores(grouped: Grouped, comparisons: Comparisons, slopes: LikelihoodSlopes) -> ScoreVectors:
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
    return ScoreVectors(
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


def clustered_scores(
    grouped: Grouped,
    comparisons: Comparisons,
    slopes: LikelihoodSlopes,
    *,
    numbers: int = NUMBERS,
    sparse_from: int = SPARSE_FROM,
) -> ScoreVectors:
    """Every item a cluster; without items every row. `numbers` are held at once."""
    if comparisons.item is None:
        return unclustered_scores(grouped, comparisons, slopes)
    cells = _cell_scores(grouped.table, slopes)
    items = int(comparisons.item.max(initial=-1)) + 1
    models, width = cells.pairs.models, cells.pairs.models + len(cells.extras)
    many = width >= sparse_from
    scores_of = _sparse_scores if many else _dense_scores
    ordered = item_order(comparisons.item, items, _FEW if many else width, numbers=numbers)
    cell = ordered.taken(grouped.cell)
    weight = None if comparisons.weight is None else ordered.taken(comparisons.weight)
    together = ScoreVectors(product=np.zeros((width, width)), clusters=0, clusters_of=np.zeros(models, dtype=np.int64))
    alone: list[_ItemScores] = []
    for block in ordered.blocks():
        rows = cells.of_rows(cell[block.rows], None if weight is None else weight[block.rows], block)
        pair_of, several = _pairs_by_item(rows)
        if several.any():
            mixed = rows.kept(several.take(rows.item))
            together = together.plus(scores_of(cells.pairs, mixed))
        if not several.all():
            alone.append(_one_pair_items(rows, pair_of, (pair_of >= 0) & ~several))
    return together.plus(_along_pairs(cells.pairs, alone)) if alone else together


def _cell_scores(table: PairTable, slopes: LikelihoodSlopes) -> _CellScores:
    extras = [(slopes.by_difference * column[:, None]).ravel() for column in table.covariates.T]
    if slopes.by_log_tie is not None:
        extras.append(slopes.by_log_tie.ravel())
    pairs, pair = table, np.arange(len(table))
    if table.covariates.shape[1]:
        keys = table.first.astype(np.int64) * table.models + table.second
        _, one, place = np.unique(keys, return_index=True, return_inverse=True)
        first_rows = np.zeros(len(table), dtype=np.bool_)
        first_rows[one] = True
        # Rows stand in order of their pairs, so a pair's number is its place among the first rows.
        pairs, pair = table.rows(first_rows), place.ravel().astype(np.int64)
    return _CellScores(pairs=pairs, pair=np.repeat(pair, 3), pull=slopes.by_difference.ravel(), extras=tuple(extras))


def _pairs_by_item(rows: _RowScores) -> tuple[IntArray, BoolArray]:
    """A pair that the item compares, -1 where it has no row; and whether it compares several."""
    pair_of = np.full(rows.items, -1)
    pair_of[rows.item] = rows.pair
    several = np.zeros(rows.items, dtype=np.bool_)
    several[rows.item[rows.pair != pair_of.take(rows.item)]] = True
    return pair_of, several


def _one_pair_items(rows: _RowScores, pair_of: IntArray, chosen: BoolArray) -> _ItemScores:
    return _ItemScores(
        pair=pair_of[chosen],
        pull=rows.by_item(rows.pull)[chosen],
        extras=tuple(rows.by_item(extra)[chosen] for extra in rows.extras),
    )


def _along_pairs(pairs: PairTable, items: Sequence[_ItemScores]) -> ScoreVectors:
    """Sums by pair are enough for items of one pair each."""
    count = len(pairs)
    pair = np.concatenate([some.pair for some in items])
    pull = np.concatenate([some.pull for some in items])
    extras = [np.concatenate(parts) for parts in zip(*(some.extras for some in items), strict=True)]
    squares = summed(pair, pull**2, count)
    mixed = [summed(pair, pull * extra, count) for extra in extras]
    corner = np.array([[one @ other for other in extras] for one in extras]).reshape(len(extras), len(extras))
    items_of = np.diagonal(laplacian(pairs, summed(pair, None, count))).astype(np.int64)
    return ScoreVectors(product=_assembled(pairs, squares, mixed, corner), clusters=len(pair), clusters_of=items_of)


def _dense_scores(pairs: PairTable, rows: _RowScores) -> ScoreVectors:
    """Items as rows of a table with a column for each model."""
    models = pairs.models
    one, other = (rows.item * models + side.take(rows.pair) for side in (pairs.first, pairs.second))
    sums = summed(one, rows.pull, rows.items * models)
    sums -= summed(other, rows.pull, rows.items * models)
    scores = sums.reshape(rows.items, models)
    if rows.extras:
        scores = np.column_stack([scores, *(rows.by_item(extra) for extra in rows.extras)])
    clusters_of = items_met(one, other, rows.items, models)
    return ScoreVectors(product=scores.T @ scores, clusters=_present(rows), clusters_of=clusters_of)


def _sparse_scores(pairs: PairTable, rows: _RowScores) -> ScoreVectors:
    """The same where an item meets few of the models: only what it meets is multiplied."""
    from scipy.sparse import csr_array

    models, extras = pairs.models, len(rows.extras)
    sides = [side.take(rows.pair).astype(np.int64) for side in (pairs.first, pairs.second)]
    columns = [*sides, *(np.full(len(rows.item), models + place) for place in range(extras))]
    values = np.concatenate((rows.pull, -rows.pull, *rows.extras))
    at = (np.tile(rows.item, len(columns)), np.concatenate(columns))
    scores: Any = csr_array((values, at), shape=(rows.items, models + extras))
    met = np.unique(np.concatenate([rows.item * models + side for side in sides])) % models
    return ScoreVectors(
        product=np.asarray((scores.T @ scores).toarray(), dtype=np.float64),
        clusters=_present(rows),
        clusters_of=np.bincount(met, minlength=models),
    )


def _present(rows: _RowScores) -> int:
    return int(np.count_nonzero(np.bincount(rows.item)))


def _assembled(table: PairTable, squares: FloatArray, mixed: Sequence[FloatArray], corner: FloatArray) -> FloatArray:
    """Sums by pair as one symmetric matrix."""
    edges = [spread_over_models(table, one) for one in mixed]
    if not edges:
        return laplacian(table, squares)
    edge = np.stack(edges, axis=1)
    return np.block([[laplacian(table, squares), edge], [edge.T, corner]])
