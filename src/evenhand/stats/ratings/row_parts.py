"""Rows of many comparisons in few bytes, in parts that are looked at one after the other.

The rows of an item lie in one part, so that whatever is summed over items is the sum over the parts of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.codes import Codes, Signs
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import PairTable, pair_table

_DENSE = 20_000_000
"""Ordered pairs of models up to which a table of them all is looked up."""
_PARTS = 1 << 15
_COUNTED = 1 << 16
"""Items up to which numpy sorts their numbers by counting."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NarrowRows:
    """Columns as of Comparisons, each in as few bytes as its numbers need."""

    model_a: npt.NDArray[np.unsignedinteger[Any]]
    model_b: npt.NDArray[np.unsignedinteger[Any]]
    sign: Signs
    item: Codes | None
    first: Signs | None
    """None: model_a was shown first in every row."""
    weight: FloatArray | None
    rater: Codes | None

    def __len__(self) -> int:
        return len(self.sign)

    def rows(self, kept: "npt.NDArray[np.bool_] | npt.NDArray[np.intp] | slice") -> "NarrowRows":
        return replace(self, **{name: column[kept] for name, column in self.columns().items()})

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """Those there are, by name."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return {name: column for name, column in named.items() if column is not None}

    def same_as(self, other: "NarrowRows") -> bool:
        """Row by row."""
        theirs = other.columns()
        return all(bool((column == theirs[name]).all()) for name, column in self.columns().items())


def narrowed(codes: npt.NDArray[Any], most: int) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Codes below `most` in as few bytes as they need."""
    return codes.astype(np.min_scalar_type(max(most - 1, 0)))


def stacked(parts: Sequence[NarrowRows]) -> NarrowRows:
    if len(parts) == 1:
        return parts[0]
    columns = [part.columns() for part in parts]
    return replace(parts[0], **{name: np.concatenate([of[name] for of in columns]) for name in columns[0]})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsInParts:
    """Comparisons whose parts are made when they are looked at; items are numbered from 0 within a part."""

    models: tuple[str, ...]
    raters: tuple[str, ...]
    parts: tuple[NarrowRows, ...]
    items: tuple[Codes, ...]
    """Of each part: of its items the numbers that the whole knows them by; empty where no items are named."""
    knows_first: bool

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def named(self) -> bool:
        """Whether items are."""
        return bool(self.items)

    @property
    def weighted(self) -> bool:
        return any(part.weight is not None for part in self.parts)

    def __iter__(self) -> Iterator[Comparisons]:
        return map(self._widened, self.parts)

    def counted(self) -> Iterator[Comparisons]:
        """The same without the rows of weight 0."""
        for part in self:
            yield part if part.weight is None or part.weight.all() else part.rows(part.weight > 0)

    def _widened(self, part: NarrowRows) -> Comparisons:
        first = np.ones(len(part), np.int8) if part.first is None else part.first
        return Comparisons(
            models=self.models,
            model_a=part.model_a.astype(np.int32),
            model_b=part.model_b.astype(np.int32),
            sign=part.sign,
            weight=part.weight,
            item=part.item,
            first=first if self.knows_first else None,
            rater=part.rater,
            raters=self.raters,
        )

    def chosen(self, rows: npt.NDArray[np.bool_]) -> Comparisons:
        """As one, those of models of which `rows` (M x M) says so; items are numbered throughout."""
        if not rows.any():
            return self._widened(self.parts[0].rows(slice(0, 0)))
        return self._joined([part.rows(rows[part.model_a, part.model_b]) for part in self.counted()])

    def whole(self) -> Comparisons:
        return self._joined(list(self))

    def _joined(self, parts: Sequence[Comparisons]) -> Comparisons:
        begun = np.cumsum([0, *map(len, self.items)])
        columns: dict[str, list[npt.NDArray[Any]]] = {}
        for place, part in enumerate(parts):
            if part.item is not None:
                columns.setdefault("item", []).append((part.item + begun[place]).astype(np.int32))
            for name in ("model_a", "model_b", "sign", "weight", "first", "rater"):
                column = getattr(part, name)
                if column is None and name == "weight" and self.weighted:
                    column = np.ones(len(part))
                if column is not None:
                    columns.setdefault(name, []).append(column)
        return replace(parts[0], **{name: np.concatenate(of) for name, of in columns.items()})

    def with_weights(self, weights: "Sequence[FloatArray | None]") -> "RowsInParts":
        parts = zip(self.parts, weights, strict=True)
        return replace(self, parts=tuple(replace(part, weight=weight) for part, weight in parts))


