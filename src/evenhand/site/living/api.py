"""The same as the pages where people let a benchmark grow, for scripts."""

from typing import Annotated, Any, NotRequired

from fastapi import Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.site.api import Id
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import Changing, Service, Serving, Visiting
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.actions import (
    handed_out,
    keep_step,
    keep_step_draft,
    must_be_open,
    offer_again,
    pass_over,
    task_here,
)
from evenhand.site.living.events import CaptionOrAnswer, Stage, Verification
from evenhand.site.living.growth import STEPS, Doing, Step, TaskState, WritingTask, about
from evenhand.site.living.pages import everything_asked
from evenhand.site.living.proposed import (
    CAPTION_LONGEST,
    CAPTION_SHORTEST,
    IMAGE_KINDS,
    IMAGES_MOST,
    INSTRUCTION_LONGEST,
    UPLOAD_BYTES,
    caption_said,
    given_instruction,
    plain,
)
from evenhand.site.living.settings import Example
from evenhand.site.living.store import Proposal
from evenhand.site.openapi import DocumentRouter, Versioned

routes = DocumentRouter(prefix="/api", tags=["Growing"])

_SEQ_MOST = 2**62
DRAFT_LONGEST = 10_000
"""A draft may still be too long to be sent."""
RAW_IMAGE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"An image's bytes as they are, of one of these kinds: {', '.join(IMAGE_KINDS)}.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

CaptionWords = Annotated[str, Field(min_length=CAPTION_SHORTEST, max_length=CAPTION_LONGEST)]


class NewCaption(BaseModel):
    about: int = Field(ge=0, le=_SEQ_MOST, description="As the task gave it.")
    caption: CaptionWords | None = None
    captions: list[CaptionWords] | None = Field(
        default=None, max_length=IMAGES_MOST, description="In its place, of several images: one each, in their order."
    )


class OfferAgain(BaseModel):
    step: Doing


class NewVerification(BaseModel):
    about: int = Field(ge=0, le=_SEQ_MOST, description="As the task gave it.")
    follows: bool
    fault: CaptionOrAnswer | None = Field(default=None, description="Needed where it does not follow.")
    offensive: bool = False


class RejectedInstruction(TypedDict):
    instruction: str
    reason: str


class WritingListed(TypedDict):
    task: int
    skill: str
    round: int
    state: TaskState
    proposal: str | None
    stage: Stage | None
    image_fault: str | None
    rejected: RejectedInstruction | None


class AssignmentListed(TypedDict):
    growing: str
    name: str
    paused: bool
    items: int
    write: list[WritingListed]
    instruct: int
    caption: int
    verify: int
    done: dict[Step, list[str]]
    passed_over: list[Doing]


class AssignmentsDocument(Versioned):
    growing: list[AssignmentListed]


class ExampleShown(TypedDict):
    instruction: str
    output: str
    image: str | None
    skill: str


class TaskShown(TypedDict):
    """`caption` and `answer` are there to be verified; of an image that was taken in, the instruction is empty."""

    proposal: str
    about: int
    skill: str
    instruction: str
    image: str | None
    images: list[str]
    caption: NotRequired[str]
    answer: NotRequired[str]


class TaskDocument(Versioned):
    task: TaskShown | None


@routes.get("/growing", summary="What growing benchmarks ask of me")
async def list_growing(serving: Serving, visiting: Visiting) -> AssignmentsDocument:
    person = visiting.must_be("annotator", "owner")
    found: list[AssignmentListed] = [
        {
            "growing": one.growing.id,
            "name": one.growing.name,
            "paused": one.growing.terms.paused,
            "items": one.joined,
            "write": [writing_listed(task) for task in one.writing],
            "instruct": len(one.instruct),
            "caption": len(one.caption),
            "verify": len(one.verify),
            "done": {step: [each.id for each in one.done(step)] for step in STEPS},
            "passed_over": sorted(one.passed_over),
        }
        for one in await run_in_threadpool(everything_asked, serving.proposals, person.id)
    ]
    return {"schema": 1, "growing": found}


def writing_listed(task: WritingTask) -> WritingListed:
    rejected = None if task.rejected is None else task.rejected.standing
    return {
        "task": task.number,
        "skill": task.skill.name,
        "round": task.round,
        "state": task.state,
        "proposal": None if task.proposal is None else task.proposal.id,
        "stage": None if task.proposal is None else task.proposal.standing.stage,
        "image_fault": task.image_fault,
        "rejected": None if rejected is None else {"instruction": rejected.instruction.text, "reason": rejected.reason},
    }


def shown_example(one: Example) -> ExampleShown:
    return {"instruction": one.instruction, "output": one.output, "image": one.image, "skill": one.skill}


def one_of(one: str | None, several: list[str] | None, named: str) -> list[str]:
    """Raises Refusal where neither is given, or both."""
    if (one is None) is (several is None):
        raise Refusal(422, f"Give {named}, or {named}s in its place where there are several.")
    return several if several is not None else [one or ""]


