"""Who stood first as covariates of a fit, where the data can tell its effect from the models' strengths."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.format.words import counted
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import clusters_in
from evenhand.stats.ratings.sums import FloatArray

LEAST_ITEMS = 10
"""Judged in both orders by a rater who is to have an effect of its own."""
MOST_RATERS = 50
"""With an effect of their own."""
_DENSE = 40_000_000
"""Numbers up to which all are counted, not the distinct ones sorted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Orders:
    """Of each comparison with weight."""

    first: FloatArray
    """1 where model_a stood first, -1 where model_b did, 0 where nobody knows."""
    telling: BoolArray
    """The order is known, and the strengths of the two models differ by a finite number."""
    pair: npt.NDArray[np.int64]
    """The same for both sides of a pair."""
    low_first: BoolArray
    """Which of the pair's models stood first; means nothing where the order is not known."""


def orders(seen: Comparisons, group: IntArray) -> Orders:
    """`group` as a structure numbers it: strengths differ by a finite number within one."""
    first = np.zeros(len(seen)) if seen.first is None else seen.first.astype(np.float64)
    low, high = np.minimum(seen.model_a, seen.model_b), np.maximum(seen.model_a, seen.model_b)
    return Orders(
        first=first,
        telling=(first != 0) & (group[seen.model_a] == group[seen.model_b]),
        pair=low.astype(np.int64) * len(seen.models) + high,
        low_first=(first > 0) == (seen.model_a < seen.model_b),
    )


def in_both_orders(of: Orders, rater: npt.NDArray[np.integer] | None = None) -> BoolArray:
    """The telling rows whose pair was seen in both orders; with `rater`, by the row's own rater."""
    pairs = int(of.pair.max(initial=0)) + 1
    who = np.zeros(len(of.pair), np.int64) if rater is None else rater.astype(np.int64)
    key, size = who * pairs + of.pair, (int(who.max(initial=0)) + 1) * pairs
    if size > _DENSE:
        distinct, key = np.unique(key, return_inverse=True)
        size = len(distinct)
    low_first, high_first = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    low_first[key[of.telling & of.low_first]] = True
    high_first[key[of.telling & ~of.low_first]] = True
    return of.telling & (low_first & high_first)[key]


def why_untold(of: Orders) -> str | None:
    """Why no order effect can be fitted; None where it can."""
    if not of.first.any():
        return "No row says which answer was shown first."
    if in_both_orders(of).any():
        return None
    known = Orders(first=of.first, telling=of.first != 0, pair=of.pair, low_first=of.low_first)
    if in_both_orders(known).any():
        return "Every pair of models seen in both orders was won by the same model each time, whichever stood first."
    return "No pair of models was seen in both orders: being first cannot be told from being better."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RaterColumns:
    own: tuple[int, ...]
    """Raters with a column of their own, in its order; one more column is for all other rows if `common`."""
    common: bool
    columns: FloatArray
    reasons: dict[int, str]
    """Of each rater without a column of its own: why."""
    crowded: str | None = None
    """Why nobody has a column though some could."""


def rater_columns(plain: Solution, of: Orders, rater: npt.NDArray[np.integer]) -> RaterColumns:
    """A rater has a column of its own where it judged pairs in both orders on at least 10 items, all others share one.

    Where more than 50 raters would have one, or ratings and effects together would be as many as the items, all share.
    """
    both = in_both_orders(of, rater)
    items = _items_by_rater(plain, rater, both)
    own = np.flatnonzero(items >= LEAST_ITEMS)
    reasons = {int(code): _why_shared(int(items[code])) for code in np.flatnonzero(items < LEAST_ITEMS)}
    crowded = _why_too_many(plain, len(own)) if own.size else None
    if crowded is not None:
        reasons |= {int(code): crowded for code in own}
        own = own[:0]
    rest = Orders(first=of.first, telling=of.telling & ~np.isin(rater, own), pair=of.pair, low_first=of.low_first)
    common = bool(in_both_orders(rest).any())
    masks = [rater == code for code in own] + ([~np.isin(rater, own)] if common else [])
    columns = (
        np.stack([np.where(mask, of.first, 0.0) for mask in masks], axis=1) if masks else np.zeros((len(rater), 0))
    )
    return RaterColumns(own=tuple(own.tolist()), common=common, columns=columns, reasons=reasons, crowded=crowded)


def _items_by_rater(plain: Solution, rater: npt.NDArray[np.integer], rows: BoolArray) -> IntArray:
    seen = plain.everything
    item = np.arange(len(seen), dtype=np.int64) if seen.item is None else seen.item.astype(np.int64)
    items = int(item.max(initial=0)) + 1
    key, size = rater[rows].astype(np.int64) * items + item[rows], items * len(seen.raters)
    distinct = np.unique(key) if size > _DENSE else np.flatnonzero(np.bincount(key, minlength=size))
    return np.bincount(distinct // items, minlength=len(seen.raters))


def _why_shared(items: int) -> str:
    if not items:
        return "It saw no pair of models in both orders."
    return f"It judged pairs in both orders on {counted(items, 'item')}, fewer than {LEAST_ITEMS}."


def _why_too_many(plain: Solution, own: int) -> str | None:
    if own > MOST_RATERS:
        return f"{own} raters could have an effect of their own, more than {MOST_RATERS}: all share one."
    items = clusters_in(plain.comparisons)
    models = int(np.count_nonzero(plain.grouped.table.of_models().sum(axis=1)))
    if models + own >= items:
        return f"{models} ratings and {own} effects would rest on {items} items: all raters share one effect."
    return None
