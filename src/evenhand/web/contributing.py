"""What people do for a growing benchmark, with what is refused: shared by the pages and the API."""

from starlette.concurrency import run_in_threadpool

from evenhand.domain.proposal import Instruction, Said, Standing, may_caption, may_verify, may_write_again
from evenhand.ledger.growing import GrowingBenchmark, find_growing
from evenhand.ledger.proposals import Proposal, TooLate, find_proposal, lease_holder, propose, say
from evenhand.ledger.record import Ledger
from evenhand.web.growth import Asked, Step, WritingTask, asked_of, place_name
from evenhand.web.refusal import Refusal, not_found
from evenhand.web.service import Service
from evenhand.web.visitor import Visitor

_NUMBER_MOST = 10_000


async def growing_of(serving: Service, growing: str) -> GrowingBenchmark:
    found = await run_in_threadpool(find_growing, serving.ledger, growing)
    if found is None:
        raise not_found("such growing benchmark")
    return found


async def asked_here(serving: Service, visiting: Visitor, growing: str) -> Asked:
    """What this benchmark asks of this person. Raises Refusal."""
    person = visiting.must_be("annotator", "owner")
    found = await growing_of(serving, growing)
    return await run_in_threadpool(asked_of, serving.ledger, found, person.id)


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
        if task.proposal is None:
            return propose(ledger, growing, said, person=person)
    except TooLate:
        raise Refusal(409, "You have written one for this skill already; reload the page to see it.") from None
    change_own(ledger, growing, task.proposal.id, said, person=person)
    return task.proposal.id


def change_own(ledger: Ledger, growing: str, proposal: str, said: Said, *, person: str) -> None:
    """Raises Refusal where it is not theirs, or somebody has built on it already."""
    try:
        say(ledger, growing, proposal, said, person=person, allowed=lambda found: may_write_again(found, person))
    except TooLate:
        words = "Somebody has captioned this one already, so it stays as it is; go on with the next task."
        raise Refusal(409, words) from None


async def own_task(serving: Service, visiting: Visitor, asked: Asked, proposal: str, step: Step) -> Proposal:
    """Raises Refusal where it is not this person's to do."""
    found = await run_in_threadpool(find_proposal, serving.ledger, asked.growing.id, proposal)
    if found is None:
        raise not_found("such task")
    person = visiting.must_be("annotator", "owner").id
    if not _may(found.standing, asked.growing, person, step):
        raise _not_yours(found, step)
    if found.standing.stage == "caption":
        holder = await run_in_threadpool(lease_holder, serving.ledger, place_name(asked.growing.id, step, found.id))
        if holder not in (None, person):
            raise _not_yours(found, step)
    return found


def _may(stands: Standing, growing: GrowingBenchmark, person: str, step: Step) -> bool:
    rules = growing.terms.rules
    return may_caption(stands, person, rules) if step == "caption" else may_verify(stands, person, rules)


def _not_yours(found: Proposal, step: Step) -> Refusal:
    words = (
        f"This is not yours to {step}: it is your own work, somebody else has done it, or it waits for something else. "
        "Nothing was changed."
    )
    return Refusal(409, words, attack="refused: another's task", about=f"{step} {found.id}")


async def keep_step(
    serving: Service, visiting: Visitor, asked: Asked, found: Proposal, step: Step, said: Said
) -> Standing:
    """Raises Refusal where it is not this person's to do, or came too late."""
    must_be_open(asked.growing)
    person = visiting.must_be("annotator", "owner").id

    def keep() -> Standing:
        return say(
            serving.ledger,
            asked.growing.id,
            found.id,
            said,
            person=person,
            allowed=lambda stands: _may(stands, asked.growing, person, step),
        )

    try:
        stands = await run_in_threadpool(keep)
    except TooLate:
        raise Refusal(
            409, "This was changed while you had it before you; look at it again, or take the next."
        ) from None
    await serving.watch.note(visiting, {"caption": "captioned", "verify": "verified"}[step], found.id)
    return stands
