"""Win rates of rows in parts, from sums by item and model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import item_blocks
from evenhand.stats.ratings.row_parts import PairPlaces, RowsInParts
from evenhand.stats.ratings.shares.share_sums import (
    COUNTED,
    POINTS,
    ModelSums,
    Policy,
    opponent_weights,
    opponents_alike,
    sides_of,
)
from evenhand.stats.ratings.shares.win_rate import WinRate, named_rates
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import PairTable


def win_rates_in_parts(
    rows: RowsInParts, table: PairTable, policies: Sequence[Policy], *, level: float = LEVEL
) -> dict[Policy, tuple[WinRate, ...]]:
    """What `win_rates` gives of all rows by each policy; `table`: their sums by pair."""
    found: dict[Policy, ModelSums] = {policy: ModelSums.of(table, policy) for policy in policies}
    if not rows.named and not rows.weighted:
        for policy, sums in found.items():
            for column in COUNTED[policy]:
                for side, counts in sides_of(table):
                    sums.add_alike(side, counts[:, column], 1.0, POINTS[policy][column])
    for part in () if not rows.named and not rows.weighted else rows.counted():
        for outcomes, there in _outcomes_of_clusters(part):
            for policy, sums in found.items():
                sums.add_outcomes(outcomes, there, policy)
    return {policy: named_rates(table, rows.models, sums.shares.estimates(level)) for policy, sums in found.items()}


def mean_win_rates_in_parts(rows: RowsInParts, table: PairTable, *, level: float = LEVEL) -> tuple[WinRate, ...]:
    """What `mean_win_rates` gives of all rows."""
    models, met = len(rows.models), table.counts.sum(axis=1)
    per_opponent, points = opponent_weights(table), np.array(POINTS["average"])
    (sums, weights), places = opponents_alike(table), PairPlaces.of(table)
    if not rows.named and not rows.weighted:
        for (side, counts), weight in zip(sides_of(table), weights, strict=True):
            for column, worth in enumerate(points.tolist()):
                sums.add_alike(side, counts[:, column], weight, worth)
        return named_rates(table, rows.models, sums.shares.estimates(level))
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
    return named_rates(table, rows.models, sums.shares.estimates(level))


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
