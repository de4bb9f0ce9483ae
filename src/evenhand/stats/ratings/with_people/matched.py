"""A judge's verdicts on pairs, and people's on some of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.stats.intervals import UNSEEN, Basis
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray, structure
from evenhand.stats.ratings.codes import Codes, Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import count_of, crossing
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import WIN, PairTable

Unplaced: TypeAlias = Literal["apart", "people", "judge"]
"""Why a model is not rated beside the others: people never set it beside them, or all that people, or the judge, said
of it beside them points one way."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedDraws:
    given: "PeopleAndJudge"
    left_out: tuple[tuple[Unplaced, str], ...]
    """Of each model that is not rated, why."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleAndJudge:
    """The pairs that a judge compared, each on an item, and people's verdicts on some of them."""

    models: tuple[str, ...]
    first: Codes
    second: Codes
    """Of each pair on an item; `first` is the lower number."""
    item: Codes
    judged: FloatArray
    """What the judge gave `first`, from 0 to 1: the mean over orders and replicates."""
    pair: IntArray
    """Of each verdict of people: which of those pairs it is on."""
    sign: Signs
    """Of each verdict of people: in favour of `first`."""
    weight: FloatArray
    """Of each verdict of people. A pair's share the inverse of the probability it was drawn with, 1 on average."""
    rater: Codes | None = None
    """Of each verdict of people, where raters go across items. None: one rater, or each on one item."""
    part: FloatArray | None = None
    """Of each verdict of people: how much of one it is, where a rater gave several of one showing. None: one."""

    @classmethod
    def of(cls, judge: Comparisons, people: Comparisons) -> "PeopleAndJudge":
        """Of rows with the same models and numbers of items; `people.crossed` are their raters, and what people have on
        a pair has one probability. Raises ValueError where people judged what the judge did not."""
        keys, at = np.unique(pairs_on_items(judge), return_inverse=True)
        theirs = pairs_on_items(people)
        pair = np.searchsorted(keys, theirs)
        if not_among(theirs, keys).any():
            raise ValueError("People judged pairs that the judge did not.")
        share = _ones(judge)
        judged = summed(at.ravel(), share * _score(judge), len(keys)) / summed(at.ravel(), share, len(keys))
        own = _ones(people)
        drawn, probability = np.ones(len(people)), people.probability
        if probability is not None and bool((probability != probability[:1]).any()):
            drawn = 1 / probability
        each = own / summed(pair, own, len(keys))[pair]
        heaviness = float((each * drawn).sum()) / len(np.unique(pair))
        models = len(judge.models)
        return cls(
            models=judge.models,
            first=(keys // models % models).astype(np.int32),
            second=(keys % models).astype(np.int32),
            item=(keys // models**2).astype(np.int32),
            judged=judged,
            pair=pair,
            sign=np.where(people.model_a < people.model_b, people.sign, -people.sign).astype(np.int8),
            weight=each * drawn / heaviness,
            rater=people.crossed,
            part=_parts(people, pair),
        )

    @property
    def verdicts(self) -> int:
        """Of people; what a rater said again of the same showing is no other."""
        return len(self.pair) if self.part is None else round(float(self.part.sum()))

    @property
    def said(self) -> FloatArray:
        """Of each verdict of people: what it gives `first`, from 0 to 1."""
        return (self.sign + 1) / 2

    @property
    def pairs_by_people(self) -> int:
        return len(np.unique(self.pair))

    @property
    def items_by_people(self) -> int:
        return count_of(self.item[self.pair])

    @property
    def probability(self) -> float:
        """The share of the judge's pairs that people have."""
        return self.pairs_by_people / len(self.judged)

    def placed(self) -> PlacedDraws:
        """Of the largest group of models that people's verdicts rate beside each other, and the judge's too."""
        given, left_out = self, list[tuple[Unplaced, str]]()
        while True:
            group, joined = _largest_group(given.by_people)
            why: Unplaced = "people"
            if group.all():
                why, (group, joined) = "judge", _largest_group(given.by_judge)
            if group.all():
                return PlacedDraws(given=given, left_out=tuple(left_out))
            for code in np.flatnonzero(~group).tolist():
                left_out.append((why if joined[code] else "apart", given.models[code]))
            given = given.among(group)

    @property
    def rated(self) -> bool:
        """Whether people's verdicts and the judge's each rate all models beside each other."""
        return all(bool(_largest_group(one)[0].all()) for one in (self.by_people, self.by_judge))

    @property
    def by_judge(self) -> PairTable:
        return self.table(np.arange(len(self.judged)), self.judged, np.ones(len(self.judged)))[0]

    @property
    def by_people(self) -> PairTable:
        return self.table(self.pair, self.said, self.weight)[0]

    def table(self, pair: IntArray, outcome: FloatArray, weight: FloatArray) -> tuple[PairTable, IntArray]:
        """Every pair of models once, with outcomes that may lie beyond 0 and 1; and the row of each."""
        models = len(self.models)
        keys, place = np.unique(self.first[pair].astype(np.int64) * models + self.second[pair], return_inverse=True)
        place = place.ravel()
        won, every = summed(place, weight * outcome, len(keys)), summed(place, weight, len(keys))
        table = PairTable(
            models=models,
            first=(keys // models).astype(np.int32),
            second=(keys % models).astype(np.int32),
            counts=np.column_stack((every - won, np.zeros(len(keys)), won)),
            squares=np.zeros((len(keys), 3)),
            covariates=np.zeros((len(keys), 0)),
        )
        return table, place

    def among(self, kept: BoolArray) -> "PeopleAndJudge":
        """As if only these models had played."""
        number = (np.cumsum(kept) - 1).astype(np.int32)
        pairs = kept[self.first] & kept[self.second]
        verdicts = pairs[self.pair]
        place = np.cumsum(pairs) - 1
        return replace(
            self,
            models=tuple(name for name, there in zip(self.models, kept.tolist(), strict=True) if there),
            first=number[self.first[pairs]],
            second=number[self.second[pairs]],
            item=self.item[pairs],
            judged=self.judged[pairs],
            pair=place[self.pair[verdicts]],
            sign=self.sign[verdicts],
            weight=self.weight[verdicts],
            rater=None if self.rater is None else self.rater[verdicts],
            part=None if self.part is None else self.part[verdicts],
        )

    @cached_property
    def people(self) -> Comparisons:
        """People's board alone is made of these."""
        single = bool((self.weight == 1).all())
        return Comparisons(
            models=self.models,
            model_a=self.first[self.pair],
            model_b=self.second[self.pair],
            sign=self.sign,
            weight=None if single else self.weight,
            item=self.item[self.pair],
            crossed=self.rater,
        )


def _largest_group(table: PairTable) -> tuple[BoolArray, BoolArray]:
    """Of each model: whether it is of the largest group with finite differences, of equals that with most verdicts; and
    whether a chain of verdicts joins it to that group."""
    found = structure(table)
    size = np.bincount(found.group)
    within = found.group[table.first] == found.group[table.second]
    weight = summed(found.group[table.first[within]], table.counts.sum(axis=1)[within], len(size))
    best = found.group == max(range(len(size)), key=lambda group: (size[group], weight[group]))
    return best, found.component == found.component[best][0]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawCheck:
    """How far the judge's verdicts on people's pairs lie from its others on the same two models, in standard errors
    that count items: where people's pairs were drawn at random, by chance alone."""

    decided: float
    """Above 0: on people's pairs it ties less often, or its orders and replicates differ less."""
    models: FloatArray
    """Above 0: on people's pairs it gives the model more."""

    @classmethod
    def of(cls, given: PeopleAndJudge) -> "DrawCheck":
        weight = summed(given.pair, given.weight, len(given.judged))
        asked = weight > 0
        item, first, second = (one[asked].astype(np.int64) for one in (given.item, given.first, given.second))
        items, models = int(given.item.max(initial=-1)) + 1, len(given.models)

        def off(values: FloatArray) -> FloatArray:
            """Of each of people's pairs: from the judge's mean on all items with these two models."""
            table, place = given.table(np.arange(len(values)), values, np.ones(len(values)))
            return (weight * (values - (table.counts[:, WIN] / table.counts.sum(axis=1))[place]))[asked]

        given_more = off(given.judged)
        moved = summed(item * models + first, given_more, items * models)
        moved -= summed(item * models + second, given_more, items * models)
        decided = summed(item, off(np.abs(2 * given.judged - 1)), items)
        moved = np.column_stack((decided, moved.reshape(items, models)))
        error = np.sqrt((moved**2).sum(axis=0))
        found = np.divide(moved.sum(axis=0), error, out=np.zeros(models + 1), where=error > 0)
        return cls(decided=float(found[0]), models=found[1:])


def pairs_on_items(rows: Comparisons) -> npt.NDArray[np.int64]:
    """Of each row a number that is the same for one pair of models on one item. Raises ValueError without items."""
    if rows.item is None:
        raise ValueError("Rows without items cannot be matched.")
    models = len(rows.models)
    low, high = np.minimum(rows.model_a, rows.model_b), np.maximum(rows.model_a, rows.model_b)
    return (rows.item.astype(np.int64) * models + low) * models + high


def not_among(keys: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> BoolArray:
    return ~np.isin(keys, others)


def _parts(people: Comparisons, pair: IntArray) -> FloatArray | None:
    if people.rater is None:
        return None
    first = np.ones(len(people), dtype=np.int8) if people.first is None else people.first
    first = np.where(people.model_a < people.model_b, first, -first)
    showing = crossing(crossing(pair.astype(np.int32), people.rater), (first > 0).astype(np.int32))
    times = np.bincount(showing)
    return None if (times == 1).all() else 1 / times[showing]


def _ones(rows: Comparisons) -> FloatArray:
    return np.ones(len(rows)) if rows.weight is None else rows.weight


def _score(rows: Comparisons) -> FloatArray:
    return (np.where(rows.model_a < rows.model_b, rows.sign, -rows.sign) + 1) / 2


def tuned(alpha: FloatArray, beta: FloatArray) -> float:
    """The share of the judge with the least variance, from 0 to 1, by what people and judge move the estimate."""
    square = float((beta**2).sum())
    return min(max(-float((alpha * beta).sum()) / square, 0.0), 1.0) if square > 0 else 0.0


def unseen(item: Codes, weight: FloatArray) -> float:
    """The share of people's items, by Wilson's bound of none seen, in which the judge may tell nothing of people though
    it agreed with them on all that they judged."""
    items = Basis.of(summed(item, weight, 1)).effective
    return UNSEEN / (items + UNSEEN)
