"""What people do for a growing benchmark, with what is refused: shared by the pages and the API."""

from starlette.concurrency import run_in_threadpool

from evenhand.domain.proposal import (
    Caption,
    Instruction,
    Said,
    Standing,
    Verification,
    Word,
    may_caption,
    may_verify,
    may_write_again,
    said_already,
)
from evenhand.ledger.drafts import drop_draft
from evenhand.ledger.growing import GrowingBenchmark, find_growing
from evenhand.ledger.proposals import (
    Proposal,
    TooLate,
    find_proposal,
    lease,
    lease_holder,
    propose,
    say,
    skip,
    unskip,
    was_handed_out,
)
from evenhand.ledger.record import Ledger
from evenhand.web.growth import Asked, Doing, Step, WritingTask, asked_of, place_start, step_skip, writing_name
from evenhand.web.refusal import Refusal, not_found
from evenhand.web.service import Service
from evenhand.web.visitor import Visitor
from evenhand.web.watch import line

_NUMBER_MOST = 10_000


async def growing_of(serving: Service, growing: str) -> GrowingBenchmark:
    found = await run_in_threadpool(find_growing, serving.ledger, growing)
    if found is None:
        raise not_found("such growing benchmark")
    return found


async def growing_here(serving: Service, visiting: Visitor, growing: str) -> GrowingBenchmark:
    """For somebody who works on it. Raises Refusal."""
    visiting.must_be("annotator", "owner")
    return await growing_of(serving, growing)


async def asked_here(serving: Service, visiting: Visitor, growing: str) -> Asked:
    """What this benchmark asks of this person; `growing_here` costs less where only its terms matter."""
    return await asked_of_whom(serving, visiting, await growing_here(serving, visiting, growing))


async def asked_of_whom(serving: Service, visiting: Visitor, growing: GrowingBenchmark) -> Asked:
    person = visiting.must_be("annotator", "owner")
    return await run_in_threadpool(asked_of, serving.proposals, growing, person.id)


def must_be_open(growing: GrowingBenchmark) -> None:
    if growing.terms.paused:
        raise Refusal(409, f"'{growing.name}' is paused; come back when its owner has opened it again.")


def task_of(asked: Asked, number: int) -> WritingTask:
    if not 1 <= number <= min(len(asked.writing), _NUMBER_MOST):
        raise not_found("such task")
    return asked.writing[number - 1]


def keep_instruction(ledger: Ledger, visiting: Visitor, growing: str, task: WritingTask, said: Instruction) -> str:
    """The proposal's id. Raises Refusal where somebody has built on it already."""
    person = visiting.must_be("annotator", "owner").id
    try:
        proposal = propose(ledger, growing, said, person=person) if task.proposal is None else task.proposal.id
    except TooLate:
        raise Refusal(409, "You have written another one for this skill already; reload the page to see it.") from None
    if task.proposal is not None:
        change_own(ledger, growing, proposal, said, person=person)
    drop_draft(ledger, person, writing_name(growing, task.skill.name))
    return proposal


def change_own(ledger: Ledger, growing: str, proposal: str, said: Said, *, person: str) -> None:
    """Raises Refusal where it is not theirs, or somebody has built on it already."""
    try:
        say(ledger, growing, proposal, said, person=person, allowed=lambda found: may_write_again(found, person))
    except TooLate:
        words = "Somebody has captioned this one already, so it stays as it is; go on with the next task."
        raise Refusal(409, words) from None


async def task_here(serving: Service, growing: GrowingBenchmark, proposal: str) -> Proposal:
    """Whoever's it is. Raises Refusal."""
    found = await run_in_threadpool(find_proposal, serving.ledger, growing.id, proposal)
    if found is None:
        raise not_found("such task")
    return found


async def own_task(
    serving: Service, visiting: Visitor, growing: GrowingBenchmark, proposal: str, step: Step
) -> Proposal:
    """Raises Refusal where it is not this person's to do."""
    found = await task_here(serving, growing, proposal)
    person = visiting.must_be("annotator", "owner").id
    await run_in_threadpool(_must_be_theirs, serving.ledger, growing, found, step, person)
    return found


