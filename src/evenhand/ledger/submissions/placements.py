"""Models that joined a board: whom they met when they were placed, and how far that has come."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, func, select

from evenhand.domain.identity import canonical_json
from evenhand.domain.placing import LookPlan
from evenhand.domain.rater import Rater
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import UNDECIDED
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementProgress:
    """Of a model that joins a board, in trials."""

    wanted: int
    reached: int
    """Asked or known: those with a result, and those that got no reply and will be asked again."""
    decided: int
    no_verdict: int
    """Those whose reply holds no decision; a result too."""
    looks: LookPlan | None = None
    """Of a model placed among its nearest, which may end before all that are wanted were asked."""

    @property
    def look(self) -> int:
        """How many looks its calls have come to."""
        done = self.decided + self.no_verdict
        return 0 if self.looks is None else sum(border <= done for border in self.looks.borders)

    @property
    def next_look(self) -> int | None:
        """After how many calls; None after the last."""
        borders = () if self.looks is None else self.looks.borders
        return borders[self.look] if self.look < len(borders) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardJudge:
    """Who judges a board, and how it is asked."""

    rater: Rater
    condition: Condition
    extractor: Rater | None
    """Who finds the decision in a reply that has no readable one; None where nobody does, or an old ledger forgot."""


def placements_like(ledger: Ledger, study: Study) -> list[Study]:
    """The studies on record that placed the same model alike, whatever its opponents; in the order of the record."""
    table = schema.studies
    query = select(table.c.content).where(
        table.c.data == study.data,
        table.c.purpose == study.purpose,
        table.c.rater == study.rater,
        table.c.condition == study.condition,
    )
    with ledger.reading() as connection:
        found = connection.execute(query.order_by(table.c.at)).scalars().all()
    return [one for one in map(rows.study_from, found) if one.pairing == "placing" and _draw(one) == _draw(study)]


def _draw(study: Study) -> tuple[object, ...]:
    """What the lots hang on, besides who can be drawn."""
    return study.new, study.battles, study.reference_battles, study.seed, study.variant


def studies_of(ledger: Ledger, board: BoardIdentity) -> list[Study]:
    """Those that make up the board, in the order of the record."""
    query = _contents(board).order_by(schema.studies.c.at)
    with ledger.reading() as connection:
        found = [rows.study_from(one) for one in connection.execute(query).scalars()]
    return [one for one in found if one.variant == board.variant]


def studies_count(ledger: Ledger, board: BoardIdentity) -> int:
    """How many studies make up the boards that differ in the variant alone; none of them ever changes, or goes. Without
    batches of placings: those whom they place are on nobody else's board."""
    # Written as `canonical_json` writes it.
    others = _contents(board).where(~schema.studies.c.content.contains('"looks":{', autoescape=True))
    with ledger.reading() as connection:
        return connection.execute(select(func.count()).select_from(others.subquery())).scalar_one()


def judge_of(ledger: Ledger, board: BoardIdentity) -> BoardJudge | None:
    """None before anything on the board was judged."""
    raters, conditions = schema.raters, schema.conditions
    with ledger.reading() as connection:
        asked = connection.execute(select(conditions).where(conditions.c.key == board.condition)).first()
        if asked is None:
            return None
        keys = [board.rater, asked.extractor or ""]
        found = {
            row.key: rows.rater_from(row) for row in connection.execute(select(raters).where(raters.c.key.in_(keys)))
        }
    if board.rater not in found:
        return None
    return BoardJudge(
        rater=found[board.rater], condition=rows.condition_from(asked), extractor=found.get(asked.extractor or "")
    )


def placing_progress(ledger: Ledger, board: BoardIdentity, label: str) -> PlacementProgress | None:
    """Of the model's last placing on this board; None before there is one."""
    links, made = schema.study_trials, schema.judgements
    with ledger.reading() as connection:
        placed = _joining(connection, board, label)
        if not placed:
            return None
        newest, wanted = placed[-1]
        looks = None if newest.looks is None else newest.looks.shared
        batches = [one.key for one, _ in placed if looks is not None and one.looks is not None]
        results = (
            select(links.c.trial, made.c.verdict.is_not(None), made.c.reason.in_(UNDECIDED))
            .outerjoin(made, made.c.trial == links.c.trial)
            .where(links.c.study.in_(batches or [newest.key]))
        )
        found = connection.execute(results).all()
    decided = {trial for trial, verdict, _ in found if verdict}
    undecided = {trial for trial, _, lacking in found if lacking} - decided
    return PlacementProgress(
        wanted=wanted if looks is None else looks.max_calls,
        reached=len({trial for trial, _, _ in found}),
        decided=len(decided),
        no_verdict=len(undecided),
        looks=looks,
    )


def placing_batches(ledger: Ledger, board: BoardIdentity, label: str) -> list[str]:
    """Keys of the studies by which the model was placed among its nearest, in the order of the record."""
    with ledger.reading() as connection:
        return [one.key for one, _ in _joining(connection, board, label) if one.looks is not None]


def _joining(connection: Connection, board: BoardIdentity, label: str) -> list[tuple[Study, int]]:
    """The studies that place this model on the board, in the order of the record, and how many trials each wants."""
    studies = schema.studies
    # Other studies hold thousands of digests each: only this model's are taken apart.
    joins = f'"new":{canonical_json(label)}'
    query = _contents(board).add_columns(studies.c.wanted).order_by(studies.c.at)
    found = connection.execute(query.where(studies.c.content.contains(joins, autoescape=True)))
    placed = [(rows.study_from(content), wanted) for content, wanted in found]
    return [(one, wanted) for one, wanted in placed if one.variant == board.variant]


def _contents(board: BoardIdentity) -> Select[Any]:
    table = schema.studies
    return select(table.c.content).where(
        table.c.data == board.data,
        table.c.purpose == "board",
        table.c.rater == board.rater,
        table.c.condition == board.condition,
    )
