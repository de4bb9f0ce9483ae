"""Votes of several raters as columns, and what each rater was shown: a million without an object for each."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.vote import Vote
from evenhand.stats.ratings.codes import Codes, Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.reliability.grade_score.option_rows import BoolArray, FloatArray

Showing: TypeAlias = tuple[str, str, str]
"""Item, the model shown first, the model shown second."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteTable:
    """One row for each vote."""

    items: tuple[str, ...]
    """Names; some may stand in no row, as of models and raters."""
    item: Codes
    models: tuple[str, ...]
    model_a: Codes
    model_b: Codes
    first: Signs
    """1 where model_a was shown first, -1 where model_b was."""
    value: Signs
    """In favour of model_a."""
    levels: Signs
    weight: FloatArray
    raters: tuple[str, ...]
    rater: Codes

    @classmethod
    def of(cls, votes: "Iterable[Vote] | VoteTable") -> "VoteTable":
        if isinstance(votes, VoteTable):
            return votes
        each = list(votes)
        items = {name: code for code, name in enumerate(dict.fromkeys(one.item for one in each))}
        models = {name: code for code, name in enumerate(dict.fromkeys(name for one in each for name in _sides(one)))}
        raters = {name: code for code, name in enumerate(dict.fromkeys(one.rater for one in each))}
        return cls(
            items=tuple(items),
            item=np.array([items[one.item] for one in each], dtype=np.int32),
            models=tuple(models),
            model_a=np.array([models[one.model_a] for one in each], dtype=np.int32),
            model_b=np.array([models[one.model_b] for one in each], dtype=np.int32),
            first=np.array([1 if one.first == one.model_a else -1 for one in each], dtype=np.int8),
            value=np.array([one.value for one in each], dtype=np.int8),
            levels=np.array([one.levels for one in each], dtype=np.int8),
            weight=np.array([one.weight for one in each], dtype=np.float64),
            raters=tuple(raters),
            rater=np.array([raters[one.rater] for one in each], dtype=np.int32),
        )

    def __len__(self) -> int:
        return len(self.value)

    def rows(self, kept: npt.NDArray[Any]) -> "VoteTable":
        """`kept`: a mask, or indices in the order wanted."""
        columns = ("item", "model_a", "model_b", "first", "value", "levels", "weight", "rater")
        return replace(self, **{name: getattr(self, name)[kept] for name in columns})

    def by(self, raters: Collection[str]) -> BoolArray:
        """Rows of these raters."""
        return np.array([name in raters for name in self.raters], dtype=np.bool_)[self.rater]

    def comparisons(self) -> Comparisons:
        """In their order."""
        used: list[int] = np.union1d(self.model_a, self.model_b).tolist()
        named = sorted(self.models[code] for code in used)
        number = {name: code for code, name in enumerate(named)}
        model = np.array([number.get(name, -1) for name in self.models], dtype=np.int32)
        rater, raters = in_turn(self.rater, self.raters.__getitem__)
        return Comparisons(
            models=tuple(named),
            model_a=model[self.model_a],
            model_b=model[self.model_b],
            sign=np.sign(self.value),
            weight=self.weight,
            item=in_turn(self.item, self.items.__getitem__)[0],
            first=self.first,
            value=self.value if (self.levels == 5).all() else None,
            length=np.full(len(self), np.nan),
            rater=rater,
            raters=raters,
        )


def _sides(vote: Vote) -> tuple[str, str]:
    return vote.model_a, vote.model_b


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShownTable:
    """What one rater was shown, with a verdict or without: one row for each showing."""

    items: tuple[str, ...]
    item: Codes
    models: tuple[str, ...]
    first: Codes
    second: Codes

    @classmethod
    def of(cls, shown: "Iterable[Showing] | ShownTable") -> "ShownTable":
        if isinstance(shown, ShownTable):
            return shown
        each = list(shown)
        items = {name: code for code, name in enumerate(dict.fromkeys(item for item, _, _ in each))}
        models = {name: code for code, name in enumerate(dict.fromkeys(name for _, *both in each for name in both))}
        return cls(
            items=tuple(items),
            item=np.array([items[item] for item, _, _ in each], dtype=np.int32),
            models=tuple(models),
            first=np.array([models[first] for _, first, _ in each], dtype=np.int32),
            second=np.array([models[second] for _, _, second in each], dtype=np.int32),
        )


def in_turn(code: Codes, name: Callable[[int], str]) -> tuple[Codes, tuple[str, ...]]:
    """Numbered in the order in which rows have them, and the names of those alone."""
    used, first, number = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(used), dtype=np.int32)
    place[order] = np.arange(len(used), dtype=np.int32)
    return place[number], tuple(map(name, used[order].tolist()))
