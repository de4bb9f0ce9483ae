"""Sentences about what a Bradley-Terry fit recognised in its data."""

import math

import numpy as np

from evenhand.format.words import counted, listed, per_cent, plural
from evenhand.stats.ratings.bradley_terry.covariance import Covariance
from evenhand.stats.ratings.bradley_terry.placement import ScaledModels
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import LOSS, TIE, WIN

ANCHOR = "the anchor: its rating is set, not estimated"
NOT_CLUSTERED = "Intervals are not clustered: they take every row for independent of every other."
NO_ITEMS = "No items are named: every row is taken for independent of every other."
_RARELY = 0.25
"""Of the median model's battles: fewer are few."""
_NARROWER = 0.8
"""Of its length: an interval that would shrink to less is worth a sentence."""
_LEAST_MODELS = 4
"""Of a group, for a mean of the others to mean something."""


def model_notes(solution: Solution, placed: ScaledModels) -> list[str | None]:
    """For each model, why it has no finite rating; None where it has one."""
    counts = solution.table.of_models()
    names = solution.everything.models
    return [
        None if np.isfinite(placed.value[code]) else _why(solution, code, name, counts[code])
        for code, name in enumerate(names)
    ]


def notes_on(
    solution: Solution, around: Covariance, placed: ScaledModels, scale: Scale, *, resampled: bool = False
) -> tuple[str, ...]:
    """`resampled`: the intervals are percentiles, so that what widens those of the sandwich is no matter."""
    return (
        *_data_notes(solution),
        *dict.fromkeys(note for note in model_notes(solution, placed) if note is not None),
        *_interval_notes(solution, around),
        *(() if resampled else _sandwich_notes(solution, around)),
        *_mean_notes(solution, around),
        *_anchor_notes(solution, scale),
    )


def _why(solution: Solution, code: int, name: str, counts: FloatArray) -> str:
    found = solution.structure
    played = float(counts.sum())
    if not played:
        return f"{name} has no battles: it has no rating."
    if not counts[LOSS] and not counts[TIE]:
        return f"{name} won {_all(played)}: its rating has no upper bound."
    if not counts[WIN] and not counts[TIE]:
        return f"{name} lost {_all(played)}: its rating has no lower bound."
    inside: list[int] = found.members(int(found.group[code])).tolist()
    members = [solution.everything.models[other] for other in inside]
    below, above = bool(found.above[code].any()), bool(found.above[:, code].any())
    if below and above:
        return f"{listed(members)} only won against some models and only lost to others: no finite rating."
    met = "against every other model met" if len(members) > 1 else "every battle"
    whose = "their ratings have" if len(members) > 1 else "its rating has"
    if below:
        return f"{listed(members)} won {met}: {whose} no upper bound."
    return f"{listed(members)} lost {met}: {whose} no lower bound."


def _data_notes(solution: Solution) -> list[str]:
    notes: list[str] = []
    left_out = solution.everything.self_battles
    if left_out:
        notes.append(f"{counted(left_out, 'row')} set a model against itself: left out.")
    components = int(solution.structure.component.max(initial=-1)) + 1
    if components > 1:
        notes.append(f"The models fall into {components} components that no battle joins: each is ranked apart.")
    if solution.ties_asked == "davidson" and solution.fit.log_tie is None:
        notes.append("Davidson's model has no finite fit to these battles: a tie counts as half a win instead.")
    if solution.fit.log_tie is not None:
        nu = math.exp(solution.fit.log_tie)
        notes.append(
            f"Two equal models tie {per_cent(nu / (2 + nu), decimals=0)} of the time (Davidson's nu {nu:.2f})."
        )
    return notes


def _interval_notes(solution: Solution, around: Covariance) -> list[str]:
    if not len(solution.comparisons):
        return []
    notes: list[str] = []
    if not around.clustered:
        notes.append(NOT_CLUSTERED)
    elif solution.comparisons.grouped_by is None:
        notes.append(NO_ITEMS)
    outnumbered = np.flatnonzero((around.clusters_of > 0) & ~around.determined)
    if outnumbered.size:
        one = int(outnumbered[0])
        mates = len(solution.structure.members(int(solution.structure.group[one])))
        number = counted(int(around.clusters[one]), _cluster(solution, around))
        known = np.isfinite(around.errors_of_differences()[np.ix_(outnumbered, outnumbered)]).any()
        left = "only differences of two models have one" if known else "not even differences of two models have one"
        notes.append(f"{counted(mates, 'rating')} rest on {number}, too few for an interval of each: {left}.")
    return notes


def _cluster(solution: Solution, around: Covariance) -> str:
    seen = solution.comparisons
    return seen.cluster_noun if around.clustered and seen.grouped_by is not None else "row"


def _sandwich_notes(solution: Solution, around: Covariance) -> list[str]:
    # One item has no spread, and so no interval that could be widened.
    if not around.flat or around.clusters_of.max(initial=0) < 2:
        return []
    noun = _cluster(solution, around)
    return [f"Some models' results hardly differ between {plural(noun)}: there each {noun} counts as one case."]


def _mean_notes(solution: Solution, around: Covariance) -> list[str]:
    """Where a few models that met rarely make the mean, and with it every interval, uncertain."""
    played = solution.table.of_models().sum(axis=1)
    notes: list[str] = []
    for group in np.unique(solution.structure.group):
        members = solution.structure.members(int(group))
        covariance = around.covariance[np.ix_(members, members)]
        few = played[members] < _RARELY * np.median(played[members])
        if len(members) < _LEAST_MODELS or not few.any() or not around.determined[members].all():
            continue
        # Against the mean of the others alone: what each has in common with that mean is taken away.
        others = ~few
        shared = covariance[:, others].mean(axis=1)
        own = np.diagonal(covariance)[others]
        without = own - 2 * shared[others] + shared[others].mean()
        kept = float(np.median(np.sqrt(np.maximum(without, 0.0) / np.where(own > 0, own, 1.0))))
        if kept < _NARROWER:
            rare = [f"{solution.everything.models[code]} ({played[code]:,.6g})" for code in members[few]]
            notes.append(
                f"Intervals are against the mean of all models, and few battles of {listed(rare)} make that mean "
                f"uncertain: without {'it' if len(rare) == 1 else 'them'} the others' intervals would be about "
                f"{100 * (1 - kept):.0f} % narrower. Ranges and differences of two models do not suffer from it."
            )
    return notes


def _anchor_notes(solution: Solution, scale: Scale) -> list[str]:
    if scale.anchor is None:
        return []
    several = int(solution.structure.component.max(initial=0)) > 0
    moved = "the ratings of its component alike, and of no other" if several else "all ratings alike"
    return [
        f"{scale.anchor} is set to {scale.anchor_value:g}: this moves {moved}; "
        "their intervals are of the difference to it, so the anchor has none of its own."
    ]


def _all(battles: float) -> str:
    return "its only battle" if battles == 1 else f"all of its {battles:,.6g} battles"
