"""How much two columns of scores say the same: Spearman's rank correlation, R², and both without the scores' errors."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL
from evenhand.stats.reliability.correlation import correlation, squared
from evenhand.stats.reliability.grade_score.option_rows import BoolArray, FloatArray
from evenhand.stats.reliability.latent_correlation import DRAWS, TwoBoards, latent_json, observed

_NO_ERRORS = "no errors of the scores were given (columns NAME_se)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPair:
    """Two columns over the rows (models) that have a score in both."""

    first: str
    second: str
    spearman: Estimate
    """As observed, without an interval."""
    r_squared: Estimate
    """Of the scores as they are; the interval takes the models for a sample of others."""
    latent: Estimate
    """Pearson's, of what the two measure; None where their errors are not known."""
    one_truth: tuple[Estimate, Estimate] | None
    """Spearman's and Kendall's of two such columns of one truth."""
    reliability: tuple[float, float] | None

    def as_json(self) -> dict[str, Json]:
        return {
            "first": self.first,
            "second": self.second,
            **self.spearman.as_json("spearman"),
            **self.r_squared.as_json("r_squared"),
            **latent_json(self.latent, self.one_truth, self.reliability),
        }


Columns = Mapping[str, Sequence[float | None]]


def correlate(
    table: Columns, errors: Columns | None = None, *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> tuple[ColumnPair, ...]:
    """Every pair of columns of a table of models x benchmarks; a missing score leaves its model out of that pair.

    `errors`: standard errors of a column's scores, of those columns that have some.
    """
    columns, known = _numbers(table), _numbers(errors or {})
    if len({len(column) for column in (*columns.values(), *known.values())}) > 1:
        raise ValueError("All columns have one entry for each model.")

    def pair(first: str, second: str) -> ColumnPair:
        there = np.isfinite(columns[first]) & np.isfinite(columns[second])
        one, other = columns[first][there], columns[second][there]
        boards = _boards(one, known.get(first), other, known.get(second), there)
        spearman = observed(one, other, "spearman", clusters=len(one))
        told = boards is not None and spearman.value is not None
        drawn = boards.of_one_truth(draws=draws, seed=seed, level=level) if boards is not None and told else None
        nothing = Estimate(value=None, n=len(one), reason=_NO_ERRORS if boards is None else spearman.reason)
        return ColumnPair(
            first=first,
            second=second,
            spearman=spearman,
            r_squared=squared(correlation(one, other, "pearson", level=level)),
            latent=boards.latent(level) if boards is not None and told else nothing,
            one_truth=None if drawn is None else (drawn["spearman"], drawn["kendall"]),
            reliability=boards.reliability if boards is not None and told else None,
        )

    return tuple(pair(first, second) for first, second in combinations(columns, 2))


def _numbers(table: Columns) -> dict[str, FloatArray]:
    return {name: np.array([math.nan if one is None else one for one in column]) for name, column in table.items()}


def _boards(
    one: FloatArray, one_error: FloatArray | None, other: FloatArray, other_error: FloatArray | None, there: BoolArray
) -> TwoBoards | None:
    """None where the error of a score that is there is not known."""
    if one_error is None or other_error is None:
        return None
    errors = one_error[there], other_error[there]
    if not all(np.isfinite(each).all() for each in errors):
        return None
    return TwoBoards.apart(one, errors[0], other, errors[1])
