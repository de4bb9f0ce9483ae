"""Comparisons of two models as arrays of integer codes: a row is a vote or a battle, whichever the ratings are of."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evenhand.domain.vote import Vote
from evenhand.stats.ratings.codes import Codes, Column, Signs, coded_items, coded_names
from evenhand.stats.ratings.sums import FloatArray

Made = TypeVar("Made")

HEAVIEST = 1e100
"""Of a weight, and its inverse the lightest: squares of weights are added up."""
LIGHTEST = 1e-12
"""Of the heaviest weight: a fit in double precision does not see less."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """Rows in the order they are to be played; `model_a` and `model_b` are indices into `models`."""

    models: tuple[str, ...]
    model_a: Codes
    model_b: Codes
    sign: Signs
    """1 where model_a won, -1 where model_b did, 0 for a tie."""
    weight: FloatArray | None = None
    """A trial's replicates share the weight 1. None: every row counts 1."""
    item: Codes | None = None
    """Rows with the same number are of one item and not independent. None: no two rows share an item."""
    cluster: Codes | None = None
    """Rows with the same number are not independent, in the place of those of one item. None: those of one item."""
    cluster_noun: str = "item"
    """What a sentence calls one of those by which the rows are clustered."""
    crossed: Codes | None = None
    """A second grouping across the first, such as raters: rows with the same number are not independent either."""
    first: Signs | None = None
    """1 where model_a was shown first, -1 where model_b was, 0 where nobody knows. None: nobody knows of any row."""
    value: Signs | None = None
    """2, 1, 0, -1, -2 in favour of model_a, where every row has a five-level verdict; its sign is `sign`."""
    length: FloatArray | None = None
    """How much longer model_a's answer is than model_b's, in words; NaN where it is not known."""
    probability: FloatArray | None = None
    """Of each row: how probable it was that it would be judged, where rows were drawn. None: nobody knows."""
    soft: FloatArray | None = None
    """How likely model_a was to be preferred, and half as likely as a tie; NaN where it is not known. None: nobody
    asked, and the signs are what counts."""
    vote: Codes | None = None
    """Rows with the same number are parts of one vote. None: each row is one."""
    rater: Codes | None = None
    """Indices into `raters`. None: one rater, or nobody knows who."""
    raters: tuple[str, ...] = ()
    self_battles: int = 0
    """Rows left out because they set a model against itself."""
    _made: dict[Callable[..., Any], Any] = field(init=False, repr=False, default_factory=dict[Callable[..., Any], Any])

    def __post_init__(self) -> None:
        columns = list(self._columns().values())
        if len({column.shape for column in columns}) != 1 or self.sign.ndim != 1:
            raise ValueError(f"Columns of one length are needed, not {[column.shape for column in columns]}.")
        for codes in (self.model_a, self.model_b):
            if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < len(self.models):
                raise ValueError(f"A model's number lies between 0 and {len(self.models) - 1}.")
        _none_may(self.model_a == self.model_b, "compares a model with itself")
        _none_may((self.sign < -1) | (self.sign > 1), "has a sign that is not 1, 0 or -1")
        for number in (self.item, self.cluster, self.crossed):
            _none_may(_beyond(number, None), "has an item number below 0")
        _none_may(_beyond(self.soft, 1.0), "has a probability that is not between 0 and 1")
        if self.rater is not None:
            _none_may((self.rater < 0) | (self.rater >= len(self.raters)), "has a rater without a name")
        if self.first is not None:
            _none_may((self.first < -1) | (self.first > 1), "has an order that is not 1, 0 or -1")
        if self.value is not None:
            _none_may(
                (np.sign(self.value) != self.sign) | (abs(self.value) > 2), "has a verdict that is not its sign's"
            )
        if self.weight is not None:
            _none_may(
                ~((self.weight >= 0) & np.isfinite(self.weight)), "has a weight that is not a finite number from 0 up"
            )
            _none_may(self.weight > HEAVIEST, f"has a weight above {HEAVIEST:g}")
            _none_may((self.weight > 0) & (self.weight < 1 / HEAVIEST), f"has a weight below {1 / HEAVIEST:g}, not 0")

    def __len__(self) -> int:
        return len(self.sign)

    def once(self, make: "Callable[[Comparisons], Made]") -> Made:
        """What it makes of these rows; kept, for several measures of one board rest on the same sums."""
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    @property
    def counts(self) -> FloatArray | None:
        """The weights. None: every row counts 1."""
        return self.once(_uneven)

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    @property
    def grouped_by(self) -> Codes | None:
        """Rows with the same number are not independent. None: all are."""
        return self.item if self.cluster is None else self.cluster

    @property
    def knows_order(self) -> bool:
        """Whether it is known of some row which item it is of, and which answer was shown first."""
        return self.item is not None and self.first is not None

    def rows(self, kept: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Comparisons":
        return replace(self, **{name: column[kept] for name, column in self._columns().items()})

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        named = {
            "model_a": self.model_a,
            "model_b": self.model_b,
            "sign": self.sign,
            "weight": self.weight,
            "item": self.item,
            "cluster": self.cluster,
            "crossed": self.crossed,
            "first": self.first,
            "value": self.value,
            "length": self.length,
            "probability": self.probability,
            "soft": self.soft,
            "vote": self.vote,
            "rater": self.rater,
        }
        return {name: column for name, column in named.items() if column is not None}

    @classmethod
    def of_votes(cls, votes: Sequence[Vote], *, models: Iterable[str] = ()) -> "Comparisons":
        """One row per vote, in their order. `models` adds names that no vote mentions.

        Raises ValueError where the one shown first is neither of the two.
        """
        for vote in votes:
            if vote.first not in (vote.model_a, vote.model_b):
                raise ValueError(f"{vote.first} was not one of the two models, {vote.model_a} and {vote.model_b}.")
        named = sorted({*models, *(v.model_a for v in votes), *(v.model_b for v in votes)})
        model_code = {name: code for code, name in enumerate(named)}
        item_code: dict[str, int] = {}
        rater_code: dict[str, int] = {}
        return cls(
            models=tuple(named),
            model_a=np.array([model_code[v.model_a] for v in votes], dtype=np.int32),
            model_b=np.array([model_code[v.model_b] for v in votes], dtype=np.int32),
            sign=np.array([v.sign for v in votes], dtype=np.int8),
            weight=np.array([v.weight for v in votes], dtype=np.float64),
            item=np.array([item_code.setdefault(v.item, len(item_code)) for v in votes], dtype=np.int32),
            first=np.array([1 if v.first == v.model_a else -1 for v in votes], dtype=np.int8),
            value=np.array([v.value for v in votes], dtype=np.int8) if all(v.levels == 5 for v in votes) else None,
            length=np.array([math.nan if v.length is None else v.length for v in votes], dtype=np.float64),
            rater=np.array([rater_code.setdefault(v.rater, len(rater_code)) for v in votes], dtype=np.int32),
            raters=tuple(rater_code),
        )

    @classmethod
    def of_columns(
        cls,
        model_a: Column,
        model_b: Column,
        sign: Signs,
        *,
        item: "Column | None" = None,
        weight: FloatArray | None = None,
    ) -> "Comparisons":
        """Rows of a table; those that set a model against itself are left out and counted.

        Raises ValueError where a name is missing or not text, and on weights below 0.
        """
        named = coded_names(model_a, model_b)
        first, second = named.columns
        items = None if item is None else coded_items(item)
        apart = first != second
        alone = int(len(apart) - np.count_nonzero(apart))
        if alone:
            first, second, sign = first[apart], second[apart], sign[apart]
            items = None if items is None else items[apart]
            weight = None if weight is None else weight[apart]
        return cls(
            models=named.names, model_a=first, model_b=second, sign=sign, item=items, weight=weight, self_battles=alone
        )


def _uneven(comparisons: Comparisons) -> FloatArray | None:
    weight = comparisons.weight
    return None if weight is None or bool((weight == 1).all()) else weight


def _beyond(column: npt.NDArray[Any] | None, most: float | None) -> npt.NDArray[np.bool_]:
    """Where it lies below 0, or above the most it may be."""
    if column is None:
        return np.zeros(0, dtype=np.bool_)
    return column < 0 if most is None else (column < 0) | (column > most)


def _none_may(wrong: npt.NDArray[np.bool_], fault: str) -> None:
    if wrong.any():
        raise ValueError(f"Row {int(wrong.argmax()) + 1} {fault}.")
