"""Whether a judge's verdict stays when the two answers change places, and whether it favours the place shown first."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.vote import Vote
from evenhand.stats.intervals import share_of_clusters
from evenhand.stats.ratings.codes import Codes, dense, first_rows
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import item_blocks
from evenhand.stats.ratings.row_parts import RowsInParts
from evenhand.stats.ratings.sums import summed

_Integers: TypeAlias = npt.NDArray[np.int64]
_Floats: TypeAlias = npt.NDArray[np.float64]
_WIDEST = 2**62
_CELLS_A_ROW = 32
"""Cells of items and ordered pairs up to which they are counted in a table and not sorted."""
_NUMBERS = 250_000
"""Of those held at once: few enough for a processor's own memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderBias:
    """All over the pairs with both orders read; a pair is one item, two models and one rater. Clustered by item."""

    swap_consistency: Estimate
    """Share of pairs whose outcome, mapped to the models, has the same sign in both orders; a tie is its own value."""
    swap_consistency_without_ties: Estimate
    """The same over pairs that neither order called a tie."""
    first_position_share: Estimate
    """(Wins of the first shown + half the ties) / verdicts."""
    first_position_share_without_ties: Estimate
    one_order_only: int
    """Pairs left out because only one order was read."""
    raters: int = 1
    """Whose pairs these are; intervals tell of other items, not of other raters."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.swap_consistency.as_json("swap_consistency"),
            **self.swap_consistency_without_ties.as_json("swap_consistency_without_ties"),
            **self.first_position_share.as_json("first_position_share"),
            **self.first_position_share_without_ties.as_json("first_position_share_without_ties"),
            "one_order_only": self.one_order_only,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapped:
    """Pairs with both orders read, by what became of the verdict when the answers swapped positions.

    Parts of pairs where an order was asked several times: every verdict of the one meets every verdict of the other.
    """

    same_winner: float
    tie_twice: float
    first_twice: float
    """The answer shown first was chosen both times."""
    second_twice: float
    tie_once: float

    @property
    def pairs(self) -> int:
        return round(self.same_winner + self.tie_twice + self.first_twice + self.second_twice + self.tie_once)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pairs:
    """Pairs with both orders read."""

    item: Codes
    first: npt.NDArray[np.float64]
    """Pairs x 2 orders: share of the order's verdicts that the first shown won; with `tie` and `second` 1 in all."""
    tie: npt.NDArray[np.float64]
    second: npt.NDArray[np.float64]
    one_order_only: int
    rater: Codes

    @property
    def same_winner(self) -> npt.NDArray[np.float64]:
        # The same model won both times, so the winner's place changed.
        return self.first[:, 0] * self.second[:, 1] + self.second[:, 0] * self.first[:, 1]


def swapped(shown: Comparisons) -> Swapped:
    """The same pairs and weights as `order_bias`: the first two parts are its swap consistency."""
    pairs = _pairs(shown)
    tie = pairs.tie
    return Swapped(
        same_winner=float(pairs.same_winner.sum()),
        tie_twice=float(tie.prod(axis=1).sum()),
        first_twice=float(pairs.first.prod(axis=1).sum()),
        second_twice=float(pairs.second.prod(axis=1).sum()),
        tie_once=float((tie * (1 - tie[:, ::-1])).sum()),
    )


def order_bias(shown: Iterable[Vote] | Comparisons) -> OrderBias:
    """A pair counts once in consistency and as two verdicts, one per order, in the first-position share.

    Replicates: no repetition of one order is the twin of one of the other, so every verdict of the one meets every
    verdict of the other, by weight. An order counts 1 however many of its replicates were read; else the better model's
    turn at the first place could outweigh the other's and pass for a bias. Rows of which nobody knows the order count
    nowhere.
    """
    rows = shown if isinstance(shown, Comparisons) else Comparisons.of_votes(list(shown))
    return _bias_of(_pairs_of(rows))


def order_bias_in_parts(rows: RowsInParts) -> OrderBias:
    """What `order_bias` gives of all rows, from sums by item."""
    return _bias_of(pairs for part in rows for pairs in _pairs_of(part))


def _bias_of(found: "Iterable[_Pairs]") -> OrderBias:
    """Of pairs of different items."""
    sums: dict[str, list[tuple[_Floats, _Floats, float]]] = {}
    one_order_only, raters = 0, set[int]()
    for pairs in found:
        one_order_only += pairs.one_order_only
        raters.update(np.unique(pairs.rater).tolist())
        for name, (successes, cases, items) in _cases(pairs).items():
            sums.setdefault(name, []).append(_of_items(successes, cases, items))
    shares = {
        name: share_of_clusters(
            np.concatenate([size for size, _, _ in of]),
            np.concatenate([won for _, won, _ in of]),
            sum(squares for _, _, squares in of),
        )
        for name, of in sums.items()
    }
    return OrderBias(**shares, one_order_only=one_order_only, raters=len(raters))


