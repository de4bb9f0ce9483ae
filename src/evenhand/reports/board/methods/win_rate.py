"""Win rate: the share won, a tie being half a win."""

from evenhand.reports.board.methods.record import ModelRating, RatingMethod, Ratings, Scoring, apart, placed
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.ranks import win_rate_rank_ranges
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.win_rate import win_rates


def _rate(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:  # noqa: ARG001
    models = placed(
        comparisons,
        [ModelRating(model=one.model, rating=one.win_rate, shown=one.win_rate.value) for one in win_rates(comparisons)],
    )
    ranges = win_rate_rank_ranges(comparisons, seed=scoring.seed)
    words = f"Intervals of {100 * LEVEL:g} % are Wilson's on the effective number of cases."
    return Ratings(models=models, notes=(words, *apart(models)), ranges=ranges)


WIN_RATE = RatingMethod(
    name="win-rate",
    title="win rate",
    rate=_rate,
    shown_as="share",
    no_bootstrap="Win rates have intervals without a bootstrap; it is for bradley-terry and elo.",
    no_anchor="Win rates are shares and have no anchor.",
    bands="win-rate",
)
