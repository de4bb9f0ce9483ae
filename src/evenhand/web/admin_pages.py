"""The owner's pages: invitations, people, benchmarks, the audit log."""

import time
from collections.abc import Mapping
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.ledger.audit_log import events
from evenhand.ledger.opened import close_benchmark, open_benchmark, opened_benchmarks
from evenhand.ledger.people import (
    DAY,
    Invite,
    Person,
    Role,
    end_access,
    erase_name,
    find_person,
    invitations,
    invite,
    people,
    revoke_invitation,
)
from evenhand.ledger.projection import benchmarks
from evenhand.ledger.record import Ledger
from evenhand.web.refusal import not_found
from evenhand.web.service import Form, Owner, SentForm, Service, Serving

pages = APIRouter(prefix="/admin", include_in_schema=False)

ROLES: Mapping[Role, str] = {
    "annotator": "writes, captions, verifies and compares",
    "team": "submits answers of a model",
    "owner": "sees and decides everything",
}
NOTE_LONGEST = 200
USES_MOST, DAYS_MOST = 1000, 365
_EVENTS = 100


@pages.get("")
async def overview(request: Request, serving: Serving, owner: Owner) -> Response:  # noqa: ARG001
    return await _overview(request, serving)


async def _overview(request: Request, serving: Service, *, link: str | None = None, status: int = 200) -> Response:
    context = await run_in_threadpool(_everything, serving.ledger)
    return serving.pages.page(request, "admin.html", {**context, "link": link, "roles": ROLES}, status=status)


def _everything(ledger: Ledger) -> dict[str, Any]:
    now, opened = time.time(), opened_benchmarks(ledger)
    return {
        "invitations": [(one, one.fault(now)) for one in invitations(ledger)],
        "people": people(ledger),
        "benchmarks": [(one, one.data in opened) for one in benchmarks(ledger)],
        "events": events(ledger, most=10),
        "names": names_of(ledger),
    }


def names_of(ledger: Ledger) -> dict[str, str]:
    return {person.id: person.shown for person in people(ledger)}


@pages.post("/invitations")
async def new_invitation(request: Request, serving: Serving, owner: Owner, form: SentForm) -> Response:
    asked = _asked(form, owner.must_be("owner"))
    granted = await run_in_threadpool(invite, serving.ledger, asked)
    await serving.watch.note(owner, "invited", f"{asked.role}, invitation {granted.id}")
    return await _overview(request, serving, link=f"{serving.site.url}/join/{granted.token}", status=201)


def _asked(form: Form, by: Person) -> Invite:
    return Invite(
        role=cast("Role", form.choice("role", tuple(ROLES))),
        note=form.text("note", most=NOTE_LONGEST),
        uses=form.number("uses", least=1, most=USES_MOST),
        lasts=form.number("days", least=1, most=DAYS_MOST) * DAY,
        made_by=by.id,
    )


@pages.post("/invitations/{invitation}/revoke")
async def revoke(serving: Serving, owner: Owner, form: SentForm, invitation: str) -> Response:  # noqa: ARG001
    if not await run_in_threadpool(revoke_invitation, serving.ledger, invitation):
        raise not_found("such open invitation")
    await serving.watch.note(owner, "revoked an invitation", invitation)
    return RedirectResponse("/admin", 303)


@pages.post("/people/{person}/link")
async def link_back(request: Request, serving: Serving, owner: Owner, form: SentForm, person: str) -> Response:  # noqa: ARG001
    """A link by which a person who lost their session comes back."""
    found = await run_in_threadpool(find_person, serving.ledger, person)
    if found is None or found.erased:
        raise not_found("such person")
    asked = Invite(role=found.role, person=found.id, made_by=owner.must_be("owner").id)
    granted = await run_in_threadpool(invite, serving.ledger, asked)
    await serving.watch.note(owner, "made a link to come back", person)
    return await _overview(request, serving, link=f"{serving.site.url}/join/{granted.token}", status=201)


@pages.post("/people/{person}/sign-out")
async def sign_out(serving: Serving, owner: Owner, form: SentForm, person: str) -> Response:  # noqa: ARG001
    await run_in_threadpool(end_access, serving.ledger, person=person)
    await serving.watch.note(owner, "ended all access", person)
    return RedirectResponse("/admin", 303)


@pages.post("/people/{person}/erase")
async def erase(serving: Serving, owner: Owner, form: SentForm, person: str) -> Response:  # noqa: ARG001
    if not await run_in_threadpool(erase_name, serving.ledger, person):
        raise not_found("such person")
    await serving.watch.note(owner, "erased a name", person)
    return RedirectResponse("/admin", 303)


@pages.post("/benchmarks/{data}")
async def opening(serving: Serving, owner: Owner, form: SentForm, data: str) -> Response:
    if data not in {one.data for one in await run_in_threadpool(benchmarks, serving.ledger)}:
        raise not_found("such benchmark")
    if form.choice("what", ("open", "close")) == "open":
        await run_in_threadpool(open_benchmark, serving.ledger, data, by=owner.must_be("owner").id)
        await serving.watch.note(owner, "opened a benchmark", data)
    else:
        await run_in_threadpool(close_benchmark, serving.ledger, data)
        await serving.watch.note(owner, "closed a benchmark", data)
    return RedirectResponse("/admin", 303)


@pages.get("/audit")
async def audit(
    request: Request,
    serving: Serving,
    owner: Owner,  # noqa: ARG001
    before: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> Response:
    found = await run_in_threadpool(events, serving.ledger, before=before, most=_EVENTS)
    names = await run_in_threadpool(names_of, serving.ledger)
    older = found[-1].seq if len(found) == _EVENTS else None
    return serving.pages.page(request, "audit.html", {"events": found, "names": names, "older": older})
