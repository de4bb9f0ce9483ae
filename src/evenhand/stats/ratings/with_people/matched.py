"""A judge's verdicts on pairs, and people's on some of them."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.bradley_terry.placement import core_models
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.codes import Codes, Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import count_of
from evenhand.stats.ratings.sums import FloatArray, summed


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
        )

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

    @cached_property
    def rated_by_people(self) -> BoolArray:
        """Of each model: whether people's verdicts alone give it a finite rating beside the largest group of others."""
        return core_models(solve(self.people))

    def among(self, kept: BoolArray) -> "PeopleAndJudge":
        """As if only these models had played."""
        number = (np.cumsum(kept) - 1).astype(np.int32)
        pairs = kept[self.first] & kept[self.second]
        verdicts = pairs[self.pair]
        place = np.cumsum(pairs) - 1
        weight = self.weight[verdicts]
        return replace(
            self,
            models=tuple(name for name, there in zip(self.models, kept.tolist(), strict=True) if there),
            first=number[self.first[pairs]],
            second=number[self.second[pairs]],
            item=self.item[pairs],
            judged=self.judged[pairs],
            pair=place[self.pair[verdicts]],
            sign=self.sign[verdicts],
            weight=weight,
            rater=None if self.rater is None else self.rater[verdicts],
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


def pairs_on_items(rows: Comparisons) -> npt.NDArray[np.int64]:
    """Of each row a number that is the same for one pair of models on one item. Raises ValueError without items."""
    if rows.item is None:
        raise ValueError("Rows without items cannot be matched.")
    models = len(rows.models)
    low, high = np.minimum(rows.model_a, rows.model_b), np.maximum(rows.model_a, rows.model_b)
    return (rows.item.astype(np.int64) * models + low) * models + high


def not_among(keys: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> BoolArray:
    return ~np.isin(keys, others)


def _ones(rows: Comparisons) -> FloatArray:
    return np.ones(len(rows)) if rows.weight is None else rows.weight


def _score(rows: Comparisons) -> FloatArray:
    return (np.where(rows.model_a < rows.model_b, rows.sign, -rows.sign) + 1) / 2


def tuned(alpha: FloatArray, beta: FloatArray) -> float:
    """The share of the judge with the least variance, from 0 to 1, by what people and judge move the estimate."""
    square = float((beta**2).sum())
    return min(max(-float((alpha * beta).sum()) / square, 0.0), 1.0) if square > 0 else 0.0
