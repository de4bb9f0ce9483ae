"""Studies for people: made by an owner as so many places with their tasks, taken place by place, and followed."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, func, insert, select, update

from evenhand import __version__
from evenhand.domain.identity import canonical_json
from evenhand.domain.response import REFERENCE
from evenhand.domain.study import Study
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Preference
from evenhand.domain.vote import Vote
from evenhand.ledger.read.answers import response_models, standing_responses
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.links import changing
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.statements import insert_all
from evenhand.site.accounts.store import Person
from evenhand.site.http.audit_log import LogEvent, write_down_within
from evenhand.site.people.comparisons import answered
from evenhand.site.people.forms import AskedStudy, Conduct, QuestionForm, conduct_of
from evenhand.site.people.plan import PeopleStudyError, plan_people_study


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleStudy:
    id: str
    title: str
    benchmark: str
    data: str
    form: QuestionForm
    asked: Mapping[str, Any]
    """As the owner asked for it."""
    conduct: Conduct
    comparisons: int
    at: float
    paused: bool
    closed: bool
    """By the owner: it takes no more judgements, and everybody may see its board."""
    shown: bool
    """Whether its board is shown while it runs."""
    counts: bool
    """Whether it counts on the board that all studies of the benchmark share."""
    places: int
    taken: int

    @property
    def seen(self) -> bool:
        """Whether everybody may see its board."""
        return self.closed or self.shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareProgress:
    """How far one place has got."""

    place: str
    number: int
    person: str | None
    tasks: int
    judged: int
    last: float | None
    """When they judged last."""


def make_people_study(ledger: Ledger, asked: AskedStudy, *, made_by: str | None) -> str:
    """The study's id, with all its places and tasks, or nothing; raises PeopleStudyError."""
    planned = plan_people_study(ledger, asked)
    benchmark, wanted = planned.benchmark, planned.comparisons
    ledger.add_responses(list(planned.references))
    study = secrets.token_hex(6)
    row = {
        "id": study,
        "title": asked.title or benchmark.name,
        "benchmark": benchmark.name,
        "data": benchmark.data,
        "form": asked.form,
        "asked": canonical_json(asked.as_json()),
        "comparisons": len(wanted),
        "made_by": made_by,
        "at": time.time(),
        "paused": None,
    }
    places = [
        {"id": secrets.token_hex(8), "study": study, "number": number, "person": None}
        for number in range(len(planned.shares))
    ]
    tasks = [
        {
            "place": place["id"],
            "number": number,
            "item": one.item,
            "first": one.first,
            "second": one.second,
            "probability": one.probability,
            "kind": one.kind,
            "expected": one.expected,
            "why": one.why or None,
            "trial": None,
        }
        for place, share in zip(places, planned.shares, strict=True)
        for number, one in enumerate(share, start=1)
    ]
    with ledger.writing() as connection:
        insert_all(connection, schema.people_studies, [row])
        insert_all(connection, schema.people_places, places)
        connection.execute(insert(schema.people_tasks), tasks)
    return study


def people_studies(ledger: Ledger) -> list[PeopleStudy]:
    """The newest first."""
    with ledger.reading() as connection:
        return [_study(row) for row in connection.execute(_STUDIES)]


def find_people_study(ledger: Ledger, study: str) -> PeopleStudy | None:
    if "\x00" in study:  # PostgreSQL takes no question about such a name
        return None
    with ledger.reading() as connection:
        row = connection.execute(_STUDY, {"study_": study}).first()
    return None if row is None else _study(row)


def _studies() -> Select[Any]:
    table, places = schema.people_studies, schema.people_places
    return (
        select(table, func.count(places.c.id).label("places"), func.count(places.c.person).label("taken"))
        .join(places, places.c.study == table.c.id)
        .group_by(*table.c)
        .order_by(table.c.at.desc(), table.c.id)
    )


def _study(row: Row[Any]) -> PeopleStudy:
    return PeopleStudy(
        id=row.id,
        title=row.title,
        benchmark=row.benchmark,
        data=row.data,
        form=conduct_of(row.asked).form(row.form),
        asked=json.loads(row.asked),
        conduct=conduct_of(row.asked),
        comparisons=row.comparisons,
        at=row.at,
        paused=row.paused is not None,
        closed=row.closed is not None,
        shown=row.shown is not None,
        counts=row.aside is None,
        places=row.places,
        taken=row.taken,
    )


def pause_people_study(ledger: Ledger, study: str, *, paused: bool) -> bool:
    """Whether there is such a study; while it is paused it can be looked at, and takes no judgement."""
    table = schema.people_studies
    with ledger.writing() as connection:
        asked = update(table).where(table.c.id == study).values(paused=time.time() if paused else None)
        return connection.execute(asked).rowcount == 1


