"""Of which file an image was made that was stored without its metadata: a line for each beside the stored images."""

import json
import time
from typing import cast

from evenhand.images.places import Notes


class Originals:
    """Notes that several processes may read and add to at once."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def of(self, digest: str) -> set[str]:
        """The SHA-256 of each file as it was sent; empty where what is stored is what was sent."""
        return {original for stored, original in self._pairs() if stored == digest}

    def add(self, digest: str, original: str) -> None:
        """On disk when it returns; again is no change."""
        if (digest, original) not in self._pairs():
            line = json.dumps({"sha256": digest, "original": original, "at": time.time()})
            self._notes.add([line.encode("ascii")])

    def _pairs(self) -> set[tuple[str, str]]:
        _, lines = self._notes.read(None) or (None, [])
        return {pair for line in lines if (pair := _pair(line)) is not None}


def _pair(line: bytes) -> tuple[str, str] | None:
    """A line that a pulled plug cut off is no JSON and says nothing."""
    try:
        value: object = json.loads(line)
    except ValueError:
        return None
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    stored, original = fields.get("sha256"), fields.get("original")
    return (stored, original) if isinstance(stored, str) and isinstance(original, str) else None
