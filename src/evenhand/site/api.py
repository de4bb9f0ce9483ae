"""The same actions as the pages, for scripts: JSON in and out, a token or a session, described at /openapi.json."""

import json
import time
from typing import Annotated

from fastapi import Path, Query
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark, opened_benchmarks
from evenhand.site.accounts.pages import ended
from evenhand.site.accounts.store import (
    DAY,
    Invite,
    Person,
    Role,
    access_keys,
    grant_token,
    invitations,
    invite,
    people,
    revoke_invitation,
)
from evenhand.site.boards.battle import BattleOnRecord
from evenhand.site.boards.battle_list import Battles, listed_battles
from evenhand.site.boards.pages import Name, Page, View, battle_in_sight, sight_of
from evenhand.site.documents import (
    BattleDocument,
    BattlesDocument,
    BenchmarkListed,
    BenchmarksDocument,
    BoardDocument,
    BoardsDocument,
    InvitationDocument,
    InvitationListed,
    InvitationsDocument,
    KeysDocument,
    LinkDocument,
    LogDocument,
    PeopleDocument,
    PersonDocument,
    PersonListed,
    TokenDocument,
)
from evenhand.site.http.audit_log import events
from evenhand.site.http.refusal import Refusal, not_found
from evenhand.site.http.service import Changing, FreshOwner, Owner, Serving, Visiting
from evenhand.site.openapi import PUBLIC, DocumentRouter
from evenhand.site.owner.pages import (
    DAYS_MOST,
    NOTE_LONGEST,
    USES_MOST,
    erased_name,
    made_link_back,
    signed_out,
    sound,
    withheld_benchmark,
    withheld_beside,
)

routes = DocumentRouter(prefix="/api", tags=["Evenhand"])

BoardId = Annotated[str, Path(max_length=64, description="A board's id, as /api/boards lists it.")]
Id = Annotated[str, Path(max_length=100)]


class NewInvitation(BaseModel):
    role: Role
    note: str = Field(default="", max_length=NOTE_LONGEST)
    uses: int = Field(default=1, ge=1, le=USES_MOST)
    days: int = Field(default=14, ge=1, le=DAYS_MOST)


class NewToken(BaseModel):
    note: str = Field(min_length=1, max_length=100)


class Opening(BaseModel):
    open: bool
    sure: bool = Field(
        default=False,
        description="Needed to open it where other benchmarks hold items of it, which are opened there too.",
    )


@routes.get("/boards", summary="The boards there are", openapi_extra=PUBLIC)
async def list_boards(serving: Serving, visiting: Visiting) -> BoardsDocument:
    return {"schema": 1, "boards": await serving.boards_listed(running=visiting.is_owner)}


@routes.get(
    "/boards/{board}",
    summary="One board, with the fields of `evenhand rank --json`",
    description="Of a benchmark that is withheld everybody but the owner gets what was released, and no more digits "
    "than intervals support: a rating of 1043 within 996 and 1090 is 1040; what has no interval is told to two digits, "
    "ratings to the ten. More digits say nothing sure of a model, and help to work out single verdicts that are "
    "withheld. The owner gets them all, and so does everybody where nothing is withheld.",
    openapi_extra=PUBLIC,
)
async def get_board(serving: Serving, board: BoardId, asked: View) -> BoardDocument:  # noqa: ARG001
    return json.loads(await serving.document(asked))


@routes.get(
    "/boards/{board}/battles", summary="The battles of one model, as far as they may be seen", openapi_extra=PUBLIC
)
async def list_battles(
    serving: Serving, visiting: Visiting, asked: View, battles: Battles, model: Name, page: Page = 1
) -> BattlesDocument:
    found = await serving.standings(asked.whole)
    if found.of(model) is None:
        raise not_found("such model on this board")
    seen = await sight_of(serving, visiting, found.on_record)
    wanted = None if serving.site.published else page
    played = await run_in_threadpool(listed_battles, serving.ledger, found, model, seen, battles, wanted)
    return {
        "schema": 1,
        "model": model,
        "total": played.total,
        "page": page,
        "battles": [
            {"item": one.item, "label": one.label, "opponent": one.opponent, "result": one.result}
            for one in played.battles
        ],
    }