def _cases(pairs: "_Pairs") -> dict[str, tuple[_Floats, _Floats, Codes]]:
    """Of each share: successes, cases and the items they are of."""
    kept, decided = pairs.same_winner, pairs.first + pairs.second
    twice = np.repeat(pairs.item, 2)
    return {
        "swap_consistency": (kept + pairs.tie.prod(axis=1), np.ones(len(kept)), pairs.item),
        "swap_consistency_without_ties": (kept, decided.prod(axis=1), pairs.item),
        "first_position_share": ((pairs.first + pairs.tie / 2).ravel(), np.ones(len(twice)), twice),
        "first_position_share_without_ties": (pairs.first.ravel(), decided.ravel(), twice),
    }


def _pairs_of(shown: Comparisons) -> "Iterator[_Pairs]":
    """Some items at a time, without sorting where all rows are one rater's and the order of each is known."""
    one_rater = shown.rater is None or not len(shown) or bool((shown.rater == shown.rater[0]).all())
    models, item, first = len(shown.models), shown.item, shown.first
    items = 0 if item is None else int(item.max(initial=-1)) + 1
    cells = items * models * models * 3
    if item is None or first is None or not first.all() or not one_rater or cells > _CELLS_A_ROW * len(shown):
        yield _pairs(shown)
        return
    rater = 0 if shown.rater is None or not len(shown) else int(shown.rater[0])
    at_first = first > 0
    one, other = (
        np.where(at_first, *sides) for sides in ((shown.model_a, shown.model_b), (shown.model_b, shown.model_a))
    )
    told, weight = shown.sign * first, shown.counts
    for block in item_blocks(item, items, models * models * 3, numbers=_NUMBERS):
        rows = block.rows
        pair = (block.item * np.int64(models) + one[rows]) * models + other[rows]
        yield _counted_pairs(
            pair * 3 + (1 - told[rows]), None if weight is None else weight[rows], block.items, models, rater
        )


def _counted_pairs(key: _Integers, weight: "_Floats | None", items: int, models: int, rater: int) -> "_Pairs":
    """`key`: of each row its item, the model shown first, the other, and what became of the first."""
    cells = items * models * models
    tally = np.bincount(key, weights=weight, minlength=3 * cells).reshape(cells, 3)
    total = tally[:, 0] + tally[:, 1] + tally[:, 2]
    square = (total > 0).reshape(items, models, models)
    # A pair in its two orders are two cells that mirror each other.
    low = np.flatnonzero(square & square.transpose(0, 2, 1) & np.tri(models, k=-1, dtype=np.bool_).T)
    item, one, other = np.unravel_index(low, square.shape)
    both = np.stack((low, (item * models + other) * models + one), axis=1)
    share = tally[both] / total[both][:, :, None]
    return _Pairs(
        item=item.astype(np.int32),
        first=share[:, :, 0],
        tie=share[:, :, 1],
        second=share[:, :, 2],
        one_order_only=int(np.count_nonzero(square)) - 2 * len(low),
        rater=np.full(len(item), rater, dtype=np.int32),
    )


def _pairs(shown: Comparisons) -> _Pairs:
    nobody_knows = np.zeros(len(shown), dtype=np.int32)
    weight = np.ones(len(shown)) if shown.weight is None else shown.weight
    shown_first = nobody_knows if shown.first is None else shown.first
    counted = (weight > 0) & (shown_first != 0)
    item = (np.arange(len(shown), dtype=np.int32) if shown.item is None else shown.item)[counted]
    rater = (nobody_knows if shown.rater is None else shown.rater)[counted]
    first = shown_first[counted].astype(np.int64)
    a, b = shown.model_a[counted].astype(np.int64), shown.model_b[counted].astype(np.int64)
    low, high = np.minimum(a, b), np.maximum(a, b)
    pair = dense(_keys(item, rater, low, high))
    one_row = first_rows(pair)
    low_first = (np.where(first > 0, a, b) == low).astype(np.int64)
    cell = (pair * 2 + low_first) * 3 + 1 - shown.sign[counted] * first
    tally = np.bincount(cell, weights=weight[counted], minlength=6 * len(one_row)).reshape(-1, 2, 3)
    total = tally.sum(axis=2)
    both = (total > 0).all(axis=1)
    share = tally[both] / total[both][:, :, None]
    return _Pairs(
        item=item[one_row[both]],
        first=share[:, :, 0],
        tie=share[:, :, 1],
        second=share[:, :, 2],
        one_order_only=len(one_row) - int(np.count_nonzero(both)),
        rater=rater[one_row[both]],
    )


def _keys(item: Codes, rater: Codes, low: _Integers, high: _Integers) -> npt.NDArray[np.int64]:
    """One number for each item, rater and pair of models."""
    raters, models = int(rater.max(initial=0)) + 1, int(high.max(initial=0)) + 1
    seen = item.astype(np.int64) * raters + rater
    if (int(item.max(initial=0)) + 1) * raters * models * models > _WIDEST:
        seen = dense(seen).astype(np.int64)
    return (seen * models + low) * models + high


def _of_items(successes: _Floats, cases: _Floats, items: Codes) -> tuple[_Floats, _Floats, float]:
    """Of each item its cases and successes; and the sum of the squares of all cases."""
    many = int(items.max(initial=-1)) + 1
    # Sums of thirds can pass 1 by a rounding error.
    size, won = (summed(items, each, many) for each in (cases, np.minimum(successes, cases)))
    return size, won, float(np.square(cases).sum())
