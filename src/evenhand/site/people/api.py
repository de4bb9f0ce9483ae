"""Studies for people and their comparisons, for scripts. No model is named to those who compare."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal, NotRequired

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.domain.estimate import Estimate
from evenhand.ledger.read.people_boards import Decision, decisions, people_left_out
from evenhand.site.http.pages import AsciiJson
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Changing, FreshOwner, Owner, Serving, Visiting
from evenhand.site.openapi import DocumentRouter, Versioned
from evenhand.site.people.comparisons import ComparisonTask, Overtaken, PersonShare, ShownAnew, has_read, places_of
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
from evenhand.site.people.plan import PeopleStudyError
from evenhand.site.people.quality import PersonQuality, SaidTask, broken_rules, remarks_in, rule_named
from evenhand.site.people.studies import PeopleStudy, ShareProgress, people_studies, progress
from evenhand.site.people.study_making import QUESTION_LONGEST, NewStudy, counted
from evenhand.site.people.study_pages import (
    RULE_LONGEST,
    agreement_of,
    asked_otherwise,
    changed,
    decided_on,
    freed,
    given_place,
    left_out_by,
    made_study,
    paused,
    quality_of,
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
    question: str | None = Field(
        default=None,
        max_length=QUESTION_LONGEST,
        description="While nobody has a place; empty for the form's own.",
    )


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


class Deciding(BaseModel):
    counts: bool
    rule: str = Field(default="", max_length=RULE_LONGEST, description="Why; needed to leave somebody out.")


class Ruling(BaseModel):
    rule: Literal["gold", "repeats", "others", "side", "judge"]
    limit: float = Field(ge=0, le=1)


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
    counts: bool
    """Whether the owner has not left them out."""
    rule: str | None
    """By which they were."""
    problems: list[str]
    """Rules that they break at their usual limits."""
    gold: float | None
    gold_n: float
    repeats: float | None
    repeats_n: float
    first_position: float | None
    judge: str | None
    """The one they are most like, and how often they say what it says."""
    as_judge: float | None
    seconds: float | None
    """Median of the time that a verdict took."""
    skipped: int
    both_bad: int
    flags: int
    comments: int


class LeftOutDocument(Versioned):
    people: list[str]


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
    works = {one.person: one for one in await quality_of(serving, study)}
    remarks = await run_in_threadpool(remarks_in, serving.ledger, study)
    out = people_left_out(await run_in_threadpool(decisions, serving.ledger, study))
    shown = [
        _person(
            one,
            works.get(one.person or ""),
            None if one.person is None else out.get(one.person),
            unknown if agree is None else agree.by_person.get(one.person or "", unknown),
            remarks,
        )
        for one in places
    ]
    alpha = _alpha(unknown if agree is None else agree.alpha)
    sign = _agreement(unknown if agree is None else agree.sign)
    return {"schema": 1, **_study(found), "people": shown, **alpha, **sign}


def _person(
    one: ShareProgress, works: PersonQuality | None, out: Decision | None, agrees: Estimate, remarks: Sequence[SaidTask]
) -> StudyPerson:
    like = None if works is None else works.judge
    return {
        "person": one.person,
        "tasks": one.tasks,
        "judged": one.judged,
        "last": one.last,
        **_agreement(agrees),
        "counts": out is None,
        "rule": None if out is None else out.rule,
        "problems": [] if works is None else [words for _, words in broken_rules(works)],
        "gold": None if works is None else works.gold.value,
        "gold_n": 0 if works is None else works.gold.n,
        "repeats": None if works is None else works.repeats.value,
        "repeats_n": 0 if works is None else works.repeats.n,
        "first_position": None if works is None else works.first.value,
        "judge": None if like is None else like.judge,
        "as_judge": None if like is None else like.share.value,
        "seconds": None if works is None else works.seconds,
        "skipped": 0 if works is None else works.skipped,
        "both_bad": 0 if works is None else works.both_bad,
        "flags": sum(bool(said.flag) for said in remarks if said.person == one.person),
        "comments": sum(bool(said.comment) for said in remarks if said.person == one.person),
    }


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
    if asked.question is not None:
        await asked_otherwise(serving, owner, study, asked.question.strip())
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


@routes.put(
    "/studies/{study}/people/{person}/counts",
    summary="Leave a person out of a study, or let them count again (owner)",
    status_code=204,
)
async def put_counts(
    serving: Serving,
    owner: Owner,
    changing: Changing,  # noqa: ARG001
    study: Id,
    person: Id,
    asked: Deciding,
) -> Response:
    if not asked.counts and not asked.rule.strip():
        raise Refusal(422, "Say by which rule the person is left out.")
    await decided_on(serving, owner, study, person, asked.rule.strip(), out=not asked.counts)
    return Response(status_code=204)


@routes.post("/studies/{study}/rule", summary="Leave out everybody who breaks a rule now (owner)")
async def post_rule(serving: Serving, owner: Owner, changing: Changing, study: Id, asked: Ruling) -> LeftOutDocument:  # noqa: ARG001
    rule = rule_named(asked.rule)
    assert rule is not None
    return {"schema": 1, "people": await left_out_by(serving, owner, study, rule, asked.limit)}


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
