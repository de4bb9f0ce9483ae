"""Sums of numbers by integer code."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]


def summed(codes: npt.NDArray[Any], values: FloatArray | None, length: int) -> FloatArray:
    """For each code below `length`, the sum of its values; without values, how often it occurs."""
    return np.bincount(codes, weights=values, minlength=length).astype(np.float64, copy=False)
