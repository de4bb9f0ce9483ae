"""Online Elo as FastChat's elo_analysis.py computed it in 2023: one pass over the battles, in their order."""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.ratings.comparisons import Comparisons


@dataclass(frozen=True, slots=True, kw_only=True)
class EloRating:
    """`rating` has no bounds: one pass in one order says nothing about its own spread."""

    model: str
    rating: Estimate


def elo(
    comparisons: Comparisons, *, k: float = 4, scale: float = 400, base: float = 10, start: float = 1000
) -> tuple[EloRating, ...]:
    """One for each model, in the order of `comparisons.models`; the mean of those that played is `start`.

    A tie is half a win; a row of weight w moves by k w, so that weights of 1 give FastChat's numbers. A model without a
    battle has no rating.
    """
    if not (k > 0 and scale > 0 and base > 1):
        raise ValueError(f"Elo needs k > 0, scale > 0 and base > 1, not {k}, {scale} and {base}.")
    ratings = [float(start)] * len(comparisons.models)
    # 1 / (1 + base^-(gap/scale)) = (1 + tanh(gap ln(base) / (2 scale))) / 2, which no gap can overflow.
    steepness = math.log(base) / (2 * scale)
    first: list[int] = comparisons.model_a.tolist()
    second: list[int] = comparisons.model_b.tolist()
    scores: list[float] = comparisons.outcome.tolist()
    weights: list[float] = comparisons.weight.tolist()
    for a, b, outcome, weight in zip(first, second, scores, weights, strict=True):
        expected = 0.5 + 0.5 * math.tanh((ratings[a] - ratings[b]) * steepness)
        gain = k * weight * (outcome - expected)
        ratings[a] += gain
        ratings[b] -= gain
    return _named(comparisons, ratings)


def _named(comparisons: Comparisons, ratings: list[float]) -> tuple[EloRating, ...]:
    players = np.concatenate((comparisons.model_a, comparisons.model_b))
    played = np.bincount(
        players, weights=np.concatenate((comparisons.weight, comparisons.weight)), minlength=len(ratings)
    )
    items = np.concatenate((comparisons.item, comparisons.item))
    # One number per model and item: numpy finds distinct numbers many times faster than distinct rows.
    item_count = int(items.max(initial=-1)) + 1
    items_of = np.bincount(np.unique(players * item_count + items) // max(item_count, 1), minlength=len(ratings))
    return tuple(
        EloRating(
            model=model,
            rating=Estimate(value=rating, n=float(n), clusters=int(clusters))
            if n > 0
            else Estimate(value=None, reason="no battles"),
        )
        for model, rating, n, clusters in zip(comparisons.models, ratings, played, items_of, strict=True)
    )
