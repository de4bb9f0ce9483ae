"""Bradley-Terry ratings with intervals, and sentences about what the data cannot tell."""

import math
from dataclasses import dataclass

from evenhand.domain.estimate import Estimate
from evenhand.intervals import LEVEL
from evenhand.ratings.comparisons import Comparisons, FloatArray
from evenhand.ratings.likelihood import Ties
from evenhand.ratings.scale import Scale
from evenhand.ratings.solution import Solution, solve
from evenhand.ratings.spread import Spread, spread
from evenhand.ratings.undefeated import unbounded_models


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    model: str
    rating: Estimate
    """Points. The interval is of the model against the mean of its component, whether or not a scale is anchored."""
    component: int | None
    """From 0; models of different components cannot be compared. None: no battles."""
    rank: int | None
    """Within the component: one more than the models known or estimated to stand above."""
    median: float | None = None
    """Of the resamples, where there are any."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BradleyTerry:
    models: tuple[Rated, ...]
    """In the order of the comparisons' models."""
    solution: Solution
    spread: Spread
    """Of the sandwich, also where the intervals are a bootstrap's."""
    scale: Scale
    level: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Differences:
    """M x M, rating of the row's model minus that of the column's, in points.

    NaN between models that no finite number tells apart, and in the bounds where there is no interval.
    """

    value: FloatArray
    error: FloatArray
    lower: FloatArray
    upper: FloatArray


def bradley_terry(
    comparisons: Comparisons,
    *,
    ties: Ties = "half",
    clustered: bool = True,
    scale: Scale | None = None,
    level: float = LEVEL,
) -> BradleyTerry:
    """Maximum likelihood, with intervals by the sandwich, clustered by item unless told otherwise.

    Each component's mean is the scale's start; where some models are unbounded, the mean of its largest group that is
    not. An anchor moves the values of its component and leaves the intervals: they stay those against the mean, so the
    anchor keeps its own and the others do not carry the anchor's. Raises ValueError where the anchor has no rating.
    """
    scale = scale or Scale()
    solution = solve(comparisons, ties=ties)
    around = spread(solution, clustered=clustered)
    errors = around.errors_of_strengths() * around.reach_of_strengths(level) * scale.unit
    unbounded = unbounded_models(solution, level)
    values = ratings_of(solution, scale, unbounded)

    def bounds(model: int) -> tuple[float | None, float | None]:
        half = float(errors[model])
        return (None, None) if math.isnan(half) else (values[model] - half, values[model] + half)

    return assembled(solution, around, scale=scale, level=level, bounds=bounds, unbounded=unbounded)
