"""Columns in a file: each in as few bytes as its numbers take; the trials' keys come last, and are read when wanted."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import orjson

from evenhand.ledger.read.columns.record_columns import LISTS, NUMBERS, Columns, Unfit
from evenhand.ledger.read.columns.trial_keys import Keys

_KEY_BYTES = 16
_OTHERS_MAY_WRITE = 0o022


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    front: bytes
    """In one line the names, the digest of the keys, and of each column how many numbers it has, how many of them
    follow and of which type; then the numbers."""
    keys: bytes

    @property
    def digest(self) -> str:
        """Of the front, which has that of the keys."""
        return _digest(self.front)

    @property
    def whole(self) -> bytes:
        return self.front + self.keys


def packed(columns: Columns) -> Packed:
    arrays = {name: _smallest(columns.numbers[name]) for name in NUMBERS}
    keys = columns.keys.astype("<u8").tobytes()
    rows = {name: (columns.numbers[name].size, len(array), array.dtype.str) for name, array in arrays.items()}
    head = {"rows": rows, "keys": _digest(keys), "names": columns.names}
    return Packed(front=b"".join([orjson.dumps(head), b"\n", *(one.tobytes() for one in arrays.values())]), keys=keys)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _smallest(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In as few bytes as they take; where each is as far from the one before it as the second from the first, those
    two, and one of them where all are the same."""
    bits = numbers.view(np.int64) if numbers.dtype.kind == "f" else numbers  # NaN is not equal to itself
    if len(bits) and bool((bits == bits[0]).all()):
        return numbers[:1]
    if numbers.dtype.kind == "f":
        return numbers
    if numbers.dtype.kind == "i" and len(numbers) > 2 and bool((np.diff(numbers) == numbers[1] - numbers[0]).all()):
        return numbers[:2]
    if int(numbers.min(initial=0)) < 0:
        return numbers
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def opened(path: Path, digest: str, front: int) -> Columns:
    """`digest` and length of the front. Raises Unfit."""
    size, data = _read(path, 0, front)
    if _digest(data) != digest:
        raise Unfit("are damaged")
    at = data.index(b"\n") + 1
    head = orjson.loads(data[:at])
    numbers: dict[str, npt.NDArray[Any]] = {}
    for name, kind in NUMBERS.items():
        many, written, stored = head["rows"][name]
        found = np.frombuffer(data, dtype=stored, count=written, offset=at)
        at += found.nbytes
        numbers[name] = _widened(found, kind, many)
    trials = len(numbers["item"])
    if size != front + trials * _KEY_BYTES:
        raise Unfit("are damaged")
    return Columns(
        numbers=numbers,
        names={name: tuple(head["names"][name]) for name in LISTS},
        make_keys=lambda: _keys_of(path, front, trials, head["keys"]),
    )


def _widened(stored: npt.NDArray[Any], kind: str, many: int) -> npt.NDArray[Any]:
    if len(stored) == many:
        return stored.astype(kind)
    if len(stored) == 1:
        return np.broadcast_to(stored.astype(kind), many)  # one number in memory, however many there are
    first, second = (int(one) for one in stored)
    return np.arange(many, dtype=kind) * (second - first) + np.array(first, dtype=kind)


def _keys_of(path: Path, front: int, trials: int, digest: str) -> Keys:
    """Raises Unfit."""
    _, data = _read(path, front, trials * _KEY_BYTES)
    if _digest(data) != digest:
        raise Unfit("are damaged")
    return np.frombuffer(data, dtype="<u8").astype(np.uint64).reshape(-1, 2)


def read_own(file: BinaryIO, begin: int = 0, length: int = -1) -> tuple[int, bytes]:
    """How large the file is, and a part of it. Raises Unfit where somebody else could have written it: its digests
    take no secret."""
    told = os.fstat(file.fileno())
    if told.st_uid != os.geteuid() or told.st_mode & _OTHERS_MAY_WRITE:
        raise Unfit("could be another user's")
    file.seek(begin)
    return told.st_size, file.read(length)


def _read(path: Path, begin: int, length: int) -> tuple[int, bytes]:
    try:
        with path.open("rb") as file:
            return read_own(file, begin, length)
    except OSError as error:
        raise Unfit(f"lack a file ({error.strerror})") from None
