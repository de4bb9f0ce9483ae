"""Columns in a file: each in as few bytes as its numbers take; the trials' keys come last, and are read when wanted."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from evenhand.ledger.read.record_columns import LISTS, NUMBERS, Columns, Unfit


def packed(columns: Columns) -> bytes:
    """In one line the names, and of each column how many numbers it has, how many of them follow and of which type;
    then the numbers."""
    arrays = {name: _smallest(columns.numbers[name].ravel()) for name in NUMBERS}
    rows = {name: (columns.numbers[name].size, len(array), array.dtype.str) for name, array in arrays.items()}
    head = {"rows": rows, "names": columns.names}
    return b"".join([orjson.dumps(head), b"\n", *(array.tobytes() for array in arrays.values())])


def _smallest(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In as few bytes as they take; where all are the same, one of them."""
    bits = numbers.view(np.int64) if numbers.dtype.kind == "f" else numbers  # NaN is not equal to itself
    if len(bits) and bool((bits == bits[0]).all()):
        return numbers[:1]
    if numbers.dtype.kind == "f" or int(numbers.min(initial=0)) < 0:
        return numbers
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def opened(path: Path, digest: str) -> Columns:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Unfit(f"lack a file ({error.strerror})") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise Unfit("are damaged")
    at = data.index(b"\n") + 1
    head = orjson.loads(data[:at])
    numbers: dict[str, npt.NDArray[Any]] = {}
    for name, kind in NUMBERS.items():
        size, written, stored = head["rows"][name]
        found = np.frombuffer(data, dtype=stored, count=written, offset=at)
        at += found.nbytes
        numbers[name] = found.astype(kind) if written == size else np.full(size, found[0], dtype=kind)
    numbers["key"] = numbers["key"].reshape(-1, 2)
    return Columns(numbers=numbers, names={name: tuple(head["names"][name]) for name in LISTS})
