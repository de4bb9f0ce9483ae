"""Win rate: the share won, a tie being half a win."""

from statistics import median

from evenhand.domain.estimate import Estimate
from evenhand.reports.board.methods.record import (
    ModelRating,
    RatingMethod,
    Ratings,
    RatingsWithPeople,
    Scoring,
    apart,
    placed,
)
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import win_rate_rank_ranges
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.shares.win_rate import win_rates
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge
from evenhand.stats.ratings.with_people.means import joined_win_rates
from evenhand.stats.ratings.with_people.ratings import JudgeBias


def _rate(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:  # noqa: ARG001
    models = placed(
        comparisons,
        [ModelRating(model=one.model, rating=one.win_rate, shown=one.win_rate.value) for one in win_rates(comparisons)],
    )
    ranges = win_rate_rank_ranges(comparisons, seed=scoring.seed)
    words = f"Intervals of {100 * LEVEL:g} % are Wilson's on the effective number of cases."
    return Ratings(models=models, notes=(words, *apart(models)), ranges=ranges)


def _with_people(given: PeopleAndJudge, scoring: Scoring) -> RatingsWithPeople:  # noqa: ARG001
    found = joined_win_rates(given)
    models = placed(
        given.people,
        [
            ModelRating(model=model, rating=one.mean, shown=one.mean.value)
            for model, one in zip(given.models, found, strict=True)
        ],
    )
    words = f"Intervals of {100 * LEVEL:g} % are Wilson's on the effective number of cases."
    return RatingsWithPeople(
        given=given,
        ratings=Ratings(models=models, notes=(words, *apart(models))),
        lambda_=median(one.lambda_ for one in found),
        worth=given.verdicts * median(one.gain for one in found),
        bias=tuple(
            JudgeBias(model=model, judge_minus_people=Estimate(value=one.judge_minus_people, n=one.mean.n))
            for model, one in zip(given.models, found, strict=True)
        ),
    )


WIN_RATE = RatingMethod(
    name="win-rate",
    title="win rate",
    rate=_rate,
    shown_as="share",
    takes_soft=True,
    no_bootstrap="Win rates have intervals without a bootstrap; it is for bradley-terry and elo.",
    no_anchor="Win rates are shares and have no anchor.",
    bands="win-rate",
    with_people=_with_people,
)
