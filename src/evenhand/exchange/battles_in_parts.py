"""Battles of two models from a table in parts, read a slice at a time: of each row its codes are kept, and no text."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.benchmarks.data_error import COLUMN, EMPTY, lmms_eval_fault
from evenhand.exchange.battle_notes import (
    FEW_ROWS,
    LEAST_ROWS,
    RowFacts,
    apart,
    mixed_pairs,
    name_notes,
    order_notes,
    other_notes,
    partner_notes,
    repeat_notes,
    space_notes,
    told_twice,
    unit_notes,
)
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.columns import (
    Sides,
    VerdictColumns,
    items_of,
    raters_of,
    sides_of,
    verdicts_of,
    weights_of,
)
from evenhand.exchange.battles.layout import BattleColumns, Layout, layout_of
from evenhand.exchange.battles.parts import Parts
from evenhand.exchange.battles_file import Repeats, battles_of, blank, with_repeats
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.winners import LETTERS
from evenhand.format.words import spelling_notes
from evenhand.stats.ratings.codes import WINNERS, Codes
from evenhand.stats.ratings.row_parts import NarrowRows, RowsInParts, by_items, narrowed
from evenhand.stats.ratings.sums import FloatArray

if TYPE_CHECKING:
    import polars as pl

SLICE = 2_000_000
"""Rows that are read at once."""
_WIDE = 8
"""Times as many numbers as rows: whole numbers that lie within are looked up in a table."""


class NeedsRows(Exception):
    """What sums do not tell, as a clause that names it: the rows themselves are needed. No user sees it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BattleParts:
    rows: RowsInParts
    read: int
    """Rows, self-battles included."""
    notes: tuple[str, ...]
    layout: Layout
    name: str
    digest: str
    item_name: Callable[[int], str]
    """By its number in the whole, what the files call an item."""


def read_battle_parts(
    parts: Parts,
    columns: BattleColumns,
    *,
    repeats: Repeats = "share",
    slice_rows: int = SLICE,
    told: Callable[[int, int], None] | None = None,
) -> BattleParts:
    """`told` hears how many parts are read, and of how many. Raises NeedsRows, ExchangeError."""
    whole = parts.unread()
    if (foreign := lmms_eval_fault(whole.names)) is not None and columns.model_a is None:
        raise whole.fault(foreign, code=COLUMN)
    layout = _plain_layout(whole, columns)
    reading = _Reading(layout=layout, columns=columns)
    for number, table in parts.slices(reading.used, slice_rows):
        if told is not None:
            told(number, len(parts.each))
        reading.add(table)
    if told is not None:
        told(len(parts.each), len(parts.each))
    reading.refuse_nothing(whole)
    return reading.finished(parts, repeats, slice_rows)


def _plain_layout(whole: ColumnSource, columns: BattleColumns) -> Layout:
    try:
        peer = battles_of(whole, columns)
    except ExchangeError as error:
        # Other tools' readers look into the rows.
        raise NeedsRows("the form of these tables, which is another tool's") from error
    if peer.table is not whole or peer.columns is not columns:
        raise NeedsRows("the form of these tables, which is another tool's")
    layout = layout_of(whole, columns)
    if layout.joined:
        raise NeedsRows("the column shown_first, of rows that join several showings")
    if layout.rater is not None and whole.one_of("rater_kind") is not None:
        raise NeedsRows("the column rater_kind")
    return layout


