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
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evenhand.stats.intervals import left_out
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import laplacian, square_roots
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors, assembled, enlargement, of_parameters
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.item_blocks import NUMBERS, ItemBlock, counts_of_columns, counts_of_rows, item_order
from evenhand.stats.ratings.sums import SPARSE_FROM, FloatArray, summed

_FEW = 16
"""Models that an item is thought to meet where there are many."""

_TINY, _LARGE = 25, 4_000_000
"""Models for each row of an item from which only what it meets is multiplied, if items times models are this many."""

_HEAVY = 0.1
"""Parameters' worth of information from which a cluster's leverage is worked out exactly."""

_MOST = 0.5
"""Parameters' worth up to which it is worked out step by step, for all such clusters at once."""

_STEPS = 40
_SETTLED = 1e-5
"""Of the largest score: a step this small ends it."""


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
        if self.cells.width < self.sparse_from and 2 * np.count_nonzero(several) > rows.items:
            # The few others cost less among them than apart.
            return self._dense(rows, trace), None
        together = alone = None
        if several.any():
            mixed = rows.kept(several.take(rows.item))
            together = self._dense(mixed, trace) if self.cells.width < self.sparse_from else self._sparse(mixed, trace)
        if not several.all():
            alone = self._of_one_pair(rows, trace, pair_of, (pair_of >= 0) & ~several)
        return together, alone

    def _of_one_pair(self, rows: _RowScores, trace: FloatArray, pair_of: IntArray, chosen: BoolArray) -> _PairItems:
        bends = [rows.by_item(one) for one in (rows.bend, *rows.extra_bends)]
        touched = sum(((one > 0).astype(np.int64) for one in bends), np.zeros(rows.items, dtype=np.int64))
        factor = enlargement(trace, self._rank(rows, touched))[chosen]
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
            product=assembled(pairs, squares, mixed, corner),
            clusters=len(pair),
            clusters_of=np.diagonal(laplacian(pairs, summed(pair, None, count))).astype(np.int64),
            weight=of_parameters(pairs, [summed(pair, one, count) for one in bends]),
            squares=of_parameters(pairs, [summed(pair, one**2, count) for one in bends]),
        )

    def _dense(self, rows: _RowScores, trace: FloatArray) -> ScoreVectors:
        """Items as rows of a table with a column for each model."""
        models, count = self.cells.pairs.models, np.bincount(rows.item, minlength=rows.items)
        places = self._places(rows)
        weights = self._table(rows, places, (rows.bend, *rows.extra_bends), 1)
        touched = (weights > 0).view(np.uint8)
        rank = np.minimum(counts_of_rows(touched) - 1, count * len(self.cells.factors))
        grown = np.where(trace > _HEAVY, 1.0, enlargement(trace, rank)).take(rows.item)
        scores = self._table(rows, places, [one * grown for one in (rows.pull, *rows.extras)], -1)
        self._stepped(rows, scores, (trace > _HEAVY) & (trace <= _MOST))
        for item, models_met, own in self._exact(rows, trace > _MOST):
            scores[item, models_met] = own
        return ScoreVectors(
            product=scores.T @ scores,
            clusters=int(np.count_nonzero(count)),
            clusters_of=counts_of_columns(touched)[:models],
            weight=np.ones(rows.items) @ weights,
            squares=np.einsum("gp,gp->p", weights, weights),
        )

    def _places(self, rows: _RowScores) -> tuple[IntArray, IntArray]:
        """Of each row: where its two models stand among items x models."""
        pairs, start = self.cells.pairs, rows.item * self.cells.pairs.models
        return start + pairs.first.take(rows.pair), start + pairs.second.take(rows.pair)

    def _table(
        self, rows: _RowScores, places: tuple[IntArray, IntArray], added: Sequence[FloatArray], turn: int
    ) -> FloatArray:
        """Items x parameters: sums of what rows add to both models, to the second times `turn`, and to each extra."""
        lead, *extras = added
        models, length = self.cells.pairs.models, rows.items * self.cells.pairs.models
        sums, other = (summed(place, lead, length) for place in places)
        sums += turn * other
        found = sums.reshape(rows.items, models)
        return np.column_stack([found, *map(rows.by_item, extras)]) if extras else found

    def _stepped(self, rows: _RowScores, scores: FloatArray, chosen: BoolArray) -> None:
        """Puts in place of the chosen items' scores what they would be if the item had had no say.

        (I - A B)^-1 s as s + A B s + A B A B s and so on, A being the item's information and B the inverse of all.
        """
        if not chosen.any():
            return
        own = np.flatnonzero(chosen.take(rows.item))
        # The other columns are not looked at.
        theirs = replace(
            rows,
            items=int(chosen.sum()),
            item=(np.cumsum(chosen) - 1).take(rows.item.take(own)),
            cell=rows.cell.take(own),
            pair=rows.pair.take(own),
            weight=None if rows.weight is None else rows.weight.take(own),
        )
        places, term = self._places(theirs), scores[chosen]
        total, most = term.copy(), float(np.abs(term).max(initial=0.0))
        for _ in range(_STEPS):
            added = self.cells.along(theirs.cell, theirs.weight, theirs.item, term @ self.bread)
            term = self._table(theirs, places, added, -1)
            total += term
            if float(np.abs(term).max(initial=0.0)) <= _SETTLED * most:
                break
        scores[chosen] = total

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
        factor = enlargement(trace, self._rank(rows, np.diff(weights.indptr) - 1))
        scores.data *= np.repeat(factor, np.diff(scores.indptr))
        for item, models_met, own in self._exact(rows, trace > _HEAVY):
            begin, end = scores.indptr[item], scores.indptr[item + 1]
            scores.data[begin:end] = own[np.searchsorted(models_met, scores.indices[begin:end])]
        return ScoreVectors(
            product=np.asarray((scores.T @ scores).toarray(), dtype=np.float64),
            clusters=int(np.count_nonzero(np.bincount(rows.item))),
            clusters_of=np.bincount(weights.indices, minlength=models + extras)[:models],
            weight=np.asarray(weights.sum(axis=0), dtype=np.float64).ravel(),
            squares=np.asarray(weights.power(2).sum(axis=0), dtype=np.float64).ravel(),
        )

    def _exact(self, rows: _RowScores, heavy: BoolArray) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Of each heavy item: the parameters it touches, and its score on them as if it had had no say."""
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
    """(I - information bread)^-1 score, as far as a cluster does not carry something alone."""
    root, _ = square_roots(bread)
    leverage, turn = np.linalg.eigh(root.T @ information @ root)
    turned = root @ turn
    return score + information @ (turned @ ((turned.T @ score) * left_out(np.maximum(leverage, 0.0))))


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
    models, width, items = cells.pairs.models, cells.width, int(item.max(initial=-1)) + 1
    if width * items > max(_TINY * len(item), _LARGE):
        sparse_from = 0
    clustering = _Clustering(cells=cells, bread=bread, sparse_from=sparse_from)
    ordered = item_order(item, items, _FEW if width >= sparse_from else width, numbers=numbers)
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


def _pairs_by_item(rows: _RowScores) -> tuple[IntArray, BoolArray]:
    """A pair that the item compares, -1 where it has no row; and whether it compares several."""
    pair_of = np.full(rows.items, -1)
    pair_of[rows.item] = rows.pair
    several = np.zeros(rows.items, dtype=np.bool_)
    several[rows.item[rows.pair != pair_of.take(rows.item)]] = True
    return pair_of, several
