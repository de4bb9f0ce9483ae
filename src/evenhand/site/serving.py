"""Serves a ledger over HTTP until it is told to stop."""

import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TextIO, cast

import uvicorn
from prometheus_client import multiprocess
from uvicorn.config import LOGGING_CONFIG

from evenhand.domain.errors import EvenhandError
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import DAY, Invite, Person, invitations, invite, people, revoke_invitation
from evenhand.site.app import make_app
from evenhand.site.http.connection import OpenConnections, connection_class
from evenhand.site.http.figures_process import Figures, FiguresProcess
from evenhand.site.http.operations import logging_as_json, write_line
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.request_guard import security_headers
from evenhand.site.http.settings import REACH_SECONDS, Site, SiteError
from evenhand.site.http.shared_limits import Shared, SharedLimits
from evenhand.site.http.visitor import Visitor
from evenhand.site.processes import Processes, is_hindered, is_ready, stop_signals, while_kept

_log = logging.getLogger("evenhand.site")

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
    shared: Shared | None = None,
) -> uvicorn.Config:
    """`figures`: where boards are worked out, if not here. `shared`: with the other processes that answer."""
    app = make_app(ledger, site, log=log, figures=figures, shared=shared)
    watch: RateLimits = app.state.service.watch

    async def refused(address: str, what: str) -> None:
        await watch.attacked(Visitor(address=address), what, "")

    most, of_one = min(site.limits.connections, _room()), site.limits.connections_of_one
    told = app.state.metrics.connections
    open_ones = OpenConnections(
        most=most,
        most_of_one=most if site.proxied else of_one,
        time_to_ask=site.limits.time_to_ask,
        told=told,
    )
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a ledger is served."""

    site: Site
    bound: socket.socket
    """Where it listens."""
    log: TextIO | None = None
    """For lines of JSON, in place of those for people to read; of several processes, standard error."""
    processes: int = 1


def serve(ledger: Ledger, serving: Serving, ready: Callable[[], None]) -> None:
    """Returns on Ctrl-C or SIGTERM, when the requests under way are answered; `ready` is called once.

    Raises SiteError.
    """
    if serving.processes == 1:
        _answer(ledger, serving, ready)
    else:
        _have_answered(ledger, serving, ready)


def _answer(ledger: Ledger, serving: Serving, ready: Callable[[], None], shared: Shared | None = None) -> None:
    with (
        closing(FiguresProcess(ledger.given)) as figures,
        logging_as_json(serving.log),
        suppress(KeyboardInterrupt),
        _told_to_stop(),
    ):
        figures.begin()
        host, port = serving.bound.getsockname()[:2]
        config = server_config(
            ledger, serving.site, host=host, port=port, log=serving.log, figures=figures, shared=shared
        )
        _Server(config, ready).run([serving.bound])


def _have_answered(ledger: Ledger, serving: Serving, ready: Callable[[], None]) -> None:
    """By several processes that listen at one socket."""
    limits = serving.site.limits.of_each(serving.processes)
    site = replace(serving.site, limits=limits)
    in_memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="evenhand-", dir=in_memory) as folder, stop_signals() as stop:
        shared = Shared(limits=SharedLimits(), folder=folder)
        given = (ledger.given, site, serving.bound, shared, serving.log is not None)
        processes = Processes(
            serving.processes,
            _one_of_several,
            given,
            variables={_METRICS_FOLDER: folder, "OPENBLAS_NUM_THREADS": os.environ.get("OPENBLAS_NUM_THREADS", "1")},
            lost=partial(_told_of_lost, folder, serving.log),
        )
        # Else whoever comes then would wait for an answer until all have ended.
        processes.run(stop, ready=ready, stopping=serving.bound.close)


_MEMORY = "/dev/shm"  # noqa: S108  the folder made in it is nobody else's
"""Where metrics lie, if there is such a place: processes that map files are killed when the disk of these is full."""
_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the library of metrics knows, when it is loaded, that there are several processes."""


def _told_of_lost(folder: str, log: TextIO | None, process: int, code: int | None) -> None:
    cast(Any, multiprocess).mark_process_dead(process, folder)
    if log is None:
        _log.warning("A process of the server ended (exit code %s); another takes its place.", code)
    else:
        write_line(log, "process ended", code=code)


def _one_of_several(
    line: Connection, url: str, site: Site, bound: socket.socket, shared: Shared, as_json: bool
) -> None:
    """In a process of its own."""
    serving = Serving(site=site, bound=bound, log=sys.stderr if as_json else None)
    try:
        with suppress(KeyboardInterrupt), _told_to_stop(), while_kept(line), closing(open_for_pages(url)) as ledger:
            _answer(ledger, serving, partial(is_ready, line), shared)
    except EvenhandError as error:
        is_hindered(line, str(error))
        os._exit(1)  # without a traceback: who began us has the sentence


def open_for_pages(url: str) -> Ledger:
    """What several processes and machines write that answer pages is as if one did."""
    return Ledger(url, in_turn=True, reach_seconds=REACH_SECONDS)


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


def bound_at(host: str, port: int) -> socket.socket:
    """Port 0: one that is free. Raises SiteError."""
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
