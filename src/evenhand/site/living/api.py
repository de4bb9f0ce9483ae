"""The same as the pages where people let a benchmark grow, for scripts."""

from typing import Annotated, Any, NotRequired

from fastapi import Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.site.api import Id
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import Changing, Service, Serving, Visiting
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.actions import (
    asked_here,
    handed_out,
    keep_caption_draft,
    keep_instruction,
    keep_step,
    must_be_open,
    offer_again,
    pass_over,
    pass_over_writing,
    task_here,
    task_of,
    withdraw_writing,
)
from evenhand.site.living.drafts import save_draft
from evenhand.site.living.events import Caption, CaptionOrAnswer, Stage, Verification
from evenhand.site.living.growth import Doing, Step, TaskState, WritingTask, about, writing_name
from evenhand.site.living.pages import everything_asked
from evenhand.site.living.proposed import (
    CAPTION_LONGEST,
    CAPTION_SHORTEST,
    IMAGE_KINDS,
    INSTRUCTION_LONGEST,
    LICENCE_LONGEST,
    UPLOAD_BYTES,
    URL_LONGEST,
    Sent,
    caption_text,
    plain,
)
from evenhand.site.living.settings import Example
from evenhand.site.living.store import Proposal
from evenhand.site.openapi import DocumentRouter, Versioned

routes = DocumentRouter(prefix="/api", tags=["Growing"])

_SEQ_MOST = 2**62
DRAFT_LONGEST = 10_000
"""A draft may still be too long to be sent."""
STEPS: tuple[Step, ...] = ("caption", "verify")
RAW_IMAGE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"An image's bytes as they are, of one of these kinds: {', '.join(IMAGE_KINDS)}.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

Words = Annotated[str, Query(min_length=1, max_length=INSTRUCTION_LONGEST)]
Licence = Annotated[str, Query(min_length=1, max_length=LICENCE_LONGEST, description="A public one, of the image.")]


class NewInstruction(BaseModel):
    instruction: str = Field(min_length=1, max_length=INSTRUCTION_LONGEST)
    image_url: str = Field(min_length=1, max_length=URL_LONGEST, description="Fetched by the worker.")
    licence: str = Field(min_length=1, max_length=LICENCE_LONGEST, description="A public one, such as CC BY 4.0.")


class NewCaption(BaseModel):
    about: int = Field(ge=0, le=_SEQ_MOST, description="As the task gave it.")
    caption: str = Field(min_length=CAPTION_SHORTEST, max_length=CAPTION_LONGEST)


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


class WritingDocument(Versioned, WritingListed):
    example: ExampleShown


class ProposedDocument(Versioned):
    proposal: str


class TaskShown(TypedDict):
    """`caption` and `answer` are there to be verified."""

    proposal: str
    about: int
    skill: str
    instruction: str
    image: str | None
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
            "write": [_writing(task) for task in one.writing],
            "caption": len(one.caption),
            "verify": len(one.verify),
            "done": {step: [each.id for each in one.done(step)] for step in STEPS},
            "passed_over": sorted(one.passed_over),
        }
        for one in await run_in_threadpool(everything_asked, serving.proposals, person.id)
    ]
    return {"schema": 1, "growing": found}


def _writing(task: WritingTask) -> WritingListed:
    rejected = None if task.rejected is None else task.rejected.standing
    return {
        "task": task.number,
        "skill": task.skill.name,
        "state": task.state,
        "proposal": None if task.proposal is None else task.proposal.id,
        "stage": None if task.proposal is None else task.proposal.standing.stage,
        "image_fault": task.image_fault,
        "rejected": None if rejected is None else {"instruction": rejected.instruction.text, "reason": rejected.reason},
    }


@routes.get("/growing/{growing}/write/{task}", summary="One of my writing tasks, with its worked example")
async def get_writing(serving: Serving, visiting: Visiting, growing: Id, task: int) -> WritingDocument:
    mine = task_of(await asked_here(serving, visiting, growing), task)
    return {"schema": 1, **_writing(mine), "example": shown_example(mine.skill.example)}


def shown_example(one: Example) -> ExampleShown:
    return {"instruction": one.instruction, "output": one.output, "image": one.image, "skill": one.skill}


