"""Resamples of comparisons: whole items drawn with replacement, or single battles as FastChat draws them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.ratings.codes import dense
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.sums import FloatArray, summed
from evenhand.ratings.table import Grouped

Unit: TypeAlias = Literal["items", "battles"]
Order: TypeAlias = npt.NDArray[np.intp] | npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    rounds: int = 100
    unit: Unit = "items"
    """What is drawn; battles where the comparisons name no items."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"A bootstrap needs at least one round, not {self.rounds}.")


def resampled_orders(comparisons: Comparisons, resampling: Resampling) -> Iterator[Order]:
    """Rows to be played in turn, one sequence a round: drawn units in the order drawn, an item's rows in their own."""
    rng = np.random.default_rng(resampling.seed)
    count = len(comparisons)
    if comparisons.item is None or resampling.unit == "battles":
        for _ in range(resampling.rounds):
            yield rng.integers(0, count, count, dtype=np.int32)
        return
    item = dense(comparisons.item)
    by_item = np.argsort(item, kind="stable")
    length = np.bincount(item)
    start = np.cumsum(length) - length
    for _ in range(resampling.rounds):
        drawn = rng.integers(0, len(length), len(length), dtype=np.int32)
        lengths = length[drawn]
        ends = np.cumsum(lengths)
        yield by_item[np.repeat(start[drawn] - (ends - lengths), lengths) + np.arange(int(ends[-1]))]


def resampled_counts(
    grouped: Grouped, comparisons: Comparisons, resampling: Resampling, *, at_once: int
) -> Iterator[FloatArray]:
    """The counts of `grouped.table` in resamples, up to `at_once` of them together: resamples x rows x 3."""
    rng = np.random.default_rng(resampling.seed)
    table, rows = grouped.table, len(comparisons)
    cell = grouped.row * 3 + (grouped.sign + 1)
    item = None if resampling.unit == "battles" or comparisons.item is None else dense(comparisons.item)
    units = rows if item is None else int(item.max(initial=-1)) + 1
    for begun in range(0, resampling.rounds, at_once):
        size = min(at_once, resampling.rounds - begun)
        if item is None and comparisons.weight is None:
            # Rows of one cell are alike: drawing how many fall in each is the same as drawing rows.
            drawn = rng.multinomial(rows, table.counts.ravel() / rows, size=size)
            yield drawn.reshape(size, len(table), 3).astype(np.float64)
            continue
        counts = np.empty((size, len(table) * 3))
        for place in range(size):
            times = np.bincount(rng.integers(0, units, units, dtype=np.int32), minlength=units)
            weight = (times if item is None else times[item]).astype(np.float64)
            if comparisons.weight is not None:
                weight *= comparisons.weight
            counts[place] = summed(cell, weight, len(table) * 3)
        yield counts.reshape(size, len(table), 3)
