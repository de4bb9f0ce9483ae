"""One prompt whose options were shown to a judge in several orders, and which of them it chose each time."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

Orders: TypeAlias = tuple[tuple[int, ...], ...]
"""One for each trial: the option ids by position."""

UNREAD = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRow:
    item: str
    selected_positions: tuple[int | None, ...]
    """Of each trial, in the order of `rotations`: the place chosen, from 0, or None where nothing was read."""
    unrelated: bool = False
    """Whether one of the options is the answer to another prompt."""
    replicate: int = 0
    orders: Orders | None = None
    """Of each trial, where they are not the rotations."""

    @property
    def options(self) -> int:
        """With the unrelated one."""
        return len(self.orders[0]) if self.orders else len(self.selected_positions)

    @property
    def shown(self) -> Orders:
        return self.orders or rotations(self.options, unrelated=self.unrelated)

    @property
    def selected_options(self) -> tuple[int | None, ...]:
        return tuple(
            None if place is None else order[place]
            for place, order in zip(self.selected_positions, self.shown, strict=True)
        )

    @property
    def most_chosen(self) -> tuple[int, ...]:
        """The option chosen most, or those chosen equally often; none where nothing was read."""
        chosen = [option for option in self.selected_options if option is not None]
        most = max(map(chosen.count, chosen), default=0)
        return tuple(sorted({option for option in chosen if chosen.count(option) == most}))


@cache
def rotations(options: int, *, unrelated: bool = False) -> Orders:
    """The orders of option ids to show, one a trial: every option takes every place once.

    As the authors' code turns them (spec C2): each trial moves the last option to the front, so that the last trial
    shows the base order. An unrelated option has the last id and stands first in the base order.
    """
    if options < 1:
        raise ValueError(f"A judge chooses among one option at least, not {options}.")
    base = (options - 1, *range(options - 1)) if unrelated else tuple(range(options))
    return tuple(base[-turn:] + base[:-turn] for turn in range(1, options + 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Rows with the same orders, as arrays: rows x trials."""

    rows: IntArray
    """Where they stand in the list given."""
    options: int
    unrelated: bool
    """Whether the option with the last id is the answer to another prompt."""
    rotated: bool
    """Whether the orders are the rotations."""
    orders: IntArray
    """Trials x places: the option id shown there."""
    place: IntArray
    option: IntArray
    """Both `UNREAD` where no option that counts was chosen."""

    @property
    def counts(self) -> BoolArray:
        return self.place != UNREAD


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tallies:
    """How often each place and each option was chosen; rows x options, by weight."""

    places: FloatArray
    options: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OptionScores:
    llm: FloatArray
    choice: FloatArray
    grade: FloatArray


def blocks(rows: Sequence[OptionRow]) -> list[Block]:
    """Rows of one option are in none. Raises ValueError where a place chosen was not offered."""
    alike: defaultdict[tuple[int, bool, Orders | None], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        alike[row.options, row.unrelated, row.orders].append(number)
    return [_block(rows, numbers) for (options, _, _), numbers in alike.items() if options > 1]


def _block(rows: Sequence[OptionRow], numbers: list[int]) -> Block:
    first = rows[numbers[0]]
    options, orders = first.options, np.array(first.shown, dtype=np.int64)
    # None becomes NaN.
    chosen = np.array([rows[number].selected_positions for number in numbers], dtype=np.float64)
    read = ~np.isnan(chosen)
    place = np.where(read, chosen, UNREAD).astype(np.int64)
    wrong = read & ((place < 0) | (place >= options))
    if wrong.any():
        row, trial = (int(where[0]) for where in np.nonzero(wrong))
        raise ValueError(
            f"Item {rows[numbers[row]].item}: position {place[row, trial]} was chosen in trial {trial + 1}, but its "
            f"options stand in positions 0 to {options - 1}."
        )
    option = np.where(read, orders[np.arange(len(orders)), place], UNREAD)
    return Block(
        rows=np.array(numbers), options=options, unrelated=first.unrelated, rotated=first.orders is None,
        orders=orders, place=place, option=option,
    )  # fmt: skip


def without_unrelated(block: Block) -> tuple[Block, Block]:
    """The same trials as if the unrelated option had not been there: two blocks of one option less, whose scores are
    to be averaged.

    A trial that chose it says nothing of the others and does not count; the places behind it move up by one. The
    unrelated option first and last leaves the same order of the others, so that N trials show N - 1 orders, one of them
    twice: each of the two blocks takes one of these two trials, or both the one that counts. Of other orders than the
    rotations every trial counts alike, and the two blocks are one.
    """
    own = block.options - 1
    where = np.argmax(block.orders == own, axis=1)
    kept = block.counts & (block.option != own)
    place = np.where(kept, block.place - (block.place > where), UNREAD)
    option = np.where(kept, block.option, UNREAD)
    if not block.rotated:
        orders = block.orders[block.orders != own].reshape(-1, own)
        one = Block(
            rows=block.rows, options=own, unrelated=False, rotated=False, orders=orders, place=place, option=option
        )
        return one, one
    trial = np.tile(np.arange(own), (len(place), 1))
    again = trial.copy()
    trial[:, -1] = np.where(kept[:, own - 1], own - 1, own)
    again[:, -1] = np.where(kept[:, own], own, own - 1)

    def of(trials: IntArray) -> Block:
        return Block(
            rows=block.rows,
            options=own,
            unrelated=False,
            rotated=True,
            orders=np.array(rotations(own), dtype=np.int64),
            place=np.take_along_axis(place, trials, axis=1),
            option=np.take_along_axis(option, trials, axis=1),
        )

    return of(trial), of(again)


def tallies(block: Block) -> Tallies:
    weight = block.counts.astype(np.float64)
    return Tallies(
        places=counted(block.place, weight, block.options), options=counted(block.option, weight, block.options)
    )


def counted(chosen: IntArray, weight: FloatArray, options: int) -> FloatArray:
    """Rows x options: the summed weight of each choice."""
    rows = len(chosen)
    cell = np.arange(rows)[:, None] * options + np.maximum(chosen, 0)
    sums = np.bincount(cell.ravel(), weights=weight.ravel(), minlength=rows * options)
    return sums.astype(np.float64, copy=False).reshape(rows, options)


def scores(tally: Tallies) -> OptionScores:
    """Equations 1 to 6 of the paper over the trials read; 0 everywhere for a row with none, as the authors count."""
    usable = tally.places.sum(axis=-1)
    share = tally.places / np.where(usable > 0, usable, 1.0)[..., None]
    entropy = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1)
    # Zero entropy is a negative zero here, and rounding may pass 1.
    llm = np.clip(entropy / np.log2(tally.places.shape[-1]), 0.0, 1.0) + 0.0
    choice = np.minimum(tally.options.max(axis=-1) / np.where(usable > 0, usable, 1.0), 1.0)
    total = llm + choice
    return OptionScores(llm=llm, choice=choice, grade=2 * llm * choice / np.where(total > 0, total, 1.0))


def item_numbers(rows: Iterable[OptionRow]) -> IntArray:
    """Of each row the number of its item, from 0 in the order met."""
    number: dict[str, int] = {}
    return np.array([number.setdefault(row.item, len(number)) for row in rows], dtype=np.int64)
