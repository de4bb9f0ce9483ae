"""The same as the pages where people write instructions, for scripts."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.site.api import Id
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import Changing, Service, Serving, Visiting
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.actions import (
    asked_here,
    keep_instruction,
    must_be_open,
    pass_over_writing,
    task_of,
    withdraw_writing,
)
from evenhand.site.living.api import (
    DRAFT_LONGEST,
    RAW_IMAGE,
    ExampleShown,
    WritingListed,
    one_of,
    said_text,
    sent_image,
    shown_example,
    writing_listed,
)
from evenhand.site.living.drafts import save_draft
from evenhand.site.living.events import is_address
from evenhand.site.living.growth import WritingTask
from evenhand.site.living.proposed import (
    IMAGES_MOST,
    INSTRUCTION_LONGEST,
    LICENCE_LONGEST,
    URL_LONGEST,
    Sent,
    plain,
)
from evenhand.site.openapi import DocumentRouter, Versioned

routes = DocumentRouter(prefix="/api", tags=["Growing"])

Words = Annotated[str, Query(min_length=1, max_length=INSTRUCTION_LONGEST)]
Licence = Annotated[str, Query(min_length=1, max_length=LICENCE_LONGEST, description="A public one, of the image.")]
Place = Annotated[
    int, Query(ge=1, le=IMAGES_MOST, description="Which of several images; 1 begins anew, others are added in order.")
]


class NewInstruction(BaseModel):
    instruction: str = Field(min_length=1, max_length=INSTRUCTION_LONGEST)
    image_url: str | None = Field(
        default=None, min_length=1, max_length=URL_LONGEST, description="Fetched by the worker."
    )
    image_urls: list[Annotated[str, Field(min_length=1, max_length=URL_LONGEST)]] | None = Field(
        default=None,
        min_length=1,
        max_length=IMAGES_MOST,
        description="Of several images, in their order.",
    )
    licence: str = Field(min_length=1, max_length=LICENCE_LONGEST, description="A public one, such as CC BY 4.0.")


class WritingDocument(Versioned, WritingListed):
    example: ExampleShown


class ProposedDocument(Versioned):
    proposal: str


@routes.get("/growing/{growing}/write/{task}", summary="One of my writing tasks, with its worked example")
async def get_writing(serving: Serving, visiting: Visiting, growing: Id, task: int) -> WritingDocument:
    mine = task_of(await asked_here(serving, visiting, growing), task)
    return {"schema": 1, **writing_listed(mine), "example": shown_example(mine.skill.example)}


@routes.put("/growing/{growing}/write/{task}", summary="Write an instruction, or change mine", status_code=201)
async def put_instruction(
    serving: Serving, changing: Changing, growing: Id, task: int, asked: NewInstruction
) -> ProposedDocument:
    mine = await _open_task(serving, changing, growing, task)
    sent = Sent(
        skill=mine.skill.name,
        round=mine.round,
        text=said_text(asked.instruction),
        licence=said_text(asked.licence),
        urls=tuple(plain(one.strip()) for one in one_of(asked.image_url, asked.image_urls, "image_url")),
    )
    return await _written(serving, changing, growing, mine, sent)


@routes.put(
    "/growing/{growing}/write/{task}/upload",
    summary="The same with the image itself as the body, its bytes as they are",
    status_code=201,
    openapi_extra=RAW_IMAGE,
)
async def put_upload(
    request: Request,
    serving: Serving,
    changing: Changing,
    growing: Id,
    task: int,
    instruction: Words,
    licence: Licence,
    image: Place = 1,
) -> ProposedDocument:
    mine = await _open_task(serving, changing, growing, task)
    before = () if mine.proposal is None else mine.proposal.standing.asked.images
    if image > len(before) + 1 or any(map(is_address, before[: image - 1])):
        raise Refusal(422, f"Image {image} comes after {image - 1} that were uploaded; upload those first.")
    sent = Sent(
        skill=mine.skill.name,
        round=mine.round,
        text=said_text(instruction),
        licence=said_text(licence),
        uploads=(await sent_image(request),),
        after=before[: image - 1],
    )
    return await _written(serving, changing, growing, mine, sent)


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


class DraftInstruction(BaseModel):
    instruction: str = Field(default="", max_length=DRAFT_LONGEST)
    licence: str = Field(default="", max_length=DRAFT_LONGEST)
    licence_other: str = Field(default="", max_length=DRAFT_LONGEST)
    url: str = Field(default="", max_length=DRAFT_LONGEST)


@routes.put("/growing/{growing}/write/{task}/draft", summary="Keep what I typed and have not sent", status_code=204)
async def put_draft(serving: Serving, changing: Changing, growing: Id, task: int, typed: DraftInstruction) -> Response:
    found = await asked_here(serving, changing, growing)
    what = task_of(found, task).name(growing)
    await run_in_threadpool(save_draft, serving.ledger, found.person, what, typed.model_dump())
    return Response(status_code=204)
