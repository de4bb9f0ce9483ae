"""Texts and pictures as they lie in a page: deflated JSON and small pictures, both in base64."""

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pybase64

from evenhand.domain.identity import Json
from evenhand.images import ImageError
from evenhand.images.preparing import thumbnail
from evenhand.ledger.store.record import Ledger

LARGEST_EDGE, SMALLEST_EDGE = 384, 64
"""Pixels of a thumbnail's longer edge."""
PICTURE_BYTES = 4_000_000
"""What all thumbnails of a page may take in it."""
_TRIED = 16
"""Images made small first, to see how many bytes they take."""
_GROWTH = 4 / 3
"""Of base64."""


def packed(document: Json) -> str:
    """Deflated without a header, which browsers know as `deflate-raw`, in base64."""
    words = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    deflating = zlib.compressobj(9, zlib.DEFLATED, -15)
    # Half of a surrogate pair is no text that can be encoded; a browser shows it as a replacement character.
    data = deflating.compress(words.encode("utf-8", "surrogatepass")) + deflating.flush()
    return pybase64.b64encode(data).decode("ascii")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedImages:
    """The images of some items, made small enough to go along."""

    ledger: Ledger
    digests: Mapping[str, str]
    """Of the available ones, in the order in which they matter, by the name that items give them."""
    edge: int
    """Pixels of the longer edge."""

    @classmethod
    def of(cls, ledger: Ledger, names: Iterable[str], *, most_bytes: int = PICTURE_BYTES) -> "PackedImages":
        """As large as they can be for all of them to have room."""
        fetched = ledger.images.addresses.digests()
        named = {name: fetched.get(name, name) for name in dict.fromkeys(names)}
        here = {
            name: digest
            for name, digest in named.items()
            if len(digest) == _DIGEST and not ledger.images.missing([digest])
        }
        return cls(ledger=ledger, digests=here, edge=_edge(ledger, sorted(set(here.values())), most_bytes))

    def packed(self, *, most_bytes: int = PICTURE_BYTES) -> Iterator[tuple[str, str]]:
        """Digest and WebP in base64 of each, until there is no room."""
        room = float(most_bytes)
        for digest in dict.fromkeys(self.digests.values()):
            made = _made_small(self.ledger, digest, self.edge)
            if made is None:
                continue
            room -= len(made) * _GROWTH
            if room < 0:
                return
            yield digest, pybase64.b64encode(made).decode("ascii")


_DIGEST = 64


def _edge(ledger: Ledger, digests: Sequence[str], most_bytes: int) -> int:
    """Bytes go with the number of pixels, so with the square of the edge."""
    tried = [
        len(made)
        for digest in digests[:: math.ceil(len(digests) / _TRIED) or 1]
        if (made := _made_small(ledger, digest, LARGEST_EDGE)) is not None
    ]
    if not tried:
        return LARGEST_EDGE
    all_of_them = len(digests) * _GROWTH * sum(tried) / len(tried)
    fitting = LARGEST_EDGE * math.sqrt(min(1.0, most_bytes / all_of_them))
    return max(SMALLEST_EDGE, int(fitting))


def _made_small(ledger: Ledger, digest: str, edge: int) -> bytes | None:
    """None where the image is not available or cannot be decoded."""
    try:
        return thumbnail(ledger.images.get(digest), edge=edge)
    except ImageError:
        return None
