"""What an owner does with a growing benchmark, for scripts: begin, set, decide, make versions and take them along."""

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from fastapi import Path, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from evenhand.site.api import Id
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import DOLLARS_MOST, Changing, FreshOwner, Owner, Serving
from evenhand.site.living.actions import growing_of
from evenhand.site.living.api import RAW_IMAGE, ExampleShown, sent_image, shown_example
from evenhand.site.living.events import ProposalEvent, Rules, Stage, Word
from evenhand.site.living.examples import SKILL_LONGEST, SKILLS_MOST, skills_with_examples
from evenhand.site.living.owner_pages import (
    ATTEMPTS_MOST,
    OUTPUT_LONGEST,
    REASON_LONGEST,
    VERIFIERS_MOST,
    begun,
    decided,
    exemplified,
    made_version,
    packed_version,
    proposal_of,
    settled,
    skill_of,
    trouble,
)
from evenhand.site.living.proposed import INSTRUCTION_LONGEST, NAME_LONGEST, named, plain
from evenhand.site.living.settings import (
    ROUNDS_MOST,
    Example,
    GrowingBenchmark,
    LivingTerms,
    NewBenchmark,
    Version,
    versions,
)
from evenhand.site.living.store import Proposal
from evenhand.site.openapi import DocumentRouter, Versioned

routes = DocumentRouter(prefix="/api", tags=["Growing"])

Name = Annotated[str, Field(min_length=1, max_length=NAME_LONGEST)]
Skills = Annotated[list[Annotated[str, Field(max_length=SKILL_LONGEST)]], Field(min_length=1, max_length=SKILLS_MOST)]
Number = Annotated[int, Path(ge=1, le=1_000_000)]


class NewGrowing(BaseModel):
    name: Name
    licence: Name
    skills: Skills = Field(description="Each is a task for everybody who writes; kept in small letters.")
    base: str | None = Field(default=None, max_length=100, description="The data it starts from.")


class Settings(BaseModel):
    """What is left out stays as it is."""

    skills: Skills | None = Field(default=None, description="All of them; those there were keep their examples.")
    per_skill: int | None = Field(
        default=None, ge=1, le=ROUNDS_MOST, description="Instructions that everybody writes for each skill."
    )
    alone: bool | None = Field(default=None, description="One person may caption and verify their own work.")
    verifiers: int | None = Field(default=None, ge=1, le=VERIFIERS_MOST)
    attempts: int | None = Field(default=None, ge=1, le=ATTEMPTS_MOST)
    max_cost: float | None = Field(default=None, ge=0, le=DOLLARS_MOST, description="Dollars; null is no limit.")
    paused: bool | None = None


class WorkedExample(BaseModel):
    instruction: str = Field(min_length=1, max_length=INSTRUCTION_LONGEST)
    output: str = Field(min_length=1, max_length=OUTPUT_LONGEST)


class Decision(BaseModel):
    word: Literal["cleared", "again", "rejected", "removed"] = Field(
        description="Clear a flag, try again or open again, reject, or take out what has joined."
    )
    reason: str = Field(default="", max_length=REASON_LONGEST, description="Needed to reject or to take out.")


class SkillListed(TypedDict):
    number: int
    skill: str


class GrowingDocument(Versioned):
    growing: str
    name: str
    licence: str
    base: str | None
    at: float
    skills: list[SkillListed]
    per_skill: int
    alone: bool
    verifiers: int
    attempts: int
    max_cost: float | None
    paused: bool


class SkillDocument(Versioned, SkillListed):
    example: ExampleShown


class ImageDocument(Versioned):
    image: str


class ProposalListed(TypedDict):
    proposal: str
    skill: str
    instruction: str
    stage: Stage
    reason: str | None
    image: str | None
    images: list[str]
    licence: str
    source: str | None
    instance: str | None
    caption: str | None
    answer: str | None
    at: float


class ProposalsDocument(Versioned):
    proposals: list[ProposalListed]


class ProposalDocument(Versioned, ProposalListed):
    pass


