"""Comparisons, for the scripts of those who compare. No model is named to them."""

from functools import partial
from typing import Annotated, Any, NotRequired

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.site.http.pages import AsciiJson
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import Changing, Serving, Visiting
from evenhand.site.openapi import DocumentRouter, Versioned
from evenhand.site.people.comparisons import ComparisonTask, PersonShare, places_of
from evenhand.site.people.forms import FLAGS, SKIP, SKIP_REASONS, FormName
from evenhand.site.people.pages import (
    CHOICE_LONGEST,
    COMMENT_LONGEST,
    OPENED_LONGEST,
    SAID_MOST,
    SHOWING_LONGEST,
    SHOWN_ANEW,
    ShownChoice,
    criteria_of,
    open_studies,
    overtaken_sentence,
    own_choices,
    own_place,
    own_task,
    remarked,
    said,
    started,
    undone,
)
from evenhand.site.people.saying import Overtaken, ShownAnew, has_read

routes = DocumentRouter(prefix="/api", tags=["Comparing"])

Id = Annotated[str, Path(max_length=100)]
Number = Annotated[int, Path(ge=1, le=1_000_000)]


class Starting(BaseModel):
    study: str = Field(max_length=100)


class Choosing(BaseModel):
    choice: str = Field(max_length=CHOICE_LONGEST)
    showing: str = Field(
        max_length=SHOWING_LONGEST,
        description="What the choice is about, as the task said when you looked at it. Where the task shows something "
        "else by now the choice is refused with 409 and `changed`: look at it again.",
    )
    reason: str = Field(
        default="", max_length=CHOICE_LONGEST, description=f"With `skip`: one of {', '.join(SKIP_REASONS)}."
    )
    opened: str = Field(
        default="",
        max_length=OPENED_LONGEST,
        description="As the task said it: so the time that a choice took is known.",
    )
    after: int | None = Field(
        default=None,
        ge=0,
        le=SAID_MOST,
        description="How often you had chosen when you were asked, as `times` said: sending the same again changes "
        "nothing, and where you chose something else since it is refused with 409. Without it the choice is taken.",
    )


class Remarking(BaseModel):
    showing: str = Field(max_length=SHOWING_LONGEST)
    comment: str = Field(default="", max_length=COMMENT_LONGEST)
    flag: str = Field(default="", max_length=CHOICE_LONGEST, description=f"Empty, or one of {', '.join(FLAGS)}.")


class ShareListed(TypedDict):
    comparison: str
    title: str
    form: FormName
    question: str
    offered: list[str]
    tasks: int
    judged: int
    paused: bool
    closed: bool
    guideline: str
    """Empty where there is none; it is to be read before anything is chosen."""
    read: bool


class OpenStudy(TypedDict):
    study: str
    title: str
    form: FormName


class SharesDocument(Versioned):
    comparisons: list[ShareListed]
    open: list[OpenStudy]


class ShareDocument(Versioned, ShareListed):
    pass


class ChoicesDocument(ShareDocument):
    choices: list[str | None]


class TaughtFields(TypedDict):
    """Of a training item that was answered."""

    right: bool
    better: str | None
    """Null where neither is."""
    why: str


class Explained(TypedDict, total=False):
    task: str | None
    criteria: dict[str, str]


class ComparisonDocument(Versioned, Explained):
    number: int
    item: str
    instruction: str
    images: list[str | None]
    answers: list[str]
    showing: str
    opened: str
    choice: str | None
    times: int
    training: bool
    taught: NotRequired[TaughtFields]
    comment: str
    flag: str


class ChoiceDocument(Versioned):
    number: int
    choice: str | None
    times: int
    taught: NotRequired[TaughtFields]


class UndoneDocument(Versioned):
    number: int | None
    """Of the task of which something was taken back; null where nothing was said."""


class ChoiceRefused(Versioned):
    """With `changed` where the task shows something else by now, else with what was chosen since."""

    error: str
    code: str
    changed: NotRequired[bool]
    choice: NotRequired[str | None]
    times: NotRequired[int]


@routes.get("/comparisons", summary="My shares of studies, and the studies I could take part in")
async def list_places(serving: Serving, visiting: Visiting) -> SharesDocument:
    person = visiting.must_be("annotator", "owner")
    theirs = await run_in_threadpool(places_of, serving.ledger, person.id)
    free = await run_in_threadpool(open_studies, serving.ledger, person, theirs)
    return {
        "schema": 1,
        "comparisons": [_place(one) for one in theirs],
        "open": [{"study": one.id, "title": one.title, "form": one.form.name} for one in free],
    }


