"""A connection that must say what it wants in time and in few words; the server behind it waits for ever otherwise."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 1024
"""Of a request's line and headers."""

Refused: TypeAlias = Callable[[str, str], Coroutine[Any, Any, None]]
"""Told of the address and of what was refused."""

_noting: set["asyncio.Task[None]"] = set()
"""A task that nobody holds may vanish before it has run."""


def connection_class(
    seconds: float, refused: Refused, headers: Sequence[tuple[bytes, bytes]]
) -> type[asyncio.Protocol]:
    """For the server's configuration, which makes one of each connection; `seconds` for a request's headers. Its own
    answers carry these `headers`, as no application sees them."""

    class Connection(_Connection):
        _allowed = seconds
        _told = staticmethod(refused)
        _headers = headers

    return Connection


class _Connection(HttpToolsProtocol):
    _deadline: asyncio.TimerHandle | None = None
    """There while headers are awaited."""
    _head_bytes = 0
    """Of the request that is coming."""

    _allowed: float
    """Seconds."""
    _told: Refused
    _headers: Sequence[tuple[bytes, bytes]]

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._deadline is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(b"431 Request Header Fields Too Large", "refused: headers too large")

    def send_400_response(self, msg: str) -> None:
        """Where the bytes are no request, or one with two ends."""
        self._refuse(b"400 Bad Request", "refused: malformed request", msg)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._head_is_here()
        super().on_headers_complete()

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self._allowed, self._too_slow)

    def _head_is_here(self) -> None:
        self._head_bytes = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        # Whoever has sent nothing at all is not blamed: browsers open connections ahead of need.
        self._refuse(b"408 Request Timeout", "refused: slow headers" if self._head_bytes else None)

    def _refuse(self, status: bytes, what: str | None, words: str = "") -> None:
        self._head_is_here()
        if self.transport.is_closing():
            return
        body = words.encode()
        headers = (
            *self.server_state.default_headers,
            *self._headers,
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        )
        lines = (b"HTTP/1.1 " + status, *(name + b": " + value for name, value in headers), b"", body)
        self.transport.write(b"\r\n".join(lines))
        self.transport.close()
        if what is not None:
            self._note(what)

    def _note(self, what: str) -> None:
        if self.client is not None:
            task = self.loop.create_task(self._told(self.client[0], what))
            _noting.add(task)
            task.add_done_callback(_noting.discard)
