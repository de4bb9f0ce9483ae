"""Requests for what is withheld: a team asks and accepts the policy, the owner decides, each download is marked."""

import json
import time

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.exchange.withheld_export import Recipient, withheld_rows
from evenhand.ledger.access_requests import AccessRequest, ask_for_data, find_request, requests_on_record
from evenhand.ledger.intakes import Intake, find_intake
from evenhand.ledger.projection import items_of
from evenhand.ledger.record import Ledger
from evenhand.web.offers import offer_of
from evenhand.web.proposed import plain
from evenhand.web.refusal import Refusal
from evenhand.web.request_pages import ABOUT_LONGEST
from evenhand.web.service import SentForm, Service, Serving, Visiting
from evenhand.web.visitor import Visitor

pages = APIRouter(include_in_schema=False)

_WAITING_MOST = 5
"""Requests of one team that wait for the owner."""


@pages.get("/submit/{intake}/data")
async def ask(request: Request, serving: Serving, visiting: Visiting, intake: str) -> Response:
    return await _form(request, serving, visiting, intake)


async def _form(
    request: Request, serving: Service, visitor: Visitor, intake: str, *, fault: str | None = None, about: str = ""
) -> Response:
    person = visitor.must_be("team")
    mine = await run_in_threadpool(requests_on_record, serving.ledger, person=person.id)
    context = {
        "offer": await offer_of(serving, intake),
        "mine": [one for one in mine if one.intake == intake],
        "fault": fault,
        "about": about,
        "longest": {"about": ABOUT_LONGEST},
    }
    return serving.pages.page(request, "data_request.html", context, status=200 if fault is None else 422)


@pages.post("/submit/{intake}/data")
async def asked(request: Request, serving: Serving, visiting: Visiting, form: SentForm, intake: str) -> Response:
    offer = await offer_of(serving, intake)
    about = form.text("about", most=ABOUT_LONGEST * 10)
    try:
        if form.text("accepted", most=10) != "yes":
            raise Refusal(422, "The policy must be accepted first; read it, and tick the box.")
        await request_data(serving, visiting, offer.intake, about=about, policy_hash=form.text("policy_hash", most=100))
    except Refusal as refusal:
        return await _form(request, serving, visiting, intake, fault=refusal.sentence, about=about)
    return RedirectResponse(f"/submit/{intake}/data", 303)


async def request_data(serving: Service, visitor: Visitor, intake: Intake, *, about: str, policy_hash: str) -> str:
    """The request's id. Raises Refusal."""
    person = visitor.must_be("team")
    about = plain(about).strip()
    if not about:
        raise Refusal(422, "What it is for is missing; the owner decides by it.")
    if len(about) > ABOUT_LONGEST:
        raise Refusal(422, f"What it is for may have {ABOUT_LONGEST:,} characters, not {len(about):,}.")
    if policy_hash != intake.policy_hash:
        raise Refusal(409, "The policy that was accepted is not the one that stands here now; read it again.")
    mine = await run_in_threadpool(requests_on_record, serving.ledger, person=person.id)
    if sum(one.accepted is None for one in mine) >= _WAITING_MOST:
        raise Refusal(409, f"{_WAITING_MOST} requests of yours wait for the owner; wait for an answer first.")

    def ask() -> str:
        return ask_for_data(
            serving.ledger,
            person=person.id,
            name=person.shown,
            intake=intake.id,
            about=about,
            policy_hash=policy_hash,
        )

    made = await run_in_threadpool(ask)
    await serving.watch.note(visitor, "asked for what is withheld", made)
    return made


@pages.get("/data-requests/{request_id}/items.jsonl")
async def download(serving: Serving, visiting: Visiting, request_id: str) -> Response:
    return await released(serving, visiting, request_id)


async def released(serving: Service, visitor: Visitor, request_id: str) -> Response:
    """Everything of the benchmark, marked for whom it is; raises Refusal unless the owner has granted it."""
    person = visitor.must_be("team")
    found = await run_in_threadpool(find_request, serving.ledger, request_id)
    if found is None or found.person != person.id or found.kind != "data":
        raise Refusal(404, "There is no such request of yours.", attack="refused: another's request", about=request_id)
    if not found.accepted:
        raise Refusal(403, "The owner has not granted this request.", attack="refused: data not granted")
    words = await run_in_threadpool(_marked, serving.ledger, found)
    await serving.watch.note(visitor, "exported what is withheld", f"request {found.id}")
    name = f"withheld-{found.id}.jsonl"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(words, media_type="application/x-ndjson", headers=headers)


def _marked(ledger: Ledger, found: AccessRequest) -> bytes:
    intake = find_intake(ledger, found.intake or "")
    assert intake is not None
    recipient = Recipient(name=found.name, release=found.id, at=found.decided or time.time())
    rows = withheld_rows(items_of(ledger, intake.board.data), recipient)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