@dataclass(slots=True, kw_only=True, eq=False)
class _ItemNumbers:
    """Of items, however many tables they stand in: one name, one number."""

    seen: "list[pl.Series]" = field(default_factory=list)
    """Names of each slice; polars forgets its numbers when the last column of a kind goes."""
    kind: "pl.Categorical" = field(init=False)
    many: int = 0

    def __post_init__(self) -> None:
        import polars as pl

        self.kind = pl.Categorical(pl.Categories.random())

    def __call__(self, column: "pl.Series") -> Codes:
        import polars as pl

        if not column.dtype.is_integer():
            named = column.cast(pl.String).cast(self.kind)
            self.seen.append(named.unique())
            codes = named.to_physical().to_numpy().astype(np.int32)
        else:
            numbers = column.to_numpy()
            low, high = int(numbers.min()), int(numbers.max())
            if high - low < _WIDE * len(numbers):
                wide = numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64)
                lowest = wide.dtype.type(low)
                place = (wide - lowest).astype(np.int32)
                distinct = np.flatnonzero(np.bincount(place))
                code_of = np.zeros(high - low + 1, dtype=np.int32)
                code_of[distinct] = self._named(distinct.astype(wide.dtype) + lowest)
                codes = code_of.take(place)
            else:
                distinct, place = np.unique(numbers, return_inverse=True)
                codes = self._named(distinct).take(place)
        self.many = max(self.many, int(codes.max(initial=-1)) + 1)
        return codes

    def _named(self, distinct: "np.ndarray[tuple[int], np.dtype[np.integer[Any]]]") -> Codes:
        import polars as pl

        named = pl.Series(distinct).cast(pl.String).cast(self.kind)
        self.seen.append(named)
        return named.to_physical().to_numpy().astype(np.int32)

    def name(self, code: int) -> str:
        import polars as pl

        for names in self.seen:
            found = names.filter(names.to_physical() == code)
            if len(found):
                return str(found.cast(pl.String)[0])
        return str(code)


