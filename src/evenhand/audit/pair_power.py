"""How likely a judge is to meet a rule for first_position on so many pairs, counted out and not approximated."""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.stats.intervals import ONE_SIDED, Basis
from evenhand.stats.reliability.grade_score.option_rows import FloatArray
from evenhand.stats.reliability.one_sided import exactly_above

_NEVER = 1e-7
"""Numbers of unsteady pairs that are as unlikely as this, at either end, are not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeModel:
    """A judge whose verdict on a pair either holds when the answers swap positions, or names one place twice."""

    kept: float
    """Share of pairs whose verdict holds."""
    first: float
    """Of the other pairs, the share that names the first place."""

    @classmethod
    def of(cls, first_position: float, kept: float) -> "JudgeModel":
        """A leaning that so many steady pairs do not allow takes as many unsteady ones as it needs."""
        lean = 2 * first_position - 1
        changed = max(1 - kept, abs(lean))
        return cls(kept=1 - changed, first=(1 + lean / changed) / 2 if changed else 0.5)

    def power(self, low: float | None, high: float | None, n: int) -> float:
        """The probability that `low` and `high`, each where it is given, are met by n pairs on n items."""
        stats: Any = importlib.import_module("scipy.stats")
        fewest, most = (int(one) for one in stats.binom.ppf([_NEVER, 1 - _NEVER], n, 1 - self.kept))
        bounds, cases = _lower_bounds(n, most)
        changed, named = np.meshgrid(np.arange(max(fewest, 0), most + 1), np.arange(most + 1), indexing="ij")
        possible = named <= changed
        changed, named = changed[possible], named[possible]
        met = np.ones(len(named), dtype=np.bool_)
        for least, against in ((low, changed - named), (None if high is None else 1 - high, named)):
            if least is not None:
                place = against, n - changed
                share = 1 - (2 * against + n - changed) / (2 * n)
                met &= bounds[place] >= least
                met &= exactly_above(share, cases[place], np.full(len(share), float(n)), least)
        chance: FloatArray = stats.binom.pmf(changed, n, 1 - self.kept) * stats.binom.pmf(named, changed, self.first)
        return float(chance[met].sum())


def _lower_bounds(n: int, most: int) -> tuple[FloatArray, FloatArray]:
    """One-sided, as `clustered_share` has them, of the share of a place: by the pairs that name the other place twice
    (up to `most`), and by the pairs that name both. And the cases that each share is worth."""
    against, both = np.meshgrid(np.arange(most + 1.0), np.arange(n + 1.0), indexing="ij")
    faults = 2 * against + both
    missed = np.minimum(faults / (2 * n), 1.0)
    residuals = np.maximum(4 * against + both - 4 * missed * faults + 4 * n * missed**2, 0.0)
    basis = Basis(clusters=n, effective=n)
    # With each pair on an item of its own no record with fewer faults has a lower bound, so none needs a look.
    cases = basis.cases(1 - missed, residuals / (4 * max(n - 1, 1) ** 2), 1 / (2 * n))
    return basis.lower(1 - missed, cases, ONE_SIDED), cases
