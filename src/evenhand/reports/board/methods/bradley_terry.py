"""Bradley-Terry: strengths that explain all verdicts best, whatever their order."""

from collections.abc import Sequence
from dataclasses import replace

from evenhand.format.near_names import hint
from evenhand.reports.board.methods.record import RatingMethod, Ratings, RatingsWithPeople, Scoring
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit
from evenhand.stats.ratings.bradley_terry.notes import NO_ITEMS, NOT_CLUSTERED
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, bradley_terry, sandwich_board
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import rank_ranges
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge
from evenhand.stats.ratings.with_people.ratings import joined_ratings

_RANGES_BESIDE_RESAMPLES = (
    "Rank ranges and tiers rest on the standard errors of differences (sandwich), not on the resamples."
)


_SANDWICH = (
    "Intervals of {:g} % are of the robust sandwich (CR3), with Student's t on the effective number of clusters less "
    "one."
)


def refuse_unknown_anchor(scoring: Scoring, models: Sequence[str]) -> None:
    """Raises ValueError."""
    anchor = scoring.scale.anchor
    if anchor is not None and anchor not in models:
        raise ValueError(f"No model is named '{anchor}'; {hint(anchor, models)}")


def _rate(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    refuse_unknown_anchor(scoring, comparisons.models)
    if scoring.shrink:
        return _shrunk(comparisons, scoring, resampling)
    if resampling is not None:
        from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap

        fitted = bradley_terry_bootstrap(comparisons, resampling, ties=scoring.ties, scale=scoring.scale)
        return _of_fit(fitted, fitted.notes, scoring, resampling)
    return rate_fitted(bradley_terry(comparisons, ties=scoring.ties, scale=scoring.scale), scoring)


def rate_fitted(fitted: BradleyTerry, scoring: Scoring) -> Ratings:
    """With the intervals of the sandwich."""
    bounded = any(one.rating.lower is not None for one in fitted.models)
    notes = (_SANDWICH.format(100 * fitted.level), *fitted.notes) if bounded else fitted.notes
    return _of_fit(fitted, notes, scoring)


def rate_jury(comparisons: Comparisons, scoring: Scoring, added: FloatArray) -> Ratings:
    """With what `added` says the strengths vary more than the rows show. Raises ValueError as `rate` does."""
    solution = solve(comparisons)
    around = spread(solution)
    covariance = around.covariance.copy()
    covariance[: len(added), : len(added)] += added
    fitted = sandwich_board(solution, replace(around, covariance=covariance), scale=scoring.scale, level=LEVEL)
    return rate_fitted(fitted, scoring)


def _shrunk(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    if resampling is not None:
        raise ValueError("Shrunk ratings have the posterior's intervals; leave --bootstrap or --shrink out.")
    if scoring.ties != "half":
        raise ValueError("Shrunk ratings count a tie as half a win; leave --ties davidson or --shrink out.")
    from evenhand.stats.ratings.bradley_terry.shrinking import shrunk_bradley_terry

    fitted = shrunk_bradley_terry(comparisons, scale=scoring.scale).rated
    return _of_fit(fitted, fitted.notes, scoring)


def _of_fit(
    fitted: BradleyTerry, notes: tuple[str, ...], scoring: Scoring, resampling: Resampling | None = None
) -> Ratings:
    ranges = rank_ranges(fitted, seed=scoring.seed)
    resting = (_RANGES_BESIDE_RESAMPLES,) if resampling is not None and ranges.notes else ()
    # The board says itself what its rows are clustered by.
    told = [note for note in notes if note not in (NO_ITEMS, NOT_CLUSTERED)]
    return Ratings(models=fitted.models, notes=tuple(told), ranges=ranges, about_ranges=resting)


def _with_people(given: PeopleAndJudge, scoring: Scoring) -> RatingsWithPeople:
    placed = given.placed()
    given = placed.given
    if len(given.models) < 2:
        raise ValueError(
            "People's verdicts, or the judge's, rate no two models beside each other: in each no model both won and "
            "lost, or tied. Ask people about more pairs; --method win-rate needs no such fit."
        )
    anchor = scoring.scale.anchor
    if anchor is not None and anchor not in given.models:
        raise ValueError(f"No model that people's verdicts place is named '{anchor}'; {hint(anchor, given.models)}")
    try:
        found = joined_ratings(given, scale=scoring.scale)
    except NoFiniteFit as unbounded:
        raise ValueError(f"{unbounded} --method win-rate needs no such fit.") from unbounded
    notes = (_SANDWICH.format(100 * found.rated.level), *found.rated.notes)
    return RatingsWithPeople(
        given=given,
        ratings=_of_fit(found.rated, notes, scoring),
        lambda_=found.lambda_,
        worth=found.worth,
        bias=found.bias,
        left_out=placed.left_out,
    )


BRADLEY_TERRY = RatingMethod(
    name="bradley-terry",
    title="Bradley-Terry",
    rate=_rate,
    takes_ties=True,
    takes_anchor=True,
    takes_shrinking=True,
    takes_resampling=True,
    takes_soft=True,
    with_people=_with_people,
    unclustered=True,
    places=True,
)
