"""A newcomer on a frozen board: its strength from one verdict an item, and how sure that is.

The board's strengths, its order effect and what each of its items moves them by stay as they are. What an opponent does
on an item against all others tells how the item treats it, and is taken off the newcomer's result there (a control
variate), as much of it as makes the estimate surest.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, centred_inverse
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray, summed

NEAREST = 6
"""Opponents among whom one is drawn."""
_MOST_CONTROL = 3.0
_EQUAL = 9
"""Digits to which two distances are the same."""
_FAR = 40.0
"""Natural units beyond which no strength is looked for."""


class NoBoard(ValueError):
    """Verdicts that make no board on which a newcomer could be placed, and why."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meetings:
    """A newcomer's verdicts, in the board's numbers of items and models."""

    item: Codes
    opponent: Codes
    first: npt.NDArray[np.int8]
    """1 where the newcomer was shown first, -1 where second."""
    score: FloatArray
    """1 where it won, 0 where it lost, 1/2 for a tie; between them where verdicts are soft."""

    def __len__(self) -> int:
        return len(self.score)

    def rows(self, kept: npt.NDArray[np.bool_] | slice) -> "Meetings":
        return Meetings(
            item=self.item[kept], opponent=self.opponent[kept], first=self.first[kept], score=self.score[kept]
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """Natural units, on the scale on which the board's models have mean 0."""

    strength: float
    error: float
    control: float
    """How much of the opponents' residuals is taken off, from 0 to -3."""
    influence: FloatArray
    """Of each item: what it moves the strength by, through the board too."""
    apart: FloatArray
    """Of each model of the board: its strength below the newcomer's."""
    apart_error: FloatArray

    def told(self, reach: float) -> npt.NDArray[np.int64]:
        """Of each model of the board: 1 where the newcomer is better, -1 where it is worse, 0 where nobody can tell, at
        so many standard errors."""
        return np.sign(self.apart).astype(np.int64) * (np.abs(self.apart) > reach * self.apart_error)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FrozenBoard:
    models: tuple[str, ...]
    strength: FloatArray
    """Mean 0."""
    plain: FloatArray
    """As a board has them that knows no order: what is printed."""
    order: float
    """What being shown first is worth; 0 where the board cannot tell."""
    influence: FloatArray
    """Items x (models and the order effect): what each item moves them by."""
    residual: FloatArray
    """Items x models: a model's mean residual over its verdicts on the item; 0 where it has none."""
    dispersion: float | None
    """Squared residual of an item's mean verdict on two models shown in both orders, over the information of a single
    one; None where none were."""
    _verdicts: FloatArray
    """Items x models: how many, by weight."""
    _rows: "_BoardRows"

    @classmethod
    def of(cls, rows: Comparisons, *, items: int) -> "FrozenBoard":
        """`items`: how many there are, those of the rows being numbered below it. Raises NoBoard."""
        if rows.item is None or rows.first is None or not len(rows):
            raise NoBoard("it has no verdicts by item and order")
        found = _solved(rows)
        kept, structure = found.everything, found.structure
        if structure.above.any() or len(np.unique(structure.component)) != 1 or structure.component.min() < 0:
            raise NoBoard("not all of its models can be compared: some have no verdict, or won or lost everything")
        assert kept.item is not None
        assert kept.first is not None
        models, sign = len(kept.models), kept.first.astype(np.float64)
        order = float(found.fit.slopes[0]) if found.fit.slopes.size else 0.0
        strength = found.fit.strength
        weight = np.ones(len(kept)) if kept.weight is None else kept.weight
        expected = _won(strength[kept.model_a] - strength[kept.model_b] + sign * order)
        off = (kept.sign + 1) / 2 - expected
        one, other = (kept.item.astype(np.int64) * models + code for code in (kept.model_a, kept.model_b))
        cells = items * models
        score = (summed(one, weight * off, cells) - summed(other, weight * off, cells)).reshape(items, models)
        verdicts = (summed(one, weight, cells) + summed(other, weight, cells)).reshape(items, models)
        by_order = summed(kept.item, weight * off * sign, items)[:, None]
        inverse = centred_inverse(found.fit.information, structure.group)
        scores = np.hstack((score, by_order)) if found.fit.slopes.size else score
        influence = scores @ inverse
        return cls(
            models=kept.models,
            strength=strength,
            plain=solve(rows).fit.strength if found.fit.slopes.size else strength,
            order=order,
            influence=influence if found.fit.slopes.size else np.hstack((influence, np.zeros((items, 1)))),
            residual=np.divide(score, verdicts, out=np.zeros_like(score), where=verdicts > 0),
            dispersion=_dispersion(kept, weight * off, weight * expected * (1 - expected), weight),
            _verdicts=verdicts,
            _rows=_BoardRows(
                model_a=kept.model_a,
                model_b=kept.model_b,
                one=one,
                other=other,
                first=sign,
                bend=weight * expected * (1 - expected),
            ),
        )

    def printed(self, strength: float, ratings: Mapping[str, float] | None = None, scale: Scale | None = None) -> float:
        """What such a strength is on a board that knows no order: where it is expected to win as much against all, in
        both orders alike. In points where its models' ratings are given, else as `plain`."""
        known = np.array([ratings is None or model in ratings for model in self.models], dtype=np.bool_)
        lead = strength - self.strength[known]
        won = float((_won(lead + self.order) + _won(lead - self.order)).sum()) / 2
        if ratings is None or scale is None:
            found = _root(-self.plain, won)
            return strength if found is None else found
        points = np.array([ratings[model] for model in self.models if model in ratings])
        middle = float(points.mean())
        found = _root(-(points - middle) / scale.unit, won)
        return middle + scale.unit * (float(lead.mean()) if found is None else found)

    def nearest(self, strength: float) -> list[str]:
        """Its models, the nearest to such a strength first; equal ones in their own order, also where one processor
        rounds otherwise than another."""
        order: list[int] = np.argsort(np.abs(self.strength - strength).round(_EQUAL), kind="stable").tolist()
        return [self.models[code] for code in order]

    def guess(self, met: Meetings) -> float:
        """A strength for choosing opponents: with a win and a loss against an average model besides, so that there
        always is one."""
        against, offset = self.strength[met.opponent], met.first * self.order
        found = _root(np.append(offset - against, [0.0, 0.0]), float(met.score.sum()) + 1.0)
        assert found is not None
        return found

    def place(self, met: Meetings) -> Placed | None:
        """None where the verdicts have no finite fit, or are of a single item."""
        items = len(np.unique(met.item))
        if items < 2:
            return None
        offset = met.first * self.order - self.strength[met.opponent]
        known = self.residual[met.item, met.opponent]
        strength = _root(offset, float(met.score.sum()))
        if strength is None:
            return None
        turned = self._residuals_move(met)
        alpha, gamma = self._moves(met, strength, items, turned)
        spread = float(gamma @ gamma)
        control = float(np.clip(-(alpha @ gamma) / spread, -_MOST_CONTROL, 0.0)) if spread > 0 else 0.0
        # The estimating equation takes control * c off each score: a control below 0 adds what the opponent lost.
        controlled = _root(offset, float((met.score - control * known).sum()))
        if controlled is None:
            control, controlled = 0.0, strength
        alpha, gamma = self._moves(met, controlled, items, turned)
        moved = alpha + control * gamma
        models = len(self.models)
        return Placed(
            strength=controlled,
            error=math.sqrt(float(moved @ moved)),
            control=control,
            influence=moved,
            apart=controlled - self.strength,
            apart_error=np.sqrt(((moved[:, None] - self.influence[:, :models]) ** 2).sum(axis=0)),
        )

    def _moves(self, met: Meetings, strength: float, items: int, turned: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of each item: what it moves the newcomer's strength by, and what for each unit of control."""
        every, models = len(self.influence), len(self.models)
        expected = _won(strength - self.strength[met.opponent] + met.first * self.order)
        bend = expected * (1 - expected)
        whole = float(bend.sum())
        few = math.sqrt(items / (items - 1)) / whole
        through = np.append(summed(met.opponent, bend, models), -float(bend @ met.first)) / whole
        known = self.residual[met.item, met.opponent]
        alpha = few * summed(met.item, met.score - expected, every) + self.influence @ through
        gamma = -few * summed(met.item, known, every) - self.influence @ (turned / whole)
        return alpha, gamma

    def _residuals_move(self, met: Meetings) -> FloatArray:
        """By what the sum of the opponents' residuals changes with each strength of the board and its order effect."""
        rows, models = self._rows, len(self.models)
        cell = met.item.astype(np.int64) * models + met.opponent
        times, verdicts = summed(cell, None, self._verdicts.size), self._verdicts.ravel()
        share = np.divide(times, verdicts, out=np.zeros_like(times), where=verdicts > 0)
        if not share.any():
            return np.zeros(models + 1)
        lead = (share.take(rows.one) - share.take(rows.other)) * rows.bend
        of_models = summed(rows.model_b, lead, models) - summed(rows.model_a, lead, models)
        return np.append(of_models, -float(lead @ rows.first))

    def calls_at_random(self, placed: Placed) -> float | None:
        """Calls that opponents drawn from the whole board, each met in both orders, would take for as small an error;
        None where no number would."""
        if self.dispersion is None:
            return None
        expected = _won(placed.strength - self.strength)
        bend = expected * (1 - expected)
        through = np.append(bend / bend.sum(), 0.0)
        left = placed.error**2 - float(((self.influence @ through) ** 2).sum())
        return 2 * self.dispersion / (float(bend.mean()) * left) if left > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _BoardRows:
    """Of each verdict of the board."""

    model_a: Codes
    model_b: Codes
    one: npt.NDArray[np.int64]
    """Item times models plus model_a: where the two meet in a table of items and models; in `other` of model_b."""
    other: npt.NDArray[np.int64]
    first: FloatArray
    """1 where model_a was shown first, -1 where model_b was."""
    bend: FloatArray
    """Its information."""


def _solved(rows: Comparisons) -> Solution:
    """With the order effect, where the board tells it."""
    assert rows.first is not None
    try:
        return solve(rows, covariates=rows.first[:, None].astype(np.float64))
    except NoFiniteFit:
        return solve(rows)


def _dispersion(rows: Comparisons, off: FloatArray, bend: FloatArray, weight: FloatArray) -> float | None:
    assert rows.item is not None
    assert rows.first is not None
    models = len(rows.models)
    low, high = np.minimum(rows.model_a, rows.model_b), np.maximum(rows.model_a, rows.model_b)
    turned = np.where(rows.model_a == low, off, -off)
    key = (rows.item.astype(np.int64) * models + low) * models + high
    _, battle = np.unique(key, return_inverse=True)
    number = int(battle.max()) + 1
    weights = summed(battle, weight, number)
    facing = rows.first.astype(np.float64) * np.where(rows.model_a == low, 1.0, -1.0)
    both = np.abs(summed(battle, facing, number)) < summed(battle, np.abs(facing), number)
    if not both.any():
        return None
    mean_off, mean_bend = summed(battle, turned, number) / weights, summed(battle, bend, number) / weights
    return float((mean_off[both] ** 2).sum() / mean_bend[both].sum())


def _won(lead: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-lead))


def _root(offset: FloatArray, scores: float) -> float | None:
    """The strength at which the expected scores, at these offsets, add up to `scores`; None where there is none."""
    low, high = -_FAR, _FAR
    if not float(_won(low + offset).sum()) < scores < float(_won(high + offset).sum()):
        return None
    here = 0.0
    for _ in range(200):
        expected = _won(here + offset)
        gap, bend = scores - float(expected.sum()), float((expected * (1 - expected)).sum())
        low, high = (here, high) if gap > 0 else (low, here)
        step = here + gap / bend if bend > 0 else low - 1
        there = step if low < step < high else (low + high) / 2
        if abs(there - here) < 1e-12:
            return there
        here = there
    return here
