"""Where somebody asks to be let in as a team, and learns by their own link what became of it."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.team_names import one_line
from evenhand.site.accounts.requests import AccessRequest, ask_to_join, request_with
from evenhand.site.accounts.store import Granted, InvitationRefused, find_invitation
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import SentForm, Service, Serving, Visiting
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.proposed import plain, visible

pages = APIRouter(prefix="/submit/request", include_in_schema=False)

NAME_LONGEST = 100
ABOUT_LONGEST = 2_000
_TOKEN_LONGEST = 100


@pages.get("")
async def ask(request: Request, serving: Serving) -> Response:
    return _form(request, serving)


def _form(
    request: Request, serving: Service, *, fault: Refusal | None = None, name: str = "", about: str = ""
) -> Response:
    context = {
        "fault": fault,
        "name": name,
        "about": about,
        "longest": {"name": NAME_LONGEST, "about": ABOUT_LONGEST},
    }
    return serving.pages.page(request, "request_new.html", context, status=200 if fault is None else 422)


@pages.post("")
async def asked(request: Request, serving: Serving, visiting: Visiting, form: SentForm) -> Response:
    typed = {field: form.text(field, most=100_000) for field in ("name", "about")}
    try:
        granted = await ask_owner(serving, visiting, **typed)
    except Refusal as refusal:
        if refusal.status_code != 422:
            raise
        return _form(request, serving, fault=refusal, **typed)
    context = {"link": link_of(serving, granted), "token": granted.token}
    return serving.pages.page(request, "request_sent.html", context, status=201)


def link_of(serving: Service, granted: Granted) -> str:
    """The asker's own: how the request stands, and the way in."""
    return f"{serving.site.url}/submit/request/{granted.token}"


async def ask_owner(serving: Service, visitor: Visitor, *, name: str, about: str) -> Granted:
    """A request to be let in as a team, with the asker's token. Raises Refusal."""
    name = visible(_filled(one_line(name), "the team's name", most=NAME_LONGEST), "the team's name")
    about = _filled(about.strip(), "who you are and what for", most=ABOUT_LONGEST)
    await serving.watch.admit_letter(visitor)

    def ask() -> Granted:
        return ask_to_join(serving.ledger, name=name, about=about)

    granted = await run_in_threadpool(ask)
    await serving.watch.note(visitor, "asked to be let in", granted.id)
    return granted


def _filled(text: str, words: str, *, most: int) -> str:
    if not text:
        raise Refusal(422, f"{words.capitalize()} is missing; go back and fill it in.")
    if len(text) > most:
        raise Refusal(422, f"{words.capitalize()} may have {most:,} characters, not {len(text):,}.")
    return plain(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    request: AccessRequest
    lets_in: bool
    """Whether the asker's token is an invitation that holds."""


@pages.get("/{token}")
async def how_it_stands(request: Request, serving: Serving, token: str) -> Response:
    found = await answered(serving, token)
    context = {"asked": found.request, "token": token, "lets_in": found.lets_in}
    return serving.pages.page(request, "request.html", context)


async def answered(serving: Service, token: str) -> Answered:
    """Raises Refusal."""
    found = await run_in_threadpool(_answered, serving.ledger, token[:_TOKEN_LONGEST])
    if found is None:
        raise Refusal(404, "There is no request under this link.", attack="refused: request link")
    return found


def _answered(ledger: Ledger, token: str) -> Answered | None:
    found = request_with(ledger, token)
    if found is None:
        return None
    try:
        find_invitation(ledger, token)
    except InvitationRefused:
        return Answered(request=found, lets_in=False)
    return Answered(request=found, lets_in=True)
