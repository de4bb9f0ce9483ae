"""Win rates of rows in parts, from sums by item and model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evenhand.stats.intervals import LEVEL, left_out
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import item_blocks
from evenhand.stats.ratings.row_parts import PairPlaces, RowsInParts
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable
from evenhand.stats.ratings.win_rate import Policy, ShareSums, WinRate, named_rates

_POINTS: dict[Policy, tuple[float, float, float]] = {
    "average": (0.0, 0.5, 1.0),
    "creation": (0.0, 0.0, 1.0),
    "visit": (0.0, 0.0, 1.0),
}
"""What a loss, a tie and a win are worth."""
_COUNTED: dict[Policy, tuple[int, ...]] = {
    "average": (LOSS, TIE, WIN),
    "creation": (LOSS, TIE, WIN),
    "visit": (LOSS, WIN),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sums:
    """Of each model; what clusters add to its share's interval is added up."""

    n: FloatArray
    won: FloatArray
    rows: FloatArray
    variance: FloatArray = field(init=False)
    squares: FloatArray = field(init=False)
    items: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        for name, kind in (("variance", np.float64), ("squares", np.float64), ("items", np.int64)):
            object.__setattr__(self, name, np.zeros(len(self.n), dtype=kind))

    @property
    def share(self) -> FloatArray:
        return np.clip(self.won / np.where(self.n > 0, self.n, 1.0), 0.0, 1.0)

    def add(self, weight: FloatArray, won: FloatArray, there: npt.NDArray[np.bool_]) -> None:
        """Clusters x models."""
        n = np.where(self.n > 0, self.n, 1.0)
        deviation = (won - self.share * weight) / n * left_out(weight / n)
        self.variance[:] += np.einsum("im,im->m", deviation, deviation)
        self.squares[:] += np.einsum("im,im->m", weight, weight)
        self.items[:] += np.count_nonzero(there, axis=0)

    def add_alike(self, model: Codes, count: FloatArray, weight: FloatArray | float, worth: float) -> None:
        """Clusters of one row each: of a model so many of this weight, which won so much."""
        n, models = self.n[model], len(self.n)
        each = np.broadcast_to(weight, count.shape)
        deviation = each * (worth - self.share[model]) / n * left_out(each / n)
        self.variance[:] += summed(model, count * deviation**2, models)
        self.squares[:] += summed(model, count * each**2, models)
        self.items[:] += summed(model, count, models).astype(np.int64)

    def estimated(self, table: PairTable, models: Sequence[str], level: float) -> tuple[WinRate, ...]:
        sums = ShareSums(
            share=self.share,
            n=self.n,
            items=self.items,
            variance=self.variance,
            squares=self.squares,
            rows=self.rows,
        )
        return named_rates(table, models, sums.estimates(level))


def win_rates_in_parts(
    rows: RowsInParts, table: PairTable, policies: Sequence[Policy], *, level: float = LEVEL
) -> dict[Policy, tuple[WinRate, ...]]:
    """What `win_rates` gives of all rows by each policy; `table`: their sums by pair."""
    counts, squares = table.of_models(), table.of_models(table.squares)
    found: dict[Policy, _Sums] = {}
    for policy in policies:
        counted = list(_COUNTED[policy])
        found[policy] = _Sums(
            n=counts[:, counted].sum(axis=1),
            won=counts @ np.array(_POINTS[policy]),
            rows=squares[:, counted].sum(axis=1),
        )
    if not rows.named and not rows.weighted:
        for policy, sums in found.items():
            for column in _COUNTED[policy]:
                for side, counts in _sides(table):
                    sums.add_alike(side, counts[:, column], 1.0, _POINTS[policy][column])
    for part in () if not rows.named and not rows.weighted else rows.counted():
        for outcomes, there in _outcomes_of_clusters(part):
            for policy, sums in found.items():
                counted = list(_COUNTED[policy])
                weight = outcomes[:, :, counted].sum(axis=2)
                met = np.logical_or.reduce([there[:, :, column] for column in counted])
                sums.add(weight, outcomes @ np.array(_POINTS[policy]), np.asarray(met, dtype=np.bool_))
    return {policy: sums.estimated(table, rows.models, level) for policy, sums in found.items()}


def mean_win_rates_in_parts(rows: RowsInParts, table: PairTable, *, level: float = LEVEL) -> tuple[WinRate, ...]:
    """What `mean_win_rates` gives of all rows."""
    models, met = len(rows.models), table.counts.sum(axis=1)
    opponents = summed(table.first, None, models) + summed(table.second, None, models)
    per_opponent = table.of_models().sum(axis=1) / np.maximum(opponents, 1)
    points = np.array([0.0, 0.5, 1.0])
    n, won, squares = np.zeros(models), np.zeros(models), np.zeros(models)
    for side, counts in _sides(table):
        each = per_opponent[side] / met
        n += summed(side, each * met, models)
        won += summed(side, each * (counts @ points), models)
        squares += summed(side, each**2 * table.squares.sum(axis=1), models)
    sums, places = _Sums(n=n, won=won, rows=squares), PairPlaces.of(table)
    if not rows.named and not rows.weighted:
        for side, counts in _sides(table):
            for column, worth in enumerate(points.tolist()):
                sums.add_alike(side, counts[:, column], per_opponent[side] / met, worth)
        return sums.estimated(table, rows.models, level)
    for part in rows.counted():
        weight = 1 / met.take(places.pair(part)) if part.weight is None else part.weight / met.take(places.pair(part))
        for block in _blocks(part, models):
            kept = block.rows
            length = block.items * models
            total, gained = np.zeros(length), np.zeros(length)
            for side, turn in ((part.model_a, 1), (part.model_b, -1)):
                at = block.item * np.int64(models) + side[kept]
                value = weight[kept] * per_opponent.take(side[kept])
                total += summed(at, value, length)
                gained += summed(at, value * points.take(turn * part.sign[kept] + 1), length)
            shape = (block.items, models)
            sums.add(total.reshape(shape), gained.reshape(shape), total.reshape(shape) > 0)
    return sums.estimated(table, rows.models, level)


def _sides(table: PairTable) -> tuple[tuple[Codes, FloatArray], ...]:
    """The models of each row's side, and their losses, ties and wins."""
    return (table.first, table.counts), (table.second, table.counts[:, ::-1])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    rows: "npt.NDArray[np.intp] | slice"
    item: npt.NDArray[np.int64]
    items: int


def _blocks(part: Comparisons, models: int) -> Iterator[_Block]:
    """Clusters, some at a time: items, or rows where no items are named."""
    item = np.arange(len(part), dtype=np.int32) if part.item is None else part.item
    for block in item_blocks(item, int(item.max(initial=-1)) + 1, 3 * models):
        yield _Block(rows=block.rows, item=block.item.astype(np.int64), items=block.items)


def _outcomes_of_clusters(part: Comparisons) -> Iterator[tuple[FloatArray, npt.NDArray[np.bool_]]]:
    """Clusters x models x 3: the weight of the losses, ties and wins, and whether there are any."""
    models = len(part.models)
    for block in _blocks(part, models):
        length = block.items * models * 3
        sign = part.sign[block.rows]
        weight = None if part.weight is None else part.weight[block.rows]
        begin = block.item * models
        found = summed((begin + part.model_a[block.rows]) * 3 + 1 + sign, weight, length)
        found += summed((begin + part.model_b[block.rows]) * 3 + 1 - sign, weight, length)
        shaped = found.reshape(block.items, models, 3)
        yield shaped, shaped > 0
