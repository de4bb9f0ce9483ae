"""What judging buys: how wide the intervals of ratings are likely to be, and how many models they tell apart."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np

from evenhand.domain.identity import Json
from evenhand.domain.study import Answers, Study, wanted_count, wanted_showings
from evenhand.format.words import counted, listed
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.board import BoardRow
from evenhand.reports.board.evidence import Evidence, of_record
from evenhand.reports.board.ranking import board
from evenhand.reports.board.withheld.batches import withheld_rows
from evenhand.reports.board.withheld.dealt import dealt
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import reach
from evenhand.stats.ratings.planned_widths import Likeness, PlannedVotes, likeness_of, planned_widths, strengths_of
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray

_OF_DECIDED = (
    "so it is worked out for decided, independent battles of equals, one verdict each: ties and second orders make "
    "it narrower, unequal opponents and items of several battles wider"
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

    def plan_json(self) -> dict[str, Json]:
        """As ExpectedBoard's, of one model that joins."""
        return {
            "points": round(self.points, 1),
            "models": {},
            "separated": None,
            "separable": None,
            "votes_on_record": None,
            "basis": self.basis,
        }

    def sentence(self) -> str:
        return f"It buys a rating within about ±{self.points:.0f} points (95 %); {self.basis}."


NO_RATINGS = "no ratings of this judge under this protocol are on record, and no --strengths FILE states any"
TOO_MANY = 500_000
"""Votes from which intervals are not foreseen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedBoard:
    """The intervals of a board once a run is over, with what it has on record already."""

    points: float | None
    """To each side of a rating, at 95 %, by Bradley-Terry: the mean of the models. None: it is not known."""
    models: Mapping[str, float] = field(default_factory=dict[str, float])
    """The same of each model."""
    separated: float | None = None
    """How many models are expected to be separated from the next on the list, at 95 % for all together."""
    votes: int = 0
    """On record, that it is worked out from."""
    basis: str

    def plan_json(self) -> dict[str, Json]:
        return {
            "points": None if self.points is None else round(self.points, 1),
            "models": {name: round(points, 1) for name, points in self.models.items()},
            "separated": None if self.separated is None else round(self.separated, 2),
            "separable": None if self.separated is None else len(self.models) - 1,
            "votes_on_record": self.votes,
            "basis": self.basis,
        }

    def sentence(self) -> str:
        if self.points is None or self.separated is None:
            return f"What it buys is not known: {self.basis}."
        return (
            f"It buys ratings within about ±{self.points:.0f} points (95 %, the mean of {len(self.models)} models), "
            f"and about {self.separated:.1f} of {counted(len(self.models) - 1, 'neighbour')} on the list separated; "
            f"{self.basis}."
        )


def expected_board(
    ledger: Ledger, study: Study, answers: Answers, *, strengths: Mapping[str, float] | None = None
) -> ExpectedBoard:
    """Of all votes that the study wants, with those on record on the same board.

    `strengths`: ratings in points, in place of those on record; how alike an item's votes are is the record's, where it
    has some, else the two orders of a battle count as one and battles as independent.
    """
    evidence = _evidence_on_record(ledger, study)
    if evidence is not None and not len(evidence.shown):
        evidence = None
    if evidence is None and strengths is None:
        return ExpectedBoard(points=None, basis=NO_RATINGS)
    if wanted_count(study, answers) > TOO_MANY:
        return ExpectedBoard(points=None, basis=f"more than {TOO_MANY:,} votes are not foreseen")
    rows = set(wanted_showings(study, answers)) | _rows_on_record(evidence)
    names = sorted({model for _, *pair in rows for model in pair})
    strength, likeness, read = np.zeros(len(names)), Likeness(), 1.0
    if evidence is not None:
        found = strengths_of(evidence.shown)
        likeness = likeness_of(evidence.shown, found)
        of_model = dict(zip(evidence.shown.models, found.tolist(), strict=True))
        strength = np.array([of_model.get(name, 0.0) for name in names])
        read = _read(evidence)
    if strengths is not None:
        strength = _stated(strengths, names)
    widths = planned_widths(_votes(rows, names), strength, likeness, read=read)
    known = {name: float(half) for name, half in zip(names, widths.half, strict=True) if math.isfinite(half)}
    return ExpectedBoard(
        points=float(np.mean(list(known.values()))) if known else None,
        models=known,
        separated=widths.separated,
        votes=0 if evidence is None else len(evidence.shown),
        basis=_board_basis(evidence, stated=strengths is not None),
    )


def _board_basis(evidence: Evidence | None, *, stated: bool) -> str:
    ratings = "the stated strengths" if stated else "the ratings on record, drawn towards their mean"
    if evidence is None:
        return f"by {ratings}; the two orders of a battle count as one vote, and battles as independent"
    votes = counted(len(evidence.shown), "vote")
    return f"by {ratings}, and by how alike the votes of an item are in {votes} on record"


def _stated(strengths: Mapping[str, float], names: list[str]) -> FloatArray:
    if missing := [name for name in names if name not in strengths]:
        raise RankError(f"--strengths has no rating of {listed(missing, most=6)}, who plays here; add a row for each.")
    return np.array([strengths[name] for name in names]) / Scale().unit


def _read(evidence: Evidence) -> float:
    """The share of what was asked that has a verdict."""
    told = evidence.coverage.with_verdict + sum(evidence.coverage.reasons.values())
    return evidence.coverage.with_verdict / told if told else 1.0


def _rows_on_record(evidence: Evidence | None) -> set[tuple[str, str, str]]:
    """Item and the two models, as they were shown."""
    if evidence is None or evidence.item_names is None or (item := evidence.shown.item) is None:
        return set()
    shown, items = evidence.shown, evidence.item_names()
    swapped = np.zeros(len(shown), dtype=np.bool_) if shown.first is None else shown.first < 0
    left = np.where(swapped, shown.model_b, shown.model_a).tolist()
    right = np.where(swapped, shown.model_a, shown.model_b).tolist()
    numbers: list[int] = item.tolist()
    return {
        (items[number], shown.models[one], shown.models[other])
        for number, one, other in zip(numbers, left, right, strict=True)
    }


def _votes(rows: set[tuple[str, str, str]], names: list[str]) -> PlannedVotes:
    ordered = sorted(rows)
    number = {name: code for code, name in enumerate(names)}
    item = np.unique(np.array([row[0] for row in ordered]), return_inverse=True)[1].ravel()
    sides = [np.array([number[row[side]] for row in ordered], dtype=np.int64) for side in (1, 2)]
    return PlannedVotes(models=len(names), item=item.astype(np.int64), model_a=sides[0], model_b=sides[1])


def expected_interval(
    ledger: Ledger, study: Study, answers: Answers, *, withheld: bool = False
) -> ExpectedInterval | None:
    """Of the model that the study places on a board; None where it fights no battle. `withheld`: whether it is told to
    somebody who may know nothing of single battles against the reference: then it rests on the others alone, for
    intervals of all would tell which of those were won.

    The intervals of the models on the board are taken as they came, and grow or shrink as they are foreseen to with who
    meets whom on which item: many battles on few items tell less than as many on many.
    """
    if withheld:
        study, answers = _renamed(study, answers)
    wanted = set(wanted_showings(study, answers))
    if not wanted:
        return None
    evidence = _evidence_on_record(ledger, study, withheld=withheld)
    large = evidence is not None and len(evidence.shown) > TOO_MANY
    worth = [] if evidence is None or large else list(_worth(evidence, wanted, new=study.new))
    if not worth:
        why = "no board like it is on record" if evidence is None else "no model on this board has an interval"
        why = f"more than {TOO_MANY:,} votes are on record" if large else why
        battles = len({(item, *sorted(pair)) for item, *pair in wanted})
        points = reach(battles) * 2 * 400 / math.log(10) / math.sqrt(battles)
        return ExpectedInterval(points=points, models=0, basis=f"{why}, {_OF_DECIDED}")
    return ExpectedInterval(
        points=median(worth),
        models=len(worth),
        basis=f"by the intervals of {counted(len(worth), 'model')} on this board, and by who meets whom on which item",
    )


def _renamed(study: Study, answers: Answers) -> tuple[Study, Answers]:
    """Lots hang on the new model's name: by another name the interval tells nothing of whom it will really meet."""
    assert study.new is not None
    name = {study.new: "the model that joins"}
    return (
        replace(study, new=name[study.new], models=tuple(name.get(model, model) for model in study.models)),
        {item: {name.get(model, model): one for model, one in given.items()} for item, given in answers.items()},
    )


