"""Battles with planted strengths, the same at every run, as strings."""

from dataclasses import dataclass

import numpy as np
import polars as pl

_WORDS = pl.Series(["model_b", "tie", "model_a"])
_TIED = 0.2
ROWS_A_RATER = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Strings:
    """Lists of Python strings, for packages that take those."""

    model_a: list[str]
    model_b: list[str]
    winner: list[str]


def battles(*, rows: int, models: int, rows_an_item: int = 10) -> pl.DataFrame:
    """Columns model_a, model_b, winner, item and rater; a thousand rows a rater."""
    rng = np.random.default_rng(0)
    strength = rng.normal(0, 0.8, models)
    first = rng.integers(0, models, rows, dtype=np.int32)
    second = (first + rng.integers(1, models, rows, dtype=np.int32)) % models
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    won = (rng.random(rows) < chance).astype(np.int32) * 2
    won[rng.random(rows) < _TIED] = 1
    names = pl.Series([f"provider/model-{code:04}" for code in range(models)])
    return pl.DataFrame(
        {
            "model_a": names.gather(first),
            "model_b": names.gather(second),
            "winner": _WORDS.gather(won),
            "item": rng.integers(0, max(rows // rows_an_item, 1), rows, dtype=np.int32),
            "rater": rng.integers(0, max(rows // ROWS_A_RATER, 1), rows, dtype=np.int32),
        }
    )


def strings(frame: pl.DataFrame) -> Strings:
    return Strings(
        model_a=frame["model_a"].to_list(), model_b=frame["model_b"].to_list(), winner=frame["winner"].to_list()
    )
