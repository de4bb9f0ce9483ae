"""What people do for a growing benchmark, with what is refused: shared by the pages and the API.

Each of these goes to a thread once, however often it looks into the ledger there: going there costs more than a look.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from starlette.concurrency import run_in_threadpool

from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.audit_log import LogEvent as Noted
from evenhand.site.http.rate_limits import line
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Service
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.drafts import drop_draft, find_draft, save_draft
from evenhand.site.living.events import Instruction, ProposalState, Said, Word
from evenhand.site.living.following import may_caption, may_instruct, may_verify, may_write_again, said_already
from evenhand.site.living.growth import (
    Assignments,
    Doing,
    Step,
    WritingTask,
    asked_of,
    done_in,
    place_start,
    step_skip,
    take,
)
from evenhand.site.living.settings import GrowingBenchmark, find_growing
from evenhand.site.living.store import (
    Proposal,
    find_proposal,
    lease,
    lease_holder,
    propose,
    say,
    skip,
    unskip,
    was_handed_out,
)

_NUMBER_MOST = 10_000
_DONE: Mapping[Step, str] = {"instruct": "wrote an instruction", "caption": "captioned", "verify": "verified"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalTask:
    """A proposal that was asked for by its address, whoever's it is to do."""

    growing: GrowingBenchmark
    proposal: Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOut:
    asked: Assignments
    proposal: Proposal | None
    """This person's from now on; None where nothing waits for them, or the benchmark is paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Before one person: what is to be captioned or verified, with what they have typed and not sent."""

    asked: Assignments
    proposal: Proposal
    draft: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingDesk:
    asked: Assignments
    task: WritingTask
    draft: Mapping[str, str]


async def growing_of(serving: Service, growing: str) -> GrowingBenchmark:
    return await run_in_threadpool(_growing, serving.ledger, growing)


def _growing(ledger: Ledger, growing: str) -> GrowingBenchmark:
    found = find_growing(ledger, growing)
    if found is None:
        raise not_found("such growing benchmark")
    return found


async def asked_here(serving: Service, visiting: Visitor, growing: str) -> Assignments:
    """What this benchmark asks of this person. Raises Refusal."""
    person = visiting.must_be("annotator", "owner").id
    return await run_in_threadpool(_asked, serving, growing, person)


def _asked(serving: Service, growing: str, person: str) -> Assignments:
    return asked_of(serving.proposals, _growing(serving.ledger, growing), person)


async def handed_out(serving: Service, visiting: Visitor, growing: str, step: Step) -> HandedOut:
    """The next that this person is to caption or verify. Raises Refusal."""
    person = visiting.must_be("annotator", "owner").id

    def hand_out() -> HandedOut:
        asked = _asked(serving, growing, person)
        taken = None if asked.growing.terms.paused else take(serving.ledger, asked, step)
        return HandedOut(asked=asked, proposal=taken)

    return await run_in_threadpool(hand_out)


async def desk(serving: Service, visiting: Visitor, growing: str, proposal: str, step: Step) -> Desk:
    """Raises Refusal where it is not this person's to do."""
    person, ledger = visiting.must_be("annotator", "owner").id, serving.ledger

    def look() -> Desk:
        asked = _asked(serving, growing, person)
        found = _own(ledger, asked.growing, proposal, step, person)
        return Desk(asked=asked, proposal=found, draft=find_draft(ledger, person, place_start(growing, step, found)))

    return await run_in_threadpool(look)


async def writing_desk(serving: Service, visiting: Visitor, growing: str, number: int) -> WritingDesk:
    """Raises Refusal where there is no such task."""
    person = visiting.must_be("annotator", "owner").id

    def look() -> WritingDesk:
        asked = _asked(serving, growing, person)
        task = task_of(asked, number)
        draft = find_draft(serving.ledger, person, task.name(growing))
        return WritingDesk(asked=asked, task=task, draft=draft)

    return await run_in_threadpool(look)


