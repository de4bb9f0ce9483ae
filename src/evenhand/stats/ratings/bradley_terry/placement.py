"""Strengths put on the scale, ranks within components, and what is known of models that have no finite rating."""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import log_win_probability
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import effective_clusters
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray, summed


class NoAnchor(ValueError):
    """The model that the scale is to hang on has no finite rating."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaledModels:
    """Of each model. NaN and 0 where it has no battles."""

    value: FloatArray
    """Points; NaN where no finite rating exists."""
    rank: IntArray
    lower: FloatArray
    """Where `value` is NaN: what its wins against the rated models prove; NaN: nothing, -inf: it lost to all."""
    upper: FloatArray
    core: BoolArray
    """Whether the model is in the group of its component that the scale is laid on."""


def placement(solution: Solution, scale: Scale, level: float) -> ScaledModels:
    found, strength = solution.structure, solution.fit.strength
    core = core_models(solution)
    shift = np.full(len(core), scale.start, dtype=np.float64)
    if scale.anchor is not None:
        names = solution.everything.models
        code = names.index(scale.anchor) if scale.anchor in names else -1
        if code < 0 or not core[code]:
            raise NoAnchor(f"The anchor {scale.anchor!r} has no finite rating in these battles.")
        shift[found.component == found.component[code]] = scale.anchor_value - scale.unit * strength[code]
    value = np.where(core, shift + scale.unit * strength, np.nan)
    lower, upper = np.full(len(core), np.nan), np.full(len(core), np.nan)
    for model in np.flatnonzero(~core & (found.component >= 0)):
        low, high = _proven(solution, int(model), core, math.log((1 - level) / 2))
        lower[model], upper[model] = shift[model] + scale.unit * low, shift[model] + scale.unit * high
    return ScaledModels(value=value, rank=estimated_ranks(solution), lower=lower, upper=upper, core=core)


def core_models(solution: Solution) -> BoolArray:
    """The largest group of each component if it has two models; of equals that with most battles, then the highest."""
    found = solution.structure
    core = np.zeros(len(found.group), dtype=np.bool_)
    groups = int(found.group.max(initial=-1)) + 1
    size = np.bincount(found.group, minlength=groups)
    inner = solution.grouped.table
    weight = summed(found.group[inner.first], inner.counts.sum(axis=1), groups)
    higher = np.zeros(groups, dtype=np.int64)
    higher[found.group] = found.above.sum(axis=0)
    for component in range(int(found.component.max(initial=-1)) + 1):
        candidates = np.unique(found.group[found.component == component])
        best = max(candidates, key=lambda group: (size[group], weight[group], -higher[group], -group))
        if size[best] > 1:
            core[found.group == best] = True
    return core


def estimated_ranks(solution: Solution) -> IntArray:
    found, strength = solution.structure, solution.fit.strength
    same = found.group[:, None] == found.group[None, :]
    # Equal strengths come out of the fit a hair apart.
    stronger = same & (strength[:, None] > strength[None, :] + 1e-9)
    ranks = 1 + (found.above | stronger).sum(axis=0)
    return np.where(found.component >= 0, ranks, 0)


def _proven(solution: Solution, model: int, core: BoolArray, log_tail: float) -> tuple[float, float]:
    """Bounds of a strength that has no finite estimate, from its battles with rated models, all won or all lost.

    The strength below which so many wins would be less probable than the tail, the opponents' strengths taken as known;
    battles count as many cases as there are effective items, for without spread more cannot be claimed, and what a
    weight is measured in says nothing.
    """
    battles, found = solution.everything, solution.structure
    below, above = bool(found.above[model].any()), bool(found.above[:, model].any())
    if below and above:
        return -math.inf, math.inf
    counted = np.ones(len(battles), dtype=np.bool_) if battles.weight is None else battles.weight > 0
    as_a = counted & (battles.model_a == model) & core[battles.model_b]
    as_b = counted & (battles.model_b == model) & core[battles.model_a]
    opponents = np.concatenate((battles.model_b[as_a], battles.model_a[as_b]))
    if not len(opponents):
        return (math.nan, math.inf) if below else (-math.inf, math.nan)
    weight = _weights(battles, as_a, as_b)
    against = solution.fit.strength[opponents]
    if solution.offset is not None:
        against = against - np.concatenate((solution.offset[as_a], -solution.offset[as_b]))
    side = against if below else -against

    def log_chance(strength: float) -> float:
        return float(weight @ log_win_probability(strength - side, solution.fit.log_tie))

    low, high = -1.0, 1.0
    while log_chance(low) > log_tail:
        low *= 2
    while log_chance(high) < log_tail:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if log_chance(middle) < log_tail else (low, middle)
    return (low, math.inf) if below else (-math.inf, -low)


def items_of(battles: Comparisons, model: int) -> int:
    """Clusters a model appears in: its items, or its battles where none are named."""
    rows = (battles.model_a == model) | (battles.model_b == model)
    by = battles.grouped_by
    return int(np.count_nonzero(rows)) if by is None else len(np.unique(by[rows]))


def _weights(battles: Comparisons, as_a: BoolArray, as_b: BoolArray) -> FloatArray:
    rows = np.concatenate((np.flatnonzero(as_a), np.flatnonzero(as_b)))
    weight = np.ones(len(rows)) if battles.weight is None else battles.weight[rows]
    return weight * (effective_clusters(battles.rows(as_a | as_b)) / float(weight.sum()))
