"""A team's side of a server that takes submissions: what is asked of it over HTTP, and what its answers mean."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast
from urllib.parse import quote, urlsplit

import click

from evenhand.cli.environment import WrongUse
from evenhand.files.outputs import Target, replacing
from evenhand.format.printable import printable
from evenhand.models.endpoint import is_loopback

if TYPE_CHECKING:
    from aiohttp import ClientResponse

Document: TypeAlias = dict[str, Any]

_CONNECT_SECONDS = 30
_SILENT_SECONDS = 300
"""The check of a large file takes a while, in which nothing comes."""
_MOST_BYTES = 64 * 2**20
_CHUNK = 1 << 20


class Unreachable(click.ClickException):
    """The server cannot answer now; asked later it may. A sentence; exit 1."""

    code = "EH-SERVER-UNREACHABLE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    base: str
    """Without a slash at its end."""
    host: str
    port: int
    loopback: bool

    @property
    def shown(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address(url: str) -> ServerAddress:
    """Raises WrongUse where a token must not be sent there."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise WrongUse("The server's address must begin with https:// and name a host.", code="EH-ADDRESS")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise WrongUse(
            "The server's address has no user, question mark or # in it; EVENHAND_TOKEN holds the token.",
            code="EH-ADDRESS",
        )
    loopback = is_loopback(host)
    if parts.scheme == "http" and not loopback:
        raise WrongUse(
            f"http://{host} is not encrypted: anybody on the way could read the token. Give the https:// address.",
            code="EH-ADDRESS",
        )
    return ServerAddress(
        base=f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}",
        host=host,
        port=port or (443 if parts.scheme == "https" else 80),
        loopback=loopback,
    )


class SubmissionServer:
    """Speaks with one server as one team, or with no token as anybody, in an `async with`.

    Raises Unreachable; WrongUse with what it refuses.
    """

    def __init__(self, where: ServerAddress, token: str) -> None:
        self._where = where
        self._token = token

    async def __aenter__(self) -> Self:
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar

        timeout = ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=_SILENT_SECONDS)
        # Proxies of the environment are for other machines.
        self._session = ClientSession(
            timeout=timeout, cookie_jar=DummyCookieJar(), trust_env=not self._where.loopback, auto_decompress=True
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def intakes(self) -> list[Document]:
        found = (await self._document("GET", "/api/submit")).get("intakes")
        return cast("list[Document]", found) if isinstance(found, list) else []

    async def greet(self) -> None:
        """Whether the token is known here: what everybody may read is given for any."""
        await self._document("GET", "/api/submissions")

    async def begin(self, intake: str, entered: Mapping[str, str]) -> str:
        """The id of the new submission."""
        made = await self._document("POST", f"/api/submit/{quote(intake, safe='')}", json=dict(entered))
        return str(made.get("submission"))

    async def upload(self, submission: str, file: Path) -> Document:
        with file.open("rb") as data:
            return await self._document(
                "PUT",
                f"{_path(submission)}/file?name={quote(file.name, safe='', errors='replace')}",
                data=data,
                headers={"Content-Type": "application/octet-stream"},
            )

    async def confirm(self, submission: str, upload: int) -> Document:
        return await self._document("POST", f"{_path(submission)}/confirm", json={"upload": upload})

    async def status(self, submission: str) -> Document:
        return await self._document("GET", _path(submission))

    async def say(self, submission: str, word: str) -> Document:
        """`publish` or `withdraw`."""
        return await self._document("POST", f"{_path(submission)}/{word}")

    async def questions(self, intake: str, target: Target) -> None:
        """What is to be answered. Raises OSError and OutputRefused too."""
        with replacing(target) as out:
            await self._asked("GET", f"/api/submit/{quote(intake, safe='')}/items.jsonl", into=out.write)

    async def download(self, submission: str, what: str, target: Target) -> None:
        """`receipt` or `battles`; the file is there whole or not at all. Raises OSError and OutputRefused too."""
        with replacing(target) as out:
            await self._asked("GET", f"{_path(submission)}/{what}", into=out.write)

    async def _document(self, method: str, path: str, **request: Any) -> Document:
        read: list[bytes] = []
        await self._asked(method, path, into=read.append, **request)
        try:
            value: object = json.loads(b"".join(read))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self._not_ours("did not answer in JSON")
        return cast("Document", value)

    async def _asked(
        self, method: str, path: str, *, into: Any, headers: Mapping[str, str] | None = None, **request: Any
    ) -> None:
        from aiohttp import ClientConnectorError, ClientError
        from yarl import URL

        # With each request, and not in the session: those would go to a proxy too.
        who = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        said = {**who, "Accept-Encoding": "identity", **(headers or {})}
        url = URL(f"{self._where.base}{path}", encoded=True)
        try:
            async with self._session.request(method, url, headers=said, allow_redirects=False, **request) as response:
                if not 200 <= response.status < 300:
                    raise await self._refusal(response)
                size = 0
                async for piece in response.content.iter_chunked(_CHUNK):
                    size += len(piece)
                    if size > _MOST_BYTES:
                        raise self._not_ours(f"sent more than {_MOST_BYTES // 2**20} MB")
                    into(piece)
        # Not chained, and without their own words: they may hold the request.
        except ClientConnectorError:
            raise Unreachable(
                f"Nothing answers at {self._where.shown}; is the address right, and does the server run?"
            ) from None
        except (ClientError, TimeoutError, ConnectionError, UnicodeError):
            raise Unreachable(f"{self._where.shown} did not answer to its end; try the same command again.") from None

    async def _refusal(self, response: "ClientResponse") -> Exception:
        if 300 <= response.status < 400:
            return WrongUse(
                f"{self._where.host} sends on to another address, and the token goes nowhere else; "
                "give the server's own address.",
                code="EH-ADDRESS",
            )
        sentence = self._shown(_sentence(await response.content.read(_CHUNK)))
        if response.status >= 500 or response.status == 429:
            return Unreachable(sentence or f"{self._where.host} cannot answer now ({response.status}); try later.")
        if not sentence:
            return self._not_ours(f"answered {response.status}")
        hint = " Is the token right (EVENHAND_TOKEN or --token-file)?" if response.status == 401 else ""
        return WrongUse(f"{sentence}{hint}")

    def _shown(self, text: str) -> str:
        return printable(text.replace(self._token, "[token]") if self._token else text)

    def _not_ours(self, did: str) -> WrongUse:
        return WrongUse(
            f"{self._where.host} {did}, as no Evenhand server does; is the address right?", code="EH-SERVER-FOREIGN"
        )


def _path(submission: str) -> str:
    return f"/api/submissions/{quote(submission, safe='')}"


def _sentence(body: bytes) -> str:
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    said = cast("Document", value).get("error") if isinstance(value, dict) else None
    return said if isinstance(said, str) else ""
