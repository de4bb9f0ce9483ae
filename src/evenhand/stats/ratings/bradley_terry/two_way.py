"""The sandwich's filling where rows go together in two ways at once, such as by item and by rater.

Cameron, Gelbach and Miller (2011, J. Bus. Econ. Stat. 29, 238): the products of the clusters' scores of each grouping,
less those of the cells in which the two cross, for rows of one cell are counted in both.
"""

from dataclasses import replace

import numpy as np

from evenhand.stats.ratings.bradley_terry.sandwich import CellScores, ScoreVectors, clustered_scores
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import crossing
from evenhand.stats.ratings.sums import FloatArray

_NOTHING = 1e-9
"""Of the largest: an axis of the inverse information along which nothing is told."""


def cluster_scores(cells: CellScores, cell: Codes, seen: Comparisons, bread: FloatArray) -> ScoreVectors:
    """As the rows of `seen` are grouped; `cell` of each row."""
    by, crossed, weight = seen.grouped_by, seen.crossed, seen.weight
    if by is None:
        raise ValueError("Rows that are not grouped have no clusters.")
    one = clustered_scores(cells, cell, by, weight, bread)
    if crossed is None:
        return one
    other = clustered_scores(cells, cell, crossed, weight, bread)
    both = clustered_scores(cells, cell, crossing(by, crossed), weight, bread)
    return replace(
        one,
        product=_without_negative(one.product + other.product - both.product, bread),
        # Both groupings weigh the same, so that the one with the larger squares has the fewer effective clusters.
        squares=np.maximum(one.squares, other.squares),
    )


def _without_negative(product: FloatArray, bread: FloatArray) -> FloatArray:
    """With no direction of the parameters in which the difference of the groupings leaves less than nothing."""
    size, axes = np.linalg.eigh(bread)
    kept = size > _NOTHING * size.max(initial=0.0)
    root, white = axes[:, kept] * np.sqrt(size[kept]), axes[:, kept] / np.sqrt(size[kept])
    found, turn = np.linalg.eigh(root.T @ product @ root)
    turned = white @ turn
    return (turned * np.maximum(found, 0.0)) @ turned.T
