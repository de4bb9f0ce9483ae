"""Which models are separated, the ranks each may hold, and tiers: by differences that are right for all pairs together.

Ranges made of single intervals would be wrong for some model far more often than the level says. Here all pairs of
models within components are judged at once, so that all ranges contain their true ranks with the level's probability
(Mogstad, Romano, Shaikh and Wilhelm 2024, Rev. Econ. Stud. 91, 476). The largest standardised difference is simulated
from the estimated covariance, which is less careful than Bonferroni's inequality and uses that M ratings, not M(M-1)/2
differences, vary. The inequality stands in where a covariance cannot be trusted (few clusters, or more parameters than
clusters), where some differences have no finite estimate, and for more models than the simulation is worth; up to
`FEW_CLUSTERS` clusters the two are mixed, so that one item more never changes the rule.

Beside it stands each model's own range, for whoever asks about that model alone: only its own differences must be right
together, so it is narrower, and of many models' own ranges some are wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.domain.identity import Json
from evenhand.format.words import counted
from evenhand.stats.intervals import LEVEL, reaches
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray, closure, structure
from evenhand.stats.ratings.bradley_terry.covariance import Covariance
from evenhand.stats.ratings.bradley_terry.placement import placement
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.simultaneous import SIMULATED, Joint, bonferroni, of_draws, simulated
from evenhand.stats.ratings.item_blocks import clusters_in, count_of, played_and_items
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.shares.share_sums import Policy
from evenhand.stats.ratings.shares.win_rate import WinTally, tally
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import pair_table

if TYPE_CHECKING:
    from evenhand.stats.ratings.elo.ratings import EloBootstrap

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRange:
    """Within the model's component; all None for a model without battles."""

    model: str
    component: int | None
    rank_lower: int | None
    """The best rank it may hold: one more than the models separated above it."""
    rank_upper: int | None
    """The worst: the component's size less the models separated below it."""
    tier: int | None
    """1 where no model is separated above it, else one more than the lowest tier among those who are."""
    own_lower: int | None = None
    """The same for this model alone, whatever holds for the others."""
    own_upper: int | None = None

    def as_json(self) -> dict[str, Json]:
        return {
            "rank_lower": self.rank_lower,
            "rank_upper": self.rank_upper,
            "rank_own_lower": self.own_lower,
            "rank_own_upper": self.own_upper,
            "tier": self.tier,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankRanges:
    ranges: tuple[RankRange, ...]
    """In the order of the models."""
    separated: BoolArray
    """[i, j]: model i is better than model j, all such claims right together with probability `level`."""
    level: float
    notes: tuple[str, ...]
    judged: "JudgedDifferences"

    def with_claims(self, claimed: BoolArray, instead: BoolArray) -> "RankRanges":
        """With what another test says ([i, j]: i is better), and by it alone where `instead`; and what follows."""
        judged = self.judged
        separated = closure((judged.separated & ~instead) | claimed) & ~np.eye(len(claimed), dtype=np.bool_)
        own_above, own_below = (one & ~instead for one in (judged.own_above, judged.own_below))
        component = np.array([-1 if one.component is None else one.component for one in self.ranges], dtype=np.int64)
        return _ranges(
            [one.model for one in self.ranges],
            component,
            replace(
                judged, separated=separated, own_above=own_above | separated, own_below=own_below | separated.T,
                silent=judged.silent if not claimed.any() else _unheard(separated, judged, component),
            ),
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedDifferences:
    separated: BoolArray
    own_above: BoolArray
    """[i, j]: i is better than j, all such claims about i right together; in `own_below` j is better than i."""
    own_below: BoolArray
    known: BoolArray
    """[i, j]: their difference has an interval."""
    joint: Joint
    silent: int
    """Models that might be compared with others, and no difference has an interval."""
    comparable: int
    """Models that share a component with another."""
    level: float


def rank_ranges(rated: BradleyTerry, *, seed: int = 0) -> RankRanges:
    """At the board's own level, from the sandwich, also where the models' intervals are a bootstrap's.

    A model without a finite rating is above another only as far as its wins prove it: a single lucky one leaves
    its range open.
    """
    found, spread = rated.solution.structure, rated.spread
    models = len(found.group)
    same = _same(found.group) & (found.component >= 0)[:, None]
    error = np.where(same, spread.errors_of_differences(), np.nan)
    pairs = _pairs(found.component)
    joint = bonferroni(pairs, rated.level)
    played = found.component >= 0
    clusters = _fewest_clusters(spread, played)
    if models <= SIMULATED and not found.above.any() and clusters > models and spread.determined[played].all():
        covariance = spread.covariance[:models, :models]
        joint = simulated(covariance, error, pairs, level=rated.level, seed=seed)
        joint = joint.as_trusted(clusters, int(played.sum()), rated.level)
    strength = rated.solution.fit.strength
    gap = strength[:, None] - strength[None, :]

    def claims(level: float) -> BoolArray:
        return gap > error * _larger(reaches(spread.effective[:models], level))

    separated = claims(joint.level)
    if found.above.any():
        separated |= _proven(rated, joint.level)
        # What follows from claims that are right together is right with them.
        separated = closure(separated) & ~np.eye(models, dtype=np.bool_)
    finite = np.isfinite(error) | found.above | found.above.T
    judged = _judged(separated, claims, joint, found.component, finite, level=rated.level)
    return _ranges(rated.solution.everything.models, found.component, judged)


def elo_rank_ranges(comparisons: Comparisons, resampled: "EloBootstrap", *, level: float = LEVEL) -> RankRanges:
    """From the scatter of the resamples' ratings, laid round those of the single pass and round their own mean.

    A claim needs both: a file that is not in random order can move the pass further than resamples ever scatter.
    Without a bootstrap there are no ranges, for a pass in one order says nothing about its own spread.
    """
    component = structure(pair_table(comparisons).table).component
    value = np.array([np.nan if one.rating.value is None else one.rating.value for one in resampled.ratings])
    mean, deviations, covariance = _scatter(resampled.scattered)
    own = np.diagonal(covariance)
    variance = own[:, None] + own[None, :] - 2 * covariance
    # Resamples that are all alike still come out a hair apart.
    alike = (_ROUNDING * np.nanmax(np.abs(resampled.draws), initial=0.0)) ** 2
    usable = _same(component) & (component >= 0)[:, None] & (variance > alike)
    error = np.sqrt(np.where(usable, variance, np.nan))
    pairs = _pairs(component)
    joint = bonferroni(pairs, level)
    if len(value) <= SIMULATED:
        how = f"by the largest in {len(deviations)} resamples"
        joint = of_draws(deviations, error, pairs, level=level, how=how)
    # An error from few resamples is no better known than one from few items.
    played, items = played_and_items(comparisons)
    clusters = np.minimum(resampled.effective, len(deviations))
    gap = np.minimum(value[:, None] - value[None, :], mean[:, None] - mean[None, :])
    settled = np.array([not one.provisional for one in resampled.ratings], dtype=np.bool_)
    start = float(np.nanmean(value)) if np.isfinite(value).any() else 0.0
    # What a provisional rating falls short of its worth lies away from the start, and so may only widen a claimed gap.
    known = (settled | (value >= start))[:, None] & (settled | (value <= start))[None, :]
    cases = np.minimum(played, items)
    enough = _beyond_chance(np.minimum(cases[:, None], cases[None, :]), joint.level)

    def claims(level: float) -> BoolArray:
        return known & enough & (gap > error * _larger(reaches(clusters, level)))

    judged = _judged(claims(joint.level), claims, joint, component, np.isfinite(error), level=level)
    return _ranges(comparisons.models, component, judged)


def win_rate_rank_ranges(
    comparisons: Comparisons, *, policy: Policy = "average", level: float = LEVEL, seed: int = 0
) -> RankRanges:
    """Of `win_rates`: each difference's interval is put together from those of its two shares and their correlation.

    Zou (2007, Psychol. Methods 12, 399). So three lucky wins, which show no spread, prove as little as they do in
    the share's own interval.
    """
    tallied = tally(comparisons, policy)
    component = np.where(tallied.n > 0, structure(pair_table(comparisons).table).component, -1)
    same = _same(component) & (component >= 0)[:, None]
    covariance = tallied.covariance()
    own = np.diagonal(covariance)
    varied = own > 0
    pairs = _pairs(component)
    joint = bonferroni(pairs, level)
    clusters = _clusters(tallied)
    if len(own) <= SIMULATED and varied[component >= 0].all() and clusters > len(own):
        variance = own[:, None] + own[None, :] - 2 * covariance
        error = np.sqrt(np.where(same & (variance > 0), variance, np.nan))
        joint = simulated(covariance, error, pairs, level=level, seed=seed).as_trusted(clusters, len(own), level)
    deviation = np.sqrt(np.where(varied, own, 1.0))
    correlation = covariance / np.outer(deviation, deviation)

    def claims(level: float) -> BoolArray:
        return same & _above(tallied, np.clip(correlation, -1.0, 1.0), level)

    judged = _judged(claims(joint.level), claims, joint, component, same, level=level)
    return _ranges(comparisons.models, component, judged)


def _same(labels: IntArray) -> BoolArray:
    return (labels[:, None] == labels[None, :]) & ~np.eye(len(labels), dtype=np.bool_)


def _fewest_clusters(spread: Covariance, played: BoolArray) -> int:
    """On which the covariance of some model rests; of two groupings, the fewer."""
    fewest = int(spread.clusters[played].min(initial=np.iinfo(np.int64).max))
    return fewest if spread.crossed is None else min(fewest, spread.crossed)


def _larger(reach: FloatArray) -> FloatArray:
    """M x M: of two models, the reach of the one with fewer clusters."""
    return np.maximum(reach[:, None], reach[None, :])


def _judged(
    separated: BoolArray,
    claims: Callable[[float], BoolArray],
    joint: Joint,
    component: IntArray,
    known: BoolArray,
    *,
    level: float,
) -> JudgedDifferences:
    """`claims`: at the level of a single difference, which models are above which; `known`: which have an interval."""
    same = _same(component) & (component >= 0)[:, None]
    own_above, own_below = separated.copy(), separated.T.copy()
    levels = joint.of_each(same.sum(axis=1), level)
    for one in np.unique(levels).tolist():
        found, of_models = claims(one), levels == one
        own_above[of_models] |= found[of_models]
        own_below[of_models] |= found.T[of_models]
    comparable = same.any(axis=1)
    return JudgedDifferences(
        separated=separated,
        own_above=own_above,
        own_below=own_below,
        known=known,
        joint=joint,
        silent=int((comparable & ~known.any(axis=1)).sum()),
        comparable=int(comparable.sum()),
        level=level,
    )


def _unheard(separated: BoolArray, judged: JudgedDifferences, component: IntArray) -> int:
    heard = judged.known.any(axis=1) | separated.any(axis=0) | separated.any(axis=1)
    return int((_same(component).any(axis=1) & (component >= 0) & ~heard).sum())


def _pairs(component: IntArray) -> int:
    size = np.bincount(component[component >= 0])
    return int((size * (size - 1) // 2).sum())


def _proven(rated: BradleyTerry, level: float) -> BoolArray:
    """[i, j]: of models whose difference has no finite estimate, i's wins prove it above j.

    Either all of their own meetings, too many to have been won by chance, or those with rated models: the least
    strength that explains i's wins lies above all that j may have.
    """
    solution = rated.solution
    placed = placement(solution, Scale(), level)
    half = rated.spread.errors_of_strengths() * rated.spread.reach_of_strengths(level) * Scale().unit
    low = np.where(placed.core, placed.value - half, placed.lower)
    high = np.where(placed.core, placed.value + half, placed.upper)
    won_all = _beyond_chance(_cases_between_groups(rated), level)
    return solution.structure.above & ((low[:, None] > high[None, :]) | won_all)


def _beyond_chance(cases: FloatArray, level: float) -> BoolArray:
    """Whether so many cases, had all gone one way, would pass a two-sided sign test."""
    return 2 * 0.5**cases <= 1 - level


def _cases_between_groups(rated: BradleyTerry) -> FloatArray:
    """M x M: the meetings of two models whose results all point one way; a row, and an item, counts as one at most."""
    solution = rated.solution
    rows, group = solution.everything, solution.structure.group
    rows = rows.rows(group[rows.model_a] != group[rows.model_b])
    models = len(group)
    pair = np.minimum(rows.model_a, rows.model_b).astype(np.int64) * models + np.maximum(rows.model_a, rows.model_b)
    cases = np.bincount(pair, minlength=models * models).astype(np.float64)
    if rows.weight is not None:
        cases = np.minimum(cases, np.bincount(pair, weights=rows.weight, minlength=models * models))
    by = rows.grouped_by
    if by is not None:
        items = int(by.max(initial=-1)) + 1
        distinct = np.unique(pair * items + by) // max(items, 1)
        cases = np.minimum(cases, np.bincount(distinct, minlength=models * models))
    square = cases.reshape(models, models)
    return square + square.T


def _scatter(draws: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each model the mean, each draw's deviations from it and their covariance; missing ratings count nowhere."""
    there = ~np.isnan(draws)
    counts = there.sum(axis=0)
    mean = np.where(there, draws, 0.0).sum(axis=0) / np.maximum(counts, 1)
    deviations = draws - mean
    filled = np.where(there, deviations, 0.0)
    together = there.astype(np.float64).T @ there.astype(np.float64)
    return mean, deviations, np.where(together > 1, filled.T @ filled / np.maximum(together - 1, 1), np.nan)


def _clusters(tallied: WinTally) -> int:
    return (
        clusters_in(tallied.rows)
        if tallied.rows.crossed is None
        else min(clusters_in(tallied.rows), count_of(tallied.rows.crossed))
    )


def _above(tallied: WinTally, correlation: FloatArray, level: float) -> BoolArray:
    """[i, j]: the interval of share i minus share j lies above 0."""
    estimates = tallied.estimates(level)
    share = tallied.share
    down = share - np.array([np.nan if one.lower is None else one.lower for one in estimates])
    up = np.array([np.nan if one.upper is None else one.upper for one in estimates]) - share
    squared = down[:, None] ** 2 + up[None, :] ** 2 - 2 * correlation * np.outer(down, up)
    return share[:, None] - share[None, :] > np.sqrt(np.maximum(squared, 0.0))


def _ranges(models: Sequence[str], component: IntArray, judged: JudgedDifferences) -> RankRanges:
    separated = judged.separated
    played = component >= 0
    size = np.bincount(component[played], minlength=1)[np.where(played, component, 0)]
    better, worse, tier = separated.sum(axis=0), separated.sum(axis=1), tiers_of(separated)
    own_better, own_worse = judged.own_below.sum(axis=1), judged.own_above.sum(axis=1)
    ranges = tuple(
        RankRange(
            model=model,
            component=int(component[code]) if played[code] else None,
            rank_lower=int(1 + better[code]) if played[code] else None,
            rank_upper=int(size[code] - worse[code]) if played[code] else None,
            tier=int(tier[code]) if played[code] else None,
            own_lower=int(1 + own_better[code]) if played[code] else None,
            own_upper=int(size[code] - own_worse[code]) if played[code] else None,
        )
        for code, model in enumerate(models)
    )
    return RankRanges(ranges=ranges, separated=separated, level=judged.level, notes=_notes(judged), judged=judged)


def tiers_of(separated: BoolArray) -> IntArray:
    tier = np.zeros(len(separated), dtype=np.int64)
    left = np.ones(len(separated), dtype=np.bool_)
    number = 0
    while left.any():
        number += 1
        top = left & ~separated[left].any(axis=0)
        tier[top] = number
        left &= ~top
    return tier


def _notes(judged: JudgedDifferences) -> tuple[str, ...]:
    joint, silent = judged.joint, judged.silent
    if not joint.pairs:
        return ()
    if silent == judged.comparable:
        return ("Any may hold any rank among those it can be compared with, for no difference of two has an interval.",)
    notes = [
        f"Simultaneous rank ranges hold for all models together at {100 * judged.level:g} %: "
        f"{counted(joint.pairs, 'difference')} of two models judged at once, {joint.how}."
    ]
    if silent:
        notes.append(
            f"{counted(silent, 'model')} with too few items for an interval of any difference: "
            f"{'it' if silent == 1 else 'they'} may hold any rank."
        )
    elif not judged.separated.any():
        alone = " when all are judged together; a model's own range is about that model alone"
        notes.append(f"No two models are separated at {100 * judged.level:g} %{alone if joint.pairs > 1 else ''}.")
    return tuple(notes)
