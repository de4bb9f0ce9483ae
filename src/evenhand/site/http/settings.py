"""How one served site is set up: its address, who may be addressed, and its limits."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Literal
from urllib.parse import urlsplit

from evenhand.domain.errors import EvenhandError
from evenhand.images.guard import is_public

_FEWEST = 16
REACH_SECONDS = 2.0
"""So long a page waits for a database server that cannot be reached; one that is only started again is back by then."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class SiteError(EvenhandError):
    """A site that cannot be served as asked."""

    code = "EH-SERVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitorLimits:
    """What one visitor may ask of the server."""

    body_bytes: int = 256 * 1024
    """Of a request, unless its path is among `uploads`."""
    uploads: tuple[tuple[str, int], ...] = (
        ("/write/*", 31_500_000),
        ("/admin/growing/*", 10_500_000),
        ("/api/growing/*/write/*/upload", 10_500_000),
        ("/api/growing/*/skills/*/image", 10_500_000),
        ("/submissions/*", 53_000_000),
        ("/api/submissions/*", 53_000_000),
    )
    """Patterns of paths at which larger bodies are taken, each with its bytes."""
    seconds: float = 30.0
    """For one request, its body included."""
    slowest: float = 100_000.0
    """Bytes a second: a body that says it is larger than `body_bytes` has so much more time to come."""
    requests_per_second: float = 20.0
    """Of one person, or of one address where nobody is signed in, in the long run."""
    burst: int = 200
    passing_per_second: float = 200.0
    """Of all together who are not signed in and ask a lot; others stay served."""
    passing_burst: int = 2000
    guesses_per_minute: float = 10.0
    """Refused tokens, forms and the like of one address, before everything from it is refused for a while."""
    uploads_per_minute: float = 20.0
    """Images of one person that are decoded."""
    answers_per_hour: float = 60.0
    """Files of answers that one person uploads."""
    letters_per_hour: float = 10.0
    """What somebody passing by may leave for the owner to read, of one address."""
    letters_in_all: float = 30.0
    """Of all together, in an hour."""
    under_way: int = 50
    """Requests of one person or address that are being answered."""
    connections: int = 1500
    """Of one process, in all; the server refuses from 2,000 on, whatever they do."""
    connections_of_one: int = 256
    """Of one address; behind a proxy all come from there."""
    time_to_ask: float = 2.0
    """Seconds: a connection that is no older may not have had time to ask."""
    clock: Callable[[], float] = time.monotonic
    """Of seconds, by which what they ask is counted."""
    addresses: Callable[[str], bool] = is_public
    """Which addresses an image may be at that a person names; the worker has its own rule, at the connection."""
    patience: float = 10.0
    """Seconds a page waits for a board that was never worked out before."""
    moment: float = 0.2
    """Seconds a page waits for a newer board while it could show the one before."""
    long: float = 1.0
    """Seconds: a board that takes longer is shown as it was while it is worked out again."""
    glance: float = 0.5
    """Seconds a page waits for figures that were never worked out before, and without which it has enough to show."""

    def of_each(self, processes: int) -> "VisitorLimits":
        """For one of so many processes that answer at one address: what each counts of one visitor is divided among
        them. A browser opens six connections, which may all come to one of them; and of many that come at one moment
        one process may get nearly all, so each takes as many in all as one alone does."""
        return replace(
            self,
            under_way=max(_FEWEST, -(-self.under_way // processes)),
            connections_of_one=max(_FEWEST, -(-self.connections_of_one // processes)),
        )

    def body_limit(self, path: str) -> int:
        return next((most for pattern, most in self.uploads if fnmatchcase(path, pattern)), self.body_bytes)

    def time_limit(self, length: int) -> float:
        """Seconds for a request with a body of so many bytes."""
        return self.seconds + max(0, length - self.body_bytes) / self.slowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    url: str
    """Where people reach it, without a slash at the end."""
    hosts: frozenset[str]
    """Values of the Host header that are answered, in lower case."""
    proxied: bool = False
    """Whether a proxy on this machine may say who is asking."""
    limits: VisitorLimits = field(default_factory=VisitorLimits)
    published: Literal["", "boards", "cases"] = ""
    """Its pages become files, with nobody behind them who answers: of the boards, or of the cases of one benchmark."""

    @property
    def secure(self) -> bool:
        return self.url.startswith("https://")

    @property
    def link_command(self) -> str:
        """What prints a link by which the owner comes back to this very site."""
        where = f"--public-url {self.url}" if self.secure else f"--port {urlsplit(self.url).port}"
        return f"evenhand serve --only-link {where}"

    @property
    def origins(self) -> frozenset[str]:
        """Values of the Origin header that a form of ours can carry."""
        scheme = "https" if self.secure else "http"
        return frozenset(f"{scheme}://{host}" for host in self.hosts)


def site_at(host: str, port: int, *, public_url: str | None = None, limits: VisitorLimits | None = None) -> Site:
    """Raises SiteError: whoever can be reached by others must say under which https address."""
    limits = limits or VisitorLimits()
    if public_url is None:
        if host not in LOOPBACK:
            raise SiteError(
                f"--host {host} can be reached by others: say with --public-url https://… under which address, "
                "or leave --host out and serve this machine only."
            )
        names = [f"[{name}]" if ":" in name else name for name in LOOPBACK]
        shown = f"[{host}]" if ":" in host else host
        return Site(url=f"http://{shown}:{port}", hosts=frozenset(f"{name}:{port}" for name in names), limits=limits)
    parts = urlsplit(public_url)
    if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise SiteError(f"--public-url is https:// and a host, such as https://board.example.org, not '{public_url}'.")
    name = parts.netloc.rpartition("@")[2].lower()
    return Site(url=f"https://{name}", hosts=frozenset({name}), proxied=True, limits=limits)
