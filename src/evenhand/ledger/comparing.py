"""One person's comparisons: what they are shown, what they said, and saying it anew; nothing said is overwritten."""

import json
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from evenhand.domain.comparing import FORMS, Form
from evenhand.domain.identity import canonical_json
from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Preference
from evenhand.ledger import rows, schema
from evenhand.ledger.lookup import find_item, responses_by_digest
from evenhand.ledger.record import Ledger

READER = "form"


class Paused(Exception):
    """The study takes no judgement at this moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A person's share of a study."""

    id: str
    study: str
    title: str
    benchmark: str
    form: Form
    person: str
    paused: bool
    tasks: int
    judged: int

    @property
    def done(self) -> bool:
        return self.judged == self.tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person said of one task."""

    choice: str | None
    """The last; None where they said nothing yet."""
    times: int
    """How often they said something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One comparison as its person may see it: no model is named, and nothing that stands for one."""

    number: int
    item: Item
    answers: tuple[str, str]
    """In the order shown."""
    said: Said


def places_of(ledger: Ledger, person: str) -> list[Place]:
    """The newest first."""
    table = schema.people_places
    query = _places().where(table.c.person == person).order_by(table.c.at.desc(), table.c.id)
    with ledger.reading() as connection:
        return [_place(row) for row in connection.execute(query)]


def find_place(ledger: Ledger, place: str) -> Place | None:
    """None too for one that nobody has taken."""
    table = schema.people_places
    with ledger.reading() as connection:
        row = connection.execute(_places().where(table.c.id == place, table.c.person.is_not(None))).first()
    return None if row is None else _place(row)


def _places() -> Select[Any]:
    table, tasks, studies, made = (
        schema.people_places,
        schema.people_tasks,
        schema.people_studies,
        schema.judgements,
    )
    judged = select(made.c.trial).where(made.c.trial == tasks.c.trial, made.c.verdict.is_not(None)).exists()
    mine = tasks.c.place == table.c.id
    return select(
        table,
        studies.c.title,
        studies.c.benchmark,
        studies.c.form,
        studies.c.paused,
        select(func.count()).select_from(tasks).where(mine).scalar_subquery().label("tasks"),
        select(func.count()).select_from(tasks).where(mine, judged).scalar_subquery().label("judged"),
    ).join(studies, studies.c.id == table.c.study)


def _place(row: Row[Any]) -> Place:
    return Place(
        id=row.id,
        study=row.study,
        title=row.title,
        benchmark=row.benchmark,
        form=FORMS[row.form],
        person=row.person,
        paused=row.paused is not None,
        tasks=row.tasks,
        judged=row.judged,
    )


def find_task(ledger: Ledger, place: Place, number: int) -> Task | None:
    with ledger.reading() as connection:
        row = _task(connection, place, number)
        if row is None:
            return None
        said = _said(connection, row.trial, place.form)
    texts = responses_by_digest(ledger, (row.first, row.second))
    return Task(
        number=number,
        item=find_item(ledger, row.item),
        answers=(texts[row.first].text, texts[row.second].text),
        said=said,
    )


def choices(ledger: Ledger, place: Place) -> list[str | None]:
    """Of every task in its order: what the person said last, None where nothing."""
    tasks, made = schema.people_tasks, schema.judgements
    query = (
        select(tasks.c.number, made.c.verdict)
        .outerjoin(made, (made.c.trial == tasks.c.trial) & made.c.verdict.is_not(None))
        .where(tasks.c.place == place.id)
        .order_by(tasks.c.number, made.c.seq)
    )
    with ledger.reading() as connection:
        newest = {number: verdict for number, verdict in connection.execute(query)}
    return [None if verdict is None else place.form.code(_preference(verdict)) for verdict in newest.values()]


def say(ledger: Ledger, place: Place, number: int, verdict: Preference, *, after: int | None = None) -> Said | None:
    """Puts a judgement on record beside those before; None where there is no such task. Raises Paused.

    `after`: how often the person had said something when they were asked. The same words after the same number are the
    same form sent again, and change nothing; nor does saying what was said last.
    """
    with ledger.writing() as connection:
        row = _task(connection, place, number, writing=True)
        if row is None:
            return None
        if row.paused is not None:
            raise Paused
        known = _all_said(connection, row.trial)
        if (after, verdict) not in known and (not known or known[-1][1] != verdict):
            _put_down(ledger, connection, row, verdict, after=len(known) if after is None else after)
        if not known:
            _end_when_all_is_said(ledger, connection, row)
        return _said(connection, row.trial, place.form)


def _put_down(ledger: Ledger, connection: Connection, row: Row[Any], verdict: Preference, *, after: int) -> None:
    form = FORMS[row.form]
    trial = Trial(item=row.item, responses=(row.first, row.second), rater=row.rater, condition=form.condition.key)
    assert trial.key == row.trial
    judgement = Judgement(
        trial=trial.key, verdict=verdict, reader=READER, calls=(), run=row.run, at=time.time(), notes={"after": after}
    )
    ledger.insert_new(connection, schema.trials, [rows.trial_row(trial)])
    ledger.insert_new(connection, schema.study_trials, [{"study": row.record, "trial": trial.key}])
    ledger.insert_new(connection, schema.judgements, [rows.judgement_row(judgement)])


def _end_when_all_is_said(ledger: Ledger, connection: Connection, row: Row[Any]) -> None:
    of_place = connection.execute(_places().where(schema.people_places.c.id == row.place)).one()
    if of_place.judged == of_place.tasks:
        outcome = canonical_json({"known": 0, "called": of_place.tasks, "failed": {}})
        ledger.insert_new(connection, schema.run_ends, [{"run": row.run, "outcome": outcome, "at": time.time()}])


def _task(connection: Connection, place: Place, number: int, *, writing: bool = False) -> Row[Any] | None:
    """With what of its place and study a judgement needs."""
    table, tasks, studies, record = (
        schema.people_places,
        schema.people_tasks,
        schema.people_studies,
        schema.studies,
    )
    query = (
        select(tasks, table.c.run, table.c.record, studies.c.form, studies.c.paused, record.c.rater)
        .join(table, table.c.id == tasks.c.place)
        .join(studies, studies.c.id == table.c.study)
        .join(record, record.c.key == table.c.record)
        .where(tasks.c.place == place.id, tasks.c.number == number)
    )
    # On PostgreSQL two forms sent at once would both find nothing before them.
    return connection.execute(query.with_for_update(of=tasks) if writing else query).first()


def _all_said(connection: Connection, trial: str) -> list[tuple[int | None, Preference]]:
    """In the order it was said, each with how often something had been said when the person was asked."""
    table = schema.judgements
    there = (table.c.trial == trial, table.c.verdict.is_not(None))
    query = select(table.c.verdict, table.c.notes).where(*there).order_by(table.c.seq)
    return [(json.loads(notes).get("after"), _preference(verdict)) for verdict, notes in connection.execute(query)]


def _said(connection: Connection, trial: str, form: Form) -> Said:
    said = _all_said(connection, trial)
    return Said(choice=form.code(said[-1][1]) if said else None, times=len(said))


def _preference(verdict: str) -> Preference:
    found = rows.verdict_of(verdict, None, "")
    assert isinstance(found, Preference)
    return found
