"""A connection that must say what it wants in time and in few words; the server behind it waits for ever otherwise.

Those that ask for nothing at the moment make way where there are too many: whoever only holds connections shuts nobody
out. Those that had time to ask and never did go first, as a browser that keeps several has asked on each; then those of
whoever has the most; then those that asked the longest ago. Whoever has just come is not among the first: their request
may be on its way, and closing theirs would let those who asked once, and stay, shut out everybody new.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeAlias, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from evenhand.site.http.visitor import network, site_network

HEAD_BYTES = 64 * 1024
"""Of a request's line and headers."""

Refused: TypeAlias = Callable[[str, str], Coroutine[Any, Any, None]]
"""Told of the address and of what was refused."""

_noting: set["asyncio.Task[None]"] = set()
"""A task that nobody holds may vanish before it has run."""


class OpenConnections:
    """All there are, by the network that they come from; `most` in all, and `most_of_one` of one network."""

    def __init__(
        self, *, most: int, most_of_one: int, time_to_ask: float, told: Callable[[int], None] | None = None
    ) -> None:
        """`time_to_ask`: seconds that each has. `told`: hears how many there are whenever that changes."""
        self._most = most
        self._most_of_one = most_of_one
        self._time_to_ask = time_to_ask
        self._told = told
        self._of: dict[str, dict[_Connection, None]] = {}
        self._at_site: Counter[str] = Counter()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def _counted(self, more: int) -> None:
        self._count += more
        if self._told is not None:
            self._told(self._count)

    def add(self, connection: "_Connection", at: str) -> bool:
        """Takes it in, and lets another one go where there are too many; False where none can."""
        theirs, now = self._of.get(at, {}), connection.idle_since
        if len(theirs) >= self._most_of_one and not self._gone(theirs, now):
            return False
        if self._count >= self._most and not self._gone((one for some in self._of.values() for one in some), now):
            return False
        self._of.setdefault(at, {})[connection] = None
        self._at_site[connection.at_site] += 1
        self._counted(1)
        return True

    def _gone(self, connections: "Iterable[_Connection]", now: float) -> bool:
        """Ends one that asks for nothing; whether there was one."""

        def worth(one: _Connection) -> tuple[bool, int, float]:
            return one.asked or now - one.idle_since < self._time_to_ask, -self._at_site[one.at_site], one.idle_since

        idle = [one for one in connections if one.idle]
        if idle:
            min(idle, key=worth).make_way()
        return bool(idle)

    def drop(self, connection: "_Connection", at: str) -> None:
        theirs = self._of.get(at, {})
        if connection in theirs:
            del theirs[connection]
            self._counted(-1)
            self._at_site[connection.at_site] -= 1
            if not self._at_site[connection.at_site]:
                del self._at_site[connection.at_site]
            if not theirs:
                del self._of[at]


def connection_class(
    seconds: float, refused: Refused, headers: Sequence[tuple[bytes, bytes]], open_ones: OpenConnections
) -> type[asyncio.Protocol]:
    """For the server's configuration, which makes one of each connection; `seconds` for a request's headers. Its own
    answers carry these `headers`, as no application sees them."""

    class Connection(_Connection):
        _allowed = seconds
        _told = staticmethod(refused)
        _headers = headers
        _open_ones = open_ones

    return Connection


class _Connection(HttpToolsProtocol):
    _deadline: asyncio.TimerHandle | None = None
    """There while headers are awaited."""
    _head_bytes = 0
    """Of the request that is coming."""
    _unread: asyncio.TimerHandle | None = None
    """There while the visitor reads nothing of what is sent."""

    _allowed: float
    """Seconds."""
    _told: Refused
    _headers: Sequence[tuple[bytes, bytes]]
    _open_ones: OpenConnections
    _at = ""
    """The network it comes from."""
    at_site = ""
    """The larger one that may be a single customer's."""
    asked = False
    """Whether there was ever a request."""
    idle_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._at, self.at_site, self.idle_since = network(address), site_network(address), self.loop.time()
        if self._open_ones.add(self, self._at):
            self._await_head()
        else:
            self._refuse(b"503 Service Unavailable", "refused: too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        self._open_ones.drop(self, self._at)
        self._head_is_here()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    @property
    def idle(self) -> bool:
        """Whether no request of it is being answered."""
        under_way = cast("RequestResponseCycle | None", self.cycle)  # None before the first
        return under_way is None or under_way.response_complete

    def make_way(self) -> None:
        self._open_ones.drop(self, self._at)
        self._head_is_here()
        if self.transport.get_write_buffer_size():  # whoever does not read would keep it open
            self.transport.abort()
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self._allowed, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.idle:
            self._await_head()  # a lone line break is no request
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

    def on_response_complete(self) -> None:
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def on_headers_complete(self) -> None:
        self.asked = True
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
