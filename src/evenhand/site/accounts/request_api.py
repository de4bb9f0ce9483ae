"""The way in for scripts: to ask to be let in as a team, to learn what became of it, and to come in."""

from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel, Field

from evenhand.site.accounts.pages import NAME_LONGEST, came_in
from evenhand.site.accounts.request_pages import ABOUT_LONGEST, Answered, answered, ask_owner, link_of
from evenhand.site.accounts.request_pages import NAME_LONGEST as TEAM_LONGEST
from evenhand.site.accounts.store import Role
from evenhand.site.http.service import Asking, Serving
from evenhand.site.openapi import PUBLIC, DocumentRouter, Versioned

routes = DocumentRouter(prefix="/api", tags=["Submissions"])

Token = Annotated[str, Path(max_length=100)]
RequestOutcome = Literal["waiting", "accepted", "declined"]


class Letter(BaseModel):
    name: str = Field(min_length=1, max_length=TEAM_LONGEST, description="The team's.")
    about: str = Field(min_length=1, max_length=ABOUT_LONGEST, description="Who you are, and what for.")


class Newcomer(BaseModel):
    name: str = Field(default="", max_length=NAME_LONGEST)


class AskedDocument(Versioned):
    request: str
    link: str
    token: str


class AnsweredDocument(Versioned):
    request: str
    state: RequestOutcome
    name: str
    about: str
    at: float
    decided: float | None
    reason: str | None
    lets_in: bool


class JoinedDocument(Versioned):
    person: str
    role: Role
    name: str | None
    key: str
    token: str


@routes.post("/submit/request", summary="Ask to be let in as a team", status_code=201, openapi_extra=PUBLIC)
async def post_request(serving: Serving, asking: Asking, asked: Letter) -> AskedDocument:
    granted = await ask_owner(serving, asking, name=asked.name, about=asked.about)
    return {"schema": 1, "request": granted.id, "link": link_of(serving, granted), "token": granted.token}


@routes.get("/submit/request/{token}", summary="What became of a request to be let in", openapi_extra=PUBLIC)
async def get_request(serving: Serving, token: Token) -> AnsweredDocument:
    found = await answered(serving, token)
    asked = found.request
    return {
        "schema": 1,
        "request": asked.id,
        "state": _state(found),
        "name": asked.name,
        "about": asked.about,
        "at": asked.at,
        "decided": asked.decided,
        "reason": asked.reason or None,
        "lets_in": found.lets_in,
    }


def _state(found: Answered) -> RequestOutcome:
    if found.request.accepted is None:
        return "waiting"
    return "accepted" if found.request.accepted else "declined"


@routes.post(
    "/join/{token}",
    summary="Come in by an invitation, or by a request that was accepted; the token is shown once",
    status_code=201,
    openapi_extra=PUBLIC,
)
async def post_join(serving: Serving, asking: Asking, token: Token, asked: Newcomer) -> JoinedDocument:
    joined = await came_in(serving, asking, token, asked.name, kind="token")
    person = joined.person
    return {
        "schema": 1,
        "person": person.id,
        "role": person.role,
        "name": person.name or None,
        "key": joined.key.id,
        "token": joined.key.token,
    }
