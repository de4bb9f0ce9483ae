"""Serves a ledger over HTTP until it is told to stop."""

import socket
import time
from collections.abc import Callable
from contextlib import closing, suppress

import uvicorn

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import DAY, Invite, Person, invitations, invite, people, revoke_invitation
from evenhand.site.app import make_app
from evenhand.site.http.connection import connection_class
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.request_guard import security_headers
from evenhand.site.http.settings import Site, SiteError
from evenhand.site.http.visitor import Visitor

_BY_COMMAND = "the owner, by evenhand serve"
_STOPPING_SECONDS = 10


def owner_link(ledger: Ledger, site: Site) -> str:
    """A link by which the owner comes in, or back; one made before and not used holds no more."""
    for one in invitations(ledger):
        if one.note == _BY_COMMAND and one.fault(time.time()) is None:
            revoke_invitation(ledger, one.id)
    known = _owner(ledger)
    asked = Invite(role="owner", note=_BY_COMMAND, lasts=DAY, person=None if known is None else known.id)
    return f"{site.url}/join/{invite(ledger, asked).token}"


def has_owner(ledger: Ledger) -> bool:
    return _owner(ledger) is not None


def _owner(ledger: Ledger) -> Person | None:
    return next((person for person in people(ledger) if person.role == "owner" and not person.erased), None)


def server_config(ledger: Ledger, site: Site, *, host: str, port: int) -> uvicorn.Config:
    app = make_app(ledger, site)
    watch: RateLimits = app.state.service.watch

    async def refused(address: str, what: str) -> None:
        await watch.attacked(Visitor(address=address), what, "")

    return uvicorn.Config(
        app,
        http=connection_class(site.limits.seconds, refused, security_headers(site)),
        ws="none",
        host=host,
        port=port,
        log_level="warning",
        access_log=False,  # addresses of pages hold invitations
        server_header=False,
        # Without a proxy anybody could say to come from anywhere.
        proxy_headers=site.proxied,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_STOPPING_SECONDS,
        limit_concurrency=2000,
    )


def serve(ledger: Ledger, site: Site, *, host: str, port: int, ready: Callable[[], None]) -> None:
    """Returns on Ctrl-C, when the requests under way are answered; `ready` is called once. Raises SiteError."""
    with closing(_bound(host, port)) as bound, suppress(KeyboardInterrupt):
        _Server(server_config(ledger, site, host=host, port=port), ready).run([bound])


def _bound(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise SiteError(
            f"Nothing can be served at {host}, port {port} ({error.strerror}); choose another with --port."
        ) from error


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
