"""Soft verdicts: how likely a judge was to prefer each side, in the place of which side it preferred."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.comparisons import LIGHTEST, Comparisons
from evenhand.stats.ratings.sums import FloatArray, summed

_FEWEST = 30
"""Clusters: with fewer a ratio of two variances is anybody's guess."""
_LEAST = 4.0
"""Times what chance makes of the squared differences in win rate: with less there is no scale to speak of."""


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
    return replace(rows, sign=sign[kept], weight=parts[kept], item=item, vote=vote.astype(np.int32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    times: float
    """As many hard verdicts would be as sure as the soft ones."""
    scale: float
    """Of soft differences in win rate by hard ones."""


def soft_gain(hard: Comparisons, soft: Comparisons) -> Gain | None:
    """By the variance of differences in win rate, hard by soft, both on the hard scale; of the same models and items.

    Of win rates, for they are linear in the verdicts: a judge that is half as sure of each gains and loses nothing.
    What the differences have by chance is taken off before the scale is read from them. None where chance could make up
    most of them, so that there is no scale, and of fewer than 30 items.
    """
    assert soft.soft is not None
    models = len(hard.models)
    one, other = _Shares.of(hard, (hard.sign + 1) / 2), _Shares.of(soft, soft.soft)
    seen, by_chance = one.products(one), one.chance(one, models)
    if len(np.unique(one.cell // models)) < _FEWEST:
        return None
    if not seen > _LEAST * by_chance > 0:
        return None
    scale = (one.products(other) - one.chance(other, models)) / (seen - by_chance)
    return Gain(times=scale**2 * by_chance / other.chance(other, models), scale=scale)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Shares:
    """Of each model its win rate, and what each cluster adds to the deviation of each, by cluster times models."""

    share: FloatArray
    cell: npt.NDArray[np.int64]
    """Sorted."""
    deviation: FloatArray

    @classmethod
    def of(cls, rows: Comparisons, score: FloatArray) -> "_Shares":
        models = len(rows.models)
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        by = np.arange(len(rows)) if rows.grouped_by is None else rows.grouped_by.astype(np.int64)
        who = np.concatenate((rows.model_a, rows.model_b))
        weights, scores = np.tile(weight, 2), np.concatenate((score, 1 - score))
        n = np.maximum(summed(who, weights, models), np.finfo(np.float64).tiny)
        share = np.where(n > 1e-300, summed(who, weights * scores, models) / n, np.nan)
        cell, place = np.unique(np.tile(by, 2) * models + who, return_inverse=True)
        added = weights * (scores - share[who]) / n[who]
        return cls(share=share, cell=cell, deviation=summed(place.ravel(), added, len(cell)))

    def products(self, other: "_Shares") -> float:
        """Of the differences of every two models' win rates, here and there, the sum."""
        known = np.isfinite(self.share) & np.isfinite(other.share)
        one, two = self.share[known], other.share[known]
        return float(known.sum() * (one @ two) - one.sum() * two.sum())

    def chance(self, other: "_Shares", models: int) -> float:
        """What the same sum comes to by chance, clusters being independent."""
        _, here, there = np.intersect1d(self.cell, other.cell, assume_unique=True, return_indices=True)
        playing = int((np.isfinite(self.share) & np.isfinite(other.share)).sum())
        own = playing * float(self.deviation[here] @ other.deviation[there])
        clusters = int(max(self.cell[-1], other.cell[-1])) // models + 1
        sums = [summed(of.cell // models, of.deviation, clusters) for of in (self, other)]
        there_are = len(np.unique(self.cell // models))
        return (own - float(sums[0] @ sums[1])) * there_are / max(there_are - 1, 1)
