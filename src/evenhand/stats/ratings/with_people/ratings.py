"""Bradley-Terry ratings of people and judge together.

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

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, reaches
from evenhand.stats.ratings.bradley_terry.components import IntArray, Structure
from evenhand.stats.ratings.bradley_terry.covariance import Covariance, spread, spread_of
from evenhand.stats.ratings.bradley_terry.likelihood import Fit, NoFiniteFit, centred_inverse, fit, laplacian
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, sandwich_board
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors
from evenhand.stats.ratings.bradley_terry.sandwich import clustered_scores, item_scores
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores, Factor
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.bradley_terry.two_way import with_crossed
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import PairTable, pair_table
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge, tuned, unseen

_NOTHING = 1e-12
"""So much of the judge is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBias:
    """In points: the judge's rating less that of people and judge together."""

    model: str
    judge_minus_people: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualProducts:
    """Of people's residuals and the judge's on the same pairs, both after the ratings are taken out."""

    people: float
    judge: float
    both: float

    @property
    def correlation(self) -> float:
        """From -1 to 1; 0 where one of the two does not vary."""
        size = (self.people * self.judge) ** 0.5
        return self.both / size if size > 0 else 0.0

    def left(self, share: float) -> float:
        """What is left of the variance by people alone where they have this share of the judge's pairs."""
        if self.people <= 0 or self.judge <= 0:
            return 1.0
        taken = min(max(self.both / self.judge, 0.0), 1.0)
        return 1 - (1 - share) * (2 * taken * self.both - taken**2 * self.judge) / self.people


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
    residuals: "ResidualProducts"


def joined_ratings(
    given: PeopleAndJudge, *, scale: Scale | None = None, level: float = LEVEL, lambda_: float | None = None
) -> JoinedRatings:
    """Bradley-Terry ratings; `lambda_` is tuned where it is not given.

    Intervals are clustered by item, and by rater where `given` has raters, as a board's are, with Student's t on the
    effective number of people's items. Raises NoFiniteFit where the judge's verdicts, or people's, do not rate all
    models beside each other: see `PeopleAndJudge.placed`.
    """
    if not given.rated:
        raise NoFiniteFit("The judge's verdicts, or people's, do not rate all models beside each other.")
    judge = _JudgeFit.of(given)
    alone = _JoinedFit.of(given, judge, 0.0)
    taken = tuned(alone.alpha, alone.beta) if lambda_ is None else lambda_
    fitted = alone.with_judge(taken)
    taken = fitted.lambda_
    people = solve(given.people)
    without = spread(people)
    around, solution = _spread(fitted) if taken else (without, people)
    scale = scale or Scale()
    return JoinedRatings(
        rated=sandwich_board(solution, around, scale=scale, level=level),
        lambda_=taken,
        worth=given.verdicts * _gain(without, around),
        bias=_bias(fitted, without, scale, level),
        influence=fitted.alpha + taken * fitted.beta,
        residuals=alone.residuals,
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
        fitted = fit(given.by_judge, gauge=_one_group(given))
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
        outcome = given.said - lambda_ * judge.residual[given.pair]
        table, place = given.table(given.pair, outcome, given.weight)
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
        known = _by_item(self.given, np.arange(len(self.given.judged)), self.judge.residual)
        return known @ self.carried @ self.inverse - self.gamma

    @cached_property
    def gamma(self) -> FloatArray:
        """Items x models: what the judge's residuals on people's pairs move the strengths by."""
        return self._by_item(self.given.weight * self.judge.residual[self.given.pair]) @ self.inverse

    @property
    def residuals(self) -> ResidualProducts:
        alpha, gamma = self.alpha, self.gamma
        return ResidualProducts(
            people=float((alpha**2).sum()), judge=float((gamma**2).sum()), both=float((alpha * gamma).sum())
        )

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
        table, place = given.table(every, given.judged, np.ones(len(every)))
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


def _bias(fitted: _JoinedFit, without: Covariance, scale: Scale, level: float) -> tuple[JudgeBias, ...]:
    given, judge, seen, scores = fitted.given, fitted.judge, fitted.given.people, fitted.scores
    apart = fitted.judge_scores @ judge.inverse - fitted.item_table @ fitted.inverse
    cell = np.arange(len(seen), dtype=np.int32)
    alone = replace(scores, product=np.zeros_like(scores.product))
    of_raters = with_crossed(alone, fitted.cells, cell, seen, fitted.inverse).product
    variance = (apart**2).sum(axis=0) + np.diagonal(fitted.inverse @ of_raters @ fitted.inverse)
    variance += fitted.lambda_**2 * unseen(given.item[given.pair], given.weight) * np.diagonal(without.covariance)
    half = np.sqrt(variance) * reaches(scores.effective[: len(given.models)], level) * scale.unit
    value = (judge.strength - fitted.fit.strength) * scale.unit
    return tuple(
        JudgeBias(
            model=model,
            judge_minus_people=Estimate(
                value=float(value[code]),
                lower=float(value[code] - half[code]),
                upper=float(value[code] + half[code]),
                n=given.verdicts,
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
