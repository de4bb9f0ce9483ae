"""Comparisons of two models as arrays of integer codes: a row is a vote or a battle, whichever the ratings are of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.vote import Joining, Vote, joined_sign

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """Rows in the order they are to be played; `model_a` and `model_b` are indices into `models`."""

    models: tuple[str, ...]
    model_a: IntArray
    model_b: IntArray
    outcome: FloatArray
    """1 where model_a won, 0 where model_b did, 0.5 for a tie."""
    weight: FloatArray
    """A trial's replicates share the weight 1."""
    item: IntArray
    """Rows with the same number are of one item and not independent."""

    def __post_init__(self) -> None:
        columns = (self.model_a, self.model_b, self.outcome, self.weight, self.item)
        if len({column.shape for column in columns}) != 1 or self.outcome.ndim != 1:
            raise ValueError(f"Columns of one length are needed, not {[column.shape for column in columns]}.")
        codes = np.concatenate((self.model_a, self.model_b))
        if codes.size and not 0 <= codes.min() <= codes.max() < len(self.models):
            raise ValueError(f"A model's number lies between 0 and {len(self.models) - 1}.")
        _none_may(self.model_a == self.model_b, "compares a model with itself")
        _none_may(~np.isin(self.outcome, (0.0, 0.5, 1.0)), "has an outcome that is not 0, 0.5 or 1")
        _none_may(
            ~((self.weight >= 0) & np.isfinite(self.weight)), "has a weight that is not a finite number from 0 up"
        )

    def __len__(self) -> int:
        return len(self.outcome)

    @classmethod
    def of_votes(cls, votes: Sequence[Vote], *, models: Iterable[str] = ()) -> "Comparisons":
        """One row per vote, in their order. `models` adds names that no vote mentions."""
        named = sorted({*models, *(v.model_a for v in votes), *(v.model_b for v in votes)})
        model_code = {name: code for code, name in enumerate(named)}
        item_code: dict[str, int] = {}
        return cls(
            models=tuple(named),
            model_a=np.array([model_code[v.model_a] for v in votes], dtype=np.int64),
            model_b=np.array([model_code[v.model_b] for v in votes], dtype=np.int64),
            outcome=np.array([(v.sign + 1) / 2 for v in votes], dtype=np.float64),
            weight=np.array([v.weight for v in votes], dtype=np.float64),
            item=np.array([item_code.setdefault(v.item, len(item_code)) for v in votes], dtype=np.int64),
        )


def battles(votes: Sequence[Vote], rule: Joining, *, models: Iterable[str] = ()) -> Comparisons:
    """One row per item, pair of models and rater, its votes joined by `rule`; in order of each one's first vote.

    Every verdict read counts alike, replicates too; a battle's own weight is 1.
    """
    signs: dict[tuple[str, str, str, str], list[int]] = {}
    for vote in votes:
        mirrored = (vote.item, vote.model_b, vote.model_a, vote.rater)
        if mirrored in signs:
            signs[mirrored].append(-vote.sign)
        else:
            signs.setdefault((vote.item, vote.model_a, vote.model_b, vote.rater), []).append(vote.sign)
    joined = [
        Vote(item=item, model_a=a, model_b=b, first=a, value=joined_sign(of_battle, rule), levels=3, rater=rater)
        for (item, a, b, rater), of_battle in signs.items()
    ]
    return Comparisons.of_votes(joined, models=models)


def _none_may(wrong: npt.NDArray[np.bool_], fault: str) -> None:
    rows = np.flatnonzero(wrong)
    if rows.size:
        raise ValueError(f"Row {int(rows[0]) + 1} {fault}.")
