"""Whether a model is better than the next on the list: a sign-flip test of what each item says about the two.

Were the two equal, what an item says in favour of one might as well have been in favour of the other. So the items' net
scores are given every combination of signs, and the p-value is the share of combinations whose sum is as far from 0.
With two models that is exact whatever the items weigh. With more, an item's net score is its share in the difference of
the two strengths, at the fit that holds them equal: every battle of either counts, opponents' strengths allowed for
(Hemerik, Goeman and Finos 2020, J. R. Stat. Soc. B 82, 841). A fit with many strengths follows its items, so what is
flipped is divided by one less the share in which it does: careful where there are few battles for each model.

Items stand for whatever rows are clustered by. Where raters go across them, raters are flipped too, and both together
with the spread that the two-way sandwich gives them; the largest p-value counts. Fewer than `FEWEST` raters, or other
clusters that are no items, prove nothing by their signs: then there is no test, and the ratings' differences decide.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL
from evenhand.stats.multiplicity import holm
from evenhand.stats.ratings.bradley_terry.components import IntArray, structure
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, centred_inverse, laplacian
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.by_item import cells_by_item, outcomes_by_item
from evenhand.stats.ratings.codes import Codes, dense, first_rows
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import RankRanges
from evenhand.stats.ratings.item_blocks import crossing
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import PairTable, pair_table

TESTED = 200
"""Models up to which neighbours are tested: a pair may need a fit of its own."""
_ROWS = 20_000_000
"""Rows gone through for all neighbours at the most; where there are more, no difference rests on few items."""

FEWEST = 6
"""Signs of fewer, were they all alike, would still leave 1 in 16."""
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
_SCORES = np.array([0.0, 0.5, 1.0])
"""Of a loss, a tie and a win, as a table of counts has them."""
_NOUNS = {"item": "items", "rater": "raters"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourTest:
    model: str
    next: str
    items: int
    """That say something about the two, or the clusters in their place; rows where no items are named."""
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
    if not pairs or too_many(len(code), len(pairs), len(comparisons)):
        return ()
    if comparisons.weight is not None and not comparisons.weight.all():
        comparisons = comparisons.rows(comparisons.weight > 0)
    try:
        board = _Board(comparisons)
    except (NoFiniteFit, ValueError):  # Weights too far apart for a fit: a share or a pass may be rated all the same.
        return ()
    tested = [board.tested(one, other, seed) for one, other in pairs]
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


def too_many(models: int, pairs: int, rows: int) -> bool:
    """Whether neighbours are not tested because there are so many."""
    return models > TESTED or pairs * rows > _ROWS


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
    what: str = "items"

    @classmethod
    def of(cls, value: FloatArray, flipped: FloatArray, what: str = "items") -> "NetScores":
        kept = np.abs(value) > _HAIR * np.abs(value).max(initial=0.0)
        return cls(total=float(value[kept].sum()), flipped=flipped[kept], what=what)

    @property
    def square(self) -> float:
        return float((self.flipped**2).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grouping:
    """Rows that go together."""

    what: str
    code: Codes
    groups: int
    ways: IntArray
    """Of each group: in how many ways its models can differ, at least 1."""

    @classmethod
    def by(cls, what: str, code: Codes, comparisons: Comparisons) -> "Grouping":
        models, groups = len(comparisons.models), int(code.max(initial=-1)) + 1
        outcomes = comparisons.once(outcomes_by_item) if code is comparisons.grouped_by else None
        if outcomes is not None:
            met = np.count_nonzero(outcomes.any(axis=2), axis=1)
            return cls(what=what, code=code, groups=groups, ways=np.maximum(met - 1, 1))
        group = code.astype(np.int64)
        sides = np.concatenate((group * models + comparisons.model_a, group * models + comparisons.model_b))
        met = np.bincount(sides[first_rows(dense(sides))] // models, minlength=groups)
        return cls(what=what, code=code, groups=groups, ways=np.maximum(met - 1, 1))

    def net(self, value: FloatArray, followed: FloatArray | None = None) -> NetScores:
        """Of rows: what each adds to the total, and how far the fit follows it."""
        of_groups = summed(self.code, value, self.groups)
        if followed is None:
            return NetScores.of(of_groups, of_groups, self.what)
        return self.net_of_sums(of_groups, summed(self.code, followed, self.groups))

    def net_of_sums(self, of_groups: FloatArray, followed: FloatArray) -> NetScores:
        """The same of each group's sums."""
        share = np.minimum(followed / self.ways, _FOLLOWED)
        return NetScores.of(of_groups, of_groups / (1 - share), self.what)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groupings:
    """As a board's rows are clustered."""

    one: Grouping
    other: Grouping | None
    """Across the first."""
    cells: Codes | None
    """Of rows, in which the two cross."""

    @classmethod
    def of(cls, comparisons: Comparisons) -> "Groupings":
        by, crossed, noun = comparisons.grouped_by, comparisons.crossed, comparisons.cluster_noun
        rows = np.arange(len(comparisons), dtype=np.int32) if by is None else by
        one = Grouping.by(_NOUNS.get(noun, f"values of {noun}"), rows, comparisons)
        if crossed is None:
            return cls(one=one, other=None, cells=None)
        cells = rows if by is None else crossing(rows, crossed)
        return cls(one=one, other=Grouping.by("raters", crossed, comparisons), cells=cells)

    def nets(self, value: FloatArray, followed: FloatArray | None = None) -> tuple[NetScores, ...]:
        one = self.one.net(value, followed)
        if self.other is None or self.cells is None:
            return (one,)
        other = self.other.net(value, followed)
        squares = one.square + other.square
        if squares <= 0:
            return one, other
        alone = float((summed(self.cells, value, int(self.cells.max(initial=-1)) + 1) ** 2).sum())
        # Cameron, Gelbach and Miller (2011): rows of one cell are counted in both groupings.
        scale = math.sqrt(max(squares - alone, one.square, other.square) / squares)
        both = np.concatenate((one.flipped, other.flipped)) * scale
        return one, other, NetScores(total=one.total, flipped=both, what=f"{one.what} and {other.what}")


