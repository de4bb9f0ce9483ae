"""Rows of a table that show one rater the same two answers in the same order again."""

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from evenhand.format.words import counted
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import crossing

Repeats: TypeAlias = Literal["share", "count"]
"""Whether repeats share one weight, as replicates in the ledger do, or each counts."""


def with_repeats(comparisons: Comparisons, how: Repeats) -> tuple[Comparisons, tuple[str, ...]]:
    """With the weights that `how` gives them, and a sentence where there are any.

    Without items, or without raters, no row is known to repeat another: each may be another rater's.
    """
    if comparisons.item is None or comparisons.rater is None:
        return comparisons, ()
    models = len(comparisons.models)
    a, b = comparisons.model_a.astype(np.int64), comparisons.model_b.astype(np.int64)
    swapped = np.zeros(len(a), np.bool_) if comparisons.first is None else comparisons.first < 0
    shown = np.where(swapped, b * models + a, a * models + b)
    keys = crossing(comparisons.item, comparisons.rater).astype(np.int64) * models**2 + shown
    _, place = np.unique(keys, return_inverse=True)
    weight = np.ones(len(a)) if comparisons.weight is None else comparisons.weight
    times = np.bincount(place.ravel(), weights=weight > 0)[place.ravel()]
    repeated = int(np.count_nonzero((times > 1) & (weight > 0)))
    if not repeated:
        return comparisons, ()
    who = f"{counted(repeated, 'row')} show a rater the same two answers to the same item in the same order again"
    if how == "count":
        return comparisons, (f"{who}: each counts in full, as --repeats count asks.",)
    shared = replace(comparisons, weight=weight / np.maximum(times, 1))
    return shared, (f"{who}: repeats share one weight; --repeats count counts each in full.",)
