"""Online Elo as FastChat's elo_analysis.py computed it in 2023: one pass over the battles, in their order."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.format.words import counted
from evenhand.stats.intervals import LEVEL, MANY, reach, reaches
from evenhand.stats.ratings.bradley_terry.components import BoolArray
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.elo.notes import ALIKE, alike_notes, outside_notes, provisional_notes
from evenhand.stats.ratings.item_blocks import played_and_items
from evenhand.stats.ratings.resampling import Blocks, Order, Resampling, about_resamples, resampled_orders
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.shares.win_rate import tally
from evenhand.stats.ratings.sums import FloatArray

COMPILED_FROM = 1_000_000
"""Battles played, resamples included, from which starting numba costs less than doing without."""

_ABREAST_FROM, _ABREAST = 20, 250
"""Resamples that are played side by side: fewer are no faster so, and more would hold too much."""
_HELD = 32_000_000
"""Battles of resamples, in memory at once."""
_AT_A_TIME = 1000
"""Battles of each resample that are looked out together."""

_ROUNDING = 1e-18
"""A variance of shares below is that of sums that rounding parted."""

_SMALL_STEP = 0.05
"""Largest change of a strength, in natural units, that the compiled pass may make: its series are exact to there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EloRating:
    model: str
    rating: Estimate
    """One pass over the battles. Bounds only from resamples: a pass in one order says nothing about its own spread."""
    median: float | None = None
    """Of the resamples: what FastChat's boards of 2023 show, unrounded."""
    provisional: bool = False
    """It played fewer battles than `settled_after` says: much of its rating is still the start value."""

    @property
    def outside(self) -> bool:
        """Whether the one pass lies outside the percentiles of its resamples."""
        value, low, high = self.rating.value, self.rating.lower, self.rating.upper
        return value is not None and low is not None and high is not None and not low <= value <= high

    @property
    def shown(self) -> float | None:
        """What boards go by: the median where there is one."""
        return self.rating.value if self.median is None else self.median


