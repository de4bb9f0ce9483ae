"""How wide the intervals of a board will be, before its verdicts are there: the sandwich as it is to be expected.

Of every vote to come it is known who meets whom on which item. With strengths and with how alike the votes of one item
are, the sandwich's filling (see `bradley_terry.sandwich`) has an expectation. Votes of an item are alike in two ways:
two orders of one battle mostly end alike, and a model that does well on an item does so against each other model.
"""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from evenhand.stats.intervals import LEVEL, left_out, reaches
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.shrinking import shrunk_bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray, summed

_MOST_GAP = 50.0
_NOTHING = 1e-12
"""Of the largest information, what is none: strengths have no origin, and by rounding that direction has some 1e-15."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How votes vary around what strengths make of them, in units of a decided vote's own variance."""

    variance: float = 1.0
    """Of a vote; ties make it less."""
    same_pair: float = 1.0
    """Covariance of two votes on one item and pair. 1: the second order tells nothing new."""
    shared_model: float = 0.0
    """Covariance of two votes on one item that share one model, both told from its side."""

    @property
    def bounded(self) -> "Likeness":
        """At most as alike, and as unlike, as a model's luck on an item makes votes: what few items show lies beyond
        that, and of other battles than those would foresee intervals of no width."""
        same_pair = min(max(self.same_pair, 0.0), self.variance)
        return replace(self, same_pair=same_pair, shared_model=min(max(self.shared_model, 0.0), same_pair / 2))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedVotes:
    """Who meets whom on which item; one row for each vote, as integer codes."""

    models: int
    item: IntArray
    model_a: IntArray
    model_b: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedWidths:
    half: FloatArray
    """Points to each side of each model's rating; NaN for a model that meets nobody."""
    separated: float
    """How many models are expected to be separated from the next one below them, the level kept for all together."""


def strengths_of(votes: Comparisons) -> FloatArray:
    """Natural units, by model: drawn towards the mean the more, the less is known, so that few votes do not make models
    look further apart than they are."""
    return shrunk_bradley_terry(votes).rated.solution.fit.strength


def likeness_of(votes: Comparisons, strength: FloatArray) -> Likeness:
    """What votes on record show; where no two votes of a kind are there, nothing is taken to be alike but the orders of
    one battle."""
    if votes.item is None or not len(votes):
        return Likeness()
    a, b, item = (np.asarray(one, dtype=np.int64) for one in (votes.model_a, votes.model_b, votes.item))
    chance = _chance(strength[a] - strength[b])
    swapped = a > b
    residual = np.where(swapped, -1.0, 1.0) * ((votes.sign + 1) / 2 - chance) / np.sqrt(chance * (1 - chance))
    residual *= np.sqrt(_enlarged(item, a, b, chance, len(strength)))
    cell, place = np.unique(
        np.stack([item, np.where(swapped, b, a), np.where(swapped, a, b)]), axis=1, return_inverse=True
    )
    place = place.ravel()
    total, count = summed(place, residual, cell.shape[1]), summed(place, np.ones(len(a)), cell.shape[1])
    squares = float((residual**2).sum())
    together, pairs = float((total**2).sum()), float((count**2).sum())
    shared, ways = _shared(cell, total, count)
    usual = Likeness()
    return Likeness(
        variance=squares / len(a),
        same_pair=(together - squares) / (pairs - len(a)) if pairs > len(a) else usual.same_pair,
        shared_model=shared / ways if ways else usual.shared_model,
    )


