"""Sums by item: what measures that are clustered by item need of many rows, counted once for all of them."""

import numpy as np

from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import pair_table

_A_ROW = 2
"""Numbers for each row up to which a table of sums is worth it."""


def cells_by_item(comparisons: Comparisons) -> FloatArray | None:
    """Items x cells of the pair table: the weight of each item's rows, or of those of whatever they are clustered by.

    None: there are none, nothing groups them, or the table would be larger than they are.
    """
    by = comparisons.grouped_by
    if by is None or not len(by):
        return None
    grouped, items = pair_table(comparisons), int(by.max(initial=-1)) + 1
    cells = grouped.table.counts.size
    if items * cells > _A_ROW * len(comparisons):
        return None
    return summed(by * np.int64(cells) + grouped.cell, comparisons.counts, items * cells).reshape(items, cells)


def outcomes_by_item(comparisons: Comparisons) -> FloatArray | None:
    """Items x models x 3: the weight of each model's losses, ties and wins there. None as above."""
    by, models = comparisons.grouped_by, len(comparisons.models)
    if by is None or not len(by):
        return None
    items = int(by.max(initial=-1)) + 1
    length = items * models * 3
    if length > _A_ROW * len(comparisons):
        return None
    cells = comparisons.once(cells_by_item)
    if cells is not None:
        of_pairs = cells.reshape(items, -1, 3).transpose(2, 0, 1)
        table = pair_table(comparisons).table
        first, second = (
            np.equal.outer(side, np.arange(models)).astype(np.float64) for side in (table.first, table.second)
        )
        return np.ascontiguousarray((of_pairs @ first + of_pairs[::-1] @ second).transpose(1, 2, 0))
    begin, sign = by * np.int64(models), comparisons.sign
    found = summed((begin + comparisons.model_a) * 3 + 1 + sign, comparisons.counts, length)
    found += summed((begin + comparisons.model_b) * 3 + 1 - sign, comparisons.counts, length)
    return found.reshape(items, models, 3)
