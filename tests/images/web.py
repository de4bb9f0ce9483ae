"""A small web of images on loopback, some of it hostile: real HTTP, each path with its own behaviour."""

import gzip
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from tests.benchmarks.files import BLUE, RED
from tests.hosting import hosting
from tests.images.pictures import png_bomb

HTML = b"<!doctype html><html><body>Sign in first</body></html>"
HUGE = 3_000_000


class Web:
    """What runs at `base`, and the paths that were asked of it, each with the cookies sent."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.redirects: dict[str, Callable[[BaseHTTPRequestHandler, Web], None]] = {}
        self.closing = threading.Event()
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append(self.path)
                web.headers.append({name.casefold(): value for name, value in self.headers.items()})
                (web.redirects.get(self.path) or _PATHS.get(self.path, _missing))(self, web)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that hangs up on a hostile page is what the tests want."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        self.base = f"http://127.0.0.1:{self.port}"

    def redirect(self, path: str, to: str) -> None:
        self.redirects[path] = _redirects(to)


class Rebinding(AbstractResolver):
    """Every name has the first address, then the second, and so on; the last one from then on."""

    def __init__(self, *addresses: str) -> None:
        self.asked: list[str] = []
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        address = self._addresses[min(len(self.asked), len(self._addresses) - 1)]
        self.asked.append(host)
        return [ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        pass


@contextmanager
def serving() -> Generator[Web]:
    web = Web()
    with hosting(web.server):
        try:
            yield web
        finally:
            web.closing.set()


def _send(handler: BaseHTTPRequestHandler, data: bytes, *, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content_Length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def _sends(data: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler, Web], None]:
    return lambda handler, _: _send(handler, data, status=200, **headers)


def _redirects(to: str) -> Callable[[BaseHTTPRequestHandler, Web], None]:
    return lambda handler, _: _send(handler, b"", status=302, Location=to, Set_Cookie="secret=1")


def _missing(handler: BaseHTTPRequestHandler, _: Web) -> None:
    _send(handler, b"no such thing", status=404)


def _endless(handler: BaseHTTPRequestHandler, _: Web) -> None:
    """A body without a stated length that is far larger than it looks."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _number in range(HUGE // 10_000):
            handler.wfile.write(RED.ljust(10_000, b"\0"))
    except OSError:
        pass  # the other side has had enough, as it should


def _cut_off(handler: BaseHTTPRequestHandler, _: Web) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(RED) + 100))
    handler.end_headers()
    handler.wfile.write(RED)


def _silent(_: BaseHTTPRequestHandler, web: Web) -> None:
    web.closing.wait(60)


_PATHS: dict[str, Callable[[BaseHTTPRequestHandler, Web], None]] = {
    "/red.png": _sends(RED, Content_Type="text/html"),
    "/with%20space.png": _sends(BLUE),
    "/page.png": _sends(HTML, Content_Type="image/png"),
    "/bomb.png": _sends(png_bomb(7_000, 6_000)),
    "/half.png": _sends(RED[:40]),
    "/packed.png": _sends(gzip.compress(RED), Content_Encoding="gzip"),
    "/large.png": _sends(RED.ljust(HUGE, b"\0")),
    "/endless.png": _endless,
    "/cut.png": _cut_off,
    "/silent.png": _silent,
    "/moved.png": _redirects("/moved-again.png"),
    "/moved-again.png": _redirects("red.png"),
    "/round.png": _redirects("/round.png"),
    "/to-a-file.png": _redirects("file:///etc/hostname"),
    "/to-a-user.png": _redirects("http://user:word@127.0.0.1/red.png"),
    "/to-nowhere.png": _redirects(""),
    "/to-no-name.png": _redirects("http://a..b/"),
    "/hop1": _redirects("/hop2"),
    "/hop2": _redirects("/hop3"),
    "/hop3": _redirects("/red.png"),
}
