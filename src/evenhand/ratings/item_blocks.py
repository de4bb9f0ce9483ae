"""Rows gathered by item, some items at a time, so that a table of items by models never has to stand whole."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.ratings.codes import Codes

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
