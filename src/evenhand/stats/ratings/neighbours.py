"""Whether a model is better than the next on the list: a sign-flip test of what each item says about the two.

Were the two equal, what an item says in favour of one might as well have been in favour of the other. So the items' net
scores are given every combination of signs, and the p-value is the share of combinations whose sum is as far from 0.
With two models that is exact whatever the items weigh. With more, an item's net score is its share in the difference of
the two strengths, at the fit that holds them equal: every battle of either counts, opponents' strengths allowed for
(Hemerik, Goeman and Finos 2020, J. R. Stat. Soc. B 82, 841). A fit with many strengths follows its items, so what is
flipped is divided by one less the share in which it does: careful where there are few battles for each model.
"""

import importlib
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL
from evenhand.stats.multiplicity import holm
from evenhand.stats.ratings.bradley_terry.components import IntArray, structure
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, centred_inverse, laplacian
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.ranks import RankRanges
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import PairTable, pair_table

TESTED = 200
"""Models up to which neighbours are tested: a pair may need a fit of its own."""
_ROWS = 20_000_000
"""Rows gone through for all neighbours at the most; where there are more, no difference rests on few items."""

EXACT = 16
"""Items with a say up to which all sign flips are counted out, 65,536 of them."""

FLIPS = 9_999
_FLIPPED, _LIGHT = 200, 1e-3
"""Items whose signs are drawn one by one, and the share of the spread of those that are too light for it; what the
others add up to is normal."""
_MANY = 100
"""Items of equal say from which the sum of flips is normal."""
_UNDECIDED, _SEVERAL = 0.2, 20
"""A p-value above it needs no fit of its own, and where more items than these have a say no flips."""
_FOLLOWED = 0.95
"""Of an item, the most that a fit is taken to follow it."""
_HAIR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourTest:
    model: str
    next: str
    items: int
    """That say something about the two; rows where no items are named."""
    p_value: float | None
    """Two-sided, of this pair alone; None where there is nothing to test by."""
    p_adjusted: float | None
    """For all neighbours of the board together, by Holm."""
    separated: bool
    """In favour of `model`."""
    test: str

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.model,
            "next": self.next,
            "items": self.items,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "separated": self.separated,
            "test": self.test,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipTest:
    p_value: float | None
    favour: float
    """Above 0 where the items speak for the first of the two."""
    items: int
    test: str


def neighbour_tests(
    comparisons: Comparisons, listed: Sequence[Sequence[str]], *, level: float = LEVEL, seed: int = 0
) -> tuple[NeighbourTest, ...]:
    """`listed`: the models of each component, the best first. No tests beyond `TESTED` models."""
    code = {name: number for number, name in enumerate(comparisons.models)}
    pairs = [(code[one], code[other]) for names in listed for one, other in itertools.pairwise(names)]
    if not pairs or len(code) > TESTED or len(pairs) * len(comparisons) > _ROWS:
        return ()
    if comparisons.weight is not None and not comparisons.weight.all():
        comparisons = comparisons.rows(comparisons.weight > 0)
    try:
        board = _Board(comparisons)
    except (NoFiniteFit, ValueError):  # Weights too far apart for a fit: a share or a pass may be rated all the same.
        return ()
    tested = [board.tested(one, other, seed) for one, other in pairs]
    if comparisons.crossed is not None:
        tested = _at_least_of_raters(comparisons, pairs, tested)
    adjusted = iter(holm([each.p_value for each in tested if each.p_value is not None]))
    found: list[NeighbourTest] = []
    for (one, other), each in zip(pairs, tested, strict=True):
        together = None if each.p_value is None else next(adjusted)
        found.append(
            NeighbourTest(
                model=comparisons.models[one],
                next=comparisons.models[other],
                items=each.items,
                p_value=each.p_value,
                p_adjusted=together,
                # The list may go by another measure than the strengths; a claim needs both.
                separated=together is not None and together <= 1 - level + _HAIR and each.favour > 0,
                test=each.test,
            )
        )
    return tuple(found)


def _at_least_of_raters(
    comparisons: Comparisons, pairs: Sequence[tuple[int, int]], tested: Sequence["FlipTest"]
) -> list["FlipTest"]:
    """Flips of items know nothing of what raters share: where intervals are two-way, no p-value is below theirs."""
    board = bradley_terry(comparisons)
    gaps, effective = differences(board), board.spread.effective
    special: Any = importlib.import_module("scipy.special")
    found: list[FlipTest] = []
    for (one, other), each in zip(pairs, tested, strict=True):
        size, freedom = (
            abs(gaps.value[one, other] / gaps.error[one, other]),
            max(min(effective[one], effective[other]), 2) - 1,
        )
        of_raters = 2 * float(special.stdtr(freedom, -size)) if np.isfinite(size) else 1.0
        found.append(each if each.p_value is None else replace(each, p_value=max(each.p_value, of_raters)))
    return found


