"""From one judge's board to another's: the line through the models that both rated, and a newcomer placed by it.

Two judges differ about single models beyond the errors of their boards. `tau` is how much, on the new board's scale; no
number of verdicts takes it away, so it is part of every interval that goes from one board to the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, MANY, reach

FEWEST_MODELS = 4
"""That both judges rated: with three, Student's t of one degree is 12.7 errors wide."""

_EASED = 0.25
"""From the normal quantile to Student's t, squared: where between them the boards' errors are taken out of the scatter.
At 0 intervals of judges who do not differ hold in 98.4 % with five models, at 1 those of judges who differ a little in
90 %; simulated, docs/performance.md."""


class NoBridge(ValueError):
    """Two boards between which no line can be drawn, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedByBoth:
    """The models that both judges rated, with standard errors, in one order."""

    old: Sequence[float]
    old_error: Sequence[float]
    new: Sequence[float]
    new_error: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """new = shift + slope * old, but for what the judges differ about single models."""

    slope: float
    shift: float
    tau: float
    tau_upper: float
    """What tau could be, at 95 % for this side alone."""
    models: int
    _middle: float
    """Mean rating of the models on the old board."""
    _square: float
    """Sum of their squared distances from it."""
    _scatter: float
    """Variance of the new ratings about the line."""
    _errors: float
    """As much of it as the errors of both boards make."""

    def placed(self, rating: float, error: float, level: float = LEVEL) -> Estimate:
        """Where a model with this rating by the new judge stands on the old board."""
        where = (rating - self.shift) / self.slope
        line = 1 / self.models + (where - self._middle) ** 2 / self._square
        half = _half(self._scatter, self._errors, error, line, self.models, level) / self.slope
        return Estimate(value=where, lower=where - half, upper=where + half, n=self.models)


def bridge(rated: RatedByBoth) -> Bridge:
    """The line with the old board's errors taken out of its spread (Fuller 1987, Measurement Error Models, 1.2).

    Raises NoBridge where too few models were rated by both, the old board is hardly more than error, or the new judge
    does not order models as the old one does.
    """
    old, new = _array(rated.old), _array(rated.new)
    models = len(old)
    if models < FEWEST_MODELS:
        raise NoBridge(f"{models} models were rated by both judges; a line through them takes {FEWEST_MODELS} or more")
    old_error, new_error = (float(np.mean(_array(each) ** 2)) for each in (rated.old_error, rated.new_error))
    apart = old - old.mean()
    spread = float(apart @ apart) / (models - 1) - old_error
    if spread <= old_error:
        raise NoBridge("the models that both rated stand so close on the old board that it is mostly error")
    slope = float(apart @ (new - new.mean())) / (models - 1) / spread
    if slope <= 0:
        raise NoBridge("the new judge does not put the models that both rated in the old one's order")
    shift = float(new.mean() - slope * old.mean())
    off = new - shift - slope * old
    about = float(off @ off) / (models - 2)
    errors = new_error + slope**2 * old_error
    return Bridge(
        slope=slope,
        shift=shift,
        tau=math.sqrt(max(0.0, about - errors)),
        tau_upper=math.sqrt(max(0.0, about * (models - 2) / _chi_square(models - 2, 1 - LEVEL) - errors)),
        models=models,
        _middle=float(old.mean()),
        _square=float(apart @ apart),
        _scatter=about,
        _errors=errors,
    )


def _half(scatter: float, errors: float, own: float, line: float, models: int, level: float = LEVEL) -> float:
    """How far an interval reaches on the new board: normal for what the boards' errors make, which is known, and
    Student's t for the scatter about the line, which these models alone tell.

    `own` is the newcomer's error, `line` how much of a model's variance the line has where the newcomer stands.
    """
    normal, student = reach(MANY, level) ** 2, reach(models - 1, level) ** 2
    known = normal + _EASED * (student - normal)
    judges = max(0.0, student * scatter - known * errors)
    return math.sqrt(normal * (own**2 + errors * line) + judges * (1 + line))


def expected_half(founders: Sequence[float], *, where: float, error: float, tau: float = 0.0) -> float:
    """How far a newcomer's interval will reach to each side on the old board if the new judge rates these founders,
    whose ratings there are given, as surely as `error`, and the judges differ by `tau` about single models."""
    old = _array(founders)
    models, apart = len(old), old - old.mean()
    line = 1 / models + (where - float(old.mean())) ** 2 / float(apart @ apart)
    errors = 2 * error**2
    return _half(tau**2 + errors, errors, error, line, models)


def spread_out(ratings: Sequence[float], models: int) -> list[int]:
    """Which of these to judge anew: so many, from the lowest to the highest in steps as even as they come."""
    order = sorted(range(len(ratings)), key=lambda place: (ratings[place], place))
    chosen = [order[0], order[-1]]
    left = order[1:-1]
    for goal in np.linspace(ratings[order[0]], ratings[order[-1]], models)[1:-1]:
        near = min(left, key=lambda place: (abs(ratings[place] - goal), place))
        left.remove(near)
        chosen.append(near)
    return sorted(chosen, key=order.index)


def _array(values: Sequence[float]) -> npt.NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


def _chi_square(degrees: int, below: float) -> float:
    from scipy.special import chdtri

    return float(chdtri(degrees, 1 - below))