def _enlarged(item: IntArray, a: IntArray, b: IntArray, chance: FloatArray, models: int) -> FloatArray:
    """Of each vote: by how much its square comes out too small, since its item had a say in the strengths."""
    bend = chance * (1 - chance)
    information = np.zeros((models, models))
    np.add.at(information, (a, b), bend)
    bread = np.linalg.pinv(_laplacian(information + information.T), rcond=_NOTHING, hermitian=True)
    own = np.diagonal(bread)
    items = int(item.max()) + 1
    leverage = summed(item, bend * (own[a] + own[b] - 2 * bread[a, b]), items)
    seats = np.unique(np.concatenate([item * models + a, item * models + b]))
    rank = np.maximum(np.bincount(seats // models, minlength=items) - 1, 1)
    return left_out(leverage / rank)[item]


def _shared(cell: IntArray, total: FloatArray, count: FloatArray) -> tuple[float, float]:
    """Of votes that share one model on one item, the sum of their products, and how many there are."""
    item, first, second = cell
    models = int(max(first.max(initial=0), second.max(initial=0))) + 1
    seat, place = np.unique(np.concatenate([item * models + first, item * models + second]), return_inverse=True)
    place = place.ravel()
    own, met = np.concatenate([total, -total]), np.concatenate([count, count])
    of_model, votes = summed(place, own, len(seat)), summed(place, met, len(seat))
    return float((of_model**2).sum() - (own**2).sum()), float((votes**2).sum() - (met**2).sum())


def planned_widths(
    votes: PlannedVotes,
    strength: FloatArray,
    likeness: Likeness,
    *,
    read: float = 1.0,
    scale: Scale | None = None,
    level: float = LEVEL,
) -> PlannedWidths:
    """`read`: the share of the votes whose reply holds a decision."""
    models = votes.models
    designs = _designs(votes)
    gap = np.clip(strength[:, None] - strength[None, :], -_MOST_GAP, _MOST_GAP)
    bend = 1 / (2 + 2 * np.cosh(gap))
    information = _laplacian(sum(times * read * count for count, times in designs) * bend)
    bread = np.linalg.pinv(information, rcond=_NOTHING, hermitian=True)
    filling, weight, square = np.zeros((models, models)), np.zeros(models), np.zeros(models)
    for count, times in designs:
        own = _laplacian(read * count * bend)
        rank = max(int(np.count_nonzero(count.sum(axis=1))) - 1, 1)
        # A score is enlarged by 1 / (1 - h), and comes out smaller by the root of 1 - h.
        grown = left_out(np.array(float(np.sum(own * bread)) / rank))
        filling += times * float(grown) * _of_item(count, bend, likeness, read)
        weight += times * np.diagonal(own)
        square += times * np.diagonal(own) ** 2
    covariance = bread @ filling @ bread
    played = weight > 0
    effective = np.divide(weight**2, square, out=np.zeros(models), where=square > 0)
    unit = (scale or Scale()).unit
    error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    half = np.where(played, error * reaches(np.where(played, effective, 2.0), level) * unit, np.nan)
    return PlannedWidths(half=half, separated=_separated(strength, covariance, played, level))


def _designs(votes: PlannedVotes) -> list[tuple[FloatArray, int]]:
    """The distinct ways in which items are voted on, as counts of each pair, and how many items are of each."""
    low, high = np.minimum(votes.model_a, votes.model_b), np.maximum(votes.model_a, votes.model_b)
    order = np.lexsort((high, low, votes.item))
    item, pair = votes.item[order], (low * votes.models + high)[order]
    cuts = np.flatnonzero(np.diff(item)) + 1
    found = Counter(part.tobytes() for part in np.split(pair, cuts)) if len(pair) else Counter[bytes]()
    designs: list[tuple[FloatArray, int]] = []
    for signature, times in found.items():
        count = np.bincount(np.frombuffer(signature, dtype=pair.dtype), minlength=votes.models**2)
        half = count.reshape(votes.models, votes.models).astype(np.float64)
        designs.append((half + half.T, times))
    return designs


def _of_item(count: FloatArray, bend: FloatArray, likeness: Likeness, read: float) -> FloatArray:
    """The expected square of an item's score."""
    met, twice = read * count, read**2 * count * np.maximum(count - 1, 0)
    own = _laplacian(bend * (likeness.variance * met + likeness.same_pair * twice))
    reach = np.sqrt(bend) * met
    pull = _laplacian(reach)
    # Each model's votes with each other, without those of one pair.
    return own + likeness.shared_model * (pull @ pull - 2 * _laplacian(reach**2))


def _separated(strength: FloatArray, covariance: FloatArray, played: BoolArray, level: float) -> float:
    ranked = [int(code) for code in np.argsort(-strength, kind="stable") if played[code]]
    tests = len(ranked) - 1
    if tests < 1:
        return 0.0
    normal = NormalDist()
    border = normal.inv_cdf(1 - (1 - level) / 2 / tests)
    total = 0.0
    for upper, lower in pairwise(ranked):
        spread = covariance[upper, upper] + covariance[lower, lower] - 2 * covariance[upper, lower]
        if spread > 0:
            away = float(strength[upper] - strength[lower]) / float(np.sqrt(spread))
            total += normal.cdf(away - border) + normal.cdf(-away - border)
    return total


def _laplacian(weight: FloatArray) -> FloatArray:
    off = weight - np.diag(np.diagonal(weight))
    return np.diag(off.sum(axis=1)) - off


def _chance(gap: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(np.clip(-gap, -_MOST_GAP, _MOST_GAP)))
