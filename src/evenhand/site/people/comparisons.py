"""One person's comparisons: what they are shown, what they said, and saying it anew; nothing said is overwritten."""

import hmac
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, func, or_, select, update

from evenhand.domain.identity import canonical_json
from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.read.lookup import LABEL
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.checks import SIGNS
from evenhand.site.people.forms import SKIP, Conduct, QuestionForm, conduct_of

READER = "form"
LONGEST_SECONDS = 30 * 86_400
_WITHDRAWN = NoVerdict(reason="withdrawn")

Decision: TypeAlias = Preference | NoVerdict
"""What a person says of a comparison: which is better, or that they pass it over."""


def answered() -> ColumnElement[bool]:
    """Whether a task, a row of `people_tasks`, stands answered: what was said of it last was not taken back."""
    made, later = schema.judgements, schema.judgements.alias()
    newer = select(later.c.seq).where(later.c.trial == made.c.trial, later.c.seq > made.c.seq).exists()
    said = or_(made.c.verdict.is_not(None), made.c.reason == "skipped")
    return select(made.c.trial).where(and_(made.c.trial == schema.people_tasks.c.trial, said, ~newer)).exists()


class Paused(Exception):
    """The study takes no judgement at this moment, or none any more."""


class Overtaken(Exception):
    """Something else was said since the person was asked, by another window of theirs or by a script."""

    def __init__(self, said: "ChosenAnswer") -> None:
        super().__init__()
        self.said = said


