"""Resamples of comparisons: whole items, or clusters, drawn with replacement, or single battles as FastChat does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.format.words import counted, plural
from evenhand.stats.ratings.cell_draws import resampled_cells
from evenhand.stats.ratings.codes import Codes, dense, narrow
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import Grouped

Unit: TypeAlias = Literal["items", "battles"]
Order: TypeAlias = npt.NDArray[np.intp] | npt.NDArray[np.int32]

SPARSE_FROM = 5_000_000
"""Rows times rounds from which importing scipy costs less than doing without."""

_HELD = 16_000_000
"""Units times rounds at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    rounds: int = 100
    unit: Unit = "items"
    """What is drawn; battles where the comparisons name no items."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"A bootstrap needs at least one round, not {self.rounds}.")


def about_resamples(comparisons: Comparisons, resampling: Resampling, what: str, *, widened: bool) -> str:
    """What the intervals, or whatever `what` says, are percentiles of, and what they were widened by."""
    drawn = comparisons.grouped_by is not None and resampling.unit == "items"
    unit = plural(comparisons.cluster_noun) if drawn else "battles"
    wider = f", widened by Student's t on the effective number of {unit}" if widened else ""
    more = ", and by what raters add" if widened and drawn and comparisons.crossed is not None else ""
    return f"{what} of {counted(resampling.rounds, 'resample')} of {unit}, seed {resampling.seed}{wider}{more}."


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """What is drawn: rows side by side, in their own order."""

    rows: Order
    """All of them, block after block."""
    begin: npt.NDArray[np.int64]
    """Of each block, where in them it begins."""
    length: npt.NDArray[np.int64]

    @classmethod
    def of(cls, comparisons: Comparisons, resampling: Resampling) -> "Blocks":
        """An item each, or a cluster; or a battle."""
        if comparisons.grouped_by is None or resampling.unit == "battles":
            rows = np.arange(len(comparisons), dtype=np.int32)
            return cls(rows=rows, begin=rows.astype(np.int64), length=np.ones(len(rows), dtype=np.int64))
        item = dense(comparisons.grouped_by)
        length = np.bincount(item).astype(np.int64)
        rows = np.argsort(narrow(item, len(length)), kind="stable")
        return cls(rows=rows, begin=np.cumsum(length) - length, length=length)

    def draws(self, resampling: Resampling) -> Iterator[Codes]:
        """Blocks in the order in which they are drawn, a round after the other."""
        rng = np.random.default_rng(resampling.seed)
        number = len(self.length)
        for _ in range(resampling.rounds):
            yield rng.integers(0, number, number, dtype=np.int32)

    def places(self, drawn: Codes) -> npt.NDArray[np.int64] | Codes:
        """Of each row to be played in turn, where in `rows` it stands."""
        if len(self.rows) == len(self.length):  # each is a block of its own
            return drawn
        lengths = self.length[drawn]
        ends = np.cumsum(lengths)
        return np.repeat(self.begin[drawn] - (ends - lengths), lengths) + np.arange(int(ends[-1]))


def resampled_orders(comparisons: Comparisons, resampling: Resampling) -> Iterator[Order]:
    """Rows to be played in turn, one sequence a round: drawn units in the order drawn, an item's rows in their own."""
    blocks = Blocks.of(comparisons, resampling)
    for drawn in blocks.draws(resampling):
        yield blocks.rows[blocks.places(drawn)]


def resampled_counts(
    grouped: Grouped, comparisons: Comparisons, resampling: Resampling, *, at_once: int, sparse_from: int = SPARSE_FROM
) -> Iterator[FloatArray]:
    """The counts of `grouped.table` in resamples, up to `at_once` of them together: resamples x rows x 3."""
    rng = np.random.default_rng(resampling.seed)
    table, rows = grouped.table, len(comparisons)
    cell = grouped.cell
    by = None if resampling.unit == "battles" else comparisons.grouped_by
    items = None if by is None else dense(by)
    add: Callable[[npt.NDArray[np.uint16]], FloatArray] | None = None
    if items is not None or comparisons.weight is not None:
        # A row is a unit by itself where no items are drawn.
        rows_of = _Rows(cell=cell, unit=items, weight=comparisons.weight, cells=3 * len(table))
        add = rows_of.by_matrix() if rows * resampling.rounds >= sparse_from else rows_of.one_by_one
    units = rows if items is None else int(items.max(initial=-1)) + 1
    at_once = at_once if add is None else max(1, min(at_once, _HELD // max(units, 1)))
    for begun in range(0, resampling.rounds, at_once):
        size = min(at_once, resampling.rounds - begun)
        if add is None:
            # Rows of one cell are alike: drawing how many fall in each is the same as drawing rows.
            counts = resampled_cells(rng, table.counts.ravel(), cell, size)
        else:
            counts = add(_times_drawn(rng, units, size))
        yield np.moveaxis(counts.reshape(len(table), 3, size), 2, 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """What each row adds to a cell when its unit is drawn."""

    cell: Codes
    unit: Codes | None
    """None: each row is a unit."""
    weight: FloatArray | None
    cells: int

    def one_by_one(self, times: npt.NDArray[np.uint16]) -> FloatArray:
        """Cells x rounds, from how often each unit is drawn in each round (rounds x units)."""
        counts = np.empty((self.cells, len(times)))
        for place, once in enumerate(times):
            drawn = (once if self.unit is None else once[self.unit]).astype(np.float64)
            counts[:, place] = summed(self.cell, drawn if self.weight is None else drawn * self.weight, self.cells)
        return counts

    def by_matrix(self) -> "Callable[[npt.NDArray[np.uint16]], FloatArray]":
        """The same with one sparse product for all rounds, worth its import where there is much to add."""
        from scipy.sparse import csr_array

        order = np.argsort(narrow(self.cell, self.cells), kind="stable")
        ends = np.concatenate(([0], np.cumsum(np.bincount(self.cell, minlength=self.cells))))
        unit = order if self.unit is None else self.unit[order]
        weight = np.ones(len(order)) if self.weight is None else self.weight[order]

        def add(times: npt.NDArray[np.uint16]) -> FloatArray:
            added: Any = csr_array((weight, unit, ends), shape=(self.cells, times.shape[1]))
            return np.asarray(added @ np.ascontiguousarray(times.T).astype(np.float64), dtype=np.float64)

        return add


def _times_drawn(rng: np.random.Generator, units: int, rounds: int) -> npt.NDArray[np.uint16]:
    """Rounds x units."""
    times = np.empty((rounds, units), dtype=np.uint16)
    for once in times:
        once[:] = np.bincount(rng.integers(0, units, units, dtype=np.int32), minlength=units)
    return times
