"""The images that came with data, by digest: some in memory, the rest on the disk, so that a benchmark of a thousand of
them need not sit in memory."""

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping

from evenhand.images.inspection import ImageInfo, inspect

IN_MEMORY = 1 << 27
"""Bytes. To write an image out and read it again takes as long as all that is looked at of it."""


class UnpackedPictures(Mapping[str, bytes]):
    """Bytes by SHA-256: the first in memory, the others in one temporary file that goes when the last user does.
    Several threads may read."""

    def __init__(self, *, in_memory: int = IN_MEMORY) -> None:
        """`in_memory`: so many bytes at most."""
        self._room = in_memory
        self._held: dict[str, bytes] = {}
        self._places: dict[str, tuple[int, int]] = {}
        self._infos: dict[str, ImageInfo] = {}
        self._end = 0
        self._descriptor: int | None = None

    def keep(self, data: bytes) -> str:
        """The SHA-256 of an image; again is no change. Raises ImageError as `inspect` does, and OSError where the disk
        has no room."""
        info = inspect(data)
        if info.digest not in self._infos:
            if len(data) <= self._room:
                self._held[info.digest] = data
                self._room -= len(data)
            else:
                self._write(info.digest, data)
            self._infos[info.digest] = info
        return info.digest

    def info(self, digest: str) -> ImageInfo:
        """What was found when it was kept."""
        return self._infos[digest]

    def holds(self, digest: str) -> bool:
        """Whether it is in memory."""
        return digest in self._held

    def _write(self, digest: str, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.pwrite(self._opened(), rest, self._end + len(data) - len(rest)) :]
        self._places[digest] = (self._end, len(data))
        self._end += len(data)

    def __getitem__(self, digest: str) -> bytes:
        if (held := self._held.get(digest)) is not None:
            return held
        start, length = self._places[digest]
        parts: list[bytes] = []
        while length > 0 and (part := os.pread(self._opened(), length, start)):
            parts.append(part)
            start, length = start + len(part), length - len(part)
        return b"".join(parts)

    def __contains__(self, digest: object) -> bool:
        return digest in self._infos

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def _opened(self) -> int:
        if self._descriptor is None:
            file = tempfile.TemporaryFile(prefix="evenhand-")  # noqa: SIM115  closed when this object goes
            weakref.finalize(self, file.close)
            self._descriptor = file.fileno()
        return self._descriptor


def found_in(pictures: Mapping[str, bytes], digest: str) -> bytes | ImageInfo | None:
    """Of an image that came with data what was found when it was kept, else its bytes; None where there is none."""
    if isinstance(pictures, UnpackedPictures):
        return pictures.info(digest) if digest in pictures else None
    return pictures.get(digest)
