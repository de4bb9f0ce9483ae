"""A mean as people would have it, such as a share won or a Reward, from a judge's values corrected by people's."""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, clustered_mean, joined_means, left_out
from evenhand.stats.intervals.mean import UNIT, Range
from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.item_blocks import crossing
from evenhand.stats.ratings.shares.win_rate import win_rates
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge, tuned, unseen


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
    taken = tuned(found.alpha, found.beta) if lambda_ is None else lambda_
    value = found.people - taken * found.off
    item, weight = given.item[given.case].astype(np.int64), given.weight
    if not taken:
        rater = None if given.rater is None else given.rater.astype(np.int64)
        mean = clustered_mean(given.said, item, weights=weight, crossed_with=rater, within=within, level=level)
        return JoinedMean(mean=mean, lambda_=0.0, gain=1.0, judge_minus_people=found.judge - found.people)
    influence = found.influence(taken)
    added = found.of_raters(taken) + found.unseen(taken)
    mean = joined_means(
        min(max(value, within.low), within.high),
        influence,
        summed(item, weight, 1) / float(weight.sum()),
        within=within,
        level=level,
        crossed=None if given.rater is None else summed(given.rater, weight, 1),
        added=added,
        squares=found.squares(taken),
    )
    alone = float((found.influence(0.0) ** 2).sum()) + found.of_raters(0.0)
    joined = float((influence**2).sum()) + added
    return JoinedMean(
        mean=replace(mean, n=float(weight.sum())),
        lambda_=taken,
        gain=alone / joined if joined > 0 else 1.0,
        judge_minus_people=found.judge - value,
    )


def joined_win_rates(given: PeopleAndJudge) -> tuple[JoinedMean, ...]:
    """Of each model over all its pairs, a tie half a win; without the judge as on people's own board."""
    found = [joined_mean(_cases_of(given, code)) for code in range(len(given.models))]
    return tuple(
        one if one.lambda_ else replace(one, mean=alone.win_rate)
        for one, alone in zip(found, win_rates(given.people), strict=True)
    )


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
        """The variance that raters across items add; not below 0, and with the items' not below the raters' alone."""
        given = self.given
        if given.rater is None:
            return 0.0
        residuals, cell = self._residuals(lambda_), crossing(given.item[given.case], given.rater)

        def between(group: Codes) -> float:
            size = summed(group, given.weight, 1) / float(given.weight.sum())
            return float(((summed(group, residuals, 1) * left_out(size)) ** 2).sum())

        raters, items = between(given.rater), float((self.influence(lambda_) ** 2).sum())
        return max(raters - between(cell), raters - items, 0.0)

    def unseen(self, lambda_: float) -> float:
        """The variance that few items hide: where the judge agreed on all of people's, no other is there."""
        given = self.given
        return lambda_**2 * unseen(given.item[given.case], given.weight) * float((self.influence(0.0) ** 2).sum())

    def squares(self, lambda_: float) -> float:
        """What the variance would be if no two values had anything in common."""
        given = self.given
        residuals = self._residuals(lambda_)
        known = lambda_ * (given.judged - self.judge) / len(given.judged)
        own = summed(given.case, residuals, len(known))
        return float((residuals**2).sum() + (known * (2 * own + known)).sum())
