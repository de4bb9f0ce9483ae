"""People and judge in one estimate: many verdicts of a judge, corrected by people's on some of the same pairs.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382, 669), with the share
of the judge that is used tuned to the data (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453). On each pair that
people have, their verdict less `lambda_` times what the judge's fit does not explain of the judge's is what is fitted;
what that takes away on average is known from all the judge's pairs. With `lambda_` 0 it is the people's board.

A judge's verdicts on one pair of one item are one number, their mean, and so are people's, whose raters stay apart in
the intervals. Every pair on an item weighs alike, or as the inverse of the probability it was drawn with.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, clustered_mean, joined_means, left_out, reaches
from evenhand.stats.intervals.mean import UNIT, Range
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray, Structure, structure
from evenhand.stats.ratings.bradley_terry.covariance import Covariance, spread, spread_of
from evenhand.stats.ratings.bradley_terry.likelihood import Fit, NoFiniteFit, centred_inverse, fit, laplacian
from evenhand.stats.ratings.bradley_terry.placement import core_models
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, sandwich_board
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors
from evenhand.stats.ratings.bradley_terry.sandwich import clustered_scores, item_scores
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores, Factor
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.bradley_terry.two_way import with_crossed
from evenhand.stats.ratings.codes import Codes, Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import count_of, crossing
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import PairTable, pair_table

_NOTHING = 1e-12
"""So much of the judge is none."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBias:
    """In points: the judge's rating less that of people and judge together."""

    model: str
    judge_minus_people: Estimate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinedRatings:
    rated: BradleyTerry
    lambda_: float
    """How much of the judge is used, from 0 to 1."""
    worth: float
    """Verdicts of people that would make differences as sure, were there no judge."""
    bias: tuple[JudgeBias, ...]
    influence: FloatArray
    """Items x models, natural units: what each item moves the strengths by, without a correction for few items."""


