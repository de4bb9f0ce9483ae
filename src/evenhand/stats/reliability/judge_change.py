"""Whether a judge asked again decides as it did: a wager that may be looked at after every row, and what has moved.

A row is one showing that is on record and was asked again, each row once. `moved` is its new verdict minus its old one,
verdicts being 0, 1/2 and 1, so -1 to 1. If the judge is what it was, old and new are two draws of one thing, and no
wager on the sign of the next move can be expected to gain: it reaches `ALARM` with probability 1/`ALARM` at most,
however often one looks (Ville 1939; Ramdas et al. 2023, Statistical Science 38, 576). The same row asked twice would
break that, for its old verdict stays what it was.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Range, clustered_mean, clustered_share
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.sums import FloatArray

BETS = (0.1, 0.2, 0.4, 0.6, 0.8)
ALARM = 20.0
SCORE_PER_LOGIT = 0.235
"""By how much the mean score moves when a judge's latent leaning moves by one logit, near enough for small moves."""
_FOUND = (1.959964 + 0.841621) ** 2
"""Squared quantiles of a test at 5 % that finds what is there four times in five."""

Toward: TypeAlias = Literal["first", "longer", "model"]


def wagers(moved: npt.ArrayLike) -> FloatArray:
    """What the wager is worth after each row: the mean over bets and both signs of prod(1 ± bet * moved)."""
    moves = np.asarray(moved, dtype=np.float64)
    bets = np.array([sign * bet for bet in BETS for sign in (1.0, -1.0)])
    return _mean_of_logs(np.log1p(np.outer(moves, bets)).cumsum(axis=0))


def _mean_of_logs(logs: FloatArray) -> FloatArray:
    most = logs.max(axis=1, keepdims=True)
    return np.exp(most[:, 0] + np.log(np.exp(logs - most).mean(axis=1)))


def rows_to_find(shift: float, *, square: float) -> int:
    """Rows after which one test at 5 % finds a mean move of `shift` with probability 0.8. `square`: the moves' mean
    square."""
    return math.ceil(_FOUND * square / shift**2)


def shift_to_find(rows: int, *, square: float) -> float:
    """The mean move that one such test finds by so many rows."""
    return math.sqrt(_FOUND * square / rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Whom verdicts moved toward."""

    toward: Toward
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How far verdicts moved in one direction, in score, and what the wager on it is worth."""

    direction: Direction
    mean: Estimate
    evidence: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Moves:
    """Rows in the order in which they were drawn, look by look."""

    moved: FloatArray
    """Toward the answer shown first."""
    look: Codes
    """Numbers from 0 up that never fall."""
    item: npt.NDArray[np.int64]
    first: Codes
    """The model shown first, an index into `models`."""
    second: Codes
    longer: FloatArray
    """Words by which the answer shown first is longer; NaN where it is not known."""
    models: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.moved)

    def of_looks(self, looks: Iterable[int]) -> "Moves":
        kept = np.isin(self.look, list(looks))
        columns = ("moved", "look", "item", "first", "second", "longer")
        return Moves(models=self.models, **{name: getattr(self, name)[kept] for name in columns})

    @property
    def square(self) -> float:
        return float(np.square(self.moved).mean()) if len(self) else 0.0

    @property
    def changed(self) -> Estimate:
        """Share of the rows that got another verdict."""
        if not len(self):
            return Estimate(value=None, reason="no cases")
        return clustered_share((self.moved != 0).astype(np.float64), np.ones(len(self)), self.item)

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        playing: list[int] = np.union1d(self.first, self.second).tolist()
        return (
            Direction(toward="first"),
            Direction(toward="longer"),
            *(Direction(toward="model", model=self.models[code]) for code in playing),
        )

    def toward(self, direction: Direction) -> FloatArray:
        """The moves in a direction, 0 in rows that tell nothing of it."""
        if direction.toward == "first":
            return self.moved
        if direction.toward == "longer":
            return self.moved * np.sign(np.nan_to_num(self.longer))
        assert direction.model is not None
        code = self.models.index(direction.model)
        return self.moved * ((self.first == code).astype(np.float64) - (self.second == code))

    def telling(self, direction: Direction) -> npt.NDArray[np.bool_]:
        """Rows that a move in this direction could show in."""
        if direction.toward == "first":
            return np.ones(len(self), dtype=np.bool_)
        if direction.toward == "longer":
            return np.nan_to_num(self.longer) != 0
        assert direction.model is not None
        code = self.models.index(direction.model)
        return (self.first == code) != (self.second == code)

    @cached_property
    def worth(self) -> FloatArray:
        """After each row: the mean of three wagers, on positions, on length, and on models, which is itself the mean
        over the models of that look and of those before. A mean of wagers is one too, so that asking three questions
        raises no more false alarms. Models that come later change nothing of what was told."""
        if not len(self):
            return np.zeros(0)
        each = {one: wagers(self.toward(one)) for one in self.directions}
        models = [one for one in each if one.toward == "model"]
        began = np.array([self.look[np.argmax(self.telling(one))] for one in models])
        there = began[:, None] <= self.look[None, :]
        of_models = np.average([each[one] for one in models], axis=0, weights=there)
        return np.mean([*(path for one, path in each.items() if one.toward != "model"), of_models], axis=0)

    @property
    def alarm(self) -> int | None:
        """The look in which it was found that the judge has changed."""
        over = np.flatnonzero(self.worth >= ALARM)
        return int(self.look[over[0]]) if len(over) else None

    def shift(self, direction: Direction) -> Shift:
        told = self.telling(direction)
        moves = self.toward(direction)
        return Shift(
            direction=direction,
            mean=clustered_mean(moves[told], self.item[told], within=Range(low=-1.0)),
            evidence=float(wagers(moves)[-1]) if len(self) else 1.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Onset:
    """Since which look the rows have moved; those from `earliest` to `latest` fit nearly as well."""

    look: int
    earliest: int
    latest: int


def onset(moves: Moves, direction: Direction) -> Onset:
    """The look from which on the wager, begun anew, is worth most by now; others are told whose worth is at least a
    twentieth of that."""
    toward = moves.toward(direction)
    looks: list[int] = np.unique(moves.look).tolist()
    worth = {one: float(wagers(toward[moves.look >= one])[-1]) for one in looks}
    best = max(looks, key=lambda one: worth[one])
    near = [one for one in looks if worth[one] >= worth[best] / ALARM]
    return Onset(look=best, earliest=min(near), latest=max(near))


def leading(moves: Moves) -> tuple[Direction, ...]:
    """Whom a judge that has changed favours or disfavours now: the direction whose wager is worth most, and others
    whose own wager is above the alarm; the most first."""
    worth = {one: float(wagers(moves.toward(one))[-1]) for one in moves.directions}
    ranked = _ranked(worth)
    return tuple(one for place, one in enumerate(ranked) if place == 0 or worth[one] >= ALARM)


def _ranked(worth: dict[Direction, float]) -> Sequence[Direction]:
    return sorted(worth, key=lambda one: -worth[one])
