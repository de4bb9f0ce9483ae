"""Images fetched from the web, within limits: what comes is a stranger's, whatever it calls itself."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from evenhand.images.addresses import FetchedAddress
from evenhand.images.guard import PrivateAddress, guarded_socket, is_public
from evenhand.images.inspection import ImageInfo
from evenhand.images.sniffing import DEFAULT_LIMITS, ImageError, ImageLimits, ImageTooLarge
from evenhand.images.store import ImageStore

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from aiohttp.abc import AbstractResolver
    from yarl import URL

Problem: TypeAlias = Literal[
    "address", "private", "unreachable", "timeout", "status", "redirects", "too-large", "bomb", "not-an-image"
]
"""A bomb is small as a file and larger than allowed when it is unpacked."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONNECTIONS = 8
_CHUNK_BYTES = 65_536
_DECODED_AT_ONCE = 2
"""A few kilobytes can take hundreds of megabytes to decode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    bytes: int = 20_000_000
    redirects: int = 5
    seconds: float = 60.0
    """For one image, redirects included."""
    images: ImageLimits = DEFAULT_LIMITS
    allowed: Callable[[str], bool] = is_public
    """Which addresses may be connected to; asked again for each redirect, at the moment of connecting."""
    resolver: "AbstractResolver | None" = None
    """Finds the addresses of a name; None is the system's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    url: str
    info: ImageInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFetched:
    url: str
    problem: Problem
    detail: str


Outcome: TypeAlias = Fetched | NotFetched


async def fetch_images(
    urls: Sequence[str],
    store: ImageStore,
    *,
    licences: Mapping[str, str] | None = None,
    limits: FetchLimits | None = None,
    told: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Each image into the store, and its digest noted beside its URL; in the order of the URLs.

    An image is either kept whole or not at all, and one that was kept need not be fetched again. `told` hears of each
    as soon as it is settled. Raises OSError where the disk refuses.
    """
    from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

    limits = limits or FetchLimits()
    places, decoding = asyncio.Semaphore(_CONNECTIONS), asyncio.Semaphore(_DECODED_AT_ONCE)
    connector = TCPConnector(
        limit=_CONNECTIONS,
        use_dns_cache=False,
        resolver=limits.resolver,
        socket_factory=guarded_socket(limits.allowed),
    )

    async def keep(data: bytes) -> ImageInfo:
        async with decoding:
            return await asyncio.to_thread(store.put, data, limits=limits.images)

    async def one(url: str) -> Outcome:
        async with places:
            outcome = await _fetched(session, url, keep, limits)
        if isinstance(outcome, Fetched):
            licence = (licences or {}).get(url)
            store.addresses.add(FetchedAddress(url=url, digest=outcome.info.digest, at=time.time(), licence=licence))
        told(outcome)
        return outcome

    try:
        async with (
            # Neither cookies, nor a user's proxy, nor compressed bodies that burst when they are unpacked.
            ClientSession(
                connector=connector,
                cookie_jar=DummyCookieJar(),
                auto_decompress=False,
                headers={"User-Agent": "evenhand", "Accept": "image/*", "Accept-Encoding": "identity"},
                timeout=ClientTimeout(total=None),
            ) as session,
            asyncio.TaskGroup() as group,
        ):
            tasks = [group.create_task(one(url)) for url in urls]
    except ExceptionGroup as several:
        raise several.exceptions[0] from several
    return [task.result() for task in tasks]


class _Refused(Exception):
    def __init__(self, problem: Problem, detail: str) -> None:
        super().__init__(detail)
        self.problem: Problem = problem


async def _fetched(
    session: "ClientSession", url: str, keep: Callable[[bytes], Awaitable[ImageInfo]], limits: FetchLimits
) -> Outcome:
    from aiohttp import ClientConnectorError, ClientError, InvalidURL

    def lost(problem: Problem, detail: object) -> NotFetched:
        return NotFetched(url=url, problem=problem, detail=str(detail))

    try:
        async with asyncio.timeout(limits.seconds):
            data = await _body(session, url, limits)
        return Fetched(url=url, info=await keep(data))
    except _Refused as refused:
        return lost(refused.problem, refused)
    except ImageTooLarge as error:
        return lost("bomb", error)
    except ImageError as error:
        return lost("not-an-image", error)
    except TimeoutError:
        return lost("timeout", f"Nothing whole came within {limits.seconds:g} seconds.")
    except ClientConnectorError as error:
        private = isinstance(error.os_error, PrivateAddress)
        return lost("private" if private else "unreachable", error.os_error.strerror or error.os_error)
    except InvalidURL as error:
        # Spellings of an address that only the resolver would understand, such as 127.1 or 2130706433.
        return lost("address", error)
    except ClientError as error:
        return lost("unreachable", f"{type(error).__name__}: {error}")


async def _body(session: "ClientSession", url: str, limits: FetchLimits) -> bytes:
    """What the URL gives after its redirects. Raises _Refused, or what aiohttp raises."""
    place = _usable(url)
    for _ in range(limits.redirects + 1):
        # Followed by hand, so that each hop is held to the same rules.
        async with session.get(place, allow_redirects=False) as response:
            if response.status not in _REDIRECTS:
                return await _read(response, limits)
            place = _usable(response.headers.get("Location", ""), place)
    raise _Refused("redirects", f"It was redirected more than {limits.redirects} times.")


async def _read(response: "ClientResponse", limits: FetchLimits) -> bytes:
    if response.status != 200:
        raise _Refused("status", f"The server answered {response.status}.")
    too_large = _Refused("too-large", f"It has more than {limits.bytes} bytes.")
    if (response.content_length or 0) > limits.bytes:
        raise too_large
    parts: list[bytes] = []
    length = 0
    async for part in response.content.iter_chunked(_CHUNK_BYTES):
        length += len(part)
        if length > limits.bytes:
            raise too_large
        parts.append(part)
    return b"".join(parts)


def _usable(address: str, came_from: "URL | None" = None) -> "URL":
    from yarl import URL

    try:
        url = URL(address) if came_from is None else came_from.join(URL(address))
        usable = url.scheme in ("http", "https") and bool(url.host) and url.user is None
        # The resolver encodes the name so and raises UnicodeError, which aiohttp lets through ("a..b", a long label).
        (url.raw_host or "").encode("idna")
    except ValueError:
        usable = False
        url = URL()
    if not usable or not address:
        raise _Refused("address", f"{address!r} is not an http or https address that can be fetched.")
    return url
