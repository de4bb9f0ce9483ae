"""Trials' keys as numbers, and which of them are new."""

import binascii
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.codes import Codes

Keys: TypeAlias = npt.NDArray[np.uint64]
"""The first 16 bytes of each trial's key, as two numbers."""


_ENDS = np.uint64(1 << 20)
"""Ways in which the first half of a key may end, by which those are found that may be some of a few."""


_LETTERS = 64


class NoKey(Exception):
    """A text is no trial's key."""


def no_keys() -> Keys:
    return np.zeros((0, 2), dtype=np.uint64)


def keys_of(keys: Sequence[str]) -> Keys:
    """Raises NoKey for what is no trial's key."""
    letters = np.frombuffer("".join(keys).encode(), dtype=np.uint8)
    if letters.size != _LETTERS * len(keys):
        raise NoKey
    return keys_in(letters.reshape(-1, _LETTERS))


def keys_in(letters: npt.NDArray[np.uint8]) -> Keys:
    """Of the letters of each row."""
    try:
        begins = binascii.unhexlify(letters[:, : _LETTERS // 2].tobytes())
    except ValueError:
        raise NoKey from None
    return np.frombuffer(begins, dtype=">u8").astype(np.uint64).reshape(-1, 2)


def numbered(known: Keys, new: Keys) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Of each of the new ones its place among the known ones and those that come after them, each once; and which of
    the new come so."""
    if not len(known) and _differ_at_once(new):
        return np.arange(len(new), dtype=np.int32), np.arange(len(new))
    near = np.arange(len(known))
    if len(new) < len(known) / 8:  # else it costs more to look for them than to sort all
        ends = np.zeros(_ENDS, dtype=np.bool_)
        ends[new[:, 0] % _ENDS] = True
        near = np.flatnonzero(ends[known[:, 0] % _ENDS])
    every = np.concatenate([known[near], new])
    order = np.argsort(every[:, 0])  # equal ones come in any order, which is found several times as fast
    same, begins = _as_before(every[order])
    if (same & begins[1:]).any():
        order = np.lexsort((every[:, 1], every[:, 0]))
        _, begins = _as_before(every[order])
    first = np.minimum.reduceat(order, np.flatnonzero(begins)) if len(order) else order
    fresh = np.sort(first[first >= len(near)])
    place = np.zeros(len(every), dtype=np.intp)
    place[fresh] = np.arange(len(fresh)) + len(known)
    number = place[first]
    old = first < len(near)
    number[old] = near[first[old]]
    code = np.empty(len(every), dtype=np.int32)
    code[order] = number[np.cumsum(begins) - 1]
    return code[len(near) :], fresh - len(near)


def _differ_at_once(keys: Keys) -> bool:
    """Whether the first halves tell all apart."""
    halves = np.sort(keys[:, 0])
    return bool((halves[1:] != halves[:-1]).all())


def _as_before(keys: Keys) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Of each but the first whether its first half is that of the one before it; and of each whether it is another."""
    same = keys[1:, 0] == keys[:-1, 0]
    other = np.ones(len(keys), dtype=np.bool_)
    other[1:] = ~(same & (keys[1:, 1] == keys[:-1, 1]))
    return same, other