@dataclass(slots=True, kw_only=True, eq=False)
class _Reading:
    """What the slices so far hold."""

    layout: Layout
    columns: BattleColumns
    models: dict[str, int] = field(default_factory=dict[str, int])
    raters: dict[str, int] = field(default_factory=dict[str, int])
    items: _ItemNumbers = field(default_factory=_ItemNumbers)
    slices: list[NarrowRows] = field(default_factory=list[NarrowRows])
    read: int = 0
    untold: int | None = None
    spaced: dict[str, int] = field(default_factory=dict[str, int])
    written: set[str] = field(default_factory=set[str])
    ones: set[int] = field(default_factory=set[int])
    others: set[int] = field(default_factory=set[int])
    five_levels: bool = False

    @property
    def used(self) -> list[str]:
        """Columns."""
        layout = self.layout
        names = (*layout.pair, layout.winner, layout.verdict, layout.item, layout.rater, layout.first_shown)
        return list(dict.fromkeys(name for name in (*names, layout.weight) if name is not None))

    def add(self, table: ColumnSource) -> None:
        layout = self.layout
        sides = sides_of(table, layout)
        self._refuse_two_ways(sides.models)
        verdicts = self._verdicts(table, sides)
        items = None if layout.item is None else items_of(table, layout.item, coded=self.items)
        raters = None if layout.rater is None else raters_of(table, layout.rater)
        weight = None if layout.weight is None else weights_of(table, layout.weight)
        model = np.array([self.models.setdefault(name, len(self.models)) for name in sides.models], dtype=np.int32)
        one, other = model.take(sides.one), model.take(sides.other)
        self._note(sides, verdicts, one, other)
        if items is not None and layout.item is not None:
            self._count_spaced(layout.item, items.spaced)
        rater: Codes | None = None
        if raters is not None and layout.rater is not None:
            self._count_spaced(layout.rater, raters.spaced)
            number = [self.raters.setdefault(name, len(self.raters)) for name in raters.names]
            rater = np.array(number, dtype=np.int32).take(raters.codes)
        rows = NarrowRows(
            model_a=narrowed(one, len(self.models)),
            model_b=narrowed(other, len(self.models)),
            sign=verdicts.sign,
            item=None if items is None else items.codes,
            first=None if layout.first_shown is None else sides.first,
            weight=weight,
            rater=rater,
        )
        differ = one != other
        self.slices.append(rows if differ.all() else rows.rows(differ))

    def _refuse_two_ways(self, models: Sequence[str]) -> None:
        """Raises NeedsRows where a model is called as a word for a winner is: all rows together say what is meant."""
        if self.layout.winner is None or self.columns.winner_as is not None:
            return
        words = {*WINNERS, *LETTERS}
        alike = next((name for name in models if name.strip().lower() in words), None)
        if alike is not None:
            raise NeedsRows(f"winners beside a model that is called `{alike}`, as a word for a winner is")

    def _verdicts(self, table: ColumnSource, sides: Sides) -> VerdictColumns:
        try:
            return verdicts_of(table, self.layout, sides.models, self.columns.winner_as, self.columns.winner_words)
        except ExchangeError as error:
            told = [name for name in (self.layout.winner, self.layout.verdict) if name is not None]
            undecided = np.logical_and.reduce([blank(table, name) for name in told])
            if not undecided.any():
                raise
            place = table.fault("there is no verdict", row=int(undecided.argmax()) + 1)
            raise NeedsRows(f"rows without a verdict ({place})") from error

    def _note(self, sides: Sides, verdicts: VerdictColumns, one: Codes, other: Codes) -> None:
        self.read += len(one)
        if sides.order_untold is not None:
            self.untold = (self.untold or 0) + sides.order_untold
        self._count_spaced("models", sides.spaced)
        self._count_spaced(self.layout.winner or "winner", verdicts.spaced)
        self.written.update(sides.written)
        for seen, codes in ((self.ones, one), (self.others, other)):
            seen.update(np.flatnonzero(np.bincount(codes)).tolist())
        self.five_levels |= verdicts.value is not None

    def _count_spaced(self, what: str, rows: int) -> None:
        self.spaced[what] = self.spaced.get(what, 0) + rows

    def refuse_nothing(self, whole: ColumnSource) -> None:
        if not self.read:
            raise whole.fault("There are no rows; at least one battle is needed.", code=EMPTY)
        if not any(map(len, self.slices)):
            raise whole.fault("Every row sets a model against itself; battles of two models are needed.", code=EMPTY)
        weights = [part.weight for part in self.slices if part.weight is not None]
        if weights and not any(weight.any() for weight in weights):
            sentence = f"Every weight in the column `{self.layout.weight}` is 0; at least one battle must count."
            raise whole.fault(sentence, code=EMPTY)

    def finished(self, parts: Parts, repeats: Repeats, slice_rows: int) -> BattleParts:
        slices = [part for part in self.slices if len(part)]
        self.slices = []
        names = sorted(self.models)
        self._in_order(slices, names)
        half = _stands_twice(slices)
        grouped, own = by_items(slices, self.items.many, slice_rows)
        rows = RowsInParts(
            models=tuple(names),
            raters=tuple(sorted(self.raters)),
            parts=tuple(grouped),
            items=tuple(own),
            knows_first=True,
        )
        total = sum(float(part.weight.sum()) for part in rows.parts if part.weight is not None)
        rows, again = _with_repeats(rows, repeats)
        facts = RowFacts(
            rows=len(rows),
            items=sum(map(len, own)) if self.layout.item is not None else None,
            raters=len(self.raters),
            total=_total(rows) if repeats == "share" and again else total if self.layout.weight else None,
            five_levels=self.five_levels,
            self_battles=self.read - len(rows),
            of_one_pair=lambda: _of_one_pair(rows),
            mixed=0 if len(rows) > FEW_ROWS else sum(map(mixed_pairs, rows)),
        )
        sides = self._sides(names)
        return BattleParts(
            rows=rows,
            read=self.read,
            notes=(
                *unit_notes(facts, self.layout, self.columns, parts.names),
                *repeat_notes(again, self.layout.item, shared=repeats == "share"),
                *order_notes(sides, self.layout),
                *other_notes(facts, self.layout),
                *space_notes(self.spaced),
                *spelling_notes(sides.respelled),
                *name_notes(names),
                *partner_notes(sides, self.layout, self.columns),
                *(told_twice(half, shared=bool(again) and repeats == "share") if half else ()),
            ),
            layout=self.layout,
            name=parts.file.path.name,
            digest=parts.file.digest,
            item_name=self.items.name,
        )

    def _in_order(self, slices: list[NarrowRows], names: Sequence[str]) -> None:
        """Models and raters are numbered in the order of their names from here on."""
        new = narrowed(_places(self.models, names), len(names))
        raters = _places(self.raters, sorted(self.raters)).astype(np.int32)
        for number, part in enumerate(slices):
            slices[number] = replace(
                part,
                model_a=new.take(part.model_a),
                model_b=new.take(part.model_b),
                rater=None if part.rater is None else raters.take(part.rater),
            )

    def _sides(self, names: Sequence[str]) -> Sides:
        """What sentences need of them: the models that stand in each column."""
        return Sides(
            models=tuple(names),
            one=np.array(sorted(self.ones), dtype=np.int32),
            other=np.array(sorted(self.others), dtype=np.int32),
            first=np.zeros(0, dtype=np.int8),
            order_untold=self.untold,
            spaced=self.spaced.get("models", 0),
            written=tuple(self.written),
        )


