"""Walks the site as somebody passing by, from its front page to all that its links lead to, and keeps what it gets."""

import asyncio
import mimetypes
import tempfile
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from typing import IO, Literal

from fastapi import FastAPI
from starlette.types import Message

from evenhand.domain.errors import EvenhandError
from evenhand.files.kept_folder import Content
from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.people_boards import people_parts
from evenhand.ledger.store.record import Ledger
from evenhand.site.app import LATER, make_app
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.http.service import Service
from evenhand.site.http.settings import Site, VisitorLimits
from evenhand.site.publishing.addresses import Address, Link, link_of, links_in, with_relative_links

_HOST = "published"
_LONG = 1e6
"""Seconds, and visits a second: nobody waits before a page, and nobody else is here."""
_LIMITS = VisitorLimits(
    seconds=_LONG,
    requests_per_second=_LONG,
    burst=10**6,
    passing_per_second=_LONG,
    passing_burst=10**6,
    patience=_LONG,
    moment=_LONG,
    glance=_LONG,
)
_AGAIN = 0.2
"""Seconds."""
_NOT_THERE = (404, 422, 503)
"""Statuses with which the site says that there is no such page to be seen, with the reason."""


class PublishError(EvenhandError):
    """A site that cannot be published as asked."""

    code = "EH-PUBLISH"


# asyncio writes out the result of what it ran, and each of the files would write out all of them.
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WrittenSite:
    """Closed when its files are in their folder."""

    files: dict[str, Content]
    """By their paths below the folder to come."""
    kinds: dict[str, int]
    """How many of each: boards, models, battles, benchmarks, items, images, other."""
    notes: tuple[str, ...]
    close: Callable[[], None]


@dataclass(slots=True, kw_only=True, repr=False)
class _Kept:
    """What was given so far, in one temporary file, for it may be much."""

    file: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    names: dict[Address, str] = field(default_factory=dict[Address, str])
    places: dict[Address, tuple[int, int]] = field(default_factory=dict[Address, tuple[int, int]])
    """Where each begins, and its length."""
    taken: set[str] = field(default_factory=set[str])
    pages: set[Address] = field(default_factory=set[Address])
    refused: list[Address] = field(default_factory=list[Address])

    def put(self, address: Address, name: str, body: bytes, *, page: bool) -> None:
        assert name not in self.taken, f"{address} and another are both {name}"
        self.taken.add(name)
        self.names[address] = name
        self.places[address] = self.file.seek(0, 2), len(body)
        self.file.write(body)
        if page:
            self.pages.add(address)

    def content(self, address: Address) -> bytes:
        begins, length = self.places[address]
        self.file.seek(begins)
        body = self.file.read(length)
        if address not in self.pages:
            return body
        return with_relative_links(body.decode(), file=self.names[address], files=self.names).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    status: int
    media_type: str
    body: bytes


def walked_boards(
    ledger: Ledger,
    *,
    battles: bool = True,
    told: Callable[[int], None],
    patience: float = _LONG,
    again: bool = False,
) -> WrittenSite:
    """All public pages of a ledger. `battles`: each on a page of its own. `told` hears how many files there are so
    far. `patience`: seconds before a page that is being worked out is asked for again. Where no board may be seen,
    raises PublishError; `again`: pages were published before, and give place to some without a board."""
    no_board = None if any(one.studies for one in boards_on_record(ledger)) else _no_board(ledger)
    if no_board is not None and not again:
        raise no_board
    before = newest(ledger)
    site = _site("boards", patience=patience)
    walked = asyncio.run(_walked(ledger, site, front="/", battles=battles, told=told))
    notes = list(walked.notes)
    if no_board is not None:
        notes.append(f"{no_board} The boards that were published here before are removed.")
    if newest(ledger) != before:
        notes.append(
            "The record changed while its pages were made, and some may tell of more than others; publish again."
        )
    return replace(walked, notes=tuple(notes))


def walked_cases(ledger: Ledger, data: str, *, told: Callable[[int], None]) -> WrittenSite:
    """The items of one benchmark, which everybody may see."""
    return asyncio.run(_walked(ledger, _site("cases"), front=f"/benchmarks/{data}", battles=False, told=told))


def _site(published: Literal["boards", "cases"], *, patience: float = _LONG) -> Site:
    limits = replace(_LIMITS, patience=patience)
    return Site(url=f"http://{_HOST}", hosts=frozenset({_HOST}), limits=limits, published=published)


