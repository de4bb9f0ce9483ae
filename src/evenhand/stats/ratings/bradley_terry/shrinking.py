"""Bradley-Terry ratings drawn towards the mean, the more the fewer battles a model has: empirical Bayes.

The models' strengths are taken for draws from a normal distribution around the mean of their component, whose spread is
estimated from all of them (EM on the posterior by Laplace; Efron and Morris 1975, J. Am. Stat. Assoc. 70, 311). Rows of
an item go together, so the likelihood counts by the effective number of verdicts, not by all. A model that won its only
three battles gets a finite rating.
"""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.components import IntArray, Structure
from evenhand.stats.ratings.bradley_terry.covariance import Covariance, spread
from evenhand.stats.ratings.bradley_terry.likelihood import Fit, centred, centred_inverse, laplacian, spread_over_models
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, sandwich_board
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import clusters_in, count_of, crossing, played_and_items
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable, pair_table

_ROUNDS = 200
_NEWTON = 30
_STEP = 1e-9
_LEAST = 1e-4
"""Variance of strengths below which all models are taken for alike."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shrunk:
    rated: BradleyTerry
    spread: float
    """Points: the standard deviation of strengths that ratings are drawn by."""


def shrunk_bradley_terry(comparisons: Comparisons, *, scale: Scale | None = None, level: float = LEVEL) -> Shrunk:
    """A tie is half a win. Intervals are of the posterior, where the clusters outnumber the ratings."""
    scale = scale or Scale()
    solution = solve(comparisons)
    everything = solution.everything
    component = solution.structure.component
    alone = component < 0
    group = np.where(alone, component.max(initial=-1) + np.cumsum(alone), component)
    plain = spread(solution)
    table = _tempered(solution.table, _repeats(solution, plain))
    strength, variance = _posterior_mode(table, group)
    precision = _curvature(table, strength) + np.eye(len(strength)) / variance
    whole = replace(
        solution,
        comparisons=everything,
        grouped=pair_table(everything),
        structure=Structure(component=component, group=group, above=np.zeros_like(solution.structure.above)),
        fit=Fit(
            strength=strength,
            slopes=np.zeros(0),
            log_tie=None,
            information=precision,
            log_likelihood=solution.fit.log_likelihood,
        ),
    )
    around = _around(whole, plain, variance)
    rated = sandwich_board(whole, around, scale=scale, level=level)
    deviation = float(np.sqrt(variance)) * scale.unit
    said = (
        f"Shrunk: ratings are drawn towards the mean of all models, the more the fewer battles a model has "
        f"(empirical Bayes: models differ by {deviation:.0f} points, one sd). Intervals are the posterior's: right on "
        f"average over the models, less often for the best and the worst of them."
    )
    return Shrunk(rated=replace(rated, notes=(said, *rated.notes)), spread=deviation)


def _repeats(solution: Solution, around: Covariance) -> float:
    """How many verdicts go for one, since those of a cluster are alike: their variance over the likelihood's.

    At least that of independent rows, which ties make less than one; where no model's is known, a cluster is a verdict.
    """
    if not len(solution.everything):
        return 1.0
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    independent = spread(solution, clustered=False)
    expected, own, alone = (
        np.diagonal(one)[: len(around.clusters)] for one in (bread, around.covariance, independent.covariance)
    )
    told = around.determined & (expected > 0)
    if not told.any():
        return max(solution.everything.total / clusters_in(solution.everything), 1.0)
    return max(float(np.median(one[told] / expected[told])) for one in (own, alone))


def _tempered(table: PairTable, repeats: float) -> PairTable:
    return replace(table, counts=table.counts / repeats, squares=table.squares / repeats**2)


def _posterior_mode(table: PairTable, group: IntArray) -> tuple[FloatArray, float]:
    strength, variance = np.zeros(table.models), 1.0
    played = table.of_models().sum(axis=1) > 0
    # A component's mean is set and takes a degree. Two more keep the spread from being estimated as none at all, which
    # would give every model the same rating and an interval without width (Morris and Tang 2011, Stat. Sci. 26, 271).
    free = max(int(played.sum()) - len(np.unique(group[played])) - 2, 1)
    for _ in range(_ROUNDS):
        strength, precision = _mode(table, strength, variance)
        around = centred(_inverse(precision), group)
        found = float((strength[played] ** 2).sum() + np.diagonal(around)[played].sum()) / free
        settled = abs(found - variance) < 1e-6 * variance
        variance = max(found, _LEAST)
        if settled:
            break
    return strength, variance


def _mode(table: PairTable, strength: FloatArray, variance: float) -> tuple[FloatArray, FloatArray]:
    """And the posterior's precision there."""
    won = table.counts[:, WIN] + table.counts[:, TIE] / 2
    played = table.counts[:, [LOSS, TIE, WIN]].sum(axis=1)
    prior = np.eye(table.models) / variance
    precision = prior
    for _ in range(_NEWTON):
        chance = 1 / (1 + np.exp(np.clip(strength[table.second] - strength[table.first], -50, 50)))
        precision = laplacian(table, played * chance * (1 - chance)) + prior
        gradient = spread_over_models(table, won - played * chance) - strength / variance
        step = np.linalg.solve(precision, gradient)
        longest = float(np.abs(step).max(initial=0.0))
        # Far from the mode the curvature is flat and a whole step would overshoot.
        strength = strength + step * min(1.0, 2.0 / max(longest, 1e-12))
        if longest < _STEP:
            break
    return strength, precision


