"""Grade Score runs item by item: the spread of one run repeated, and whether differences lean to a side."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.domain.identity import Json
from evenhand.stats.reliability.grade_score.option_rows import FloatArray, OptionRow
from evenhand.stats.reliability.grade_score.score import grade_score
from evenhand.stats.reliability.grade_score.scored_rows import Policy, ScoredRows

_EXACT_UP_TO = 20
"""Differences whose signs are all turned, one way and the other: 2 ** 20 sums."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpread:
    """How much the mean Grade Score moves from one run to the next, on the items that every run scored."""

    runs: tuple[float, ...]
    """The mean Grade Score of each replicate, in their order."""
    items: int

    @property
    def standard_deviation(self) -> float | None:
        return statistics.stdev(self.runs) if len(self.runs) > 1 else None

    @property
    def widest(self) -> float | None:
        return max(self.runs) - min(self.runs) if len(self.runs) > 1 else None

    def as_json(self) -> dict[str, Json]:
        return {
            "runs": list(self.runs),
            "items": self.items,
            "standard_deviation": self.standard_deviation,
            "widest_difference": self.widest,
        }


def run_spread(rows: Sequence[OptionRow], *, policy: Policy = "strict") -> RunSpread:
    """Of rows whose `replicate` says which run they belong to."""
    scored = [
        by_item(grade_score([row for row in rows if row.replicate == run], policy=policy).rows)
        for run in sorted({row.replicate for row in rows})
    ]
    common = set[str].intersection(*(set(run) for run in scored)) if scored else set[str]()
    runs = tuple(float(np.mean([run[item][2] for item in sorted(common)])) for run in scored) if common else ()
    return RunSpread(runs=runs, items=len(common))


def sign_flip_p_value(differences: FloatArray) -> float:
    """Two-sided: how often the sum would be as far from 0 if each difference had its sign by the toss of a coin.

    Exact to 20 differences that are not 0; beyond, the normal distribution with the same variance, the sum of squares.
    """
    moved = differences[differences != 0]
    seen = abs(float(moved.sum()))
    if not len(moved):
        return 1.0
    if len(moved) > _EXACT_UP_TO:
        return math.erfc(seen / math.sqrt(2 * float(moved @ moved)))
    sums = np.zeros(1)
    for one in moved:
        sums = np.concatenate([sums + one, sums - one])
    return float((np.abs(sums) >= seen - 1e-12).mean())


def by_item(table: ScoredRows) -> dict[str, FloatArray]:
    """Of each item scored: LLM Score, Choice Score, Grade Score and how far the latter is above chance (0) towards what
    can be attained (1); the means of its replicates."""
    number: dict[str, int] = {}
    rows = np.flatnonzero(table.scored)
    item = np.array([number.setdefault(table.rows[row].item, len(number)) for row in rows.tolist()], dtype=np.int64)
    times = np.bincount(item, minlength=len(number))
    columns = [table.llm, table.choice, table.grade, table.above]
    sums = [np.bincount(item, weights=column[rows], minlength=len(number)) for column in columns]
    means = np.stack(sums, axis=1) / times[:, None]
    return dict(zip(number, means, strict=True))
