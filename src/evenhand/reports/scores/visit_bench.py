"""VisIT-Bench's leaderboard: Elo, matches and win rate against the verified reference; by images, skill and source."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from evenhand.benchmarks.visit_bench.load import images_of, source_of, sources
from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE
from evenhand.domain.vote import Vote
from evenhand.ledger.votes import JudgedBattles
from evenhand.ratings.bradley_terry import bradley_terry
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.elo import EloRating, elo, elo_bootstrap
from evenhand.ratings.joining import joined
from evenhand.ratings.resampling import Resampling
from evenhand.ratings.win_rate import WinRate, win_rates, win_rates_against
from evenhand.reliability import Coverage
from evenhand.reports.evidence import in_fixed_order, of_record
from evenhand.reports.methods import Scoring
from evenhand.reports.scores.visit_showings import played

EQUATION_1 = (
    "The paper's Eq. 1 as printed is the probability that the first model loses; Elo is computed with the right sign."
)

OTHER_SOURCE = "other"
"""Items that were drawn from none of Table 5's datasets."""

_NEVER_MET = Estimate(value=None, reason="never met the reference")
_ONLY_TIES = Estimate(value=None, reason="only ties with the reference, which are left out")
_ITSELF = Estimate(value=None, reason="is the reference")
_APART = Estimate(value=None, reason="no battles join all models of the board")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    model: str
    elo: Estimate
    """One pass over the battles in a fixed order; bounds only where it was resampled."""
    elo_median: float | None
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
            **self.elo.as_json("elo"),
            "elo_median": self.elo_median,
            "matches": self.matches,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            **self.win_vs_reference.as_json("win_vs_reference"),
            "win_vs_reference_ties": self.win_vs_reference_ties,
        }
        return fields if self.bradley_terry is None else {**fields, **self.bradley_terry.as_json("bradley_terry")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The battles on some of the items."""

    name: str
    items: int
    standings: tuple[Standing, ...]
    """Best first."""

    def of(self, model: str) -> Standing | None:
        return next((one for one in self.standings if one.model == model), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitScore:
    benchmark: str
    judge: str
    protocol: str
    whole: Part
    by_images: tuple[Part, ...]
    """Single-image and multi-image items apart, as the published boards are."""
    by_skill: tuple[Part, ...]
    by_source: tuple[Part, ...]
    """The existing datasets of Table 5 that items were drawn from, and the rest as `other`."""
    undecided: int
    """Showings without a decision that count as ties here, and only here."""
    waiting: int
    """Battles left out because a showing that was wanted has no reply."""
    coverage: Coverage
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "benchmark": self.benchmark,
            "judge": self.judge,
            "protocol": self.protocol,
            "models": [
                {
                    **one.as_json(),
                    "skills": _within("skill", self.by_skill, one.model),
                    "sources": _within("source", self.by_source, one.model),
                }
                for one in self.whole.standings
            ],
            "parts": [
                {"part": part.name, "items": part.items, "models": [one.as_json() for one in part.standings]}
                for part in self.by_images
            ],
            "undecided_as_ties": self.undecided,
            "battles_waiting": self.waiting,
            "coverage": self.coverage.as_json(),
            "notes": list(self.notes),
        }


def _within(kind: str, parts: Iterable[Part], model: str) -> list[Json]:
    return [
        {kind: part.name, "items": part.items, **{k: v for k, v in one.as_json().items() if k != "model"}}
        for part in parts
        if (one := part.of(model)) is not None
    ]


def visit_score(
    judged: JudgedBattles, items: Mapping[str, Item], *, scoring: Scoring | None = None, rounds: int = 0, seed: int = 0
) -> VisitScore:
    """The board of these battles; `items` by digest, `seed` of the order they are played in and of the resamples.

    Raises RankError where the judge graded or chose instead of comparing two.
    """
    scoring = scoring or Scoring()
    resampling = Resampling(rounds=rounds, unit="items", seed=seed) if rounds else None
    making = _Making(scoring=scoring, resampling=resampling)
    on_record = of_record(judged, seed)
    playing = played(judged, scoring.join)
    votes = in_fixed_order(playing.votes, seed)
    everything = making.part("all", votes, closely=True)
    by_images = making.parts(votes, lambda item: images_of(items[item]), closely=True)
    coverage = Coverage.of(judged.verdicts, wanted=len(judged.verdicts) + judged.not_reached)
    return VisitScore(
        benchmark=judged.study.benchmark,
        judge=judged.judge,
        protocol=judged.study.condition.protocol,
        whole=everything,
        by_images=by_images,
        by_skill=making.parts(votes, lambda item: items[item].category, closely=False),
        by_source=making.parts(votes, lambda item: source_name(items[item]), closely=False),
        undecided=0 if playing.dropped else playing.undecided,
        waiting=playing.waiting,
        coverage=coverage,
        notes=(
            EQUATION_1,
            *playing.notes(scoring.join, human=on_record.origin.human),
            *_notes(votes, rounds, seed),
            *_without_strength([everything, *by_images]),
            *on_record.notes,
        ),
    )


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

    def parts(self, votes: Sequence[Vote], group: _Grouping, *, closely: bool) -> tuple[Part, ...]:
        """One for each name that `group` gives an item; items without one are in none."""
        grouped: dict[str, list[Vote]] = {}
        for vote in votes:
            name = group(vote.item)
            if name is not None:
                grouped.setdefault(name, []).append(vote)
        # Single-image items first, what has no name of its own last, and everything else by name.
        names = sorted(grouped, key=lambda name: (name == OTHER_SOURCE, name != "single", name))
        return tuple(self.part(name, grouped[name], closely=closely) for name in names)

    def part(self, name: str, votes: Sequence[Vote], *, closely: bool) -> Part:
        """`closely`: with resamples and Bradley-Terry beside."""
        battles = joined(Comparisons.of_votes(votes), self.scoring.join)
        ratings = self._elo(battles, closely=closely)
        strengths = dict[str, Estimate]()
        if closely:
            strengths = self._strengths(battles)
        counts = {one.model: one for one in win_rates(battles, policy="visit")}
        against = _against_reference(battles)
        standings = [_standing(one, counts[one.model], against, strengths.get(one.model)) for one in ratings]
        ordered = sorted(standings, key=lambda one: (-(one.elo.value or 0.0), one.model))
        return Part(name=name, items=len({vote.item for vote in votes}), standings=tuple(ordered))

    def _strengths(self, battles: Comparisons) -> dict[str, Estimate]:
        fitted = bradley_terry(battles, ties=self.scoring.ties, scale=self.scoring.scale).models
        apart = len({one.component for one in fitted if one.component is not None}) > 1
        return {one.model: _APART if apart else one.rating for one in fitted}

    def _elo(self, battles: Comparisons, *, closely: bool) -> tuple[EloRating, ...]:
        k, scale = self.scoring.k, self.scoring.scale
        if closely and self.resampling is not None:
            return elo_bootstrap(battles, self.resampling, k=k, scale=scale).ratings
        return elo(battles, k=k, scale=scale)


def _against_reference(battles: Comparisons) -> dict[str, WinRate]:
    if REFERENCE not in battles.models:
        return {}
    return {one.model: one for one in win_rates_against(battles, REFERENCE, policy="visit")}


def _standing(rated: EloRating, count: WinRate, against: Mapping[str, WinRate], strength: Estimate | None) -> Standing:
    met = against.get(rated.model)
    played = count.wins + count.losses + count.ties
    return Standing(
        model=rated.model,
        elo=replace(rated.rating, n=played),
        elo_median=rated.median,
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


def _notes(votes: Sequence[Vote], rounds: int, seed: int) -> tuple[str, ...]:
    notes = [f"Elo depends on the order of the battles; here a fixed one by seed {seed}."]
    if rounds:
        notes.append(f"Intervals and medians of Elo are of {rounds} resamples of items.")
    if not any(REFERENCE in (vote.model_a, vote.model_b) for vote in votes):
        notes.append("The reference did not play, so no win rate against it is known.")
    return tuple(notes)


def _without_strength(parts: Iterable[Part]) -> list[str]:
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
