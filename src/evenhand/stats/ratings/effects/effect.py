"""What something besides the models adds to a comparison: a slope of the fit in points and in natural units."""

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, reach
from evenhand.stats.ratings.bradley_terry.covariance import Covariance
from evenhand.stats.ratings.bradley_terry.likelihood import centred_inverse
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.bradley_terry.unbounded_fits import Side
from evenhand.stats.ratings.item_blocks import clusters_in
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The same estimate twice."""

    points: Estimate
    natural: Estimate
    """Log-odds: 1 more makes the odds of winning e times as high."""

    @property
    def reason(self) -> str | None:
        """Why there is no value."""
        return self.points.reason

    def as_json(self) -> dict[str, Json]:
        fields = self.points.as_json("points") | self.natural.as_json("natural")
        told = {name: value for name, value in fields.items() if name not in {"points_reason", "natural_reason"}}
        return told | {"reason": self.reason}


def effect_of(natural: Estimate, scale: Scale) -> Effect:
    def stretched(value: float | None) -> float | None:
        return None if value is None else value * scale.unit

    points = replace(
        natural, value=stretched(natural.value), lower=stretched(natural.lower), upper=stretched(natural.upper)
    )
    return Effect(points=points, natural=natural)


NO_INTERVAL = "rests on too few items for an interval."


def effect_notes(effect: Effect, what: str) -> tuple[str, ...]:
    """A sentence where the interval is missing."""
    of = effect.natural
    return (f"{what} {NO_INTERVAL}",) if of.value is not None and of.lower is None else ()


def unbounded_effect(natural: Estimate, side: Side | None, bound: float | None, scale: Scale) -> Effect:
    """`natural` tells the cases and why there is no value; `bound` is the end of the interval opposite to `side`."""
    ends = {"upper": (bound, None), "lower": (None, bound)}
    lower, upper = ends.get(side or "", (None, None))
    return effect_of(replace(natural, lower=lower, upper=upper, unbounded=side), scale)


def no_effect(reason: str, *, n: float = 0, clusters: int = 0) -> Effect:
    nothing = Estimate(value=None, n=n, clusters=clusters, reason=reason)
    return Effect(points=nothing, natural=nothing)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slopes:
    """A fit, its spread and what a slope's interval is made of."""

    solution: Solution
    spread: Covariance

    def estimate(self, column: int, *, level: float = LEVEL) -> Estimate:
        """The slope of a covariate in natural units; rows on which the covariate is not 0 are its cases."""
        table, row = self.solution.grouped.table, self.solution.grouped.row
        return self.interval(column, np.abs(table.covariates[:, column][row]), level=level)

    def interval(self, place: int, covariate: FloatArray, *, level: float = LEVEL) -> Estimate:
        """Of the parameter at `place` after the strengths, clustered by item.

        `covariate` says by how much each comparison bears on it. Only rows where that is not 0 count as cases, and only
        their items as clusters. Where the parameters are as many as all items there is no interval.
        """
        solution, touched = self.solution, covariate != 0
        seen = solution.comparisons
        clusters, everywhere = clusters_in(seen.rows(touched)), clusters_in(seen)
        value, n = float(solution.fit.slopes[place]), float(_weight(solution)[touched].sum())
        if not self._determined(everywhere) or clusters < 2:
            return Estimate(value=value, n=n, clusters=clusters)
        at = len(solution.structure.group) + place
        error = math.sqrt(max(float(self.spread.covariance[at, at]), 0.0))
        pull = float((_weight(solution) * covariate)[touched].mean())
        half = max(error * reach(float(self.spread.effective[at]), level), self._least(at, level) * pull)
        return Estimate(value=value, lower=value - half, upper=value + half, n=n, clusters=clusters)

    def _determined(self, clusters: int) -> bool:
        group = self.solution.structure.group
        played = self.spread.clusters_of > 0
        extras = len(self.solution.fit.information) - len(group)
        return int(played.sum()) - len(np.unique(group[played])) + extras < clusters

    def _least(self, at: int, level: float) -> float:
        """Half of the narrowest interval that so many verdicts can prove, if each pulls by 1.

        A judge whose two showings of every item agree has an order effect of 0 on every item, and items without spread
        do not prove that it is exactly 0. As none of n trials proves a share below -log(tail)/n, so many verdicts may
        have gone otherwise, each moving the slope by its pull over the information.
        """
        inverse = centred_inverse(self.solution.fit.information, self.solution.structure.group)
        return -math.log((1 - level) / 2) * float(inverse[at, at])


def _weight(solution: Solution) -> FloatArray:
    weight = solution.comparisons.weight
    return np.ones(len(solution.comparisons)) if weight is None else weight
