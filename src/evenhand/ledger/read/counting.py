"""Which of a trial's judgements counts: the first verdict got, else the last reason there is none."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, func, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import Integers
from evenhand.stats.ratings.codes import all_differ


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
        if all_differ(self.place):
            return np.zeros(len(self.place), dtype=np.bool_)
        return np.bincount(self.place)[self.place] > 1

    def counting(self) -> npt.NDArray[np.intp] | slice:
        """The row that counts of each place, in the order of the record; all as a slice."""
        contested = self.contested
        if not contested.any():
            return slice(None)
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


_LINKS, _STUDIES = schema.study_trials.c, schema.studies.c
_GROUPED = select(_LINKS.study, func.count()).group_by(_LINKS.study)
_LARGEST = select(_STUDIES.key).order_by(_STUDIES.wanted.desc()).limit(1)
_ALL = select(func.count()).select_from(schema.study_trials)
_OF_ONE = select(func.count()).where(_LINKS.study == bindparam("one"))
_NEXT = select(func.min(_LINKS.study)).where(_LINKS.study > bindparam("one"))


def links_by_study(connection: Connection) -> dict[str, int]:
    """Of each study that has any, how many trials are linked to it: counted in the links alone, as to look up the trial
    of each takes ten times as long."""
    if connection.dialect.name != "sqlite":
        # In one statement: of several each may see more of what others write meanwhile.
        return dict(connection.execute(_GROUPED).all())
    # SQLite takes four times as long to group them as to count them: of the largest study they are those left.
    largest = connection.execute(_LARGEST).scalar()
    left: int = connection.execute(_ALL).scalar_one()
    found: dict[str, int] = {}
    study = connection.execute(_NEXT, {"one": ""}).scalar()
    while study is not None:
        if study != largest:
            found[study] = connection.execute(_OF_ONE, {"one": study}).scalar_one()
            left -= found[study]
        study = connection.execute(_NEXT, {"one": study}).scalar()
    if largest is not None and left:
        found[largest] = left
    return found
