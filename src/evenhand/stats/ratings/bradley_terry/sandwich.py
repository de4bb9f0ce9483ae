"""The spread of fitted strengths without believing that rows are independent: the sandwich estimator's filling.

Liang and Zeger (1986, Biometrika 73, 13): inverse information, times the sum over clusters of each cluster's score with
itself, times inverse information. Rows of one item form a cluster.

A cluster pulls the fit towards itself, so that its score comes out too small, the more the heavier it is. Each score is
therefore what it would be if the cluster had had no say: (I - A_g B)^-1 s_g, A_g being the cluster's information and B
the inverse of all (CR3: Bell and McCaffrey 2002, Survey Methodology 28, 169; to first order the fit without the
cluster). Exactly so where a cluster carries much; where it carries little, its score is divided by 1 - h, h being its
share of the information on the parameters it touches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import LikelihoodSlopes, laplacian, spread_over_models
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.item_blocks import NUMBERS, ItemBlock, item_order
from evenhand.stats.ratings.sums import SPARSE_FROM, FloatArray, summed
from evenhand.stats.ratings.table import PairTable

_FEW = 16
"""Models that an item is thought to meet where there are many."""

_HEAVY = 0.1
"""Parameters' worth of information from which a cluster's leverage is worked out exactly."""

_ALL = 0.999
"""Leverage is taken to be this at the most: a cluster that carries something alone has no score along it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreVectors:
    product: FloatArray
    """Sum over clusters of score score'; models, then slopes, then log_tie."""
    clusters: int
    clusters_of: IntArray
    """Of each model: the clusters it appears in."""
    weight: FloatArray
    """Of each parameter: the sum of its clusters' information."""
    squares: FloatArray
    """The same of its squares."""

    def plus(self, other: "ScoreVectors") -> "ScoreVectors":
        """With those of other clusters."""
        return ScoreVectors(
            product=self.product + other.product,
            clusters=self.clusters + other.clusters,
            clusters_of=self.clusters_of + other.clusters_of,
            weight=self.weight + other.weight,
            squares=self.squares + other.squares,
        )

    @property
    def effective(self) -> FloatArray:
        """Of each parameter: the number of clusters of equal weight that would tell as much about the spread."""
        return np.divide(self.weight**2, self.squares, out=np.zeros_like(self.weight), where=self.squares > 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factor:
    """A part of the curvature of each cell's log-likelihood: size times the square of lead + extras . parameters."""

    size: FloatArray
    lead: bool
    extras: FloatArray
    """Cells x E."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellScores:
    """Comparisons of one cell have one score: its pair of models, and its slopes and curvature for a weight of 1."""

    pairs: PairTable
    pair: IntArray
    pull: FloatArray
    extras: tuple[FloatArray, ...]
    factors: tuple[Factor, ...]

    @property
    def width(self) -> int:
        return self.pairs.models + len(self.extras)

    def leverage(self, bread: FloatArray) -> FloatArray:
        """Of each cell: the trace of its information times the inverse of all."""
        models = self.pairs.models
        one, other = self.pairs.first[self.pair], self.pairs.second[self.pair]
        own = np.diagonal(bread)
        apart = own[one] + own[other] - 2 * bread[one, other]
        beside, corner = bread[one, models:] - bread[other, models:], bread[models:, models:]
        found = np.zeros(len(self.pair))
        for factor in self.factors:
            along = np.einsum("ce,ef,cf->c", factor.extras, corner, factor.extras)
            if factor.lead:
                along += apart + 2 * np.einsum("ce,ce->c", beside, factor.extras)
            found += factor.size * along
        return found

    def bends(self) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        """Of each cell: its information on a model's strength, and on each of the extras."""
        lead = np.zeros(len(self.pair)) + sum(factor.size for factor in self.factors if factor.lead)
        along = np.zeros((len(self.pair), len(self.extras)))
        for factor in self.factors:
            along += factor.size[:, None] * factor.extras**2
        return lead, tuple(np.ascontiguousarray(along.T))

    def information(self, cells: IntArray, weight: FloatArray, models: IntArray) -> FloatArray:
        """Of some cells with these weights: models as numbered there, then the extras."""
        size, extras = len(models), len(self.extras)
        one, other = (np.searchsorted(models, side[self.pair[cells]]) for side in (self.pairs.first, self.pairs.second))
        found, rows = np.zeros((size + extras, size + extras)), np.arange(len(cells))
        for factor in self.factors:
            along = np.zeros((len(cells), size + extras))
            along[:, size:] = factor.extras[cells]
            if factor.lead:
                along[rows, one] = 1.0
                along[rows, other] = -1.0
            found += along.T @ ((factor.size[cells] * weight)[:, None] * along)
        return found


def likelihood_cells(table: PairTable, slopes: LikelihoodSlopes) -> CellScores:
    """Three cells for each row of the table: lost, tied, won."""
    extras = [(slopes.by_difference * column[:, None]).ravel() for column in table.covariates.T]
    if slopes.by_log_tie is not None:
        extras.append(slopes.by_log_tie.ravel())
    pairs, pair = distinct_pairs(table)
    return CellScores(
        pairs=pairs,
        pair=np.repeat(pair, 3),
        pull=slopes.by_difference.ravel(),
        extras=tuple(extras),
        factors=tuple(
            Factor(size=np.repeat(one.size, 3), lead=one.lead, extras=np.repeat(one.extras, 3, axis=0))
            for one in _factors(table, slopes)
        ),
    )


def _factors(table: PairTable, slopes: LikelihoodSlopes) -> Iterator[Factor]:
    """Of each row of the table; with Davidson's ties the curvature by lead and log_tie is a sum of two squares."""
    if slopes.curvature_mixed is None or slopes.curvature_tie is None:
        yield Factor(size=slopes.curvature, lead=True, extras=table.covariates)
        return
    curved = slopes.curvature > 0
    slant = np.divide(slopes.curvature_mixed, slopes.curvature, out=np.zeros(len(table)), where=curved)
    yield Factor(size=slopes.curvature, lead=True, extras=np.column_stack((table.covariates, slant)))
    left = np.maximum(slopes.curvature_tie - slant * slopes.curvature_mixed, 0.0)
    yield Factor(size=left, lead=False, extras=np.eye(1 + table.covariates.shape[1])[[-1] * len(table)])


def distinct_pairs(table: PairTable) -> tuple[PairTable, IntArray]:
    """Each pair of models once, and the place of each row's pair among them."""
    if not table.covariates.shape[1]:
        return table, np.arange(len(table))
    keys = table.first.astype(np.int64) * table.models + table.second
    _, one, place = np.unique(keys, return_index=True, return_inverse=True)
    first_rows = np.zeros(len(table), dtype=np.bool_)
    first_rows[one] = True
    # Rows stand in order of their pairs, so a pair's number is its place among the first rows.
    return table.rows(first_rows), place.ravel().astype(np.int64)


def unclustered_scores(
    table: PairTable, slopes: LikelihoodSlopes, bread: FloatArray, rows_of: IntArray
) -> ScoreVectors:
    """Every row its own cluster, from the table alone; `rows_of`: of each model, how many rows it is in."""
    cells, weight = likelihood_cells(table, slopes), table.counts.sum(axis=1)
    usual = np.divide(table.squares.sum(axis=1), weight, out=np.zeros(len(table)), where=weight > 0)
    leverage = cells.leverage(bread).reshape(-1, 3)[:, 0] * usual
    counted = table.squares * _grown(leverage, np.array(len(cells.factors)))[:, None] ** 2
    squares = np.einsum("ro,ro->r", counted, slopes.by_difference**2)
    mixed = [squares * column for column in table.covariates.T]
    corner = table.covariates.T @ (squares[:, None] * table.covariates)
    if slopes.by_log_tie is not None:
        with_tie = np.einsum("ro,ro->r", counted, slopes.by_difference * slopes.by_log_tie)
        tie = np.einsum("ro,ro->", counted, slopes.by_log_tie**2)
        edge = (table.covariates.T @ with_tie)[:, None]
        corner = np.block([[corner, edge], [edge.T, np.array([[tie]])]])
        mixed.append(with_tie)
    lead, along = cells.bends()
    bends = [lead[::3], *(one[::3] for one in along)]
    each, square = weight, table.squares.sum(axis=1)
    return ScoreVectors(
        product=_assembled(table, squares, mixed, corner),
        clusters=int(rows_of.sum()) // 2,
        clusters_of=rows_of,
        weight=_of_parameters(table, [bend * each for bend in bends]),
        squares=_of_parameters(table, [bend**2 * square for bend in bends]),
    )


def _of_parameters(table: PairTable, of_rows: Sequence[FloatArray]) -> FloatArray:
    """Of each model the sum over its rows of the first column, then the sums of the others."""
    lead, *extras = of_rows
    models = summed(table.first, lead, table.models) + summed(table.second, lead, table.models)
    return np.concatenate((models, [float(one.sum()) for one in extras]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _RowScores:
    """Of each comparison of a block: its item, its pair of models, and its weighted slopes and information."""

    items: int
    item: IntArray
    cell: IntArray
    weight: FloatArray | None
    pair: IntArray
    pull: FloatArray
    extras: tuple[FloatArray, ...]
    bend: FloatArray
    extra_bends: tuple[FloatArray, ...]
    leverage: FloatArray

    def kept(self, rows: BoolArray) -> "_RowScores":
        if rows.all():
            return self
        return _RowScores(
            items=self.items,
            item=self.item[rows],
            cell=self.cell[rows],
            weight=None if self.weight is None else self.weight[rows],
            pair=self.pair[rows],
            pull=self.pull[rows],
            extras=tuple(extra[rows] for extra in self.extras),
            bend=self.bend[rows],
            extra_bends=tuple(extra[rows] for extra in self.extra_bends),
            leverage=self.leverage[rows],
        )

    def by_item(self, values: FloatArray) -> FloatArray:
        return summed(self.item, values, self.items)

    def of_items(self, chosen: BoolArray) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Each chosen item, the cells of its rows and their weights."""
        rows = chosen.take(self.item)
        item, cell = self.item[rows], self.cell[rows]
        weight = np.ones(len(item)) if self.weight is None else self.weight[rows]
        order = np.argsort(item, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(item[order])) + 1):
            if len(part):
                cells, place = np.unique(cell[part], return_inverse=True)
                yield int(item[part[0]]), cells, summed(place.ravel(), weight[part], len(cells))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _PairItems:
    """Of items that compare one pair only: their scores lie along the pair."""

    pair: IntArray
    pull: FloatArray
    extras: tuple[FloatArray, ...]
    bends: tuple[FloatArray, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Clustering:
    cells: CellScores
    bread: FloatArray
    sparse_from: int
    leverage: FloatArray = field(init=False)
    bend: FloatArray = field(init=False)
    extra_bends: tuple[FloatArray, ...] = field(init=False)

    def __post_init__(self) -> None:
        bend, extra_bends = self.cells.bends()
        object.__setattr__(self, "leverage", self.cells.leverage(self.bread))
        object.__setattr__(self, "bend", bend)
        object.__setattr__(self, "extra_bends", extra_bends)

    def rows(self, cell: Codes, weight: FloatArray | None, block: ItemBlock) -> _RowScores:
        # numpy would widen them at every use.
        cells = cell.astype(np.int64)

        def taken(of_cells: FloatArray) -> FloatArray:
            found = of_cells.take(cells)
            return found if weight is None else found * weight

        return _RowScores(
            items=block.items,
            item=block.item.astype(np.int64),
            cell=cells,
            weight=weight,
            pair=self.cells.pair.take(cells),
            pull=taken(self.cells.pull),
            extras=tuple(map(taken, self.cells.extras)),
            bend=taken(self.bend),
            extra_bends=tuple(map(taken, self.extra_bends)),
            leverage=taken(self.leverage),
        )

    def scores(self, rows: _RowScores) -> "tuple[ScoreVectors | None, _PairItems | None]":
        """Of the items that compare several pairs, and what is known of those that compare one."""
        trace = rows.by_item(rows.leverage)
        pair_of, several = _pairs_by_item(rows)
        # Beside extras a heavy item of one pair has several parameters too.
        several |= (trace > _HEAVY) & bool(rows.extras)
        together = alone = None
        if several.any():
            mixed = rows.kept(several.take(rows.item))
            together = self._dense(mixed, trace) if self.cells.width < self.sparse_from else self._sparse(mixed, trace)
        if not several.all():
            alone = self._of_one_pair(rows, trace, pair_of, (pair_of >= 0) & ~several)
        return together, alone

    def _of_one_pair(self, rows: _RowScores, trace: FloatArray, pair_of: IntArray, chosen: BoolArray) -> _PairItems:
        bends = [rows.by_item(one) for one in (rows.bend, *rows.extra_bends)]
        factor = _grown(trace, self._rank(rows, sum((one > 0).astype(np.int64) for one in bends)))[chosen]
        return _PairItems(
            pair=pair_of[chosen],
            pull=rows.by_item(rows.pull)[chosen] * factor,
            extras=tuple(rows.by_item(extra)[chosen] * factor for extra in rows.extras),
            bends=tuple(one[chosen] for one in bends),
        )

    def _rank(self, rows: _RowScores, touched: IntArray) -> IntArray:
        """Of each item: how many parameters its rows can tell of at the most."""
        return np.minimum(touched, np.bincount(rows.item, minlength=rows.items) * len(self.cells.factors))

    def along_pairs(self, items: "Sequence[_PairItems]") -> ScoreVectors:
        """Sums by pair are enough for items of one pair each."""
        pairs, count = self.cells.pairs, len(self.cells.pairs)
        pair = np.concatenate([some.pair for some in items])
        pull = np.concatenate([some.pull for some in items])
        extras = [np.concatenate(parts) for parts in zip(*(some.extras for some in items), strict=True)]
        bends = [np.concatenate(parts) for parts in zip(*(some.bends for some in items), strict=True)]
        squares = summed(pair, pull**2, count)
        mixed = [summed(pair, pull * extra, count) for extra in extras]
        corner = np.array([[one @ other for other in extras] for one in extras]).reshape(len(extras), len(extras))
        return ScoreVectors(
            product=_assembled(pairs, squares, mixed, corner),
            clusters=len(pair),
            clusters_of=np.diagonal(laplacian(pairs, summed(pair, None, count))).astype(np.int64),
            weight=_of_parameters(pairs, [summed(pair, one, count) for one in bends]),
            squares=_of_parameters(pairs, [summed(pair, one**2, count) for one in bends]),
        )

    def _dense(self, rows: _RowScores, trace: FloatArray) -> ScoreVectors:
        """Items as rows of a table with a column for each model."""
        pairs, models = self.cells.pairs, self.cells.pairs.models
        one, other = (rows.item * models + side.take(rows.pair) for side in (pairs.first, pairs.second))
        length = rows.items * models
        sums = summed(one, rows.pull, length)
        sums -= summed(other, rows.pull, length)
        bends = summed(one, rows.bend, length)
        bends += summed(other, rows.bend, length)
        scores, weights = sums.reshape(rows.items, models), bends.reshape(rows.items, models)
        if rows.extras:
            scores = np.column_stack([scores, *(rows.by_item(extra) for extra in rows.extras)])
            weights = np.column_stack([weights, *(rows.by_item(extra) for extra in rows.extra_bends)])
        touched = weights > 0
        scores *= _grown(trace, self._rank(rows, touched.sum(axis=1) - 1))[:, None]
        for item, models_met, own in self._exact(rows, trace):
            scores[item, models_met] = own
        return ScoreVectors(
            product=scores.T @ scores,
            clusters=_present(rows),
            clusters_of=touched[:, :models].sum(axis=0),
            weight=weights.sum(axis=0),
            squares=np.einsum("gp,gp->p", weights, weights),
        )

    def _sparse(self, rows: _RowScores, trace: FloatArray) -> ScoreVectors:
        """The same where an item meets few of the models: only what it meets is multiplied."""
        from scipy.sparse import csr_array

        pairs, models, extras = self.cells.pairs, self.cells.pairs.models, len(rows.extras)
        sides = [side.take(rows.pair).astype(np.int64) for side in (pairs.first, pairs.second)]
        columns = np.concatenate([*sides, *(np.full(len(rows.item), models + place) for place in range(extras))])
        at, shape = (np.tile(rows.item, 2 + extras), columns), (rows.items, models + extras)
        scores: Any = csr_array((np.concatenate((rows.pull, -rows.pull, *rows.extras)), at), shape=shape)
        weights: Any = csr_array((np.concatenate((rows.bend, rows.bend, *rows.extra_bends)), at), shape=shape)
        scores.sum_duplicates()
        weights.sum_duplicates()
        factor = _grown(trace, self._rank(rows, np.diff(weights.indptr) - 1))
        scores.data *= np.repeat(factor, np.diff(scores.indptr))
        for item, models_met, own in self._exact(rows, trace):
            begin, end = scores.indptr[item], scores.indptr[item + 1]
            scores.data[begin:end] = own[np.searchsorted(models_met, scores.indices[begin:end])]
        return ScoreVectors(
            product=np.asarray((scores.T @ scores).toarray(), dtype=np.float64),
            clusters=_present(rows),
            clusters_of=np.bincount(weights.indices, minlength=models + extras)[:models],
            weight=np.asarray(weights.sum(axis=0), dtype=np.float64).ravel(),
            squares=np.asarray(weights.power(2).sum(axis=0), dtype=np.float64).ravel(),
        )

    def _exact(self, rows: _RowScores, trace: FloatArray) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Of each heavy item: the parameters it touches, and its score on them as if it had had no say."""
        heavy = trace > _HEAVY
        if not heavy.any():
            return
        pairs, beyond = self.cells.pairs, np.arange(self.cells.pairs.models, self.cells.width)
        for item, cells, weight in rows.of_items(heavy):
            pair = self.cells.pair[cells]
            models = np.unique(np.concatenate((pairs.first[pair], pairs.second[pair]))).astype(np.int64)
            touched = np.concatenate((models, beyond))
            pull = self.cells.pull[cells] * weight
            own = np.zeros(len(touched))
            np.add.at(own, np.searchsorted(models, pairs.first[pair]), pull)
            np.add.at(own, np.searchsorted(models, pairs.second[pair]), -pull)
            own[len(models) :] = [float(extra[cells] @ weight) for extra in self.cells.extras]
            information = self.cells.information(cells, weight, models)
            yield item, touched, without_itself(own, information, self.bread[np.ix_(touched, touched)])


def without_itself(score: FloatArray, information: FloatArray, bread: FloatArray) -> FloatArray:
    """(I - information bread)^-1 score, no leverage above _ALL."""
    size, axes = np.linalg.eigh(bread)
    root = axes * np.sqrt(np.maximum(size, 0.0))
    leverage, turn = np.linalg.eigh(root.T @ information @ root)
    turned = root @ turn
    left = 1 - np.clip(leverage, 0.0, _ALL)
    return score + information @ (turned @ ((turned.T @ score) / left))


def clustered_scores(
    cells: CellScores,
    cell: Codes,
    item: Codes,
    weight: FloatArray | None,
    bread: FloatArray,
    *,
    numbers: int = NUMBERS,
    sparse_from: int = SPARSE_FROM,
) -> ScoreVectors:
    """Every item a cluster; `cell`, `item` and `weight` of each comparison. `numbers` are held at once."""
    clustering = _Clustering(cells=cells, bread=bread, sparse_from=sparse_from)
    models, width = cells.pairs.models, cells.width
    ordered = item_order(item, int(item.max(initial=-1)) + 1, _FEW if width >= sparse_from else width, numbers=numbers)
    cell = ordered.taken(cell)
    weight = None if weight is None else ordered.taken(weight)
    together = ScoreVectors(
        product=np.zeros((width, width)),
        clusters=0,
        clusters_of=np.zeros(models, dtype=np.int64),
        weight=np.zeros(width),
        squares=np.zeros(width),
    )
    single: list[_PairItems] = []
    for block in ordered.blocks():
        rows = clustering.rows(cell[block.rows], None if weight is None else weight[block.rows], block)
        mixed, alone = clustering.scores(rows)
        together = together if mixed is None else together.plus(mixed)
        single += [] if alone is None else [alone]
    return together.plus(clustering.along_pairs(single)) if single else together


def _grown(trace: FloatArray, rank: IntArray) -> FloatArray:
    """What a score is multiplied by if its cluster's leverage is spread evenly over so many parameters."""
    return 1 / (1 - np.minimum(trace / np.maximum(rank, 1), _ALL))


def _pairs_by_item(rows: _RowScores) -> tuple[IntArray, BoolArray]:
    """A pair that the item compares, -1 where it has no row; and whether it compares several."""
    pair_of = np.full(rows.items, -1)
    pair_of[rows.item] = rows.pair
    several = np.zeros(rows.items, dtype=np.bool_)
    several[rows.item[rows.pair != pair_of.take(rows.item)]] = True
    return pair_of, several


def _present(rows: _RowScores) -> int:
    return int(np.count_nonzero(np.bincount(rows.item)))


def _assembled(table: PairTable, squares: FloatArray, mixed: Sequence[FloatArray], corner: FloatArray) -> FloatArray:
    """Sums by pair as one symmetric matrix."""
    edges = [spread_over_models(table, one) for one in mixed]
    if not edges:
        return laplacian(table, squares)
    edge = np.stack(edges, axis=1)
    return np.block([[laplacian(table, squares), edge], [edge.T, corner]])
