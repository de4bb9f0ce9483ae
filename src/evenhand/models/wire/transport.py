"""Sends one body and brings back status, headers and bytes; every way the connection can fail becomes a sentence."""

import asyncio
import base64
import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload
from multidict import CIMultiDict
from yarl import URL

from evenhand.domain.errors import CallFailure, Misuse
from evenhand.models.endpoint import Endpoint
from evenhand.models.wire.body import Spliced
from evenhand.models.wire.errors import Faults, read_error, retry_after
from evenhand.models.wire.timeouts import Timeouts

MOST_BYTES = 32 * 2**20
"""A longer reply is refused: no answer is that long."""
_BEGINNING = 2**12
"""Bytes of a line that is too long."""

_PLAIN_BYTES = 2**20  # aiohttp warns of longer bodies that are one piece


@dataclass(frozen=True, slots=True)
class Received:
    status: int
    headers: Mapping[str, str]
    body: bytes
    """Without the key, should the server have sent it back."""


class CutLine(bytes):
    """The beginning of a line of more than MOST_BYTES."""


class Pieces(Protocol):
    """A body that is sent piece by piece; each look at its chunks begins anew."""

    @property
    def chunks(self) -> Iterable[bytes]: ...

    @property
    def size(self) -> int: ...


class Transport:
    """One connection pool to one endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        faults: Faults,
        *,
        key: str | None,
        proxies: Mapping[str, str],
        timeouts: Timeouts,
        own_headers: Mapping[str, str] | None = None,
    ) -> None:
        """`own_headers`: in the place of the one that carries the key to OpenAI's wire."""
        self._endpoint = endpoint
        self._faults = faults
        self._timeouts = timeouts
        self._url = URL(endpoint.chat_url, encoded=True)
        # Compressed replies would cost more time than they save, and could hide their size.
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if own_headers is not None:
            headers |= own_headers
        elif key is not None:
            headers["Authorization"] = f"Bearer {key}"
        self._proxy = None if endpoint.loopback else _proxy_for(endpoint, proxies)
        if self._proxy and endpoint.base_url.startswith("http:"):
            headers |= self._proxy.headers  # with https they go to the proxy alone
        # Given with each request: those of a session aiohttp would send to the proxy too, the key among them.
        self._headers = CIMultiDict(headers)
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"Transport({self._endpoint.base_url})"

    async def post(self, body: bytes | Spliced) -> Received:
        session = self._session or self._open()
        data = body if isinstance(body, bytes) and len(body) < _PLAIN_BYTES else _Chunks(body)
        proxy_headers = self._proxy.headers if self._proxy else None
        try:
            async with session.post(
                self._url, data=data, headers=self._headers, allow_redirects=False, proxy_headers=proxy_headers
            ) as response:
                received = await self._read(response)
                return Received(response.status, response.headers, self._faults.scrub_bytes(received))
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            # Not chained: the cause's own text and request may hold what must not be shown.
            raise self._failure(error) from None

    async def send(
        self, method: str, path: str, body: "bytes | Pieces | None" = None, *, content_type: str = "application/json"
    ) -> Received:
        """To another address of the same service, `path` after the base URL."""
        data = None if body is None else body if isinstance(body, bytes) else _Chunks(body)
        try:
            async with self._request(method, path, data, content_type) as response:
                received = await self._read(response)
                return Received(response.status, response.headers, self._faults.scrub_bytes(received))
        except (aiohttp.ClientError, OSError) as error:
            raise self._failure(error) from None

    async def lines(self, path: str) -> AsyncGenerator[bytes]:
        """A file there, line by line, of which no more than a line is kept; of one that is too long, its beginning.
        Raises as `send`, and of another status than 200 the failure that it calls for."""
        rest, skips = b"", False
        try:
            async with self._request("GET", path, None, "application/json") as response:
                if response.status != 200:
                    said = read_error(await self._read(response))
                    raise self._faults.of_status(response.status, said, wait=retry_after(response.headers, said))
                async for chunk in response.content.iter_any():
                    *whole, rest = (rest + chunk).split(b"\n") if b"\n" in chunk else (rest + chunk,)
                    for line in whole[1:] if skips else whole:
                        yield self._faults.scrub_bytes(line)
                    skips = skips and not whole
                    if len(rest) > MOST_BYTES and not skips:
                        yield CutLine(self._faults.scrub_bytes(rest[:_BEGINNING]))
                        skips = True
                    if skips:
                        rest = b""
        except (aiohttp.ClientError, OSError) as error:
            raise self._failure(error) from None
        if not skips:
            yield self._faults.scrub_bytes(rest)

    def _request(
        self, method: str, path: str, data: "bytes | _Chunks | None", content_type: str
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        session = self._session or self._open()
        query = f"{'&' if '?' in path else '?'}{self._endpoint.query}" if self._endpoint.query else ""
        url = URL(f"{self._endpoint.base_url}{path}{query}", encoded=True)
        headers = self._headers.copy()
        headers["Content-Type"] = content_type
        # However long all of it takes: it is enough that something comes.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._timeouts.connect, sock_read=self._timeouts.total)
        return session.request(
            method, url, data=data, headers=headers, allow_redirects=False, timeout=timeout,
            proxy_headers=self._proxy.headers if self._proxy else None,
        )  # fmt: skip

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self._timeouts.total, sock_connect=self._timeouts.connect),
            proxy=self._proxy.url if self._proxy else None,
        )
        return self._session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        content = response.content
        chunks = [await content.readany()]
        size = len(chunks[0])
        while size <= MOST_BYTES and not content.at_eof():  # most replies come in one piece
            chunks.append(await content.readany())
            size += len(chunks[-1])
        if size > MOST_BYTES:
            raise self._faults.failure(
                f"{self._faults.who} sent more than {MOST_BYTES // 2**20} MB.",
                reason="bad-reply", transient=False, unheard=True,
            )  # fmt: skip
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _failure(self, error: Exception) -> CallFailure | Misuse:
        faults, who = self._faults, self._faults.who
        if isinstance(error, TimeoutError):
            connecting = isinstance(error, aiohttp.ConnectionTimeoutError)
            waited = self._timeouts.connect if connecting else self._timeouts.total
            did = "did not accept a connection" if connecting else "did not finish its reply"
            sentence = f"{who} {did} within {waited:g} s."
            return faults.failure(sentence, reason="timeout", transient=True, unheard=not connecting)
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return faults.misuse(f"The certificate of {who} is not trusted: check the base URL, or SSL_CERT_FILE.")
        if isinstance(error, aiohttp.ClientSSLError):
            return faults.misuse(
                f"{who} does not answer with TLS: check whether the base URL should begin with http://."
            )
        if isinstance(error, aiohttp.ClientPayloadError):
            sentence = f"{who} broke off in the middle of its reply."
            return faults.failure(sentence, reason="bad-reply", transient=True, unheard=True)
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            sentence = f"The host {self._endpoint.host!r} is not found: check the base URL {self._endpoint.base_url}."
            return faults.failure(sentence, reason="api-error", transient=True)
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError):
            sentence = f"No connection to {who} ({_cause(error)}): is the server running, and the base URL right?"
            return faults.failure(sentence, reason="api-error", transient=True)
        if isinstance(error, aiohttp.ClientResponseError):
            return faults.failure(f"{who} does not answer in HTTP.", reason="bad-reply", transient=True, unheard=True)
        return faults.failure(f"{who} closed the connection.", reason="api-error", transient=True, unheard=True)


