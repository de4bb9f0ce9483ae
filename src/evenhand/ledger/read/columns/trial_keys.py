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
_MIX = np.uint64(0x9E3779B97F4A7C15)


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
    if not len(known) and _differ(new):
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


def places_in(there: Keys, keys: Keys) -> npt.NDArray[np.intp] | None:
    """Of each of these keys its place among those there, which are the very same in another order. None: they are not,
    or it cannot be told by this."""
    if len(there) != len(keys):
        return None
    order, theirs = np.argsort(_mixed(keys)), np.argsort(_mixed(there))
    if any((keys[order, half] != there[theirs, half]).any() for half in (0, 1)):
        return None
    found = np.empty(len(keys), dtype=np.intp)
    found[order] = theirs
    return found


def _differ(keys: Keys) -> bool:
    """Whether one number of each tells all apart."""
    mixed = _mixed(keys)
    mixed.sort()
    return bool((mixed[1:] != mixed[:-1]).all())


def _mixed(keys: Keys) -> npt.NDArray[np.uint64]:
    """One number of each."""
    found = keys[:, 0] * _MIX
    found += keys[:, 1]
    return found


def _as_before(keys: Keys) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Of each but the first whether its first half is that of the one before it; and of each whether it is another."""
    same = keys[1:, 0] == keys[:-1, 0]
    other = np.ones(len(keys), dtype=np.bool_)
    other[1:] = ~(same & (keys[1:, 1] == keys[:-1, 1]))
    return same, other