def _worth(evidence: Evidence, wanted: set[tuple[str, str, str]], *, new: str | None) -> Iterator[float]:
    """The interval that each model has, as it would be of the new one's battles."""
    try:
        on_record = board(evidence)
    except RankError:
        return
    rows = _rows_on_record(evidence)
    if not rows:
        return
    found = strengths_of(evidence.shown)
    of_model = dict(zip(evidence.shown.models, found.tolist(), strict=True))
    likeness, read = likeness_of(evidence.shown, found).bounded, _read(evidence)

    def foreseen(rows: set[tuple[str, str, str]], read: float) -> dict[str, float]:
        names = sorted({model for _, *pair in rows for model in pair})
        strength = np.array([of_model.get(name, 0.0) for name in names])
        widths = planned_widths(_votes(rows, names), strength, likeness, read=read)
        return dict(zip(names, widths.half.tolist(), strict=True))

    before, after = foreseen(rows, 1.0), foreseen(rows | wanted, read)
    for row in on_record.models:
        half, planned = _reach(row), before.get(row.model)
        if new is not None and row.model != new and half is not None and planned:
            yield half * after[new] / planned


def _evidence_on_record(ledger: Ledger, study: Study, *, withheld: bool = False) -> Evidence | None:
    """None where no board like the study's is on record."""
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
        judged = counted_battles(ledger, alike)
        if withheld:
            hidden = withheld_rows(judged)
            judged = dealt(judged, (), ~hidden, hidden)
        return of_record(judged, 0)
    except RankError:
        return None


def _reach(row: BoardRow) -> float | None:
    if row.rating.lower is None or row.rating.upper is None:
        return None
    return (row.rating.upper - row.rating.lower) / 2
