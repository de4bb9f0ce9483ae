"""Studies for people and their comparisons, for scripts. No model is named to those who compare."""

from typing import Annotated, Any, NotRequired

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.domain.estimate import Estimate
from evenhand.site.http.pages import AsciiJson
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Changing, FreshOwner, Owner, Serving, Visiting
from evenhand.site.openapi import DocumentRouter, Versioned
from evenhand.site.people.comparisons import Overtaken, PersonShare, ShownAnew, places_of
from evenhand.site.people.forms import FormName
from evenhand.site.people.pages import (
    CHOICE_LONGEST,
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
    said,
    started,
)
from evenhand.site.people.plan import PeopleStudyError
from evenhand.site.people.studies import PeopleStudy, people_studies, progress
from evenhand.site.people.study_making import NewStudy, counted
from evenhand.site.people.study_pages import (
    agreement_of,
    changed,
    freed,
    given_place,
    made_study,
    paused,
    removed,
    renewed,
    study_of,
)

routes = DocumentRouter(prefix="/api", tags=["Comparing"])

Id = Annotated[str, Path(max_length=100)]
Number = Annotated[int, Path(ge=1, le=1_000_000)]


class Changes(BaseModel):
    """What is left out stays as it is."""

    paused: bool | None = None
    closed: bool | None = Field(default=None, description="Takes no more judgements, and everybody may see its board.")
    shown: bool | None = Field(default=None, description="Everybody may see its board while it runs.")
    counts: bool | None = Field(default=None, description="Whether it counts on the board that studies share.")


class Starting(BaseModel):
    study: str = Field(max_length=100)


class Choosing(BaseModel):
    choice: str = Field(max_length=CHOICE_LONGEST)
    showing: str = Field(
        max_length=SHOWING_LONGEST,
        description="What the choice is about, as the task said when you looked at it. Where the task shows something "
        "else by now the choice is refused with 409 and `changed`: look at it again.",
    )
    after: int | None = Field(
        default=None,
        ge=0,
        le=SAID_MOST,
        description="How often you had chosen when you were asked, as `times` said: sending the same again changes "
        "nothing, and where you chose something else since it is refused with 409. Without it the choice is taken.",
    )


class StudyListed(TypedDict):
    study: str
    title: str
    benchmark: str
    data: str
    form: FormName
    protocol: str
    comparisons: int
    places: int
    taken: int
    paused: bool
    closed: bool
    shown: bool
    counts: bool
    at: float
    asked: dict[str, Any]


class StudiesDocument(Versioned):
    studies: list[StudyListed]


class StudyDocument(Versioned, StudyListed):
    pass


class StudyCountDocument(Versioned):
    comparisons: int
    tasks: int
    people: int
    least: int
    most: int
    judged_by_models: int


class AgreementFields(TypedDict):
    agreement: float | None
    agreement_lower: float | None
    agreement_upper: float | None
    agreement_n: float | None
    agreement_reason: NotRequired[str]
    unbounded: NotRequired[str]


class StudyPerson(AgreementFields):
    person: str | None
    tasks: int
    judged: int
    last: float | None


class AlphaFields(TypedDict):
    alpha: float | None
    alpha_lower: float | None
    alpha_upper: float | None
    alpha_n: float | None
    alpha_reason: NotRequired[str]


class StudyProgressDocument(StudyDocument, AlphaFields, AgreementFields):
    people: list[StudyPerson]


class RenewedDocument(Versioned):
    tasks: int


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
    choice: str | None
    times: int


class ChoiceDocument(Versioned):
    number: int
    choice: str | None
    times: int


class ChoiceRefused(Versioned):
    """With `changed` where the task shows something else by now, else with what was chosen since."""

    error: str
    code: str
    changed: NotRequired[bool]
    choice: NotRequired[str | None]
    times: NotRequired[int]


@routes.get("/studies", summary="All studies for people (owner)")
async def list_studies(serving: Serving, owner: Owner) -> StudiesDocument:  # noqa: ARG001
    found = await run_in_threadpool(people_studies, serving.ledger)
    return {"schema": 1, "studies": [_study(one) for one in found]}


@routes.post("/studies", summary="Make a study for people (owner)", status_code=201)
async def new_study(serving: Serving, owner: Owner, changing: Changing, asked: NewStudy) -> StudyDocument:  # noqa: ARG001
    study = await made_study(serving, owner, asked)
    return {"schema": 1, **_study(await run_in_threadpool(study_of, serving.ledger, study))}


@routes.post("/studies/count", summary="How much a study would ask, before it is made (owner)")
async def count_study(serving: Serving, owner: Owner, changing: Changing, asked: NewStudy) -> StudyCountDocument:  # noqa: ARG001
    try:
        found = await run_in_threadpool(counted, serving.ledger, asked.asked())
    except PeopleStudyError as error:
        raise Refusal(422, str(error)) from error
    return {
        "schema": 1,
        "comparisons": found.comparisons,
        "tasks": found.tasks,
        "people": found.people,
        "least": found.least,
        "most": found.most,
        "judged_by_models": found.judged_by_models,
    }