def with_neighbours(ranges: RankRanges, tests: Sequence[NeighbourTest]) -> RankRanges:
    """Where two models are all there are, theirs is the one test; else it adds to what the differences say."""
    if not tests:
        return ranges
    code = {one.model: number for number, one in enumerate(ranges.ranges)}
    claimed = np.zeros((len(code), len(code)), dtype=np.bool_)
    for one in tests:
        claimed[code[one.model], code[one.next]] = one.separated
    sizes = Counter(one.component for one in ranges.ranges)
    alone = np.array([sizes[one.component] == 2 and one.component is not None for one in ranges.ranges], dtype=np.bool_)
    tested = {name for one in tests if one.p_value is not None for name in (one.model, one.next)}
    alone &= np.array([one.model in tested for one in ranges.ranges], dtype=np.bool_)
    return ranges.with_claims(claimed, alone[:, None] & alone[None, :])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetScores:
    total: float
    flipped: FloatArray
    """Of each item with a say, what is flipped: its part of the total, or somewhat more where the fit follows it."""

    @classmethod
    def of(cls, value: FloatArray, flipped: FloatArray) -> "NetScores":
        kept = np.abs(value) > _HAIR * np.abs(value).max(initial=0.0)
        return cls(total=float(value[kept].sum()), flipped=flipped[kept])


class _Board:
    """The battles of all models, and their fit, from which each two are held equal."""

    def __init__(self, comparisons: Comparisons) -> None:
        self._rows = comparisons
        grouped = pair_table(comparisons)
        self._table, self._row = grouped.table, grouped.row
        self._item = np.arange(len(comparisons)) if comparisons.item is None else comparisons.item.astype(np.int64)
        self._items = int(self._item.max(initial=-1)) + 1
        self._score = (comparisons.sign + 1) / 2
        self._weight = np.ones(len(comparisons)) if comparisons.weight is None else comparisons.weight
        self._gauge = _joined(self._table)
        self._ways = np.maximum(_models_met(comparisons, self._item, self._items) - 1, 1)
        solution = solve(_cells(self._table, comparisons.models))
        self._strength = None if solution.structure.above.any() else solution.fit.strength
        self._inverse = None if self._strength is None else self._inverse_at(self._strength)

    def tested(self, one: int, other: int, seed: int) -> "FlipTest":
        """What is far from deciding anything is not fitted anew."""
        if self._strength is not None and self._inverse is not None:
            along = self._inverse[one] - self._inverse[other]
            step = (self._strength[one] - self._strength[other]) / (along[one] - along[other])
            net = self._net(self._strength - step * along, self._inverse, one, other)
            at_once = _by_normal(net)
            if at_once is not None and (at_once.p_value or 0.0) > _UNDECIDED:
                return at_once if _equal_say(net) > _SEVERAL else flip_test(net, seed)
        return flip_test(self._net_scores(one, other), seed)

    def _net_scores(self, one: int, other: int) -> "NetScores":
        strength = _equal_strengths(self._table, self._rows.models, one, other)
        inverse = None if strength is None else self._inverse_at(strength)
        if strength is None or inverse is None:
            return self._met(one, other)
        return self._net(strength, inverse, one, other)

    def _inverse_at(self, strength: FloatArray) -> FloatArray | None:
        gap = strength[self._table.first] - strength[self._table.second]
        curvature = self._table.counts.sum(axis=1) / (2 + 2 * np.cosh(np.clip(gap, -50, 50)))
        try:
            return centred_inverse(laplacian(self._table, curvature), self._gauge)
        except NoFiniteFit:
            return None

    def _net(self, strength: FloatArray, inverse: FloatArray, one: int, other: int) -> "NetScores":
        """Of each item: its share in the difference of the two, and what that would be had the item had no say."""
        along = inverse[one] - inverse[other]
        a, b = self._rows.model_a, self._rows.model_b
        expected = 1 / (1 + np.exp(np.clip(strength[b] - strength[a], -50, 50)))
        value = self._by_item((along[a] - along[b]) * self._weight * (self._score - expected))
        # How much the strengths of all but the difference follow the item: that much of it they have taken away.
        first, second, own = self._table.first, self._table.second, np.diagonal(inverse)
        loose = own[first] + own[second] - 2 * inverse[first, second]
        loose -= (along[first] - along[second]) ** 2 / (along[one] - along[other])
        followed = self._weight * expected * (1 - expected) * np.maximum(loose, 0.0)[self._row]
        share = np.minimum(summed(self._item, followed, self._items) / self._ways, _FOLLOWED)
        return NetScores.of(value, value / (1 - share))

    def _met(self, one: int, other: int) -> "NetScores":
        """By their own battles alone, where the others' strengths have no finite fit."""
        rows = self._rows
        sides = (rows.model_a == one) & (rows.model_b == other), (rows.model_a == other) & (rows.model_b == one)
        value = self._by_item((sides[0] * 1.0 - sides[1]) * self._weight * rows.sign)
        return NetScores.of(value, value)

    def _by_item(self, of_rows: FloatArray) -> FloatArray:
        return summed(self._item, of_rows, self._items)


