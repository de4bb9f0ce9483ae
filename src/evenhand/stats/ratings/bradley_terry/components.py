"""What the results can tell apart: models joined by battles, and models whose order no battle contradicts.

A finite maximum exists within a set of models if and only if every one is linked to every other by a chain of wins or
ties (Ford 1957, Am. Math. Monthly 64 (8, part 2), 28).
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable

BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structure:
    component: IntArray
    """Numbered from 0, the largest first; models with one number are joined by battles. -1: no battles."""
    group: IntArray
    """Numbered from 0; differences of strength are finite within a group and without bound between groups."""
    above: BoolArray
    """[i, j]: i won against j, directly or by a chain, and no chain leads back: i's strength is without bound above."""

    def members(self, group: int) -> IntArray:
        return np.flatnonzero(self.group == group)


def structure(table: PairTable) -> Structure:
    links = _links(table)
    played = links.any(axis=0) | links.any(axis=1)
    if not table.models or (played.all() and _all_linked(links)):
        zeros = np.zeros(table.models, dtype=np.int64)
        return Structure(component=zeros, group=zeros, above=np.zeros_like(links))
    reached = closure(links)
    joined = closure(links | links.T)
    component = _by_size(np.where(played, np.argmax(joined, axis=1), -1))
    group = np.unique(np.argmax(reached & reached.T, axis=1), return_inverse=True)[1].astype(np.int64)
    return Structure(component=component, group=group, above=reached & ~reached.T)


def linked_resamples(links: BoolArray) -> BoolArray:
    """For each of B graphs (B x M x M), whether every model is linked to every other."""
    # Matrix products of 0 and 1 are far faster in floating point.
    forward = links.astype(np.float32)
    return _covers(forward) & _covers(forward.transpose(0, 2, 1))


def _links(table: PairTable) -> BoolArray:
    """[i, j]: i won against j or tied with it."""
    links = np.zeros((table.models, table.models), dtype=np.bool_)
    up = (table.counts[:, WIN] + table.counts[:, TIE]) > 0
    down = (table.counts[:, LOSS] + table.counts[:, TIE]) > 0
    links[table.first[up], table.second[up]] = True
    links[table.second[down], table.first[down]] = True
    return links


def _all_linked(links: BoolArray) -> bool:
    return bool(linked_resamples(links[None])[0])


def _covers(links: npt.NDArray[np.float32]) -> BoolArray:
    """Whether chains from model 0 reach every model."""
    seen = np.zeros(links.shape[:2], dtype=np.float32)
    seen[:, 0] = 1
    before = 0.0
    while (now := float(np.count_nonzero(seen))) > before:
        before = now
        seen = np.minimum(seen + np.matmul(seen[:, None, :], links)[:, 0, :], 1)
    return np.asarray(np.all(seen > 0, axis=1), dtype=np.bool_)


def closure(links: BoolArray) -> BoolArray:
    """[i, j]: a chain leads from i to j; every model reaches itself. Warshall's algorithm on whole rows as bits."""
    models = len(links)
    packed = np.packbits(links | np.eye(models, dtype=np.bool_), axis=1, bitorder="little")
    rows = [int.from_bytes(row.tobytes(), "little") for row in packed]
    for via in range(models):
        bit, onward = 1 << via, rows[via]
        rows = [row | onward if row & bit else row for row in rows]
    length = packed.shape[1]
    closed = np.frombuffer(b"".join(row.to_bytes(length, "little") for row in rows), dtype=np.uint8)
    return np.unpackbits(closed.reshape(models, length), axis=1, count=models, bitorder="little").astype(np.bool_)


def _by_size(labels: IntArray) -> IntArray:
    """Renumbered so that the largest set is 0, of equals the one with the earliest model; -1 stays."""
    found, size = np.unique(labels[labels >= 0], return_counts=True)
    number = {int(found[place]): new for new, place in enumerate(np.lexsort((found, -size)))}
    return np.array([number.get(int(label), -1) for label in labels], dtype=np.int64)


def davidson_is_finite(table: PairTable) -> bool:
    """Whether Davidson's likelihood has a finite maximum on a table within one group.

    It needs a tie, and no set of strengths with every win a step of at least 1 down and every tie a step of at most 1:
    along such a one losses become ever less probable while wins and ties keep their odds.
    """
    won, tied, lost = (table.counts[:, column] > 0 for column in (WIN, TIE, LOSS))
    if not tied.any():
        return False
    if (won & lost).any():
        return True
    # Differences bounded from above: feasible if and only if relaxing them comes to rest (Bellman and Ford).
    source = np.concatenate((table.first[won], table.second[lost], table.first[tied], table.second[tied]))
    target = np.concatenate((table.second[won], table.first[lost], table.second[tied], table.first[tied]))
    step = np.where(np.arange(len(source)) < np.count_nonzero(won) + np.count_nonzero(lost), -1, 1)
    strength = np.zeros(table.models, dtype=np.int64)
    for _ in range(table.models + 1):
        before = strength.copy()
        np.minimum.at(strength, target, before[source] + step)
        if np.array_equal(before, strength):
            return False
    return True
