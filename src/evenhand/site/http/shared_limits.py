"""Buckets in memory that the processes of one server share, so that what a visitor may do is the same however many
processes answer them. It lasts as long as the server does."""

import fcntl
import hashlib
import mmap
import os
import secrets
import struct
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.reduction import DupFd
from typing import Any

from evenhand.site.http.buckets import MOST, Bucket

TABLES = 16
"""Kinds of buckets that there is room for."""
_ROW = struct.Struct("<16sddII")
_TOGETHER = 8
"""Buckets in one place of a table: of these the one that was used the longest ago makes way."""
_PLACES = MOST // _TOGETHER
_TABLE_BYTES = _PLACES * _TOGETHER * _ROW.size
_SECRET_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What the processes of one server know together."""

    limits: "SharedLimits"
    folder: str
    """Where they tell each other their metrics."""


class SharedLimits:
    """Passed to a process when that is begun."""

    def __init__(self) -> None:
        file = _memory_file()
        os.ftruncate(file, TABLES * _TABLE_BYTES)
        self._open(file, secrets.token_bytes(_SECRET_BYTES))

    def _open(self, file: int, secret: bytes) -> None:
        self._file = file
        self._secret = secret
        """Nobody who does not know it can choose addresses that share a place."""
        self._memory = mmap.mmap(file, TABLES * _TABLE_BYTES)

    def __getstate__(self) -> tuple[Any, bytes]:
        return DupFd(self._file), self._secret

    def __setstate__(self, state: tuple[Any, bytes]) -> None:
        file, secret = state
        self._open(file.detach(), secret)

    def table(self, number: int) -> "SharedBuckets":
        assert number < TABLES
        return SharedBuckets(self._file, self._memory, number * _TABLE_BYTES, self._secret)


def _memory_file() -> int:
    """Of no disk, where the system has such: whoever writes to a map of a file whose disk is full is killed."""
    if sys.platform == "linux":
        return os.memfd_create("evenhand")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class SharedBuckets:
    """Of one kind. The lock is the system's and ends with the process that holds it, so that one that is killed keeps
    nobody waiting; of two threads of one process it is no lock."""

    def __init__(self, file: int, memory: mmap.mmap, start: int, secret: bytes) -> None:
        self._file = file
        self._memory = memory
        self._start = start
        self._secret = secret

    @contextmanager
    def bucket(self, name: str, new: Bucket) -> Generator[Bucket]:
        key = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, key=self._secret).digest()
        start = self._start + int.from_bytes(key[:8], "little") % _PLACES * _TOGETHER * _ROW.size
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, start)
        try:
            at, found = self._found(key, start)
            bucket = found or new
            try:
                yield bucket
            finally:
                row = (key, bucket.left, bucket.at, bucket.told, min(bucket.turned_away, 2**32 - 1))
                _ROW.pack_into(self._memory, at, *row)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, start)

    def _found(self, key: bytes, start: int) -> tuple[int, Bucket | None]:
        """Where it is or may be written."""
        oldest, since = start, float("inf")
        for at in range(start, start + _TOGETHER * _ROW.size, _ROW.size):
            known, left, used, told, turned_away = _ROW.unpack_from(self._memory, at)
            if known == key:
                return at, Bucket(left, used, bool(told), turned_away)
            if used < since:
                oldest, since = at, used
        return oldest, None
