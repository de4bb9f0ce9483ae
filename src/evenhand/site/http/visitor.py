"""Who is asking: a person who is signed in, a script with a token, or somebody passing by."""

import hmac
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Person, Role, person_with, ran_out
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.settings import Site

CSRF_FIELD = "csrf"
CSRF_HEADER = "X-CSRF-Token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    address: str
    person: Person | None = None
    secret: str | None = field(default=None, repr=False)
    """The session's token, or that of the cookie which somebody passing by gets with their first form."""
    by_token: bool = False
    """Whether a script's token brought them: such requests carry no cookie, so none can be forged from a page."""
    claimed: bool = False
    """Whether they showed a session or token that somebody ended, or that never held."""
    expired: bool = False
    """Whether their session ran out."""
    bad_token: bool = False
    """Whether a script showed a token that holds no more, or never did."""

    @property
    def is_owner(self) -> bool:
        return self.person is not None and self.person.role == "owner"

    @property
    def signed_out(self) -> bool:
        """Whether they may have been signed in when their page was made: browsers drop a session that ran out."""
        return self.person is None and (self.expired or (self.secret is None and not self.claimed))

    @property
    def name(self) -> str:
        """For limits: a person wherever they are, else the address."""
        return self.address if self.person is None else f"person {self.person.id}"

    def form_token(self) -> str:
        """What every form of theirs carries; nobody can make it who does not know the cookie."""
        assert self.secret is not None
        return hmac.new(self.secret.encode(), b"form", "sha256").hexdigest()

    def sent_form_token(self, token: str) -> bool:
        return self.secret is not None and hmac.compare_digest(self.form_token().encode(), token.encode())

    def must_be(self, *roles: Role) -> Person:
        """The person; raises Refusal for anybody without one of these roles."""
        if self.person is None:
            words = "This page is for people who were invited; open your invitation link first."
            if self.bad_token:
                words = "This token is not known, or was ended; make a new one on your account page."
            raise Refusal(
                401,
                words,
                attack="refused: not signed in" if self.claimed else None,
            )
        if self.person.role not in roles:
            raise Refusal(403, "This page is not for your role.", attack="refused: role", about=self.person.role)
        return self.person


def session_cookie(site: Site) -> str:
    """With the prefix that keeps neighbouring hosts from setting it, where browsers allow one."""
    return "__Host-evenhand" if site.secure else "evenhand"


def passing_cookie(site: Site) -> str:
    return f"{session_cookie(site)}-form"


def recognised(connection: HTTPConnection, ledger: Ledger, site: Site) -> Visitor:
    """Reads the ledger only where a session or token is shown."""
    address = connection.client.host if connection.client else ""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        person = person_with(ledger, token.strip(), kind="token")
        here = person is not None
        return Visitor(address=address, person=person, by_token=here, claimed=True, bad_token=not here)
    session = connection.cookies.get(session_cookie(site))
    if session:
        person = person_with(ledger, session, kind="session")
        if person is not None:
            return Visitor(address=address, person=person, secret=session, claimed=True)
    passing = connection.cookies.get(passing_cookie(site))
    expired = bool(session) and ran_out(ledger, session or "", kind="session")
    return Visitor(address=address, secret=passing or None, claimed=bool(session) and not expired, expired=expired)
