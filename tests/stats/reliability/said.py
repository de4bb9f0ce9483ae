"""Opinions written as a table: cases down, raters across, None where nothing was said."""

from collections.abc import Sequence

import numpy as np

from evenhand.domain.verdict import Levels
from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix

Said = Sequence[Sequence[float | None]]


def cases_of(count: int, *, items: Sequence[int] | None = None, models: Sequence[int] | None = None) -> Cases:
    model = np.zeros(count, dtype=np.int64) if models is None else np.array(models, dtype=np.int64)
    names = tuple(f"model {code}" for code in range(int(model.max(initial=0)) + 1))
    return Cases(item=np.arange(count) if items is None else np.array(items), model=model, models=names)


def opinions(said: Said, *, cases: Cases | None = None, levels: Levels = 5, names: str = "rater") -> RaterMatrix:
    """Each inner list is a case."""
    rows = [(case, rater, one) for case, line in enumerate(said) for rater, one in enumerate(line) if one is not None]
    raters = tuple(f"{names} {rater}" for rater in range(max(map(len, said), default=0)))
    return RaterMatrix(
        cases=cases or cases_of(len(said)),
        raters=raters,
        case=np.array([row[0] for row in rows], dtype=np.int64),
        rater=np.array([row[1] for row in rows], dtype=np.int64),
        value=np.array([row[2] for row in rows], dtype=np.float64),
        levels=levels,
    )
