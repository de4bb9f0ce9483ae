"""The table of counts: every pair of models once, with its wins, ties and losses; enough for most ratings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.ratings.codes import Codes, Signs
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.sums import FloatArray, summed

LOSS, TIE, WIN = 0, 1, 2
"""The columns of `counts`; a sign's column is the sign plus 1."""

_DENSE_PAIRS = 40_000_000


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

    def of_models(self) -> FloatArray:
        """M x 3: each model's weight of losses, ties and wins."""
        mirrored = self.counts[:, ::-1]
        return np.stack(
            [
                summed(self.first, self.counts[:, column], self.models)
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


def pair_table(comparisons: Comparisons, covariates: FloatArray | None = None) -> Grouped:
    """`covariates` (comparisons x C) are differences in favour of model_a."""
    models = len(comparisons.models)
    turned = comparisons.model_a > comparisons.model_b
    low = np.minimum(comparisons.model_a, comparisons.model_b)
    high = np.maximum(comparisons.model_a, comparisons.model_b)
    sign = np.where(turned, -comparisons.sign, comparisons.sign)
    # Half the memory where it is enough: the largest number is just below models squared.
    wide = np.int64 if models * models > np.iinfo(np.int32).max else np.int32
    pair = low.astype(wide) * wide(models) + high
    distinct, row = _numbered(pair, models * models)
    values = np.zeros((len(distinct), 0))
    if covariates is not None:
        facing = np.where(turned[:, None], -covariates, covariates)
        kinds, kind = np.unique(facing, axis=0, return_inverse=True)
        distinct, row = _numbered(row.astype(np.int64) * len(kinds) + kind.ravel(), len(distinct) * len(kinds))
        # `distinct` now numbers pairs and kinds together; one comparison of each tells which.
        sample = np.zeros(len(distinct), dtype=np.int64)
        sample[row] = np.arange(len(row))
        distinct, values = pair[sample], facing[sample]
    cell = row * 3 + (sign + 1)
    counts = summed(cell, comparisons.weight, 3 * len(distinct))
    squares = counts if comparisons.weight is None else summed(cell, comparisons.weight**2, 3 * len(distinct))
    table = PairTable(
        models=models,
        first=(distinct // max(models, 1)).astype(np.int32),
        second=(distinct % max(models, 1)).astype(np.int32),
        counts=counts.reshape(-1, 3),
        squares=squares.reshape(-1, 3),
        covariates=values,
    )
    return Grouped(table=table, row=row, sign=sign)


def _numbered(keys: npt.NDArray[Any], limit: int) -> tuple[npt.NDArray[np.int64], Codes]:
    """The distinct keys, sorted, and each key's place among them."""
    if limit > _DENSE_PAIRS:
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct.astype(np.int64), place.astype(np.int32)
    distinct = np.flatnonzero(np.bincount(keys, minlength=limit))
    place_of = np.zeros(limit, dtype=np.int32)
    place_of[distinct] = np.arange(len(distinct), dtype=np.int32)
    return distinct, place_of[keys]
