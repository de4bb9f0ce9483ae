"""Requests for what is withheld: a team asks and accepts the policy, the owner decides, each download is marked."""

import time
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.exchange.tables import ExchangeTable
from evenhand.ledger.read.newest import read_unchanged
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.submissions.intakes import Intake, find_intake
from evenhand.ledger.submissions.submitted_models import board_names
from evenhand.site.accounts.request_pages import ABOUT_LONGEST
from evenhand.site.accounts.requests import TooManyWait, ask_for_data, find_request, requests_on_record
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import SentForm, Service, Serving, Visiting
from evenhand.site.http.visibility import sight
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.proposed import plain
from evenhand.site.submissions.offers import offer_of
from evenhand.site.submissions.public_pages import table_file
from evenhand.site.submissions.withheld_export import Recipient, ratings_table, withheld_table

pages = APIRouter(include_in_schema=False)


@pages.get("/submit/{intake}/data")
async def ask(request: Request, serving: Serving, visiting: Visiting, intake: str) -> Response:
    return await _form(request, serving, visiting, intake)


async def _form(
    request: Request, serving: Service, visitor: Visitor, intake: str, *, fault: Refusal | None = None, about: str = ""
) -> Response:
    person = visitor.must_be("team")
    mine = await run_in_threadpool(requests_on_record, serving.ledger, person=person.id)
    offer = await offer_of(serving, intake)
    data = offer.intake.board.data
    context = {
        "offer": offer,
        "rated": any(one.human and one.data == data for one in await serving.boards()),
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
            raise Refusal(
                422, "The policy must be accepted first; read it, and tick the box.", code="EH-POLICY-NOT-ACCEPTED"
            )
        await request_data(serving, visiting, offer.intake, about=about, policy_hash=form.text("policy_hash", most=100))
    except Refusal as refusal:
        return await _form(request, serving, visiting, intake, fault=refusal, about=about)
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
        raise Refusal(
            409,
            "The policy that was accepted is not the one that stands here now; read it again.",
            code="EH-POLICY-CHANGED",
        )

    def ask() -> str:
        return ask_for_data(
            serving.ledger,
            person=person.id,
            name=person.shown,
            intake=intake.id,
            about=about,
            policy_hash=policy_hash,
        )

    try:
        made = await run_in_threadpool(ask)
    except TooManyWait as error:
        raise Refusal(409, str(error)) from error
    await serving.watch.note(visitor, "asked for what is withheld", made)
    return made


@pages.get("/data-requests/{request_id}/items.jsonl")
async def download_items(serving: Serving, visiting: Visiting, request_id: str) -> Response:
    return await released_items(serving, visiting, request_id)


@pages.get("/data-requests/{request_id}/ratings.jsonl")
async def download_ratings(serving: Serving, visiting: Visiting, request_id: str) -> Response:
    return await released_ratings(serving, visiting, request_id)


async def released_items(serving: Service, visitor: Visitor, request_id: str) -> Response:
    """All that the benchmark's items hold, marked for whom it is; raises Refusal unless the owner has granted it."""
    grant = await _grant(serving, visitor, request_id)
    items = await serving.at_length(partial(items_of, serving.ledger, grant.data))
    return await _given(serving, visitor, withheld_table(items, grant.recipient), f"withheld-{request_id}.jsonl")


async def released_ratings(serving: Service, visitor: Visitor, request_id: str) -> Response:
    """People's judgements on the items, likewise; without studies that still run, and models that are not published."""
    grant, ledger = await _grant(serving, visitor, request_id), serving.ledger

    def look() -> tuple[frozenset[str], frozenset[str]]:
        """The keys of people's shares that count, and the models that are not to be seen."""
        boards = [one for one in boards_on_record(ledger) if one.human and one.data == grant.data]
        hidden = sight(ledger, visitor, data=grant.data, sample=False).hidden
        return frozenset(study.key for one in boards for study in one.studies), hidden

    def rated(seen: tuple[frozenset[str], frozenset[str]]) -> ExchangeTable:
        shares, hidden = seen
        chosen = [one for one in studies(ledger) if one.key in shares]
        return ratings_table(ledger, chosen, grant.recipient, hidden=hidden, names=board_names(ledger))

    made = await serving.at_length(partial(read_unchanged, look, rated))
    return await _given(serving, visitor, made, f"ratings-{request_id}.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grant:
    data: str
    """Digest of the benchmark's data."""
    recipient: Recipient


async def _grant(serving: Service, visitor: Visitor, request_id: str) -> _Grant:
    """Raises Refusal."""
    person = visitor.must_be("team")
    found = await run_in_threadpool(find_request, serving.ledger, request_id)
    if found is None or found.person != person.id or found.kind != "data":
        raise Refusal(404, "There is no such request of yours.", attack="refused: another's request", about=request_id)
    if not found.accepted:
        raise Refusal(403, "The owner has not granted this request.", attack="refused: data not granted")
    intake = await run_in_threadpool(find_intake, serving.ledger, found.intake or "")
    assert intake is not None
    recipient = Recipient(name=found.name, release=found.id, at=found.decided or time.time())
    return _Grant(data=intake.board.data, recipient=recipient)


async def _given(serving: Service, visitor: Visitor, table: ExchangeTable, name: str) -> Response:
    answer = await serving.at_length(partial(table_file, table, name))
    await serving.watch.note(visitor, "exported what is withheld", name)
    return answer