def remove_people_study(ledger: Ledger, study: str) -> bool:
    """Whether it was removed: one in which somebody has a place stays."""
    table, places, tasks = schema.people_studies, schema.people_places, schema.people_tasks
    in_study = select(places.c.id).where(places.c.study == study)
    with ledger.writing() as connection:
        hold_study(connection, study)
        if connection.execute(in_study.where(places.c.person.is_not(None))).first() is not None:
            return False
        connection.execute(delete(tasks).where(tasks.c.place.in_(in_study)))
        with changing(connection, places, places.c.study == study), changing(connection, table, table.c.id == study):
            connection.execute(delete(places).where(places.c.study == study))
            return connection.execute(delete(table).where(table.c.id == study)).rowcount == 1


def hold_study(connection: Connection, study: str) -> PeopleStudy | None:
    """Until the end of the transaction nobody else takes, frees or adds a place, changes the question or removes it."""
    connection.execute(_TO_CHANGE, {"study_": study})
    row = connection.execute(_STUDY, {"study_": study}).first()
    return None if row is None else _study(row)


def take_place(ledger: Ledger, study: str, person: Person, *, log: LogEvent | None = None) -> str:
    """The id of the person's place, which is the same every time; raises PeopleStudyError where none is free.

    `log`: what the audit log is told. All of it is one commit, as many people begin at one moment and each commit
    waits for the disk.
    """
    with ledger.writing() as connection:
        held = hold_study(connection, study)
        place = connection.execute(_THEIRS, {"study_": study, "person_": person.id}).first()
        found = place or connection.execute(_FREE, {"study_": study}).first()
        if held is None or found is None:
            raise PeopleStudyError("Every place in this study is taken.")
        if found.record is None:  # also where an earlier version was killed when the place was theirs
            _put_on_record(ledger, connection, found, person, of_study=held)
        if log is not None:
            write_down_within(connection, log)
    return found.id


# Built once, as many people begin at one moment: building them takes longer than running them.
_studies_, _places, _tasks = schema.people_studies.c, schema.people_places.c, schema.people_tasks.c
_of_place = _places.study == bindparam("study_")
_STUDIES = _studies()
_STUDY = _STUDIES.where(_studies_.id == bindparam("study_"))
_THEIRS = select(schema.people_places).where(_of_place, _places.person == bindparam("person_"))
_FREE = select(schema.people_places).where(_of_place, _places.person.is_(None)).order_by(_places.number).limit(1)
# On PostgreSQL several servers write at once.
_TO_CHANGE = select(_studies_.id).where(_studies_.id == bindparam("study_")).with_for_update()
_TAKE = (
    update(schema.people_places)
    .where(_places.id == bindparam("place_"))
    .values(
        person=bindparam("person_"),
        at=bindparam("at_"),
        replicate=bindparam("replicate_"),
        record=bindparam("record_"),
        run=bindparam("run_"),
        checks=bindparam("checks_"),
    )
)
_one, _other = schema.responses.alias(), schema.responses.alias()
_TASKS_OF = (
    select(
        _tasks.number,
        _tasks.item,
        _tasks.first,
        _tasks.second,
        _tasks.kind,
        _one.c.model,
        _other.c.model.label("other"),
    )
    .join(_one, _one.c.digest == _tasks.first)
    .join(_other, _other.c.digest == _tasks.second)
    .where(_tasks.place == bindparam("place_"))
    .order_by(_tasks.number)
)
_TRIAL_OF_TASK = (
    update(schema.people_tasks)
    .where(_tasks.place == bindparam("place_"), _tasks.number == bindparam("number_"))
    .values(trial=bindparam("trial_"))
)
_BEGUN = (
    select(func.count())
    .select_from(schema.runs.join(schema.studies, schema.studies.c.key == schema.runs.c.study))
    .where(
        schema.studies.c.data == bindparam("data_"),
        schema.studies.c.rater == bindparam("rater_"),
        schema.studies.c.condition == bindparam("condition_"),
    )
    .scalar_subquery()
)
_HELD = (
    select(func.max(_places.replicate))
    .join(schema.people_studies, _studies_.id == _places.study)
    .where(
        _places.person == bindparam("person_"),
        _studies_.data == bindparam("data_"),
        _studies_.form == bindparam("form_"),
    )
    .scalar_subquery()
)
_BEFORE = select(_BEGUN, _HELD)


def _replicate(connection: Connection, study: PeopleStudy, person: Person) -> int:
    """How often the person has taken a place in a study of the same data and form: never the same number twice."""
    asked = {
        "data_": study.data,
        "rater_": person.rater.key,
        "condition_": study.form.condition.key,
        "person_": person.id,
        "form_": study.form.name,
    }
    # A kill may have left a place of theirs that is not on record yet.
    begun, last = connection.execute(_BEFORE, asked).one()
    return max(begun, 0 if last is None else last + 1)


