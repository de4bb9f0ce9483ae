"""Two models of which one does the better the more rows an item has: which difference an interval is about.

Rows weigh alike, so that an item weighs as many as it has. Over items drawn anew, the truth is then decided by the few
with very many rows; over items of the sizes at hand, it is not; and where the rows of an item share one weight, every
item weighs alike and its size is no matter.
"""

from functools import cache, partial
from typing import Literal, TypeAlias

import numpy as np

from bench.coverage_designs import Drawn, Found
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.comparisons import Comparisons

About: TypeAlias = Literal["items drawn anew", "items of these sizes", "items that weigh alike"]

ITEM_SPREAD = 1.0


def of_sizes(items: int, spread: float, rising: float, about: About, rng: np.random.Generator) -> Found:
    """`spread` is the deviation of the logarithm of an item's rows, `rising` the log-odds for each such deviation."""
    z = rng.normal(size=items)
    rows = _rows(z, spread)
    lead = rising * z + rng.normal(0, ITEM_SPREAD, items)
    item = np.repeat(np.arange(items), rows)
    won = rng.random(len(item)) < 1 / (1 + np.exp(-lead[item]))
    seen = Comparisons(
        models=("one", "other"),
        model_a=np.zeros(len(item), dtype=np.int32),
        model_b=np.ones(len(item), dtype=np.int32),
        sign=np.where(won, 1, -1).astype(np.int8),
        item=item.astype(np.int32),
        weight=(1 / rows)[item] if about == "items that weigh alike" else None,
    )
    rated = bradley_terry(seen)
    gaps = differences(rated)
    if about == "items of these sizes":
        share = float(_chances(rising * z) @ rows) / float(rows.sum())
    else:
        share = _share(spread, rising, about == "items drawn anew")
    truth = np.array([np.log(share / (1 - share)) * rated.scale.unit])
    return Found.within(gaps.lower[:1, 1], gaps.upper[:1, 1], truth)


def _rows(z: np.ndarray, spread: float) -> np.ndarray:
    return np.maximum(np.rint(4 * np.exp(spread * z)), 1).astype(np.int64)


def _chances(lead: np.ndarray) -> np.ndarray:
    """Of winning a row, over what is an item's own."""
    node, weight = np.polynomial.hermite_e.hermegauss(40)
    return (1 / (1 + np.exp(-(lead[:, None] + ITEM_SPREAD * node)))) @ (weight / weight.sum())


@cache
def _share(spread: float, rising: float, by_rows: bool) -> float:
    z = np.linspace(-7, 10, 20_001)
    density = np.exp(-(z**2) / 2) * (_rows(z, spread) if by_rows else 1)
    return float(_chances(rising * z) @ density) / float(density.sum())


DESIGNS: dict[str, Drawn] = {
    f"sizes (sd {spread:g}) and strength rise together, {items} items, {about}": partial(
        of_sizes, items, spread, rising, about
    )
    for about in ("items drawn anew", "items of these sizes", "items that weigh alike")
    for spread, rising in ((1.0, 0.8), (1.5, 0.8))
    for items in (20, 100)
}
