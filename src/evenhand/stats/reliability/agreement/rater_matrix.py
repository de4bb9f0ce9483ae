"""What several raters said of the same cases, as arrays that a ledger or a file can fill."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.verdict import Levels
from evenhand.stats.reliability.grade_score.option_rows import BoolArray, FloatArray, IntArray

HIGHEST: Mapping[int, float] = {2: 1.0, 3: 1.0, 5: 2.0}
"""The strongest verdict by number of levels."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cases:
    """What is judged: one item and the model evaluated on it (or the pair of models)."""

    item: IntArray
    """Of each case; the cases of one item are one cluster."""
    model: IntArray
    """Of each case, an index into `models`."""
    models: tuple[str, ...]
    oriented: bool = True
    """Whether something but names says for which of its two models a verdict on a case is counted."""

    def __post_init__(self) -> None:
        if self.item.shape != self.model.shape or self.item.ndim != 1:
            raise ValueError(
                f"Each case has an item and a model, not {self.item.shape} and {self.model.shape} of them."
            )
        if len(self.model) and not 0 <= int(self.model.min()) <= int(self.model.max()) < len(self.models):
            raise ValueError(f"A case names one of the {len(self.models)} models by its index.")

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RaterMatrix:
    """One row for each case a rater judged; a case without a verdict has no row."""

    cases: Cases
    raters: tuple[str, ...]
    case: IntArray
    rater: IntArray
    value: FloatArray
    """In favour of the evaluated model; a mean of several showings may lie between two levels."""
    levels: Levels

    def __post_init__(self) -> None:
        if not self.case.shape == self.rater.shape == self.value.shape or self.case.ndim != 1:
            raise ValueError("Case, rater and value are three columns of one length.")
        _refuse_outside(self.case, len(self.cases), "case")
        _refuse_outside(self.rater, len(self.raters), "rater")
        if not bool(np.all(np.abs(self.value) <= HIGHEST[self.levels] + 1e-9)):
            raise ValueError(f"A verdict at {self.levels} levels lies within {HIGHEST[self.levels]:g} of 0.")
        self._refuse_twice()

    def __len__(self) -> int:
        return len(self.case)

    def only(self, rows: BoolArray) -> "RaterMatrix":
        return replace(self, case=self.case[rows], rater=self.rater[rows], value=self.value[rows])

    def of_rater(self, rater: int) -> "RaterMatrix":
        return self.only(self.rater == rater)

    def per_case(self) -> tuple[FloatArray, IntArray]:
        """Of each case: the sum of what its raters said, and how many they are."""
        sums = np.bincount(self.case, weights=self.value, minlength=len(self.cases))
        return sums.astype(np.float64, copy=False), np.bincount(self.case, minlength=len(self.cases))

    def signs_per_case(self) -> IntArray:
        """Cases x (against, equal, for): how many raters said so."""
        cell = 3 * self.case + np.sign(self.value).astype(np.int64) + 1
        return np.bincount(cell, minlength=3 * len(self.cases)).reshape(-1, 3)

    def _refuse_twice(self) -> None:
        cell = np.sort(self.case * len(self.raters) + self.rater)
        again = np.flatnonzero(cell[1:] == cell[:-1])
        if len(again):
            case, rater = divmod(int(cell[again[0]]), len(self.raters))
            raise ValueError(f"{self.raters[rater]} judged case {case} twice; join repeated verdicts first.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedRaterMatrix:
    """One row for each showing that was read. `reversed` is False where the baseline stood first, as published."""

    cases: Cases
    raters: tuple[str, ...]
    case: IntArray
    rater: IntArray
    value: FloatArray
    """In favour of the evaluated model in both orders."""
    reversed: BoolArray
    levels: Levels

    def only(self, rows: BoolArray) -> "OrderedRaterMatrix":
        return replace(
            self,
            case=self.case[rows],
            rater=self.rater[rows],
            value=self.value[rows],
            reversed=self.reversed[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BothOrders:
    """The same cases twice: those that the rater was read on in both orders."""

    dual: RaterMatrix
    """The mean of the two orders."""
    published: RaterMatrix
    """The published order alone."""
    one_order_only: Mapping[str, int]
    """By rater: cases left out of both because one order was not read."""


def majority(counts: IntArray) -> FloatArray:
    """The sign that most gave, of counts of (against, equal, for); NaN where none leads alone."""
    alone = (counts == counts.max(axis=-1, keepdims=True)).sum(axis=-1) == 1
    return np.where(alone, counts.argmax(axis=-1) - 1.0, np.nan)


def both_orders(showings: OrderedRaterMatrix) -> BothOrders:
    """As Table 7 of Creation-MMBench needs them (spec A4, A7); repeated showings of one order are averaged first."""
    cell = showings.case * len(showings.raters) + showings.rater
    cells, number = np.unique(cell, return_inverse=True)
    means: list[FloatArray] = []
    read: list[BoolArray] = []
    for turned in (False, True):
        rows = showings.reversed == turned
        times = np.bincount(number[rows], minlength=len(cells))
        sums = np.bincount(number[rows], weights=showings.value[rows], minlength=len(cells))
        means.append(sums / np.maximum(times, 1))
        read.append(times > 0)
    both = read[0] & read[1]
    case, rater = cells // len(showings.raters), cells % len(showings.raters)
    published = RaterMatrix(
        cases=showings.cases, raters=showings.raters, levels=showings.levels,
        case=case[both], rater=rater[both], value=means[0][both],
    )  # fmt: skip
    lost = np.bincount(rater[~both], minlength=len(showings.raters)).tolist()
    return BothOrders(
        dual=replace(published, value=(means[0][both] + means[1][both]) / 2),
        published=published,
        one_order_only=dict(zip(showings.raters, lost, strict=True)),
    )


def _refuse_outside(codes: IntArray, count: int, what: str) -> None:
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < count:
        raise ValueError(f"A row names one of the {count} {what}s by its index, from 0.")
