"""Which showings make VisIT-Bench's battles: undecided ones are ties, and half a battle is none."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.domain.vote import Joining
from evenhand.format.words import counted
from evenhand.ledger.read.results import Results
from evenhand.ledger.read.vote_columns import Votes, ties, together
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.read.waiting import battle_codes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Played:
    votes: Votes
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
            else f"{self.waiting:,} battles wait for their other order and are left out"
        )
        return [f"{words}; the same `judge` command asks again."]

    def _about_undecided(self) -> list[str]:
        if not self.undecided:
            return []
        one = self.undecided == 1
        showings = counted(self.undecided, "showing has", "showings have")
        if self.dropped:
            battles = counted(self.dropped, "battle is", "battles are")
            return [f"{showings} no decision; by mt-bench's rule {battles} left out for it."]
        return [
            f"{showings} no decision and {'counts as a tie' if one else 'count as ties'} here, as published; "
            "nowhere else do they."
        ]


def played(judged: JudgedBattles, join: Joining) -> Played:
    results, waiting = judged.results, judged.waiting
    battle = battle_codes(results)
    undecided = _undecided(results)
    undecided = undecided[~waiting.rows[undecided]]
    dropped = np.unique(battle[undecided]) if join == "mt-bench" else np.zeros(0, dtype=np.int32)
    left_out = waiting.rows | np.isin(battle, dropped)
    kept = judged.voting[~left_out[judged.voting]]
    votes = judged.votes.rows(~left_out[judged.voting])
    if not len(dropped):
        # What the paper makes of a reply in which not even the extraction found a decision.
        votes = together(votes, ties(results.rows(undecided)))
        kept = np.concatenate([kept, undecided])
    shown = np.unique(np.stack([battle[kept], votes.first]), axis=1)[0]
    orders = np.unique(shown, return_counts=True)[1]
    return Played(
        votes=votes,
        undecided=len(undecided),
        waiting=len(waiting.battles),
        dropped=len(dropped),
        single=int(np.count_nonzero(orders == 1)),
        battles=len(orders),
    )


def _undecided(results: Results) -> npt.NDArray[np.intp]:
    """One row for each showing of which a reply came, and none with a decision, however many replicates."""
    read = np.zeros(int(results.showing.max(initial=-1)) + 1, dtype=np.bool_)
    read[results.showing[results.decided]] = True
    rows = np.flatnonzero(results.pair & ~results.decided & ~results.failed & ~read[results.showing])
    return np.sort(rows[np.unique(results.showing[rows], return_index=True)[1]])
