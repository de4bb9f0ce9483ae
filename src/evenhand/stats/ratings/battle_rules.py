"""From votes to battles: the rows of one item, pair of models and rater joined to one by a named rule."""

from dataclasses import replace

import numpy as np

from evenhand.domain.vote import Joining
from evenhand.stats.ratings.by_item import cells_by_item
from evenhand.stats.ratings.codes import dense, first_rows
from evenhand.stats.ratings.comparisons import Comparisons

_ROUNDING = 1e-9


def joined(comparisons: Comparisons, rule: Joining) -> Comparisons:
    """One row of weight 1 for each battle, in order of its first vote; rows without items stay as they are.

    `visit`: more wins takes it. `mt-bench`: a win needs every vote. A vote counts its weight, so that the replicates of
    a trial count together as one.
    """
    if comparisons.item is None:
        return comparisons
    if comparisons.weight is not None and not comparisons.weight.all():
        comparisons = comparisons.rows(comparisons.weight > 0)
    assert comparisons.item is not None
    models = len(comparisons.models)
    low = np.minimum(comparisons.model_a, comparisons.model_b).astype(np.int64)
    high = np.maximum(comparisons.model_a, comparisons.model_b).astype(np.int64)
    rater = np.zeros(len(low), dtype=np.int64) if comparisons.rater is None else comparisons.rater
    seen = comparisons.item.astype(np.int64) * (int(rater.max(initial=0)) + 1) + rater
    battle = dense((dense(seen).astype(np.int64) * models + low) * models + high)
    first_row = first_rows(battle)
    facing = np.where(comparisons.model_a == low, comparisons.sign, -comparisons.sign)
    weight = np.ones(len(low)) if comparisons.weight is None else comparisons.weight
    total = np.bincount(battle, weights=facing * weight, minlength=len(first_row))
    whole = np.bincount(battle, weights=weight, minlength=len(first_row))
    # Thirds do not add up to one.
    hair = _ROUNDING * whole
    if rule == "visit":
        outcome = np.where(np.abs(total) > hair, np.sign(total), 0.0)
    else:
        outcome = np.where(np.abs(total) >= whole - hair, np.sign(total), 0.0)
    in_order = np.argsort(first_row)
    kept = np.zeros(len(low), dtype=np.bool_)
    kept[first_row] = True
    rows = comparisons.rows(kept)
    sign = outcome[in_order] * np.where(rows.model_a < rows.model_b, 1, -1)
    return replace(rows, sign=sign.astype(np.int8), weight=None, first=None, value=None, length=None)


def battles_in(comparisons: Comparisons) -> int:
    """How many `joined` would make, of rows with weight."""
    raters = comparisons.rater
    one_rater = raters is None or not len(raters) or bool((raters == raters[0]).all())
    cells = comparisons.once(cells_by_item) if one_rater and comparisons.cluster is None else None
    if cells is None:
        return len(joined(comparisons, "visit"))
    return int(np.count_nonzero(cells.reshape(len(cells), -1, 3).any(axis=2)))
