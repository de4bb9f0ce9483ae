"""Ratings from five-level verdicts, and what the levels add to wins and ties."""

from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.words import counted
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.components import BoolArray
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, sandwich_board
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.effect import Effect, Slopes, effect_of
from evenhand.stats.ratings.effects.ordinal_solution import OrdinalSolution, ordinal_solution
from evenhand.stats.ratings.scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    verdict: int
    """1 better, 2 much better."""
    lead: Estimate
    """Natural units: a model so far ahead gets this verdict or a higher one half of the time."""

    def as_json(self) -> dict[str, Json]:
        return {"verdict": self.verdict, **self.lead.as_json("lead")}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrdinalFit:
    board: BradleyTerry
    """A gap of the scale's points makes the odds of any verdict or a higher one `base` times as high."""
    order: Effect | None
    """Of being shown first, one for all raters; None where no pair of models was seen in both orders."""
    thresholds: tuple[Threshold, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankChange:
    model: str
    levels: int | None
    collapsed: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ordinal:
    levels: OrdinalFit | None
    """Of all five levels; None where they have no finite fit."""
    collapsed: OrdinalFit | None
    """The same model of better, tie and worse only. Its strengths mean the same, so the two boards share a scale."""
    rank_changes: tuple[RankChange, ...]
    """Models whose rank differs between the two, in the order of the comparisons' models."""
    gain: float | None
    """0.3: the levels make differences of ratings as sure as 30 % more verdicts would. None where that is not told."""
    reason: str | None
    """Why `levels` is None."""
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        fits: dict[str, Json] = {}
        for name, fit in (("levels", self.levels), ("collapsed", self.collapsed)):
            fits[name] = None if fit is None else _as_json(fit)
        return {**fits, "gain": self.gain, "reason": self.reason}


def ordinal(comparisons: Comparisons, *, scale: Scale | None = None, level: float = LEVEL) -> Ordinal:
    """Verdicts as a cumulative logit with thresholds symmetric about the order effect (`cumulative`).

    Intervals are clustered by item. Levels that never occur are left out of the model and named.
    """
    scale = scale or Scale()
    if comparisons.value is None:
        return _without("Not every row has a five-level verdict.")
    seen = comparisons if comparisons.weight is None else comparisons.rows(comparisons.weight > 0)
    if seen.value is None or not len(seen):
        return _without("There are no verdicts.")
    full, three = ordinal_solution(seen, seen.value), ordinal_solution(seen, seen.sign)
    levels = None if isinstance(full, str) else _fit(full, scale, level)
    collapsed = None if isinstance(three, str) else _fit(three, scale, level)
    boards = None if levels is None or collapsed is None else (levels.board, collapsed.board)
    return Ordinal(
        levels=levels,
        collapsed=collapsed,
        rank_changes=() if boards is None else _rank_changes(*boards),
        gain=None if boards is None else _gain(*boards),
        reason=full if isinstance(full, str) else None,
        notes=(*_level_notes(seen), *_order_notes(seen, levels), *_collapsed_notes(three)),
    )


def _without(reason: str) -> Ordinal:
    return Ordinal(levels=None, collapsed=None, rank_changes=(), gain=None, reason=reason, notes=())


def _fit(found: OrdinalSolution, scale: Scale, level: float) -> OrdinalFit:
    slopes = Slopes(solution=found.solution, spread=found.spread)
    every = np.ones(len(found.solution.comparisons))
    order = effect_of(slopes.estimate(0, level=level), scale) if found.with_order else None
    return OrdinalFit(
        board=sandwich_board(found.solution, found.spread, scale=scale, level=level),
        order=order,
        thresholds=tuple(
            Threshold(verdict=size, lead=slopes.interval(found.with_order + place, every, level=level))
            for place, size in enumerate(found.sizes)
        ),
    )


def _rank_changes(levels: BradleyTerry, collapsed: BradleyTerry) -> tuple[RankChange, ...]:
    return tuple(
        RankChange(model=one.model, levels=one.rank, collapsed=other.rank)
        for one, other in zip(levels.models, collapsed.models, strict=True)
        if one.rank != other.rank
    )


def _gain(levels: BradleyTerry, collapsed: BradleyTerry) -> float | None:
    """Variances of all differences that both boards tell, added up."""
    one, other = (board.spread.errors_of_differences() ** 2 for board in (collapsed, levels))
    told: BoolArray = np.isfinite(one) & np.isfinite(other) & _finite(levels) & _finite(collapsed)
    return float(one[told].sum() / other[told].sum() - 1) if told.any() else None


def _finite(board: BradleyTerry) -> BoolArray:
    group = board.solution.structure.group
    return (group[:, None] == group[None, :]) & ~np.eye(len(group), dtype=np.bool_)


def _as_json(fit: OrdinalFit) -> dict[str, Json]:
    return {
        "models": [
            {"model": one.model, **one.rating.as_json("rating"), "rank": one.rank, "note": one.note}
            for one in fit.board.models
        ],
        "order_effect": None if fit.order is None else fit.order.as_json(),
        "thresholds": [one.as_json() for one in fit.thresholds],
    }


def _level_notes(seen: Comparisons) -> tuple[str, ...]:
    names = {0: "tie", 1: "better or worse", 2: "much better or much worse"}
    given: list[int] = [] if seen.value is None else np.unique(np.abs(seen.value)).tolist()
    return tuple(
        f"No verdict is {name}: the model has no such level." for size, name in names.items() if size not in given
    )


def _order_notes(seen: Comparisons, fit: OrdinalFit | None) -> tuple[str, ...]:
    if fit is None:
        return ()
    if fit.order is None:
        return ("No pair of models was seen in both orders: no order effect is fitted.",)
    unknown = 0 if seen.first is None else int(np.count_nonzero(seen.first == 0))
    if not unknown:
        return ()
    return (f"{counted(unknown, 'row does', 'rows do')} not say which answer was shown first.",)


def _collapsed_notes(found: OrdinalSolution | str) -> tuple[str, ...]:
    return (f"Better, tie and worse alone: {found}",) if isinstance(found, str) else ()
