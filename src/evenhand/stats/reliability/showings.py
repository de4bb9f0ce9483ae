"""Verdicts on pairs of models as columns: who was shown first, and who won."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.vote import Vote

Codes: TypeAlias = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Showings:
    """One row for each verdict; names are numbers from 0."""

    item: Codes
    model_a: Codes
    model_b: Codes
    rater: Codes
    first: Codes
    """1 where model_a was shown first, -1 where model_b was, 0 where nobody knows."""
    sign: Codes
    """In favour of model_a."""
    weight: npt.NDArray[np.float64]

    @classmethod
    def of_votes(cls, votes: Iterable[Vote]) -> "Showings":
        """Raises ValueError where the one shown first is neither of the two."""
        codes: dict[str, dict[str, int]] = {"item": {}, "model": {}, "rater": {}}
        rows: list[tuple[int, int, int, int, int, int]] = []
        weights: list[float] = []
        for vote in votes:
            if vote.first not in (vote.model_a, vote.model_b):
                raise ValueError(
                    f"{vote.first} was not one of the two models shown, {vote.model_a} and {vote.model_b}."
                )
            item, models, rater = codes["item"], codes["model"], codes["rater"]
            rows.append(
                (
                    item.setdefault(vote.item, len(item)),
                    models.setdefault(vote.model_a, len(models)),
                    models.setdefault(vote.model_b, len(models)),
                    rater.setdefault(vote.rater, len(rater)),
                    1 if vote.first == vote.model_a else -1,
                    vote.sign,
                )
            )
            weights.append(vote.weight)
        table = np.array(rows, dtype=np.int64).reshape(-1, 6)
        item, model_a, model_b, rater, first, sign = table.T
        return cls(
            item=item,
            model_a=model_a,
            model_b=model_b,
            rater=rater,
            first=first,
            sign=sign,
            weight=np.array(weights, dtype=np.float64),
        )