class ProposalWholeDocument(ProposalDocument):
    trouble: str | None
    events: list[dict[str, Any]]
    """Each with `at`, `person`, `what` happened, and the fields of that."""


class VersionListed(TypedDict):
    version: int
    data: str
    items: int
    at: float


class VersionsDocument(Versioned):
    versions: list[VersionListed]


class VersionDocument(Versioned, VersionListed):
    pass


@routes.post("/growing", summary="Begin a growing benchmark (owner)", status_code=201)
async def post_growing(serving: Serving, owner: Owner, changing: Changing, asked: NewGrowing) -> GrowingDocument:  # noqa: ARG001
    skills = await run_in_threadpool(skills_with_examples, serving.ledger, [plain(one) for one in asked.skills])
    new = NewBenchmark(
        name=named(asked.name, "the name"),
        licence=named(asked.licence, "the licence"),
        base=asked.base,
        terms=LivingTerms(skills=skills),
    )
    return _document(await growing_of(serving, await begun(serving, owner, new)))


def _needed(text: str, named: str) -> str:
    stripped = plain(text).strip()
    if not stripped:
        raise Refusal(422, f"{named} is missing.")
    return stripped


@routes.get("/growing/{growing}", summary="One growing benchmark and its settings (owner)")
async def get_growing(serving: Serving, owner: Owner, growing: Id) -> GrowingDocument:  # noqa: ARG001
    return _document(await growing_of(serving, growing))


def _document(found: GrowingBenchmark) -> GrowingDocument:
    terms = found.terms
    return {
        "schema": 1,
        "growing": found.id,
        "name": found.name,
        "licence": found.licence,
        "base": found.base,
        "at": found.at,
        "skills": [{"number": n, "skill": one.name} for n, one in enumerate(terms.skills, start=1)],
        "per_skill": terms.per_skill,
        "alone": terms.rules.alone,
        "verifiers": terms.rules.verifiers,
        "attempts": terms.rules.attempts,
        "max_cost": terms.max_cost,
        "paused": terms.paused,
    }


@routes.put("/growing/{growing}", summary="Change its settings, pause it, set its budget (owner)")
async def put_growing(
    serving: Serving,
    owner: FreshOwner,
    changing: Changing,  # noqa: ARG001
    growing: Id,
    asked: Settings,
) -> GrowingDocument:
    before = (await growing_of(serving, growing)).terms
    given: dict[str, Any] = {name: getattr(asked, name) for name in asked.model_fields_set}
    null = [name for name, value in given.items() if value is None and name != "max_cost"]
    if null:
        raise Refusal(422, f"{null[0]}: leave it out to keep it as it is.")
    skills = before.skills
    if "skills" in given:
        lines = [plain(one) for one in given.pop("skills")]
        skills = await run_in_threadpool(skills_with_examples, serving.ledger, lines, before.skills)
    ruled = {name: given.pop(name) for name in ("alone", "verifiers", "attempts") if name in given}
    rules: Rules = replace(before.rules, **ruled)
    await settled(serving, owner, growing, replace(before, skills=skills, rules=rules, **given))
    return _document(await growing_of(serving, growing))


@routes.get("/growing/{growing}/skills/{number}", summary="A skill and its worked example (owner)")
async def get_skill(serving: Serving, owner: Owner, growing: Id, number: Number) -> SkillDocument:  # noqa: ARG001
    found = skill_of(await growing_of(serving, growing), number)
    return {"schema": 1, "number": number, "skill": found.name, "example": shown_example(found.example)}


@routes.put("/growing/{growing}/skills/{number}", summary="Give a skill its worked example (owner)", status_code=204)
async def put_skill(
    serving: Serving,
    owner: Owner,
    changing: Changing,  # noqa: ARG001
    growing: Id,
    number: Number,
    asked: WorkedExample,
) -> Response:
    found = await growing_of(serving, growing)
    example = Example(
        instruction=_needed(asked.instruction, "The instruction"),
        output=_needed(asked.output, "The expected output"),
        image=skill_of(found, number).example.image,
    )
    await exemplified(serving, owner, found, number, example)
    return Response(status_code=204)


