"""VisIT-Bench's leaderboard: Elo, matches and win rate against the verified reference; by images, skill and source."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from evenhand.benchmarks.visit_bench.load import images_of, source_of, sources
from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE
from evenhand.format.words import listed
from evenhand.ledger.read.steering import Steering
from evenhand.ledger.read.vote_columns import Votes
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.reports.board.evidence import of_record, record_notes
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.elo import BY_MEDIAN
from evenhand.reports.board.steering import steering_json, steering_sentences
from evenhand.reports.papers.scores.visit_showings import played
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.elo.notes import PROVISIONAL
from evenhand.stats.ratings.elo.ratings import EloRating, about_provisional, elo, elo_bootstrap
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.shares.win_rate import WinRate, win_rates, win_rates_against
from evenhand.stats.reliability import Coverage

EQUATION_1 = (
    "The paper's Eq. 1 as printed is the probability that the first model loses; Elo is computed with the right sign."
)

VISIT_PROTOCOLS = ("visit_pairwise", "visit_pairwise_reference", "visit_people")
"""Whose boards have these figures."""

PUBLISHED_K = 4

ELO_ROUNDS = 200
"""Resamples of items behind Elo's intervals, wherever it stands."""

OTHER_SOURCE = "other"
"""Items that were drawn from no existing dataset."""

ENOUGH_ANSWERS = 0.95
"""Of the items; a model that answered fewer is named."""

By: TypeAlias = Literal["skill", "source"]

PART_WORDS = {"single": "single-image", "multiple": "multi-image"}

