"""Showings of two answers made for a claim: the model named first in a row was shown first."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from evenhand.stats.ratings.comparisons import Comparisons

Showing = tuple[str, str, int]
"""Shown first, shown second, verdict in favour of the first."""

showings = st.lists(
    st.tuples(st.sampled_from("XYZ"), st.sampled_from("XYZ"), st.sampled_from([2, 1, 0, -1, -2])), max_size=60
).map(lambda drawn: [one for one in drawn if one[0] != one[1]])


def shown(rows: Sequence[Showing], *, items: Sequence[int] | None = None, five: bool = False) -> Comparisons:
    """Each row an item of its own unless `items` says otherwise; `five` keeps the verdicts' levels."""
    models = sorted({name for row in rows for name in row[:2]})
    value = np.array([row[2] for row in rows], dtype=np.int8)
    return Comparisons(
        models=tuple(models),
        model_a=np.array([models.index(row[0]) for row in rows], dtype=np.int32),
        model_b=np.array([models.index(row[1]) for row in rows], dtype=np.int32),
        sign=np.sign(value),
        item=np.array(range(len(rows)) if items is None else items, dtype=np.int32),
        first=np.ones(len(rows), dtype=np.int8),
        value=value if five else None,
    )


def sides_exchanged(rows: Comparisons) -> Comparisons:
    """The same showings, told from the other side."""

    def turned(column: np.ndarray | None) -> np.ndarray | None:
        return None if column is None else -column

    return replace(
        rows, model_a=rows.model_b, model_b=rows.model_a, sign=-rows.sign, first=turned(rows.first),
        value=turned(rows.value), length=turned(rows.length),
    )  # fmt: skip


def judged_by(*parts: Comparisons) -> Comparisons:
    """Each part by a rater of its own, on the same models and items."""
    first = parts[0]
    assert all(part.models == first.models for part in parts)
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("model_a", "model_b", "sign", "item", "first")
    }
    return replace(
        first,
        **columns,
        value=None,
        length=None,
        rater=np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(np.int32),
        raters=tuple(f"rater {place}" for place in range(len(parts))),
    )