@dataclass(frozen=True, slots=True, kw_only=True)
class EloBootstrap:
    ratings: tuple[EloRating, ...]
    notes: tuple[str, ...]
    draws: FloatArray = field(repr=False, compare=False)
    """Rounds x models: every resample's ratings; NaN where a resample leaves a model out."""
    wider: FloatArray = field(repr=False, compare=False)
    """Of each model: what resamples scatter too little by."""
    effective: FloatArray = field(repr=False, compare=False)
    """Of each model: clusters of equal weight, of items or of raters, that would tell as much."""

    @property
    def scattered(self) -> FloatArray:
        """The draws, each model's as far about its mean as its clusters say it scatters."""
        there = ~np.isnan(self.draws)
        mean = np.where(there, self.draws, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        return mean + self.wider * (self.draws - mean)


def settled_after(k: float, scale: Scale) -> float:
    """Battles, all weights 1, after which exp(-1) of what separates a model's worth from the start is still missing.

    A rating off by d wins p'(d) = p(1 - p) d / unit more or less than it should, so a battle mends k p(1 - p) / unit of
    d: a quarter of k / unit near even strength, and less where the two are unequal.
    """
    return 4 * scale.unit / k


def elo(
    comparisons: Comparisons, *, k: float = 4, scale: Scale | None = None, compiled_from: int = COMPILED_FROM
) -> tuple[EloRating, ...]:
    """One for each model, in the order of `comparisons.models`; the mean of those that played is the scale's start.

    A tie is half a win; a row of weight w moves by k w, so that weights of 1 give FastChat's numbers. A model without a
    battle has no rating.
    """
    scale = scale or Scale()
    player = _Player(comparisons, k, scale, many=len(comparisons) >= compiled_from)
    return _named(comparisons, player.played(), settled=settled_after(k, scale))


def elo_bootstrap(
    comparisons: Comparisons,
    resampling: Resampling,
    *,
    k: float = 4,
    scale: Scale | None = None,
    level: float = LEVEL,
    compiled_from: int = COMPILED_FROM,
) -> EloBootstrap:
    """`elo` with the percentiles of resamples, each played in the order it was drawn, and their median.

    A model that a resample leaves out has no rating there, and its percentiles are of the others. Those of a
    provisional rating scatter about the start and not about its worth. Percentiles are widened as Bradley-Terry's are
    (`bradley_terry.bootstrap`), but for those of single battles, which are FastChat's. A model that did alike on every
    item has none: its resamples are alike too, though the next item may not be.
    """
    scale = scale or Scale()
    many = len(comparisons) * (resampling.rounds + 1) >= compiled_from
    player = _Player(comparisons, k, scale, many=many)
    one_pass, settled = player.played(), settled_after(k, scale)
    if not len(comparisons):
        nothing = np.full((0, len(one_pass)), np.nan)
        none = np.zeros(len(one_pass))
        ratings = _named(comparisons, one_pass, settled=settled)
        return EloBootstrap(ratings=ratings, notes=(), draws=nothing, wider=none, effective=none)
    drawn = player.resampled(resampling)
    tail = (1 - level) / 2
    # A model that never played has no column of its own in the percentiles; its rating stays without bounds.
    held = np.where(np.isnan(drawn).all(axis=0), 0.0, drawn)
    lower, median, upper = np.nanquantile(held, (tail, 0.5, 1 - tail), axis=0)
    alike, wider, effective = _unseen_scatter(comparisons, resampling)
    if resampling.unit == "items":
        reached = wider * reaches(effective, level) / reach(MANY, level)
        lower, upper = median - reached * (median - lower), median + reached * (upper - median)
    lower, upper = np.where(alike, np.nan, (lower, upper))
    spread = _Percentiles(lower=lower, median=median, upper=upper)
    ratings = _named(comparisons, one_pass, spread, settled=settled)
    notes = (
        *_about_draws(comparisons, resampling, drawn[:, ~np.isnan(one_pass)]),
        *alike_notes([one.model for one in ratings if one.rating.reason == ALIKE]),
        *outside_notes(
            [comparisons.models[place] for place in np.flatnonzero((one_pass < lower) | (one_pass > upper))]
        ),
    )
    return EloBootstrap(ratings=ratings, notes=notes, draws=drawn, wider=wider, effective=effective)


def _unseen_scatter(comparisons: Comparisons, resampling: Resampling) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Of each model: whether its clusters are all alike, what resamples scatter too little by, and how many are behind.

    Of clusters that are all alike resamples show nothing but other orders. What raters add to the spread between items
    no resample of items shows: it is taken from the model's win rate.
    """
    if resampling.unit == "battles":
        comparisons = replace(comparisons, item=None, cluster=None, crossed=None)
    variance, effective = tally(comparisons, "average").spread()
    alike = variance <= _ROUNDING
    if resampling.unit == "battles":
        return alike, np.ones(len(effective)), effective
    behind = np.maximum(effective, 2.0)
    wider = np.sqrt(behind / (behind - 1))
    if comparisons.crossed is not None:
        alone, _ = tally(replace(comparisons, crossed=None), "average").spread()
        wider *= np.sqrt(np.divide(variance, alone, out=np.ones_like(alone), where=alone > 0))
    return alike, wider, effective


def _about_draws(comparisons: Comparisons, resampling: Resampling, drawn: FloatArray) -> list[str]:
    notes = [about_resamples(comparisons, resampling, "Intervals are percentiles", widened=resampling.unit == "items")]
    absent = int(np.isnan(drawn).any(axis=1).sum())
    if absent:
        rounds = counted(resampling.rounds, "resample")
        notes.append(f"{absent:,} of {rounds} leave out some model: it is not counted there.")
    return notes


def about_provisional(ratings: Sequence[EloRating], k: float, scale: Scale) -> tuple[str, ...]:
    """A sentence that names those with too few battles; none where there are none."""
    of_model = {one.model: one.rating.n for one in ratings if one.provisional}
    return provisional_notes(of_model, k=k, settled=settled_after(k, scale), start=scale.start)


class _Player:
    """Plays sequences of the same battles. Of `many`, by compiled code where numba is there and the steps are small
    enough, else many resamples side by side."""

    def __init__(self, comparisons: Comparisons, k: float, scale: Scale, *, many: bool) -> None:
        if not k > 0:
            raise ValueError(f"Elo needs k > 0, not {k}.")
        if scale.anchor is not None:
            raise ValueError("Elo has no anchor: its ratings keep the mean they start with.")
        self._battles, self._k, self._scale, self._many = comparisons, k, scale, many
        heaviest = 1.0 if comparisons.weight is None else float(comparisons.weight.max(initial=0.0))
        self._packed = None
        if many and k * heaviest / scale.unit < _SMALL_STEP and _numba_is_there():
            from evenhand.stats.ratings.elo.compiled import PackedBattles

            self._packed = PackedBattles.of(comparisons)

    def played(self) -> FloatArray:
        """Every model's rating after all rows in their order; NaN for one that did not play."""
        if self._packed is not None:
            moved = self._packed.play(np.zeros(1, dtype=np.int32), k=self._k, unit=self._scale.unit)
        else:
            moved = _moved(self._battles, None, k=self._k, unit=self._scale.unit)
        return self._scale.start + moved

    def resampled(self, resampling: Resampling) -> FloatArray:
        """The same of each resample: rounds x models."""
        how = {"k": self._k, "unit": self._scale.unit}
        if self._packed is not None:
            blocks = Blocks.of(self._battles, resampling)
            moved = np.array(list(self._packed.resampled(blocks, blocks.draws(resampling), **how)))
        elif self._many and resampling.rounds >= _ABREAST_FROM:
            moved = _moved_abreast(self._battles, resampling, **how)
        else:
            orders = resampled_orders(self._battles, resampling)
            moved = np.array([_moved(self._battles, order, **how) for order in orders])
        return self._scale.start + moved


def _moved_abreast(battles: Comparisons, resampling: Resampling, *, k: float, unit: float) -> FloatArray:
    """How far each model is from the start after each resample; NaN for one that did not play in it.

    The resamples go on side by side, a battle of each at a time: numpy then plays hundreds for the price of some."""
    blocks = Blocks.of(battles, resampling)
    weight = None if battles.weight is None else battles.weight[blocks.rows]
    rows = _Rows(
        a=np.append(battles.model_a[blocks.rows], len(battles.models)).astype(np.intp),
        b=np.append(battles.model_b[blocks.rows], len(battles.models)).astype(np.intp),
        score=np.append(battles.sign[blocks.rows] / 2, 0.0),
        step=np.append(np.full(len(battles), k) if weight is None else k * weight, 0.0),
    )
    draws = blocks.draws(resampling)
    found: list[FloatArray] = []
    while some := list(islice(draws, max(1, min(_ABREAST, _HELD // len(battles))))):
        found.append(rows.played([blocks.places(drawn) for drawn in some], len(battles.models), unit))
    return np.concatenate(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """Battles, and at the end one of a model that is none with itself, which a resample plays when it is done."""

    a: npt.NDArray[np.intp]
    b: npt.NDArray[np.intp]
    score: FloatArray
    step: FloatArray

    def played(self, orders: Sequence[npt.NDArray[np.int64] | Codes], models: int, unit: float) -> FloatArray:
        lanes = np.arange(len(orders)) * (models + 1)
        ratings, seen = np.zeros(len(orders) * (models + 1)), np.zeros(len(orders) * (models + 1), dtype=np.bool_)
        steepness = 1 / (2 * unit)
        for begin in range(0, max(map(len, orders)), _AT_A_TIME):
            there = np.full((_AT_A_TIME, len(orders)), len(self.a) - 1)
            for lane, order in enumerate(orders):
                some = order[begin : begin + _AT_A_TIME]
                there[: len(some), lane] = some
            step, score = self.step[there], self.score[there]
            first, second = self.a[there] + lanes, self.b[there] + lanes
            seen[first[step > 0]] = seen[second[step > 0]] = True
            for a, b, said, by in zip(first, second, score, step, strict=True):
                one, other = ratings[a], ratings[b]
                gain = by * (said - 0.5 * np.tanh((one - other) * steepness))
                ratings[a] = one + gain
                ratings[b] = other - gain
        ratings[~seen] = np.nan
        return ratings.reshape(len(orders), models + 1)[:, :models]


def _moved(battles: Comparisons, order: Order | None, *, k: float, unit: float) -> FloatArray:
    """How far each model is from the start; NaN for one that did not play."""
    rows = np.arange(len(battles)) if order is None else order
    if battles.weight is not None:
        rows = rows[battles.weight[rows] > 0]
    first: list[int] = battles.model_a[rows].tolist()
    second: list[int] = battles.model_b[rows].tolist()
    scores: list[float] = (battles.sign[rows] / 2).tolist()
    steps: list[float] = (k * (np.ones(len(rows)) if battles.weight is None else battles.weight[rows])).tolist()
    ratings = [0.0] * len(battles.models)
    # 1 / (1 + base^-(gap/scale)) = (1 + tanh(gap ln(base) / (2 scale))) / 2, which no gap can overflow.
    steepness, tanh = 1 / (2 * unit), math.tanh
    for a, b, score, step in zip(first, second, scores, steps, strict=True):
        gain = step * (score - 0.5 * tanh((ratings[a] - ratings[b]) * steepness))
        ratings[a] += gain
        ratings[b] -= gain
    moved = np.full(len(ratings), np.nan)
    seen = sorted({*first, *second})
    moved[seen] = np.array(ratings)[seen]
    return moved


def _numba_is_there() -> bool:
    from importlib.util import find_spec

    return find_spec("numba") is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Percentiles:
    """Of each model's ratings in the resamples; NaN: no bound is given."""

    lower: FloatArray
    median: FloatArray
    upper: FloatArray


def _named(
    comparisons: Comparisons, ratings: FloatArray, spread: _Percentiles | None = None, *, settled: float
) -> tuple[EloRating, ...]:
    played, items = played_and_items(comparisons)
    provisional: BoolArray = played < settled
    return tuple(
        EloRating(
            model=model,
            rating=Estimate(
                value=float(ratings[code]),
                lower=None if spread is None else _number(spread.lower[code]),
                upper=None if spread is None else _number(spread.upper[code]),
                n=float(played[code]),
                clusters=int(items[code]),
                reason=None if spread is None or not math.isnan(spread.lower[code]) else ALIKE,
            ),
            median=None if spread is None else float(spread.median[code]),
            provisional=bool(provisional[code]),
        )
        if played[code] > 0
        else EloRating(model=model, rating=Estimate(value=None, reason="no battles"))
        for code, model in enumerate(comparisons.models)
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