@routes.get("/boards/{board}/battle", summary="One battle whole, as far as it may be seen", openapi_extra=PUBLIC)
async def get_battle(serving: Serving, visiting: Visiting, asked: View, item: Name, a: Name, b: Name) -> BattleDocument:
    on_record = await serving.board(asked)
    found, _ = await battle_in_sight(serving, visiting, on_record, item=item, models=(a, b))
    return _battle_document(found)


def _battle_document(found: BattleOnRecord) -> BattleDocument:
    item = found.item
    return {
        "schema": 1,
        "item": item.label,
        "instruction": item.instruction,
        "category": item.category,
        "caption": item.caption,
        "reference": item.reference,
        "images": [one.digest for one in found.pictures],
        "withheld": found.withheld,
        "answers": [
            {"model": model, "response": text, "says_to_judge": list(said)}
            for (model, text), said in zip(found.answers, found.says_to_judge, strict=True)
        ],
        "showings": [
            {
                "models": list(one.models),
                "rater": one.rater,
                "winner": one.winner,
                "verdict": one.words,
                "replies": list(one.replies),
                "replicate": one.replicate,
                "at": one.at,
            }
            for one in found.showings
        ],
    }


@routes.get("/me", summary="Who I am")
async def me(visiting: Visiting) -> PersonDocument:
    return {"schema": 1, **_person(visiting.must_be("owner", "annotator", "team"))}


@routes.post("/tokens", summary="A token for scripts; it is shown once", status_code=201)
async def new_token(serving: Serving, changing: Changing, asked: NewToken) -> TokenDocument:
    person = changing.must_be("owner", "annotator", "team")
    if person.role == "owner":
        changing.must_have_just_signed_in(serving.site)
    granted = await run_in_threadpool(grant_token, serving.ledger, person.id, note=asked.note)
    await serving.watch.note(changing, "made a token", granted.id)
    return {"schema": 1, "id": granted.id, "key": granted.id, "token": granted.token}


@routes.get("/keys", summary="My sessions and tokens")
async def list_keys(serving: Serving, visiting: Visiting) -> KeysDocument:
    person = visiting.must_be("owner", "annotator", "team")
    found = await run_in_threadpool(access_keys, serving.ledger, person.id)
    return {
        "schema": 1,
        "keys": [{"key": one.id, "kind": one.kind, "note": one.note, "expires": one.expires} for one in found],
    }


@routes.delete("/keys/{key}", summary="End one of my sessions or tokens", status_code=204)
async def delete_key(serving: Serving, changing: Changing, key: Id) -> Response:
    await ended(serving, changing, key)
    return Response(status_code=204)


@routes.get("/invitations", summary="All invitations (owner)")
async def list_invitations(serving: Serving, owner: Owner) -> InvitationsDocument:  # noqa: ARG001
    now = time.time()
    found: list[InvitationListed] = [
        {
            "id": one.id,
            "invitation": one.id,
            "role": one.role,
            "note": one.note,
            "uses_left": one.uses_left,
            "expires": one.expires,
            "state": one.fault(now) or "open",
        }
        for one in await run_in_threadpool(invitations, serving.ledger)
    ]
    return {"schema": 1, "invitations": found}


@routes.post("/invitations", summary="Invite somebody (owner); the link is shown once", status_code=201)
async def new_invitation(
    serving: Serving, owner: Owner, changing: Changing, asked: NewInvitation
) -> InvitationDocument:
    made_by = owner.must_be("owner").id
    if asked.role == "owner":
        owner.must_have_just_signed_in(serving.site)
    wanted = sound(Invite(role=asked.role, note=asked.note, uses=asked.uses, lasts=asked.days * DAY, made_by=made_by))
    granted = await run_in_threadpool(invite, serving.ledger, wanted)
    await serving.watch.note(changing, "invited", f"{asked.role}, invitation {granted.id}")
    link = f"{serving.site.url}/join/{granted.token}"
    return {"schema": 1, "id": granted.id, "invitation": granted.id, "link": link}