@routes.get("/studies/{study}", summary="One study: each person's progress, and how far they agree (owner)")
async def get_study(serving: Serving, owner: Owner, study: Id) -> StudyProgressDocument:  # noqa: ARG001
    found = await run_in_threadpool(study_of, serving.ledger, study)
    places = await run_in_threadpool(progress, serving.ledger, study)
    agree = await agreement_of(serving, study)
    unknown = Estimate(value=None, reason="nobody has judged yet")
    shown: list[StudyPerson] = [
        {
            "person": one.person,
            "tasks": one.tasks,
            "judged": one.judged,
            "last": one.last,
            **_agreement(unknown if agree is None else agree.by_person.get(one.person or "", unknown)),
        }
        for one in places
    ]
    alpha = _alpha(unknown if agree is None else agree.alpha)
    sign = _agreement(unknown if agree is None else agree.sign)
    return {"schema": 1, **_study(found), "people": shown, **alpha, **sign}


def _alpha(found: Estimate) -> AlphaFields:
    fields: Any = found.as_json("alpha")
    return fields


def _agreement(found: Estimate) -> AgreementFields:
    fields: Any = found.as_json("agreement")
    return fields


@routes.put("/studies/{study}", summary="Pause, close or show a study for people (owner)", status_code=204)
async def put_study(serving: Serving, owner: FreshOwner, changing: Changing, study: Id, asked: Changes) -> Response:  # noqa: ARG001
    if asked.paused is not None:
        await paused(serving, owner, study, paused=asked.paused)
    if asked.closed is not None:
        await changed(serving, owner, study, "closed", on=asked.closed)
    if asked.shown is not None:
        await changed(serving, owner, study, "shown", on=asked.shown)
    if asked.counts is not None:
        await changed(serving, owner, study, "aside", on=not asked.counts)
    return Response(status_code=204)


@routes.put("/studies/{study}/people/{person}", summary="Give a person a place in a study (owner)", status_code=204)
async def put_place(serving: Serving, owner: Owner, changing: Changing, study: Id, person: Id) -> Response:  # noqa: ARG001
    await given_place(serving, owner, study, person)
    return Response(status_code=204)


@routes.delete(
    "/studies/{study}/people/{person}", summary="Free a person's place: what they judged stays (owner)", status_code=204
)
async def delete_place(serving: Serving, owner: Owner, changing: Changing, study: Id, person: Id) -> Response:  # noqa: ARG001
    await run_in_threadpool(study_of, serving.ledger, study)
    places = await run_in_threadpool(progress, serving.ledger, study)
    place = next((one.place for one in places if one.person == person), None)
    if place is None:
        raise not_found("such person with a place in this study")
    await freed(serving, owner, study, place, person)
    return Response(status_code=204)


@routes.post("/studies/{study}/renew", summary="Ask about the models' present answers (owner)")
async def post_renewal(serving: Serving, owner: Owner, changing: Changing, study: Id) -> RenewedDocument:  # noqa: ARG001
    return {"schema": 1, "tasks": await renewed(serving, owner, study)}


@routes.delete("/studies/{study}", summary="Remove a study in which nobody has a place (owner)", status_code=204)
async def delete_study(serving: Serving, owner: FreshOwner, changing: Changing, study: Id) -> Response:  # noqa: ARG001
    await removed(serving, owner, study)
    return Response(status_code=204)


def _study(study: PeopleStudy) -> StudyListed:
    return {
        "study": study.id,
        "title": study.title,
        "benchmark": study.benchmark,
        "data": study.data,
        "form": study.form.name,
        "protocol": study.form.protocol,
        "comparisons": study.comparisons,
        "places": study.places,
        "taken": study.taken,
        "paused": study.paused,
        "closed": study.closed,
        "shown": study.shown,
        "counts": study.counts,
        "at": study.at,
        "asked": dict(study.asked),
    }


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
        "offered": [one.code for one in place.form.choices],
        "tasks": place.tasks,
        "judged": place.judged,
        "paused": place.paused,
        "closed": place.closed,
    }


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
        "choice": task.said.choice,
        "times": task.said.times,
    }


@routes.put(
    "/comparisons/{comparison}/{number}",
    summary="Choose; choosing anew supersedes, and nothing is overwritten",
    responses={200: {"model": ChoiceDocument}, 409: {"model": ChoiceRefused}},
)
async def put_choice(serving: Serving, changing: Changing, comparison: Id, number: Number, asked: Choosing) -> Response:
    try:
        shown = ShownChoice(place=comparison, number=str(number), showing=asked.showing, after=asked.after)
        found = (await said(serving, changing, shown, asked.choice)).answer
    except ShownAnew:
        return AsciiJson({"schema": 1, "error": SHOWN_ANEW, "code": "EH-CONFLICT", "changed": True}, 409)
    except Overtaken as overtaken:
        stands = overtaken.said
        now = {"choice": stands.choice, "times": stands.times}
        return AsciiJson({"schema": 1, "error": overtaken_sentence(stands), "code": "EH-CONFLICT", **now}, 409)
    return AsciiJson({"schema": 1, "number": number, "choice": found.choice, "times": found.times})
