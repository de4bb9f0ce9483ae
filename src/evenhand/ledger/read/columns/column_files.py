"""Columns in a file: each in as few bytes as its numbers take; the trials' keys come last, and are read when wanted."""

import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import orjson

from evenhand.ledger.read.columns.record_columns import LISTS, NUMBERS, Columns, Unfit
from evenhand.ledger.read.columns.trial_keys import Keys

_KEY_BYTES = 16
_OTHERS_MAY_WRITE = 0o022
_AT_ONCE = 1 << 20
"""Bytes of which the digest is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    front: tuple[memoryview, ...]
    """In one line the names, the digest of the keys, and of each column how many numbers it has, how many of them
    follow and of which type; then the numbers."""
    keys: memoryview

    @property
    def digest(self) -> str:
        """Of the front, which has that of the keys."""
        return _digest(*self.front)

    @property
    def length(self) -> int:
        """Of the front."""
        return sum(one.nbytes for one in self.front)

    @property
    def whole(self) -> tuple[memoryview, ...]:
        """Piece by piece: of ten million judgements they have some hundred megabytes."""
        return *self.front, self.keys


def packed(columns: Columns) -> Packed:
    arrays = {name: _smallest(columns.numbers[name]) for name in NUMBERS}
    keys = _bytes_of(columns.keys.astype("<u8", copy=False))
    rows = {name: (columns.numbers[name].size, len(array), array.dtype.str) for name, array in arrays.items()}
    head = {"rows": rows, "keys": _digest(keys), "names": columns.names}
    return Packed(front=(memoryview(orjson.dumps(head) + b"\n"), *map(_bytes_of, arrays.values())), keys=keys)


def _bytes_of(numbers: npt.NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(numbers).view(np.uint8).data)


def _digest(*data: memoryview) -> str:
    found = hashlib.sha256()
    for one in data:
        found.update(one)
    return found.hexdigest()


def _smallest(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In as few bytes as they take; where each is as far from the one before it as the second from the first, those
    two, and one of them where all are the same."""
    bits = numbers.view(np.int64) if numbers.dtype.kind == "f" else numbers  # NaN is not equal to itself
    if len(bits) and bool((bits == bits[0]).all()):
        return numbers[:1]
    if numbers.dtype.kind == "f":
        return numbers
    if numbers.dtype.kind == "i" and _are_even(numbers):
        return numbers[:2]
    if int(numbers.min(initial=0)) < 0:
        return numbers
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _are_even(numbers: npt.NDArray[np.signedinteger[Any]]) -> bool:
    """Whether each is as far from the one before it."""
    if len(numbers) < 3:
        return False
    first, second, last = (int(numbers[at]) for at in (0, 1, -1))
    return last - first == (len(numbers) - 1) * (second - first) and bool((np.diff(numbers) == second - first).all())


def opened(path: Path, digest: str, front: int) -> Columns:
    """`digest` and length of the front. Raises Unfit."""
    numbers: dict[str, npt.NDArray[Any]] = {}
    with _whole(path, 0, front, digest) as file:
        head = orjson.loads(file.readline())
        for name, kind in NUMBERS.items():
            many, written, stored = head["rows"][name]
            # One after the other, so that of ten million no column is held twice but the one that is read.
            numbers[name] = _widened(np.fromfile(file, dtype=stored, count=written), kind, many)
        trials, size = len(numbers["item"]), file.seek(0, os.SEEK_END)
    if size != front + trials * _KEY_BYTES:
        raise Unfit("are damaged")
    return Columns(
        numbers=numbers,
        names={name: tuple(head["names"][name]) for name in LISTS},
        make_keys=lambda: _keys_of(path, front, trials, head["keys"]),
    )


def _widened(stored: npt.NDArray[Any], kind: str, many: int) -> npt.NDArray[Any]:
    if len(stored) == many:
        return stored.astype(kind, copy=False)
    if len(stored) == 1:
        return np.broadcast_to(stored.astype(kind), many)  # one number in memory, however many there are
    first, second = (int(one) for one in stored)
    found = np.arange(many, dtype=kind)
    found *= second - first
    found += first
    return found


def _keys_of(path: Path, front: int, trials: int, digest: str) -> Keys:
    """Raises Unfit."""
    with _whole(path, front, trials * _KEY_BYTES, digest) as file:
        return np.fromfile(file, dtype="<u8", count=2 * trials).astype(np.uint64, copy=False).reshape(-1, 2)


def refuse_others(file: BinaryIO) -> None:
    """Raises Unfit where somebody else could have written it: its digests take no secret."""
    told = os.fstat(file.fileno())
    if told.st_uid != os.geteuid() or told.st_mode & _OTHERS_MAY_WRITE:
        raise Unfit("could be another user's")


@contextmanager
def _whole(path: Path, begin: int, length: int, digest: str) -> Generator[BufferedReader]:
    """Where a part of this length begins. Raises Unfit where it has another digest, or cannot be read."""
    try:
        with path.open("rb") as file:
            refuse_others(file)
            file.seek(begin)
            found, left = hashlib.sha256(), length
            while some := file.read(min(left, _AT_ONCE)):
                found.update(some)
                left -= len(some)
            if found.hexdigest() != digest:
                raise Unfit("are damaged")
            file.seek(begin)
            yield file
    except OSError as error:
        raise Unfit(f"lack a file ({error.strerror})") from None
