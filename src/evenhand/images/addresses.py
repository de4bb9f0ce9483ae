"""Which image a URL gave when it was fetched, and what data say of images and items: a line for each beside the stored
images, the last of a URL counts."""

import json
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from evenhand.images.places import Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedAddress:
    url: str
    """Or the name of an image that was not fetched, of which only its terms are told; or an item's digest."""
    digest: str | None
    """None: nothing was fetched."""
    at: float
    """Seconds since the epoch."""
    licence: str | None = None
    """What the data says of the image's licence."""
    origin: str | None = None
    """Whose it is and where it comes from."""
    source: str | None = None
    """The dataset that an item was taken from."""
    data: str | None = None
    """Digest of the benchmark's data that says so: two benchmarks may say otherwise of one image."""


class ImageAddresses:
    """Notes that several processes may read and add to at once."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._read: tuple[Hashable, list[FetchedAddress]] = None, []
        """The lines, with the mark of the notes that they were read from."""

    def digests(self) -> dict[str, str]:
        """SHA-256 by URL."""
        return {one.url: one.digest for one in self._lines() if one.digest}

    def licences(self, data: str | None = None) -> dict[str, str]:
        """What was said of an image's licence, by its URL or name; the last that was said, by these data if they did.

        The same picture from another address may be under another one.
        """
        return {one.url: one.licence for one in self._nearest_last(data) if one.licence}

    def origins(self, data: str | None = None) -> dict[str, str]:
        return {one.url: one.origin for one in self._nearest_last(data) if one.origin}

    def sources(self, data: str | None = None) -> dict[str, str]:
        """By the items' digests."""
        return {one.url: one.source for one in self._nearest_last(data) if one.source}

    def _nearest_last(self, data: str | None) -> list[FetchedAddress]:
        """Other data's lines, then those of none, then those of these data."""
        return sorted(self._lines(), key=lambda one: 2 if one.data == data else int(one.data is None))

    def tell(
        self,
        licences: Mapping[str, str],
        origins: Mapping[str, str],
        sources: Mapping[str, str],
        data: str | None = None,
    ) -> None:
        """Of images that need not be fetched, by their names, and of items; what these data have said is not said
        again."""
        own, at = [one for one in self._lines() if one.data == data], time.time()
        known = {one.url: one.licence for one in own if one.licence}
        known_origins = {one.url: one.origin for one in own if one.origin}
        known_sources = {one.url: one.source for one in own if one.source}
        news = [
            FetchedAddress(
                url=name,
                digest=None,
                at=at,
                licence=licences.get(name),
                origin=origins.get(name),
                source=sources.get(name),
                data=data,
            )
            for name in dict.fromkeys((*licences, *origins, *sources))
            if licences.get(name) not in (None, known.get(name))
            or origins.get(name) not in (None, known_origins.get(name))
            or sources.get(name) not in (None, known_sources.get(name))
        ]
        if news:
            self._append(news)

    def _lines(self) -> list[FetchedAddress]:
        if (found := self._notes.read(self._read[0])) is not None:
            mark, lines = found
            # A line that a pulled plug cut off is no JSON and says nothing.
            self._read = mark, [parsed for line in lines if (parsed := _parsed(line)) is not None]
        return self._read[1]

    def add(self, fetched: FetchedAddress) -> None:
        """On disk when it returns."""
        self._append([fetched])

    def _append(self, lines: Sequence[FetchedAddress]) -> None:
        self._notes.add([_line(one) for one in lines])


def _line(fetched: FetchedAddress) -> bytes:
    fields = {"url": fetched.url, "sha256": fetched.digest, "at": fetched.at, "licence": fetched.licence}
    if fetched.origin:
        fields["origin"] = fetched.origin
    if fetched.source:
        fields["source"] = fetched.source
    if fetched.data:
        fields["data"] = fetched.data
    return json.dumps(fields).encode("ascii")


def _parsed(line: bytes) -> FetchedAddress | None:
    try:
        value: object = json.loads(line)
    except ValueError:
        return None
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    url = fields.get("url")
    names = ("sha256", "licence", "origin", "source", "data")
    digest, licence, origin, source, data = (_text(fields.get(name)) for name in names)
    if not isinstance(url, str) or not (digest or licence or origin or source):
        return None
    return FetchedAddress(url=url, digest=digest, at=0.0, licence=licence, origin=origin, source=source, data=data)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
