"""Rows gathered by item, some items at a time, so that a table of items by models never has to stand whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from evenhand.stats.intervals import Basis
from evenhand.stats.ratings.codes import Codes, dense
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.sums import FloatArray, summed

NUMBERS = 250_000
"""Held at once: few enough for a processor's own memory."""

MANY_NUMBERS = 4_000_000
"""Held at once where each block also costs something of its own, such as a product of models by models."""

_BLOCKS = 1 << 16
_OF_BYTE = 255

Kind = TypeVar("Kind", np.int32, np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemBlock:
    rows: npt.NDArray[np.intp] | slice
    item: Codes
    """Of those rows, numbered within the block."""
    items: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemOrder:
    """The rows of an item in one block, blocks one after the other."""

    order: npt.NDArray[np.intp] | None
    """None: the rows stand so already."""
    item: Codes
    """In that order."""
    ends: npt.NDArray[np.int64]
    """Of the blocks."""
    items: int
    size: int
    """Items in a block."""

    def taken(self, column: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        return column if self.order is None else column.take(self.order)

    def blocks(self) -> Iterator[ItemBlock]:
        """Each with its rows as a slice of what is `taken`."""
        start = 0
        for number, end in enumerate(self.ends.tolist()):
            first = number * self.size
            item = self.item[start:end] - np.int32(first)
            yield ItemBlock(rows=slice(start, end), item=item, items=min(self.size, self.items - first))
            start = end


def item_order(item: Codes, items: int, width: int, *, numbers: int = NUMBERS) -> ItemOrder:
    """Items are numbered below `items`; one takes up `width` numbers, a block about `numbers`."""
    size = max(numbers // max(width, 1), 1, -(-items // _BLOCKS))
    if items <= size:
        return ItemOrder(order=None, item=item, ends=np.array([len(item)]), items=items, size=size)
    # numpy sorts numbers of 16 bits by counting, many times faster than the items themselves.
    block = (item // np.int32(size)).astype(np.uint16)
    ends = np.cumsum(np.bincount(block, minlength=-(-items // size)))
    if bool((block[:-1] <= block[1:]).all()):
        return ItemOrder(order=None, item=item, ends=ends, items=items, size=size)
    order = np.argsort(block, kind="stable")
    return ItemOrder(order=order, item=item.take(order), ends=ends, items=items, size=size)


def item_blocks(item: Codes, items: int, width: int, *, numbers: int = MANY_NUMBERS) -> Iterator[ItemBlock]:
    """Every row once, the rows of an item together; an item takes up `width` numbers."""
    ordered = item_order(item, items, width, numbers=numbers)
    for block in ordered.blocks():
        rows = block.rows if ordered.order is None else ordered.order[block.rows]
        yield ItemBlock(rows=rows, item=block.item, items=block.items)


def played_and_items(comparisons: Comparisons) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Of each model: the weight of its rows, and how many clusters they are of; without any, how many rows."""
    models, weight = len(comparisons.models), comparisons.weight
    if weight is not None and not weight.all():
        comparisons = comparisons.rows(weight > 0)
    one, other = comparisons.model_a, comparisons.model_b
    played = summed(one, comparisons.weight, models) + summed(other, comparisons.weight, models)
    by = comparisons.grouped_by
    if by is None:
        return played, np.bincount(one, minlength=models) + np.bincount(other, minlength=models)
    ordered = item_order(by, int(by.max(initial=-1)) + 1, models)
    one, other = ordered.taken(one), ordered.taken(other)
    items = np.zeros(models, dtype=np.int64)
    for block in ordered.blocks():
        within = block.item * np.int64(models)
        items += items_met(within + one[block.rows], within + other[block.rows], block.items, models)
    return played, items


def clusters_in(comparisons: Comparisons) -> int:
    """How many items, or what rows are clustered by, the rows are of; without any, how many rows."""
    return len(comparisons) if comparisons.grouped_by is None else count_of(comparisons.grouped_by)


def effective_clusters(comparisons: Comparisons) -> float:
    """As many of equal weight as would tell as much, whatever weights are measured in. 0 without any weight."""
    weight = np.ones(len(comparisons)) if comparisons.weight is None else comparisons.weight
    by = comparisons.grouped_by
    size = weight if by is None else np.bincount(by, weights=weight)
    return Basis.of(size / size.max()).effective if size.any() else 0.0


def count_of(codes: Codes) -> int:
    """How many numbers occur."""
    return int(np.count_nonzero(np.bincount(codes)))


def crossing(one: Codes, other: Codes) -> Codes:
    """A number for each pair of numbers that occurs."""
    keys = one.astype(np.int64) * (int(other.max(initial=-1)) + 1) + other
    return dense(keys)


def items_met(
    one: npt.NDArray[np.int64], other: npt.NDArray[np.int64], items: int, models: int
) -> npt.NDArray[np.int64]:
    """Of each model: how many of the items have a row with it on a side; sides are given as item x models + model."""
    seen = np.zeros(items * models, dtype=np.uint8)
    seen[one] = 1
    seen[other] = 1
    return counts_of_columns(seen.reshape(items, models))


def counts_of_columns(marked: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Of each column how many of its bytes are 1, the others being 0."""
    found = np.zeros(marked.shape[1], dtype=np.int64)
    # Sums that fit a byte are taken in bytes, many at once.
    for begun in range(0, len(marked), _OF_BYTE):
        found += marked[begun : begun + _OF_BYTE].sum(axis=0, dtype=np.uint8)
    return found


def counts_of_rows(marked: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """The same of each row."""
    size = np.uint8 if marked.shape[1] <= _OF_BYTE else np.int64
    return marked.sum(axis=1, dtype=size).astype(np.int64)
