"""Sums of numbers by integer code, and of rows with themselves."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]

SPARSE_FROM = 400
"""Columns beyond which a row's few entries are multiplied one by one, not as a full row."""


def summed(codes: npt.NDArray[Any], values: FloatArray | None, length: int) -> FloatArray:
    """For each code below `length`, the sum of its values; without values, how often it occurs."""
    return np.bincount(codes, weights=values, minlength=length).astype(np.float64, copy=False)


def summed_each(codes: npt.NDArray[Any], rows: FloatArray, length: int) -> FloatArray:
    """Of each row what `summed` gives, to the last bit."""
    apart = np.arange(len(rows))[:, np.newaxis] * length + codes
    return summed(apart.ravel(), rows.ravel(), len(rows) * length).reshape(len(rows), length)


def products(rows: FloatArray, *, sparse_from: int = SPARSE_FROM) -> FloatArray:
    """The sum over rows of the row's products with itself: rows' rows."""
    if rows.shape[1] < sparse_from:
        return rows.T @ rows
    from scipy.sparse import csr_array

    sparse: Any = csr_array(rows)
    return np.asarray((sparse.T @ sparse).toarray(), dtype=np.float64)
