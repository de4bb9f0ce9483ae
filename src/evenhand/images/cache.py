"""Files of a place elsewhere, kept on this machine too: as many as fit, the least recently used leave."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock

from evenhand.images.inspection import digest as digest_of
from evenhand.images.places import Folder, Place, StoreProblem

MAX_BYTES = 2_000_000_000
VARIABLE = "EVENHAND_IMAGE_CACHE"
_SLACK = 0.9
"""Of the bound: how much stays where something has to leave, so that not every file makes us look through all."""


def usual_folder() -> Path:
    """What EVENHAND_IMAGE_CACHE names, else a folder in the user's cache."""
    if given := os.environ.get(VARIABLE):
        return Path(given).resolve()  # it may be a link to a larger disk
    from platformdirs import user_cache_path

    return (user_cache_path("evenhand") / "images").resolve()


class CacheFolder:
    """Files by digest whose sizes add up to no more than `max_bytes`, or a little over where processes fill it at once.

    That a file cannot be kept or read here is no fault: it is read where it really lies.
    """

    def __init__(self, root: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._folder = Folder(root, nested=True)
        self._max_bytes = max_bytes
        self._room = 0
        """Bytes that fit before the folder is looked through again."""
        self._lock = Lock()

    def get(self, digest: str) -> bytes | None:
        """None where it is not here, or is not what its name says."""
        data = None
        with suppress(OSError):
            data = self._folder.get(digest)
        if data is None or digest_of(data) != digest:
            return None
        with suppress(OSError):  # of somebody else's file
            os.utime(self._folder.path(digest))
        return data

    def put(self, digest: str, data: bytes) -> None:
        if len(data) > self._max_bytes:
            return
        with suppress(OSError), self._lock:
            if len(data) > self._room:
                self._room = self._made_room(len(data))
            self._folder.put(digest, data)
            self._room -= len(data)

    def remove(self, digest: str) -> None:
        with suppress(OSError):
            self._folder.remove(digest)

    def _made_room(self, wanted: int) -> int:
        """How many bytes fit now: others fill the folder too, so only a part of what is free is ours."""
        total = 0
        files: list[tuple[float, int, Path]] = []
        for path in self._folder.own_files():  # the folder may be one that holds others' files too
            with suppress(OSError):  # which another process has taken away meanwhile
                found = path.lstat()
                files.append((found.st_mtime, found.st_size, path))
                total += found.st_size
        if total + wanted > self._max_bytes:
            for _, size, path in sorted(files):
                if total + wanted <= self._max_bytes * _SLACK or not total:
                    break
                path.unlink(missing_ok=True)
                total -= size
        return max(wanted, (self._max_bytes - total) // 4)


class Cached:
    """A place elsewhere; what was read there is read here the next time."""

    def __init__(self, behind: Place, cache: CacheFolder) -> None:
        self._behind = behind
        self._cache = cache

    @property
    def where(self) -> str:
        return self._behind.where

    def get(self, digest: str) -> bytes | None:
        data = self._cache.get(digest)
        if data is None:
            data = self._behind.get(digest)
            if data is not None and digest_of(data) == digest:
                self._cache.put(digest, data)
        return data

    def put(self, digest: str, data: bytes) -> None:
        self._behind.put(digest, data)
        self._cache.put(digest, data)

    def remove(self, digest: str) -> None:
        self._behind.remove(digest)
        self._cache.remove(digest)

    def sizes(self) -> Iterator[tuple[str, int]]:
        return self._behind.sizes()

    def lacking(self, digests: Collection[str]) -> set[str]:
        return self._behind.lacking(digests)

    def wrong_files(self) -> Iterator[StoreProblem]:
        return self._behind.wrong_files()
