"""Two Grade Score runs on the same items, paired; and one run repeated, for its spread."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.intervals import Range, clustered_mean
from evenhand.reliability.grade_score import GradeScore, Policy, ScoredRows, grade_score
from evenhand.reliability.option_rows import FloatArray, OptionRow

_EXACT_UP_TO = 20
"""Differences whose signs are all turned, one way and the other: 2 ** 20 sums."""

_DIFFERENCE = Range(low=-1.0, high=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The first run's score minus the second's on the items scored in both; intervals by item."""

    grade_score: Estimate
    llm_score: Estimate
    choice_score: Estimate
    p_value: float | None
    """Of no difference in the Grade Score, two-sided; None without a common item."""
    left_out: int
    """Items scored in one of the two only."""

    def as_json(self) -> dict[str, Json]:
        return {
            **self.grade_score.as_json("grade_score_difference"),
            **self.llm_score.as_json("llm_score_difference"),
            **self.choice_score.as_json("choice_score_difference"),
            "p_value": self.p_value,
            "left_out": self.left_out,
        }


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


def paired_difference(first: GradeScore, second: GradeScore) -> PairedDifference:
    """An item's replicates are averaged first."""
    one, other = by_item(first.rows), by_item(second.rows)
    common = sorted(one.keys() & other.keys())
    change = np.array([one[item] - other[item] for item in common]).reshape(len(common), 3)
    llm, choice, grade = (clustered_mean(column, common, within=_DIFFERENCE) for column in change.T)
    return PairedDifference(
        grade_score=grade,
        llm_score=llm,
        choice_score=choice,
        p_value=sign_flip_p_value(change[:, 2]) if common else None,
        left_out=len(one.keys() ^ other.keys()),
    )


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
    """Of each item scored: LLM Score, Choice Score and Grade Score, the means of its replicates."""
    found: dict[str, list[FloatArray]] = {}
    columns = np.stack([table.llm, table.choice, table.grade], axis=1)
    for number in np.flatnonzero(table.scored):
        found.setdefault(table.rows[number].item, []).append(columns[number])
    return {item: np.mean(several, axis=0) for item, several in found.items()}
