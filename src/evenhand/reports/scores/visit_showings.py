"""Which showings make VisIT-Bench's battles: undecided ones are ties, and half a battle is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.domain.verdict import NoVerdict
from evenhand.domain.vote import Joining, Vote
from evenhand.ledger.projection import Judged
from evenhand.ledger.votes import JudgedBattles
from evenhand.ledger.waiting import Battle, battle_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    votes: tuple[Vote, ...]
    undecided: int
    """Showings without a decision in the battles that count, or by mt-bench's rule would."""
    waiting: int
    """Battles left out because a showing that was wanted has no reply."""
    dropped: int
    """Battles left out by mt-bench's rule because a showing has no decision."""
    single: int
    """Battles of one showing."""
    battles: int

    def notes(self, join: Joining, *, human: bool) -> list[str]:
        return [
            *self._about_battles(join, human=human),
            *self._about_waiting(),
            *self._about_undecided(),
        ]

    def _about_battles(self, join: Joining, *, human: bool) -> list[str]:
        if human:
            return ["A battle is one person's choice between the answers of a pair to one item."]
        if self.battles and self.single == self.battles:
            return ["A battle is a single showing of one item and pair: only one order was asked for."]
        rule = "more wins of the two takes it" if join == "visit" else "a win needs both orders"
        notes = [f"A battle is both orders of one item and pair: {rule} (rule {join})."]
        if self.single:
            notes.append(f"{self.single} of {self.battles} battles are single showings: one order was asked for.")
        return notes

    def _about_waiting(self) -> list[str]:
        if not self.waiting:
            return []
        words = (
            "1 battle waits for its other order and is left out"
            if self.waiting == 1
            else f"{self.waiting} battles wait for their other order and are left out"
        )
        return [f"{words}; the same `judge` command asks again."]

    def _about_undecided(self) -> list[str]:
        if not self.undecided:
            return []
        one = self.undecided == 1
        showings = "1 showing has" if one else f"{self.undecided} showings have"
        if self.dropped:
            battles = "1 battle is" if self.dropped == 1 else f"{self.dropped} battles are"
            return [f"{showings} no decision; by mt-bench's rule {battles} left out for it."]
        return [
            f"{showings} no decision and {'counts as a tie' if one else 'count as ties'} here, as published; "
            "nowhere else do they."
        ]


def played(judged: JudgedBattles, join: Joining) -> Played:
    waiting = judged.waiting
    undecided = [one for one in _undecided(judged.results) if battle_of(one) not in waiting]
    dropped = frozenset(map(battle_of, undecided)) if join == "mt-bench" else frozenset[Battle]()
    ties = [] if dropped else [_tie(one) for one in undecided]
    votes = [vote for vote in (*judged.votes, *ties) if _battle(vote) not in waiting | dropped]
    shown: dict[Battle, set[str]] = {}
    for vote in votes:
        shown.setdefault(_battle(vote), set()).add(vote.first)
    return Played(
        votes=tuple(votes),
        undecided=len(undecided),
        waiting=len(waiting),
        dropped=len(dropped),
        single=sum(len(first) == 1 for first in shown.values()),
        battles=len(shown),
    )


def _battle(vote: Vote) -> Battle:
    return vote.item, vote.model_a, vote.model_b, vote.rater


def _undecided(results: Sequence[Judged]) -> list[Judged]:
    """One for each showing of which a reply came, and none with a decision, however many replicates."""
    showings: dict[tuple[str, tuple[str, ...], str], Judged] = {}
    read: set[tuple[str, tuple[str, ...], str]] = set()
    for one in results:
        showing, verdict = (one.trial.item, one.trial.responses, one.trial.rater), one.judgement.verdict
        if not isinstance(verdict, NoVerdict):
            read.add(showing)
        elif not verdict.call_failed:
            showings.setdefault(showing, one)
    return [one for showing, one in showings.items() if showing not in read]


def _tie(one: Judged) -> Vote:
    """What the paper makes of a reply in which not even the extraction found a decision."""
    first, second = one.models
    low, high = sorted((first, second))
    return Vote(item=one.trial.item, model_a=low, model_b=high, first=first, value=0, levels=3, rater=one.trial.rater)
