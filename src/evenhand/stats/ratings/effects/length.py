"""How much a longer answer is worth to a rater, and the board at equal length."""

from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.words import counted
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.components import BoolArray
from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, bradley_terry, sandwich_board
from evenhand.stats.ratings.bradley_terry.solution import Solution
from evenhand.stats.ratings.bradley_terry.unbounded_fits import NoFit, covariate_fit, proven_slope
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.effect import Effect, Slopes, effect_notes, effect_of, no_effect, unbounded_effect
from evenhand.stats.ratings.effects.order_columns import orders, why_untold
from evenhand.stats.ratings.item_blocks import clusters_in
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray

WORDS = 100
"""The slope is told per so many words."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LengthEffect:
    slope: Effect
    """What 100 words more are worth. Positive: the longer answer is preferred."""
    order: Effect | None
    """Of being shown first, one for all raters, fitted together with the slope; None where it is not fitted."""
    before: BradleyTerry
    """Without covariates, of the rows with a known length; of all where no length is known."""
    after: BradleyTerry | None
    """Ratings as if all answers were of one length, and none stood first where `order` is fitted. None: no fit."""
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        order = None if self.order is None else self.order.as_json()
        return {**self.slope.as_json(), "words": WORDS, "order_effect": order}


def length_effect(
    comparisons: Comparisons,
    *,
    ties: Ties = "half",
    scale: Scale | None = None,
    level: float = LEVEL,
    plain: BradleyTerry | None = None,
) -> LengthEffect:
    """A slope of the difference in words beside the Bradley-Terry strengths, its interval clustered by item.

    The covariate is the difference itself, in hundreds of words: a unit that reads the same on every board. AlpacaEval
    divides by the standard deviation and bends with tanh, LMArena divides by the sum of the lengths; the first changes
    its meaning with the models that happen to be compared, the second needs lengths where a row has only their
    difference. That the true effect is hardly a straight line is left to the sandwich: its interval holds for the line
    that fits best. Longer answers may be longer because they are better, so the board at equal length answers another
    question than the plain one, and stands beside it. Rows without a length are left out of both. `plain`: the board of
    all rows, where it is known.
    """
    scale = scale or Scale()
    known = _known(comparisons)
    if known.any() and not known.all():
        comparisons, plain = comparisons.rows(known), None
    before = plain or bradley_terry(comparisons, ties=ties, scale=scale, level=level)
    columns, untold = _columns(before.solution)
    found = _fitted(before.solution.everything, columns, ties)
    if isinstance(found, Solution):
        slopes = Slopes(solution=found, spread=spread(found))
        effects = [effect_of(slopes.estimate(at, level=level), scale) for at in range(columns.shape[1])]
        after = sandwich_board(found, slopes.spread, scale=scale, level=level)
    else:
        effects, after = [_without_fit(found, before.solution.everything, scale, level)], None
    return LengthEffect(
        slope=effects[0],
        order=effects[1] if len(effects) > 1 else None,
        before=before,
        after=after,
        notes=(*_left_out(known), *_order_notes(after, untold), *effect_notes(effects[0], "The length slope")),
    )


def _known(comparisons: Comparisons) -> BoolArray:
    if comparisons.length is None:
        return np.zeros(len(comparisons), np.bool_)
    return np.isfinite(comparisons.length)


def _columns(plain: Solution) -> tuple[FloatArray, str | None]:
    """Hundreds of words and, where it can be told, who stood first; else why it cannot."""
    of = orders(plain.everything, plain.structure.group)
    untold = why_untold(of)
    length = _hundreds(plain.everything)
    return np.column_stack((length,) if untold else (length, of.first)), untold


def _hundreds(seen: Comparisons) -> FloatArray:
    return np.full(len(seen), np.nan) if seen.length is None else seen.length / WORDS


def _fitted(seen: Comparisons, columns: FloatArray, ties: Ties) -> Solution | NoFit | str:
    """A sentence where there is nothing to fit."""
    if not np.isfinite(columns).all() or not len(seen):
        return "No row says how long its answers are."
    if not columns[:, 0].any():
        return "No two answers differ in length."
    return covariate_fit(seen, columns, ties=ties)


def _without_fit(found: NoFit | str, seen: Comparisons, scale: Scale, level: float) -> Effect:
    if isinstance(found, str):
        return no_effect(found)
    side = found.sides[0]
    # The proof lets only the strengths follow the slope, so with an order effect beside it there is none.
    alone = len(found.sides) == 1
    bound = proven_slope(seen, _hundreds(seen), side, level) if side is not None and alone else None
    untold = Estimate(value=None, n=seen.total, clusters=clusters_in(seen), reason=found.why(0))
    return unbounded_effect(untold, side, bound, scale)


def _left_out(known: BoolArray) -> tuple[str, ...]:
    missing = len(known) - int(np.count_nonzero(known))
    if missing in (0, len(known)):
        return ()
    return (f"{counted(missing, 'row does', 'rows do')} not say how long the answers are: left out.",)


def _order_notes(after: BradleyTerry | None, untold: str | None) -> tuple[str, ...]:
    if after is None:
        return ()
    if untold is None:
        return ("An order effect, one for all raters, is fitted together with the length slope.",)
    return (f"Without an order effect: {untold[0].lower()}{untold[1:]}",)