def must_be_open(growing: GrowingBenchmark) -> None:
    if growing.terms.paused:
        raise Refusal(
            409, f"'{growing.name}' is paused; come back when its owner has opened it again.", code="EH-PAUSED"
        )


def task_of(asked: Assignments, number: int) -> WritingTask:
    if not 1 <= number <= min(len(asked.writing), _NUMBER_MOST):
        raise not_found("such task")
    return asked.writing[number - 1]


def keep_instruction(ledger: Ledger, visiting: Visitor, growing: str, task: WritingTask, said: Instruction) -> str:
    """The proposal's id. Raises Refusal where somebody has built on it already."""
    person, noted = visiting.must_be("annotator", "owner").id, line(visiting, "wrote an instruction", growing)
    if task.proposal is None:
        proposal = _propose(ledger, growing, said, person=person, noted=noted)
    else:
        proposal = task.proposal.id
        change_own(ledger, growing, proposal, said, person=person, noted=noted)
    drop_draft(ledger, person, task.name(growing))
    return proposal


def _propose(ledger: Ledger, growing: str, said: Instruction, *, person: str, noted: Noted) -> str:
    try:
        return propose(ledger, growing, said, person=person, noted=noted)
    except TooLate:
        raise Refusal(409, "You have written another one for this skill already; reload the page to see it.") from None


def change_own(
    ledger: Ledger, growing: str, proposal: str, said: Said, *, person: str, noted: Noted | None = None
) -> None:
    """Raises Refusal where it is not theirs, or somebody has built on it already."""
    mine = partial(may_write_again, person=person)
    try:
        say(ledger, growing, proposal, said, person=person, allowed=mine, noted=noted)
    except TooLate:
        words = "Somebody has captioned this one already, so it stays as it is; go on with the next task."
        raise Refusal(409, words) from None


async def task_here(serving: Service, visiting: Visitor, growing: str, proposal: str) -> ProposalTask:
    """For somebody who works on the benchmark. Raises Refusal."""
    visiting.must_be("annotator", "owner")

    def find() -> ProposalTask:
        here = _growing(serving.ledger, growing)
        return ProposalTask(growing=here, proposal=_proposal(serving.ledger, here, proposal))

    return await run_in_threadpool(find)


def _proposal(ledger: Ledger, growing: GrowingBenchmark, proposal: str) -> Proposal:
    found = find_proposal(ledger, growing.id, proposal)
    if found is None:
        raise not_found("such task")
    return found


def _own(ledger: Ledger, growing: GrowingBenchmark, proposal: str, step: Step, person: str) -> Proposal:
    found = _proposal(ledger, growing, proposal)
    _must_be_theirs(ledger, growing, found, step, person)
    return found


def _must_be_theirs(ledger: Ledger, growing: GrowingBenchmark, found: Proposal, step: Step, person: str) -> None:
    if not _may(found.standing, growing, person, step) or not _has(ledger, growing, found, step, person):
        raise _not_yours(found, step, honest=_had(ledger, growing, found, step, person))


def _may(stands: ProposalState, growing: GrowingBenchmark, person: str, step: Step) -> bool:
    rules = growing.terms.rules
    if step == "instruct":
        return may_instruct(stands, person)
    return may_caption(stands, person, rules) if step == "caption" else may_verify(stands, person, rules)


def _has(ledger: Ledger, growing: GrowingBenchmark, found: Proposal, step: Step, person: str) -> bool:
    """Whether they have it before them. An instruction or a caption is the first one's who comes; an answer must have
    been handed out."""
    start = place_start(growing.id, step, found)
    if step == "verify":
        return found.standing.opinion_of(person) is not None or was_handed_out(ledger, person, start)
    return found.standing.stage != step or lease_holder(ledger, f"{start}0") in (None, person)


