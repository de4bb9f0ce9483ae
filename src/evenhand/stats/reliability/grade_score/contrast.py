"""Sums and differences of Grade Score runs on the items that all of them scored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Range, clustered_mean
from evenhand.stats.reliability.grade_score.comparison import by_item, sign_flip_p_value
from evenhand.stats.reliability.grade_score.score import GradeScore

Measure: TypeAlias = Literal["llm", "choice", "grade", "above"]
"""`above`: how far the row's Grade Score is above chance (0) towards what its trials allow (1)."""
_COLUMNS: tuple[Measure, ...] = ("llm", "choice", "grade", "above")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastPart:
    weight: float
    score: GradeScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    value: Estimate
    """The mean over items; its interval counts items."""
    p_value: float | None
    """Of a contrast of 0, two-sided; None without a common item."""


def contrast(parts: Sequence[ContrastPart], *, measure: Measure = "grade") -> Contrast:
    """The weighted sum of the runs' scores, item by item; a difference where the weights are of both signs.

    Replicates of an item are averaged first. Raises ValueError without parts.
    """
    if not parts:
        raise ValueError("A contrast needs a run at least.")
    tables = [by_item(part.score.rows) for part in parts]
    common = sorted(set[str].intersection(*(set(table) for table in tables)))
    column = _COLUMNS.index(measure)
    values = np.array(
        [sum(part.weight * float(table[item][column]) for part, table in zip(parts, tables, strict=True))
         for item in common]
    )  # fmt: skip
    ends = [sorted((part.weight * _lowest(part.score, measure), part.weight)) for part in parts]
    within = Range(low=sum(low for low, _ in ends), high=sum(high for _, high in ends))
    # Sums of floats may pass the range by a hair.
    value = clustered_mean(np.clip(values, within.low, within.high), common, within=within)
    return Contrast(value=value, p_value=sign_flip_p_value(values) if common else None)


def _lowest(score: GradeScore, measure: Measure) -> float:
    """What a row of the run can have; the highest is 1."""
    if measure != "above":
        return 0.0
    table = score.rows
    room = table.attainable - table.chance
    return float(np.min(-table.chance / np.where(room > 0, room, np.inf), initial=0.0))


def difference(first: Sequence[GradeScore], second: Sequence[GradeScore], *, measure: Measure = "grade") -> Contrast:
    """The mean of the first runs minus the mean of the second, on the items that all of them scored."""
    parts = [
        *(ContrastPart(weight=1 / len(first), score=score) for score in first),
        *(ContrastPart(weight=-1 / len(second), score=score) for score in second),
    ]
    return contrast(parts, measure=measure)
