"""Elo: one pass that moves two ratings after each battle."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.reports.board.methods.record import ModelRating, RatingMethod, Ratings, Scoring, apart, placed
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import elo_rank_ranges
from evenhand.stats.ratings.resampling import Resampling

if TYPE_CHECKING:
    from evenhand.stats.ratings.elo.ratings import EloRating

BY_MEDIAN = (
    "Models stand in the order of the median of the resamples, which hardly depends on the order of the battles, as on "
    "FastChat's boards of 2023; the single pass does."
)
OUTSIDE = "one pass lies outside its interval, which tells how resamples in other orders scatter; the median lies in it"
_ORDER_MATTERS = "Elo depends on the order of the battles, and the last ones weigh most: in another order it differs."


def _rate(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    from evenhand.stats.ratings.elo.ratings import about_provisional, elo, elo_bootstrap

    if resampling is None:
        played: Sequence[EloRating] = elo(comparisons, k=scoring.k, scale=scoring.scale)
        notes: tuple[str, ...] = (_ORDER_MATTERS, "One pass has no interval of its own; a bootstrap gives one.")
        ranges = None
    else:
        drawn = elo_bootstrap(comparisons, resampling, k=scoring.k, scale=scoring.scale)
        ranges = elo_rank_ranges(comparisons, drawn)
        played, notes = drawn.ratings, (BY_MEDIAN, *drawn.notes)
    models = placed(
        comparisons,
        [
            ModelRating(
                model=one.model,
                rating=one.rating,
                median=one.median,
                shown=one.shown,
                provisional=one.provisional,
                note=OUTSIDE if one.outside else None,
            )
            for one in played
        ],
    )
    provisional = about_provisional(played, scoring.k, scoring.scale)
    return Ratings(models=models, notes=(*provisional, *notes, *apart(models)), ranges=ranges)


ELO = RatingMethod(
    name="elo",
    title="Elo",
    rate=_rate,
    rates_battles=True,
    by_median=True,
    takes_step=True,
    no_anchor="Elo has no anchor: its ratings keep the mean they start with.",
    takes_resampling=True,
    about_bands="Elo depends on where in the order a verdict is missing: the bands are not Elo's.",
    no_interval="one pass of Elo has none, --bootstrap gives them",
    too_few="too few battles or items",
)
