"""Intervals and tests for those who look more than once: at looks planned beforehand, or whenever they like."""

import importlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.sums import FloatArray

_POWER = -0.25
"""Of the share of the looks that are done: between Pocock's boundary (0) and O'Brien and Fleming's (-1/2)."""
_TAU = 0.25
"""Natural units: the size of effect for which the mixture's intervals are narrowest."""
BETS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2)
"""What is laid on each side, of what was won so far."""
DECIDED = 20.0
"""What a bettor against equal chances turns 1 into at most one time in twenty, however long it goes on."""


@cache
def look_values(looks: int, level: float = LEVEL) -> tuple[float, ...]:
    """Standard errors to each side at each of so many looks, equally far apart: C (k / looks) ^ (-1/4).

    All the intervals hold together at `level` (Wang and Tsiatis 1987, Biometrics 43, 193; repeated intervals: Jennison
    and Turnbull 1989, J. R. Stat. Soc. B 51, 305).
    """
    if looks < 1:
        raise ValueError(f"At least one look is needed, not {looks}.")
    # Typed stubs of scipy leave this half unknown.
    optimize: Any = importlib.import_module("scipy.optimize")
    shape = [(look / looks) ** _POWER for look in range(1, looks + 1)]

    def too_sure(size: float) -> float:
        return _never_beyond([size * one for one in shape]) - level

    size = float(optimize.brentq(too_sure, 1.0, 6.0, xtol=1e-10))
    return tuple(size * one for one in shape)


def _never_beyond(values: Sequence[float]) -> float:
    """How probable it is that a walk of standard normal steps stays within values[k] sqrt(k) at every step k.

    By Gauss and Legendre's rule from step to step (Armitage, McPherson and Rowe 1969, J. R. Stat. Soc. A 132, 235).
    """
    places, mass = np.zeros(1), np.ones(1)
    for step, value in enumerate(values, 1):
        reach = value * math.sqrt(step)
        nodes, weights = _rule(32 * math.ceil(1 + reach / 4))
        here = reach * nodes
        mass = reach * weights * (_normal(here[:, None] - places[None, :]) @ mass)
        places = here
    return float(mass.sum())


@cache
def _rule(nodes: int) -> tuple[FloatArray, FloatArray]:
    places, weights = np.polynomial.legendre.leggauss(nodes)
    return np.asarray(places, dtype=np.float64), np.asarray(weights, dtype=np.float64)


def _normal(values: FloatArray) -> FloatArray:
    return np.exp(-(values**2) / 2) / math.sqrt(2 * math.pi)


def anytime_half_width(error: float, level: float = LEVEL, *, tau: float = _TAU) -> float:
    """How far an interval reaches to each side that holds at all times together, in the units of `error` and `tau`.

    A normal mixture over effects (Robbins 1970, Ann. Math. Stat. 41, 1397), with the standard error of now.
    """
    if error <= 0:
        return 0.0
    ratio = (error / tau) ** 2
    return error * math.sqrt((1 + ratio) * math.log((1 + 1 / ratio) / (1 - level) ** 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Betting:
    """Whether one of two is better, from results in the order they came; it may be looked at after each."""

    value: float
    """What bets on both sides, of several sizes, have turned 1 into (an e-value)."""
    rows: int
    decided_at: int | None
    """After so many rows it was first decided; later rows take nothing back."""
    better: bool | None
    """Where it is decided: whether the first of the two is."""

    @property
    def decided(self) -> bool:
        return self.decided_at is not None


def betting(scores: Iterable[float]) -> Betting:
    """`scores`: 1 where the first of the two won, 0 where the other did, 1/2 for a tie, or means of these; of items in
    random order. At equal chances it is ever decided at most one time in twenty (Waudby-Smith and Ramdas 2024, J. R.
    Stat. Soc. B 86, 1)."""
    x = np.asarray(list(scores), dtype=np.float64)
    if not x.size:
        return Betting(value=1.0, rows=0, decided_at=None, better=None)
    sides = np.array([*BETS, *(-one for one in BETS)])
    wealth = np.exp(np.cumsum(np.log1p(np.outer(x - 0.5, sides)), axis=0))
    values = wealth.mean(axis=1)
    beyond = np.flatnonzero(values >= DECIDED)
    at = int(beyond[0]) + 1 if beyond.size else None
    up, down = (float(wealth[(at or len(x)) - 1, part].sum()) for part in (slice(len(BETS)), slice(len(BETS), None)))
    return Betting(value=float(values[-1]), rows=len(x), decided_at=at, better=None if at is None else up > down)
