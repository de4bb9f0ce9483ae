"""Coming in by an invitation link, one's own account, and leaving."""

from collections.abc import Mapping

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evenhand.ledger.submissions.team_names import NameRefused, one_line
from evenhand.site.accounts.store import (
    SESSION_SECONDS,
    AccessKind,
    Invitation,
    InvitationRefused,
    JoinedPerson,
    Role,
    access_keys,
    came_by,
    end_access,
    find_invitation,
    grant_token,
    join,
)
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import SentForm, Service, Serving, Visiting
from evenhand.site.http.visitor import Visitor, passing_cookie, session_cookie
from evenhand.site.living.proposed import plain, visible

pages = APIRouter(include_in_schema=False)

NAME_LONGEST = 100
_TOKEN_LONGEST = 100
HOMES: Mapping[Role, str] = {"owner": "/admin", "annotator": "/compare", "team": "/submissions"}
"""Where each begins."""


@pages.get("/join/{token}")
async def invited(request: Request, serving: Serving, visiting: Visiting, token: str) -> Response:
    """Looking at a link uses nothing up: mail programs look at links too."""
    person, token = visiting.person, token[:_TOKEN_LONGEST]
    fault: InvitationRefused | None = None
    invitation: Invitation | None = None
    try:
        invitation = await run_in_threadpool(find_invitation, serving.ledger, token)
    except InvitationRefused as refused:
        fault = refused
    again = person is not None and invitation is not None and invitation.person == person.id
    if person is not None and not again and await run_in_threadpool(came_by, serving.ledger, person.id, token):
        return serving.pages.page(request, "already_in.html", {"person": person, "home": HOMES[person.role]})
    if fault is not None:
        raise refused_invitation(fault) from fault
    return serving.pages.page(request, "join.html", {"invitation": invitation, "token": token})


@pages.post("/join/{token}")
async def come_in(serving: Serving, visiting: Visiting, form: SentForm, token: str) -> Response:
    name = form.text("name", most=NAME_LONGEST)
    joined = await came_in(serving, visiting, token, name, kind="session")
    if visiting.person is not None and visiting.secret is not None:  # one session a browser
        await run_in_threadpool(end_access, serving.ledger, person=visiting.person.id, token=visiting.secret)
    return _signed_in(serving, joined)


async def came_in(serving: Service, visiting: Visitor, token: str, name: str, *, kind: AccessKind) -> JoinedPerson:
    """With a session of the pages, or a token for scripts. Raises Refusal."""

    name = visible(one_line(plain(name)), "the name")

    def use() -> JoinedPerson:
        return join(serving.ledger, token[:_TOKEN_LONGEST], name, kind=kind)

    try:
        joined = await run_in_threadpool(use)
    except InvitationRefused as refused:
        raise refused_invitation(refused) from refused
    except NameRefused as refused:
        raise Refusal(422, f"{refused} Where that is wrong, ask whoever sent you the link for a new one.") from refused
    await serving.watch.note(visiting, "joined", f"{joined.person.role} {joined.person.id}")
    return joined


def refused_invitation(refused: InvitationRefused) -> Refusal:
    return Refusal(
        404 if refused.fault == "unknown" else 410, str(refused), attack=f"refused: invitation {refused.fault}"
    )


def _signed_in(serving: Service, joined: JoinedPerson) -> Response:
    response = RedirectResponse(HOMES[joined.person.role], 303)
    site = serving.site
    response.set_cookie(
        session_cookie(site),
        joined.key.token,
        max_age=int(SESSION_SECONDS),
        secure=site.secure,
        httponly=True,
        samesite="lax",
        path="/",
    )
    response.delete_cookie(passing_cookie(site), secure=site.secure, httponly=True, samesite="lax", path="/")
    return response


@pages.get("/account")
async def account(request: Request, serving: Serving, visiting: Visiting) -> Response:
    person = visiting.must_be("owner", "annotator", "team")
    keys = await run_in_threadpool(access_keys, serving.ledger, person.id)
    return serving.pages.page(request, "account.html", {"person": person, "keys": keys, "token": None})


@pages.post("/account/tokens")
async def make_token(request: Request, serving: Serving, visiting: Visiting, form: SentForm) -> Response:
    person = visiting.must_be("owner", "annotator", "team")
    if person.role == "owner":
        visiting.must_have_just_signed_in(serving.site)
    note = form.text("note", most=NAME_LONGEST, required="a note")
    granted = await run_in_threadpool(grant_token, serving.ledger, person.id, note=note)
    await serving.watch.note(visiting, "made a token", granted.id)
    keys = await run_in_threadpool(access_keys, serving.ledger, person.id)
    context = {"person": person, "keys": keys, "token": granted.token}
    return serving.pages.page(request, "account.html", context, status=201)


@pages.post("/account/keys/{key}/end")
async def end_key(serving: Serving, visiting: Visiting, form: SentForm, key: str) -> Response:  # noqa: ARG001
    await ended(serving, visiting, key)
    return RedirectResponse("/account", 303)


async def ended(serving: Service, visiting: Visitor, key: str) -> None:
    """One's own session or token. Raises Refusal."""
    person = visiting.must_be("owner", "annotator", "team")
    if not await run_in_threadpool(end_access, serving.ledger, person=person.id, key=key):
        raise not_found("such session or token of yours")
    await serving.watch.note(visiting, "ended access", key)


@pages.post("/leave")
async def leave(serving: Serving, visiting: Visiting, form: SentForm) -> Response:  # noqa: ARG001
    if visiting.person is not None and visiting.secret is not None:
        await run_in_threadpool(end_access, serving.ledger, person=visiting.person.id, token=visiting.secret)
    response = RedirectResponse("/", 303)
    site = serving.site
    response.delete_cookie(session_cookie(site), secure=site.secure, httponly=True, samesite="lax", path="/")
    return response