def _cause(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        return os.strerror(number).lower() if number else type(error.os_error).__name__
    return "the proxy refused"


class _Chunks(Payload):
    """A body sent piece by piece with its length known, so that no server meets chunked encoding."""

    _default_content_type = "application/json"
    _autoclose = True

    def __init__(self, body: "bytes | Pieces") -> None:
        super().__init__(body)
        self._chunks: Iterable[bytes] = (body,) if isinstance(body, bytes) else body.chunks
        self._size = len(body) if isinstance(body, bytes) else body.size
        self._at_hand = isinstance(body, Spliced)

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return b"".join(self._chunks).decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        chunks = iter(self._chunks)
        if self._at_hand:
            await writer.write(next(chunks))  # with the headers before it
            transport: asyncio.WriteTransport | None = getattr(writer, "transport", None)
            if transport is not None and not transport.is_closing():
                # The loop takes all of them as they are; by the writer each would be waited for.
                transport.writelines(list(chunks))
                return
        for chunk in chunks:
            await writer.write(chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proxy:
    url: str
    headers: dict[str, str] = field(repr=False)


def _proxy_for(endpoint: Endpoint, proxies: Mapping[str, str]) -> _Proxy | None:
    """The proxy these variables name for this host. aiohttp's own way would also read ~/.netrc, at every request."""

    def value(name: str) -> str:
        return proxies.get(name.lower(), "") or proxies.get(name.upper(), "")

    address = value(f"{urlsplit(endpoint.base_url).scheme}_proxy") or value("all_proxy")
    direct = [entry.strip().removeprefix("*").lstrip(".") for entry in value("no_proxy").split(",") if entry.strip()]
    host = f".{endpoint.host}"
    if not address or any(not entry or host.endswith(f".{entry}") for entry in direct):
        return None
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    headers: dict[str, str] = {}
    if proxy.username is not None:
        pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return _Proxy(url=urlunsplit((proxy.scheme, proxy.netloc.rpartition("@")[2], "", "", "")), headers=headers)
