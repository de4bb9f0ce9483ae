"""What was said about submissions: events that are added one after the other, each checked against those before."""

import json
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, select

from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.submission import (
    Approved,
    Closed,
    Confirmed,
    Entered,
    Estimated,
    Failed,
    Judged,
    Published,
    Raised,
    Refused,
    Said,
    Stopped,
    SubmissionEvent,
    SubmissionState,
    SubmittedModel,
    Uploaded,
    Withdrawn,
    after,
    label,
    standing,
)
from evenhand.format.words import counted
from evenhand.ledger.store import schema
from evenhand.ledger.store.budgets import cut_off
from evenhand.ledger.store.event_log import EventLog, TooLate, in_turn
from evenhand.ledger.store.record import Ledger, chunks
from evenhand.ledger.store.runs import charged_to
from evenhand.ledger.store.statements import insert_all
from evenhand.ledger.store.submission_schema import intakes, receipts, submission_events, submissions
from evenhand.ledger.submissions.intakes import Intake, intakes_on_record

LOG: EventLog[Said, SubmissionState] = EventLog(
    table=submission_events,
    about="submission",
    kinds={
        "uploaded": Uploaded,
        "confirmed": Confirmed,
        "estimated": Estimated,
        "approved": Approved,
        "refused": Refused,
        "stopped": Stopped,
        "raised": Raised,
        "closed": Closed,
        "failed": Failed,
        "judged": Judged,
        "published": Published,
        "withdrawn": Withdrawn,
    },
    after=after,
    tuples=frozenset({"opponents", "steering"}),
    later=frozenset({"orders", "verdicts", "steering", "despite", "repeated", "like", "same", "changed", "within"})
    | frozenset({"until", "looks", "max_calls", "expected_calls", "expected_by"}),
)

SHOWN = ("row", "moved", "study")
"""Of a receipt, what stays with the event."""

DAY = 86_400.0
DRAFTS_MOST = 20
"""Submissions that a team may have begun and neither confirmed nor withdrawn: each holds files."""
BEGUN_MOST = 20
"""Submissions that a team may begin within a day."""


