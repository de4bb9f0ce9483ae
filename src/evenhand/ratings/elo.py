"""Online Elo as FastChat's elo_analysis.py computed it in 2023: one pass over the battles, in their order."""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.win_rate import win_rates


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
    scores: list[float] = (comparisons.sign / 2 + 0.5).tolist()
    weights: list[float] = (np.ones(len(comparisons)) if comparisons.weight is None else comparisons.weight).tolist()
    for a, b, outcome, weight in zip(first, second, scores, weights, strict=True):
        expected = 0.5 + 0.5 * math.tanh((ratings[a] - ratings[b]) * steepness)
        gain = k * weight * (outcome - expected)
        ratings[a] += gain
        ratings[b] -= gain
    return _named(comparisons, ratings)


def _named(comparisons: Comparisons, ratings: list[float]) -> tuple[EloRating, ...]:
    return tuple(
        EloRating(
            model=rate.model,
            rating=Estimate(value=rating, n=rate.win_rate.n, clusters=rate.win_rate.clusters)
            if rate.win_rate.n > 0
            else Estimate(value=None, reason="no battles"),
        )
        for rate, rating in zip(win_rates(comparisons), ratings, strict=True)
    )