class NotRead(Exception):
    """The person has not read the guideline yet."""


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
_ONE_TASK = (schema.people_tasks.c.place == bindparam("place_"), schema.people_tasks.c.number == bindparam("number_"))
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
    .where(*_ONE_TASK)
)
# On PostgreSQL two forms sent at once would both find nothing before them.
_TASK_TO_WRITE = (
    select(
        schema.people_tasks,
        schema.people_places.c.run,
        schema.people_places.c.record,
        schema.people_places.c.checks,
        schema.people_places.c.read,
        schema.people_places.c.replicate,
        schema.people_studies.c.form,
        schema.people_studies.c.asked,
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
_SAID_COLUMNS = (
    schema.judgements.c.verdict,
    schema.judgements.c.reason,
    schema.judgements.c.detail,
    schema.judgements.c.notes,
)
_ALL_SAID = (
    select(*_SAID_COLUMNS).where(schema.judgements.c.trial == bindparam("trial_")).order_by(schema.judgements.c.seq)
)
_CHOICES = (
    select(schema.people_tasks.c.number, *_SAID_COLUMNS)
    .outerjoin(schema.judgements, schema.judgements.c.trial == schema.people_tasks.c.trial)
    .where(schema.people_tasks.c.place == bindparam("place_"))
    .order_by(schema.people_tasks.c.number, schema.judgements.c.seq)
)
_SAID_IN_PLACE = (
    select(schema.people_tasks.c.number, schema.people_tasks.c.trial, *_SAID_COLUMNS)
    .join(schema.judgements, schema.judgements.c.trial == schema.people_tasks.c.trial)
    .where(schema.people_tasks.c.place == bindparam("place_"))
    .order_by(schema.judgements.c.seq)
)
_STILL_OPEN = (
    select(schema.people_tasks.c.number).where(schema.people_tasks.c.place == bindparam("place_"), ~answered()).limit(1)
)
_REMARK = update(schema.people_tasks).where(*_ONE_TASK).values(comment=bindparam("comment_"), flag=bindparam("flag_"))
_READ = (
    update(schema.people_places)
    .where(schema.people_places.c.id == bindparam("place_"), schema.people_places.c.read.is_(None))
    .values(read=bindparam("at_"))
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
    )


def find_task(ledger: Ledger, place: PersonShare, number: int, *, at: float | None = None) -> ComparisonTask | None:
    """`at`: when it is shown, in seconds since the epoch; now, where None."""
    with ledger.reading() as connection:
        row = connection.execute(_SHOWN_TASK, {"place_": place.id, "number_": number}).first()
        if row is None:
            return None
        known = _all_said(connection, row.trial, place.form)
    secret = ledger.fence_secret()
    return ComparisonTask(
        number=number,
        item=rows.item_from(row.content, row.label or row.item[:12]),
        answers=(row.text, row.other),
        showing=_showing(secret, row.trial),
        said=_last_said(known),
        opened=_opened(secret, row.trial, time.time() if at is None else at),
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


def _showing(secret: bytes, trial: str) -> str:
    # Not the trial's key: whoever has the texts could make that of every model's name until it fits.
    return hmac.digest(secret, b"showing\n" + trial.encode(), "sha256").hex()[:32]


def _opened(secret: bytes, trial: str, at: float) -> str:
    moment = f"{round(at * 1000):x}"
    return f"{moment}-{hmac.digest(secret, f'opened {trial} {moment}'.encode(), 'sha256').hex()[:16]}"


def _seconds(secret: bytes, trial: str, opened: str) -> float | None:
    """Since the person was shown the task; None where nobody knows, or they made it up."""
    moment = opened.partition("-")[0]
    if not moment.isascii() or len(moment) > 12 or not moment.isalnum():
        return None
    try:
        at = int(moment, 16) / 1000
    except ValueError:
        return None
    if not hmac.compare_digest(_opened(secret, trial, at).encode(), opened.encode("utf-8", "replace")):
        return None
    return round(min(max(time.time() - at, 0.0), LONGEST_SECONDS), 1)


def choices(ledger: Ledger, place: PersonShare) -> list[str | None]:
    """Of every task in its order: what the person said last, None where nothing."""
    newest: dict[int, str | None] = {}
    with ledger.reading() as connection:
        for row in connection.execute(_CHOICES, {"place_": place.id}):
            newest[row.number] = None if row.notes is None else _heard(row, place.form).code
    return list(newest.values())


def say(
    ledger: Ledger,
    place: PersonShare,
    number: int,
    said: Decision,
    *,
    showing: str,
    after: int | None = None,
    mark: str = "",
    opened: str = "",
) -> ChosenAnswer | None:
    """Puts a judgement on record beside those before; None where there is no such task.

    Raises Paused, NotRead, Overtaken, and ShownAnew where `showing` is not that of the task. `after`: how often the
    person had said something when they were asked; None for one who does not mind. The same words after the same number
    are the same form sent again, and change nothing; nor does saying what was said last. `mark`: what tells the choice
    from another of the same value. `opened`: as the task told it.
    """
    secret = ledger.fence_secret()
    with ledger.writing() as connection:
        row = _to_write(connection, place, number)
        if row is None:
            return None
        if showing != _showing(secret, row.trial):
            raise ShownAnew
        known = _all_said(connection, row.trial, place.form)
        heard = _Heard(after=after, decision=said, mark=mark, code=_code(said, mark, place.form))
        if any(one.after == after and one.same(heard) for one in known) or (known and known[-1].same(heard)):
            return _last_said(known)
        if after not in (None, len(known)):
            raise Overtaken(_last_said(known))
        notes: dict[str, Any] = {"mark": mark} if mark else {}
        if (seconds := _seconds(secret, row.trial, opened)) is not None:
            notes["seconds"] = seconds
        _put_down(ledger, connection, row, said, {"after": len(known), **notes})
        if not known or known[-1].code is None:
            _end_when_all_is_said(ledger, connection, row, place)
        return _last_said([*known, heard])


def _to_write(connection: Connection, place: PersonShare, number: int) -> Row[Any] | None:
    row = connection.execute(_TASK_TO_WRITE, {"place_": place.id, "number_": number}).first()
    if row is None:
        return None
    if row.paused is not None or row.closed is not None:
        raise Paused
    if row.read is None and conduct_of(row.asked).to_read:
        raise NotRead
    return row


def undo(ledger: Ledger, place: PersonShare) -> int | None:
    """Takes back what the person said last in this share, and returns the number of that task; None where nothing is
    left to take back. What they had said of it before stands again; all of it stays on record. Raises Paused."""
    with ledger.writing() as connection:
        stack: list[tuple[int, str, _Heard]] = []
        for row in connection.execute(_SAID_IN_PLACE, {"place_": place.id}):
            heard = _heard(row, place.form)
            if heard.undone and stack:
                stack.pop()
            else:
                stack.append((row.number, row.trial, heard))
        if not stack:
            return None
        number, trial, _ = stack.pop()
        row = _to_write(connection, place, number)
        assert row is not None
        before = next((heard for _, of, heard in reversed(stack) if of == trial), None)
        notes: dict[str, Any] = {"after": len(_all_said(connection, trial, place.form)), "undo": True}
        if before is not None and before.mark:
            notes["mark"] = before.mark
        _put_down(ledger, connection, row, _WITHDRAWN if before is None else before.decision, notes)
        return number


def remark(ledger: Ledger, place: PersonShare, number: int, *, showing: str, comment: str, flag: str) -> None:
    """Keeps a comment and a flag in place of those before. Raises Paused, NotRead and ShownAnew."""
    with ledger.writing() as connection:
        row = _to_write(connection, place, number)
        if row is None or (row.comment or "", row.flag or "") == (comment, flag):
            return
        if showing != _showing(ledger.fence_secret(), row.trial):
            raise ShownAnew
        words = {"comment_": comment or None, "flag_": flag or None}
        connection.execute(_REMARK, {"place_": place.id, "number_": number, **words})


def has_read(ledger: Ledger, place: PersonShare) -> None:
    """The guideline; once is enough."""
    with ledger.writing() as connection:
        connection.execute(_READ, {"place_": place.id, "at_": time.time()})


def _put_down(ledger: Ledger, connection: Connection, row: Row[Any], said: Decision, notes: dict[str, Any]) -> None:
    form = conduct_of(row.asked).form(row.form)
    trial = Trial(
        item=row.item,
        responses=(row.first, row.second),
        rater=row.rater,
        condition=form.condition.key,
        replicate=row.replicate,
    )
    assert trial.key == row.trial
    judgement = Judgement(
        trial=trial.key, verdict=said, reader=READER, calls=(), run=row.run, at=time.time(), notes=notes
    )
    study = row.record if row.kind is None else row.checks
    ledger.insert_new(connection, schema.trials, [rows.trial_row(trial)])
    ledger.insert_new(connection, schema.study_trials, [{"study": study, "trial": trial.key}])
    ledger.insert_new(connection, schema.judgements, [rows.judgement_row(judgement)])


def _end_when_all_is_said(ledger: Ledger, connection: Connection, row: Row[Any], place: PersonShare) -> None:
    if connection.execute(_STILL_OPEN, {"place_": row.place}).first() is None:
        outcome = canonical_json({"known": 0, "called": place.tasks, "failed": {}})
        ledger.insert_new(connection, schema.run_ends, [{"run": row.run, "outcome": outcome, "at": time.time()}])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """One thing that was said."""

    after: int | None
    """How often something had been said when the person was asked."""
    decision: Decision
    mark: str
    code: str | None
    """None of what was taken back."""
    undone: bool = False

    def same(self, other: "_Heard") -> bool:
        return (self.code, self.decision) == (other.code, other.decision)


def _heard(row: Row[*tuple[Any, ...]], form: QuestionForm) -> _Heard:
    notes = json.loads(row.notes)
    decision = rows.verdict_of(row.verdict, row.reason, row.detail)
    assert isinstance(decision, Preference | NoVerdict)
    mark = notes.get("mark", "")
    code = _code(decision, mark, form)
    return _Heard(after=notes.get("after"), decision=decision, mark=mark, code=code, undone=bool(notes.get("undo")))


def _code(decision: Decision, mark: str, form: QuestionForm) -> str | None:
    if isinstance(decision, Preference):
        return form.code(decision, mark)
    return SKIP if decision.reason == "skipped" else None


def _all_said(connection: Connection, trial: str, form: QuestionForm) -> list[_Heard]:
    """In the order it was said."""
    return [_heard(row, form) for row in connection.execute(_ALL_SAID, {"trial_": trial})]


def _last_said(said: Sequence[_Heard]) -> ChosenAnswer:
    if not said:
        return ChosenAnswer(choice=None, times=0)
    last = said[-1]
    reason = last.decision.detail if isinstance(last.decision, NoVerdict) else ""
    return ChosenAnswer(choice=last.code, times=len(said), reason=reason)
