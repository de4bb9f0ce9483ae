"""How intransitive a judge is: how often X beats Y, Y beats Z, and Z beats X."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.vote import Joining
from evenhand.stats.intervals import LEVEL, clustered_share
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.codes import Signs, dense
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.win_matrix import WinMatrix, observed_wins
from evenhand.stats.ratings.sums import FloatArray

COIN = 0.25
"""The share of cyclic triples where a coin decides every pair: two of the eight outcomes."""

_NUMBERS = 1_000_000
"""Held at once."""

_Triple: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Triples:
    """Sets of three models all of whose pairs met."""

    met: int
    decided: int
    """Those without a tied pair."""
    cyclic: int
    share: Estimate
    """cyclic / decided, to be held against a coin's 0.25."""

    @property
    def tied(self) -> int:
        """Those with a tied pair, which are neither in order nor cyclic."""
        return self.met - self.decided

    def as_json(self) -> dict[str, Json]:
        return {
            "met": self.met,
            "decided": self.decided,
            "tied": self.tied,
            "cyclic": self.cyclic,
            **self.share.as_json("share"),
            "coin": COIN,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    models: tuple[str, str, str]
    """Each won against the next more often than it lost, and the last against the first."""
    shares: tuple[float, float, float]
    """Of those comparisons, each above 0.5; a tie is half a win."""
    n: tuple[float, float, float]

    def as_json(self) -> dict[str, Json]:
        return {"models": list(self.models), "shares": list(self.shares), "n": [whole(count) for count in self.n]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycles:
    majority: Triples
    """Every pair decided by the majority of all its comparisons."""
    within_items: Triples | None
    """Every pair decided by one rater on one item: the rater's own intransitivity. None: no items are named."""
    worst: tuple[Cycle, ...]
    """Of the majorities: those whose closest pair is furthest from even, the worst first."""

    def as_json(self) -> dict[str, Json]:
        return {
            "majority": self.majority.as_json(),
            "within_items": None if self.within_items is None else self.within_items.as_json(),
            "worst": [cycle.as_json() for cycle in self.worst],
        }


def cycles(comparisons: Comparisons, *, rule: Joining = "visit", worst: int = 10, level: float = LEVEL) -> Cycles:
    """`rule` joins one rater's showings of one item and pair; the share within items has an interval clustered by item.

    The majorities' share has none: its triples share their pairs, and no unit of it is independent of the others.
    """
    matrix = observed_wins(comparisons)
    met, decided, cyclic = (int(one[0]) for one in _counts(matrix.share[None] > 0.5, matrix.share[None] == 0.5))
    share = Estimate(value=None, reason="no three models with decided pairs")
    if decided:
        share = Estimate(value=cyclic / decided, n=decided)
    return Cycles(
        majority=Triples(met=met, decided=decided, cyclic=cyclic, share=share),
        within_items=_within_items(comparisons, rule, level),
        worst=_worst(matrix, worst),
    )


def _counts(beats: BoolArray, ties: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each of B graphs (B x M x M): the triples that met, that are decided, that are cyclic."""
    # Matrix products of 0 and 1 are far faster in floating point, and exact.
    won = beats.astype(np.float32)
    two_steps = np.matmul(won, won)
    cyclic = _total(two_steps * won.transpose(0, 2, 1)) / 3
    decided = cyclic + _total(two_steps * won)
    if not ties.any():
        return decided, decided, cyclic
    links = won + won.transpose(0, 2, 1) + ties
    return _total(np.matmul(links, links) * links) / 6, decided, cyclic


def _total(graphs: npt.NDArray[np.float32]) -> FloatArray:
    return np.asarray(graphs.sum(axis=(1, 2), dtype=np.float64), dtype=np.float64)


def _worst(matrix: WinMatrix, wanted: int) -> tuple[Cycle, ...]:
    names, share, n = matrix.models, matrix.share, matrix.n
    return tuple(
        Cycle(
            models=(names[i], names[j], names[k]),
            shares=(float(share[i, j]), float(share[j, k]), float(share[k, i])),
            n=(float(n[i, j]), float(n[j, k]), float(n[k, i])),
        )
        for i, j, k in _widest(np.where(share > 0.5, share - 0.5, 0.0), wanted)
    )


def _widest(margin: FloatArray, wanted: int) -> list[_Triple]:
    """Cycles i > j > k > i, i the least of the three, with the largest least margin; of equals those with lower codes.

    Only triples that could still enter the list are looked at.
    """
    best: list[tuple[float, _Triple]] = []
    for first in range(len(margin) if wanted else 0):
        floor = best[0][0] if len(best) == wanted else 0.0
        after = np.flatnonzero(margin[first, first + 1 :] > floor) + first + 1
        before = np.flatnonzero(margin[first + 1 :, first] > floor) + first + 1
        least = np.minimum(margin[np.ix_(after, before)], margin[first, after][:, None])
        least = np.minimum(least, margin[before, first][None, :])
        places = np.argwhere(least > floor)
        values = least[least > floor]
        for place in np.argsort(-values, kind="stable")[:wanted]:
            j, k = int(after[places[place, 0]]), int(before[places[place, 1]])
            heapq.heappush(best, (float(values[place]), (-first, -j, -k)))
        while len(best) > wanted:
            heapq.heappop(best)
    return [(-i, -j, -k) for _, (i, j, k) in sorted(best, reverse=True)]


def _within_items(comparisons: Comparisons, rule: Joining, level: float) -> Triples | None:
    if comparisons.item is None:
        return None
    # Most files of battles have no item with three pairs, and nothing more to do.
    enough = np.bincount(comparisons.item, minlength=1)[comparisons.item] >= 3
    seated = _seated(joined(comparisons.rows(enough), rule))
    met, decided, cyclic = np.zeros((3, len(seated.item)))
    for seats, signs in _tournaments(seated):
        met[seats], decided[seats], cyclic[seats] = _counts(signs > 0, signs == 0)
    share = clustered_share(cyclic / np.where(decided > 0, decided, 1), decided, seated.item, level=level)
    return Triples(met=int(met.sum()), decided=int(decided.sum()), cyclic=int(cyclic.sum()), share=share)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Seated:
    """Battles of seats, a seat being one rater at one item; models are numbered anew at each."""

    item: IntArray
    """Of each seat."""
    models: IntArray
    """Of each seat: how many there are."""
    seat: IntArray
    """Of each battle."""
    one: IntArray
    other: IntArray
    sign: Signs


def _seated(battles: Comparisons) -> _Seated:
    assert battles.item is not None
    rater = np.int64(0) if battles.rater is None else battles.rater
    seat = dense(battles.item.astype(np.int64) * (len(battles.raters) + 1) + rater).astype(np.int64)
    item = np.zeros(int(seat.max(initial=-1)) + 1, dtype=np.int64)
    item[seat] = battles.item
    names = max(len(battles.models), 1)
    both = np.concatenate((seat, seat))
    distinct, place = np.unique(both * names + np.concatenate((battles.model_a, battles.model_b)), return_inverse=True)
    models = np.bincount(distinct // names, minlength=len(item))
    number = place - (np.cumsum(models) - models)[both]
    return _Seated(
        item=item,
        models=models,
        seat=seat,
        one=number[: len(seat)],
        other=number[len(seat) :],
        sign=battles.sign,
    )


def _tournaments(seated: _Seated) -> Iterator[tuple[IntArray, FloatArray]]:
    """Seats with equally many models, and their results: seats x models x models, NaN where two did not meet."""
    for models in np.unique(seated.models[seated.models >= 3]).tolist():
        of_size = np.flatnonzero(seated.models == models)
        at_once = max(_NUMBERS // models**2, 1)
        for start in range(0, len(of_size), at_once):
            seats = of_size[start : start + at_once]
            place = np.full(len(seated.item), -1, dtype=np.int64)
            place[seats] = np.arange(len(seats))
            rows = place[seated.seat] >= 0
            here, one, other = place[seated.seat[rows]], seated.one[rows], seated.other[rows]
            signs = np.full((len(seats), models, models), np.nan)
            signs[here, one, other] = seated.sign[rows]
            signs[here, other, one] = -seated.sign[rows]
            yield seats, signs
