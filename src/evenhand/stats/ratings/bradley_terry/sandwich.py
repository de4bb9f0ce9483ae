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

import numpy as np
import numpy.typing as npt

from evenhand.stats.intervals import left_out
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import laplacian, square_roots
from evenhand.stats.ratings.bradley_terry.row_pairs import RowsTogether
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors, assembled, enlargement, of_parameters
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores, along
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.item_blocks import NUMBERS, ItemBlock, counts_of_columns, counts_of_rows, item_order
from evenhand.stats.ratings.sums import SPARSE_FROM, FloatArray, summed
from evenhand.stats.ratings.table import LOSS, TIE, WIN

_FEW = 16
"""Models that an item is thought to meet at the least where there are many."""

_PARTS = 8
"""Of models times models, the numbers that a part of the items holds where that is more."""

_TINY, _LARGE = 25, 4_000_000
"""Models for each row of an item from which only what it meets is multiplied, if items times models are this many."""

_SHORT, _FILLED = 8, 6
"""Rows of an item up to which they are multiplied two by two; more where one in so many models has that many."""

_HEAVY = 0.1
"""Parameters' worth of information from which a cluster's leverage is worked out exactly."""

_ALONE = 1_000_000
"""What an item's leverage costs exactly, beside the cube of its rows, where the square of models is a step's cost."""

_MOST = 0.5
"""Parameters' worth up to which it is worked out step by step, for all such clusters at once."""