def _no_board(ledger: Ledger) -> PublishError:
    waiting = [one.title for one in people_parts(ledger) if not one.seen]
    if waiting:
        names = ", ".join(waiting[:3]) + (" …" if len(waiting) > 3 else "")
        return PublishError(
            f"{ledger.where} holds no board that everybody may see: people are still judging in {names}. Close the "
            "study, or choose to show its board, on the owner's pages (`evenhand serve`); then publish again."
        )
    return PublishError(
        f"{ledger.where} holds no board: nothing was judged yet. `evenhand judge` asks a judge, and "
        "`evenhand import --judgements` takes verdicts made elsewhere; then publish again. "
        "`evenhand benchmarks show NAME --pages FOLDER` writes the items of a benchmark, which need no board."
    )


async def _walked(ledger: Ledger, site: Site, *, front: str, battles: bool, told: Callable[[int], None]) -> WrittenSite:
    app, kept = make_app(ledger, site), _Kept()
    service: Service = app.state.service
    first = link_of(front)
    assert first is not None
    waiting: deque[Address] = deque([first.address])
    later: list[Address] = []
    known: set[Address] = {first.address, Address("/")}
    try:
        while waiting or later:
            # Those of one item in turn, for what is read of it serves all of them.
            address = waiting.popleft() if waiting else heappop(later)
            for link in await _kept_page(app, kept, address, front=address == first.address):
                if link.address in known or (link.address.is_battle and not battles):
                    continue
                known.add(link.address)
                if link.address.is_document:
                    waiting.appendleft(link.address)
                elif link.address.is_battle:
                    heappush(later, link.address)
                else:
                    waiting.append(link.address)
            told(len(kept.names))
    except BaseException:
        kept.file.close()
        raise
    finally:
        service.figures.computed.close()
    files: dict[str, Content] = {name: partial(kept.content, address) for address, name in kept.names.items()}
    if front != "/":
        kept.names[Address("/")] = "index.html"
    return WrittenSite(
        files=files,
        kinds=dict(Counter(map(_kind, files))),
        notes=tuple(_left_out(kept.refused)),
        close=kept.file.close,
    )


async def _kept_page(app: FastAPI, kept: _Kept, address: Address, *, front: bool) -> list[Link]:
    """Where it leads."""
    given = await _given(app, address)
    while given.status == LATER:
        await asyncio.sleep(_AGAIN)
        given = await _given(app, address)
    if given.status in _NOT_THERE:
        kept.refused.append(address)
        return []
    if given.status != 200:
        raise RuntimeError(f"The site answers with {given.status} to {address.asked}.")
    ending = (mimetypes.guess_extension(given.media_type) or ".img") if address.is_image else ""
    page = given.media_type == "text/html"
    kept.put(address, "index.html" if front else f"{address.file}{ending}", given.body, page=page)
    return links_in(given.body.decode()) if page else []


async def _given(app: FastAPI, address: Address) -> _Given:
    """What the application answers to somebody passing by: no session, no token, no connection."""
    path, _, query = address.asked.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": address.path,
        "raw_path": path.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(b"host", _HOST.encode("ascii"))],
        "client": ("127.0.0.1", 0),
        "server": (_HOST, 80),
        "state": {},
    }
    status, media_type, parts = 0, "", list[bytes]()

    asked = False

    async def receive() -> Message:
        nonlocal asked
        if asked:  # whoever sends a file waits here for us to go away, until it is sent
            await asyncio.Event().wait()
        asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, media_type
        if message["type"] == "http.response.start":
            status = message["status"]
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]}
            media_type = headers.get("content-type", "").partition(";")[0]
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return _Given(status=status, media_type=media_type, body=b"".join(parts))


_KINDS = {
    ("boards", "index.html"): "boards",
    ("boards", "models"): "models",
    ("boards", "battles"): "battles",
    ("benchmarks", "index.html"): "benchmarks",
    ("benchmarks", "items"): "items",
}


def _kind(file: str) -> str:
    first, *rest = file.split("/")
    if first == "images":
        return "images"
    return _KINDS.get((first, rest[1]), "other") if len(rest) > 1 else "other"


def _left_out(refused: list[Address]) -> list[str]:
    images = sum(address.is_image for address in refused)
    told = [
        (images, "image", "not stored, or was taken down"),
        (len(refused) - images, "page", "not to be had from this record"),
    ]
    return [f"{number} {noun}{'' if number == 1 else 's'} left out: {why}." for number, noun, why in told if number]
