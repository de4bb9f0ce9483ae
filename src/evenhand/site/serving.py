"""Serves a ledger over HTTP until it is told to stop."""

import resource
import signal
import socket
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from typing import NoReturn, TextIO

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import DAY, Invite, Person, invitations, invite, people, revoke_invitation
from evenhand.site.app import make_app
from evenhand.site.http.connection import OpenConnections, connection_class
from evenhand.site.http.figures_process import Figures, FiguresProcess
from evenhand.site.http.operations import logging_as_json
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.request_guard import security_headers
from evenhand.site.http.settings import Site, SiteError
from evenhand.site.http.visitor import Visitor

_BY_COMMAND = "the owner, by evenhand serve"
_STOPPING_SECONDS = 10
_FILES = 8192
_OTHER_FILES = 300
"""Of the ledger, its images, uploads and the program."""


def owner_links(ledger: Ledger, site: Site) -> list[tuple[str, str]]:
    """By each owner's name, a link by which they come back; one by which the first comes in, where there is none."""
    owners = _owners(ledger)
    if len(owners) < 2:
        return [("", owner_link(ledger, site))]
    made = [
        (one.shown, invite(ledger, Invite(role="owner", note=_BY_COMMAND, lasts=DAY, person=one.id))) for one in owners
    ]
    return [(name, f"{site.url}/join/{link.token}") for name, link in made]


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
    return next(iter(_owners(ledger)), None)


def _owners(ledger: Ledger) -> list[Person]:
    return [person for person in people(ledger) if person.role == "owner" and not person.erased]


def server_config(
    ledger: Ledger,
    site: Site,
    *,
    host: str,
    port: int,
    log: TextIO | None = None,
    figures: Figures | None = None,
) -> uvicorn.Config:
    """`figures`: where boards are worked out, if not in this process."""
    app = make_app(ledger, site, log=log, figures=figures)
    watch: RateLimits = app.state.service.watch

    async def refused(address: str, what: str) -> None:
        await watch.attacked(Visitor(address=address), what, "")

    most, of_one = min(site.limits.connections, _room()), site.limits.connections_of_one
    open_ones = OpenConnections(most=most, most_of_one=most if site.proxied else of_one)
    app.state.metrics.count_connections(lambda: len(open_ones))
    return uvicorn.Config(
        app,
        http=connection_class(site.limits.seconds, refused, security_headers(site), open_ones),
        ws="none",
        host=host,
        port=port,
        log_level="warning",
        log_config=LOGGING_CONFIG if log is None else None,  # None: what it says goes to our own log
        access_log=False,  # addresses of pages hold invitations
        server_header=False,
        # Without a proxy anybody could say to come from anywhere.
        proxy_headers=site.proxied,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=_STOPPING_SECONDS,
        limit_concurrency=2000,
    )


def _room() -> int:
    """For how many connections there are files, when as many may be open as the system lets us have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, _FILES) if hard != resource.RLIM_INFINITY else _FILES
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(50, (_FILES if soft == resource.RLIM_INFINITY else soft) - _OTHER_FILES)


def serve(
    ledger: Ledger, site: Site, *, host: str, port: int, ready: Callable[[], None], log: TextIO | None = None
) -> None:
    """Returns on Ctrl-C or SIGTERM, when the requests under way are answered; `ready` is called once.

    Raises SiteError.
    """
    with (
        closing(_bound(host, port)) as bound,
        closing(FiguresProcess(ledger.url)) as figures,
        logging_as_json(log),
        suppress(KeyboardInterrupt),
        _told_to_stop(),
    ):
        figures.begin()
        _Server(server_config(ledger, site, host=host, port=port, log=log, figures=figures), ready).run([bound])


@contextmanager
def _told_to_stop() -> Generator[None]:
    """The server raises the signal again by which it was stopped: to be told to is no failure of the process."""

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
