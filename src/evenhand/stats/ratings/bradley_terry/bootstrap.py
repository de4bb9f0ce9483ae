"""Bradley-Terry intervals from resamples, all fitted together with the full data's curvature."""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.format.words import counted
from evenhand.stats.intervals import LEVEL, MANY, reach, reaches
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray, davidson_is_finite, linked_resamples
from evenhand.stats.ratings.bradley_terry.covariance import Covariance, spread
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, Ties, centred_inverse, fit
from evenhand.stats.ratings.bradley_terry.notes import notes_on
from evenhand.stats.ratings.bradley_terry.placement import placement
from evenhand.stats.ratings.bradley_terry.ratings import Bounds, BradleyTerry, anchored_models, board, bradley_terry
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.resampling import Resampling, about_resamples, resampled_counts
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable

_AT_ONCE = 4_000_000
"""Numbers held at once."""

_STEP = 1e-6
"""Natural units, 0.0002 points; each step is at most about a tenth of the one before, so less than that is left."""
_ITERATIONS = 25


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resamples:
    strength: FloatArray
    """Rounds x models, centred as the full data's; NaN where the resample has no finite fit."""

    @property
    def unbounded(self) -> int:
        """Rounds in which some model has no finite strength."""
        return int(np.isnan(self.strength).any(axis=1).sum())


