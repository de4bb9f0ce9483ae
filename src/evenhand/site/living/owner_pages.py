"""The owner's pages of benchmarks that grow: what to write, the pipeline, each proposal's history, versions."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response, StreamingResponse

from evenhand.exchange.errors import ExchangeError
from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import WorkerNote, worker_notes
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.request_guard import begun_in_time
from evenhand.site.http.service import FreshOwner, Owner, SentFields, SentForm, Service, Serving
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.actions import growing_of
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.events import OwnersWord, Rules, Stage, Word
from evenhand.site.living.examples import known_skills, skills_with_examples
from evenhand.site.living.export import zipped
from evenhand.site.living.following import next_try
from evenhand.site.living.growth import shares, sources, verifiers_agreement
from evenhand.site.living.proposed import IMAGE_KINDS, INSTRUCTION_LONGEST, NAME_LONGEST, UPLOAD_BYTES, named, plain
from evenhand.site.living.settings import (
    ROUNDS_MOST,
    Example,
    GrowingBenchmark,
    LivingTerms,
    NameTaken,
    NewBenchmark,
    Skill,
    Version,
    begin_growing,
    growing_benchmarks,
    set_terms,
    versions,
)
from evenhand.site.living.store import Proposal, find_proposal, say
from evenhand.site.living.versions import NOTHING_NEW, Coming, NothingLeft, coming, grown_version, items_held, publish
from evenhand.site.owner.pages import names_of

pages = APIRouter(prefix="/admin/growing", include_in_schema=False)

SKILLS_LONGEST = 20_000
OUTPUT_LONGEST = 4_000
REASON_LONGEST = 500
VERIFIERS_MOST = 9
ATTEMPTS_MOST = 9
ABSENT_AFTER = 90.0
"""Seconds without a word of a worker after which the page says that none is there."""

STAGES: Mapping[Stage, str] = {
    "image": "Image",
    "instruct": "Instruction",
    "caption": "Caption",
    "answer": "Answer",
    "verify": "Verify",
    "flagged": "Flagged",
    "accepted": "Accepted",
    "joined": "Joined",
    "rejected": "Rejected",
    "withdrawn": "Withdrawn",
    "removed": "Taken out",
}
DECISIONS: tuple[OwnersWord, ...] = ("cleared", "again", "rejected", "removed")


@pages.get("")
async def overview(request: Request, serving: Serving, owner: Owner) -> Response:  # noqa: ARG001
    return await _overview(request, serving)


async def _overview(request: Request, serving: Service, *, fault: Refusal | None = None, **sent: str) -> Response:
    context = await run_in_threadpool(_all_growing, serving.proposals)
    filled = {"name": "", "licence": "CC BY 4.0", "skills": "", "base": "", **sent}
    return serving.pages.page(
        request,
        "growing.html",
        {**context, "fault": fault, "filled": filled, "known": known_skills()},
        status=200 if fault is None else 422,
    )


def _all_growing(at_hand: ProposalCache) -> dict[str, Any]:
    ledger = at_hand.ledger
    found = [
        (one, Counter(each.standing.stage for each in at_hand.of(one.id).proposals), len(versions(ledger, one.id)))
        for one in growing_benchmarks(ledger)
    ]
    return {"growing": found, "bases": benchmarks(ledger), "stages": STAGES}


@pages.post("")
async def begin(request: Request, serving: Serving, owner: Owner, form: SentForm) -> Response:
    try:
        asked = await run_in_threadpool(_new, serving.ledger, form)
        made = await begun(serving, owner, asked)
    except Refusal as refusal:
        sent = {name: form.text(name, most=SKILLS_LONGEST * 10) for name in ("name", "licence", "skills", "base")}
        return await _overview(request, serving, fault=refusal, **sent)
    return RedirectResponse(f"/admin/growing/{made}", 303)


def _new(ledger: Ledger, form: SentFields) -> NewBenchmark:
    return NewBenchmark(
        name=named(form.text("name", most=NAME_LONGEST, required="the name"), "the name"),
        licence=named(form.text("licence", most=NAME_LONGEST, required="the licence"), "the licence"),
        base=form.text("base", most=100) or None,
        terms=LivingTerms(skills=_skills(ledger, form, ())),
    )


async def begun(serving: Service, owner: Visitor, asked: NewBenchmark) -> str:
    """The new one's id. Raises Refusal."""

    def begin() -> str:
        if asked.base is not None and asked.base not in {one.data for one in benchmarks(serving.ledger)}:
            raise Refusal(422, "The benchmark it starts from is not on record.")
        try:
            return begin_growing(serving.ledger, asked, by=owner.must_be("owner").id)
        except NameTaken as error:
            raise Refusal(422, str(error)) from error

    made = await run_in_threadpool(begin)
    await serving.watch.note(owner, "began a growing benchmark", made)
    return made


def _skills(ledger: Ledger, form: SentFields, before: tuple[Skill, ...]) -> tuple[Skill, ...]:
    """One a line."""
    lines = plain(form.text("skills", most=SKILLS_LONGEST, required="at least one skill")).splitlines()
    return skills_with_examples(ledger, lines, before)


