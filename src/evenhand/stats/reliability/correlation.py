"""Coefficients of correlation: Pearson's with R², Spearman's and Kendall's."""

import math
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, reach
from evenhand.stats.reliability.grade_score.option_rows import FloatArray

Coefficient: TypeAlias = Literal["pearson", "spearman", "kendall"]

FEWEST = 3
"""Two points always lie on a line."""


def correlation(one: FloatArray, other: FloatArray, coefficient: Coefficient, *, level: float = LEVEL) -> Estimate:
    """With an interval on Fisher's z, for scores of which nothing is known but their value.

    Standard errors: Pearson 1/sqrt(n-3); Spearman sqrt((1 + r²/2)/(n-3)) (Bonett and Wright 2000, Psychometrika 65,
    23); Kendall sqrt(0.437/(n-4)) (Fieller, Hartley and Pearson 1957, Biometrika 44, 470). A perfect order is given the
    bound of one neighbouring pair exchanged, so that three models in the same order prove nothing.
    """
    reason = no_correlation(one, other)
    if reason:
        return Estimate(value=None, n=len(one), reason=reason)
    value = coefficient_of(one, other, coefficient)
    lower, upper = _fisher(value, len(one), coefficient, level)
    return Estimate(value=value, lower=lower, upper=upper, n=len(one), clusters=len(one))


def coefficient_of(one: FloatArray, other: FloatArray, coefficient: Coefficient) -> float:
    """Along the last axis of two lists that both vary. Kendall's is tau-b."""
    match coefficient:
        case "pearson":
            a, b = one, other
        case "spearman":
            a, b = ranks(one), ranks(other)
        case "kendall":
            a = np.sign(one[:, None] - one[None, :]).ravel()
            b = np.sign(other[:, None] - other[None, :]).ravel()
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def rank_coefficients(one: FloatArray, other: FloatArray) -> dict[Coefficient, FloatArray]:
    """Spearman's and Kendall's of each row of a table with the same row of the other, to the last digit what
    `coefficient_of` gives for a row."""
    at_once = max(1, _COMPARED_AT_ONCE // one.shape[1] ** 2)
    parts = [_of_rows(one[at : at + at_once], other[at : at + at_once]) for at in range(0, len(one), at_once)]
    spearman, kendall = (np.concatenate(part) for part in zip(*parts, strict=True))
    return {"spearman": spearman, "kendall": kendall}


_COMPARED_AT_ONCE = 2**16
"""Pairs of values, in half a megabyte."""


def _of_rows(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    a, b = _signs(one), _signs(other)
    # How many are lower less how many are higher is twice what the rank is above the mean of all ranks.
    spearman = _through_the_mean(a.sum(axis=2), b.sum(axis=2))
    return spearman, _through_the_mean(a.reshape(len(one), -1), b.reshape(len(one), -1))


def _signs(table: FloatArray) -> FloatArray:
    """Of each value less each other one of its row. Comparing takes a fifth of the time of `np.sign`."""
    above = table[:, :, None] > table[:, None, :]
    return above.astype(np.float64) - above.transpose(0, 2, 1)


def _through_the_mean(a: FloatArray, b: FloatArray) -> FloatArray:
    """Correlation of the rows of two tables that have the mean 0."""
    common, of_a, of_b = (np.einsum("ij,ij->i", one, other) for one, other in ((a, b), (a, a), (b, b)))
    return np.clip(common / np.sqrt(of_a * of_b), -1.0, 1.0)


def ranks(values: FloatArray) -> FloatArray:
    """From 1; equal values share the mean of their ranks."""
    _, number, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[number]


def squared(r: Estimate) -> Estimate:
    """R² of a correlation; an interval with 0 inside starts at 0."""
    if r.value is None or r.lower is None or r.upper is None:
        return r
    ends = r.lower**2, r.upper**2
    lower = 0.0 if r.lower <= 0 <= r.upper else min(ends)
    return Estimate(value=r.value**2, lower=lower, upper=max(ends), n=r.n, clusters=r.clusters)


def no_correlation(one: FloatArray, other: FloatArray) -> str | None:
    """Why two columns have none; raises ValueError where they are not of one length."""
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError("Two columns of one length are correlated.")
    if len(one) < FEWEST:
        return f"{len(one)} in common; a correlation needs {FEWEST}"
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return "one of the two has the same score throughout"
    return None


def _fisher(value: float, n: int, coefficient: Coefficient, level: float) -> tuple[float, float]:
    spare = n - (4 if coefficient == "kendall" else 3)
    if spare < 1:
        return -1.0, 1.0
    nearly = 1 - (4 / (n * (n - 1)) if coefficient == "kendall" else 12 / (n * (n**2 - 1)))
    shrunk = min(max(value, -nearly), nearly)
    spread = {"pearson": 1.0, "spearman": 1 + shrunk**2 / 2, "kendall": 0.437}[coefficient]
    # The approximations are for the normal quantile, whatever the number of models.
    half = reach(10**9, level) * math.sqrt(spread / spare)
    lower, upper = math.tanh(math.atanh(shrunk) - half), math.tanh(math.atanh(shrunk) + half)
    return (lower, 1.0) if value > nearly else (-1.0, upper) if value < -nearly else (lower, upper)
