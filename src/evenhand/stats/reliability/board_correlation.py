"""Whether two sets of judgements put the models in the same order, with an interval from resampled items."""

from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, reach, wilson
from evenhand.stats.reliability.agreement.rater_matrix import RaterMatrix
from evenhand.stats.reliability.correlation import Coefficient, coefficient_of, correlation
from evenhand.stats.reliability.grade_score.option_rows import FloatArray, IntArray

_MOST_UNDEFINED = 0.05
"""Beyond this share of resamples without a correlation there are no bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardCorrelation:
    spearman: Estimate
    kendall: Estimate
    """tau-b. `n` counts models, `clusters` the items resampled."""
    models: tuple[str, ...]
    note: str
    """How the intervals were made."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.spearman.as_json("spearman"),
            **self.kendall.as_json("kendall"),
            "models": list(self.models),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sums:
    """Items x models: what was said of the model on the item, and how often."""

    said: FloatArray
    times: FloatArray

    def board(self, weight: FloatArray) -> FloatArray:
        """Each model's mean when the items have these weights; NaN where it has none."""
        with np.errstate(invalid="ignore"):
            return (weight @ self.said) / (weight @ self.times)


def board_correlation(
    one: RaterMatrix, other: RaterMatrix, *, rounds: int = 1000, seed: int = 0, level: float = LEVEL
) -> BoardCorrelation:
    """Of the models' mean verdicts. Items are drawn with replacement, the same for both, so that what makes an item
    easy moves both boards alike; the interval is the percentiles'. With one item: Fisher's z over the models.
    """
    if one.cases is not other.cases:
        raise ValueError("Two boards are compared on one and the same list of cases.")
    item, items = _items(one)
    first, second = _sums(one, item, items), _sums(other, item, items)
    both = (first.times.sum(axis=0) > 0) & (second.times.sum(axis=0) > 0)
    whole = first.board(np.ones(items))[both], second.board(np.ones(items))[both]
    models = tuple(name for name, kept in zip(one.cases.models, both.tolist(), strict=True) if kept)
    plain = {name: correlation(*whole, name, level=level) for name in _COEFFICIENTS}
    if items < 2 or plain["spearman"].value is None:
        note = "Intervals by Fisher's z over the models."
        return BoardCorrelation(spearman=plain["spearman"], kendall=plain["kendall"], models=models, note=note)
    weights = np.random.default_rng(seed).multinomial(items, np.full(items, 1 / items), size=rounds).astype(np.float64)
    drawn = first.board(weights)[:, both], second.board(weights)[:, both]
    found = {name: _resampled(plain[name], *drawn, name, items, level) for name in _COEFFICIENTS}
    note = f"Intervals are percentiles of {rounds} resamples of items, seed {seed}."
    return BoardCorrelation(spearman=found["spearman"], kendall=found["kendall"], models=models, note=note)


_COEFFICIENTS: tuple[Coefficient, Coefficient] = ("spearman", "kendall")


def _resampled(
    plain: Estimate, one: FloatArray, other: FloatArray, name: Coefficient, items: int, level: float
) -> Estimate:
    values = [_defined(a, b, name) for a, b in zip(one, other, strict=True)]
    known = np.array([value for value in values if value is not None])
    bounds = -1.0, 1.0
    if len(known) >= (1 - _MOST_UNDEFINED) * len(values):
        lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        bounds = float(lower), float(upper)
    assert plain.value is not None
    # Percentiles of ranks can leave the value itself outside; and few items that all agree show no spread.
    furthest, _ = wilson(1.0, float(items), reach(items, level))
    lower, upper = min(bounds[0], plain.value, furthest), max(bounds[1], plain.value, -furthest)
    return Estimate(value=plain.value, lower=lower, upper=upper, n=plain.n, clusters=items)


def _defined(one: FloatArray, other: FloatArray, name: Coefficient) -> float | None:
    if np.isnan(one).any() or np.isnan(other).any() or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return coefficient_of(one, other, name)


def _items(matrix: RaterMatrix) -> tuple[IntArray, int]:
    named, number = np.unique(matrix.cases.item, return_inverse=True)
    return number, len(named)


def _sums(matrix: RaterMatrix, item: IntArray, items: int) -> _Sums:
    models = len(matrix.cases.models)
    cell = item[matrix.case] * models + matrix.cases.model[matrix.case]
    said = np.bincount(cell, weights=matrix.value, minlength=items * models)
    times = np.bincount(cell, minlength=items * models)
    return _Sums(said=said.astype(np.float64).reshape(items, models), times=times.reshape(items, models).astype(float))