def _had(ledger: Ledger, growing: GrowingBenchmark, found: Proposal, step: Step, person: str) -> bool:
    """Whether they ever did, or did it: then a page of theirs leads here when somebody else was faster."""
    said = any(event.person == person and done_in(step, event) for event in found.events)
    return said or was_handed_out(ledger, person, f"{place_start(growing.id, step)}{found.id} ")


def _not_yours(found: Proposal, step: Step, *, honest: bool) -> Refusal:
    words = (
        f"This is not yours to {step}: it is your own work, somebody else has done it, or it waits for something else. "
        "Nothing was changed."
    )
    return Refusal(
        409,
        words,
        attack=None if honest else "refused: another's task",
        about=f"{step} {found.id}",
        code="EH-TASK-NOT-YOURS",
    )


async def keep_step(serving: Service, visiting: Visitor, task: ProposalTask, step: Step, said: Said) -> ProposalState:
    """Raises Refusal where it is not this person's to do, or came too late."""
    growing, found = task.growing, task.proposal
    must_be_open(growing)
    person, ledger = visiting.must_be("annotator", "owner").id, serving.ledger

    def keep() -> ProposalState:
        if not said_already(found.standing, found.events, person, said):
            _must_be_theirs(ledger, growing, found, step, person)
        stands = say(
            ledger,
            growing.id,
            found.id,
            said,
            person=person,
            allowed=lambda stands: _may(stands, growing, person, step),
            noted=line(visiting, _DONE[step], found.id),
        )
        done = place_start(growing.id, step, found)
        drop_draft(ledger, person, done)
        lease(ledger, person, (), start=done)
        return stands

    try:
        return await run_in_threadpool(keep)
    except TooLate:
        raise Refusal(
            409,
            "This was changed while you had it before you; look at it again, or take the next.",
            code="EH-CHANGED-SINCE",
        ) from None


async def keep_step_draft(
    serving: Service, visiting: Visitor, task: tuple[str, str], step: Step, typed: Mapping[str, str]
) -> None:
    """`task`: the benchmark and the proposal. Raises Refusal where it is not this person's to do."""
    growing, proposal = task
    person, ledger = visiting.must_be("annotator", "owner").id, serving.ledger

    def keep() -> None:
        found = _own(ledger, _growing(ledger, growing), proposal, step, person)
        save_draft(ledger, person, place_start(growing, step, found), typed)

    await run_in_threadpool(keep)


async def pass_over_writing(serving: Service, visiting: Visitor, asked: Assignments, number: int) -> None:
    """Raises Refusal where there is no such task."""
    what = task_of(asked, number).name(asked.growing.id)
    await run_in_threadpool(skip, serving.ledger, visiting.must_be("annotator", "owner").id, what)


async def withdraw_writing(serving: Service, visiting: Visitor, asked: Assignments, number: int) -> None:
    """Raises Refusal where nothing was written, or somebody has built on it."""
    task = task_of(asked, number)
    if task.proposal is None:
        raise not_found("such instruction of yours")
    person, said = visiting.must_be("annotator", "owner").id, Word(word="withdrawn", reason="By its writer.")
    await run_in_threadpool(change_own, serving.ledger, asked.growing.id, task.proposal.id, said, person=person)


async def pass_over(serving: Service, visiting: Visitor, growing: str, proposal: str, step: Step) -> None:
    """Others may take it then. Raises Refusal."""
    person, ledger = visiting.must_be("annotator", "owner").id, serving.ledger

    def pass_on() -> None:
        found = _own(ledger, _growing(ledger, growing), proposal, step, person)
        skip(ledger, person, step_skip(growing, step, found.id))
        lease(ledger, person, (), start=place_start(growing, step))

    await run_in_threadpool(pass_on)


async def offer_again(serving: Service, visiting: Visitor, growing: str, doing: Doing) -> None:
    """What this person passed over is offered to them again. Raises Refusal."""
    person = visiting.must_be("annotator", "owner").id
    here = await growing_of(serving, growing)
    await run_in_threadpool(unskip, serving.ledger, person, f"{doing} {here.id} ")