def _curvature(table: PairTable, strength: FloatArray) -> FloatArray:
    gap = np.clip(strength[table.first] - strength[table.second], -50, 50)
    return laplacian(table, table.counts.sum(axis=1) / (2 + 2 * np.cosh(gap)))


def _inverse(precision: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(precision), dtype=np.float64)


def _around(whole: Solution, plain: Covariance, variance: float) -> Covariance:
    """The posterior's, of `whole`; `plain`: the sandwich without shrinking, `variance`: that of the strengths.

    How unsure a posterior's own width is comes from both its sources. As much of the precision as is the prior's rests
    on the models that its spread was estimated from, the rest on the clusters, and Student's t has the degrees that
    Satterthwaite (1946, Biometrics 2, 110) gives to such a sum.
    """
    seen, group = whole.comparisons, whole.structure.group
    posterior = centred(_inverse(whole.fit.information), group)
    same = np.equal.outer(group, group).astype(np.bool_)
    models: IntArray = np.bincount(group)[group]
    _, met = played_and_items(seen)
    clusters = _clusters_by_component(seen, group)[group]
    determined = (met > 0) & (models - 1 < clusters)
    behind = np.where(plain.effective[: len(group)] > 0, plain.effective[: len(group)], met)
    prior = np.clip(np.diagonal(posterior) / variance, 0.0, 1.0)
    unsure = prior**2 / np.maximum(models - 1, 1) + (1 - prior) ** 2 / np.maximum(behind - 1, 1)
    return Covariance(
        covariance=np.where(same, posterior, 0.0),
        clustered=seen.grouped_by is not None,
        crossed=None if seen.crossed is None else count_of(seen.crossed),
        clusters=clusters,
        clusters_of=met,
        effective=1 + 1 / unsure,
        determined=determined,
        flat=False,
        unknown=same & ~determined[:, None],
    )


def _clusters_by_component(seen: Comparisons, group: IntArray) -> IntArray:
    groups, of_row = int(group.max(initial=-1)) + 1, group[seen.model_a]
    if seen.grouped_by is None:
        return np.bincount(of_row, minlength=groups)
    distinct = np.unique(crossing(of_row.astype(np.int32), seen.grouped_by), return_index=True)[1]
    return np.bincount(of_row[distinct], minlength=groups)
