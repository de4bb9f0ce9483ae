"""One person's comparisons: what they are shown, and what they said of it."""

import hmac
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, func, literal_column, or_, select

from evenhand.domain.item import Item
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.read.lookup import LABEL
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.checks import SIGNS
from evenhand.site.people.forms import SKIP, Conduct, QuestionForm, conduct_of

Decision: TypeAlias = Preference | NoVerdict
"""What a person says of a comparison: which is better, or that they pass it over."""


def answered() -> ColumnElement[bool]:
    """Whether a task, a row of `people_tasks`, stands answered: what was said of it last was not taken back."""
    made, later = schema.judgements, schema.judgements.alias()
    newer = select(later.c.seq).where(later.c.trial == made.c.trial, later.c.seq > made.c.seq).exists()
    said = or_(made.c.verdict.is_not(None), made.c.reason == "skipped")
    of_task = select(made.c.trial).where(and_(made.c.trial == schema.people_tasks.c.trial, said, ~newer))
    # An offset keeps PostgreSQL from making a join of it: until it has counted the rows of a table that has just been
    # filled, it reads every judgement of the ledger for the thirteen tasks of one person.
    return of_task.offset(literal_column("0")).exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonShare:
    """A person's share of a study."""

    id: str
    study: str
    title: str
    benchmark: str
    data: str
    form: QuestionForm
    conduct: Conduct
    person: str
    paused: bool
    closed: bool
    tasks: int
    judged: int
    training: int
    """Of the tasks, the first."""
    read: bool
    """Whether the guideline was read."""
    made: float
    """When the study was."""

    @property
    def must_read(self) -> bool:
        return self.conduct.to_read and not self.read

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
    reason: str = ""
    """Why they passed it over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingAnswer:
    """What a person is told after a training item."""

    right: bool
    better: str | None
    """The card of the better answer; None where neither is."""
    why: str


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
    opened: str
    """Comes back with what is said, and tells when the person was shown this."""
    training: bool = False
    taught: TrainingAnswer | None = None
    """Of a training item that was answered."""
    comment: str = ""
    flag: str = ""


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
    table, tasks, studies = schema.people_places, schema.people_tasks, schema.people_studies
    mine = tasks.c.place == table.c.id
    return select(
        table,
        studies.c.title,
        studies.c.benchmark,
        studies.c.data,
        studies.c.form,
        studies.c.asked,
        studies.c.paused,
        studies.c.closed,
        studies.c.at.label("made"),
        select(func.count()).select_from(tasks).where(mine).scalar_subquery().label("tasks"),
        select(func.count()).select_from(tasks).where(mine, answered()).scalar_subquery().label("judged"),
        select(func.count())
        .select_from(tasks)
        .where(mine, tasks.c.kind == "training")
        .scalar_subquery()
        .label("training"),
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
ONE_TASK = (schema.people_tasks.c.place == bindparam("place_"), schema.people_tasks.c.number == bindparam("number_"))
_first, _second = schema.responses.alias(), schema.responses.alias()
_SHOWN_TASK = (
    select(
        schema.people_tasks.c.item,
        schema.people_tasks.c.trial,
        schema.people_tasks.c.kind,
        schema.people_tasks.c.expected,
        schema.people_tasks.c.why,
        schema.people_tasks.c.comment,
        schema.people_tasks.c.flag,
        schema.items.c.content,
        LABEL.label("label"),
        _first.c.text,
        _second.c.text.label("other"),
    )
    .join(schema.items, schema.items.c.digest == schema.people_tasks.c.item)
    .join(_first, _first.c.digest == schema.people_tasks.c.first)
    .join(_second, _second.c.digest == schema.people_tasks.c.second)
    .where(*ONE_TASK)
)
SAID_COLUMNS = (
    schema.judgements.c.verdict,
    schema.judgements.c.reason,
    schema.judgements.c.detail,
    schema.judgements.c.notes,
)
_ALL_SAID = (
    select(*SAID_COLUMNS).where(schema.judgements.c.trial == bindparam("trial_")).order_by(schema.judgements.c.seq)
)
_CHOICES = (
    select(schema.people_tasks.c.number, *SAID_COLUMNS)
    .outerjoin(schema.judgements, schema.judgements.c.trial == schema.people_tasks.c.trial)
    .where(schema.people_tasks.c.place == bindparam("place_"))
    .order_by(schema.people_tasks.c.number, schema.judgements.c.seq)
)


def _place(row: Row[Any]) -> PersonShare:
    return PersonShare(
        id=row.id,
        study=row.study,
        title=row.title,
        benchmark=row.benchmark,
        data=row.data,
        form=conduct_of(row.asked).form(row.form),
        conduct=conduct_of(row.asked),
        person=row.person,
        paused=row.paused is not None,
        closed=row.closed is not None,
        tasks=row.tasks,
        judged=row.judged,
        training=row.training,
        read=row.read is not None,
        made=row.made,
    )


def find_task(ledger: Ledger, place: PersonShare, number: int, *, at: float | None = None) -> ComparisonTask | None:
    """`at`: when it is shown, in seconds since the epoch; now, where None."""
    with ledger.reading() as connection:
        row = connection.execute(_SHOWN_TASK, {"place_": place.id, "number_": number}).first()
        if row is None:
            return None
        known = all_said(connection, row.trial, place.form)
    secret = ledger.fence_secret()
    return ComparisonTask(
        number=number,
        item=rows.item_from(row.content, row.label or row.item[:12]),
        answers=(row.text, row.other),
        showing=showing_of(secret, row.trial),
        said=last_said(known),
        opened=opened_at(secret, row.trial, time.time() if at is None else at),
        training=row.kind == "training",
        taught=taught(row, known[-1].decision, place.form) if known else None,
        comment=row.comment or "",
        flag=row.flag or "",
    )


def taught(task: Row[*tuple[Any, ...]], said: Decision, form: QuestionForm) -> TrainingAnswer | None:
    """Of a training item; None of any other, and of one passed over."""
    if task.kind != "training" or not isinstance(said, Preference):
        return None
    better = {"first": form.cards[0], "second": form.cards[1]}.get(task.expected)
    return TrainingAnswer(right=said.sign == SIGNS[task.expected], better=better, why=task.why or "")


def showing_of(secret: bytes, trial: str) -> str:
    # Not the trial's key: whoever has the texts could make that of every model's name until it fits.
    return hmac.digest(secret, b"showing\n" + trial.encode(), "sha256").hex()[:32]


def opened_at(secret: bytes, trial: str, at: float) -> str:
    moment = f"{round(at * 1000):x}"
    return f"{moment}-{hmac.digest(secret, f'opened {trial} {moment}'.encode(), 'sha256').hex()[:16]}"


def choices(ledger: Ledger, place: PersonShare) -> list[str | None]:
    """Of every task in its order: what the person said last, None where nothing."""
    newest: dict[int, str | None] = {}
    with ledger.reading() as connection:
        for row in connection.execute(_CHOICES, {"place_": place.id}):
            newest[row.number] = None if row.notes is None else heard_in(row, place.form).code
    return list(newest.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """One thing that was said."""

    after: int | None
    """How often something had been said when the person was asked."""
    decision: Decision
    mark: str
    code: str | None
    """None of what was taken back."""
    undone: bool = False

    def same(self, other: "Saying") -> bool:
        return (self.code, self.decision) == (other.code, other.decision)


def heard_in(row: Row[*tuple[Any, ...]], form: QuestionForm) -> Saying:
    notes = json.loads(row.notes)
    decision = rows.verdict_of(row.verdict, row.reason, row.detail)
    assert isinstance(decision, Preference | NoVerdict)
    mark = notes.get("mark", "")
    code = code_of(decision, mark, form)
    return Saying(after=notes.get("after"), decision=decision, mark=mark, code=code, undone=bool(notes.get("undo")))


def code_of(decision: Decision, mark: str, form: QuestionForm) -> str | None:
    if isinstance(decision, Preference):
        return form.code(decision, mark)
    return SKIP if decision.reason == "skipped" else None


def all_said(connection: Connection, trial: str, form: QuestionForm) -> list[Saying]:
    """In the order it was said."""
    return [heard_in(row, form) for row in connection.execute(_ALL_SAID, {"trial_": trial})]


def last_said(said: Sequence[Saying]) -> ChosenAnswer:
    if not said:
        return ChosenAnswer(choice=None, times=0)
    last = said[-1]
    reason = last.decision.detail if isinstance(last.decision, NoVerdict) else ""
    return ChosenAnswer(choice=last.code, times=len(said), reason=reason)