def _models_met(comparisons: Comparisons, item: IntArray, items: int) -> IntArray:
    """Of each item: how many models met on it."""
    models = len(comparisons.models)
    places = np.unique(np.concatenate((item * models + comparisons.model_a, item * models + comparisons.model_b)))
    return np.bincount(places // models, minlength=items)


def _joined(table: PairTable) -> IntArray:
    """Of each model the component, from 0, alone where it has no battles."""
    component = structure(table).component
    alone = component < 0
    return np.where(alone, component.max(initial=-1) + np.cumsum(alone), component)


def _equal_strengths(table: PairTable, models: tuple[str, ...], one: int, other: int) -> FloatArray | None:
    """The fit with the two held equal; None where some difference in it is not finite."""
    merged = _merged(table, models, one, other)
    if not len(merged):
        return np.zeros(len(models))
    try:
        solution = solve(merged)
    except NoFiniteFit:
        return None
    if solution.structure.above.any():
        return None
    strength = solution.fit.strength.copy()
    strength[other] = strength[one]
    return strength


def _cells(table: PairTable, models: tuple[str, ...]) -> Comparisons:
    row, column = np.nonzero(table.counts)
    return Comparisons(
        models=models,
        model_a=table.first[row],
        model_b=table.second[row],
        sign=(column - 1).astype(np.int8),
        weight=table.counts[row, column],
    )


def _merged(table: PairTable, models: tuple[str, ...], one: int, other: int) -> Comparisons:
    """The results as if the two were one model; what they played against each other says nothing about it."""
    cells = _cells(table, models)
    first, second = (np.where(side == other, one, side).astype(np.int32) for side in (cells.model_a, cells.model_b))
    apart = first != second
    return replace(cells.rows(apart), model_a=first[apart], model_b=second[apart])


def _by_normal(net: NetScores) -> FlipTest | None:
    """By what the sum of the flips tends to; None without items."""
    square = float((net.flipped**2).sum())
    if square <= 0:
        return None
    total = net.total
    p_value = math.erfc(abs(total) / math.sqrt(2 * square))
    return FlipTest(
        p_value=p_value, favour=total, items=len(net.flipped), test="sign flips of items, by their normal limit"
    )


def _equal_say(net: NetScores) -> float:
    """How many items of equal say would add up to as much of a spread."""
    square = net.flipped**2
    return float(square.sum() ** 2 / (square**2).sum())


def flip_test(net: NetScores, seed: int) -> FlipTest:
    """Of what each item says, in favour or against."""
    items = len(net.flipped)
    if not items:
        return FlipTest(p_value=None, favour=0.0, items=0, test="none: no item says anything about the two")
    many = _by_normal(net)
    if many is not None and _equal_say(net) > _MANY:
        return many
    if items <= EXACT:
        p_value, test = _all_flips(net), "sign flips of items, exact"
    else:
        p_value, test = _drawn_flips(net, seed), f"sign flips of items, {FLIPS:,} draws, seed {seed}"
    return FlipTest(p_value=p_value, favour=net.total, items=items, test=test)


def _all_flips(net: NetScores) -> float:
    sums: FloatArray = np.zeros(1)
    for one in net.flipped.tolist():
        sums = np.concatenate((sums + one, sums - one))
    return float((np.abs(sums) >= abs(net.total) * (1 - _HAIR)).mean())


def _drawn_flips(net: NetScores, seed: int) -> float:
    rng = np.random.default_rng(seed)
    ordered = np.sort(np.abs(net.flipped))[::-1]
    square = np.cumsum(ordered**2)
    few = min(int(np.searchsorted(square, (1 - _LIGHT) * float(square[-1]))) + 1, _FLIPPED)
    heavy, light = ordered[:few], ordered[few:]
    sums = (2.0 * rng.integers(0, 2, size=(FLIPS, len(heavy)), dtype=np.int8) - 1.0) @ heavy
    if len(light):
        sums += rng.normal(0.0, math.sqrt(float((light**2).sum())), FLIPS)
    as_far = int((np.abs(sums) >= abs(net.total) * (1 - _HAIR)).sum())
    return (1 + as_far) / (FLIPS + 1)
