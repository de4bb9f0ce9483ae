"""Who asked to be let in as a team, and which teams asked for what is withheld; the owner decides."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Row, func, insert, select, update

from evenhand.ledger.store import schema
from evenhand.ledger.store.event_log import in_turn
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import access_requests
from evenhand.ledger.submissions.team_names import must_be_free
from evenhand.site.accounts.store import DAY, Granted, hashed

Kind: TypeAlias = Literal["team", "data"]

WAITING_MOST = 5
"""Requests for data of one team that wait for the owner."""
_INVITED = 90 * DAY
"""Seconds within which an accepted team may come in by the link it has had from the start."""


class TooManyWait(Exception):
    """A sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    id: str
    kind: Kind
    person: str | None
    """Who asks for data; None for somebody who is not in yet."""
    intake: str | None
    name: str
    """The team's."""
    about: str
    """Who they are and what for, in their words."""
    policy_hash: str | None
    """Of the policy that was accepted with a request for data."""
    at: float
    decided: float | None
    accepted: bool | None
    """None before it is decided."""
    reason: str


def ask_to_join(ledger: Ledger, *, name: str, about: str) -> Granted:
    """The token is the asker's: it shows how the request stands, and lets them in once it is accepted."""
    granted = Granted(id=secrets.token_hex(6), token=secrets.token_urlsafe(32))
    row = _row(granted.id, "team", name, about) | {"token_hash": hashed(granted.token)}
    with ledger.writing() as connection:
        connection.execute(insert(access_requests), [row])
    return granted


def ask_for_data(ledger: Ledger, *, person: str, name: str, intake: str, about: str, policy_hash: str) -> str:
    """The request's id. Raises TooManyWait."""
    request = secrets.token_hex(6)
    row = _row(request, "data", name, about) | {"person": person, "intake": intake, "policy_hash": policy_hash}
    table = access_requests
    waiting = select(func.count()).select_from(table).where(table.c.person == person, table.c.decided.is_(None))
    with ledger.writing() as connection:
        in_turn(connection, schema.people.c.id, person)
        if connection.execute(waiting).scalar_one() >= WAITING_MOST:
            raise TooManyWait(f"{WAITING_MOST} requests of yours wait for the owner; wait for an answer first.")
        connection.execute(insert(access_requests), [row])
    return request


def decide(ledger: Ledger, request: str, *, accepted: bool, by: str, reason: str = "") -> bool:
    """Whether it waited for a decision. A team that is accepted can come in by the link it has.

    Raises NameRefused where another team has the name of one that is accepted: nothing is decided then.
    """
    table = access_requests
    with ledger.writing() as connection:
        asked = update(table).where(table.c.id == request, table.c.decided.is_(None))
        now = time.time()
        done = connection.execute(asked.values(decided=now, decided_by=by, accepted=accepted, reason=reason))
        if done.rowcount != 1:
            return False
        row = connection.execute(select(table).where(table.c.id == request)).one()
        if accepted and row.kind == "team":
            must_be_free(connection, row.name)
            invitation = {
                "id": row.id,
                "token_hash": row.token_hash,
                "role": "team",
                "note": row.name,
                "person": None,
                "uses_left": 1,
                "made_by": by,
                "at": now,
                "expires": now + _INVITED,
                "revoked": None,
            }
            connection.execute(insert(schema.invitations), [invitation])
    return True


def request_with(ledger: Ledger, token: str) -> AccessRequest | None:
    """Of somebody who asked to be let in."""
    return _first(ledger, access_requests.c.token_hash == hashed(token))


def find_request(ledger: Ledger, request: str) -> AccessRequest | None:
    return _first(ledger, access_requests.c.id == request)


def requests_on_record(ledger: Ledger, *, person: str | None = None) -> Sequence[AccessRequest]:
    """The newest first; or those of one person."""
    query = select(access_requests).order_by(access_requests.c.at.desc(), access_requests.c.id)
    if person is not None:
        query = query.where(access_requests.c.person == person)
    with ledger.reading() as connection:
        return [_request(row) for row in connection.execute(query)]


def _first(ledger: Ledger, where: Any) -> AccessRequest | None:
    with ledger.reading() as connection:
        row = connection.execute(select(access_requests).where(where)).first()
    return None if row is None else _request(row)


def _row(request: str, kind: Kind, name: str, about: str) -> dict[str, Any]:
    return {
        "id": request,
        "kind": kind,
        "token_hash": None,
        "person": None,
        "intake": None,
        "name": name,
        "about": about,
        "policy_hash": None,
        "at": time.time(),
        "decided": None,
        "decided_by": None,
        "accepted": None,
        "reason": "",
    }


def _request(row: Row[Any]) -> AccessRequest:
    return AccessRequest(
        id=row.id,
        kind=row.kind,
        person=row.person,
        intake=row.intake,
        name=row.name,
        about=row.about,
        policy_hash=row.policy_hash,
        at=row.at,
        decided=row.decided,
        accepted=row.accepted,
        reason=row.reason,
    )
