"""People and how they are let in: by invitations, sessions and tokens, of which only hashes are kept.

The record names a person by a label made of their id, so a name can be erased here while the judgements stay.
"""

import hashlib
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from evenhand.domain.rater import Rater
from evenhand.format.look_alikes import at_a_glance
from evenhand.ledger.store import schema
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.team_names import NameRefused, forget_team, team_name

Role: TypeAlias = Literal["owner", "annotator", "team"]
AccessKind: TypeAlias = Literal["session", "token"]
Fault: TypeAlias = Literal["unknown", "expired", "revoked", "used up"]

# Built once, as every request asks it: building it takes longer than running it.
_PERSON_WITH = (
    select(
        schema.people,
        schema.access_keys.c.at.label("since"),
        schema.access_keys.c.expires,
        select(schema.growing.c.id).exists().label("grows"),
    )
    .join(schema.access_keys, schema.access_keys.c.person == schema.people.c.id)
    .where(
        schema.access_keys.c.token_hash == bindparam("token"),
        schema.access_keys.c.kind == bindparam("kind"),
        schema.access_keys.c.expires > bindparam("now"),
    )
)

DAY = 86_400.0
SESSION_SECONDS = 30 * DAY
IDLE_SECONDS = {"owner": DAY / 2, "annotator": 7 * DAY, "team": 7 * DAY}
"""By role: after which a session ends that nobody uses."""
_NOTED = 20
"""A session's use is written down so many times in what it may be idle, and not with each request."""
TOKEN_SECONDS = 365 * DAY


class InvitationRefused(Exception):
    """An invitation that lets nobody in any more, or never did. A sentence."""

    def __init__(self, fault: Fault) -> None:
        self.fault: Fault = fault
        super().__init__(f"{_FAULTS[fault]} Ask whoever sent you the link for a new one.")


class LastOwner(Exception):
    """Nobody could come in as an owner afterwards. A sentence."""

    def __init__(self) -> None:
        super().__init__("No other owner can come in, so this one stays; invite another owner first.")


