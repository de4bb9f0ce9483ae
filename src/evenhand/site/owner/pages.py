"""The owner's pages: invitations, people, benchmarks, the audit log."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.ledger.read.projection import BenchmarkOnRecord, benchmarks, items_of
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark, opened_benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submissions_on_record
from evenhand.ledger.submissions.team_names import one_line
from evenhand.reports.board.withheld.released import all_that_is_shown
from evenhand.site.accounts.pages import NAME_LONGEST
from evenhand.site.accounts.requests import requests_on_record
from evenhand.site.accounts.store import (
    DAY,
    Invite,
    LastOwner,
    Person,
    Role,
    erase_name,
    find_person,
    invitations,
    invite,
    is_last_owner,
    people,
    revoke_invitation,
    sign_out,
)
from evenhand.site.http.audit_log import events
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import FreshOwner, Owner, SentFields, SentForm, Service, Serving
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.proposed import plain, visible
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.owner.log_words import log_lines
from evenhand.site.people.changes import finished_studies
from evenhand.site.people.studies import people_studies


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaiting:
    requests: int
    """To come in, or for what is withheld."""
    to_approve: int
    """Submissions that their teams have confirmed."""
    stopped: int
    """Submissions that reached their budget."""
    flagged: int
    """Proposals of growing benchmarks."""
    accepted: int
    """Proposals that can join a new version."""
    finished: int
    """Studies in which everything is judged, and which nobody has closed."""


def awaiting(at_hand: ProposalCache) -> Awaiting:
    ledger = at_hand.ledger
    stages = Counter(one.standing.stage for one in submissions_on_record(ledger))
    growing = [at_hand.of(one.id) for one in growing_benchmarks(ledger)]
    unclosed = {one.id for one in people_studies(ledger) if not one.closed}
    return Awaiting(
        requests=sum(one.accepted is None for one in requests_on_record(ledger)),
        to_approve=stages["confirmed"],
        stopped=stages["stopped"],
        flagged=sum(len(one.at("flagged")) for one in growing),
        accepted=sum(len(one.at("accepted")) for one in growing),
        finished=len(unclosed & finished_studies(ledger)) if unclosed else 0,
    )


pages = APIRouter(prefix="/admin", include_in_schema=False)

ROLES: Mapping[Role, str] = {
    "annotator": "writes, captions, verifies and compares",
    "team": "submits answers of a model",
    "owner": "sees and decides everything",
}
NOTE_LONGEST = 200
USES_MOST, DAYS_MOST = 1000, 365
SENT_MOST = 100_000
"""Characters of a field that is given back as it was sent."""
_EVENTS = 100
_UNSURE = Refusal(422, "Nothing was done: tick the box if you mean it.")


@pages.get("")
async def overview(request: Request, serving: Serving, owner: Owner) -> Response:  # noqa: ARG001
    return await _overview(request, serving)


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshLink:
    """A link that was made just now, and is shown once."""

    address: str
    uses: int
    expires: float
    back: str | None = None
    """Who comes back by it."""


async def _overview(
    request: Request,
    serving: Service,
    *,
    link: FreshLink | None = None,
    fault: Refusal | None = None,
    sent: Mapping[str, str] | None = None,
) -> Response:
    """`fault`: why an invitation was not made, with the fields as they were `sent`."""
    context = await run_in_threadpool(_everything, serving.proposals)
    filled = {"role": "annotator", "note": "", "uses": "1", "days": "14", **(sent or {})}
    status = 201 if link is not None else 200 if fault is None else 422
    more = {"link": link, "roles": ROLES, "fault": fault, "filled": filled}
    return serving.pages.page(request, "admin.html", {**context, **more}, status=status)


def _everything(at_hand: ProposalCache) -> dict[str, Any]:
    ledger = at_hand.ledger
    now, opened = time.time(), opened_benchmarks(ledger)
    return {
        "invitations": [(one, one.fault(now)) for one in invitations(ledger)],
        "people": people(ledger),
        "benchmarks": [(one, one.data in opened) for one in benchmarks(ledger)],
        "log": log_lines(at_hand, events(ledger, most=10)),
        "awaiting": awaiting(at_hand),
        "names": names_of(ledger),
    }


def names_of(ledger: Ledger) -> dict[str, str]:
    return {person.id: person.shown for person in people(ledger)}


@pages.post("/invitations")
async def new_invitation(request: Request, serving: Serving, owner: Owner, form: SentForm) -> Response:
    try:
        asked = _asked(form, owner.must_be("owner"))
        if asked.role == "owner":
            owner.must_have_just_signed_in(serving.site)
    except Refusal as refusal:
        sent = {name: form.text(name, most=SENT_MOST) for name in ("role", "note", "uses", "days")}
        return await _overview(request, serving, fault=refusal, sent=sent)
    link = await _granted(serving, asked)
    await serving.watch.note(owner, "invited", f"{asked.role}, invitation {link.id}")
    return await _overview(request, serving, link=link.shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    id: str
    shown: FreshLink


async def _granted(serving: Service, asked: Invite, *, back: str | None = None) -> _Made:
    granted = await run_in_threadpool(invite, serving.ledger, asked)
    address = f"{serving.site.url}/join/{granted.token}"
    return _Made(
        id=granted.id,
        shown=FreshLink(address=address, uses=asked.uses, expires=time.time() + asked.lasts, back=back),
    )


def sound(asked: Invite) -> Invite:
    """Raises Refusal: how often a team may submit is counted by its account, which is called as the note says."""
    if asked.role != "team":
        return asked
    if asked.uses != 1:
        raise Refusal(422, "A team comes in by a link of its own, as one account; make one link for each team.")
    note = visible(one_line(plain(asked.note)), "for whom")
    if len(note) > NAME_LONGEST:
        raise Refusal(422, f"A team is called as you say for whom it is: {NAME_LONGEST} characters, not {len(note)}.")
    return replace(asked, note=note)


def _asked(form: SentFields, by: Person) -> Invite:
    asked = Invite(
        role=cast("Role", form.choice("role", tuple(ROLES))),
        note=form.text("note", most=NOTE_LONGEST, called="For whom"),
        uses=form.number("uses", least=1, most=USES_MOST, called="People"),
        lasts=form.number("days", least=1, most=DAYS_MOST, called="Days") * DAY,
        made_by=by.id,
    )
    return sound(asked)


@pages.post("/invitations/{invitation}/revoke")
async def revoke(serving: Serving, owner: Owner, form: SentForm, invitation: str) -> Response:  # noqa: ARG001
    if not await run_in_threadpool(revoke_invitation, serving.ledger, invitation):
        raise not_found("such open invitation")
    await serving.watch.note(owner, "revoked an invitation", invitation)
    return RedirectResponse("/admin", 303)


@pages.post("/people/{person}/link")
async def link_back(request: Request, serving: Serving, owner: FreshOwner, form: SentForm, person: str) -> Response:  # noqa: ARG001
    return await _overview(request, serving, link=await made_link_back(serving, owner, person))


async def made_link_back(serving: Service, owner: Visitor, person: str) -> FreshLink:
    """A link by which a person who lost their session comes back. Raises Refusal."""
    found = await run_in_threadpool(find_person, serving.ledger, person)
    if found is None or found.erased:
        raise not_found("such person")
    asked = Invite(role=found.role, person=found.id, made_by=owner.must_be("owner").id)
    link = await _granted(serving, asked, back=found.shown)
    await serving.watch.note(owner, "made a link to come back", person)
    return link.shown


@pages.get("/people/{person}/sign-out")
async def ask_to_sign_out(request: Request, serving: Serving, owner: FreshOwner, person: str) -> Response:
    return await _sure(request, serving, owner, person, "sign-out")


@pages.post("/people/{person}/sign-out")
async def sign_person_out(
    request: Request, serving: Serving, owner: FreshOwner, form: SentForm, person: str
) -> Response:
    if form.text("sure", most=3) != "yes":
        return await _sure(request, serving, owner, person, "sign-out", fault=_UNSURE)
    await signed_out(serving, owner, person)
    return RedirectResponse("/admin", 303)


async def signed_out(serving: Service, owner: Visitor, person: str) -> None:
    """Raises Refusal where there is no such person, or no other owner."""
    await _unless_last(serving, sign_out, person)
    await serving.watch.note(owner, "ended all access", person)


@pages.get("/people/{person}/erase")
async def ask_to_erase(request: Request, serving: Serving, owner: FreshOwner, person: str) -> Response:
    return await _sure(request, serving, owner, person, "erase")


@pages.post("/people/{person}/erase")
async def erase(request: Request, serving: Serving, owner: FreshOwner, form: SentForm, person: str) -> Response:
    if form.text("sure", most=3) != "yes":
        return await _sure(request, serving, owner, person, "erase", fault=_UNSURE)
    await erased_name(serving, person)
    await serving.watch.note(owner, "erased a name", person)
    return RedirectResponse("/admin", 303)


async def erased_name(serving: Service, person: str) -> None:
    """Raises Refusal where there is no such person, or no other owner."""
    await _unless_last(serving, erase_name, person)


async def _unless_last(serving: Service, act: Callable[[Ledger, str], bool], person: str) -> None:
    try:
        if not await run_in_threadpool(act, serving.ledger, person):
            raise not_found("such person")
    except LastOwner as error:
        raise _last_owner(error) from error


def _last_owner(error: LastOwner) -> Refusal:
    return Refusal(409, str(error), code="EH-LAST-OWNER")


async def _sure(
    request: Request, serving: Service, owner: Visitor, person: str, what: str, *, fault: Refusal | None = None
) -> Response:
    """The page that asks once more."""
    found = await run_in_threadpool(find_person, serving.ledger, person)
    if found is None or found.erased:
        raise not_found("such person")
    last = await run_in_threadpool(is_last_owner, serving.ledger, person)
    context = {
        "person": found,
        "what": what,
        "fault": _last_owner(LastOwner()) if last else fault,
        "last": last,
        "oneself": found.id == owner.must_be("owner").id,
    }
    return serving.pages.page(request, "sure.html", context, status=200 if fault is None else 422)


@pages.get("/benchmarks/{data}/open")
async def ask_to_open(request: Request, serving: Serving, owner: FreshOwner, data: str) -> Response:  # noqa: ARG001
    return await _open_sure(request, serving, data)


async def _open_sure(request: Request, serving: Service, data: str, *, fault: Refusal | None = None) -> Response:
    benchmark = await withheld_benchmark(serving, data)
    beside = await run_in_threadpool(withheld_beside, serving.ledger, data)
    context = {"benchmark": benchmark, "beside": beside, "fault": fault}
    return serving.pages.page(request, "opening.html", context, status=200 if fault is None else 422)


async def withheld_benchmark(serving: Service, data: str) -> BenchmarkOnRecord:
    """Raises Refusal where there is no such benchmark, or it is a sample."""
    known = {one.data: one for one in await run_in_threadpool(benchmarks, serving.ledger)}
    if data not in known:
        raise not_found("such benchmark")
    if known[data].sample:
        raise Refusal(409, "This is a sample: nothing of it is withheld.")
    return known[data]


def withheld_beside(ledger: Ledger, data: str) -> dict[str, int]:
    """Other benchmarks of which a part is withheld, by name, with how many of their items open with it."""
    opened = opened_benchmarks(ledger) | {data}
    shown = {all_that_is_shown(one) for one in items_of(ledger, data)}
    found = (
        (one.name, sum(all_that_is_shown(item) in shown for item in items_of(ledger, one.data)))
        for one in benchmarks(ledger)
        if not one.sample and one.data not in opened
    )
    return {name: items for name, items in found if items}


@pages.post("/benchmarks/{data}")
async def opening(request: Request, serving: Serving, owner: FreshOwner, form: SentForm, data: str) -> Response:
    await withheld_benchmark(serving, data)
    if form.choice("what", ("open", "close")) == "open":
        if form.text("sure", most=3) != "yes":
            return await _open_sure(request, serving, data, fault=_UNSURE)
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
    log = await run_in_threadpool(log_lines, serving.proposals, found)
    older = found[-1].seq if len(found) == _EVENTS else None
    return serving.pages.page(request, "audit.html", {"log": log, "older": older})
