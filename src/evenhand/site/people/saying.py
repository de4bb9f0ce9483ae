"""What a person says of their comparisons, takes back and remarks; nothing said is overwritten."""

import hmac
import time
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from evenhand.domain.identity import canonical_json
from evenhand.domain.judgement import Judgement
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.comparisons import (
    ONE_TASK,
    SAID_COLUMNS,
    ChosenAnswer,
    Decision,
    PersonShare,
    Saying,
    all_said,
    answered,
    code_of,
    heard_in,
    last_said,
    opened_at,
    showing_of,
)
from evenhand.site.people.forms import conduct_of

READER = "form"
LONGEST_SECONDS = 30 * 86_400
_WITHDRAWN = NoVerdict(reason="withdrawn")


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
    .where(*ONE_TASK)
    .with_for_update(of=schema.people_tasks)
)
_HOLD = (
    select(schema.people_tasks.c.number)
    .where(schema.people_tasks.c.place == bindparam("place_"))
    .order_by(schema.people_tasks.c.number)
    .with_for_update()
)
_SAID_IN_PLACE = (
    select(schema.people_tasks.c.number, schema.people_tasks.c.trial, *SAID_COLUMNS)
    .join(schema.judgements, schema.judgements.c.trial == schema.people_tasks.c.trial)
    .where(schema.people_tasks.c.place == bindparam("place_"))
    .order_by(schema.judgements.c.seq)
)
_STILL_OPEN = (
    select(schema.people_tasks.c.number).where(schema.people_tasks.c.place == bindparam("place_"), ~answered()).limit(1)
)
_REMARK = update(schema.people_tasks).where(*ONE_TASK).values(comment=bindparam("comment_"), flag=bindparam("flag_"))
_READ = (
    update(schema.people_places)
    .where(schema.people_places.c.id == bindparam("place_"), schema.people_places.c.read.is_(None))
    .values(read=bindparam("at_"))
)


def _seconds(secret: bytes, trial: str, opened: str) -> float | None:
    """Since the person was shown the task; None where nobody knows, or they made it up."""
    moment = opened.partition("-")[0]
    if not moment.isascii() or len(moment) > 12 or not moment.isalnum():
        return None
    try:
        at = int(moment, 16) / 1000
    except ValueError:
        return None
    if not hmac.compare_digest(opened_at(secret, trial, at).encode(), opened.encode("utf-8", "replace")):
        return None
    return round(min(max(time.time() - at, 0.0), LONGEST_SECONDS), 1)


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
        if showing != showing_of(secret, row.trial):
            raise ShownAnew
        known = all_said(connection, row.trial, place.form)
        heard = Saying(after=after, decision=said, mark=mark, code=code_of(said, mark, place.form))
        if any(one.after == after and one.same(heard) for one in known) or (known and known[-1].same(heard)):
            return last_said(known)
        if after not in (None, len(known)):
            raise Overtaken(last_said(known))
        notes: dict[str, Any] = {"mark": mark} if mark else {}
        if (seconds := _seconds(secret, row.trial, opened)) is not None:
            notes["seconds"] = seconds
        _put_down(ledger, connection, row, said, {"after": len(known), **notes})
        if not known or known[-1].code is None:
            _end_when_all_is_said(ledger, connection, row, place)
        return last_said([*known, heard])


def _to_write(connection: Connection, place: PersonShare, number: int) -> Row[Any] | None:
    row = connection.execute(_TASK_TO_WRITE, {"place_": place.id, "number_": number}).first()
    if row is None:
        return None
    if row.paused is not None or row.closed is not None:
        raise Paused
    if row.read is None and conduct_of(row.asked).to_read:
        raise NotRead
    return row


def hold(connection: Connection, place: str) -> None:
    """Until the end of the transaction nobody else says, takes back or frees anything of a share."""
    connection.execute(_HOLD, {"place_": place})


def undo(ledger: Ledger, place: PersonShare) -> int | None:
    """Takes back what the person said last in this share, and returns the number of that task; None where nothing is
    left to take back. What they had said of it before stands again; all of it stays on record. Raises Paused."""
    with ledger.writing() as connection:
        hold(connection, place.id)
        stack: list[tuple[int, str, Saying]] = []
        for row in connection.execute(_SAID_IN_PLACE, {"place_": place.id}):
            heard = heard_in(row, place.form)
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
        notes: dict[str, Any] = {"after": len(all_said(connection, trial, place.form)), "undo": True}
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
        if showing != showing_of(ledger.fence_secret(), row.trial):
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