def bradley_terry_bootstrap(
    comparisons: Comparisons,
    resampling: Resampling,
    *,
    ties: Ties = "half",
    scale: Scale | None = None,
    level: float = LEVEL,
) -> BradleyTerry:
    """Ratings from the full data, their intervals the percentiles of refitted resamples, widened (`_widened`).

    A resample without a finite fit counts as unbounded on both sides, so that enough of them leave no bound. Where
    ratings outnumber the clusters none has an interval, as by the sandwich: resamples of few items scatter too little.
    """
    scale = scale or Scale()
    solution = solve(comparisons, ties=ties)
    placed = placement(solution, scale, level)
    drawn = resamples(solution, resampling)
    moved = (drawn.strength - solution.fit.strength) * scale.unit
    hung = anchored_models(solution, scale)
    if hung is not None:
        moved[:, hung.models] -= moved[:, [hung.anchor]]
    missing = np.isnan(moved)
    tail = (1 - level) / 2
    around = spread(solution, clustered=resampling.unit == "items")
    wider = _widened(solution, around, level)
    told = around.determined.copy()
    if hung is not None:
        told[hung.anchor] = False
    lower = _quantile(np.where(missing, -np.inf, moved), tail, missing=-np.inf) * wider
    upper = _quantile(np.where(missing, np.inf, moved), 1 - tail, missing=np.inf) * wider
    bounds = Bounds(
        lower=placed.value + np.where(told, lower, np.nan),
        upper=placed.value + np.where(told, upper, np.nan),
        median=placed.value + _quantile(np.where(missing, 0.0, moved), 0.5, missing=np.nan),
    )
    rated = board(solution, around, placed, bounds, scale=scale, level=level)
    known = notes_on(solution, around, placed, scale, resampled=True)
    bounded = bool(around.determined[np.isfinite(placed.value)].any())
    return replace(rated, notes=(*known, *_notes(comparisons, resampling, drawn, bounded=bounded)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingChange:
    """One model's rating by two sets of verdicts on the same items."""

    model: str
    first: Estimate
    second: Estimate
    difference: Estimate
    """Points, the second less the first."""

    @property
    def moved(self) -> bool:
        """Whether the interval leaves out 0; of this model alone."""
        lower, upper = self.difference.lower, self.difference.upper
        return (lower is not None and lower > 0) or (upper is not None and upper < 0)


def rating_changes(
    first: Comparisons,
    second: Comparisons,
    resampling: Resampling,
    *,
    scale: Scale | None = None,
    level: float = LEVEL,
) -> tuple[RatingChange, ...]:
    """Both are refitted on the same resamples of items, so that what is hard about an item leaves the difference.

    The intervals are percentiles, widened as those of a bootstrap of one set are. Raises ValueError where the two are
    not of the same models and items.
    """
    if first.models != second.models or not _same_items(first, second):
        raise ValueError("Ratings are compared on the same models and items.")
    scale = scale or Scale()
    one, other = (bradley_terry(each, scale=scale, level=level) for each in (first, second))
    gap = _moves(other, resampling) - _moves(one, resampling)
    missing, tail = np.isnan(gap), (1 - level) / 2
    # Where a fit leaves out battles of models that won or lost all, the two might draw unlike items.
    alike = _same_items(one.solution.comparisons, other.solution.comparisons)
    told = one.spread.determined & other.spread.determined & alike
    wider = np.maximum(*(_widened(each.solution, each.spread, level) for each in (one, other)))
    lower = np.where(told, _quantile(np.where(missing, -np.inf, gap), tail, missing=-np.inf) * wider, np.nan)
    upper = np.where(told, _quantile(np.where(missing, np.inf, gap), 1 - tail, missing=np.inf) * wider, np.nan)
    items = len(np.unique(first.item)) if first.item is not None else 0
    return tuple(
        RatingChange(
            model=before.model,
            first=before.rating,
            second=after.rating,
            difference=_changed(before.rating, after.rating, (float(low), float(high)), items),
        )
        for before, after, low, high in zip(one.models, other.models, lower, upper, strict=True)
    )


def _same_items(one: Comparisons, other: Comparisons) -> bool:
    if one.item is None or other.item is None:
        return False
    return bool(np.array_equal(np.unique(one.item), np.unique(other.item)))


def _moves(rated: BradleyTerry, resampling: Resampling) -> FloatArray:
    """Rounds x models: how far each resample's rating lies from that of all, in points."""
    return (resamples(rated.solution, resampling).strength - rated.solution.fit.strength) * rated.scale.unit


def _changed(before: Estimate, after: Estimate, around: tuple[float, float], items: int) -> Estimate:
    if before.value is None or after.value is None:
        return Estimate(value=None, n=items, clusters=items, reason="it has no finite rating in one of the two")
    gap, (low, high) = after.value - before.value, around
    if np.isnan(low) or np.isnan(high):
        return Estimate(value=gap, n=items, clusters=items, reason="too few items for an interval")
    below, above = np.isinf(low), np.isinf(high)
    return Estimate(
        value=gap,
        lower=None if below else gap + low,
        upper=None if above else gap + high,
        n=items,
        clusters=items,
        unbounded="both" if below and above else "lower" if below else "upper" if above else None,
    )


def _widened(solution: Solution, around: Covariance, level: float) -> FloatArray:
    """Of each model: what its percentiles are multiplied by.

    Resamples of few items scatter too little, by sqrt((G - 1) / G), and know nothing of how unsure that scatter itself
    is, which Student's t tells (the expanded percentiles of Hesterberg 2015, Am. Stat. 69, 371; here on the effective
    number of items, so that a heavy one widens too). What raters add to the items' spread resamples of items do not
    show: they are widened by as much as the two-way sandwich is beside that of items alone.
    """
    models = len(around.clusters)
    behind = np.maximum(around.effective[:models], 2.0)
    wider = reaches(behind, level) / reach(MANY, level) * np.sqrt(behind / (behind - 1))
    if around.crossed is None:
        return wider
    alone = spread(replace(solution, comparisons=replace(solution.comparisons, crossed=None)))
    one, both = (np.diagonal(one.covariance)[:models] for one in (alone, around))
    return wider * np.sqrt(np.maximum(np.divide(both, one, out=np.ones(models), where=one > 0), 1.0))


def resamples(solution: Solution, resampling: Resampling) -> Resamples:
    table = solution.grouped.table
    if not len(solution.comparisons):
        return Resamples(strength=np.full((resampling.rounds, table.models), np.nan))
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    widest = max(len(table) * 3, table.models**2, 1)
    at_once = max(1, min(resampling.rounds, _AT_ONCE // widest))
    drawn = resampled_counts(solution.grouped, solution.comparisons, resampling, at_once=at_once)
    return Resamples(strength=np.concatenate([_fitted(solution, counts, bread) for counts in drawn]))


def _fitted(solution: Solution, counts: FloatArray, bread: FloatArray) -> FloatArray:
    """The strengths of some resamples, NaN for the models of a group that a resample leaves without a finite fit."""
    group = solution.structure.group
    lost = ~_linked_groups(solution, counts)[:, group]
    table = solution.grouped.table
    counts[lost[:, table.first]] = 0
    if solution.fit.log_tie is not None:
        strength = np.stack([_one(solution, one) for one in counts])
    else:
        strength, settled = _together(solution, counts, bread)
        for place in np.flatnonzero(~settled):
            strength[place] = _one(solution, counts[place])
    strength[lost] = np.nan
    return strength


def _linked_groups(solution: Solution, counts: FloatArray) -> BoolArray:
    """Resamples x groups: whether the group still has a finite fit."""
    table, found = solution.grouped.table, solution.structure
    links = np.zeros((len(counts), table.models, table.models), dtype=np.bool_)
    links[:, table.first, table.second] = (counts[:, :, WIN] + counts[:, :, TIE]) > 0
    links[:, table.second, table.first] = (counts[:, :, LOSS] + counts[:, :, TIE]) > 0
    groups = int(found.group.max(initial=-1)) + 1
    linked = np.ones((len(counts), groups), dtype=np.bool_)
    for group in range(groups):
        members = found.members(group)
        if len(members) > 1:
            linked[:, group] = linked_resamples(links if groups == 1 else links[:, members[:, None], members])
    return linked


def _together(solution: Solution, counts: FloatArray, bread: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Newton's method with the full data's curvature for all: a resample's own differs little from it."""
    table, models = solution.grouped.table, solution.grouped.table.models
    # A column for each resample: numbers that are used together lie side by side.
    by_row = np.moveaxis(counts, 0, 2)
    played = by_row.sum(axis=1)
    score = by_row[:, WIN] + by_row[:, TIE] / 2
    # One column to begin with: all start from the full data's strengths, and numpy repeats it as needed.
    strength = solution.fit.strength[:, None]
    sides = [_Side.of(codes) for codes in (table.first, table.second)]
    largest = now = np.full(len(counts), np.inf)
    for _ in range(_ITERATIONS):
        gap = strength[table.second] - strength[table.first]
        np.exp(gap, out=gap)
        gap += 1
        expected = played / gap
        pull = np.subtract(score, expected, out=expected)
        gradient = np.zeros((models, len(counts)))
        for side, turn in zip(sides, (1, -1), strict=True):
            side.add(pull, gradient, turn)
        step = bread[:models, :models] @ gradient
        # A step that grows is one that the borrowed curvature sends astray: it is fitted alone.
        now = np.asarray(np.abs(step).max(axis=0), dtype=np.float64)
        strength = strength + np.where(now > 2 * largest, 0.0, 1.0) * step
        largest = np.minimum(largest, now)
        if float(now.max()) < _STEP:
            break
    return strength.T.copy(), np.asarray(now < _STEP, dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """The table's rows ordered by the model on one of their sides."""

    order: IntArray | None
    """None: they stand in that order."""
    models: Codes
    starts: IntArray

    @classmethod
    def of(cls, codes: Codes) -> "_Side":
        order = np.argsort(codes, kind="stable")
        models, starts = np.unique(codes[order], return_index=True)
        in_order = bool((codes[:-1] <= codes[1:]).all())
        return cls(order=None if in_order else order, models=models, starts=starts)

    def add(self, of_rows: FloatArray, to: FloatArray, turn: int) -> None:
        """Each model's sum of rows, times `turn`."""
        ordered = of_rows if self.order is None else of_rows[self.order]
        if len(self.starts):
            to[self.models] += turn * np.add.reduceat(ordered, self.starts, axis=0)


def _one(solution: Solution, counts: FloatArray) -> FloatArray:
    """A resample by itself, from the start."""
    table = solution.grouped.table
    drawn = PairTable(
        models=table.models,
        first=table.first,
        second=table.second,
        counts=counts,
        squares=counts,
        covariates=table.covariates,
    )
    ties: Ties = "half" if solution.fit.log_tie is None else "davidson"
    if ties == "davidson" and not davidson_is_finite(drawn):
        return np.full(table.models, np.nan)
    try:
        return fit(drawn, gauge=solution.structure.group, ties=ties).strength
    except NoFiniteFit:
        return np.full(table.models, np.nan)


def _quantile(values: FloatArray, share: float, *, missing: float) -> FloatArray:
    with np.errstate(invalid="ignore"):
        found = np.quantile(values, share, axis=0)
    # Between an infinite value and its neighbour numpy finds no number.
    return np.where(np.isfinite(found), found, missing)


def _notes(comparisons: Comparisons, resampling: Resampling, drawn: Resamples, *, bounded: bool) -> list[str]:
    what = "Intervals are percentiles" if bounded else "Medians are"
    notes = [about_resamples(comparisons, resampling, what, widened=bounded)]
    if drawn.unbounded:
        rounds = counted(resampling.rounds, "resample")
        notes.append(f"{drawn.unbounded} of {rounds} have no finite fit: they count as unbounded.")
    return notes