class _Board:
    """The battles of all models, and their fit, from which each two are held equal."""

    def __init__(self, comparisons: Comparisons) -> None:
        self._rows = comparisons
        self._grouped = pair_table(comparisons)
        self._table = self._grouped.table
        self._groupings = Groupings.of(comparisons)
        # Groups x cells; rows that are grouped in two ways are gone through one by one.
        self._sums = comparisons.once(cells_by_item) if comparisons.crossed is None else None
        self._gauge = _joined(self._table)
        solution = solve(_cells(self._table, comparisons.models))
        self._strength = None if solution.structure.above.any() else solution.fit.strength
        self._inverse = None if self._strength is None else self._inverse_at(self._strength)

    def tested(self, one: int, other: int, seed: int) -> "FlipTest":
        """What is far from deciding anything is not fitted anew."""
        if self._strength is not None and self._inverse is not None:
            along = self._inverse[one] - self._inverse[other]
            step = (self._strength[one] - self._strength[other]) / (along[one] - along[other])
            nets = self._nets(self._strength - step * along, self._inverse, one, other)
            undecided = [_by_normal(net) for net in nets if net.square > 0]
            if undecided and max(each.p_value or 0.0 for each in undecided) > _UNDECIDED:
                return largest_flip_test(nets, seed, at_once=_SEVERAL)
        return largest_flip_test(self._net_scores(one, other), seed)

    def _net_scores(self, one: int, other: int) -> tuple[NetScores, ...]:
        strength = _equal_strengths(self._table, self._rows.models, one, other)
        inverse = None if strength is None else self._inverse_at(strength)
        if strength is None or inverse is None:
            return self._met(one, other)
        return self._nets(strength, inverse, one, other)

    def _inverse_at(self, strength: FloatArray) -> FloatArray | None:
        gap = strength[self._table.first] - strength[self._table.second]
        curvature = self._table.counts.sum(axis=1) / (2 + 2 * np.cosh(np.clip(gap, -50, 50)))
        try:
            return centred_inverse(laplacian(self._table, curvature), self._gauge)
        except NoFiniteFit:
            return None

    def _nets(self, strength: FloatArray, inverse: FloatArray, one: int, other: int) -> tuple[NetScores, ...]:
        """Of each item: its share in the difference of the two, and what that would be had the item had no say."""
        along, own = inverse[one] - inverse[other], np.diagonal(inverse)
        first, second = self._table.first, self._table.second
        apart = along[first] - along[second]
        expected = 1 / (1 + np.exp(np.clip(strength[second] - strength[first], -50, 50)))
        # How much the strengths of all but the difference follow the item: that much of it they have taken away.
        loose = own[first] + own[second] - 2 * inverse[first, second] - apart**2 / (along[one] - along[other])
        followed = expected * (1 - expected) * np.maximum(loose, 0.0)
        value = apart[:, None] * (_SCORES - expected[:, None])
        if self._sums is not None:
            return (
                self._groupings.one.net_of_sums(self._sums @ value.ravel(), self._sums @ followed.repeat(len(_SCORES))),
            )
        return self._groupings.nets(
            self._weighted(value.ravel().take(self._cell)), self._weighted(followed.take(self._grouped.row))
        )

    @cached_property
    def _cell(self) -> Codes:
        return self._grouped.cell

    def _weighted(self, values: FloatArray) -> FloatArray:
        """Of rows."""
        return values if self._rows.weight is None else self._rows.weight * values

    def _met(self, one: int, other: int) -> tuple[NetScores, ...]:
        """By their own battles alone, where the others' strengths have no finite fit."""
        rows = self._rows
        sides = (rows.model_a == one) & (rows.model_b == other), (rows.model_a == other) & (rows.model_b == one)
        return self._groupings.nets(self._weighted((sides[0] * 1.0 - sides[1]) * rows.sign))


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


