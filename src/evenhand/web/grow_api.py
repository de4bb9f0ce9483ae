"""The same as the pages where a benchmark grows, for scripts."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.domain.proposal import Caption, CaptionOrAnswer, Verification
from evenhand.ledger.drafts import save_draft
from evenhand.ledger.growing import VersionTaken, versions
from evenhand.ledger.grown import publish
from evenhand.ledger.proposals import Proposal
from evenhand.web.api import Document, Id
from evenhand.web.contributing import (
    asked_here,
    growing_of,
    keep_instruction,
    keep_step,
    must_be_open,
    task_here,
    task_of,
)
from evenhand.web.grow_pages import everything_asked
from evenhand.web.growth import Step, about, place_start, take, writing_name
from evenhand.web.proposed import (
    CAPTION_LONGEST,
    INSTRUCTION_LONGEST,
    LICENCE_LONGEST,
    URL_LONGEST,
    Sent,
    plain,
)
from evenhand.web.refusal import Refusal, not_found
from evenhand.web.service import Changing, Owner, Service, Serving, Visiting
from evenhand.web.visitor import Visitor

routes = APIRouter(prefix="/api", tags=["Growing"])

_SEQ_MOST = 2**62
DRAFT_LONGEST = 10_000
"""A draft may still be too long to be sent."""


class NewInstruction(BaseModel):
    instruction: str = Field(min_length=1, max_length=INSTRUCTION_LONGEST)
    image_url: str = Field(min_length=1, max_length=URL_LONGEST, description="Fetched by the worker.")
    licence: str = Field(min_length=1, max_length=LICENCE_LONGEST)


class NewCaption(BaseModel):
    about: int = Field(ge=0, le=_SEQ_MOST, description="As the task gave it.")
    caption: str = Field(min_length=1, max_length=CAPTION_LONGEST)


class NewVerification(BaseModel):
    about: int = Field(ge=0, le=_SEQ_MOST, description="As the task gave it.")
    follows: bool
    fault: CaptionOrAnswer | None = Field(default=None, description="Needed where it does not follow.")
    offensive: bool = False


@routes.get("/growing", summary="What growing benchmarks ask of me")
async def list_growing(serving: Serving, visiting: Visiting) -> Document:
    person = visiting.must_be("annotator", "owner")
    found = [
        {
            "growing": one.growing.id,
            "name": one.growing.name,
            "paused": one.growing.terms.paused,
            "items": one.joined,
            "write": [{"task": task.number, "skill": task.skill.name, "state": task.state} for task in one.writing],
            "caption": len(one.caption),
            "verify": len(one.verify),
        }
        for one in await run_in_threadpool(everything_asked, serving.proposals, person.id)
    ]
    return {"schema": 1, "growing": found}


@routes.put("/growing/{growing}/write/{task}", summary="Write an instruction, or change mine", status_code=201)
async def put_instruction(
    serving: Serving, changing: Changing, growing: Id, task: int, asked: NewInstruction
) -> Document:
    found = await asked_here(serving, changing, growing)
    must_be_open(found.growing)
    mine = task_of(found, task)
    sent = Sent(
        skill=mine.skill.name,
        text=_said(asked.instruction),
        licence=_said(asked.licence),
        url=plain(asked.image_url.strip()),
    )
    before = None if mine.proposal is None else mine.proposal.standing
    said = await sent.instruction(serving.uploads, changing, before=before)
    proposal = await run_in_threadpool(keep_instruction, serving.ledger, changing, growing, mine, said)
    await serving.watch.note(changing, "wrote an instruction", growing)
    return {"schema": 1, "proposal": proposal}


def _said(text: str) -> str:
    stripped = plain(text).strip()
    if not stripped:
        raise Refusal(422, "A text is empty; write something.")
    return stripped


@routes.post("/growing/{growing}/caption", summary="Take the next to caption; nobody else gets it for half an hour")
async def take_caption(serving: Serving, changing: Changing, growing: Id) -> Document:
    return await _taken(serving, changing, growing, "caption")


@routes.post("/growing/{growing}/verify", summary="Take the next to verify")
async def take_verify(serving: Serving, changing: Changing, growing: Id) -> Document:
    return await _taken(serving, changing, growing, "verify")


async def _taken(serving: Service, visitor: Visitor, growing: str, step: Step) -> Document:
    asked = await asked_here(serving, visitor, growing)
    must_be_open(asked.growing)
    person = visitor.must_be("annotator", "owner").id
    one = await run_in_threadpool(take, serving.ledger, asked, step, person)
    return {"schema": 1, "task": None if one is None else _task(one, step)}


def _task(one: Proposal, step: Step) -> dict[str, Any]:
    stands = one.standing
    shown = {
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
    found = await asked_here(serving, changing, growing)
    one = await task_here(serving, found, proposal)
    said = Caption(about=asked.about, text=_said(asked.caption))
    await keep_step(serving, changing, found, one, "caption", said)
    return Response(status_code=204)


@routes.put("/growing/{growing}/verify/{proposal}", summary="Verify it, or change what I said", status_code=204)
async def put_verification(
    serving: Serving, changing: Changing, growing: Id, proposal: Id, asked: NewVerification
) -> Response:
    found = await asked_here(serving, changing, growing)
    one = await task_here(serving, found, proposal)
    if not asked.follows and asked.fault is None:
        raise Refusal(422, "Where the answer does not follow, say what is at fault: answer, caption or neither.")
    rules = found.growing.terms.rules
    said = Verification(
        about=asked.about,
        follows=asked.follows,
        fault=None if asked.follows else asked.fault,
        offensive=asked.offensive,
        verifiers=rules.verifiers,
        attempts=rules.attempts,
    )
    await keep_step(serving, changing, found, one, "verify", said)
    return Response(status_code=204)


class DraftInstruction(BaseModel):
    instruction: str = Field(default="", max_length=DRAFT_LONGEST)
    licence: str = Field(default="", max_length=DRAFT_LONGEST)
    url: str = Field(default="", max_length=DRAFT_LONGEST)


class DraftCaption(BaseModel):
    caption: str = Field(default="", max_length=DRAFT_LONGEST)


@routes.put("/growing/{growing}/write/{task}/draft", summary="Keep what I typed and have not sent", status_code=204)
async def put_draft(serving: Serving, changing: Changing, growing: Id, task: int, typed: DraftInstruction) -> Response:
    found = await asked_here(serving, changing, growing)
    what = writing_name(growing, task_of(found, task).skill.name)
    return await _draft(serving, changing, what, typed)


@routes.put(
    "/growing/{growing}/caption/{proposal}/draft", summary="Keep a description I have not sent", status_code=204
)
async def put_caption_draft(
    serving: Serving, changing: Changing, growing: Id, proposal: Id, typed: DraftCaption
) -> Response:
    found = await asked_here(serving, changing, growing)
    one = await task_here(serving, found, proposal)
    return await _draft(serving, changing, place_start(growing, "caption", one), typed)


async def _draft(serving: Service, visitor: Visitor, what: str, typed: DraftInstruction | DraftCaption) -> Response:
    person = visitor.must_be("annotator", "owner").id
    await run_in_threadpool(save_draft, serving.ledger, person, what, typed.model_dump())
    return Response(status_code=204)


@routes.get("/growing/{growing}/proposals", summary="All proposals, and where each stands (owner)")
async def list_proposals(serving: Serving, owner: Owner, growing: Id) -> Document:  # noqa: ARG001
    found = await growing_of(serving, growing)
    shown = [
        {
            "proposal": one.id,
            "skill": one.standing.asked.skill,
            "instruction": one.standing.instruction.text,
            "stage": one.standing.stage,
            "reason": one.standing.reason or None,
            "image": one.standing.image,
            "licence": one.standing.asked.licence,
            "caption": None if one.standing.caption is None else one.standing.caption.text,
            "answer": None if one.standing.answer is None else one.standing.answer.text,
            "at": one.at,
        }
        for one in await run_in_threadpool(lambda: serving.proposals.of(found.id).proposals)
    ]
    return {"schema": 1, "proposals": shown}


@routes.get("/growing/{growing}/versions", summary="Its versions (owner)")
async def list_versions(serving: Serving, owner: Owner, growing: Id) -> Document:  # noqa: ARG001
    found = await growing_of(serving, growing)
    made = await run_in_threadpool(versions, serving.ledger, found.id)
    return {"schema": 1, "versions": [{"version": one.number, "data": one.data, "at": one.at} for one in made]}


@routes.post("/growing/{growing}/versions", summary="A new version with all that was accepted (owner)", status_code=201)
async def new_version(serving: Serving, owner: Owner, changing: Changing, growing: Id) -> Document:
    found = await growing_of(serving, growing)
    try:
        made = await run_in_threadpool(publish, serving.ledger, found, by=owner.must_be("owner").id)
    except VersionTaken as error:
        raise Refusal(409, str(error)) from error
    if made is None:
        raise not_found("accepted proposal that is in no version yet")
    await serving.watch.note(changing, "made a version", f"{growing} {made.number}")
    return {"schema": 1, "version": made.number, "data": made.data}
