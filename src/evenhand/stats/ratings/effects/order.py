"""How much being shown first is worth to a rater, and the board without it."""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.format.words import counted
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.components import BoolArray
from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, bradley_terry, sandwich_board
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.bradley_terry.unbounded_fits import NoFit, Side, covariate_fit, proven_slope
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.effect import Effect, Slopes, effect_notes, effect_of, no_effect, unbounded_effect
from evenhand.stats.ratings.effects.order_columns import (
    LEAST_ITEMS,
    Orders,
    RaterColumns,
    orders,
    rater_columns,
    why_untold,
)
from evenhand.stats.ratings.item_blocks import clusters_in
from evenhand.stats.ratings.scale import Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterOrderEffect:
    rater: str
    effect: Effect

    def as_json(self) -> dict[str, Json]:
        return {"rater": self.rater, **self.effect.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderEffect:
    """Positive: the answer shown first is preferred."""

    overall: Effect
    """One intercept for all raters."""
    raters: tuple[RaterOrderEffect, ...]
    """In the order of the comparisons' raters; empty where there is one."""
    before: BradleyTerry
    after: BradleyTerry | None
    """Ratings as if no answer stood first. None where the effect has no finite estimate."""
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        return {**self.overall.as_json(), "raters": [one.as_json() for one in self.raters] or None}


def order_effect(
    comparisons: Comparisons,
    *,
    ties: Ties = "half",
    scale: Scale | None = None,
    level: float = LEVEL,
    plain: BradleyTerry | None = None,
) -> OrderEffect:
    """An intercept for being shown first beside the Bradley-Terry strengths, its interval clustered by item.

    Fitted only where some pair of models was seen in both orders. With several raters each has an intercept of its own
    if it judged pairs in both orders on at least 10 items; all others share one (`rater_columns`). The board after the
    correction then rests on the raters' own intercepts. `plain`: the board without any, where it is known.
    """
    scale = scale or Scale()
    before = plain or bradley_terry(comparisons, ties=ties, scale=scale, level=level)
    fitting = _Fitting(
        plain=before.solution,
        of=orders(before.solution.everything, before.solution.structure.group),
        ties=ties,
        scale=scale,
        level=level,
    )
    overall, common = fitting.overall()
    each = fitting.by_rater()
    corrected = each.together if isinstance(each.together, Solution) else common
    return OrderEffect(
        overall=overall,
        raters=each.raters,
        before=before,
        after=None if corrected is None else sandwich_board(corrected, spread(corrected), scale=scale, level=level),
        notes=(*_notes(fitting.of, overall), *each.notes, *_shared_notes(each.together, common)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ByRater:
    raters: tuple[RaterOrderEffect, ...] = ()
    together: Solution | NoFit | None = None
    """With an effect of each rater's own; None where no rater has one with bounds."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitting:
    plain: Solution
    of: Orders
    ties: Ties
    scale: Scale
    level: float

    def overall(self) -> tuple[Effect, Solution | None]:
        reason = why_untold(self.of)
        if reason is not None:
            return no_effect(reason), None
        found = covariate_fit(self.plain.everything, self.of.first[:, None], ties=self.ties)
        if isinstance(found, NoFit):
            return self._endless(self.of.telling, found.sides[0], found.why(0)), None
        return effect_of(Slopes(solution=found, spread=spread(found)).estimate(0, level=self.level), self.scale), found

    def by_rater(self) -> _ByRater:
        seen = self.plain.everything
        if len(seen.raters) < 2 or seen.rater is None:
            return _ByRater()
        chosen = rater_columns(_of_one_rater(self.plain), self.of, seen.rater)
        effects = {code: no_effect(reason) for code, reason in chosen.reasons.items()}
        for code in chosen.own:
            rows = self.of.telling & (seen.rater == code)
            if side := self._follows(rows):
                effects[code] = self._endless(rows, side, NoFit(sides=(side,)).why(0))
        bounded = [code for code in chosen.own if code not in effects]
        endless = [code for code in chosen.own if code in effects]
        found = self._together(chosen, seen.rater, endless) if bounded else None
        effects |= self._of_raters(found, bounded)
        return _ByRater(
            raters=tuple(RaterOrderEffect(rater=name, effect=effects[code]) for code, name in enumerate(seen.raters)),
            together=found,
            notes=_rater_notes(seen, chosen, endless),
        )

    def _together(self, chosen: RaterColumns, rater: Codes, endless: list[int]) -> Solution | NoFit:
        """As an effect grows without bound its rater's verdicts become certain and bear on nothing else: left out."""
        rows = ~np.isin(rater, endless)
        columns = [place for place in range(chosen.columns.shape[1]) if chosen.columns[rows, place].any()]
        return covariate_fit(self.plain.everything.rows(rows), chosen.columns[rows][:, columns], ties=self.ties)

    def _of_raters(self, found: Solution | NoFit | None, own: list[int]) -> dict[int, Effect]:
        if isinstance(found, NoFit):
            return {code: no_effect(found.why(at)) for at, code in enumerate(own)}
        if found is None:
            return {}
        own_fit = _of_one_rater(found)
        slopes = Slopes(solution=own_fit, spread=spread(own_fit))
        return {code: effect_of(slopes.estimate(at, level=self.level), self.scale) for at, code in enumerate(own)}

    def _follows(self, rows: BoolArray) -> Side | None:
        """The bound that is missing where every one of these verdicts went to the same place."""
        went = self.plain.everything.sign[rows] * self.of.first[rows]
        return "upper" if bool((went == 1).all()) else "lower" if bool((went == -1).all()) else None

    def _endless(self, rows: BoolArray, side: Side | None, reason: str) -> Effect:
        seen = self.plain.everything.rows(rows)
        bound = None if side is None else proven_slope(seen, self.of.first[rows], side, self.level)
        if follows := self._follows(rows):
            place = "first" if follows == "upper" else "second"
            reason = (
                f"All {whole(seen.total)} verdicts that bear on it went to the answer shown {place}: no {side} bound."
            )
        untold = Estimate(value=None, n=seen.total, clusters=clusters_in(seen), reason=reason)
        return unbounded_effect(untold, side, bound, self.scale)


def _of_one_rater(solution: Solution) -> Solution:
    """Not clustered by rater: what raters differ by says nothing about one rater's own effect."""
    seen = replace(solution.comparisons, crossed=None)
    if seen.cluster_noun == "rater":
        seen = replace(seen, cluster=None, cluster_noun="item")
    return replace(solution, comparisons=seen)


def _notes(of: Orders, overall: Effect) -> tuple[str, ...]:
    notes: list[str] = []
    unknown = int(np.count_nonzero(of.first == 0))
    if unknown and of.first.any():
        notes.append(
            f"{counted(unknown, 'row does', 'rows do')} not say which answer was shown first: used for the "
            "ratings, not for the order effect."
        )
    return (*notes, *effect_notes(overall, "The order effect"))


def _rater_notes(seen: Comparisons, chosen: RaterColumns, endless: list[int]) -> tuple[str, ...]:
    if chosen.crowded is not None:
        return (f"No rater has an order effect of its own: {chosen.crowded}",)
    if not chosen.own:
        return (
            f"None of the {len(seen.raters):,} raters judged pairs in both orders on at least {LEAST_ITEMS} items, so "
            "what being shown first is worth to each is not known.",
        )
    notes = [
        f"{len(chosen.own):,} of {len(seen.raters):,} raters judged pairs in both orders on at least {LEAST_ITEMS} "
        "items and have an order effect of their own"
        + (", the others share one." if chosen.common else ".")
    ]  # fmt: skip
    if endless:
        names = ", ".join(seen.raters[code] for code in endless)
        notes.append(f"The corrected board leaves out the verdicts of {names}: they follow the order alone.")
    return tuple(notes)


def _shared_notes(together: Solution | NoFit | None, common: Solution | None) -> tuple[str, ...]:
    if common is None or not isinstance(together, NoFit):
        return ()
    return ("The raters' own effects have no finite fit together: the corrected board rests on one effect for all.",)
