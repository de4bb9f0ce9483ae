"""How often each cell of a table of counts is hit when all of its rows are drawn anew with replacement."""

import math

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.sums import FloatArray

_FEW_ROWS = 4
"""A cell, on average, below which drawing row by row is as fast."""

_BELOW = 3.0
"""Standard deviations by which the Poisson draws aim below the number of rows."""

_URN = 16_384
"""Numbers shuffled at once: they stay in the processor's own memory."""


def resampled_cells(rng: np.random.Generator, counts: FloatArray, cell: Codes, rounds: int) -> FloatArray:
    """Cells x rounds; each round a multinomial draw of as many rows as there are. `cell` is that of each row.

    Independent Poisson draws with means in proportion to the counts are, their sum T given, a multinomial draw of T
    rows; the rows still missing are drawn one by one. The means aim a little below the number of rows, so that T is
    rarely too large; a round in which it is, is drawn afresh.
    """
    rows = len(cell)
    share = 1 - _BELOW / math.sqrt(rows) if rows > max(_FEW_ROWS * len(counts), _BELOW**2) else 0.0
    drawn = _poisson(rng, counts, share, rounds)
    missing = rows - drawn.sum(axis=0).astype(np.int64)
    for place in np.flatnonzero(missing < 0):
        drawn[:, place] = rng.multinomial(rows, counts / rows)
        missing[place] = 0
    hit = cell[rng.integers(0, rows, int(missing.sum()))] * np.int64(rounds)
    hit += np.repeat(np.arange(rounds), missing)
    np.add.at(drawn.reshape(-1), hit, 1.0)
    return drawn


def _poisson(rng: np.random.Generator, counts: FloatArray, share: float, rounds: int) -> FloatArray:
    """Cells x rounds, with means of `share` times the counts."""
    drawn = np.zeros((len(counts), rounds))
    if not share:
        return drawn
    order = np.argsort(counts, kind="stable")
    distinct, starts = np.unique(counts[order], return_index=True)
    at_once = max(_URN // rounds, 1)
    for count, alike in zip(distinct, np.split(order, starts[1:]), strict=True):
        for begun in range(0, len(alike), at_once):
            some = alike[begun : begun + at_once]
            drawn[some] = _alike(rng, float(count) * share, len(some) * rounds).reshape(len(some), rounds)
    return drawn


def _alike(rng: np.random.Generator, mean: float, draws: int) -> npt.NDArray[np.int64]:
    """Independent Poisson draws with one mean.

    Many of them at once: how often each value occurs is a multinomial draw, and their order is any. Values further than
    twelve standard deviations and 40 from the mean, less probable than 1e-30, do not occur.
    """
    reach = int(12 * math.sqrt(mean)) + 40
    values = np.arange(max(int(mean) - reach, 0), int(mean) + reach)
    if not mean or draws < len(values):
        return rng.poisson(mean, draws)
    log_chance = np.concatenate(([0.0], np.cumsum(np.log(mean / values[1:]))))
    chance = np.exp(log_chance - log_chance.max())
    urn = np.repeat(values, rng.multinomial(draws, chance / chance.sum()))
    rng.shuffle(urn)
    return urn
