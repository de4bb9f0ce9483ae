"""One person's comparisons: what they are shown, what they said, and saying it anew; nothing said is overwritten."""

import hmac
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, select

from evenhand.domain.identity import canonical_json
from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.lookup import LABEL
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.forms import FORMS, QuestionForm

READER = "form"


class Paused(Exception):
    """The study takes no judgement at this moment, or none any more."""


class Overtaken(Exception):
    """Something else was said since the person was asked, by another window of theirs or by a script."""

    def __init__(self, said: "ChosenAnswer") -> None:
        super().__init__()
        self.said = said


class ShownAnew(Exception):
    """What stands at this number is not what the person was shown: an answer was replaced, or a place divided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonShare:
    """A person's share of a study."""

    id: str
    study: str
    title: str
    benchmark: str
    data: str
    form: QuestionForm
    person: str
    paused: bool
    closed: bool
    tasks: int
    judged: int

    @property
    def done(self) -> bool:
        return self.judged == self.tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenAnswer:
    """What a person said of one task."""

    choice: str | None
    """The last; None where they said nothing yet."""
    times: int
    """How often they said something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTask:
    """One comparison as its person may see it: no model is named, and nothing that stands for one."""

    number: int
    item: Item
    answers: tuple[str, str]
    """In the order shown."""
    showing: str
    """Comes back with what is said, which is then about these answers in this order; it tells nothing of them."""
    said: ChosenAnswer


def places_of(ledger: Ledger, person: str) -> list[PersonShare]:
    """The newest first."""
    with ledger.reading() as connection:
        return [_place(row) for row in connection.execute(_PLACES_OF, {"person_": person})]


def find_place(ledger: Ledger, place: str) -> PersonShare | None:
    """None too for one that nobody has taken."""
    with ledger.reading() as connection:
        row = connection.execute(_TAKEN_PLACE, {"place_": place}).first()
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
        studies.c.data,
        studies.c.form,
        studies.c.paused,
        studies.c.closed,
        select(func.count()).select_from(tasks).where(mine).scalar_subquery().label("tasks"),
        select(func.count()).select_from(tasks).where(mine, judged).scalar_subquery().label("judged"),
    ).join(studies, studies.c.id == table.c.study)


# Made once: whoever compares sends these with every click, and making one costs more than SQLite's answer to it.
_PLACES_OF = (
    _places()
    .where(schema.people_places.c.person == bindparam("person_"))
    .order_by(schema.people_places.c.at.desc(), schema.people_places.c.id)
)
_TAKEN_PLACE = _places().where(
    schema.people_places.c.id == bindparam("place_"), schema.people_places.c.person.is_not(None)
)
_ONE_TASK = (schema.people_tasks.c.place == bindparam("place_"), schema.people_tasks.c.number == bindparam("number_"))
_first, _second = schema.responses.alias(), schema.responses.alias()
_SHOWN_TASK = (
    select(
        schema.people_tasks.c.item,
        schema.people_tasks.c.trial,
        schema.items.c.content,
        LABEL.label("label"),
        _first.c.text,
        _second.c.text.label("other"),
    )
    .join(schema.items, schema.items.c.digest == schema.people_tasks.c.item)
    .join(_first, _first.c.digest == schema.people_tasks.c.first)
    .join(_second, _second.c.digest == schema.people_tasks.c.second)
    .where(*_ONE_TASK)
)
# On PostgreSQL two forms sent at once would both find nothing before them.
_TASK_TO_WRITE = (
    select(
        schema.people_tasks,
        schema.people_places.c.run,
        schema.people_places.c.record,
        schema.people_places.c.replicate,
        schema.people_studies.c.form,
        schema.people_studies.c.paused,
        schema.people_studies.c.closed,
        schema.studies.c.rater,
    )
    .join(schema.people_places, schema.people_places.c.id == schema.people_tasks.c.place)
    .join(schema.people_studies, schema.people_studies.c.id == schema.people_places.c.study)
    .join(schema.studies, schema.studies.c.key == schema.people_places.c.record)
    .where(*_ONE_TASK)
    .with_for_update(of=schema.people_tasks)
)
_ALL_SAID = (
    select(schema.judgements.c.verdict, schema.judgements.c.notes)
    .where(schema.judgements.c.trial == bindparam("trial_"), schema.judgements.c.verdict.is_not(None))
    .order_by(schema.judgements.c.seq)
)
_CHOICES = (
    select(schema.people_tasks.c.number, schema.judgements.c.verdict)
    .outerjoin(
        schema.judgements,
        (schema.judgements.c.trial == schema.people_tasks.c.trial) & schema.judgements.c.verdict.is_not(None),
    )
    .where(schema.people_tasks.c.place == bindparam("place_"))
    .order_by(schema.people_tasks.c.number, schema.judgements.c.seq)
)
_STILL_OPEN = (
    select(schema.people_tasks.c.number)
    .where(
        schema.people_tasks.c.place == bindparam("place_"),
        ~select(schema.judgements.c.trial)
        .where(schema.judgements.c.trial == schema.people_tasks.c.trial, schema.judgements.c.verdict.is_not(None))
        .exists(),
    )
    .limit(1)
)


def _place(row: Row[Any]) -> PersonShare:
    return PersonShare(
        id=row.id,
        study=row.study,
        title=row.title,
        benchmark=row.benchmark,
        data=row.data,
        form=FORMS[row.form],
        person=row.person,
        paused=row.paused is not None,
        closed=row.closed is not None,
        tasks=row.tasks,
        judged=row.judged,
    )


def find_task(ledger: Ledger, place: PersonShare, number: int) -> ComparisonTask | None:
    with ledger.reading() as connection:
        row = connection.execute(_SHOWN_TASK, {"place_": place.id, "number_": number}).first()
        if row is None:
            return None
        said = _last_said(_all_said(connection, row.trial), place.form)
    return ComparisonTask(
        number=number,
        item=rows.item_from(row.content, row.label or row.item[:12]),
        answers=(row.text, row.other),
        showing=_showing(ledger.fence_secret(), row.trial),
        said=said,
    )


def _showing(secret: bytes, trial: str) -> str:
    # Not the trial's key: whoever has the texts could make that of every model's name until it fits.
    return hmac.digest(secret, b"showing\n" + trial.encode(), "sha256").hex()[:32]


def choices(ledger: Ledger, place: PersonShare) -> list[str | None]:
    """Of every task in its order: what the person said last, None where nothing."""
    with ledger.reading() as connection:
        newest = {number: verdict for number, verdict in connection.execute(_CHOICES, {"place_": place.id})}
    return [None if verdict is None else place.form.code(_preference(verdict)) for verdict in newest.values()]


def say(
    ledger: Ledger, place: PersonShare, number: int, verdict: Preference, *, showing: str, after: int | None = None
) -> ChosenAnswer | None:
    """Puts a judgement on record beside those before; None where there is no such task.

    Raises Paused, Overtaken, and ShownAnew where `showing` is not that of the task. `after`: how often the person had
    said something when they were asked; None for one who does not mind. The same words after the same number are the
    same form sent again, and change nothing; nor does saying what was said last.
    """
    secret = ledger.fence_secret()
    with ledger.writing() as connection:
        row = connection.execute(_TASK_TO_WRITE, {"place_": place.id, "number_": number}).first()
        if row is None:
            return None
        if row.paused is not None or row.closed is not None:
            raise Paused
        if showing != _showing(secret, row.trial):
            raise ShownAnew
        known = _all_said(connection, row.trial)
        if (after, verdict) in known or (known and known[-1][1] == verdict):
            return _last_said(known, place.form)
        if after not in (None, len(known)):
            raise Overtaken(_last_said(known, place.form))
        _put_down(ledger, connection, row, verdict, after=len(known))
        if not known:
            _end_when_all_is_said(ledger, connection, row, place)
        return _last_said([*known, (len(known), verdict)], place.form)


def _put_down(ledger: Ledger, connection: Connection, row: Row[Any], verdict: Preference, *, after: int) -> None:
    form = FORMS[row.form]
    trial = Trial(
        item=row.item,
        responses=(row.first, row.second),
        rater=row.rater,
        condition=form.condition.key,
        replicate=row.replicate,
    )
    assert trial.key == row.trial
    judgement = Judgement(
        trial=trial.key, verdict=verdict, reader=READER, calls=(), run=row.run, at=time.time(), notes={"after": after}
    )
    ledger.insert_new(connection, schema.trials, [rows.trial_row(trial)])
    ledger.insert_new(connection, schema.study_trials, [{"study": row.record, "trial": trial.key}])
    ledger.insert_new(connection, schema.judgements, [rows.judgement_row(judgement)])


def _end_when_all_is_said(ledger: Ledger, connection: Connection, row: Row[Any], place: PersonShare) -> None:
    if connection.execute(_STILL_OPEN, {"place_": row.place}).first() is None:
        outcome = canonical_json({"known": 0, "called": place.tasks, "failed": {}})
        ledger.insert_new(connection, schema.run_ends, [{"run": row.run, "outcome": outcome, "at": time.time()}])


def _all_said(connection: Connection, trial: str) -> list[tuple[int | None, Preference]]:
    """In the order it was said, each with how often something had been said when the person was asked."""
    found = connection.execute(_ALL_SAID, {"trial_": trial})
    return [(json.loads(notes).get("after"), _preference(verdict)) for verdict, notes in found]


def _last_said(said: Sequence[tuple[int | None, Preference]], form: QuestionForm) -> ChosenAnswer:
    return ChosenAnswer(choice=form.code(said[-1][1]) if said else None, times=len(said))


def _preference(verdict: str) -> Preference:
    found = rows.verdict_of(verdict, None, "")
    assert isinstance(found, Preference)
    return found
