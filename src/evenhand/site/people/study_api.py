"""Studies for people, for the owner's scripts."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.domain.estimate import Estimate
from evenhand.ledger.read.people_boards import PersonDecision, decisions, people_left_out
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Changing, FreshOwner, Owner, Serving
from evenhand.site.openapi import DocumentRouter, Versioned
from evenhand.site.people.forms import FormName
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
    one: ShareProgress,
    works: PersonQuality | None,
    out: PersonDecision | None,
    agrees: Estimate,
    remarks: Sequence[SaidTask],
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
