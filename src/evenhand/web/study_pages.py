"""The owner's studies for people: making one, giving places, how far each person has got and how far they agree."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.domain.comparing import FORMS
from evenhand.ledger.newest import newest
from evenhand.ledger.people import Person, find_person, people
from evenhand.ledger.people_studies import (
    PeopleStudy,
    PeopleStudyError,
    find_people_study,
    make_people_study,
    pause_people_study,
    people_studies,
    progress,
    remove_people_study,
    take_place,
)
from evenhand.ledger.projection import benchmarks
from evenhand.web.admin_pages import names_of
from evenhand.web.agreement import Agreement, agreement
from evenhand.web.refusal import Refusal, not_found
from evenhand.web.service import Owner, SentForm, Service, Serving
from evenhand.web.study_making import NewStudy, material, sent_study

pages = APIRouter(prefix="/admin/studies", include_in_schema=False)

Data = Annotated[str, Query(max_length=64)]


@pages.get("")
async def listed(request: Request, serving: Serving, owner: Owner) -> Response:  # noqa: ARG001
    found = await run_in_threadpool(people_studies, serving.ledger)
    there = await run_in_threadpool(benchmarks, serving.ledger)
    return serving.pages.page(request, "studies.html", {"studies": found, "benchmarks": there})


@pages.get("/new")
async def new(request: Request, serving: Serving, owner: Owner, data: Data) -> Response:  # noqa: ARG001
    found = await run_in_threadpool(material, serving.ledger, data)
    if found is None:
        raise not_found("such benchmark")
    return serving.pages.page(request, "study_new.html", {"material": found, "forms": FORMS.values()})


@pages.post("")
async def make(serving: Serving, owner: Owner, form: SentForm) -> Response:
    study = await made_study(serving, owner, sent_study(form))
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def made_study(serving: Service, owner: Owner, asked: NewStudy) -> str:
    """The id; raises Refusal where there is nothing to compare."""
    by = owner.must_be("owner").id
    try:
        study = await run_in_threadpool(make_people_study, serving.ledger, asked.asked(), made_by=by)
    except PeopleStudyError as error:
        raise Refusal(422, str(error)) from error
    await serving.watch.note(owner, "made a study", study)
    return study


@pages.get("/{study}")
async def followed(request: Request, serving: Serving, owner: Owner, study: str) -> Response:  # noqa: ARG001
    found = await study_of(serving, study)
    everybody = await run_in_threadpool(people, serving.ledger)
    places = await run_in_threadpool(progress, serving.ledger, study)
    taken = {one.person for one in places}
    boards = [
        one
        for one in await serving.boards()
        if one.human and one.data == found.data and one.protocol == found.form.protocol
    ]
    context = {
        "study": found,
        "places": places,
        "agreement": await agreement_of(serving, study),
        "names": await run_in_threadpool(names_of, serving.ledger),
        "others": [one for one in everybody if _may_compare(one) and one.id not in taken],
        "board": boards[0] if boards else None,
    }
    return serving.pages.page(request, "study.html", context)


async def study_of(serving: Service, study: str) -> PeopleStudy:
    found = await run_in_threadpool(find_people_study, serving.ledger, study)
    if found is None:
        raise not_found("such study")
    return found


async def agreement_of(serving: Service, study: str) -> Agreement | None:
    """Raises StillWorking."""
    state = await run_in_threadpool(newest, serving.ledger)
    return await serving.computed.get(
        ("agreement", study),
        lambda: agreement(serving.ledger, study),
        state=state,
        patience=serving.site.limits.patience,
    )


def _may_compare(person: Person) -> bool:
    return person.role in ("annotator", "owner") and not person.erased


@pages.post("/{study}/pause")
async def pause(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:
    await paused(serving, owner, study, paused=form.choice("what", ("pause", "resume")) == "pause")
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def paused(serving: Service, owner: Owner, study: str, *, paused: bool) -> None:
    if not await run_in_threadpool(pause_people_study, serving.ledger, study, paused=paused):
        raise not_found("such study")
    await serving.watch.note(owner, "paused a study" if paused else "resumed a study", study)


@pages.post("/{study}/places")
async def give_place(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:
    await given_place(serving, owner, study, form.text("person", most=100))
    return RedirectResponse(f"/admin/studies/{study}", 303)


async def given_place(serving: Service, owner: Owner, study: str, person: str) -> str:
    """The place's id; raises Refusal."""
    await study_of(serving, study)
    found = await run_in_threadpool(find_person, serving.ledger, person)
    if found is None or not _may_compare(found):
        raise not_found("such person who compares")
    place = await place_for(serving, study, found)
    await serving.watch.note(owner, "gave a place in a study", f"{study} to {found.label}")
    return place


async def place_for(serving: Service, study: str, person: Person) -> str:
    """Raises Refusal where none is free."""
    try:
        return await run_in_threadpool(take_place, serving.ledger, study, person)
    except PeopleStudyError as error:
        raise Refusal(409, str(error)) from error


@pages.post("/{study}/remove")
async def remove(serving: Serving, owner: Owner, form: SentForm, study: str) -> Response:  # noqa: ARG001
    await study_of(serving, study)
    if not await run_in_threadpool(remove_people_study, serving.ledger, study):
        raise Refusal(409, "Somebody has a place in this study already; pause it instead.")
    await serving.watch.note(owner, "removed a study", study)
    return RedirectResponse("/admin/studies", 303)
