"""What a rating method is: a function from comparisons to ratings, with what its reader and its user must know."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.vote import Joining
from evenhand.stats.ratings.bradley_terry.components import structure
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.bradley_terry.ratings import Rated
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.rank_bounds import Method as BandsMethod
from evenhand.stats.ratings.differences.ranks import RankRanges
from evenhand.stats.ratings.elo.notes import PROVISIONAL
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.table import pair_table
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge, Unplaced
from evenhand.stats.ratings.with_people.ratings import JudgeBias


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
    shrink: bool = False
    """Of Bradley-Terry: draw ratings of models with few battles towards the mean (empirical Bayes)."""
    seed: int = 0
    """Of the simulations behind rank ranges and of drawn sign flips."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ratings:
    models: tuple[Rated, ...]
    """In the order of the comparisons' models."""
    notes: tuple[str, ...] = ()
    """Sentences: what the intervals are, and what the data cannot tell."""
    ranges: RankRanges | None = None
    """None where nothing is known of the differences' spread. Its own sentences stand there, not in `notes`."""
    about_ranges: tuple[str, ...] = ()
    """Sentences that follow those of the ranges."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingsWithPeople:
    """Of a judge's verdicts corrected by people's."""

    given: PeopleAndJudge
    """What they are of: without the models that are left out."""
    ratings: Ratings
    """Of the models of `given`."""
    lambda_: float
    """How much of the judge is used, from 0 to 1."""
    worth: float
    """Verdicts of people that would be as sure, were there no judge."""
    bias: tuple[JudgeBias, ...]
    left_out: tuple[tuple[Unplaced, str], ...] = ()
    """Models that cannot be rated beside the others, and why."""

    def unplaced(self, why: Unplaced) -> list[str]:
        return [model for reason, model in self.left_out if reason == why]


Rate: TypeAlias = Callable[[Comparisons, Scoring, Resampling | None], Ratings]
"""Raises ValueError, a sentence, where these comparisons cannot be rated as asked."""

RateWithPeople: TypeAlias = Callable[[PeopleAndJudge, Scoring], RatingsWithPeople]
"""Likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingMethod:
    """`name` is what `--method` takes, `title` what headings say."""

    name: str
    title: str
    rate: Rate
    shown_as: Literal["points", "share"] = "points"
    """A share is printed in per cent and is the win rate of the table."""
    rates_battles: bool = False
    """Of a ledger: the two orders joined, where nobody asks for votes."""
    by_median: bool = False
    """With a bootstrap, models stand by the median of the resamples."""
    takes_step: bool = False
    """Whether `Scoring.k` means something to it; the same of the next five."""
    takes_ties: bool = False
    takes_anchor: bool = False
    takes_shrinking: bool = False
    takes_resampling: bool = False
    takes_soft: bool = False
    """Whether a vote may be told as a win and a loss that share its weight."""
    no_bootstrap: str = ""
    """A sentence in the place of the usual one, for a user who asks for resamples it does not take."""
    no_anchor: str = ""
    with_people: RateWithPeople | None = None
    """None: it cannot be corrected by people's verdicts."""
    unclustered: bool = False
    """Whether Bradley-Terry's unclustered intervals may stand beside its own."""
    places: bool = False
    """Whether a model that was placed at looks planned beforehand has its interval among these ratings."""
    bands: BandsMethod = "bradley-terry"
    """Whose ranks tell what missing verdicts could change."""
    about_bands: str = ""
    """A sentence: what keeps those from being this method's."""
    no_interval: str = ""
    """Why ratings have none without resamples; empty: too few cases."""
    too_few: str = ""
    """Why they have none with resamples, likewise."""
    package: str = ""
    """Which installed package it is from; empty: built in. Filled in by the catalog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRating:
    """One model's, before its place is known."""

    model: str
    rating: Estimate
    shown: float | None
    """What the list goes by."""
    median: float | None = None
    provisional: bool = False
    note: str | None = None
    """Besides that it is provisional."""


def ratings_of(comparisons: Comparisons, estimates: Sequence[Estimate], *, notes: Sequence[str] = ()) -> Ratings:
    """Of one estimate for each of the comparisons' models, the highest first; no value: no rating."""
    models = placed(
        comparisons,
        [
            ModelRating(model=model, rating=one, shown=one.value)
            for model, one in zip(comparisons.models, estimates, strict=True)
        ],
    )
    return Ratings(models=models, notes=(*notes, *apart(models)))


def placed(comparisons: Comparisons, found: Sequence[ModelRating]) -> tuple[Rated, ...]:
    """Places within the components that battles join; models of one value share a place."""
    component = structure(pair_table(comparisons).table).component.tolist()
    values: dict[int, list[float]] = {}
    for where, one in zip(component, found, strict=True):
        if one.shown is not None:
            values.setdefault(where, []).append(one.shown)
    for of_component in values.values():
        of_component.sort()
    return tuple(_rated(one, where, values.get(where, [])) for where, one in zip(component, found, strict=True))


def _rated(one: ModelRating, where: int, ascending: Sequence[float]) -> Rated:
    if one.shown is None:
        note = f"{one.model} has no battles: it has no rating."
        return Rated(model=one.model, rating=one.rating, component=None, rank=None, note=note)
    return Rated(
        model=one.model,
        rating=one.rating,
        component=where,
        rank=_rank(one.shown, ascending),
        median=one.median,
        note="; ".join(words for words in (PROVISIONAL if one.provisional else "", one.note) if words) or None,
        provisional=one.provisional,
    )


def _rank(value: float, ascending: Sequence[float]) -> int:
    return 1 + len(ascending) - bisect_right(ascending, value)


def apart(models: Sequence[Rated]) -> tuple[str, ...]:
    """The sentence that tells of components, where there are several."""
    components = len({one.component for one in models if one.component is not None})
    if components < 2:
        return ()
    return (f"The models fall into {components} components that no battle joins: each is ranked apart.",)
