"""The votes of what was judged: each preference mapped to its two models."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select

from evenhand.domain.rater import PEOPLE
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.ledger import schema
from evenhand.ledger.projection import Judged, NotAsked, StudyOnRecord, judged, not_reached
from evenhand.ledger.record import Ledger, chunks
from evenhand.ledger.waiting import Battle, waiting_battles


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBattles:
    """What was judged in studies that agree on judge, protocol and data."""

    study: StudyOnRecord
    """The first of them."""
    results: tuple[Judged, ...]
    """Of answers that still stand for their models."""
    replaced: int
    """Results left out because an answer was replaced since."""
    showings: tuple[Judged, ...]
    """One result for each showing, however many replicates: one with a verdict where any was read."""
    not_asked: tuple[NotAsked, ...]
    """Showings wanted that were neither asked nor known."""
    missing: tuple[tuple[str, ...], ...]
    """The models of each showing wanted that has no verdict, whether it was asked or not."""
    votes: tuple[Vote, ...]

    @property
    def judge(self) -> str:
        """Several people are together `people`."""
        several = self.study.rater.kind == "human" and len({one.trial.rater for one in self.results}) > 1
        return PEOPLE if several else self.study.rater.name

    @property
    def not_reached(self) -> int:
        return len(self.not_asked)

    @property
    def waiting(self) -> frozenset[Battle]:
        """Battles of which a wanted showing has no reply; nobody waits for a person to see the other order too."""
        if self.study.rater.kind == "human":
            return frozenset()
        return waiting_battles(self.results, self.not_asked)

    @property
    def verdicts(self) -> tuple[Verdict | NoVerdict, ...]:
        """Of the showings."""
        return tuple(one.judgement.verdict for one in self.showings)


def judged_battles(
    ledger: Ledger, chosen: Sequence[StudyOnRecord], *, items: Collection[str] | None = None
) -> JudgedBattles:
    """`items`: only what was judged on these."""
    everything = judged(ledger, chosen, items=items)
    results = tuple(one for one in everything if one.stands)
    lengths = word_counts(ledger, {digest for one in results for digest in one.trial.responses})
    showings = _showings(results)
    unasked = not_reached(ledger, chosen, results, items=items)
    in_vain = [one.models for one in showings if isinstance(one.judgement.verdict, NoVerdict)]
    return JudgedBattles(
        study=chosen[0],
        results=results,
        replaced=len(everything) - len(results),
        showings=tuple(showings),
        not_asked=tuple(unasked),
        missing=(*in_vain, *(one.models for one in unasked)),
        votes=tuple(votes_of(results, lengths)),
    )


def _showings(results: Iterable[Judged]) -> list[Judged]:
    """Of each showing's replicates the first with a verdict, else one without."""
    found: dict[tuple[str, tuple[str, ...], str], Judged] = {}
    for one in results:
        showing = (one.trial.item, one.trial.responses, one.trial.rater)
        before = found.get(showing)
        if before is None or isinstance(before.judgement.verdict, NoVerdict):
            found[showing] = one
    return list(found.values())


def votes_of(results: Sequence[Judged], lengths: Mapping[str, int] | None = None) -> list[Vote]:
    """Preferences mapped to their models; replicates of one showing share its weight.

    `lengths` are the words of each response, by digest.
    """
    read = [one for one in results if isinstance(one.judgement.verdict, Preference)]
    sharing = Counter((one.trial.item, one.trial.responses, one.trial.rater) for one in read)
    votes: list[Vote] = []
    for one in read:
        verdict, (first, second) = one.judgement.verdict, one.models
        assert isinstance(verdict, Preference)
        vote = Vote(
            item=one.trial.item,
            model_a=first,
            model_b=second,
            first=first,
            value=verdict.value,
            levels=verdict.levels,
            rater=one.trial.rater,
            weight=1 / sharing[one.trial.item, one.trial.responses, one.trial.rater],
            length=_longer(one, lengths),
        )
        votes.append(vote if first <= second else _turned(vote))
    return votes


def _turned(vote: Vote) -> Vote:
    length = None if vote.length is None else -vote.length
    return replace(vote, model_a=vote.model_b, model_b=vote.model_a, value=-vote.value, length=length)


def _longer(one: Judged, lengths: Mapping[str, int] | None) -> float | None:
    first, second = one.trial.responses
    return None if lengths is None else float(lengths[first] - lengths[second])


def word_counts(ledger: Ledger, digests: Iterable[str]) -> dict[str, int]:
    table = schema.responses
    counts: dict[str, int] = {}
    with ledger.reading() as connection:
        for some in chunks(sorted(digests)):
            query = select(table.c.digest, table.c.text).where(table.c.digest.in_(some))
            counts.update((digest, len(text.split())) for digest, text in connection.execute(query))
    return counts
