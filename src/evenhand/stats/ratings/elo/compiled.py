"""The Elo pass compiled by numba: some hundredths of a microsecond a battle, after a start of up to a second."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.resampling import Blocks
from evenhand.stats.ratings.sums import FloatArray

_FEW_MODELS = 1 << 15
_SMALL = 16
"""Rows of a block."""
_FIRST: Codes = np.zeros(1, dtype=np.int32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackedBattles:
    """Battles as one number each, in blocks that lie side by side: a resample copies no row."""

    models: int
    rows: npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
    shift: int
    """Bits of one model's code."""
    weight: FloatArray | None
    begin: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]

    @classmethod
    def of(cls, battles: Comparisons) -> "PackedBattles":
        """In one block."""
        models = len(battles.models)
        kind, shift = (np.uint32, 15) if models <= _FEW_MODELS else (np.uint64, 31)
        rows = battles.model_a.astype(kind) << kind(shift)
        rows |= battles.model_b.astype(kind)
        rows <<= kind(2)
        rows |= (battles.sign + 1).astype(kind)
        begin, length = np.zeros(1, dtype=np.int64), np.array([len(rows)], dtype=np.int64)
        return cls(models=models, rows=rows, shift=shift, weight=battles.weight, begin=begin, length=length)

    def by(self, blocks: Blocks) -> "PackedBattles":
        weight = None if self.weight is None else self.weight.take(blocks.rows)
        return replace(self, rows=self.rows.take(blocks.rows), weight=weight, begin=blocks.begin, length=blocks.length)

    def together(self, places: npt.NDArray[np.int64] | Codes) -> "PackedBattles":
        """These rows in one block."""
        weight = None if self.weight is None else self.weight.take(places)
        begin, length = np.zeros(1, dtype=np.int64), np.array([len(places)], dtype=np.int64)
        return replace(self, rows=self.rows.take(places), weight=weight, begin=begin, length=length)

    def play(self, drawn: Codes, *, k: float, unit: float) -> FloatArray:
        """How far each model is from the start after the rows of these blocks; NaN for one that did not play.

        A step must be small: see `elo`.
        """
        moved = np.full(self.models, np.nan)
        weight = np.zeros(0) if self.weight is None else self.weight
        _play(self.rows, np.int64(self.shift), weight, self.begin, self.length, drawn, float(k), unit, moved)
        return moved

    def resampled(self, blocks: Blocks, draws: Iterable[Codes], *, k: float, unit: float) -> Iterator[FloatArray]:
        packed, small = self.by(blocks), len(self.rows) < _SMALL * len(blocks.length)
        for drawn in draws:
            # To go from block to block costs more than to copy rows where they have few.
            one = packed.together(blocks.places(drawn)) if small else packed
            yield one.play(_FIRST if small else drawn, k=k, unit=unit)


def _pass(
    rows: npt.NDArray[Any],
    shift: Any,
    weight: FloatArray,
    begin: npt.NDArray[np.int64],
    length: npt.NDArray[np.int64],
    drawn: Codes,
    k: float,
    unit: float,
    moved: FloatArray,
) -> None:  # pragma: no cover
    # Kept as exp(rating): the expected score is then a quotient, and a small step multiplies by a short series.
    odds = np.ones(len(moved))
    ratings = np.zeros(len(moved))
    played = np.zeros(len(moved), dtype=np.bool_)
    inverse = 1 / unit
    mask = (np.int64(1) << shift) - 1
    for block in drawn:
        for place in range(begin[block], begin[block] + length[block]):
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