def _must_be_theirs(ledger: Ledger, growing: GrowingBenchmark, found: Proposal, step: Step, person: str) -> None:
    if not _may(found.standing, growing, person, step) or not _has(ledger, growing, found, step, person):
        raise _not_yours(found, step, honest=_had(ledger, growing, found, step, person))


def _may(stands: Standing, growing: GrowingBenchmark, person: str, step: Step) -> bool:
    rules = growing.terms.rules
    return may_caption(stands, person, rules) if step == "caption" else may_verify(stands, person, rules)


def _has(ledger: Ledger, growing: GrowingBenchmark, found: Proposal, step: Step, person: str) -> bool:
    """Whether they have it before them. A caption is the first one's who comes; an answer must have been handed out."""
    start = place_start(growing.id, step, found)
    if step == "verify":
        return found.standing.opinion_of(person) is not None or was_handed_out(ledger, person, start)
    return found.standing.stage != "caption" or lease_holder(ledger, f"{start}0") in (None, person)


def _had(ledger: Ledger, growing: GrowingBenchmark, found: Proposal, step: Step, person: str) -> bool:
    """Whether they ever did, or did it: then a page of theirs leads here when somebody else was faster."""
    kind = Caption if step == "caption" else Verification
    said = any(event.person == person and isinstance(event.said, kind) for event in found.events)
    return said or was_handed_out(ledger, person, f"{place_start(growing.id, step)}{found.id} ")


def _not_yours(found: Proposal, step: Step, *, honest: bool) -> Refusal:
    words = (
        f"This is not yours to {step}: it is your own work, somebody else has done it, or it waits for something else. "
        "Nothing was changed."
    )
    return Refusal(409, words, attack=None if honest else "refused: another's task", about=f"{step} {found.id}")


async def keep_step(
    serving: Service, visiting: Visitor, growing: GrowingBenchmark, found: Proposal, step: Step, said: Said
) -> Standing:
    """Raises Refusal where it is not this person's to do, or came too late."""
    must_be_open(growing)
    person, ledger = visiting.must_be("annotator", "owner").id, serving.ledger

    def keep() -> Standing:
        if not said_already(found.standing, found.events, person, said):
            _must_be_theirs(ledger, growing, found, step, person)
        stands = say(
            ledger,
            growing.id,
            found.id,
            said,
            person=person,
            allowed=lambda stands: _may(stands, growing, person, step),
            noted=line(visiting, {"caption": "captioned", "verify": "verified"}[step], found.id),
        )
        drop_draft(ledger, person, place_start(growing.id, step, found))
        return stands

    try:
        return await run_in_threadpool(keep)
    except TooLate:
        raise Refusal(
            409, "This was changed while you had it before you; look at it again, or take the next."
        ) from None


async def pass_over_writing(serving: Service, visiting: Visitor, asked: Asked, number: int) -> None:
    """Raises Refusal where there is no such task."""
    what = writing_name(asked.growing.id, task_of(asked, number).skill.name)
    await run_in_threadpool(skip, serving.ledger, visiting.must_be("annotator", "owner").id, what)


async def withdraw_writing(serving: Service, visiting: Visitor, asked: Asked, number: int) -> None:
    """Raises Refusal where nothing was written, or somebody has built on it."""
    task = task_of(asked, number)
    if task.proposal is None:
        raise not_found("such instruction of yours")
    person, said = visiting.must_be("annotator", "owner").id, Word(word="withdrawn", reason="By its writer.")
    await run_in_threadpool(change_own, serving.ledger, asked.growing.id, task.proposal.id, said, person=person)


async def pass_over(serving: Service, visiting: Visitor, growing: str, proposal: str, step: Step) -> None:
    """Others may take it then. Raises Refusal."""
    here = await growing_here(serving, visiting, growing)
    found = await own_task(serving, visiting, here, proposal, step)
    person = visiting.must_be("annotator", "owner").id
    await run_in_threadpool(skip, serving.ledger, person, step_skip(growing, step, found.id))
    await run_in_threadpool(lease, serving.ledger, person, (), start=place_start(growing, step))


async def offer_again(serving: Service, visiting: Visitor, growing: str, doing: Doing) -> None:
    """What this person passed over is offered to them again. Raises Refusal."""
    here = await growing_here(serving, visiting, growing)
    person = visiting.must_be("annotator", "owner").id
    await run_in_threadpool(unskip, serving.ledger, person, f"{doing} {here.id} ")