_NO_REFERENCE = "The reference did not play, so no win rate against it is known."
_NEVER_MET = Estimate(value=None, reason="never met the reference")
_ONLY_TIES = Estimate(value=None, reason="only ties with the reference, which are left out")
_ITSELF = Estimate(value=None, reason="is the reference")
_APART = Estimate(value=None, reason="no battles join all models of the board")


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitRow:
    model: str
    rank: int | None
    """By the median of Elo where it was resampled, else by Elo. None in the small parts, and where no battles join all
    models."""
    elo: Estimate
    """One pass over the battles in a fixed order; bounds only where it was resampled."""
    elo_median: Estimate | None
    """Of the resamples, with the same bounds; None where there are none."""
    provisional: bool
    """Too few battles for Elo to have left its start."""
    answered: int | None
    """Of the part's items; None where nobody told."""
    matches: int
    wins: int
    losses: int
    ties: int
    win_vs_reference: Estimate
    """Wins / (wins + losses): the published boards leave ties out."""
    win_vs_reference_ties: int
    bradley_terry: Estimate | None
    """None for the parts that are too small for it: skills and sources."""

    def as_json(self) -> dict[str, Json]:
        fields: dict[str, Json] = {
            "model": self.model,
            "rank": self.rank,
            "answered": self.answered,
            **self.elo.as_json("elo"),
            "elo_median": None if self.elo_median is None else self.elo_median.value,
            "provisional": self.provisional,
            "note": PROVISIONAL if self.provisional else None,
            "matches": self.matches,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            **self.win_vs_reference.as_json("win_vs_reference"),
            "win_vs_reference_ties": self.win_vs_reference_ties,
        }
        strength = {} if self.bradley_terry is None else self.bradley_terry.as_json("bradley_terry")
        # Of two estimates in one document it must be told whose bound is missing.
        return {**fields, **{"bradley_terry_unbounded" if k == "unbounded" else k: v for k, v in strength.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemGroup:
    """The battles on some of the items."""

    name: str
    items: int
    """With a battle."""
    of_items: int
    """There are; a model may have answered them all."""
    standings: tuple[VisitRow, ...]
    """Best first, by the median of Elo where it was resampled."""
    notes: tuple[str, ...] = ()
    """Sentences about its ratings."""

    @property
    def ranked_by(self) -> str:
        """The figure that its ranks go by."""
        return "Elo" if all(one.elo_median is None for one in self.standings) else "median Elo"

    def of(self, model: str) -> VisitRow | None:
        return next((one for one in self.standings if one.model == model), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitScore:
    benchmark: str
    judge: str
    protocol: str
    whole: ItemGroup
    by_images: tuple[ItemGroup, ...]
    """Single-image and multi-image items apart, as the published boards are."""
    by_skill: tuple[ItemGroup, ...]
    by_source: tuple[ItemGroup, ...]
    """The existing datasets of Table 5 that items were drawn from, and the rest as `other`."""
    undecided: int
    """Showings without a decision that count as ties here, and only here."""
    waiting: int
    """Battles left out because a showing that was wanted has no reply."""
    coverage: Coverage
    notes: tuple[str, ...]
    rating_notes: tuple[str, ...] = ()
    """Sentences about the ratings of the boards by images: of no concern to a table of rates."""
    steering: Mapping[str, Steering] = field(default_factory=dict[str, Steering])
    """By model, what its answers say to the judge; empty where nobody knows."""

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "benchmark": self.benchmark,
            "judge": self.judge,
            "protocol": self.protocol,
            "models": [
                {
                    **one.as_json(),
                    **steering_json(self.steering, one.model),
                    "skills": _within("skill", self.by_skill, one.model),
                    "sources": _within("source", self.by_source, one.model),
                }
                for one in self.whole.standings
            ],
            "parts": [
                {
                    "part": part.name,
                    "items": part.items,
                    "of_items": part.of_items,
                    "models": [one.as_json() for one in part.standings],
                }
                for part in self.by_images
            ],
            "undecided_as_ties": self.undecided,
            "battles_waiting": self.waiting,
            "coverage": self.coverage.as_json(),
            "notes": [*steering_sentences(self.steering), *self.notes, *self.rating_notes],
        }


def _within(kind: str, parts: Iterable[ItemGroup], model: str) -> list[Json]:
    return [
        {kind: part.name, "items": part.items, **{k: v for k, v in one.as_json().items() if k != "model"}}
        for part in parts
        if (one := part.of(model)) is not None
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedItems:
    """What the models were asked, and who answered what."""

    items: Mapping[str, Item]
    """By digest."""
    answers: Mapping[str, Collection[str]] | None = None
    """Of each model, the digests of the items it answered; None: nobody told."""
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """By digest, the dataset that an item was taken from, where the data tell; else it follows from the skill."""


def visit_score(
    judged: JudgedBattles,
    asked: AskedItems,
    *,
    scoring: Scoring | None = None,
    rounds: int = 0,
    within: Collection[By] = (),
    seed: int = 0,
) -> VisitScore:
    """The board of these battles; `seed` of the order they are played in and of the resamples.

    `within`: of what small parts Elo gets an interval too, where it is resampled.

    Raises RankError where the judge graded or chose instead of comparing two.
    """
    scoring, items = scoring or Scoring(), asked.items
    making = _Making.of(scoring, asked, rounds=rounds, seed=seed)
    on_record = of_record(judged, seed)
    playing = played(judged, scoring.join)
    votes = playing.votes.rows(playing.votes.fixed_order(seed))
    everything = making.whole(votes)
    by_images = making.parts(votes, lambda item: images_of(items[item]), closely=True)
    return VisitScore(
        benchmark=judged.study.benchmark,
        judge=judged.judge,
        protocol=judged.study.condition.protocol,
        whole=everything,
        by_images=by_images,
        by_skill=making.parts(votes, lambda item: items[item].category, closely=False, resampled="skill" in within),
        by_source=making.parts(
            votes,
            lambda item: asked.sources.get(item) or source_name(items[item]),
            closely=False,
            resampled="source" in within,
        ),
        undecided=0 if playing.dropped else playing.undecided,
        waiting=playing.waiting,
        coverage=judged.coverage,
        notes=(
            EQUATION_1,
            *playing.notes(scoring.join, human=on_record.origin.human),
            in_fixed_order(seed),
            *(() if scoring.k == PUBLISHED_K else (f"Elo's step is {scoring.k:g} here; the published boards have 4.",)),
            *(() if REFERENCE in votes.playing else (_NO_REFERENCE,)),
            *_unanswered(everything),
            *record_notes(judged),
        ),
        rating_notes=(
            *((BY_MEDIAN,) if rounds else ()),
            *_of_parts(by_images),
            *_without_strength([everything, *by_images]),
        ),
        steering=on_record.steering,
    )


def whole_score(judged: JudgedBattles, asked: AskedItems, *, rounds: int = 0, seed: int = 0) -> ItemGroup:
    """Of the board of these battles what is of all items together."""
    scoring = Scoring()
    votes = played(judged, scoring.join).votes
    return _Making.of(scoring, asked, rounds=rounds, seed=seed).whole(votes.rows(votes.fixed_order(seed)))


def in_fixed_order(seed: int) -> str:
    return f"Elo depends on the order of the battles; here a fixed one by seed {seed}."


def source_name(item: Item) -> str:
    source = source_of(item)
    if source is None:
        return OTHER_SOURCE
    shared = sum(one.name == source.name for one in sources()) > 1
    return f"{source.name}: {source.topic}" if shared else source.name


_Grouping: TypeAlias = Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    scoring: Scoring
    resampling: Resampling | None
    asked: AskedItems

    @classmethod
    def of(cls, scoring: Scoring, asked: AskedItems, *, rounds: int, seed: int) -> "_Making":
        resampling = Resampling(rounds=rounds, unit="items", seed=seed) if rounds else None
        return cls(scoring=scoring, resampling=resampling, asked=asked)

    def whole(self, votes: Votes) -> ItemGroup:
        return self.part("all", votes, lambda _: "all", closely=True)

    def parts(self, votes: Votes, group: _Grouping, *, closely: bool, resampled: bool = False) -> tuple[ItemGroup, ...]:
        """One for each name that `group` gives an item; items without one are in none."""
        item = votes.item.in_order_of_rows()
        grouped = [group(digest) for digest in item.names]
        # Single-image items first, what has no name of its own last, and everything else by name.
        names = sorted(filter(None, set(grouped)), key=lambda name: (name == OTHER_SOURCE, name != "single", name))
        within = {name: np.array([one == name for one in grouped], dtype=np.bool_)[item.code] for name in names}
        return tuple(
            self.part(name, votes.rows(rows), group, closely=closely, resampled=resampled)
            for name, rows in within.items()
        )

    def part(self, name: str, votes: Votes, group: _Grouping, *, closely: bool, resampled: bool = False) -> ItemGroup:
        """`closely`: with ranks, resamples and Bradley-Terry beside. `resampled`: with Elo's interval alone."""
        battles = joined(votes.comparisons(), self.scoring.join)
        ratings, notes = self._elo(battles, closely=closely)
        if resampled:
            ratings = self._with_intervals(battles, ratings)
        strengths = self._strengths(battles) if closely else dict[str, Estimate]()
        ranks = _ranks(ratings) if closely and _APART not in strengths.values() else dict[str, int]()
        counts = {one.model: one for one in win_rates(battles, policy="visit")}
        against = _against_reference(battles)
        there = {digest for digest in self.asked.items if group(digest) == name}
        standings = [
            replace(
                _standing(one, counts[one.model], against, strengths.get(one.model)),
                rank=ranks.get(one.model),
                answered=self._answered(one.model, there),
            )
            for one in sorted(ratings, key=lambda one: (-(one.shown or 0.0), -(one.rating.value or 0.0), one.model))
        ]
        items = len(np.unique(votes.item.code))
        return ItemGroup(name=name, items=items, of_items=len(there), standings=tuple(standings), notes=notes)

    def _answered(self, model: str, there: Collection[str]) -> int | None:
        answers = self.asked.answers
        return None if answers is None else sum(digest in there for digest in answers.get(model, ()))

    def _strengths(self, battles: Comparisons) -> dict[str, Estimate]:
        fitted = bradley_terry(battles, ties=self.scoring.ties, scale=self.scoring.scale).models
        apart = len({one.component for one in fitted if one.component is not None}) > 1
        return {one.model: _APART if apart else one.rating for one in fitted}

    def _elo(self, battles: Comparisons, *, closely: bool) -> tuple[tuple[EloRating, ...], tuple[str, ...]]:
        k, scale = self.scoring.k, self.scoring.scale
        if closely and self.resampling is not None:
            drawn = elo_bootstrap(battles, self.resampling, k=k, scale=scale)
            return drawn.ratings, (*drawn.notes, *about_provisional(drawn.ratings, k, scale))
        played = elo(battles, k=k, scale=scale)
        return played, about_provisional(played, k, scale)

    def _with_intervals(self, battles: Comparisons, ratings: tuple[EloRating, ...]) -> tuple[EloRating, ...]:
        """Of few items the bounds might miss the rating; they are drawn out to it."""
        if self.resampling is None:
            return ratings
        drawn = elo_bootstrap(battles, self.resampling, k=self.scoring.k, scale=self.scoring.scale).ratings
        return tuple(
            replace(one, rating=replace(spread.rating, lower=min(value, lower), upper=max(value, upper)))
            if (value := one.rating.value) is not None
            and (lower := spread.rating.lower) is not None
            and (upper := spread.rating.upper) is not None
            else replace(one, rating=spread.rating)
            for one, spread in zip(ratings, drawn, strict=True)
        )


def _ranks(ratings: Sequence[EloRating]) -> dict[str, int]:
    """Places among all; models of one value share a place."""
    shown = {one.model: one.shown for one in ratings if one.shown is not None}
    return {model: 1 + sum(other > value for other in shown.values()) for model, value in shown.items()}


def _against_reference(battles: Comparisons) -> dict[str, WinRate]:
    if REFERENCE not in battles.models:
        return {}
    return {one.model: one for one in win_rates_against(battles, REFERENCE, policy="visit")}


def _standing(rated: EloRating, count: WinRate, against: Mapping[str, WinRate], strength: Estimate | None) -> VisitRow:
    met = against.get(rated.model)
    played = count.wins + count.losses + count.ties
    elo = replace(rated.rating, n=played)
    return VisitRow(
        model=rated.model,
        elo=elo,
        elo_median=None if rated.median is None else replace(elo, value=rated.median),
        provisional=rated.provisional,
        rank=None,
        answered=None,
        matches=int(whole(played)),
        wins=int(count.wins),
        losses=int(count.losses),
        ties=int(count.ties),
        win_vs_reference=_ITSELF if rated.model == REFERENCE else _rate(met),
        win_vs_reference_ties=0 if met is None else int(met.ties),
        bradley_terry=strength,
    )


def _rate(met: WinRate | None) -> Estimate:
    if met is None or not met.wins + met.losses + met.ties:
        return _NEVER_MET
    return met.win_rate if met.wins + met.losses else _ONLY_TIES


def _of_parts(parts: Sequence[ItemGroup]) -> list[str]:
    """Each sentence once; one that is not of every board after the name of its own."""
    shared = [note for note in parts[0].notes if all(note in part.notes for part in parts)] if parts else []
    own = [f"{PART_WORDS[part.name].capitalize()}: {note}" for part in parts for note in part.notes]
    return [*shared, *(note for note in own if note.partition(": ")[2] not in shared)]


def _unanswered(everything: ItemGroup) -> list[str]:
    few = [
        f"{one.model} {one.answered:,}"
        for one in everything.standings
        if one.answered is not None and one.model != REFERENCE and one.answered < ENOUGH_ANSWERS * everything.of_items
    ]
    if not few:
        return []
    return [
        f"Answered fewer than {100 * ENOUGH_ANSWERS:g} % of the {everything.of_items:,} items: {listed(few)}. "
        "What is not answered is not judged, so a model that leaves out what is hard gains by it."
    ]


def _without_strength(parts: Iterable[ItemGroup]) -> list[str]:
    notes: list[str] = []
    strengths = [(one.model, one.bradley_terry) for part in parts for one in part.standings]
    without = [(model, one) for model, one in strengths if one is not None and one.value is None]
    names = {model for model, one in without if one != _APART}
    if names:
        listed = ", ".join(sorted(names))
        notes.append(f"No finite Bradley-Terry rating fits on a board where one side won everything: {listed}.")
    if any(one == _APART for _, one in without):
        notes.append(
            "A board falls into groups that no battle joins, so it has no Bradley-Terry ratings; "
            "Elo of models in different groups cannot be compared either."
        )
    return notes