@pages.get("/{growing}")
async def pipeline(
    request: Request,
    serving: Serving,
    owner: Owner,  # noqa: ARG001
    growing: str,
    stage: str = "",
) -> Response:
    found = await growing_of(serving, growing)
    context = await run_in_threadpool(_pipeline, serving.proposals, found, stage)
    return serving.pages.page(request, "pipeline.html", context)


def _pipeline(at_hand: ProposalCache, growing: GrowingBenchmark, stage: str) -> dict[str, Any]:
    ledger, every = at_hand.ledger, list(at_hand.of(growing.id).proposals)
    shown = [one for one in every if not stage or one.standing.stage == stage]
    made = versions(ledger, growing.id)
    return {
        "growing": growing,
        "stages": STAGES,
        "counts": Counter(one.standing.stage for one in every),
        "stage": stage,
        "shown": sorted(shown, key=lambda one: one.at, reverse=True)[:200],
        "total": len(shown),
        "trouble": {one.id: trouble(one) for one in every},
        "names": names_of(ledger),
        "sources": sources(every),
        "shares": shares(every),
        "agreement": verifiers_agreement(every),
        "versions": made[::-1],
        "coming": _coming(ledger, growing, every, made),
        "worker": worker_state(worker_notes(ledger)),
        "limits": {"per_skill": ROUNDS_MOST, "verifiers": VERIFIERS_MOST, "attempts": ATTEMPTS_MOST},
    }


def _coming(
    ledger: Ledger, growing: GrowingBenchmark, every: Sequence[Proposal], made: Sequence[Version]
) -> Coming | None:
    """The next version; None where it would be what there is."""
    if not any(one.standing.stage in ("accepted", "removed") for one in every):
        return None
    found = coming(every, items_held(ledger, growing, made))
    return found if found.changes else None


def trouble(one: Proposal) -> str:
    """What stands in the worker's way, and whether it tries again."""
    stands = one.standing
    if not stands.failures:
        return ""
    detail = getattr(stands.failures[-1].said, "detail", "")
    return f"{detail} {'Waits for you.' if next_try(stands) is None else 'Will be tried again.'}"


def worker_state(notes: Mapping[str, WorkerNote]) -> dict[str, Any]:
    seen = notes.get("worker")
    there = seen is not None and time.time() - seen.at < ABSENT_AFTER
    said = [note.sentence for work, note in notes.items() if work != "worker" and note.sentence]
    return {"there": there, "seen": None if seen is None else seen.at, "said": said}


@pages.post("/{growing}/settings")
async def settings(serving: Serving, owner: FreshOwner, form: SentForm, growing: str) -> Response:
    found = await growing_of(serving, growing)
    terms = await run_in_threadpool(_terms, serving.ledger, form, found.terms)
    await settled(serving, owner, growing, terms)
    return RedirectResponse(f"/admin/growing/{growing}#settings", 303)


async def settled(serving: Service, owner: Visitor, growing: str, terms: LivingTerms) -> None:
    await run_in_threadpool(set_terms, serving.ledger, growing, terms, by=owner.must_be("owner").id)
    await serving.watch.note(owner, "changed a growing benchmark", growing)


def _terms(ledger: Ledger, form: SentFields, before: LivingTerms) -> LivingTerms:
    return LivingTerms(
        skills=_skills(ledger, form, before.skills),
        per_skill=_per_skill(form, before),
        rules=Rules(
            alone=form.text("alone", most=10) == "yes",
            verifiers=form.number("verifiers", least=1, most=VERIFIERS_MOST),
            attempts=form.number("attempts", least=1, most=ATTEMPTS_MOST),
        ),
        max_cost=form.dollars("max_cost"),
        paused=form.text("paused", most=10) == "yes",
    )


def _per_skill(form: SentFields, before: LivingTerms) -> int:
    # A page from before there were several has no such field.
    if not form.text("per_skill", most=10):
        return before.per_skill
    return form.number("per_skill", least=1, most=ROUNDS_MOST)


@pages.get("/{growing}/skills/{number}")
async def skill(request: Request, serving: Serving, owner: Owner, growing: str, number: int) -> Response:  # noqa: ARG001
    found = await growing_of(serving, growing)
    context = {
        "growing": found,
        "number": number,
        "skill": skill_of(found, number),
        "longest": {"instruction": INSTRUCTION_LONGEST, "output": OUTPUT_LONGEST},
        "kinds": IMAGE_KINDS,
    }
    return serving.pages.page(request, "skill.html", context)


def skill_of(growing: GrowingBenchmark, number: int) -> Skill:
    """Raises Refusal where there is none of this number, from 1."""
    if not 1 <= number <= len(growing.terms.skills):
        raise not_found("such skill")
    return growing.terms.skills[number - 1]