def by_items(parts: list[NarrowRows], items: int, rows_a_part: int) -> tuple[list[NarrowRows], list[Codes]]:
    """Parts in which the rows of an item lie together, with the items of each; those given know an item by one number.

    Parts that share no item stay what they are. The list that is given is used up, so that no row is held twice.
    """
    if any(part.item is None for part in parts):
        return parts, []
    own = [_own_items(part.item, items) for part in parts if part.item is not None]
    if sum(map(len, own)) > np.count_nonzero(np.bincount(np.concatenate(own), minlength=items)):
        parts = _regrouped(parts, items, rows_a_part)
        own = [_own_items(part.item, items) for part in parts if part.item is not None]
    place = np.zeros(items, dtype=np.int32)
    for number, (part, mine) in enumerate(zip(parts, own, strict=True)):
        item = part.item
        assert item is not None
        place[mine] = np.arange(len(mine), dtype=np.int32)
        del part
        parts[number] = _sorted(replace(parts[number], item=place.take(item)), len(mine))
    return parts, own


def _sorted(part: NarrowRows, items: int) -> NarrowRows:
    """By item, where that costs little: sums by item are then sums of what lies together."""
    assert part.item is not None
    if items > _COUNTED or bool((part.item[:-1] <= part.item[1:]).all()):
        return part
    return part.rows(np.argsort(part.item.astype(np.uint16), kind="stable"))


def _own_items(item: Codes, items: int) -> Codes:
    seen = np.zeros(items, dtype=np.bool_)
    seen[item] = True
    return np.flatnonzero(seen).astype(np.int32)


def _regrouped(parts: list[NarrowRows], items: int, rows_a_part: int) -> list[NarrowRows]:
    """Items in parts of about so many rows; the list is emptied, so that no row is held twice for long."""
    rows = sum((np.bincount(part.item, minlength=items) for part in parts if part.item is not None), np.zeros(items))
    ends = np.cumsum(rows)
    size = max(rows_a_part, -(-int(ends[-1]) // _PARTS))
    part_of = ((ends - rows) // size).astype(np.uint16)
    pieces: list[list[NarrowRows]] = [[] for _ in range(int(part_of.max()) + 1)]
    while parts:
        part = parts.pop(0)
        assert part.item is not None
        to = part_of.take(part.item)
        order = np.argsort(to, kind="stable")
        bounds = np.searchsorted(to[order], np.arange(len(pieces) + 1))
        for number, (begin, end) in enumerate(pairwise(bounds.tolist())):
            if end > begin:
                pieces[number].append(part.rows(order[begin:end]))
    found: list[NarrowRows] = []
    for number, some in enumerate(pieces):
        if some:
            found.append(stacked(some))
        pieces[number] = []
    return found


def pair_sums(rows: RowsInParts) -> PairTable:
    """What `pair_table` gives of all rows with weight."""
    models = len(rows.models)
    found = pair_table(_nothing(rows)).table
    for part in rows.counted():
        found = _added(found, pair_table(part).table, models)
    return found


def _nothing(rows: RowsInParts) -> Comparisons:
    none = np.zeros(0, dtype=np.int32)
    return Comparisons(models=rows.models, model_a=none, model_b=none, sign=none.astype(np.int8))


def _added(one: PairTable, other: PairTable, models: int) -> PairTable:
    keys = [table.first.astype(np.int64) * models + table.second for table in (one, other)]
    distinct, place = np.unique(np.concatenate(keys), return_inverse=True)

    def sums(columns: Sequence[FloatArray]) -> FloatArray:
        found = np.zeros((len(distinct), 3))
        for begin, column in zip((0, len(one)), columns, strict=True):
            # Each table has a pair once.
            found[place[begin : begin + len(column)]] += column
        return found

    return PairTable(
        models=models,
        first=(distinct // max(models, 1)).astype(np.int32),
        second=(distinct % max(models, 1)).astype(np.int32),
        counts=sums((one.counts, other.counts)),
        squares=sums((one.squares, other.squares)),
        covariates=np.zeros((len(distinct), 0)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairPlaces:
    """Where a pair of models stands in a table of pairs that was made of rows like these."""

    models: int
    place: Codes | None
    """By first x models + second, either way round; None: there are too many."""
    keys: npt.NDArray[np.int64]

    @classmethod
    def of(cls, table: PairTable) -> "PairPlaces":
        models = table.models
        keys = table.first.astype(np.int64) * models + table.second
        place = None
        if models * models <= _DENSE:
            place = np.full(models * models, -1, dtype=np.int32)
            place[keys] = np.arange(len(keys), dtype=np.int32)
            place[table.second.astype(np.int64) * models + table.first] = np.arange(len(keys), dtype=np.int32)
        return cls(models=models, place=place, keys=keys)

    def pair(self, rows: Comparisons) -> npt.NDArray[np.int64]:
        """Of each row; every pair of theirs stands in the table."""
        a, b = rows.model_a, rows.model_b
        if self.place is not None:
            return self.place.take(a * np.int32(self.models) + b).astype(np.int64)
        low, high = np.minimum(a, b).astype(np.int64), np.maximum(a, b)
        return np.searchsorted(self.keys, low * self.models + high)

    def cell(self, rows: Comparisons) -> Codes:
        """Of each row, which of the table's counts, laid out in one line, it was counted in."""
        sign = np.where(rows.model_a > rows.model_b, -rows.sign, rows.sign)
        return (self.pair(rows) * 3 + (sign + 1)).astype(np.int32)