@routes.put("/growing/{growing}/write/{task}", summary="Write an instruction, or change mine", status_code=201)
async def put_instruction(
    serving: Serving, changing: Changing, growing: Id, task: int, asked: NewInstruction
) -> ProposedDocument:
    mine = await _open_task(serving, changing, growing, task)
    sent = Sent(
        skill=mine.skill.name,
        text=_said(asked.instruction),
        licence=_said(asked.licence),
        url=plain(asked.image_url.strip()),
    )
    return await _written(serving, changing, growing, mine, sent)


@routes.put(
    "/growing/{growing}/write/{task}/upload",
    summary="The same with the image itself as the body, its bytes as they are",
    status_code=201,
    openapi_extra=RAW_IMAGE,
)
async def put_upload(
    request: Request, serving: Serving, changing: Changing, growing: Id, task: int, instruction: Words, licence: Licence
) -> ProposedDocument:
    mine = await _open_task(serving, changing, growing, task)
    sent = Sent(
        skill=mine.skill.name,
        text=_said(instruction),
        licence=_said(licence),
        url="",
        upload=await sent_image(request),
    )
    return await _written(serving, changing, growing, mine, sent)


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


async def _open_task(serving: Service, visitor: Visitor, growing: str, task: int) -> WritingTask:
    found = await asked_here(serving, visitor, growing)
    must_be_open(found.growing)
    return task_of(found, task)


async def _written(serving: Service, visitor: Visitor, growing: str, mine: WritingTask, sent: Sent) -> ProposedDocument:
    before = None if mine.proposal is None else mine.proposal.standing
    said = await sent.instruction(serving.uploads, visitor, before=before)
    proposal = await run_in_threadpool(keep_instruction, serving.ledger, visitor, growing, mine, said)
    return {"schema": 1, "proposal": proposal}


@routes.delete("/growing/{growing}/write/{task}", summary="Withdraw what I wrote", status_code=204)
async def delete_writing(serving: Serving, changing: Changing, growing: Id, task: int) -> Response:
    await withdraw_writing(serving, changing, await asked_here(serving, changing, growing), task)
    return Response(status_code=204)


@routes.post("/growing/{growing}/write/{task}/skip", summary="Pass over a skill", status_code=204)
async def skip_writing(serving: Serving, changing: Changing, growing: Id, task: int) -> Response:
    await pass_over_writing(serving, changing, await asked_here(serving, changing, growing), task)
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


def _said(text: str) -> str:
    stripped = plain(text).strip()
    if not stripped:
        raise Refusal(422, "A text is empty; write something.")
    return stripped


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
    }
    if step == "caption":
        return shown
    assert stands.caption is not None
    assert stands.answer is not None
    return {**shown, "caption": stands.caption.text, "answer": stands.answer.text}


@routes.put("/growing/{growing}/caption/{proposal}", summary="Caption it, or change my caption", status_code=204)
async def put_caption(serving: Serving, changing: Changing, growing: Id, proposal: Id, asked: NewCaption) -> Response:
    task = await task_here(serving, changing, growing, proposal)
    said = Caption(about=asked.about, text=caption_text(_said(asked.caption)))
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


class DraftInstruction(BaseModel):
    instruction: str = Field(default="", max_length=DRAFT_LONGEST)
    licence: str = Field(default="", max_length=DRAFT_LONGEST)
    licence_other: str = Field(default="", max_length=DRAFT_LONGEST)
    url: str = Field(default="", max_length=DRAFT_LONGEST)


class DraftCaption(BaseModel):
    caption: str = Field(default="", max_length=DRAFT_LONGEST)


@routes.put("/growing/{growing}/write/{task}/draft", summary="Keep what I typed and have not sent", status_code=204)
async def put_draft(serving: Serving, changing: Changing, growing: Id, task: int, typed: DraftInstruction) -> Response:
    found = await asked_here(serving, changing, growing)
    what = writing_name(growing, task_of(found, task).skill.name)
    await run_in_threadpool(save_draft, serving.ledger, found.person, what, typed.model_dump())
    return Response(status_code=204)


@routes.put("/growing/{growing}/caption/{proposal}/draft", summary="Keep a caption I have not sent", status_code=204)
async def put_caption_draft(
    serving: Serving, changing: Changing, growing: Id, proposal: Id, typed: DraftCaption
) -> Response:
    await keep_caption_draft(serving, changing, growing, proposal, typed.model_dump())
    return Response(status_code=204)
