"""Comparisons made for a claim."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from evenhand.domain.vote import Vote
from evenhand.stats.ratings.comparisons import Comparisons

Game = tuple[str, str, int]

games = st.lists(
    st.tuples(st.sampled_from("WXYZ"), st.sampled_from("WXYZ"), st.sampled_from([1, 0, -1])), max_size=40
).map(lambda drawn: [game for game in drawn if game[0] != game[1]])


def played(
    battles: Sequence[Game], *, items: Sequence[object] | None = None, models: Sequence[str] = (), weight: float = 1.0
) -> Comparisons:
    """Each battle an item of its own unless `items` says otherwise."""
    named = items if items is not None else range(len(battles))
    return Comparisons.of_votes(
        [
            Vote(item=str(item), model_a=a, model_b=b, first=a, value=value, levels=3, rater="judge", weight=weight)
            for item, (a, b, value) in zip(named, battles, strict=True)
        ],
        models=models,
    )


def drawn(*, rows: int, models: int, items: int, seed: int, weighted: bool = False) -> Comparisons:
    """Random pairs of models with planted strengths, one comparison in six a tie."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, models, rows)
    second = (first + rng.integers(1, models, rows)) % models
    strength = np.linspace(-1, 1, models)
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    sign = np.where(rng.random(rows) < chance, 1, -1) * (rng.random(rows) > 1 / 6)
    return Comparisons(
        models=tuple(f"model {code}" for code in range(models)),
        model_a=first.astype(np.int32),
        model_b=second.astype(np.int32),
        sign=sign.astype(np.int8),
        item=rng.integers(0, items, rows).astype(np.int32),
        weight=rng.uniform(0.2, 2, rows) if weighted else None,
    )