async def sent_image(request: Request) -> bytes:
    """Raises Refusal where there is none, or it is too large."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "The image comes as it is, without a Content-Encoding; send the plain bytes.")
    data = await request.body()
    if not data:
        raise Refusal(422, "The image is missing: send its bytes as the body.")
    if len(data) > UPLOAD_BYTES:
        raise Refusal(422, f"A file may have {UPLOAD_BYTES // 1_000_000} MB here; make it smaller.")
    return data


@routes.post("/growing/{growing}/instruct/{proposal}/skip", summary="Pass over one to write for", status_code=204)
async def skip_instruct(serving: Serving, changing: Changing, growing: Id, proposal: Id) -> Response:
    await pass_over(serving, changing, growing, proposal, "instruct")
    return Response(status_code=204)


@routes.post("/growing/{growing}/caption/{proposal}/skip", summary="Pass over one to caption", status_code=204)
async def skip_caption(serving: Serving, changing: Changing, growing: Id, proposal: Id) -> Response:
    await pass_over(serving, changing, growing, proposal, "caption")
    return Response(status_code=204)


@routes.post("/growing/{growing}/verify/{proposal}/skip", summary="Pass over one to verify", status_code=204)
async def skip_verify(serving: Serving, changing: Changing, growing: Id, proposal: Id) -> Response:
    await pass_over(serving, changing, growing, proposal, "verify")
    return Response(status_code=204)


@routes.post("/growing/{growing}/offer-again", summary="Offer me again what I passed over", status_code=204)
async def post_offer_again(serving: Serving, changing: Changing, growing: Id, asked: OfferAgain) -> Response:
    await offer_again(serving, changing, growing, asked.step)
    return Response(status_code=204)


def said_text(text: str) -> str:
    stripped = plain(text).strip()
    if not stripped:
        raise Refusal(422, "A text is empty; write something.")
    return stripped


@routes.post("/growing/{growing}/instruct", summary="Take the next image that was taken in without an instruction")
async def take_instruct(serving: Serving, changing: Changing, growing: Id) -> TaskDocument:
    return await _taken(serving, changing, growing, "instruct")


@routes.post("/growing/{growing}/caption", summary="Take the next to caption; nobody else gets it for half an hour")
async def take_caption(serving: Serving, changing: Changing, growing: Id) -> TaskDocument:
    return await _taken(serving, changing, growing, "caption")


@routes.post("/growing/{growing}/verify", summary="Take the next to verify")
async def take_verify(serving: Serving, changing: Changing, growing: Id) -> TaskDocument:
    return await _taken(serving, changing, growing, "verify")


async def _taken(serving: Service, visitor: Visitor, growing: str, step: Step) -> TaskDocument:
    out = await handed_out(serving, visitor, growing, step)
    must_be_open(out.asked.growing)
    return {"schema": 1, "task": None if out.proposal is None else _task(out.proposal, step)}


def _task(one: Proposal, step: Step) -> TaskShown:
    stands = one.standing
    shown: TaskShown = {
        "proposal": one.id,
        "about": about(one, step),
        "skill": stands.asked.skill,
        "instruction": stands.instruction.text,
        "image": stands.image,
        "images": list(stands.images),
    }
    if step != "verify":
        return shown
    assert stands.caption is not None
    assert stands.answer is not None
    return {**shown, "caption": stands.caption.text, "answer": stands.answer.text}


class GivenInstruction(BaseModel):
    instruction: str = Field(min_length=1, max_length=INSTRUCTION_LONGEST)


@routes.put("/growing/{growing}/instruct/{proposal}", summary="Write its instruction, or change mine", status_code=204)
async def put_given(
    serving: Serving, changing: Changing, growing: Id, proposal: Id, asked: GivenInstruction
) -> Response:
    task = await task_here(serving, changing, growing, proposal)
    said = given_instruction(task.proposal.standing, said_text(asked.instruction))
    await keep_step(serving, changing, task, "instruct", said)
    return Response(status_code=204)


@routes.put("/growing/{growing}/caption/{proposal}", summary="Caption it, or change my caption", status_code=204)
async def put_caption(serving: Serving, changing: Changing, growing: Id, proposal: Id, asked: NewCaption) -> Response:
    task = await task_here(serving, changing, growing, proposal)
    texts = [said_text(one) for one in one_of(asked.caption, asked.captions, "caption")]
    said = caption_said(texts, about=asked.about, images=len(task.proposal.standing.images))
    await keep_step(serving, changing, task, "caption", said)
    return Response(status_code=204)


@routes.put("/growing/{growing}/verify/{proposal}", summary="Verify it, or change what I said", status_code=204)
async def put_verification(
    serving: Serving, changing: Changing, growing: Id, proposal: Id, asked: NewVerification
) -> Response:
    task = await task_here(serving, changing, growing, proposal)
    if not asked.follows and asked.fault is None:
        raise Refusal(
            422,
            "Where the answer does not follow, say what is at fault: answer, caption or neither.",
            code="EH-VERIFY-INCOMPLETE",
        )
    rules = task.growing.terms.rules
    said = Verification(
        about=asked.about,
        follows=asked.follows,
        fault=None if asked.follows else asked.fault,
        offensive=asked.offensive,
        verifiers=rules.verifiers,
        attempts=rules.attempts,
    )
    await keep_step(serving, changing, task, "verify", said)
    return Response(status_code=204)


DraftCaption = dict[
    Annotated[str, Field(pattern=r"^caption(_([2-9]|10))?$")], Annotated[str, Field(max_length=DRAFT_LONGEST)]
]
"""By the fields of the form: `caption`, and of several images `caption_2` and so on."""


class DraftGiven(BaseModel):
    instruction: str = Field(default="", max_length=DRAFT_LONGEST)


@routes.put("/growing/{growing}/instruct/{proposal}/draft", summary="Keep one I have not sent", status_code=204)
async def put_given_draft(
    serving: Serving, changing: Changing, growing: Id, proposal: Id, typed: DraftGiven
) -> Response:
    await keep_step_draft(serving, changing, (growing, proposal), "instruct", typed.model_dump())
    return Response(status_code=204)


@routes.put("/growing/{growing}/caption/{proposal}/draft", summary="Keep a caption I have not sent", status_code=204)
async def put_caption_draft(
    serving: Serving, changing: Changing, growing: Id, proposal: Id, typed: DraftCaption
) -> Response:
    await keep_step_draft(serving, changing, (growing, proposal), "caption", typed)
    return Response(status_code=204)
