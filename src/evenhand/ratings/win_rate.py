"""How often each model won, a tie counted as half a win."""

from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.intervals import LEVEL, share_of_sums
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.components import IntArray
from evenhand.ratings.item_blocks import item_blocks
from evenhand.ratings.sums import FloatArray, summed
from evenhand.ratings.table import LOSS, TIE, WIN, pair_table


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """Counts are sums of weights, so fractional where replicates share a trial."""

    model: str
    win_rate: Estimate
    wins: float
    losses: float
    ties: float


def win_rates(comparisons: Comparisons, *, level: float = LEVEL) -> tuple[WinRate, ...]:
    """One for each model, in the order of `comparisons.models`; intervals clustered by item."""
    if comparisons.weight is not None and not comparisons.weight.all():
        comparisons = comparisons.rows(comparisons.weight > 0)
    counts = pair_table(comparisons).table.of_models()
    played = counts.sum(axis=1)
    shares = (counts[:, WIN] + counts[:, TIE] / 2) / np.where(played > 0, played, 1)
    squares, items = _squared_residuals(comparisons, shares)
    return tuple(
        WinRate(
            model=model,
            win_rate=share_of_sums(
                float(shares[code]), float(played[code]), float(squares[code]), int(items[code]), level=level
            ),
            wins=float(counts[code, WIN]),
            losses=float(counts[code, LOSS]),
            ties=float(counts[code, TIE]),
        )
        for code, model in enumerate(comparisons.models)
    )


def _squared_residuals(comparisons: Comparisons, shares: FloatArray) -> tuple[FloatArray, IntArray]:
    """Of each model: the sum over its items of the squared sum of weight x (score - share); and how many items."""
    models = len(shares)
    player = (comparisons.model_a, comparisons.model_b)
    score = (comparisons.sign / 2 + 0.5, 0.5 - comparisons.sign / 2)
    residual = [won - shares[who] for won, who in zip(score, player, strict=True)]
    if comparisons.weight is not None:
        residual = [comparisons.weight * one for one in residual]
    squares, items = np.zeros(models), np.zeros(models, dtype=np.int64)
    if comparisons.item is None:
        for who, one in zip(player, residual, strict=True):
            squares += summed(who, one**2, models)
            items += np.bincount(who, minlength=models)
        return squares, items
    for block in item_blocks(comparisons.item, int(comparisons.item.max(initial=-1)) + 1, models):
        sums, seen = np.zeros(block.items * models), np.zeros(block.items * models, dtype=np.bool_)
        for who, one in zip(player, residual, strict=True):
            cell = block.item * np.int32(models) + who[block.rows]
            sums += summed(cell, one[block.rows], len(sums))
            seen[cell] = True
        by_item = sums.reshape(block.items, models)
        squares += np.einsum("im,im->m", by_item, by_item)
        items += seen.reshape(block.items, models).sum(axis=0)
    return squares, items
