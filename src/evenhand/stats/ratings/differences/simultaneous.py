"""How sure each of many differences must be, so that all of them are right together."""

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand.stats.intervals import FEW_CLUSTERS, reaches
from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.sums import FloatArray

SIMULATED = 200
"""Models up to which the largest of all differences is simulated; beyond, it hardly falls short of Bonferroni's."""

DRAWS, LEAST_DRAWS = 10_000, 4_000
"""Simulations, and how many at the least where there are so many models that they take long."""

_NUMBERS = 60_000_000
_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    level: float
    """Of each difference's own interval, so that all hold together at the level asked for."""
    pairs: int
    how: str
    """For a sentence."""
    own: FloatArray | None = None
    """The same for each model, so that its own differences hold together; None: they are as many as Bonferroni's."""

    trusted: float = 1.0
    """How far the draws are trusted, 0 to 1; the rest is Bonferroni's."""

    def reach(self, clusters: FloatArray) -> FloatArray:
        """Of each model, the standard errors to each side, by Student's t on the clusters it rests on."""
        return reaches(clusters, self.level)

    def of_each(self, others: IntArray, level: float) -> FloatArray:
        """Of each model: the level of its own differences, to so many others."""
        careful = 1 - (1 - level) / np.maximum(others, 1)
        if self.own is None:
            return np.minimum(careful, self.level)
        return np.minimum(careful + self.trusted * (np.minimum(self.own, careful) - careful), self.level)

    def as_trusted(self, clusters: float, models: int, level: float) -> "Joint":
        """Nearer to Bonferroni's the fewer clusters the covariance of so many models rests on.

        With as many clusters as models it is his alone, from `FEW_CLUSTERS` on the draws' alone; no step between.
        """
        trusted = (clusters - models) / max(FEW_CLUSTERS - models, 1)
        if trusted >= 1 or clusters >= FEW_CLUSTERS:
            return self
        careful = bonferroni(self.pairs, level)
        if trusted <= 0:
            return careful
        return replace(
            self,
            level=careful.level + trusted * (self.level - careful.level),
            trusted=trusted,
            how=f"{self.how}, and with few clusters partly by Bonferroni's inequality",
        )


def bonferroni(pairs: int, level: float) -> Joint:
    """Right whatever the differences have to do with each other, and a little too careful."""
    return Joint(level=1 - (1 - level) / max(pairs, 1), pairs=pairs, how="by Bonferroni's inequality")


def simulated(covariance: FloatArray, error: FloatArray, pairs: int, *, level: float, seed: int) -> Joint:
    """From normal draws with this covariance of the models' estimates; `error` as for `largest`."""
    size, axes = np.linalg.eigh(covariance)
    # An axis has no sign of its own; with this one the draws do not depend on the order of the models.
    root = axes * np.copysign(np.sqrt(np.maximum(size, 0.0)), (axes**3).sum(axis=0))
    draws = min(max(_NUMBERS // max(pairs, 1), LEAST_DRAWS), DRAWS)
    deviations = np.random.default_rng(seed).standard_normal((draws, len(covariance))) @ root.T
    return of_draws(deviations, error, pairs, level=level, how=f"by the largest in {draws:,} simulations, seed {seed}")


def of_draws(deviations: FloatArray, error: FloatArray, pairs: int, *, level: float, how: str) -> Joint:
    """From draws (rounds x models) that scatter as the estimates do.

    The quantile over the draws of the largest of all standardised differences: Tukey's idea for any covariance
    (Hothorn, Bretz and Westfall 2008, Biom. J. 50, 346). It is said as the level of a single normal interval, so that
    few clusters still widen each to Student's t; it never exceeds Bonferroni's.
    """
    careful = bonferroni(pairs, level)
    of_models = largest_of_models(deviations, error)
    # Of fewer draws than lie on average twice beyond the quantile, the quantile cannot be read.
    if len(deviations) * (1 - level) < 2 - 1e-9 or not len(of_models):
        return careful
    critical = float(np.quantile(of_models.max(axis=0), level))
    together = min(max(math.erf(critical / math.sqrt(2)), level), careful.level)
    # Rounded up, so that few different levels have to be gone through.
    steps = np.ceil(_STEPS * np.quantile(of_models, level, axis=1)) / _STEPS
    own = [math.erf(one / math.sqrt(2)) for one in steps.tolist()]
    return Joint(level=together, pairs=pairs, how=how, own=np.clip(own, level, together))


def largest_of_models(deviations: FloatArray, error: FloatArray) -> FloatArray:
    """Models x draws: its largest |difference to another| / error; pairs whose error (M x M) is NaN do not count."""
    of_model = np.ascontiguousarray(deviations.T)
    per_error = np.divide(1.0, error, out=np.zeros_like(error), where=error > 0)
    largest, room = np.zeros_like(of_model), np.empty_like(of_model)
    for one in range(len(of_model) - 1):
        gaps = np.subtract(of_model[one + 1 :], of_model[one], out=room[one + 1 :])
        gaps *= per_error[one + 1 :, one, None]
        np.abs(gaps, out=gaps)
        np.fmax(largest[one], np.fmax.reduce(gaps, axis=0), out=largest[one])
        np.fmax(largest[one + 1 :], gaps, out=largest[one + 1 :])
    return largest
