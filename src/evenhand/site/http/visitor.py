"""Who is asking: a person who is signed in, a script with a token, or somebody passing by."""

import hmac
import time
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Network, ip_address

from starlette.requests import HTTPConnection

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Person, Role, ran_out, signed_in_with
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.settings import Site

FRESH_SECONDS = 3600.0
CSRF_FIELD = "csrf"
CSRF_HEADER = "X-CSRF-Token"
_KINDS: dict[Role, str] = {"owner": "owners", "annotator": "annotators", "team": "teams"}


_TRANSLATED = IPv6Network("64:ff9b::/96")
"""Addresses of IPv4 as a translator before a server of IPv6 alone writes them (RFC 6052)."""


@lru_cache(maxsize=4096)
def network(address: str) -> str:
    """What one visitor has of the addresses: one of IPv4, but 2**64 of IPv6."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    inner = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
    if found in _TRANSLATED:
        inner = IPv4Address(int(found) & 0xFFFFFFFF)
    return str(inner) if inner else str(IPv6Network((int(found) >> 64 << 64, 64)))


@lru_cache(maxsize=4096)
def site_network(address: str) -> str:
    """What a provider gives one customer, who may have many networks: of IPv6 a /48."""
    found = network(address)
    return str(IPv6Network(found).supernet(new_prefix=48)) if found.endswith("/64") else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    address: str
    person: Person | None = None
    secret: str | None = field(default=None, repr=False)
    """The session's token, or that of the cookie which somebody passing by gets with their first form."""
    since: float | None = None
    """When they signed in, with a session."""
    by_token: bool = False
    """Whether a script's token brought them: such requests carry no cookie, so none can be forged from a page."""
    claimed: bool = False
    """Whether they showed a session or token that somebody ended, or that never held."""
    expired: bool = False
    """Whether their session ran out."""
    bad_token: bool = False
    """Whether a script showed a token that holds no more, or never did."""
    grows: bool = False
    """Whether there is a growing benchmark to which they could contribute."""

    @property
    def is_owner(self) -> bool:
        return self.person is not None and self.person.role == "owner"

    @property
    def signed_out(self) -> bool:
        """Whether they may have been signed in when their page was made: browsers drop a session that ran out."""
        return self.person is None and (self.expired or (self.secret is None and not self.claimed))

    @property
    def name(self) -> str:
        """For limits: a person wherever they are, else the network they come from."""
        return network(self.address) if self.person is None else f"person {self.person.id}"

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
            words = f"This is for {' and '.join(_KINDS[role] for role in roles)}, and your account is of another kind"
            raise Refusal(
                403, f"{words}; ask the owner for one that fits.", attack="refused: role", about=self.person.role
            )
        return self.person

    def must_have_just_signed_in(self, site: Site) -> None:
        """For what gives access or data away, destroys, or spends. Raises Refusal: a session may be in other hands, or
        the browser left open; a script's token is none."""
        if self.since is not None and time.time() - self.since > FRESH_SECONDS:
            raise Refusal(
                401,
                f"This needs a sign-in within the last hour. `{site.link_command}`, on the server's machine in its "
                "folder, prints a link; open it in this browser, come back and do it again.",
                code="EH-SIGN-IN-AGAIN",
            )


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
        found = signed_in_with(ledger, token.strip(), kind="token")
        if found is None:
            return Visitor(address=address, claimed=True, bad_token=True)
        return Visitor(address=address, person=found.person, by_token=True, claimed=True)
    session = connection.cookies.get(session_cookie(site))
    if session:
        found = signed_in_with(ledger, session, kind="session")
        if found is not None:
            return Visitor(
                address=address,
                person=found.person,
                secret=session,
                claimed=True,
                since=found.since,
                grows=found.grows,
            )
    passing = connection.cookies.get(passing_cookie(site))
    expired = bool(session) and ran_out(ledger, session or "", kind="session")
    return Visitor(address=address, secret=passing or None, claimed=bool(session) and not expired, expired=expired)
