"""Which image a URL gave when it was fetched: a line for each beside the stored images, the last of a URL counts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from evenhand.files.private_files import append_line

FILE_NAME = "addresses.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedAddress:
    url: str
    digest: str
    at: float
    """Seconds since the epoch."""
    licence: str | None = None
    """What the data says of the image's licence and origin."""


class ImageAddresses:
    """A file that several processes may read and add to at once; it is made with the first line."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE_NAME

    def digests(self) -> dict[str, str]:
        """SHA-256 by URL."""
        return {url: digest for url, digest, _ in self._lines()}

    def licences(self) -> dict[str, str]:
        """What was said of an image's licence and origin when it was fetched, by URL; the last that was said."""
        return {url: licence for url, _, licence in self._lines() if licence}

    def _lines(self) -> list[tuple[str, str, str | None]]:
        """URL, digest and licence."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        # A line that a pulled plug cut off is no JSON and says nothing.
        return [parsed for line in lines if (parsed := _parsed(line)) is not None]

    def add(self, fetched: FetchedAddress) -> None:
        """On disk when it returns."""
        fields = {"url": fetched.url, "sha256": fetched.digest, "at": fetched.at, "licence": fetched.licence}
        append_line(self.path, json.dumps(fields).encode("ascii"), within=self.path.parent.parent)


def _parsed(line: bytes) -> tuple[str, str, str | None] | None:
    try:
        value: object = json.loads(line)
    except ValueError:
        return None
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    url, digest, licence = fields.get("url"), fields.get("sha256"), fields.get("licence")
    if not isinstance(url, str) or not isinstance(digest, str):
        return None
    return url, digest, licence if isinstance(licence, str) else None
