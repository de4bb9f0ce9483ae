"""A board: the models in order, the judge's reliability beside them, and what was left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json, draw
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.ledger.projection import Judged, StudyOnRecord, judged, not_reached, studies
from evenhand.ledger.record import Ledger
from evenhand.ratings.comparisons import Comparisons, battles
from evenhand.ratings.elo import elo
from evenhand.ratings.win_rate import win_rates
from evenhand.reliability.coverage import Coverage
from evenhand.reliability.summary import Summary, trust
from evenhand.reports.choosing import Choice, choose

Method: TypeAlias = Literal["win-rate", "elo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    model: str
    rank: int
    rating: Estimate
    """By the board's method: a win rate from 0 to 1, or Elo."""
    win_rate: Estimate
    elo: Estimate
    wins: float
    losses: float
    ties: float
    """In votes: showings with a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    benchmark: str
    sample: bool
    judge: str
    protocol: str
    readout: str
    method: Method
    votes: int
    battles: int
    items: int
    standings: tuple[Standing, ...]
    reliability: Summary
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "method": self.method,
            "benchmark": self.benchmark,
            "sample": self.sample,
            "judge": self.judge,
            "protocol": self.protocol,
            "readout": self.readout,
            "votes": self.votes,
            "battles": self.battles,
            "items": self.items,
            "models": [
                {
                    "model": s.model,
                    **s.rating.as_json("rating"),
                    "rank": s.rank,
                    **s.win_rate.as_json("win_rate"),
                    "elo": s.elo.value,
                    "wins": whole(s.wins),
                    "losses": whole(s.losses),
                    "ties": whole(s.ties),
                    "note": None,
                }
                for s in self.standings
            ],
            "order_effect": None,
            "coverage": self.reliability.coverage.as_json(),
            "reliability": self.reliability.as_json(),
            "notes": list(self.notes),
        }


def board(ledger: Ledger, chosen: Sequence[StudyOnRecord], *, method: Method = "win-rate", seed: int = 0) -> Board:
    """Made of studies that agree on judge, protocol and data."""
    first = chosen[0]
    everything = judged(ledger, chosen)
    results = [one for one in everything if one.stands]
    votes = votes_of(results)
    played = battles(in_fixed_order(votes, seed), "visit")
    missing = not_reached(ledger, chosen, results)
    verdicts = _of_showings(results)
    coverage = Coverage.of(verdicts, wanted=len(verdicts) + missing)
    return Board(
        benchmark=first.benchmark,
        sample=first.sample,
        judge=first.rater.name,
        protocol=first.condition.protocol,
        readout=first.condition.readout,
        method=method,
        votes=len(votes),
        battles=len(played),
        items=len({vote.item for vote in votes}),
        standings=_standings(votes, played, method),
        reliability=trust(votes, coverage, human=first.rater.kind == "human"),
        notes=_notes(first, results, replaced=len(everything) - len(results)),
    )


def rank(ledger: Ledger, choice: Choice | None = None, *, method: Method = "win-rate", seed: int = 0) -> Board:
    """The board of what the ledger holds; raises MixedError where `choice` leaves more than one, or none."""
    return board(ledger, choose(studies(ledger), choice or Choice()), method=method, seed=seed)


def votes_of(results: Sequence[Judged]) -> list[Vote]:
    """Preferences mapped to their models; replicates of one showing share its weight."""
    read = [one for one in results if isinstance(one.judgement.verdict, Preference)]
    sharing = Counter((one.trial.item, one.trial.responses, one.trial.rater) for one in read)
    votes: list[Vote] = []
    for one in read:
        verdict = one.judgement.verdict
        assert isinstance(verdict, Preference)
        shown_first = one.models[0]
        a, b = sorted(one.models)
        votes.append(
            Vote(
                item=one.trial.item,
                model_a=a,
                model_b=b,
                first=shown_first,
                value=verdict.value if shown_first == a else -verdict.value,
                levels=verdict.levels,
                rater=one.trial.rater,
                weight=1 / sharing[one.trial.item, one.trial.responses, one.trial.rater],
            )
        )
    return votes


def in_fixed_order(votes: Sequence[Vote], seed: int) -> list[Vote]:
    """By hash of seed and battle, so that a rating never depends on which call finished first."""
    return sorted(votes, key=lambda v: (draw(seed, v.item, v.model_a, v.model_b), v.rater, v.first != v.model_a))


def _standings(votes: Sequence[Vote], played: Comparisons, method: Method) -> tuple[Standing, ...]:
    rates = {rate.model: rate for rate in win_rates(Comparisons.of_votes(votes))}
    ratings = {one.model: one.rating for one in elo(played)}
    chosen = {model: ratings[model] if method == "elo" else rate.win_rate for model, rate in rates.items()}
    values = {model: estimate.value for model, estimate in chosen.items() if estimate.value is not None}
    ordered = sorted(values, key=lambda model: (-values[model], model))
    return tuple(
        Standing(
            model=model,
            rank=1 + sum(other > values[model] for other in values.values()),
            rating=chosen[model],
            win_rate=rates[model].win_rate,
            elo=ratings[model],
            wins=rates[model].wins,
            losses=rates[model].losses,
            ties=rates[model].ties,
        )
        for model in ordered
    )


def _of_showings(results: Sequence[Judged]) -> list[Verdict | NoVerdict]:
    """One for each showing, however many replicates: a verdict where any was read."""
    found: dict[tuple[str, tuple[str, ...], str], Verdict | NoVerdict] = {}
    for one in results:
        showing = (one.trial.item, one.trial.responses, one.trial.rater)
        if isinstance(found.get(showing), NoVerdict | None):
            found[showing] = one.judgement.verdict
    return list(found.values())


def _notes(study: StudyOnRecord, results: Sequence[Judged], *, replaced: int) -> tuple[str, ...]:
    notes: list[str] = []
    if replaced:
        notes.append(f"Left out: {replaced} judgements of answers that were replaced since.")
    if study.sample:
        notes.append(f"{study.benchmark} is a small sample of Evenhand's own: it says nothing about real models.")
    if study.condition.readout == "constrained":
        notes.append("Verdicts were read from the probabilities of the offered answers, without reasoning.")
        if any(one.judgement.notes.get("forced") for one in results):
            notes.append("The embedded model can only give an offered answer, so coverage is 100 % by construction.")
    adapted: Counter[str] = Counter()
    for one in results:
        words = one.judgement.notes.get("adapted")
        if isinstance(words, list):
            adapted.update(str(word) for word in words)
    notes += [f"Differs from the published protocol in {count} judgements: {word}" for word, count in adapted.items()]
    again = sum(one.trial.attempt > 0 and not isinstance(one.judgement.verdict, NoVerdict) for one in results)
    if again:
        notes.append(f"{again} verdicts came only after asking again.")
    return tuple(notes)
