"""Ratings by each method in one shape: a number, an interval, a place within the component."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.vote import Joining
from evenhand.format.near_names import hint
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.components import structure
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.bradley_terry.notes import NO_ITEMS
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, Rated, bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.elo.notes import PROVISIONAL
from evenhand.stats.ratings.ranks import RankRanges, elo_rank_ranges, rank_ranges, win_rate_rank_ranges
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.table import pair_table
from evenhand.stats.ratings.win_rate import win_rates

if TYPE_CHECKING:
    from evenhand.stats.ratings.elo.ratings import EloRating

Method: TypeAlias = Literal["bradley-terry", "elo", "win-rate"]

_RANGES_BESIDE_RESAMPLES = (
    "Rank ranges and tiers rest on the standard errors of differences (sandwich), not on the resamples."
)
BY_MEDIAN = (
    "Models stand in the order of the median of the resamples, which hardly depends on the order of the battles, as on "
    "FastChat's boards of 2023; the single pass does."
)
_ORDER_MATTERS = "Elo depends on the order of the battles, and the last ones weigh most: in another order it differs."


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """How verdicts become points."""

    k: float = 4
    """Elo's step."""
    scale: Scale = field(default_factory=Scale)
    ties: Ties = "half"
    """Of Bradley-Terry."""
    join: Joining = "visit"
    """How the votes of one item, pair and rater become a battle."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    models: tuple[Rated, ...]
    """In the order of the comparisons' models."""
    notes: tuple[str, ...]
    """Sentences: what the intervals are, and what the data cannot tell."""
    ranges: RankRanges | None
    """None where nothing is known of the differences' spread."""