@routes.post("/comparisons", summary="Take part in a study", status_code=201)
async def new_place(serving: Serving, changing: Changing, asked: Starting) -> ShareDocument:
    place = await started(serving, changing, asked.study)
    return {"schema": 1, **_place(await own_place(serving, changing, place))}


@routes.get("/comparisons/{comparison}", summary="My share of a study: what I chose so far")
async def get_place(serving: Serving, visiting: Visiting, comparison: Id) -> ChoicesDocument:
    own, found = await own_choices(serving, visiting, comparison)
    return {"schema": 1, **_place(own), "choices": found}


def _place(place: PersonShare) -> ShareListed:
    return {
        "comparison": place.id,
        "title": place.title,
        "form": place.form.name,
        "question": place.form.question,
        "offered": [*(one.code for one in place.form.choices), *((SKIP,) if place.form.skips else ())],
        "tasks": place.tasks,
        "judged": place.judged,
        "paused": place.paused,
        "closed": place.closed,
        "guideline": place.conduct.guideline,
        "read": place.read or not place.conduct.to_read,
    }


@routes.put("/comparisons/{comparison}/guideline", summary="Say that I read the guideline", status_code=204)
async def put_read(serving: Serving, changing: Changing, comparison: Id) -> Response:
    own = await own_place(serving, changing, comparison)
    await serving.written(partial(has_read, serving.ledger, own))
    return Response(status_code=204)


@routes.post("/comparisons/{comparison}/undo", summary="Take back what I chose last")
async def post_undo(serving: Serving, changing: Changing, comparison: Id) -> UndoneDocument:
    return {"schema": 1, "number": await undone(serving, changing, comparison)}


@routes.put("/comparisons/{comparison}/{number}/remark", summary="Comment on a task, or flag it", status_code=204)
async def put_remark(
    serving: Serving, changing: Changing, comparison: Id, number: Number, asked: Remarking
) -> Response:
    shown = ShownChoice(place=comparison, number=str(number), showing=asked.showing)
    try:
        await remarked(serving, changing, shown, comment=asked.comment.strip(), flag=asked.flag)
    except ShownAnew as error:
        raise Refusal(409, SHOWN_ANEW) from error
    return Response(status_code=204)


@routes.get("/comparisons/{comparison}/{number}", summary="One of my tasks: two answers, in the order shown")
async def get_task(serving: Serving, visiting: Visiting, comparison: Id, number: Number) -> ComparisonDocument:
    own = await own_task(serving, visiting, comparison, str(number))
    task, item = own.task, own.task.item
    explained: Explained = {}
    if own.place.form.explained:
        explained = {"task": item.task, "criteria": dict(criteria_of(item))}
    return {
        "schema": 1,
        "number": task.number,
        "item": item.label,
        "instruction": item.instruction,
        "images": [one.digest for one in own.pictures],
        **explained,
        "answers": list(task.answers),
        "showing": task.showing,
        "opened": task.opened,
        "choice": task.said.choice,
        "times": task.said.times,
        "training": task.training,
        **_taught(task),
        "comment": task.comment,
        "flag": task.flag,
    }


class _Taught(TypedDict, total=False):
    taught: TaughtFields


def _taught(task: ComparisonTask) -> _Taught:
    told = task.taught
    return {} if told is None else {"taught": {"right": told.right, "better": told.better, "why": told.why}}


@routes.put(
    "/comparisons/{comparison}/{number}",
    summary="Choose; choosing anew supersedes, and nothing is overwritten",
    responses={200: {"model": ChoiceDocument}, 409: {"model": ChoiceRefused}},
)
async def put_choice(serving: Serving, changing: Changing, comparison: Id, number: Number, asked: Choosing) -> Response:
    try:
        shown = ShownChoice(
            place=comparison,
            number=str(number),
            showing=asked.showing,
            after=asked.after,
            opened=asked.opened,
            reason=asked.reason,
        )
        kept = await said(serving, changing, shown, asked.choice)
        found = kept.answer
    except ShownAnew:
        return AsciiJson({"schema": 1, "error": SHOWN_ANEW, "code": "EH-CONFLICT", "changed": True}, 409)
    except Overtaken as overtaken:
        stands = overtaken.said
        now = {"choice": stands.choice, "times": stands.times}
        return AsciiJson({"schema": 1, "error": overtaken_sentence(stands), "code": "EH-CONFLICT", **now}, 409)
    told: dict[str, Any] = {"schema": 1, "number": number, "choice": found.choice, "times": found.times}
    if number <= kept.place.training:
        told |= _taught((await own_task(serving, changing, comparison, str(number))).task)
    return AsciiJson(told)
