"""What placing a model buys: how wide the interval of its rating is likely to be."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from evenhand.domain.identity import Json
from evenhand.domain.study import Study
from evenhand.format.words import counted
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.board import Board, BoardRow
from evenhand.reports.board.evidence import of_record
from evenhand.reports.board.ranking import board
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import reach

_OF_DECIDED = (
    "no board like it is on record, so it is worked out for decided, independent battles of equals, one verdict each: "
    "ties and second orders make it narrower, unequal opponents and items of several battles wider"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedInterval:
    points: float
    """To each side of the rating, at 95 %, by Bradley-Terry."""
    models: int
    """On record, whose intervals it is worked out from."""
    basis: str

    def as_json(self) -> dict[str, Json]:
        return {"points": round(self.points, 1), "models_on_record": self.models, "basis": self.basis}


def expected_interval(ledger: Ledger, study: Study, battles: int) -> ExpectedInterval | None:
    """Of a model placed by so many battles on the board that the study joins; None where there are none.

    An interval shrinks with the root of the battles, so those of the models on the board say what one battle is worth:
    what its judge decides at random, and how alike an item's verdicts are, is in them.
    """
    if not battles:
        return None
    on_record = _board_on_record(ledger, study)
    worth = [] if on_record is None else list(_worth(on_record, but_of=study.new))
    if not worth:
        points = reach(battles) * 2 * 400 / math.log(10) / math.sqrt(battles)
        return ExpectedInterval(points=points, models=0, basis=_OF_DECIDED)
    return ExpectedInterval(
        points=median(worth) / math.sqrt(battles),
        models=len(worth),
        basis=f"the intervals of {counted(len(worth), 'model')} on this board, by the root of their battles",
    )


def _board_on_record(ledger: Ledger, study: Study) -> Board | None:
    alike = [
        one
        for one in studies(ledger)
        if one.decided
        and (one.data, one.rater.key, one.condition.key, one.variant)
        == (study.data, study.rater, study.condition, study.variant)
    ]
    if not alike:
        return None
    try:
        return board(of_record(counted_battles(ledger, alike), 0))
    except RankError:
        return None


def _worth(on_record: Board, *, but_of: str | None) -> Iterator[float]:
    """The interval of each model's rating as if it had fought one battle, in as many orders as its battles had."""
    battles = on_record.findings.battles
    fought = np.bincount(np.concatenate([battles.model_a, battles.model_b]), minlength=len(battles.models))
    of_model = dict(zip(battles.models, fought.tolist(), strict=True))
    for row in on_record.models:
        half = _reach(row)
        if row.model != but_of and half is not None and of_model.get(row.model):
            yield half * math.sqrt(of_model[row.model])


def _reach(row: BoardRow) -> float | None:
    if row.rating.lower is None or row.rating.upper is None:
        return None
    return (row.rating.upper - row.rating.lower) / 2