def _by_normal(net: NetScores) -> FlipTest:
    """By what the sum of the flips tends to."""
    return FlipTest(
        p_value=math.erfc(abs(net.total) / math.sqrt(2 * net.square)),
        favour=net.total,
        items=len(net.flipped),
        test=f"sign flips of {net.what}, by their normal limit",
    )


def _equal_say(net: NetScores) -> float:
    """How many items of equal say would add up to as much of a spread."""
    return float(net.square**2 / (net.flipped**4).sum())


def largest_flip_test(nets: Sequence[NetScores], seed: int, *, at_once: int = _MANY) -> FlipTest:
    """Of the ways in which rows go together, the one that proves least; `at_once` as for `flip_test`."""
    few = next((net for net in nets if net.what != "items" and 0 < len(net.flipped) < FEWEST), None)
    if few is not None:
        test = f"none: fewer than {FEWEST} {few.what}"
        return FlipTest(p_value=None, favour=few.total, items=len(nets[0].flipped), test=test)
    least = max((flip_test(net, seed, at_once=at_once) for net in nets), key=lambda one: one.p_value or 0.0)
    return replace(least, items=len(nets[0].flipped))


def flip_test(net: NetScores, seed: int, *, at_once: int = _MANY) -> FlipTest:
    """Of what each item says, in favour or against; by the normal limit where more of equal say than `at_once` do."""
    items = len(net.flipped)
    if not items or not net.square:
        return FlipTest(p_value=None, favour=0.0, items=0, test=f"none: no {net.what} say anything about the two")
    if _equal_say(net) > at_once:
        return _by_normal(net)
    if items <= EXACT:
        p_value, test = _all_flips(net), f"sign flips of {net.what}, exact"
    else:
        p_value, test = _drawn_flips(net, seed), f"sign flips of {net.what}, {FLIPS:,} draws, seed {seed}"
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
