"""Which of a trial's judgements counts: the first verdict got, else the last reason there is none."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenhand.ledger.store.columns import Integers


class TrialOutcome(NamedTuple):
    """How a trial ended."""

    attempt: int
    decided: bool
    """Whether there is a verdict."""
    failed: bool
    """Whether no reply came."""


def supersedes(new: TrialOutcome, old: TrialOutcome) -> bool:
    """Whether a judgement takes the place of one that came before it."""
    if new.failed:
        return old.failed
    if new.attempt == old.attempt:
        return True  # read again by a newer reader, or a person changed their mind
    # A newer reader may find a verdict in an earlier attempt: the first got counts.
    return not old.decided or (new.decided and new.attempt < old.attempt)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrialOutcomes:
    """Of judgements in the order of the record."""

    place: Integers
    """Judgements with the same number are of one trial, however often it was asked."""
    attempt: Integers
    decided: npt.NDArray[np.bool_]
    failed: npt.NDArray[np.bool_]

    @property
    def contested(self) -> npt.NDArray[np.bool_]:
        """The rows of a trial that has several."""
        return np.bincount(self.place)[self.place] > 1

    def counting(self) -> npt.NDArray[np.intp]:
        """The row that counts of each place, in the order of the record."""
        contested = self.contested
        best: dict[int, tuple[int, TrialOutcome]] = {}
        rows = np.flatnonzero(contested)
        for row, place, *ended in zip(
            rows.tolist(),
            self.place[rows].tolist(),
            self.attempt[rows].tolist(),
            self.decided[rows].tolist(),
            self.failed[rows].tolist(),
            strict=True,
        ):
            outcome = TrialOutcome(*ended)
            before = best.get(place)
            if before is None or supersedes(outcome, before[1]):
                best[place] = row, outcome
        won = np.fromiter((row for row, _ in best.values()), np.intp, len(best))
        return np.sort(np.concatenate([np.flatnonzero(~contested), won]))
