"""The table of counts: every pair of models once, with its wins, ties and losses; enough for most ratings."""

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.codes import Codes, Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.sums import FloatArray, summed

LOSS, TIE, WIN = 0, 1, 2
"""The columns of `counts`; a sign's column is the sign plus 1."""

_DENSE_PAIRS = 40_000_000
_FEW_WHOLE = 64

Kind = TypeVar("Kind", np.int32, np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTable:
    """One row for each pair of models with `first` < `second` and each distinct value of its covariates."""

    models: int
    first: Codes
    second: Codes
    counts: FloatArray
    """Rows x 3: weight of the comparisons that `first` lost, tied, won."""
    squares: FloatArray
    """The same of the squared weights, which an unclustered variance adds up."""
    covariates: FloatArray
    """Rows x C. Each is a difference in favour of `first`: exchanging the sides turns its sign."""

    def __len__(self) -> int:
        return len(self.first)

    def rows(self, kept: npt.NDArray[np.bool_]) -> "PairTable":
        return PairTable(
            models=self.models,
            first=self.first[kept],
            second=self.second[kept],
            counts=self.counts[kept],
            squares=self.squares[kept],
            covariates=self.covariates[kept],
        )

    def wins_over(self) -> FloatArray:
        """M x M x 3: for the model of the row against that of the column, its weight of losses, ties and wins."""
        dense = np.zeros((self.models, self.models, 3))
        np.add.at(dense, (self.first, self.second), self.counts)
        np.add.at(dense, (self.second, self.first), self.counts[:, ::-1])
        return dense

    def of_models(self, counts: FloatArray | None = None) -> FloatArray:
        """M x 3: each model's weight of losses, ties and wins, or of what else stands in the place of `counts`."""
        counts = self.counts if counts is None else counts
        mirrored = counts[:, ::-1]
        return np.stack(
            [
                summed(self.first, counts[:, column], self.models)
                + summed(self.second, mirrored[:, column], self.models)
                for column in (LOSS, TIE, WIN)
            ],
            axis=1,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouped:
    """A table and, for each comparison, the row it was counted in."""

    table: PairTable
    row: Codes
    sign: Signs
    """In favour of the row's `first`."""

    @property
    def cell(self) -> Codes:
        """Of each comparison: which of the counts, laid out in one line, it was counted in."""
        return self.row * 3 + (self.sign + 1)


def pair_table(comparisons: Comparisons, covariates: FloatArray | None = None) -> Grouped:
    """`covariates` (comparisons x C) are differences in favour of model_a."""
    return comparisons.once(_table_of) if covariates is None else _grouped(comparisons, covariates)


def _table_of(comparisons: Comparisons) -> Grouped:
    return _grouped(comparisons, None)


def _grouped(comparisons: Comparisons, covariates: FloatArray | None) -> Grouped:
    models = len(comparisons.models)
    # Half the memory where it is enough: the largest number is just below models squared.
    wide = np.int64 if models * models > np.iinfo(np.int32).max else np.int32
    met = _numbered(comparisons.model_a * wide(models) + comparisons.model_b, models * models)
    one, other = met.distinct // max(models, 1), met.distinct % max(models, 1)
    pairs, pair_of = np.unique(np.minimum(one, other) * models + np.maximum(one, other), return_inverse=True)
    row = met.spread(pair_of.astype(np.int32))
    turned = met.spread(one > other)
    sign = np.where(turned, -comparisons.sign, comparisons.sign)
    values = np.zeros((len(pairs), 0))
    if covariates is not None:
        facing = np.where(turned[:, None], -covariates, covariates)
        kinds, kind = _kinds(facing)
        cases = _numbered(row.astype(np.int64) * len(kinds) + kind, len(pairs) * len(kinds))
        pairs, values = pairs[cases.distinct // max(len(kinds), 1)], kinds[cases.distinct % max(len(kinds), 1)]
        row = cases.spread(np.arange(len(pairs), dtype=np.int32))
    cell = row * 3 + (sign + 1)
    weight = comparisons.counts
    counts = summed(cell, weight, 3 * len(pairs))
    squares = counts if weight is None else summed(cell, weight**2, 3 * len(pairs))
    table = PairTable(
        models=models,
        first=(pairs // max(models, 1)).astype(np.int32),
        second=(pairs % max(models, 1)).astype(np.int32),
        counts=counts.reshape(-1, 3),
        squares=squares.reshape(-1, 3),
        covariates=values,
    )
    return Grouped(table=table, row=row, sign=sign)


def _kinds(values: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """The distinct rows, and each row's place among them; a column of few whole numbers is counted, not sorted."""
    place, size = np.zeros(len(values), dtype=np.int64), 1
    for column in values.T:
        low, high = float(column.min(initial=0.0)), float(column.max(initial=0.0))
        if high - low < _FEW_WHOLE and bool((column == np.rint(column)).all()):
            number, many = (column - low).astype(np.int64), int(high - low) + 1
        else:
            distinct, number = np.unique(column, return_inverse=True)
            many = len(distinct)
        rows = _numbered(place * many + number, size * many)
        size = len(rows.distinct)
        place = rows.spread(np.arange(size, dtype=np.int32)).astype(np.int64)
    sample = np.zeros(size, dtype=np.int64)
    sample[place] = np.arange(len(values))
    return values[sample], place


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Numbered:
    distinct: npt.NDArray[np.int64]
    """Sorted."""
    keys: npt.NDArray[Any]
    place_of: npt.NDArray[np.int64] | None
    """Of every key there may be, its place among the distinct ones; None: `keys` are such places."""

    def spread(self, of_distinct: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
        """What holds for each distinct key, for every key."""
        if self.place_of is None or not len(of_distinct):
            return of_distinct.take(self.keys)
        return of_distinct.take(self.place_of).take(self.keys)


def _numbered(keys: npt.NDArray[Any], limit: int) -> _Numbered:
    """Of keys below `limit`."""
    if limit > _DENSE_PAIRS:
        distinct, place = np.unique(keys, return_inverse=True)
        return _Numbered(distinct=distinct.astype(np.int64), keys=place.ravel(), place_of=None)
    distinct = np.flatnonzero(np.bincount(keys, minlength=limit))
    place_of = np.zeros(limit, dtype=np.int64)
    place_of[distinct] = np.arange(len(distinct))
    return _Numbered(distinct=distinct, keys=keys, place_of=place_of)