_OUTCOMES = (LOSS, TIE, WIN)
_STEPS = 40
_SETTLED = 1e-11
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
    count: IntArray
    """Of each item: its rows."""
    cells: IntArray
    """Of each item: how many cells its rows are of. A row told as two of half its weight tells of nothing more."""
    trace: FloatArray
    """Of each item: how many parameters' worth of all information it has."""

    def kept(self, rows: BoolArray) -> "_RowScores":
        """These rows, which are all of some items; those are numbered anew."""
        if rows.all():
            return self
        there = np.zeros(self.items, dtype=np.bool_)
        there[self.item[rows]] = True
        return _RowScores(
            items=int(np.count_nonzero(there)),
            item=(np.cumsum(there) - 1).take(self.item[rows]),
            cell=self.cell[rows],
            weight=None if self.weight is None else self.weight[rows],
            pair=self.pair[rows],
            pull=self.pull[rows],
            extras=tuple(extra[rows] for extra in self.extras),
            bend=self.bend[rows],
            extra_bends=tuple(extra[rows] for extra in self.extra_bends),
            count=self.count[there],
            cells=self.cells[there],
            trace=self.trace[there],
        )

    def cut(self, cost: IntArray, room: int) -> "Iterator[_RowScores]":
        """Some items at a time, whose costs together are about `room`."""
        part = (np.cumsum(cost) - cost) // room
        if not part[-1:].any():
            yield self
            return
        for number in np.unique(part).tolist():
            yield self.kept((part == number).take(self.item))

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
    room: int
    """Numbers held at once."""
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

        item = block.item.astype(np.int64)
        count, trace = np.bincount(item, minlength=block.items), summed(item, taken(self.leverage), block.items)
        light = bool((trace <= _HEAVY).any())
        return _RowScores(
            items=block.items,
            item=item,
            cell=cells,
            weight=weight,
            pair=self.cells.pair.take(cells),
            pull=taken(self.cells.pull),
            extras=tuple(map(taken, self.cells.extras)),
            bend=taken(self.bend),
            extra_bends=tuple(map(taken, self.extra_bends)),
            count=count,
            # Heavy items' leverage is worked out without it.
            cells=_distinct(item, cells, block.items, len(self.cells.pair)) if light else count,
            trace=trace,
        )

    def scores(self, rows: _RowScores) -> "Iterator[ScoreVectors | _PairItems]":
        """Of the items that compare several pairs, and what is known of those that compare one."""
        if self.cells.width >= self.sparse_from:
            short = rows.count <= max(_SHORT, self.cells.width // _FILLED)
            # The leverage of a heavy item of many rows costs less step by step, with those of others like it.
            short &= (rows.trace <= _HEAVY) | (_ALONE + 24 * rows.count**3 < self.cells.width**2)
            theirs = short.take(rows.item)
            if theirs.any():
                few = rows.kept(theirs)
                yield from map(self._of_short, few.cut(few.count * (few.count - 1) // 2, self.room))
            if theirs.all():
                return
            rows = rows.kept(~theirs)
        pair_of, several = _pairs_by_item(rows)
        # Beside extras a heavy item of one pair has several parameters too.
        several |= (rows.trace > _HEAVY) & (pair_of >= 0) & bool(rows.extras)
        if 2 * np.count_nonzero(several) > rows.items:
            # The few others cost less among them than apart.
            several[:] = True
        if several.any():
            many = rows if several.all() else rows.kept(several.take(rows.item))
            yield from map(self._dense, many.cut(np.full(many.items, self.cells.width), self.room))
        alone = (pair_of >= 0) & ~several
        if alone.any():
            yield self._of_one_pair(rows, pair_of, alone)

    def _of_one_pair(self, rows: _RowScores, pair_of: IntArray, chosen: BoolArray) -> _PairItems:
        bends = [rows.by_item(one) for one in (rows.bend, *rows.extra_bends)]
        touched = sum(((one > 0).astype(np.int64) for one in bends), np.zeros(rows.items, dtype=np.int64))
        factor = enlargement(rows.trace, np.minimum(touched, rows.cells * len(self.cells.factors)))[chosen]
        return _PairItems(
            pair=pair_of[chosen],
            pull=rows.by_item(rows.pull)[chosen] * factor,
            extras=tuple(rows.by_item(extra)[chosen] * factor for extra in rows.extras),
            bends=tuple(one[chosen] for one in bends),
        )

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

    def _dense(self, rows: _RowScores) -> ScoreVectors:
        """Items as rows of a table with a column for each model."""
        places = self._places(rows)
        weights = self._table(rows, places, (rows.bend, *rows.extra_bends), 1)
        touched = (weights > 0).view(np.uint8)
        scores = self._without_themselves(rows, places, touched)
        return ScoreVectors(
            product=scores.T @ scores,
            clusters=int(np.count_nonzero(rows.count)),
            clusters_of=counts_of_columns(touched)[: self.cells.pairs.models],
            weight=np.ones(rows.items) @ weights,
            squares=np.einsum("gp,gp->p", weights, weights),
        )

    def item_table(self, rows: _RowScores) -> FloatArray:
        """Items x parameters: the scores, each as if its item had had no say."""
        places = self._places(rows)
        touched = self._table(rows, places, (rows.bend, *rows.extra_bends), 1) > 0
        return self._without_themselves(rows, places, touched.view(np.uint8))

    def _without_themselves(self, rows: _RowScores, places: IntArray, touched: npt.NDArray[np.uint8]) -> FloatArray:
        """`touched`: items x parameters, 1 where the item has rows about it."""
        trace = rows.trace
        rank = np.minimum(counts_of_rows(touched) - 1, rows.cells * len(self.cells.factors))
        grown = np.where(trace > _HEAVY, 1.0, enlargement(trace, rank)).take(rows.item)
        scores = self._table(rows, places, [one * grown for one in (rows.pull, *rows.extras)], -1)
        self._stepped(rows, scores, (trace > _HEAVY) & (trace <= _MOST))
        for item, models_met, own in self._exact(rows, trace > _MOST):
            scores[item, models_met] = own
        return scores

    def _places(self, rows: _RowScores) -> IntArray:
        """Of each row's first model, then of each row's second: where it stands among items x models."""
        pairs, start = self.cells.pairs, rows.item * self.cells.pairs.models
        return np.concatenate((start + pairs.first.take(rows.pair), start + pairs.second.take(rows.pair)))

    def _table(self, rows: _RowScores, places: IntArray, added: Sequence[FloatArray], turn: int) -> FloatArray:
        """Items x parameters: sums of what rows add to both models, to the second times `turn`, and to each extra."""
        lead, *extras = added
        models, length = self.cells.pairs.models, rows.items * self.cells.pairs.models
        # One sum over both sides: a second table as large would cost more than all that is added to it.
        found = summed(places, np.concatenate((lead, turn * lead)), length).reshape(rows.items, models)
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
        models, places, term = self.cells.pairs.models, self._places(theirs), scores[chosen]
        first, second = places[: len(own)], places[len(own) :]
        factors = self.cells.factors_of(theirs.cell, theirs.weight)
        total, most = term.copy(), float(np.abs(term).max(initial=0.0))
        for _ in range(_STEPS):
            beneath = term @ self.bread
            strengths = np.ascontiguousarray(beneath[:, :models]).ravel()
            beside = [column.take(theirs.item) for column in beneath[:, models:].T]
            added = along(factors, strengths.take(first) - strengths.take(second), beside)
            term = self._table(theirs, places, added, -1)
            total += term
            if float(np.abs(term).max(initial=0.0)) <= _SETTLED * most:
                break
        scores[chosen] = total

    def _of_short(self, rows: _RowScores) -> ScoreVectors:
        """The same of items of few rows each: only rows of one item are multiplied with each other, two by two."""
        count, trace = rows.count, rows.trace
        pairs, models, many = self.cells.pairs, self.cells.pairs.models, len(self.cells.pairs)
        met = RowsTogether.of(rows.item, pairs.first.take(rows.pair), pairs.second.take(rows.pair))
        bends = [rows.by_item(one) for one in rows.extra_bends]
        touched = 2 * count - rows.by_item(met.met_before()).astype(np.int64) - 1
        touched = sum(((one > 0).astype(np.int64) for one in bends), touched)
        heavy = trace > _HEAVY
        rank = np.minimum(touched, rows.cells * len(self.cells.factors))
        factor = np.where(heavy, 0.0, enlargement(trace, rank))
        grown = factor.take(rows.item)
        pull, extras = rows.pull * grown, [rows.by_item(extra) * factor for extra in rows.extras]
        mixed = [summed(rows.pair, pull * extra.take(rows.item), many) for extra in extras]
        corner = np.array([[one @ other for other in extras] for one in extras]).reshape(len(extras), len(extras))
        product = assembled(pairs, summed(rows.pair, pull**2, many), mixed, corner)
        product[:models, :models] += met.products(pull, models)
        for _, touching, own in self._exact(rows, heavy):
            product[np.ix_(touching, touching)] += np.outer(own, own)
        squares = of_parameters(pairs, [summed(rows.pair, rows.bend**2, many), *(one**2 for one in bends)])
        squares[:models] += met.shared(rows.bend, models)
        return ScoreVectors(
            product=product,
            clusters=int(np.count_nonzero(count)),
            clusters_of=met.items_of(models),
            weight=of_parameters(pairs, [summed(rows.pair, rows.bend, many), *bends]),
            squares=squares,
        )

    def _exact(self, rows: _RowScores, heavy: BoolArray) -> Iterator[tuple[int, IntArray, FloatArray]]:
        """Of each heavy item: the parameters it touches, and its score on them as if it had had no say."""
        if not heavy.any():
            return
        pairs, beyond = self.cells.pairs, np.arange(self.cells.pairs.models, self.cells.width)
        before, root = np.zeros(0), np.zeros((0, 0))
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
            if not np.array_equal(touched, before):  # most often all items touch the same: all there are
                root, _ = square_roots(self.bread[np.ix_(touched, touched)])
                before = touched
            yield item, touched, without_itself(own, information, root)


def without_itself(score: FloatArray, information: FloatArray, root: FloatArray) -> FloatArray:
    """(I - information bread)^-1 score, as far as a cluster does not carry something alone; bread = root root'."""
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
    # A part of the items also costs a product of models by models.
    room = max(numbers, width**2 // _PARTS)
    clustering = _Clustering(cells=cells, bread=bread, sparse_from=sparse_from, room=room)
    met = max(_FEW, len(item) // max(items, 1))
    ordered = item_order(item, items, met if width >= sparse_from else width, numbers=numbers)
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
        for found in clustering.scores(rows):
            if isinstance(found, ScoreVectors):
                together = together.plus(found)
            else:
                single.append(found)
    return together.plus(clustering.along_pairs(single)) if single else together


def summed_scores(cells: CellScores, sums: FloatArray, bread: FloatArray) -> ScoreVectors | None:
    """What `clustered_scores` gives of rows that are summed up, items x cells. None where an item's leverage wants its
    rows, or where most items compare one pair."""
    trace = sums @ cells.leverage(bread)
    there = sums > 0
    several = np.count_nonzero(there.reshape(len(sums), -1, len(_OUTCOMES)).any(axis=2), axis=1) > 1
    if bool((trace > _HEAVY).any()) or cells.width >= SPARSE_FROM or 2 * np.count_nonzero(several) <= len(sums):
        return None
    bend, extra_bends = cells.bends()
    weights = sums @ _of_parameters(cells, (bend, *extra_bends), 1)
    touched = weights > 0
    rank = np.minimum(np.count_nonzero(touched, axis=1) - 1, np.count_nonzero(there, axis=1) * len(cells.factors))
    scores = sums @ _of_parameters(cells, (cells.pull, *cells.extras), -1) * enlargement(trace, rank)[:, None]
    return ScoreVectors(
        product=scores.T @ scores,
        clusters=int(np.count_nonzero(there.any(axis=1))),
        clusters_of=np.count_nonzero(touched, axis=0)[: cells.pairs.models],
        weight=weights.sum(axis=0),
        squares=np.einsum("gp,gp->p", weights, weights),
    )


def _of_parameters(cells: CellScores, added: Sequence[FloatArray], turn: int) -> FloatArray:
    """Cells x parameters: what a row of the cell adds to both models, to the second times `turn`, and to each extra."""
    lead, *extras = added
    found, rows = np.zeros((len(lead), cells.width)), np.arange(len(lead))
    found[rows, cells.pairs.first[cells.pair]] = lead
    found[rows, cells.pairs.second[cells.pair]] = turn * lead
    found[:, cells.pairs.models :] = np.column_stack(extras) if extras else 0.0
    return found


def item_scores(
    cells: CellScores, cell: Codes, item: Codes, weight: FloatArray | None, bread: FloatArray
) -> FloatArray:
    """Items x parameters: the score of each item as if it had had no say; 0 of an item without rows."""
    clustering = _Clustering(cells=cells, bread=bread, sparse_from=SPARSE_FROM, room=NUMBERS)
    whole = ItemBlock(rows=slice(None), item=item, items=int(item.max(initial=-1)) + 1)
    return clustering.item_table(clustering.rows(cell, weight, whole))


def _distinct(item: IntArray, cell: IntArray, items: int, cells: int) -> IntArray:
    """Of each item: how many different cells its rows have."""
    # In one number, for numbers are sorted many times faster than their places.
    packed = item * cells + cell
    packed.sort()
    new = np.concatenate(([True], packed[1:] != packed[:-1]))[: len(packed)]
    return np.bincount(packed[new] // cells, minlength=items)


def _pairs_by_item(rows: _RowScores) -> tuple[IntArray, BoolArray]:
    """A pair that the item compares, -1 where it has no row; and whether it compares several."""
    pair_of = np.full(rows.items, -1)
    pair_of[rows.item] = rows.pair
    several = np.zeros(rows.items, dtype=np.bool_)
    several[rows.item[rows.pair != pair_of.take(rows.item)]] = True
    return pair_of, several
