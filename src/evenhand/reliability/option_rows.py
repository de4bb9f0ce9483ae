"""One prompt whose options were shown to a judge in every rotation, and which of them it chose each time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

UNREAD = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRow:
    item: str
    selected_positions: tuple[int | None, ...]
    """Of each rotation, in the order of `rotations`: the place chosen, from 0, or None where nothing was read."""
    unrelated: bool = False
    """Whether one of the options is the answer to another prompt."""
    replicate: int = 0

    @property
    def options(self) -> int:
        """With the unrelated one."""
        return len(self.selected_positions)

    @property
    def selected_options(self) -> tuple[int | None, ...]:
        shown = rotations(self.options, unrelated=self.unrelated)
        return tuple(
            None if place is None else order[place] for place, order in zip(self.selected_positions, shown, strict=True)
        )


@cache
def rotations(options: int, *, unrelated: bool = False) -> tuple[tuple[int, ...], ...]:
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
    orders: IntArray
    """Showings x places: the option id shown there."""
    showing: IntArray
    """Of each trial: which of the orders it was. Two trials of one showing share its weight."""
    place: IntArray
    option: IntArray
    """Both `UNREAD` where no option that counts was chosen."""

    def read_in_showing(self) -> IntArray:
        """Rows x showings: how many of its trials were read."""
        read = np.zeros((len(self.rows), len(self.orders)), dtype=np.int64)
        for trial, showing in enumerate(self.showing):
            read[:, showing] += self.place[:, trial] != UNREAD
        return read


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tallies:
    """How often each place and each option was chosen; rows x options, by weight."""

    places: FloatArray
    options: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    llm: FloatArray
    choice: FloatArray
    grade: FloatArray


def blocks(rows: Sequence[OptionRow]) -> list[Block]:
    """Rows of one option are in none. Raises ValueError where a place chosen was not offered."""
    alike: dict[tuple[int, bool], list[int]] = {}
    for number, row in enumerate(rows):
        if row.options > 1:
            alike.setdefault((row.options, row.unrelated), []).append(number)
    return [_block(rows, numbers, options, unrelated) for (options, unrelated), numbers in alike.items()]


def _block(rows: Sequence[OptionRow], numbers: list[int], options: int, unrelated: bool) -> Block:
    orders = np.array(rotations(options, unrelated=unrelated), dtype=np.int64)
    place = np.array(
        [[UNREAD if one is None else one for one in rows[number].selected_positions] for number in numbers],
        dtype=np.int64,
    )
    asked = np.array([[one is not None for one in rows[number].selected_positions] for number in numbers])
    wrong = asked & ((place < 0) | (place >= options))
    if wrong.any():
        row, trial = (int(where[0]) for where in np.nonzero(wrong))
        item, chosen = rows[numbers[row]].item, int(place[row, trial])
        raise ValueError(
            f"Item {item}: place {chosen} was chosen in trial {trial + 1}, but its options stand in places 0 to "
            f"{options - 1}."
        )
    option = orders[np.arange(options), place]
    option[place == UNREAD] = UNREAD
    return Block(
        rows=np.array(numbers), options=options, orders=orders, showing=np.arange(options), place=place, option=option
    )


def without_unrelated(block: Block) -> Block:
    """The same trials as if the unrelated option (the one with the last id) had not been there.

    A trial that chose it says nothing about the others. The unrelated option first or last leaves the same order of
    the others, so these two trials are one showing.
    """
    own = block.options - 1
    orders = np.array([[one for one in order if one != own] for order in block.orders.tolist()], dtype=np.int64)
    where = np.argmax(block.orders == own, axis=1)
    place = block.place - (block.place > where)
    kept = (block.option != own) & (block.option != UNREAD)
    showing = np.minimum(np.arange(block.options), own - 1)
    return Block(
        rows=block.rows,
        options=own,
        orders=orders[:own],
        showing=showing,
        place=np.where(kept, place, UNREAD),
        option=np.where(kept, block.option, UNREAD),
    )


def tallies(block: Block) -> Tallies:
    read = block.read_in_showing()[:, block.showing]
    weight = np.where(block.place == UNREAD, 0.0, 1.0 / np.maximum(read, 1))
    return Tallies(
        places=counted(block.place, weight, block.options), options=counted(block.option, weight, block.options)
    )


def counted(chosen: IntArray, weight: FloatArray, options: int) -> FloatArray:
    """Rows x options: the summed weight of each choice."""
    rows = len(chosen)
    cell = np.arange(rows)[:, None] * options + np.maximum(chosen, 0)
    sums = np.bincount(cell.ravel(), weights=weight.ravel(), minlength=rows * options)
    return sums.astype(np.float64, copy=False).reshape(rows, options)


def scores(tally: Tallies) -> Scores:
    """Equations 1 to 6 of the paper over the trials read; 0 everywhere for a row with none, as the authors count."""
    usable = tally.places.sum(axis=-1)
    share = tally.places / np.where(usable > 0, usable, 1.0)[..., None]
    entropy = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1)
    # Zero entropy is a negative zero here, and rounding may pass 1.
    llm = np.clip(entropy / np.log2(tally.places.shape[-1]), 0.0, 1.0) + 0.0
    choice = np.minimum(tally.options.max(axis=-1) / np.where(usable > 0, usable, 1.0), 1.0)
    total = llm + choice
    return Scores(llm=llm, choice=choice, grade=2 * llm * choice / np.where(total > 0, total, 1.0))


def item_numbers(rows: Iterable[OptionRow]) -> IntArray:
    """Of each row the number of its item, from 0 in the order met."""
    number: dict[str, int] = {}
    return np.array([number.setdefault(row.item, len(number)) for row in rows], dtype=np.int64)


def one_option_rows(rows: Iterable[OptionRow]) -> int:
    return sum(row.options <= 1 for row in rows)
