"""The Elo pass compiled by numba: some hundredths of a microsecond a battle, after a start of up to a second."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.resampling import Order
from evenhand.stats.ratings.sums import FloatArray

_FEW_MODELS = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Packed:
    """Battles as one number each, so that a resample fetches each row once."""

    models: int
    rows: npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
    shift: int
    """Bits of one model's code."""
    weight: FloatArray | None

    @classmethod
    def of(cls, battles: Comparisons) -> "Packed":
        models = len(battles.models)
        kind, shift = (np.uint32, 15) if models <= _FEW_MODELS else (np.uint64, 31)
        rows = battles.model_a.astype(kind) << kind(shift)
        rows |= battles.model_b.astype(kind)
        rows <<= kind(2)
        rows |= (battles.sign + 1).astype(kind)
        return cls(models=models, rows=rows, shift=shift, weight=battles.weight)

    def play(self, order: Order | None, *, k: float, unit: float) -> FloatArray:
        """How far each model is from the start after the rows of `order`, or all; NaN for one that did not play.

        A step must be small: see `elo`.
        """
        moved = np.full(self.models, np.nan)
        rows = self.rows if order is None else self.rows.take(order)
        weight = np.zeros(0) if self.weight is None else self.weight if order is None else self.weight.take(order)
        _play(rows, np.int64(self.shift), weight, k, unit, moved)
        return moved


def _pass(
    rows: npt.NDArray[Any], shift: Any, weight: FloatArray, k: float, unit: float, moved: FloatArray
) -> None:  # pragma: no cover
    # Kept as exp(rating): the expected score is then a quotient, and a small step multiplies by a short series.
    odds = np.ones(len(moved))
    ratings = np.zeros(len(moved))
    played = np.zeros(len(moved), dtype=np.bool_)
    inverse = 1 / unit
    mask = (np.int64(1) << shift) - 1
    for place in range(len(rows)):
        row = np.int64(rows[place])
        a, b, score = row >> (shift + 2), (row >> 2) & mask, 0.5 * (row & 3)
        step = k
        if len(weight) > 0:
            step = k * weight[place]
            if step == 0:
                continue
        played[a] = True
        played[b] = True
        gain = step * (score - odds[a] / (odds[a] + odds[b]))
        ratings[a] += gain
        ratings[b] -= gain
        x = gain * inverse
        square = x * x
        even = 1 + square * (1 / 2 + square * (1 / 24 + square / 720))
        odd = x * (1 + square * (1 / 6 + square * (1 / 120 + square / 5040)))
        odds[a] *= even + odd
        odds[b] *= even - odd
    for model in range(len(moved)):
        if played[model]:
            moved[model] = ratings[model]


_play: Any = njit(cache=True)(_pass)