def joined_ratings(
    given: PeopleAndJudge, *, scale: Scale | None = None, level: float = LEVEL, lambda_: float | None = None
) -> JoinedRatings:
    """Bradley-Terry ratings; `lambda_` is tuned where it is not given.

    Intervals are clustered by item, and by rater where `given` has raters, as a board's are, with Student's t on the
    effective number of people's items. Raises NoFiniteFit where the judge's verdicts, or people's, have no finite fit.
    """
    judge = _JudgeFit.of(given)
    alone = _JoinedFit.of(given, judge, 0.0)
    taken = _least(alone.alpha, alone.beta) if lambda_ is None else lambda_
    fitted = alone.with_judge(taken)
    taken = fitted.lambda_
    people = solve(given.people)
    without = spread(people)
    around, solution = _spread(fitted) if taken else (without, people)
    scale = scale or Scale()
    return JoinedRatings(
        rated=sandwich_board(solution, around, scale=scale, level=level),
        lambda_=taken,
        worth=len(given.pair) * _gain(without, around),
        bias=_bias(fitted, scale, level),
        influence=fitted.alpha + taken * fitted.beta,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _JudgeFit:
    strength: FloatArray
    residual: FloatArray
    """Of each pair: the judge's mean verdict less what its fit expects."""
    bend: FloatArray
    """Of each pair: its information."""
    inverse: FloatArray

    @classmethod
    def of(cls, given: PeopleAndJudge) -> "_JudgeFit":
        table, _ = _table(given, np.arange(len(given.judged)), given.judged, np.ones(len(given.judged)))
        found = structure(table)
        if found.above.any() or found.component.any():
            raise NoFiniteFit("The judge's verdicts have no finite fit: some models won or lost everything.")
        fitted = fit(table, gauge=_one_group(given))
        expected = _expected(given, fitted.strength)
        return cls(
            strength=fitted.strength,
            residual=given.judged - expected,
            bend=expected * (1 - expected),
            inverse=centred_inverse(fitted.information, _one_group(given)),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _JoinedFit:
    given: PeopleAndJudge
    judge: _JudgeFit
    lambda_: float
    fit: Fit
    table: PairTable
    place: IntArray
    """Of each verdict of people, its row of the table."""
    inverse: FloatArray

    @classmethod
    def of(cls, given: PeopleAndJudge, judge: _JudgeFit, lambda_: float) -> "_JoinedFit":
        """Raises NoFiniteFit."""
        if not lambda_ and not given.rated_by_people.all():
            raise NoFiniteFit("People's verdicts have no finite fit: some models won or lost everything.")
        outcome = given.said - lambda_ * judge.residual[given.pair]
        table, place = _table(given, given.pair, outcome, given.weight)
        fitted = fit(table, gauge=_one_group(given))
        inverse = centred_inverse(fitted.information, _one_group(given))
        return cls(given=given, judge=judge, lambda_=lambda_, fit=fitted, table=table, place=place, inverse=inverse)

    def with_judge(self, lambda_: float) -> "_JoinedFit":
        """With so much of the judge, or with as much as leaves a finite fit: without any there is one."""
        while lambda_ > _NOTHING:
            try:
                return _JoinedFit.of(self.given, self.judge, lambda_)
            except NoFiniteFit:
                lambda_ /= 2
        return self

    @cached_property
    def expected(self) -> FloatArray:
        """Of each verdict of people."""
        return _expected(self.given, self.fit.strength)[self.given.pair]

    @cached_property
    def alpha(self) -> FloatArray:
        """Items x models: what people's verdicts move the strengths by."""
        return self._by_item(self.given.weight * (self.given.said - self.expected)) @ self.inverse

    @cached_property
    def beta(self) -> FloatArray:
        """Items x models: what the judge's move them by for each unit of `lambda_`."""
        given, judge = self.given, self.judge
        taken = self._by_item(given.weight * judge.residual[given.pair])
        known = _by_item(given, np.arange(len(given.judged)), judge.residual)
        return (known @ self.carried - taken) @ self.inverse

    @cached_property
    def carried(self) -> FloatArray:
        """What the judge's fit on all pairs says of its residuals on people's."""
        given = self.given
        among = laplacian(self.table, summed(self.place, given.weight * self.judge.bend[given.pair], len(self.table)))
        return self.judge.inverse @ among

    def _by_item(self, of_verdicts: FloatArray) -> FloatArray:
        return _by_item(self.given, self.given.pair, of_verdicts)

    @cached_property
    def cells(self) -> CellScores:
        """Each verdict of people."""
        pull = self.given.said - self.lambda_ * self.judge.residual[self.given.pair] - self.expected
        return _cells(self.table, self.place, pull, self.expected * (1 - self.expected))

    @cached_property
    def judge_scores(self) -> FloatArray:
        """Items x models, of the judge on all its pairs, each item as if it had had no say."""
        given = self.given
        every = np.arange(len(given.judged))
        table, place = _table(given, every, given.judged, np.ones(len(every)))
        cells = _cells(table, place, self.judge.residual, self.judge.bend)
        return item_scores(cells, every.astype(np.int32), given.item, None, self.judge.inverse)

    @cached_property
    def scores(self) -> ScoreVectors:
        """As a board's are: each item as if it had had no say, and with what raters add."""
        seen, cell, item = self.given.people, np.arange(len(self.given.pair), dtype=np.int32), self._item
        own = clustered_scores(self.cells, cell, item, seen.weight, self.inverse)
        own = replace(own, product=self.item_table.T @ self.item_table)
        return with_crossed(own, self.cells, cell, seen, self.inverse)

    @property
    def _item(self) -> Codes:
        return self.given.item[self.given.pair]

    @cached_property
    def item_table(self) -> FloatArray:
        """Items x models: of people and judge, each item as if it had had no say."""
        seen, cell, item = self.given.people, np.arange(len(self.given.pair), dtype=np.int32), self._item
        found = self.lambda_ * self.judge_scores @ self.carried
        of_people = item_scores(self.cells, cell, item, seen.weight, self.inverse)
        found[: len(of_people)] += of_people
        return found

    @property
    def independent(self) -> FloatArray:
        """Of each model: the squared scores of people's verdicts, less what the judge's other pairs tell of them."""
        given, judge = self.given, self.judge
        pairs, models = len(given.judged), len(given.models)
        pull = given.weight * (given.said - self.lambda_ * judge.residual[given.pair] - self.expected)
        kept = self.lambda_ * float(given.weight.sum()) / pairs * judge.residual
        squares = summed(given.pair, pull**2, pairs) + kept * (2 * summed(given.pair, pull, pairs) + kept)
        return np.maximum(summed(given.first, squares, models) + summed(given.second, squares, models), 0.0)


def _least(alpha: FloatArray, beta: FloatArray) -> float:
    square = float((beta**2).sum())
    return min(max(-float((alpha * beta).sum()) / square, 0.0), 1.0) if square > 0 else 0.0


def _spread(fitted: _JoinedFit) -> tuple[Covariance, Solution]:
    given = fitted.given
    everyone = _one_group(given)
    grouped = pair_table(given.people)
    solution = Solution(
        everything=given.people,
        comparisons=given.people,
        grouped=grouped,
        table=grouped.table,
        structure=Structure(
            component=everyone, group=everyone, above=np.zeros((len(everyone), len(everyone)), dtype=np.bool_)
        ),
        fit=fitted.fit,
        ties_asked="half",
    )
    return spread_of(solution, fitted.inverse, fitted.scores, independent=fitted.independent), solution


def _gain(without: Covariance, around: Covariance) -> float:
    """How much larger the variance of a difference is without the judge: the geometric mean over pairs of models."""
    with np.errstate(invalid="ignore"):
        ratio = (without.errors_of_differences() / around.errors_of_differences())[
            np.triu_indices(len(around.clusters), 1)
        ]
    known = ratio[np.isfinite(ratio)]
    return float(np.exp(2 * np.log(known).mean())) if known.size else 1.0


def _bias(fitted: _JoinedFit, scale: Scale, level: float) -> tuple[JudgeBias, ...]:
    given, judge, seen, scores = fitted.given, fitted.judge, fitted.given.people, fitted.scores
    apart = fitted.judge_scores @ judge.inverse - fitted.item_table @ fitted.inverse
    cell = np.arange(len(seen), dtype=np.int32)
    alone = replace(scores, product=np.zeros_like(scores.product))
    of_raters = with_crossed(alone, fitted.cells, cell, seen, fitted.inverse).product
    variance = (apart**2).sum(axis=0) + np.diagonal(fitted.inverse @ of_raters @ fitted.inverse)
    half = np.sqrt(variance) * reaches(scores.effective[: len(given.models)], level) * scale.unit
    value = (judge.strength - fitted.fit.strength) * scale.unit
    return tuple(
        JudgeBias(
            model=model,
            judge_minus_people=Estimate(
                value=float(value[code]),
                lower=float(value[code] - half[code]),
                upper=float(value[code] + half[code]),
                n=len(given.pair),
                clusters=given.items_by_people,
            ),
        )
        for code, model in enumerate(given.models)
    )


def _one_group(given: PeopleAndJudge) -> IntArray:
    return np.zeros(len(given.models), dtype=np.int64)


def _expected(given: PeopleAndJudge, strength: FloatArray) -> FloatArray:
    """Of each pair, what `first` wins by these strengths."""
    return 1 / (1 + np.exp(np.clip(strength[given.second] - strength[given.first], -700, 700)))


def _table(
    given: PeopleAndJudge, pair: IntArray, outcome: FloatArray, weight: FloatArray
) -> tuple[PairTable, IntArray]:
    """Every pair of models once, with outcomes that may lie beyond 0 and 1; and the row of each."""
    models = len(given.models)
    keys, place = np.unique(given.first[pair].astype(np.int64) * models + given.second[pair], return_inverse=True)
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


def _cells(table: PairTable, place: IntArray, pull: FloatArray, bend: FloatArray) -> CellScores:
    nothing = np.zeros((len(place), 0))
    return CellScores(
        pairs=table, pair=place, pull=pull, extras=(), factors=(Factor(size=bend, lead=True, extras=nothing),)
    )


def _by_item(given: PeopleAndJudge, pair: IntArray, values: FloatArray) -> FloatArray:
    """Items x models: the sum of the values, for a pair's first model and against its second."""
    models, items = len(given.models), int(given.item.max(initial=-1)) + 1
    begin = given.item[pair].astype(np.int64) * models
    found = summed(begin + given.first[pair], values, items * models)
    found -= summed(begin + given.second[pair], values, items * models)
    return found.reshape(items, models)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedMean:
    mean: Estimate
    lambda_: float
    gain: float
    """By how much its variance would be larger without the judge."""
    judge_minus_people: float
    """The judge's mean less that of both together."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredCases:
    """Cases with a judge's value each, and people's values of some of them."""

    item: Codes
    judged: FloatArray
    case: IntArray
    """Of each value of people: which of those cases it is of."""
    said: FloatArray
    weight: FloatArray
    """Of each value of people; a case's share one, or the inverse of its probability."""
    rater: Codes | None = None


def joined_mean(
    given: ScoredCases, *, within: Range = UNIT, level: float = LEVEL, lambda_: float | None = None
) -> JoinedMean:
    """The mean over all cases as people would have it, such as a share won or a Reward.

    The interval stays within the range, as `clustered_mean`'s does; with `lambda_` 0 it is that.
    """
    found = _MeanFit.of(given)
    taken = _least(found.alpha, found.beta) if lambda_ is None else lambda_
    value = found.people - taken * found.off
    item, weight = given.item[given.case].astype(np.int64), given.weight
    if not taken:
        rater = None if given.rater is None else given.rater.astype(np.int64)
        mean = clustered_mean(given.said, item, weights=weight, crossed_with=rater, within=within, level=level)
        return JoinedMean(mean=mean, lambda_=0.0, gain=1.0, judge_minus_people=found.judge - found.people)
    raters = found.of_raters(taken)
    influence = found.influence(taken)
    mean = joined_means(
        min(max(value, within.low), within.high),
        influence,
        summed(item, weight, 1) / float(weight.sum()),
        within=within,
        level=level,
        crossed=None if given.rater is None else summed(given.rater, weight, 1),
        added=raters,
    )
    alone = float((found.influence(0.0) ** 2).sum()) + found.of_raters(0.0)
    joined = float((influence**2).sum()) + raters
    return JoinedMean(
        mean=replace(mean, n=len(given.said)),
        lambda_=taken,
        gain=alone / joined if joined > 0 else 1.0,
        judge_minus_people=found.judge - value,
    )


def joined_win_rates(given: PeopleAndJudge) -> tuple[JoinedMean, ...]:
    """Of each model over all its pairs, a tie half a win."""
    return tuple(joined_mean(_cases_of(given, code)) for code in range(len(given.models)))


def _cases_of(given: PeopleAndJudge, model: int) -> ScoredCases:
    pairs = (given.first == model) | (given.second == model)
    verdicts, forward = pairs[given.pair], given.first == model
    place, own = np.cumsum(pairs) - 1, given.pair[verdicts]
    return ScoredCases(
        item=given.item[pairs],
        judged=np.where(forward, given.judged, 1 - given.judged)[pairs],
        case=place[own],
        said=np.where(forward[own], given.said[verdicts], 1 - given.said[verdicts]),
        weight=given.weight[verdicts],
        rater=None if given.rater is None else given.rater[verdicts],
    )


def mean_influence(given: ScoredCases, lambda_: float) -> FloatArray:
    """Of each item: what it moves the mean by, without a correction for few items."""
    found = _MeanFit.of(given)
    return found.alpha + lambda_ * found.beta


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _MeanFit:
    given: ScoredCases
    people: float
    judge: float
    """Its mean over all cases."""
    off: float
    """Its mean over people's cases less that."""

    @classmethod
    def of(cls, given: ScoredCases) -> "_MeanFit":
        share, judge = given.weight / float(given.weight.sum()), float(given.judged.mean())
        return cls(
            given=given,
            people=float(share @ given.said),
            judge=judge,
            off=float(share @ given.judged[given.case]) - judge,
        )

    @property
    def alpha(self) -> FloatArray:
        """Of each item: what people's values move the mean by."""
        given = self.given
        return self._by_item(given.weight * (given.said - self.people)) / float(given.weight.sum())

    @property
    def beta(self) -> FloatArray:
        """Of each item: what the judge's move it by for each unit of lambda."""
        given = self.given
        residual = given.judged - self.judge
        taken = self._by_item(given.weight * residual[given.case]) / float(given.weight.sum())
        return summed(given.item, residual, len(taken)) / len(given.judged) - taken

    def _by_item(self, of_values: FloatArray) -> FloatArray:
        return summed(self.given.item[self.given.case], of_values, int(self.given.item.max(initial=-1)) + 1)

    def _residuals(self, lambda_: float) -> FloatArray:
        """Of each value of people, with its weight."""
        given = self.given
        found = given.said - lambda_ * (given.judged[given.case] - self.judge) - (self.people - lambda_ * self.off)
        return given.weight * found / float(given.weight.sum())

    def influence(self, lambda_: float) -> FloatArray:
        """Of each item, as if it had had no say."""
        given = self.given
        size = self._by_item(given.weight) / float(given.weight.sum())
        found = self._by_item(self._residuals(lambda_)) * left_out(size)
        every = summed(given.item, None, len(found)) / len(given.judged)
        known = summed(given.item, given.judged - self.judge, len(found)) / len(given.judged)
        return found + lambda_ * known * left_out(every)

    def of_raters(self, lambda_: float) -> float:
        """The variance that raters across items add; not below 0."""
        given = self.given
        if given.rater is None:
            return 0.0
        residuals, cell = self._residuals(lambda_), crossing(given.item[given.case], given.rater)

        def between(group: Codes) -> float:
            size = summed(group, given.weight, 1) / float(given.weight.sum())
            return float(((summed(group, residuals, 1) * left_out(size)) ** 2).sum())

        return max(between(given.rater) - between(cell), 0.0)
