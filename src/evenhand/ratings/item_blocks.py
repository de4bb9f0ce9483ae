"""Rows gathered by item, some items at a time, so that a table of items by models never has to stand whole."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.ratings.codes import Codes
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.sums import FloatArray, summed

_NUMBERS = 4_000_000
"""Held at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ItemBlock:
    rows: npt.NDArray[np.intp] | slice
    item: Codes
    """Of those rows, numbered within the block."""
    items: int


def item_blocks(item: Codes, items: int, width: int) -> Iterator[ItemBlock]:
    """Every row once, the rows of an item together; an item takes up `width` numbers."""
    size = max(_NUMBERS // max(width, 1), 1, -(-items // 65_536))
    if items <= size:
        yield ItemBlock(rows=slice(None), item=item, items=items)
        return
    # numpy sorts numbers of 16 bits by counting, many times faster than the items themselves.
    block = (item // size).astype(np.uint16)
    order = np.argsort(block, kind="stable")
    ends = np.cumsum(np.bincount(block, minlength=-(-items // size)))
    for number, (start, end) in enumerate(zip((0, *ends[:-1]), ends, strict=True)):
        rows = order[start:end]
        first = number * size
        yield ItemBlock(rows=rows, item=item[rows] - np.int32(first), items=min(size, items - first))


def played_and_items(comparisons: Comparisons) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Of each model: the weight of its rows, and how many items they are of; without items, how many rows."""
    models, weight = len(comparisons.models), comparisons.weight
    if weight is not None and not weight.all():
        comparisons = comparisons.rows(weight > 0)
    sides = (comparisons.model_a, comparisons.model_b)
    one, other = sides
    played = summed(one, comparisons.weight, models) + summed(other, comparisons.weight, models)
    if comparisons.item is None:
        return played, np.bincount(one, minlength=models) + np.bincount(other, minlength=models)
    items = np.zeros(models, dtype=np.int64)
    for block in item_blocks(comparisons.item, int(comparisons.item.max(initial=-1)) + 1, models):
        seen = np.zeros(block.items * models, dtype=np.bool_)
        for who in sides:
            seen[block.item * np.int32(models) + who[block.rows]] = True
        items += seen.reshape(block.items, models).sum(axis=0)
    return played, items
