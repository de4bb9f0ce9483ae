"""The lowest and the highest Grade Score that a row with unread trials could have had."""

from dataclasses import dataclass

import numpy as np

from evenhand.stats.reliability.grade_score.option_rows import (
    UNREAD,
    Block,
    BoolArray,
    FloatArray,
    IntArray,
    Tallies,
    scores,
    tallies,
)

MOST_COMPLETIONS = 100_000
"""Up to here every way to fill the unread trials is scored; beyond it nothing is claimed but 0 to 1."""

_AT_ONCE = 4_000_000
"""Numbers held at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradeBounds:
    lowest: FloatArray
    highest: FloatArray
    exact: BoolArray


def grade_bounds(block: Block) -> GradeBounds:
    """Of each row of the block; a row that was read whole has its own score as both."""
    tally = tallies(block)
    whole = scores(tally).grade
    bounds = GradeBounds(lowest=whole.copy(), highest=whole.copy(), exact=np.ones(len(whole), dtype=np.bool_))
    partly = np.flatnonzero(~block.counts.all(axis=1))
    patterns, of_row = np.unique(~block.counts[partly], axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = partly[of_row.ravel() == number]
        missing = np.flatnonzero(pattern)
        if block.options ** len(missing) > MOST_COMPLETIONS:
            bounds.lowest[rows], bounds.highest[rows], bounds.exact[rows] = 0.0, 1.0, False
        else:
            alike, which = _alike(block, rows)
            low, high = _extremes(block, Tallies(places=tally.places[alike], options=tally.options[alike]), missing)
            bounds.lowest[rows], bounds.highest[rows] = low[which], high[which]
    return bounds


def _alike(block: Block, rows: IntArray) -> tuple[IntArray, IntArray]:
    """One row of each set of equal ones, and for each row its set.

    Of rotations places turned by the same step change no score, so they are counted from the first one read.
    """
    place = block.place[rows]
    if not block.rotated:
        _, one, which = np.unique(place, axis=0, return_index=True, return_inverse=True)
        return rows[one], which.ravel()
    read = place != UNREAD
    first = np.take_along_axis(place, read.argmax(axis=1)[:, None], axis=1)
    turned = np.where(read, (place - first) % block.options, UNREAD)
    _, one, which = np.unique(turned, axis=0, return_index=True, return_inverse=True)
    return rows[one], which.ravel()


def _extremes(block: Block, tally: Tallies, missing: IntArray) -> tuple[FloatArray, FloatArray]:
    places, options = _completions(block, missing)
    at_once = max(1, _AT_ONCE // places.size)
    low, high = np.empty(len(tally.places)), np.empty(len(tally.places))
    for begun in range(0, len(low), at_once):
        some = slice(begun, begun + at_once)
        completed = Tallies(
            places=tally.places[some, None, :] + places[None], options=tally.options[some, None, :] + options[None]
        )
        grade = scores(completed).grade
        low[some], high[some] = grade.min(axis=1), grade.max(axis=1)
    return low, high


def _completions(block: Block, missing: IntArray) -> tuple[FloatArray, FloatArray]:
    """Completions x options: how often each place and each option is chosen in the trials that were not read."""
    count: int = block.options ** len(missing)
    rest = np.arange(count)
    every = np.arange(count)
    places, options = np.zeros((count, block.options)), np.zeros((count, block.options))
    for trial in missing:
        place = rest % block.options
        rest = rest // block.options
        places[every, place] += 1
        options[every, block.orders[trial, place]] += 1
    return places, options