@routes.put(
    "/growing/{growing}/skills/{number}/image",
    summary="The image of a worked example, its bytes as they are (owner)",
    openapi_extra=RAW_IMAGE,
)
async def put_skill_image(
    request: Request,
    serving: Serving,
    owner: Owner,
    changing: Changing,  # noqa: ARG001
    growing: Id,
    number: Number,
) -> ImageDocument:
    found = await growing_of(serving, growing)
    before = skill_of(found, number).example
    image = await serving.uploads.keep(await sent_image(request), visitor=owner)
    await exemplified(serving, owner, found, number, replace(before, image=image))
    return {"schema": 1, "image": image}


@routes.get("/growing/{growing}/proposals", summary="All proposals, and where each stands (owner)")
async def list_proposals(serving: Serving, owner: Owner, growing: Id) -> ProposalsDocument:  # noqa: ARG001
    found = await growing_of(serving, growing)
    every = await run_in_threadpool(lambda: serving.proposals.of(found.id).proposals)
    return {"schema": 1, "proposals": [_proposal(one) for one in every]}


def _proposal(one: Proposal) -> ProposalListed:
    stands = one.standing
    return {
        "proposal": one.id,
        "skill": stands.asked.skill,
        "instruction": stands.instruction.text,
        "stage": stands.stage,
        "reason": stands.reason or None,
        "image": stands.image,
        "images": list(stands.images),
        "licence": stands.asked.licence,
        "source": stands.asked.origin or None,
        "instance": stands.asked.instance or None,
        "caption": None if stands.caption is None else stands.caption.text,
        "answer": None if stands.answer is None else stands.answer.text,
        "at": one.at,
    }


@routes.get("/growing/{growing}/proposals/{proposal}", summary="One proposal and all that was said of it (owner)")
async def get_proposal(serving: Serving, owner: Owner, growing: Id, proposal: Id) -> ProposalWholeDocument:  # noqa: ARG001
    one = await proposal_of(serving, await growing_of(serving, growing), proposal)
    return {
        "schema": 1,
        **_proposal(one),
        "trouble": trouble(one) or None,
        "events": [_event(event) for event in one.events],
    }


def _event(event: ProposalEvent) -> dict[str, Any]:
    return {"at": event.at, "person": event.person, "what": type(event.said).__name__, **asdict(event.said)}


@routes.post("/growing/{growing}/proposals/{proposal}", summary="Decide on a proposal, or take an item out (owner)")
async def post_decision(
    serving: Serving,
    owner: Owner,
    changing: Changing,  # noqa: ARG001
    growing: Id,
    proposal: Id,
    asked: Decision,
) -> ProposalDocument:
    await decided(serving, owner, growing, proposal, Word(word=asked.word, reason=plain(asked.reason).strip()))
    one = await proposal_of(serving, await growing_of(serving, growing), proposal)
    return {"schema": 1, **_proposal(one)}


@routes.get("/growing/{growing}/versions", summary="Its versions (owner)")
async def list_versions(serving: Serving, owner: Owner, growing: Id) -> VersionsDocument:  # noqa: ARG001
    found = await growing_of(serving, growing)
    made = await run_in_threadpool(versions, serving.ledger, found.id)
    return {"schema": 1, "versions": [_version(one) for one in made]}


def _version(one: Version) -> VersionListed:
    return {"version": one.number, "data": one.data, "items": one.items, "at": one.at}


@routes.post(
    "/growing/{growing}/versions",
    summary="A new version with all that was accepted, without what was taken out (owner)",
    status_code=201,
)
async def post_version(serving: Serving, owner: Owner, changing: Changing, growing: Id) -> VersionDocument:  # noqa: ARG001
    made = await made_version(serving, owner, growing)
    return {"schema": 1, **_version(made)}


@routes.get(
    "/growing/{growing}/versions/{version}",
    summary="A version as a ZIP archive, with captions and references (owner)",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}}},
)
async def get_version(request: Request, serving: Serving, owner: FreshOwner, growing: Id, version: Number) -> Response:
    return await packed_version(request, serving, owner, growing, version)
