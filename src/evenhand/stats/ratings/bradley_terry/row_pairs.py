"""Rows of one item, two by two: what items of few rows each add up to, without a column for each model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.sums import FloatArray, summed

_POSITIONS = 32
"""Bits for a row's place; its item has the others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsTogether:
    """Rows that compare `first` with `second`, and all pairs of rows of one item."""

    first: Codes
    second: Codes
    one: IntArray
    """Of each pair of rows the row that comes earlier, `other` the later one."""
    other: IntArray
    same: tuple[tuple[IntArray, IntArray, Codes], ...]
    """Pairs of rows that share a model: the two rows, and the model."""
    again: npt.NDArray[np.bool_]
    """Of the first and of the second model of each row: an earlier row of its item has it too."""

    @classmethod
    def of(cls, item: IntArray, first: Codes, second: Codes) -> "RowsTogether":
        one, other = _two_by_two(item)
        same: list[tuple[IntArray, IntArray, Codes]] = []
        again = np.zeros((2, len(item)), dtype=np.bool_)
        for here in (first, second):
            models = here.take(one)
            for side, there in enumerate((first, second)):
                at = np.flatnonzero(models == there.take(other))
                later = other.take(at)
                again[side, later] = True
                same.append((one.take(at), later, models.take(at)))
        return cls(first=first, second=second, one=one, other=other, same=tuple(same), again=again)

    def met_before(self) -> FloatArray:
        """Of each row: how many of its models its item has met before."""
        return self.again.sum(axis=0, dtype=np.float64)

    def items_of(self, models: int) -> IntArray:
        """Of each model: how many items have it."""
        sides = zip((self.first, self.second), self.again, strict=True)
        return sum((np.bincount(side[~met], minlength=models) for side, met in sides), np.zeros(models, dtype=np.int64))

    def products(self, pull: FloatArray, models: int) -> FloatArray:
        """M x M: the sum over items of what their rows' scores, `pull` to the first model and its opposite to the
        second, give with those of the item's other rows."""
        value = pull.take(self.one) * pull.take(self.other)
        starts = [side.take(self.one) * np.int64(models) for side in (self.first, self.second)]
        sides = [side.take(self.other) for side in (self.first, self.second)]
        at = np.concatenate([start + side for start in starts for side in sides])
        half = summed(at, np.concatenate((value, -value, -value, value)), models**2).reshape(models, models)
        return half + half.T

    def shared(self, weight: FloatArray, models: int) -> FloatArray:
        """Of each model: the sum over items of the products of its rows' weights with those of its other rows."""
        return 2 * sum(
            (summed(model, weight.take(one) * weight.take(other), models) for one, other, model in self.same),
            np.zeros(models),
        )


def _two_by_two(item: IntArray) -> Sequence[IntArray]:
    """Every two rows of one item, the earlier first."""
    # In one number, for numbers are sorted many times faster than their places.
    packed = (item.astype(np.int64) << _POSITIONS) + np.arange(len(item))
    packed.sort()
    ordered, row = packed >> _POSITIONS, packed & ((1 << _POSITIONS) - 1)
    ones: list[IntArray] = [row[:0]]
    others: list[IntArray] = [row[:0]]
    begun = np.arange(len(row))
    for step in range(1, len(row)):
        begun = begun[: np.searchsorted(begun, len(row) - step)]
        begun = begun[ordered.take(begun) == ordered.take(begun + step)]
        if not len(begun):
            break
        ones.append(row.take(begun))
        others.append(row.take(begun + step))
    return np.concatenate(ones), np.concatenate(others)