@routes.delete("/invitations/{invitation}", summary="Revoke an invitation (owner)", status_code=204)
async def delete_invitation(serving: Serving, owner: Owner, changing: Changing, invitation: Id) -> Response:  # noqa: ARG001
    if not await run_in_threadpool(revoke_invitation, serving.ledger, invitation):
        raise not_found("such open invitation")
    await serving.watch.note(changing, "revoked an invitation", invitation)
    return Response(status_code=204)


@routes.get("/people", summary="All people (owner)")
async def list_people(serving: Serving, owner: Owner) -> PeopleDocument:  # noqa: ARG001
    found = await run_in_threadpool(people, serving.ledger)
    return {"schema": 1, "people": [_person(one) for one in found]}


@routes.delete("/people/{person}/name", summary="Erase a person's name; judgements stay (owner)", status_code=204)
async def delete_name(serving: Serving, owner: FreshOwner, changing: Changing, person: Id) -> Response:  # noqa: ARG001
    await erased_name(serving, person)
    await serving.watch.note(changing, "erased a name", person)
    return Response(status_code=204)


@routes.delete("/people/{person}/keys", summary="Sign a person out everywhere (owner)", status_code=204)
async def delete_keys(serving: Serving, owner: FreshOwner, changing: Changing, person: Id) -> Response:  # noqa: ARG001
    await signed_out(serving, owner, person)
    return Response(status_code=204)


@routes.post("/people/{person}/link", summary="A link back for a person (owner); it is shown once", status_code=201)
async def post_link(serving: Serving, owner: FreshOwner, changing: Changing, person: Id) -> LinkDocument:  # noqa: ARG001
    made = await made_link_back(serving, owner, person)
    return {"schema": 1, "link": made.address, "expires": made.expires}


def _person(person: Person) -> PersonListed:
    return {"person": person.id, "role": person.role, "name": person.name or None, "at": person.at}


@routes.get("/benchmarks", summary="The benchmarks on record, and whether all of each may be seen (owner)")
async def list_benchmarks(serving: Serving, owner: Owner) -> BenchmarksDocument:  # noqa: ARG001
    opened = await run_in_threadpool(opened_benchmarks, serving.ledger)
    found: list[BenchmarkListed] = [
        {"benchmark": one.name, "data": one.data, "open": one.data in opened}
        for one in await run_in_threadpool(benchmarks, serving.ledger)
    ]
    return {"schema": 1, "benchmarks": found}


@routes.put("/benchmarks/{data}", summary="Open or close what is withheld of a benchmark (owner)", status_code=204)
async def put_opening(serving: Serving, owner: FreshOwner, changing: Changing, data: Id, asked: Opening) -> Response:
    await withheld_benchmark(serving, data)
    if asked.open:
        beside = {} if asked.sure else await run_in_threadpool(withheld_beside, serving.ledger, data)
        if beside:
            held = ", ".join(f"'{name}' ({items})" for name, items in beside.items())
            raise Refusal(
                409,
                f"Other benchmarks hold items of it: {held}. They are opened there too, and what is withheld of the "
                'others can then be told; give "sure": true if that shall be so.',
                code="EH-OPENS-MORE",
            )
        await run_in_threadpool(open_benchmark, serving.ledger, data, by=owner.must_be("owner").id)
    else:
        await run_in_threadpool(close_benchmark, serving.ledger, data)
    await serving.watch.note(changing, "opened a benchmark" if asked.open else "closed a benchmark", data)
    return Response(status_code=204)


@routes.get("/audit", summary="The audit log, newest first (owner)")
async def list_events(
    serving: Serving,
    owner: Owner,  # noqa: ARG001
    before: Annotated[int | None, Query(ge=0, le=2**62)] = None,
) -> LogDocument:
    found = await run_in_threadpool(events, serving.ledger, before=before)
    return {
        "schema": 1,
        "events": [
            {
                "seq": one.seq,
                "at": one.at,
                "what": one.what,
                "person": one.person,
                "address": one.address,
                "detail": one.detail,
            }
            for one in found
        ],
    }
