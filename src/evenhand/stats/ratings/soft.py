"""Soft verdicts: how likely a judge was to prefer each side, in the place of which side it preferred."""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.bradley_terry.solution import WeightsTooFarApart
from evenhand.stats.ratings.comparisons import LIGHTEST, Comparisons


def soft_rows(votes: Comparisons) -> Comparisons:
    """Each vote y of weight w as a win of weight w y and a loss of weight w (1 - y), clustered together.

    What it adds to a Bradley-Terry score is then w (y - p), and to a share w y. Rows too light to be seen are left out.
    """
    assert votes.soft is not None
    number = len(votes)
    weight = np.ones(number) if votes.weight is None else votes.weight
    vote = np.repeat(np.arange(number), 2)
    share = np.stack([votes.soft, 1 - votes.soft], axis=1).ravel()
    sign = np.tile(np.array([1, -1], dtype=np.int8), number)
    parts = weight[vote] * share
    kept = parts > LIGHTEST * weight.max(initial=0.0)
    vote = vote[kept]
    # The two rows of a vote are never independent, whatever others are.
    item = vote.astype(np.int32) if votes.grouped_by is None else None if votes.item is None else votes.item[vote]
    rows = replace(votes, soft=None, value=None).rows(vote)
    return replace(rows, sign=sign[kept], weight=parts[kept], item=item)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    times: float
    """As many hard verdicts would be as sure as the soft ones."""
    scale: float
    """Of soft differences by hard ones."""


def soft_gain(hard: Comparisons, soft: Comparisons) -> Gain | None:
    """By the variance of rating differences, hard by soft, both on the hard scale; `soft` are `soft_rows`.

    Soft differences are smaller by a factor that says nothing of how sure they are. None where no two models have a
    difference with an error both ways.
    """
    try:
        before, after = (differences(bradley_terry(rows)) for rows in (hard, soft))
    except WeightsTooFarApart:
        return None
    known = np.isfinite(before.error) & np.isfinite(after.error) & np.isfinite(before.value) & np.isfinite(after.value)
    known &= (before.error > 0) & (after.error > 0)
    squares = float((before.value[known] ** 2).sum())
    if not squares:
        return None
    scale = float((before.value[known] * after.value[known]).sum()) / squares
    times = scale**2 * float((before.error[known] ** 2).sum()) / float((after.error[known] ** 2).sum())
    return Gain(times=times, scale=scale)