def _put_on_record(
    ledger: Ledger, connection: Connection, place: Row[Any], person: Person, *, of_study: PeopleStudy
) -> None:
    """The place as this person's, and their share as a Study of theirs."""
    replicate = _replicate(connection, of_study, person) if place.person is None else place.replicate
    condition, rater = of_study.form.condition, person.rater
    tasks = connection.execute(_TASKS_OF, {"place_": place.id}).all()
    trials = {
        row.number: Trial(
            item=row.item,
            responses=(row.first, row.second),
            rater=rater.key,
            condition=condition.key,
            replicate=replicate,
        )
        for row in tasks
    }
    showings = tuple((row.item, row.model, row.other) for row in tasks if row.kind is None)
    checked = tuple((row.item, row.model, row.other) for row in tasks if row.kind is not None)
    record = share_of(of_study, person, showings, replicate=replicate)
    ledger.register_study_within(connection, record, rater=rater, condition=condition, wanted=len(showings))
    checks = replace(share_of(of_study, person, checked, replicate=replicate), purpose="check") if checked else None
    if checks is not None:
        ledger.register_study_within(connection, checks, rater=rater, condition=condition, wanted=len(checked))
    settings = {"benchmark": of_study.benchmark, "judge": person.label, "study": of_study.id}
    run = ledger.begin_run_within(connection, "compare", settings, study=record.key, version=__version__)
    keys = [{"place_": place.id, "number_": number, "trial_": trial.key} for number, trial in trials.items()]
    connection.execute(_TRIAL_OF_TASK, keys)
    at = time.time() if place.person is None else place.at
    taken = {"person_": person.id, "at_": at, "replicate_": replicate, "record_": record.key, "run_": run}
    taken["checks_"] = None if checks is None else checks.key
    with changing(connection, schema.people_places, _places.id == place.id):
        connection.execute(_TAKE, {"place_": place.id, **taken})


def share_of(
    study: PeopleStudy, person: Person, showings: tuple[tuple[str, str, str], ...], *, replicate: int
) -> Study:
    """Exactly the showings that the person will see."""
    models = {model for _, *pair in showings for model in pair}
    return Study(
        benchmark=study.benchmark,
        data=study.data,
        items=tuple(dict.fromkeys(item for item, _, _ in showings)),
        models=tuple(sorted(models, key=lambda model: (model == REFERENCE, model))),
        rater=person.rater.key,
        condition=study.form.condition.key,
        pairing="given",
        against=study.asked["against"],
        showings=showings,
        orders="random",
        first_replicate=replicate,
        seed=study.asked["seed"],
        purpose="people",
    )


def progress(ledger: Ledger, study: str) -> list[ShareProgress]:
    """Of every place, in their order."""
    table, tasks, made = schema.people_places, schema.people_tasks, schema.judgements
    in_study = select(tasks.c.trial).join(table, table.c.id == tasks.c.place).where(table.c.study == study, answered())
    last = (
        select(made.c.trial, func.max(made.c.at).label("at"))
        .where(made.c.trial.in_(in_study))
        .group_by(made.c.trial)
        .subquery()
    )
    query = (
        select(
            table,
            func.count(tasks.c.number).label("tasks"),
            func.count(last.c.trial).label("judged"),
            func.max(last.c.at).label("last"),
        )
        .join(tasks, tasks.c.place == table.c.id)
        .outerjoin(last, last.c.trial == tasks.c.trial)
        .where(table.c.study == study)
        .group_by(*table.c)
        .order_by(table.c.number)
    )
    with ledger.reading() as connection:
        return [
            ShareProgress(
                place=row.id, number=row.number, person=row.person, tasks=row.tasks, judged=row.judged, last=row.last
            )
            for row in connection.execute(query)
        ]


def people_votes(ledger: Ledger, study: str) -> list[Vote]:
    """What each person said last of each comparison whose answers still stand; the rater is the person's id."""
    table, tasks, made = schema.people_places, schema.people_tasks, schema.judgements
    query = (
        select(table.c.person, tasks.c.item, tasks.c.first, tasks.c.second, made.c.verdict, tasks.c.trial)
        .join(tasks, tasks.c.place == table.c.id)
        .join(made, made.c.trial == tasks.c.trial)
        .where(table.c.study == study, tasks.c.kind.is_(None))
        .order_by(made.c.seq)
    )
    with ledger.reading() as connection:
        said = {row.trial: row for row in connection.execute(query)}
    standing = standing_responses(ledger, {row.item for row in said.values()})
    newest = {trial: row for trial, row in said.items() if {row.first, row.second} <= standing}
    models = response_models(ledger, {digest for row in newest.values() for digest in (row.first, row.second)})
    return [
        Vote(
            item=row.item,
            model_a=models[row.first],
            model_b=models[row.second],
            first=models[row.first],
            value=verdict.value,
            levels=verdict.levels,
            rater=row.person,
        )
        for row in newest.values()
        if row.verdict is not None
        if isinstance(verdict := rows.verdict_of(row.verdict, None, ""), Preference)
    ]