def ratings(comparisons: Comparisons, method: Method, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    """Raises RankError where the method cannot do what `scoring` or `resampling` asks of it."""
    _refuse(method, scoring, resampling)
    anchor = scoring.scale.anchor
    if method == "bradley-terry" and anchor is not None and anchor not in comparisons.models:
        raise RankError(f"No model is named '{anchor}'; {hint(anchor, comparisons.models)}")
    try:
        if method == "bradley-terry":
            return _bradley_terry(comparisons, scoring, resampling)
        if method == "elo":
            return _elo(comparisons, scoring, resampling)
        return _win_rate(comparisons)
    except ValueError as error:
        raise RankError(str(error)) from error


def _refuse(method: Method, scoring: Scoring, resampling: Resampling | None) -> None:
    if method != "bradley-terry" and scoring.ties != "half":
        raise RankError(f"Davidson's ties belong to Bradley-Terry; {method} counts a tie as half a win.")
    if method == "win-rate" and resampling is not None:
        raise RankError("Win rates have intervals without a bootstrap; it is for bradley-terry and elo.")
    if method == "win-rate" and scoring.scale.anchor is not None:
        raise RankError("Win rates are shares and have no anchor.")


def _bradley_terry(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    if resampling is not None:
        from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap

        fitted = bradley_terry_bootstrap(comparisons, resampling, ties=scoring.ties, scale=scoring.scale)
        return _of_fit(fitted, fitted.notes, resampling)
    fitted = bradley_terry(comparisons, ties=scoring.ties, scale=scoring.scale)
    bounded = any(one.rating.lower is not None for one in fitted.models)
    return _of_fit(fitted, (_about_intervals(comparisons, fitted), *fitted.notes) if bounded else fitted.notes)


def _about_intervals(comparisons: Comparisons, fitted: BradleyTerry) -> str:
    level, clusters = f"Intervals of {100 * fitted.level:g} %", int(fitted.spread.clusters.max(initial=0))
    if comparisons.item is None:
        return f"{level}, every row taken for independent of every other (robust sandwich, times G/(G-1))."
    items = "1 item" if clusters == 1 else f"{clusters:,} items"
    return (
        f"{level}, clustered by {items}: verdicts on one item are not taken for independent "
        "(cluster-robust sandwich, times G/(G-1))."
    )


def _of_fit(fitted: BradleyTerry, notes: tuple[str, ...], resampling: Resampling | None = None) -> Ratings:
    ranges = rank_ranges(fitted)
    resting = (_RANGES_BESIDE_RESAMPLES,) if resampling is not None and ranges.notes else ()
    # A file's own notes tell of its missing items.
    told = [note for note in notes if note != NO_ITEMS]
    return Ratings(models=fitted.models, notes=(*told, *ranges.notes, *resting), ranges=ranges)


def _elo(comparisons: Comparisons, scoring: Scoring, resampling: Resampling | None) -> Ratings:
    from evenhand.stats.ratings.elo.ratings import about_provisional, elo, elo_bootstrap

    if resampling is None:
        played: Sequence[EloRating] = elo(comparisons, k=scoring.k, scale=scoring.scale)
        notes: tuple[str, ...] = (_ORDER_MATTERS, "One pass has no interval of its own; a bootstrap gives one.")
        ranges = None
    else:
        drawn = elo_bootstrap(comparisons, resampling, k=scoring.k, scale=scoring.scale)
        ranges = elo_rank_ranges(comparisons, drawn)
        played, notes = drawn.ratings, (BY_MEDIAN, *drawn.notes, *ranges.notes)
    models = _placed(
        comparisons,
        [
            _Found(model=one.model, rating=one.rating, median=one.median, shown=one.shown, provisional=one.provisional)
            for one in played
        ],
    )
    provisional = about_provisional(played, scoring.k, scoring.scale)
    return Ratings(models=models, notes=(*provisional, *notes, *_apart(models)), ranges=ranges)


def _win_rate(comparisons: Comparisons) -> Ratings:
    models = _placed(
        comparisons,
        [_Found(model=one.model, rating=one.win_rate, shown=one.win_rate.value) for one in win_rates(comparisons)],
    )
    ranges = win_rate_rank_ranges(comparisons)
    level, noun = f"{100 * LEVEL:g} %", _noun(comparisons)
    words = f"Intervals of {level} are Wilson's on the effective number of cases, clustered by {noun}."
    return Ratings(models=models, notes=(words, *ranges.notes, *_apart(models)), ranges=ranges)


def _noun(comparisons: Comparisons) -> str:
    return "row" if comparisons.item is None else "item"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    model: str
    rating: Estimate
    shown: float | None
    """What the list goes by."""
    median: float | None = None
    provisional: bool = False


def _placed(comparisons: Comparisons, found: Sequence[_Found]) -> tuple[Rated, ...]:
    """Places within the components that battles join; models of one value share a place."""
    component = structure(pair_table(comparisons).table).component.tolist()
    values: dict[int, list[float]] = {}
    for where, one in zip(component, found, strict=True):
        if one.shown is not None:
            values.setdefault(where, []).append(one.shown)
    for of_component in values.values():
        of_component.sort()
    return tuple(_rated(one, where, values.get(where, [])) for where, one in zip(component, found, strict=True))


def _rated(one: _Found, where: int, ascending: Sequence[float]) -> Rated:
    if one.shown is None:
        note = f"{one.model} has no battles: it has no rating."
        return Rated(model=one.model, rating=one.rating, component=None, rank=None, note=note)
    return Rated(
        model=one.model,
        rating=one.rating,
        component=where,
        rank=_rank(one.shown, ascending),
        median=one.median,
        note=PROVISIONAL if one.provisional else None,
        provisional=one.provisional,
    )


def _rank(value: float, ascending: Sequence[float]) -> int:
    return 1 + len(ascending) - bisect_right(ascending, value)


def _apart(models: Sequence[Rated]) -> tuple[str, ...]:
    components = len({one.component for one in models if one.component is not None})
    if components < 2:
        return ()
    return (f"The models fall into {components} components that no battle joins: each is ranked apart.",)