@pages.post("/{growing}/skills/{number}")
async def set_example(serving: Serving, owner: Owner, form: SentForm, growing: str, number: int) -> Response:
    found = await growing_of(serving, growing)
    before = skill_of(found, number)
    upload = await form.upload("image", most=UPLOAD_BYTES)
    image = before.example.image if upload is None else await serving.uploads.keep(upload, visitor=owner)
    example = Example(
        instruction=plain(form.text("instruction", most=INSTRUCTION_LONGEST, required="the instruction")),
        output=plain(form.text("output", most=OUTPUT_LONGEST, required="the expected output")),
        image=image,
    )
    await exemplified(serving, owner, found, number, example)
    return RedirectResponse(f"/admin/growing/{growing}#settings", 303)


async def exemplified(
    serving: Service, owner: Visitor, growing: GrowingBenchmark, number: int, example: Example
) -> None:
    """Raises Refusal where there is no such skill."""
    before = skill_of(growing, number)
    skills = tuple(replace(one, example=example) if one == before else one for one in growing.terms.skills)
    terms = replace(growing.terms, skills=skills)
    await run_in_threadpool(set_terms, serving.ledger, growing.id, terms, by=owner.must_be("owner").id)
    await serving.watch.note(owner, "changed a worked example", f"{growing.id} {number}")


@pages.get("/{growing}/proposals/{proposal}")
async def history(request: Request, serving: Serving, owner: Owner, growing: str, proposal: str) -> Response:  # noqa: ARG001
    found = await growing_of(serving, growing)
    one = await proposal_of(serving, found, proposal)
    context = {
        "growing": found,
        "one": one,
        "stands": one.standing,
        "stages": STAGES,
        "trouble": trouble(one),
        "names": await run_in_threadpool(names_of, serving.ledger),
    }
    return serving.pages.page(request, "proposal.html", context)


async def proposal_of(serving: Service, growing: GrowingBenchmark, proposal: str) -> Proposal:
    """Raises Refusal."""
    found = await run_in_threadpool(find_proposal, serving.ledger, growing.id, proposal)
    if found is None:
        raise not_found("such proposal")
    return found


@pages.post("/{growing}/proposals/{proposal}")
async def decide(serving: Serving, owner: Owner, form: SentForm, growing: str, proposal: str) -> Response:
    word = cast("OwnersWord", form.choice("word", DECISIONS))
    said = Word(word=word, reason=plain(form.text("reason", most=REASON_LONGEST)))
    await decided(serving, owner, growing, proposal, said)
    return RedirectResponse(f"/admin/growing/{growing}/proposals/{proposal}", 303)


async def decided(serving: Service, owner: Visitor, growing: str, proposal: str, said: Word) -> None:
    """Raises Refusal where a reason is missing, or it changes nothing."""
    await proposal_of(serving, await growing_of(serving, growing), proposal)
    if said.word in ("rejected", "removed") and not said.reason:
        raise Refusal(422, "The reason is missing; say why, as its writer is told.")
    try:
        await run_in_threadpool(say, serving.ledger, growing, proposal, said, person=owner.must_be("owner").id)
    except TooLate:
        raise Refusal(409, "As this proposal stands, that changes nothing; look at it again.") from None
    await serving.watch.note(owner, f"decided on a proposal: {said.word}", proposal)


@pages.post("/{growing}/versions")
async def new_version(serving: Serving, owner: Owner, form: SentForm, growing: str) -> Response:  # noqa: ARG001
    await made_version(serving, owner, growing)
    return RedirectResponse(f"/admin/growing/{growing}#versions", 303)


async def made_version(serving: Service, owner: Visitor, growing: str) -> Version:
    """Raises Refusal where there is nothing new, or nothing left."""
    found = await growing_of(serving, growing)
    try:
        made = await run_in_threadpool(publish, serving.ledger, found, by=owner.must_be("owner").id)
    except NothingLeft as error:
        raise Refusal(409, str(error), code="EH-VERSION-EMPTY") from error
    if made is None:
        raise Refusal(409, NOTHING_NEW)
    await serving.watch.note(owner, "made a version", f"{growing} {made.number}")
    return made


@pages.get("/{growing}/versions/{number}.zip")
async def download(request: Request, serving: Serving, owner: FreshOwner, growing: str, number: int) -> Response:
    return await packed_version(request, serving, owner, growing, number)


async def packed_version(request: Request, serving: Service, owner: Visitor, growing: str, number: int) -> Response:
    """An archive with captions and references: for the owner only. Raises Refusal."""
    found = await growing_of(serving, growing)
    grown = await run_in_threadpool(grown_version, serving.ledger, found, number)
    if grown is None:
        raise not_found("such version")
    try:
        packed = await serving.at_length(partial(zipped, serving.ledger, grown))
    except ExchangeError as error:
        raise Refusal(409, str(error)) from error
    await serving.watch.note(owner, "exported a version", f"{growing} {number}")
    headers = {"Content-Disposition": f'attachment; filename="{growing}-version-{number}.zip"'}
    begun_in_time(request)
    return StreamingResponse(packed, media_type="application/zip", headers=headers)
