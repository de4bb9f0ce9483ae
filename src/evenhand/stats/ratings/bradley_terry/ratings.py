"""Bradley-Terry ratings with intervals, and sentences about what the data cannot tell."""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, reach
from evenhand.stats.ratings.bradley_terry.components import BoolArray
from evenhand.stats.ratings.bradley_terry.covariance import Covariance, spread
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.bradley_terry.notes import ANCHOR, model_notes, notes_on
from evenhand.stats.ratings.bradley_terry.placement import ScaledModels, items_of, placement
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray, summed

_BOUNDLESS = 700.0
"""Logarithms from which a number is too large to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    model: str
    rating: Estimate
    """Points; the interval is of the model against the mean of its component, or against the anchor if there is one."""
    component: int | None
    """From 0; models of different components cannot be compared. None: no battles."""
    rank: int | None
    """Within the component: one more than the models known or estimated to stand above."""
    median: float | None = None
    """Of the resamples, where there are any."""
    note: str | None = None
    provisional: bool = False
    """Of Elo: too few battles to have left its start."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BradleyTerry:
    models: tuple[Rated, ...]
    """In the order of the comparisons' models."""
    solution: Solution
    spread: Covariance
    """Of the sandwich, also where the models' intervals are a bootstrap's."""
    scale: Scale
    level: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Differences:
    """M x M: rating of the row's model minus that of the column's, in points.

    NaN between models that no finite number tells apart, and in the bounds where there is no interval.
    """

    value: FloatArray
    error: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """Points, one for each model; NaN: none is given, infinite: there is none."""

    lower: FloatArray
    upper: FloatArray
    median: FloatArray | None = None


def bradley_terry(
    comparisons: Comparisons,
    *,
    ties: Ties = "half",
    clustered: bool = True,
    scale: Scale | None = None,
    level: float = LEVEL,
) -> BradleyTerry:
    """Maximum likelihood, with intervals by the sandwich, clustered by item unless told otherwise.

    Each component's mean is the scale's start; where some of its models are unbounded, the mean of its largest group of
    models that are not. An anchor moves the values of its component, and their intervals are those of the difference to
    it; its own has none. Raises ValueError where the anchor has no rating.
    """
    solution = solve(comparisons, ties=ties)
    return sandwich_board(solution, spread(solution, clustered=clustered), scale=scale or Scale(), level=level)


def sandwich_board(solution: Solution, around: Covariance, *, scale: Scale, level: float) -> BradleyTerry:
    """A board with the intervals of the sandwich."""
    placed = placement(solution, scale, level)
    half = around.errors_of_strengths() * around.reach_of_strengths(level)
    hung = anchored_models(solution, scale)
    if hung is not None:
        apart = around.errors_of_differences()[hung.anchor] * around.reach_of_differences(level)[hung.anchor]
        apart[hung.anchor] = np.nan
        half = np.where(hung.models, apart, half)
    half *= scale.unit
    bounds = Bounds(lower=placed.value - half, upper=placed.value + half)
    return board(solution, around, placed, bounds, scale=scale, level=level)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Anchored:
    anchor: int
    models: BoolArray
    """Those whose difference to the anchor is finite."""


def anchored_models(solution: Solution, scale: Scale) -> Anchored | None:
    """None where the scale has no anchor."""
    if scale.anchor is None:
        return None
    anchor, group = solution.everything.models.index(scale.anchor), solution.structure.group
    return Anchored(anchor=anchor, models=group == group[anchor])


def tie_parameter(rated: BradleyTerry) -> Estimate | None:
    """Davidson's nu, with its interval, if it has one that is a number; None where ties count as halves."""
    log_tie, spread = rated.solution.fit.log_tie, rated.spread
    if log_tie is None:
        return None
    half = math.sqrt(max(float(spread.covariance[-1, -1]), 0.0)) * reach(float(spread.effective[-1]), rated.level)
    known = 0 < half < _BOUNDLESS - log_tie and bool(spread.determined.any())
    return Estimate(
        value=math.exp(log_tie),
        lower=math.exp(log_tie - half) if known else None,
        upper=math.exp(log_tie + half) if known else None,
        n=float(rated.solution.grouped.table.counts.sum()),
        reason=None if known else "one cluster outweighs the others, or none varies: no interval",
    )


def differences(rated: BradleyTerry) -> Differences:
    """Of every two models, with intervals for each pair alone: nothing is adjusted for their number."""
    strength, group = rated.solution.fit.strength, rated.solution.structure.group
    unit = rated.scale.unit
    same = (group[:, None] == group[None, :]) & ~np.eye(len(group), dtype=np.bool_)
    value = np.where(same, (strength[:, None] - strength[None, :]) * unit, np.nan)
    error = np.where(same, rated.spread.errors_of_differences() * unit, np.nan)
    half = error * rated.spread.reach_of_differences(rated.level)
    return Differences(value=value, error=error, lower=value - half, upper=value + half)


def board(
    solution: Solution, around: Covariance, placed: ScaledModels, bounds: Bounds, *, scale: Scale, level: float
) -> BradleyTerry:
    """The ratings under their names; models without a finite rating keep what `placed` knows of their bounds."""
    names = solution.everything.models
    finite = np.isfinite(placed.value)
    lower = np.where(finite, bounds.lower, placed.lower)
    upper = np.where(finite, bounds.upper, placed.upper)
    weight = solution.table.counts.sum(axis=1)
    played = summed(solution.table.first, weight, len(names)) + summed(solution.table.second, weight, len(names))
    clusters = around.clusters_of.copy()
    for code in np.flatnonzero(~finite):
        clusters[code] = items_of(solution.everything, int(code))
    own_notes = model_notes(solution, placed)
    component = solution.structure.component
    models = tuple(
        Rated(
            model=name,
            rating=_estimate(
                float(placed.value[code]), float(lower[code]), float(upper[code]), n=float(played[code]),
                clusters=int(clusters[code]), reason=own_notes[code],
            ),
            component=int(component[code]) if played[code] else None,
            rank=int(placed.rank[code]) if played[code] else None,
            median=None if bounds.median is None or not finite[code] else _number(float(bounds.median[code])),
            note=ANCHOR if name == scale.anchor else own_notes[code],
        )
        for code, name in enumerate(names)
    )  # fmt: skip
    return BradleyTerry(
        models=models,
        solution=solution,
        spread=around,
        scale=scale,
        level=level,
        notes=notes_on(solution, around, placed, scale),
    )


def _estimate(value: float, lower: float, upper: float, *, n: float, clusters: int, reason: str | None) -> Estimate:
    below, above = math.isinf(lower), math.isinf(upper)
    return Estimate(
        value=_number(value),
        lower=_number(lower),
        upper=_number(upper),
        n=n,
        clusters=clusters,
        unbounded="both" if below and above else "lower" if below else "upper" if above else None,
        reason=None if math.isfinite(value) else reason,
    )


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
