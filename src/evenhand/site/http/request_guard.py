"""The gate every request passes: the Host header, who is asking, how often, how much and how long."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.operations import METRICS, failure_in, route_of, write_line
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.refusal import Refusal, busy, not_found
from evenhand.site.http.settings import Site
from evenhand.site.http.visitor import Visitor, recognised

_DRAINED_BYTES = 16 * 1024 * 1024
_DRAINED_SECONDS = 5.0
_LENGTH_MOST = 2**62
_SOON = {"Retry-After": "1"}
_DOWNLOAD = "download"

_log = logging.getLogger("evenhand.site")

_OVERDUE = Refusal(503, "This took too long; try again in a moment.")
_SLOW = Refusal(408, "Your request did not come in time; send it again.", attack="refused: slow request")

Answer: TypeAlias = Callable[[Request, Refusal], Awaitable[Response]]


def begun_in_time(request: Request) -> None:
    """For a route that answers with a large file: the clock of requests is compared with it until the first byte."""
    setattr(request.state, _DOWNLOAD, True)


class RequestGuard:
    def __init__(
        self, app: ASGIApp, *, site: Site, ledger: Ledger, watch: RateLimits, answer: Answer, log: TextIO | None = None
    ) -> None:
        """`log`: for lines of JSON, in place of those for people to read."""
        self._app = app
        self._site = site
        self._ledger = ledger
        self._watch = watch
        self._answer = answer
        self._log = log
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        request.state.visitor = Visitor(address=request.client.host if request.client else "")
        limits = self._site.limits
        most = limits.body_limit(request.scope["path"])
        started, body = False, _Body(receive, most=most, announced=_has_body(request))

        clock = asyncio.timeout(limits.time_limit(min(_length(request), most)))

        async def noticing(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if getattr(request.state, _DOWNLOAD, False):
                    clock.reschedule(None)
                if body.owed:  # what still comes of it would be taken for the next request
                    MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        try:
            async with clock:
                await self._admit(request)
                # A HEAD is answered like a GET; the server leaves the body out.
                asked = {**scope, "method": "GET"} if request.method == "HEAD" else scope
                with self._one_of(request.state.visitor):
                    await self._app(asked, body, noticing)
                scope["route"] = asked.get("route")  # for whoever counts
        except ClientDisconnect:
            return  # in the middle of a body: nobody is there to be answered
        except Exception as error:  # noqa: BLE001  the last resort of the server
            await self._refuse(request, send, self._refusal(error, request, body), started)

    def _refusal(self, error: Exception, request: Request, body: "_Body") -> Refusal:
        match error:
            case Refusal():
                return error
            case TimeoutError():
                return _SLOW if body.awaited else _OVERDUE
            case LedgerError():
                return busy(error)
            case _:
                pass
        if self._log is None:
            _log.error("%s %s failed.", request.method, route_of(request.scope), exc_info=error)
        else:
            write_line(self._log, "error", route=route_of(request.scope), **failure_in(error))
        words = "Unexpected error on this server; it was not caused by you. Try again later, or tell its owner."
        return Refusal(500, words)

    @contextmanager
    def _one_of(self, visitor: Visitor) -> Generator[None]:
        """Raises Refusal where so many requests of theirs are under way that others would find no room."""
        name = visitor.name
        if self._under_way[name] >= self._site.limits.under_way:
            raise Refusal(429, "Too many requests of yours are under way; wait for their answers.", headers=_SOON)
        self._under_way[name] += 1
        try:
            yield
        finally:
            self._under_way[name] -= 1
            if not self._under_way[name]:
                del self._under_way[name]

    async def _admit(self, request: Request) -> None:
        # All of them: of two, a proxy before us may have looked at the other.
        host = ", ".join(request.headers.getlist("host")).lower()
        if host not in self._site.hosts and request.scope["path"] != METRICS:
            raise Refusal(
                421,
                "This server does not answer under that name.",
                attack="refused: host",
                about=host,
            )
        visitor = await run_in_threadpool(recognised, request, self._ledger, self._site)
        request.state.visitor = visitor
        await self._watch.admit(visitor, harmless=request.scope["path"].startswith("/static/"))
        if "\x00" in request.scope["path"] or b"%00" in request.scope["query_string"]:
            # No name of ours holds it, and PostgreSQL takes no question about one that does.
            raise not_found("such page")
        most = self._site.limits.body_limit(request.scope["path"])
        if _length(request) > most:
            await _drained(request.receive, most)
            raise _too_large(most)

    async def _refuse(self, request: Request, send: Send, refusal: Refusal, started: bool) -> None:
        if not started:
            response = await self._answer(request, refusal)
            response.headers["Connection"] = "close"
            await response(request.scope, request.receive, send)


class _Body:
    """A request's body as it comes: without a length, longer than it said, or never."""

    def __init__(self, receive: Receive, *, most: int, announced: bool) -> None:
        self._receive = receive
        self._most = most
        self._so_far = 0
        self._whole = not announced
        self._waiting = False

    @property
    def owed(self) -> bool:
        """Whether a part of it has not been read."""
        return not self._whole

    @property
    def awaited(self) -> bool:
        """Whether the visitor still owes a part of it that is being waited for."""
        return self._waiting and self.owed

    async def __call__(self) -> Message:
        self._waiting = True
        message = await self._receive()
        self._waiting = False
        self._whole = not message.get("more_body", False)
        self._so_far += len(message.get("body", b""))
        if self._so_far > self._most:
            await _drained(self._receive, self._most)
            raise _too_large(self._most)
        return message


def _length(request: Request) -> int:
    """Of the body, as the request says it; one that makes no sense is too large for anything."""
    said = request.headers.get("content-length", "0")
    return min(int(said), _LENGTH_MOST) if said.isdecimal() and len(said) < 30 else _LENGTH_MOST


def _has_body(request: Request) -> bool:
    return _length(request) > 0 or "transfer-encoding" in request.headers


async def _drained(receive: Receive, most: int) -> None:
    """Reads on for a while: a connection closed on a client that still sends takes our answer away with it."""
    left = max(_DRAINED_BYTES, 2 * most)
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAINED_SECONDS):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return


def _too_large(most: int) -> Refusal:
    return Refusal(
        413,
        f"A request may hold {most // 1024:,} KB here; send less.",
        attack="refused: body too large",
    )


def policy(*, styles: Sequence[str] = ()) -> str:
    """What a page of ours may load and do; `styles` are hashes of styles that stand in the page itself."""
    allowed = " ".join(("'self'", *styles))
    return (
        f"default-src 'none'; style-src {allowed}; script-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )


def security_headers(site: Site) -> list[tuple[bytes, bytes]]:
    headers = {
        "content-security-policy": policy(),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        # Not no-referrer: under it browsers hide the origin of our own forms from us.
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "cache-control": "no-store",
    }
    if site.secure:
        headers["strict-transport-security"] = "max-age=31536000"
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]


class SecurityHeaders:
    """On every answer; one that brings its own value of a header keeps it."""

    def __init__(self, app: ASGIApp, *, site: Site) -> None:
        self._app = app
        self._headers = security_headers(site)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", []))
                named = {name.lower() for name, _ in own}
                message["headers"] = [*own, *(pair for pair in self._headers if pair[0] not in named)]
            await send(message)

        await self._app(scope, receive, adding if scope["type"] == "http" else send)
