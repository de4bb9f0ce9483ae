"""For whoever runs the server: probes, metrics, and a log of requests that names nobody."""

import asyncio
import json
import logging
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy import text
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand.ledger.read.newest import newest
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger

HEALTH, READY, METRICS = "/healthz", "/readyz", "/metrics"
_PROBE_SECONDS = 2.0
"""So long a probe waits for the ledger."""
_PROBE_LASTS = 1.0
"""Seconds: who asks again sooner is told what was found before."""
_ADDED_UP: Literal["livesum"] = "livesum"
"""Of the processes that are there."""
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """What Prometheus is told: counts and times by route, never by person, address, or what stands in an address.

    `together`: a folder by which the processes of one server tell each other theirs, so that each tells of all.
    """

    def __init__(self, ledger: Ledger, *, together: str | None = None) -> None:
        own = CollectorRegistry()
        self._requests = Counter("evenhand_requests", "Requests answered.", ("method", "route", "status"), registry=own)
        self._seconds = Histogram(
            "evenhand_request_seconds", "Until the answer's end.", ("route",), buckets=_BUCKETS, registry=own
        )
        how = _ADDED_UP
        self._under_way = Gauge(
            "evenhand_requests_under_way", "Being answered now.", multiprocess_mode=how, registry=own
        )
        self._connections = Gauge("evenhand_connections", "Open now.", multiprocess_mode=how, registry=own)
        self._told = own
        if together is None:
            ProcessCollector(registry=own)
        else:
            self._told = CollectorRegistry()
            MultiProcessCollector(self._told, together)
            self._told.register(_Processes(together))
        self._told.register(_OnRecord(ledger))

    def connections(self, number: int) -> None:
        self._connections.set(number)

    def begun(self) -> None:
        self._under_way.inc()

    def ended(self, *, method: str, route: str, status: int, seconds: float) -> None:
        self._under_way.dec()
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def written(self) -> Response:
        """Reads the ledger."""
        return Response(generate_latest(self._told), media_type=CONTENT_TYPE_LATEST)


class _OnRecord(Collector):
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def collect(self) -> Iterable[Metric]:
        yield GaugeMetricFamily("evenhand_judgements", "On record.", value=newest(self._ledger).judgement)

    def describe(self) -> Iterable[Metric]:
        """Without a look, which the registry would have when it is told of this."""
        return []


class _Processes(Collector):
    """Of all processes that answer: what they use, added up, and since when the first of them runs."""

    def __init__(self, together: str) -> None:
        self._together = Path(together)

    def collect(self) -> Iterable[Metric]:
        found: dict[str, Metric] = {}
        for file in self._together.glob(f"gauge_{_ADDED_UP}_*.db"):
            for one in ProcessCollector(pid=partial(str, file.stem.rpartition("_")[2]), registry=None).collect():
                before = found.setdefault(one.name, one)
                if before is not one:
                    join = min if one.name == "process_start_time_seconds" else sum
                    value = join([before.samples[0].value, one.samples[0].value])
                    before.samples = [before.samples[0]._replace(value=value)]
        return found.values()


class Readiness:
    """Whether the ledger can be read; asked at most once a second, whoever probes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._found = False
        self._until = 0.0
        self._asking = asyncio.Lock()

    async def __call__(self) -> bool:
        async with self._asking:
            if time.monotonic() >= self._until:
                try:
                    async with asyncio.timeout(_PROBE_SECONDS):
                        self._found = await run_in_threadpool(self._read)
                except TimeoutError:
                    self._found = False
                self._until = time.monotonic() + _PROBE_LASTS
        return self._found

    def _read(self) -> bool:
        try:
            with self._ledger.reading() as connection:
                connection.execute(text("SELECT 1 FROM judgements LIMIT 1"))
        except LedgerError:
            return False
        return True


class Operations:
    """Before the gate: answers probes, which come without a name that it knows, and measures all else.

    `log`: where a line of JSON is written for each request; None for none.
    """

    def __init__(self, app: ASGIApp, *, ledger: Ledger, metrics: Metrics, log: TextIO | None) -> None:
        self._app = app
        self._metrics = metrics
        self._ready = Readiness(ledger)
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] in (HEALTH, READY):
            answer = await self._probed(scope["path"])
            await answer(scope, receive, send)
        else:
            await self._measured(scope, receive, send)

    async def _probed(self, path: str) -> Response:
        """However often it is asked: a check behind a local proxy comes from where all visitors do, and is cheap."""
        if path == HEALTH:
            return PlainTextResponse("ok\n")
        ready = await self._ready()
        return PlainTextResponse("ready\n" if ready else "the ledger cannot be read\n", 200 if ready else 503)

    async def _measured(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, size, began = 499, 0, time.monotonic()  # 499: whoever asked was gone before the answer

        async def noticing(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            size += len(message.get("body", b""))
            await send(message)

        self._metrics.begun()
        try:
            await self._app(scope, receive, noticing)
        finally:
            seconds = time.monotonic() - began
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = route_of(scope)
            self._metrics.ended(method=method, route=route, status=status, seconds=seconds)
            if self._log is not None:
                line = {"method": method, "route": route, "status": status, "bytes": size}
                write_line(self._log, "request", **line, seconds=round(seconds, 4))


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def route_of(scope: Scope) -> str:
    """The pattern of its address: addresses themselves hold invitations, and names."""
    route = getattr(scope.get("route"), "path", None)
    return route if isinstance(route, str) else "static" if scope["path"].startswith("/static/") else "other"


def write_line(log: TextIO, event: str, **about: object) -> None:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    # In one piece: several processes write to one log.
    log.write(f"{json.dumps({'time': now, 'event': event, **about})}\n")
    log.flush()


class JsonLog(logging.Handler):
    """What the server below us and the libraries say, as lines of the same log."""

    def __init__(self, log: TextIO) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        # The sentence without what was put into it, which may be anybody's address or words.
        error = None if record.exc_info is None else record.exc_info[1]
        about = {} if error is None else failure_in(error)
        said = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        write_line(self._log, "said", level=record.levelname.lower(), logger=record.name, said=said, **about)


@contextmanager
def logging_as_json(log: TextIO | None) -> Generator[None]:
    """All that this process logs; None: it stays as it is."""
    if log is None:
        yield
        return
    root, below = logging.getLogger(), logging.getLogger("uvicorn")  # which may have been told to write by itself
    before = root.handlers, below.handlers, below.propagate
    root.handlers, below.handlers, below.propagate = [JsonLog(log)], [], True
    try:
        yield
    finally:
        root.handlers, below.handlers, below.propagate = before


def failure_in(error: BaseException) -> dict[str, str]:
    """Its kind and the place in the program; what it says may hold anybody's words."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
    return {"error": type(error).__name__, "at": where}