class TooMany(Exception):
    """A team that has begun or confirmed as many submissions as it may. A sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    id: str
    intake: str
    person: str
    """Who made it: the team."""
    entered: Entered
    policy_hash: str
    """Of the policy that was accepted with it."""
    at: float
    events: tuple[SubmissionEvent, ...]
    standing: SubmissionState

    @property
    def label(self) -> str:
        return label(self.id)

    @property
    def submitted_model(self) -> SubmittedModel:
        return SubmittedModel(submission=self.id, person=self.person, entered=self.entered, standing=self.standing)


def begin_submission(ledger: Ledger, intake: Intake, entered: Entered, *, person: str) -> str:
    """The new one's id; whoever makes it has accepted the intake's policy. Raises TooMany.

    A team's are counted one after the other, so that many begun in one moment do not all pass.
    """
    submission = secrets.token_hex(4)
    row = {
        "id": submission,
        "intake": intake.id,
        "person": person,
        **asdict(entered),
        "policy_hash": intake.policy_hash,
        "at": time.time(),
    }
    with ledger.writing() as connection:
        in_turn(connection, schema.people.c.id, person)
        mine = _read(connection, select(submissions).where(submissions.c.person == person))
        if sum(one.standing.stage == "draft" for one in mine) >= DRAFTS_MOST:
            raise TooMany(f"{DRAFTS_MOST} drafts of yours are open; confirm or withdraw one of them first.")
        if sum(one.at > time.time() - DAY for one in mine) >= BEGUN_MOST:
            raise TooMany(f"You have begun {BEGUN_MOST} submissions within a day; come back tomorrow.")
        insert_all(connection, submissions, [row])
    return submission


def tell(
    ledger: Ledger,
    submission: str,
    said: Said,
    *,
    person: str | None,
    allowed: Callable[[SubmissionState], bool] = lambda _: True,
) -> SubmissionState:
    """Adds an event and returns where the submission stands then.

    Raises TooLate, and adds nothing, where it is not `allowed` or would change nothing.
    """
    with ledger.writing() as connection:
        in_turn(connection, submissions.c.id, submission)
        return _tell(connection, submission, said, person=person, allowed=allowed)


def confirm(ledger: Ledger, submission: Submission, intake: Intake, *, upload: int) -> SubmissionState:
    """The team's word that this upload is to be judged, which was checked under the intake's terms and has no fault.

    Raises TooLate, and TooMany where the terms' limit is reached.
    Teams are counted one after the other, so that two confirmed in one moment do not both pass as the last.
    """
    terms = intake.terms
    with ledger.writing() as connection:
        in_turn(connection, intakes.c.id, intake.id)
        recent = select(submission_events.c.submission).where(
            submission_events.c.kind == LOG.name(Confirmed),
            submission_events.c.at > time.time() - terms.days * DAY,
            submission_events.c.submission.in_(
                select(submissions.c.id).where(
                    submissions.c.intake == intake.id, submissions.c.person == submission.person
                )
            ),
        )
        if len(connection.execute(recent).all()) >= terms.per_team:
            raise TooMany(
                f"A team may confirm {counted(terms.per_team, 'submission')} in "
                f"{'one day' if terms.days == 1 else f'{terms.days} days'} here, and yours has; "
                "this one stays a draft, and can be confirmed later."
            )
        said = Confirmed(about=upload, checked=True)
        return _tell(connection, submission.id, said, person=submission.person, allowed=lambda _: True)


def find_submission(ledger: Ledger, submission: str) -> Submission | None:
    return next(iter(_found(ledger, select(submissions).where(submissions.c.id == submission))), None)


def files_kept(found: Iterable[Submission]) -> frozenset[str]:
    """The digests of the files that these submissions need: the last of each, unless it was given up unconfirmed."""
    return frozenset(
        one.standing.upload.file
        for one in found
        if one.standing.upload is not None and (one.standing.stage != "withdrawn" or one.standing.confirmed is not None)
    )


def forget_files(ledger: Ledger, files: Collection[str]) -> None:
    """Deletes those of these files that no submission needs."""
    table = submission_events
    with ledger.writing() as connection:  # so that nobody says meanwhile that one of them was uploaded
        for file in files:
            named = select(table.c.submission).where(
                table.c.kind == LOG.name(Uploaded), table.c.content.contains(file, autoescape=True)
            )
            if file not in files_kept(_read(connection, select(submissions).where(submissions.c.id.in_(named)))):
                ledger.submitted.remove(file)


def submissions_on_record(
    ledger: Ledger, *, intake: str | None = None, person: str | None = None
) -> Sequence[Submission]:
    """In the order they were begun."""
    query = select(submissions).order_by(submissions.c.at, submissions.c.id)
    if intake is not None:
        query = query.where(submissions.c.intake == intake)
    if person is not None:
        query = query.where(submissions.c.person == person)
    return _found(ledger, query)


def wanted_of_the_worker(ledger: Ledger) -> Sequence[Submission]:
    """Those confirmed or approved, in the order they were begun.

    By the last event of each, as the worker looks here all the time.
    """
    table = submission_events
    last = select(func.max(table.c.seq)).group_by(table.c.submission)
    kinds = [LOG.name(kind) for kind in (Confirmed, Estimated, Approved, Raised, Closed, Failed)]
    open_ones = select(table.c.submission).where(table.c.seq.in_(last), table.c.kind.in_(kinds))
    query = select(submissions).where(submissions.c.id.in_(open_ones))
    return _found(ledger, query.order_by(submissions.c.at, submissions.c.id))


def receipt_on_record(ledger: Ledger, submission: str) -> dict[str, Json] | None:
    """The whole of the last one that it got; None before it is judged."""
    query = select(receipts.c.content).where(receipts.c.submission == submission)
    with ledger.reading() as connection:
        content = connection.execute(query.order_by(receipts.c.event.desc()).limit(1)).scalar()
    return None if content is None else json.loads(content)


def receipts_on_record(ledger: Ledger, submission: str) -> dict[int, str]:
    """All that it got, by the number of the event that gave it, as JSON that nobody has read yet."""
    query = select(receipts.c.event, receipts.c.content).where(receipts.c.submission == submission)
    with ledger.reading() as connection:
        return {row.event: row.content for row in connection.execute(query.order_by(receipts.c.event))}


_ALL = select(submissions)


def submitted_models(ledger: Ledger) -> dict[str, SubmittedModel]:
    """The submitted models that were ever approved, by the label that the record knows.

    Wherever they were submitted: answers hang on items, and two benchmarks may share items.
    """
    approved = [one for one in _found(ledger, _ALL) if one.standing.approved is not None]
    # Most records have none, and every board asks.
    ladders = {one.id for one in intakes_on_record(ledger) if one.terms.ladder} if approved else set[str]()
    return {one.label: replace(one.submitted_model, ladder=one.intake in ladders) for one in approved}


def last_change_of_sight(ledger: Ledger) -> int:
    """The number of the last event that showed a submitted model to everybody, or hid it again; 0 for none."""
    kinds = [LOG.name(kind) for kind in (Published, Withdrawn, Refused)]
    query = select(func.max(submission_events.c.seq)).where(submission_events.c.kind.in_(kinds))
    with ledger.reading() as connection:
        return connection.execute(query).scalar() or 0


def queue(found: Sequence[Submission]) -> Sequence[Submission]:
    """Those to be judged, in their turn: as they were approved."""
    waiting = [one for one in found if one.standing.stage == "approved"]
    return sorted(waiting, key=lambda one: one.standing.approval_seq)


def run_command(submission: str) -> str:
    """What a run that judges this submission is called on record."""
    return f"worker submission {submission}"


def spent(ledger: Ledger, submission: str) -> float:
    """Dollars that its calls took off the budget, and those that were cut off when a worker was killed."""
    command = run_command(submission)
    return charged_to(ledger, command) + cut_off(ledger, command)


def _found(ledger: Ledger, query: Select[*tuple[Any, ...]]) -> list[Submission]:
    with ledger.reading() as connection:
        return _read(connection, query)


_SAID = (
    select(submission_events)
    .where(submission_events.c.submission.in_(bindparam("keys", expanding=True)))
    .order_by(submission_events.c.seq)
)


def _read(connection: Connection, query: Select[*tuple[Any, ...]]) -> list[Submission]:
    rows = connection.execute(query).all()
    events: dict[str, list[SubmissionEvent]] = {row.id: [] for row in rows}
    for some in chunks(sorted(events)):
        for row in connection.execute(_SAID, {"keys": some}):
            events[row.submission].append(LOG.event(row))
    return [_submission(row, events[row.id]) for row in rows]


def _submission(row: Row[Any], events: Sequence[SubmissionEvent]) -> Submission:
    return Submission(
        id=row.id,
        intake=row.intake,
        person=row.person,
        entered=Entered(model=row.model, version=row.version, team=row.team, link=row.link),
        policy_hash=row.policy_hash,
        at=row.at,
        events=tuple(events),
        standing=standing(events),
    )


def _tell(
    connection: Connection,
    submission: str,
    said: Said,
    *,
    person: str | None,
    allowed: Callable[[SubmissionState], bool],
) -> SubmissionState:
    before = standing(LOG.events(connection, submission))
    if not allowed(before):
        raise TooLate
    LOG.must_change(before, said, person=person)
    event = LOG.add(connection, submission, _brief(said), person=person)
    if isinstance(said, Judged):
        receipt = {"event": event.seq, "submission": submission, "content": canonical_json(said.receipt)}
        insert_all(connection, receipts, [receipt])
    return after(before, event)


def _brief(said: Said) -> Said:
    """As the event holds it: of a receipt only what is shown."""
    if not isinstance(said, Judged):
        return said
    return replace(said, receipt={name: said.receipt[name] for name in SHOWN if name in said.receipt})