_FAULTS = {
    "unknown": "This invitation is not known.",
    "expired": "This invitation has expired.",
    "revoked": "This invitation was withdrawn.",
    "used up": "This invitation was used already.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    id: str
    role: Role
    name: str
    """Empty once erased."""
    at: float
    erased: bool = False

    @property
    def label(self) -> str:
        """What the record calls them; it says nothing about who they are."""
        return f"person-{self.id}"

    @property
    def shown(self) -> str:
        return self.name or self.label

    @property
    def rater(self) -> Rater:
        return Rater(kind="human", name=self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    id: str
    role: Role
    note: str
    """For whom it is, in the owner's words."""
    person: str | None
    """Who comes back by it; None where it makes a new person."""
    uses_left: int
    at: float
    expires: float
    revoked: bool

    def fault(self, now: float) -> Fault | None:
        """Why it lets nobody in; None while it does."""
        if self.revoked:
            return "revoked"
        if self.expires <= now:
            return "expired"
        return "used up" if self.uses_left < 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """What an owner asks for."""

    role: Role
    note: str = ""
    uses: int = 1
    lasts: float = 14 * DAY
    """Seconds from now."""
    person: str | None = None
    made_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessKey:
    id: str
    kind: AccessKind
    person: str
    note: str
    at: float
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """Something with its token, which is shown once and not kept."""

    id: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedPerson:
    person: Person
    key: Granted
    """A session, or a token for scripts."""


def hashed(token: str) -> str:
    """Tokens hold 256 random bits, so a plain hash cannot be searched."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def invite(ledger: Ledger, asked: Invite) -> Granted:
    granted = _granted()
    now = time.time()
    row = {
        "id": granted.id,
        "token_hash": hashed(granted.token),
        "role": asked.role,
        "note": asked.note,
        "person": asked.person,
        "uses_left": asked.uses,
        "made_by": asked.made_by,
        "at": now,
        "expires": now + asked.lasts,
        "revoked": None,
    }
    with ledger.writing() as connection:
        connection.execute(insert(schema.invitations), [row])
    return granted


def invitations(ledger: Ledger) -> list[Invitation]:
    """The newest first."""
    table = schema.invitations
    with ledger.reading() as connection:
        return [_invitation(row) for row in connection.execute(select(table).order_by(table.c.at.desc(), table.c.id))]


def find_invitation(ledger: Ledger, token: str) -> Invitation:
    """Raises InvitationRefused where it lets nobody in."""
    with ledger.reading() as connection:
        return _standing(connection, token)


def came_by(ledger: Ledger, person: str, token: str) -> bool:
    """Whether it was by this invitation, whatever has become of it, that the person came or came back."""
    table, notes = schema.people, schema.invitations
    query = (
        select(table.c.id)
        .join(notes, (notes.c.id == table.c.invitation) | (notes.c.person == table.c.id))
        .where(table.c.id == person, notes.c.token_hash == hashed(token))
    )
    with ledger.reading() as connection:
        return connection.execute(query).first() is not None


def revoke_invitation(ledger: Ledger, invitation: str) -> bool:
    """Whether there was one to revoke."""
    table = schema.invitations
    with ledger.writing() as connection:
        asked = update(table).where(table.c.id == invitation, table.c.revoked.is_(None)).values(revoked=time.time())
        return connection.execute(asked).rowcount == 1


def join(ledger: Ledger, token: str, name: str, *, kind: AccessKind = "session") -> JoinedPerson:
    """Uses an invitation: a new person, or one who comes back, with a key of this kind.

    Raises InvitationRefused, and NameRefused, which uses nothing up: a team is called as the owner accepted it.
    """
    table = schema.invitations
    with ledger.writing() as connection:
        found = _standing(connection, token)
        connection.execute(update(table).where(table.c.id == found.id).values(uses_left=table.c.uses_left - 1))
        person = None if found.person is None else _person_by_id(connection, found.person)
        if person is None:
            called = team_name(connection, name, accepted=found.note) if found.role == "team" else name
            person = _new_person(connection, found.role, called, invitation=found.id)
        lasts = IDLE_SECONDS[person.role] if kind == "session" else TOKEN_SECONDS
        key = _open(connection, person.id, kind=kind, note="", lasts=lasts)
    return JoinedPerson(person=person, key=key)


def add_person(ledger: Ledger, role: Role, name: str) -> JoinedPerson:
    """A new person with a token for scripts, let in by nobody's link.

    Raises NameRefused where the name is taken for that of another of their kind: sheets and rows name people.
    """
    table = schema.people
    with ledger.writing() as connection:
        if role == "team":
            name = team_name(connection, name, accepted="")
        else:
            others = connection.execute(select(table.c.name).where(table.c.role != "team")).scalars()
            _must_be_unlike(name, others)
        person = _new_person(connection, role, name)
        key = _open(connection, person.id, kind="token", note="", lasts=TOKEN_SECONDS)
    return JoinedPerson(person=person, key=key)


def _must_be_unlike(name: str, others: Iterable[str]) -> None:
    like = next((one for one in others if one and at_a_glance(one) == at_a_glance(name)), None)
    if like is not None:
        raise NameRefused(f"'{like}' has an account here already; give a name that nobody takes for another's.")


def people(ledger: Ledger) -> list[Person]:
    """In the order they came."""
    table = schema.people
    with ledger.reading() as connection:
        return [_person(row) for row in connection.execute(select(table).order_by(table.c.at, table.c.id))]


def find_person(ledger: Ledger, person: str) -> Person | None:
    if "\x00" in person:  # PostgreSQL takes no question about such a name
        return None
    with ledger.reading() as connection:
        return _person_by_id(connection, person)


def erase_name(ledger: Ledger, person: str) -> bool:
    """Takes away a person's name, what they asked for in their words, the notes of their invitations, their drafts and
    their access; whether there was one. What a receipt says of a submission stays as it says it.

    Raises LastOwner.
    """
    table, notes, keys = schema.people, schema.invitations, schema.access_keys
    with ledger.writing() as connection:
        found = connection.execute(select(table.c.invitation).where(table.c.id == person)).first()
        if found is None:
            return False
        _spare_last_owner(connection, person)
        connection.execute(update(table).where(table.c.id == person).values(name="", erased=time.time()))
        theirs = (notes.c.person == person) | (notes.c.id == found.invitation)
        connection.execute(update(notes).where(theirs).values(note=""))
        connection.execute(update(notes).where(notes.c.person == person).values(revoked=time.time()))
        connection.execute(delete(keys).where(keys.c.person == person))
        connection.execute(delete(schema.drafts).where(schema.drafts.c.person == person))
        forget_team(connection, person, invitation=found.invitation)
    return True


def sign_out(ledger: Ledger, person: str) -> bool:
    """Ends every session and token of a person; whether there is such a person. Raises LastOwner."""
    keys = schema.access_keys
    with ledger.writing() as connection:
        if _person_by_id(connection, person) is None:
            return False
        _spare_last_owner(connection, person)
        connection.execute(delete(keys).where(keys.c.person == person))
    return True


def is_last_owner(ledger: Ledger, person: str) -> bool:
    with ledger.reading() as connection:
        return _last_owner(connection, person)


def _spare_last_owner(connection: Connection, person: str) -> None:
    if _last_owner(connection, person):
        raise LastOwner


def _last_owner(connection: Connection, person: str) -> bool:
    """Whether this is the only owner. Whoever is signed out is one still: `evenhand serve --only-link` prints a link
    for each whose name is not erased, so sessions, which all end by time, do not count."""
    table = schema.people
    query = select(table.c.id).where(table.c.role == "owner", table.c.erased.is_(None))
    return set(connection.execute(query).scalars()) == {person}


def grant_token(ledger: Ledger, person: str, *, note: str, lasts: float = TOKEN_SECONDS) -> Granted:
    """A token for scripts."""
    with ledger.writing() as connection:
        return _open(connection, person, kind="token", note=note, lasts=lasts)


def access_keys(ledger: Ledger, person: str) -> list[AccessKey]:
    """A person's sessions and tokens that still hold, the newest first."""
    table = schema.access_keys
    query = select(table).where(table.c.person == person, table.c.expires > time.time()).order_by(table.c.at.desc())
    with ledger.reading() as connection:
        return [
            AccessKey(id=row.id, kind=row.kind, person=row.person, note=row.note, at=row.at, expires=row.expires)
            for row in connection.execute(query)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    person: Person
    since: float
    """When they came in, or the token was made."""
    grows: bool = False
    """Whether any benchmark here is one that people let grow."""


def signed_in_with(ledger: Ledger, token: str, *, kind: AccessKind) -> SignedIn | None:
    """Whose session or token this is, while it holds; a session that is used lasts on."""
    now = time.time()
    with ledger.reading() as connection:
        row = connection.execute(_PERSON_WITH, {"token": hashed(token), "kind": kind, "now": now}).first()
    if row is None:
        return None
    person = _person(row)
    idle = IDLE_SECONDS[person.role]
    ends = min(row.since + SESSION_SECONDS, now + idle)
    if kind == "session" and abs(ends - row.expires) > idle / _NOTED:
        # Where another writes for long, the next request notes it.
        with suppress(LedgerError), ledger.writing() as connection:
            keys = schema.access_keys
            connection.execute(update(keys).where(keys.c.token_hash == hashed(token)).values(expires=ends))
    return SignedIn(person=person, since=row.since, grows=row.grows)


def ran_out(ledger: Ledger, token: str, *, kind: AccessKind) -> bool:
    """Whether this held once and came to its end by time alone; one that somebody ended, or nobody gave, did not."""
    table = schema.access_keys
    query = select(table.c.id).where(
        table.c.token_hash == hashed(token), table.c.kind == kind, table.c.expires <= time.time()
    )
    with ledger.reading() as connection:
        return connection.execute(query).first() is not None


def end_access(ledger: Ledger, *, person: str, key: str | None = None, token: str | None = None) -> int:
    """Ends one session or token of a person, by its id or by itself, or with neither all; returns how many ended."""
    table = schema.access_keys
    asked = delete(table).where(table.c.person == person)
    if key is not None:
        asked = asked.where(table.c.id == key)
    if token is not None:
        asked = asked.where(table.c.token_hash == hashed(token))
    with ledger.writing() as connection:
        return connection.execute(asked).rowcount


def _granted() -> Granted:
    return Granted(id=secrets.token_hex(6), token=secrets.token_urlsafe(32))


def _open(connection: Connection, person: str, *, kind: AccessKind, note: str, lasts: float) -> Granted:
    granted, now = _granted(), time.time()
    table = schema.access_keys
    connection.execute(delete(table).where(table.c.expires <= now - SESSION_SECONDS))
    row = {
        "token_hash": hashed(granted.token),
        "id": granted.id,
        "kind": kind,
        "person": person,
        "note": note,
        "at": now,
        "expires": now + lasts,
    }
    connection.execute(insert(table), [row])
    return granted


def _standing(connection: Connection, token: str) -> Invitation:
    table = schema.invitations
    row = connection.execute(select(table).where(table.c.token_hash == hashed(token))).first()
    if row is None:
        raise InvitationRefused("unknown")
    found = _invitation(row)
    fault = found.fault(time.time())
    if fault is not None:
        raise InvitationRefused(fault)
    return found


def _new_person(connection: Connection, role: Role, name: str, *, invitation: str | None = None) -> Person:
    person = Person(id=secrets.token_hex(6), role=role, name=name, at=time.time())
    row = {"id": person.id, "role": role, "name": name, "invitation": invitation, "at": person.at, "erased": None}
    connection.execute(insert(schema.people), [row])
    return person


def _person_by_id(connection: Connection, person: str) -> Person | None:
    row = connection.execute(select(schema.people).where(schema.people.c.id == person)).first()
    return None if row is None else _person(row)


def _person(row: Row[Any]) -> Person:
    return Person(id=row.id, role=row.role, name=row.name, at=row.at, erased=row.erased is not None)


def _invitation(row: Row[Any]) -> Invitation:
    return Invitation(
        id=row.id,
        role=row.role,
        note=row.note,
        person=row.person,
        uses_left=row.uses_left,
        at=row.at,
        expires=row.expires,
        revoked=row.revoked is not None,
    )