def _places(named: Iterable[str], names: Sequence[str]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    place = {name: number for number, name in enumerate(names)}
    return np.array([place[name] for name in named], dtype=np.int64)


def _total(rows: RowsInParts) -> float:
    return sum(float(len(part)) if part.weight is None else float(part.weight.sum()) for part in rows.parts)


def _with_repeats(rows: RowsInParts, how: Repeats) -> tuple[RowsInParts, int]:
    """The rows of an item lie in one part, so that each part tells its repeats."""
    weights: list[FloatArray | None] = []
    again = 0
    for part in rows:
        found, repeated = with_repeats(part, how)
        weights.append(found.weight)
        again += repeated
    return (rows.with_weights(weights), again) if again and how == "share" else (rows, again)


def _of_one_pair(rows: RowsInParts) -> bool:
    """Whether there are several pairs of models and no item is of two of them."""
    pairs: set[tuple[int, int]] = set()
    for part in rows:
        if not apart(part, len(part)):
            return False
        one, other = int(part.model_a[0]), int(part.model_b[0])
        pairs.add((min(one, other), max(one, other)))
        same = (np.minimum(part.model_a, part.model_b) == min(one, other)) & (
            np.maximum(part.model_a, part.model_b) == max(one, other)
        )
        if not same.all():
            pairs.add((-1, -1))
    return len(pairs) > 1


def _stands_twice(slices: Sequence[NarrowRows]) -> int:
    """Where the whole table stands there twice, one half after the other or each row after itself: half its rows."""
    rows = sum(map(len, slices))
    if rows < LEAST_ROWS or rows % 2 or _all_alike(slices):
        return 0
    half = rows // 2
    return half if _same_halves(slices, half) or _same_neighbours(slices) else 0


def _all_alike(slices: Sequence[NarrowRows]) -> bool:
    first = slices[0].rows(slice(0, 1))
    return all(part.same_as(first) for part in slices)


def _same_halves(slices: Sequence[NarrowRows], half: int) -> bool:
    ends = np.cumsum([0, *map(len, slices)]).tolist()
    borders = sorted({*(end for end in ends if end <= half), *(end - half for end in ends if end >= half)})
    return all(
        _piece(slices, ends, begin, end).same_as(_piece(slices, ends, begin + half, end + half))
        for begin, end in pairwise(borders)
    )


def _piece(slices: Sequence[NarrowRows], ends: Sequence[int], begin: int, end: int) -> NarrowRows:
    """Rows that lie in one slice."""
    number = int(np.searchsorted(ends, begin, side="right")) - 1
    return slices[number].rows(slice(begin - ends[number], end - ends[number]))


def _same_neighbours(slices: Sequence[NarrowRows]) -> bool:
    """A row after itself in another slice is not looked for."""
    if any(len(part) % 2 for part in slices):
        return False
    return all(part.rows(slice(0, None, 2)).same_as(part.rows(slice(1, None, 2))) for part in slices)
