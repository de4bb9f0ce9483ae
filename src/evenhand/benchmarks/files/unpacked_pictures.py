"""Pictures of a data file unpacked to the disk, so that a benchmark of a thousand images need not sit in memory."""

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping


class UnpackedPictures(Mapping[str, bytes]):
    """Bytes by SHA-256, kept in one temporary file that goes when the last user does; several threads may read."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0
        self._descriptor: int | None = None

    def add(self, digest: str, data: bytes) -> None:
        """Keep the bytes; again is no change. Raises OSError where the disk has no room."""
        if digest in self._places:
            return
        rest = memoryview(data)
        while rest:
            rest = rest[os.pwrite(self._opened(), rest, self._end + len(data) - len(rest)) :]
        self._places[digest] = (self._end, len(data))
        self._end += len(data)

    def __getitem__(self, digest: str) -> bytes:
        start, length = self._places[digest]
        parts: list[bytes] = []
        while length > 0 and (part := os.pread(self._opened(), length, start)):
            parts.append(part)
            start, length = start + len(part), length - len(part)
        return b"".join(parts)

    def __contains__(self, digest: object) -> bool:
        return digest in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def _opened(self) -> int:
        if self._descriptor is None:
            file = tempfile.TemporaryFile(prefix="evenhand-")  # noqa: SIM115  closed when this object goes
            weakref.finalize(self, file.close)
            self._descriptor = file.fileno()
        return self._descriptor
