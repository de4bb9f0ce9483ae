"""The sandwich's filling where rows go together in two ways at once, such as by item and by rater.

Cameron, Gelbach and Miller (2011, J. Bus. Econ. Stat. 29, 238): the products of the clusters' scores of each grouping,
less those of the cells in which the two cross, for rows of one cell are counted in both.
"""

from dataclasses import replace

import numpy as np

from evenhand.stats.ratings.bradley_terry.likelihood import square_roots
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors, single_scores
from evenhand.stats.ratings.bradley_terry.sandwich import clustered_scores
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import crossing
from evenhand.stats.ratings.sums import FloatArray, summed

_ROOM = 1 << 62
"""Numbers that fit in 64 bits."""


def cluster_scores(cells: CellScores, cell: Codes, seen: Comparisons, bread: FloatArray) -> ScoreVectors:
    """As the rows of `seen` are grouped; `cell` of each row."""
    if seen.grouped_by is None:
        raise ValueError("Rows that are not grouped have no clusters.")
    return with_crossed(clustered_scores(cells, cell, seen.grouped_by, seen.weight, bread), cells, cell, seen, bread)


def with_crossed(
    one: ScoreVectors, cells: CellScores, cell: Codes, seen: Comparisons, bread: FloatArray
) -> ScoreVectors:
    """The scores of the rows' first grouping, and what the second adds where there is one."""
    crossed = seen.crossed
    if crossed is None or not len(seen):
        return one
    other = clustered_scores(cells, cell, crossed, seen.weight, bread)
    both = _of_crossings(cells, cell, seen, bread)
    return replace(
        one,
        product=_without_negative(one.product + other.product - both.product, bread),
        # Both groupings weigh the same, so that the one with the larger squares has the fewer effective clusters.
        squares=np.maximum(one.squares, other.squares),
    )


def _of_crossings(cells: CellScores, cell: Codes, seen: Comparisons, bread: FloatArray) -> ScoreVectors:
    """Each item and rater together a cluster: nearly all of a single row, and those of one cell are alike."""
    by, crossed = seen.grouped_by, seen.crossed
    assert by is not None
    assert crossed is not None
    raters, count = int(crossed.max(initial=-1)) + 1, len(cells.pair)
    room = (int(by.max(initial=-1)) + 1) * raters * count
    if room > _ROOM or (seen.weight is not None and bool((seen.weight != 1).any())):
        return clustered_scores(cells, cell, crossing(by, crossed), seen.weight, bread)
    # In one number, for numbers are sorted many times faster than their places.
    packed = (by.astype(np.int64) * raters + crossed) * count + cell
    packed.sort()
    crossings = packed // count
    cell = (packed - crossings * count).astype(np.int32)
    begins = np.concatenate(([True], crossings[1:] != crossings[:-1]))
    alone = begins & np.concatenate((begins[1:], [True]))
    single = single_scores(cells, summed(cell[alone], None, count), bread)
    if alone.all():
        return single
    several = ~alone
    group = (np.cumsum(begins[several]) - 1).astype(np.int32)
    return single.plus(clustered_scores(cells, cell[several], group, None, bread))


def _without_negative(product: FloatArray, bread: FloatArray) -> FloatArray:
    """With no direction of the parameters in which the difference of the groupings leaves less than nothing."""
    root, white = square_roots(bread)
    found, turn = np.linalg.eigh(root.T @ product @ root)
    turned = white @ turn
    return (turned * np.maximum(found, 0.0)) @ turned.T
