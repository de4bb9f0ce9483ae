"""Where somebody asks to be let in as a team, and learns by their own link what became of it."""

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.ledger.access_requests import AccessRequest, ask_to_join, request_with
from evenhand.ledger.people import InvitationRefused, find_invitation
from evenhand.ledger.record import Ledger
from evenhand.web.proposed import plain
from evenhand.web.refusal import Refusal
from evenhand.web.service import Form, SentForm, Service, Serving, Visiting

pages = APIRouter(prefix="/submit/request", include_in_schema=False)

NAME_LONGEST = 100
ABOUT_LONGEST = 2_000
_TOKEN_LONGEST = 100


@pages.get("")
async def ask(request: Request, serving: Serving) -> Response:
    return _form(request, serving)


def _form(request: Request, serving: Service, *, fault: str | None = None, name: str = "", about: str = "") -> Response:
    context = {
        "fault": fault,
        "name": name,
        "about": about,
        "longest": {"name": NAME_LONGEST, "about": ABOUT_LONGEST},
    }
    return serving.pages.page(request, "request_new.html", context, status=200 if fault is None else 422)


@pages.post("")
async def asked(request: Request, serving: Serving, visiting: Visiting, form: SentForm) -> Response:
    try:
        name, about = _letter(form)
    except Refusal as refusal:
        typed = {field: form.text(field, most=100_000) for field in ("name", "about")}
        return _form(request, serving, fault=refusal.sentence, **typed)
    await serving.watch.admit_letter(visiting)
    granted = await run_in_threadpool(ask_to_join, serving.ledger, name=name, about=about)
    await serving.watch.note(visiting, "asked to be let in", granted.id)
    context = {"link": f"{serving.site.url}/submit/request/{granted.token}", "token": granted.token}
    return serving.pages.page(request, "request_sent.html", context, status=201)


def _letter(form: Form) -> tuple[str, str]:
    name = " ".join(plain(form.text("name", most=NAME_LONGEST, required="the team's name")).split())
    return name, plain(form.text("about", most=ABOUT_LONGEST, required="who you are and what for"))


@pages.get("/{token}")
async def how_it_stands(request: Request, serving: Serving, token: str) -> Response:
    found = await run_in_threadpool(request_with, serving.ledger, token[:_TOKEN_LONGEST])
    if found is None:
        raise Refusal(404, "There is no request under this link.", attack="refused: request link")
    open_door = await run_in_threadpool(_lets_in, serving.ledger, found, token[:_TOKEN_LONGEST])
    return serving.pages.page(request, "request.html", {"asked": found, "token": token, "lets_in": open_door})


def _lets_in(ledger: Ledger, found: AccessRequest, token: str) -> bool:
    if not found.accepted:
        return False
    try:
        find_invitation(ledger, token)
    except InvitationRefused:
        return False
    return True
