"""Battles of two models, from files and frames of anybody's making, as comparisons to be rated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from evenhand.benchmarks.data_error import COLUMN, EMPTY, TWICE, lmms_eval_fault
from evenhand.benchmarks.files.rows import unpacked_name
from evenhand.domain.verdict import Reason
from evenhand.exchange.battle_completing import completed, forms_of_files, kinds_of
from evenhand.exchange.battle_notes import (
    NO_RATER,
    RowFacts,
    in_vain_notes,
    name_notes,
    order_notes,
    other_notes,
    partner_notes,
    repeat_notes,
    space_notes,
    twice_notes,
    unit_notes,
)
from evenhand.exchange.battles.column_source import ColumnSource, Source, open_columns
from evenhand.exchange.battles.columns import (
    Labels,
    Sides,
    VerdictColumns,
    items_of,
    length_difference,
    probabilities_of,
    raters_of,
    sides_of,
    soft_verdicts_of,
    verdicts_of,
    weights_of,
)
from evenhand.exchange.battles.layout import LENGTHS, PAIRS, BattleColumns, Layout, layout_of
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.file_form import RaterKind, plain_id
from evenhand.exchange.judgements.preference_words import NO_VERDICTS, REASONS, read_reason
from evenhand.exchange.peers.alpaca_battles import alpaca_battles
from evenhand.exchange.peers.arena_battles import arena_battles
from evenhand.exchange.peers.arena_hard_battles import arena_hard_battles
from evenhand.exchange.peers.battles import InVain, Peer, PeerBattles, name_in
from evenhand.exchange.peers.judgement_battles import exported_battles, judgement_battles
from evenhand.exchange.peers.mt_bench_battles import mt_bench_battles
from evenhand.exchange.winners import WinnerAs
from evenhand.format.words import spelling_notes
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import crossing

if TYPE_CHECKING:
    import polars as pl

Repeats: TypeAlias = Literal["share", "count"]
"""Whether rows that show one rater the same two answers in the same order again share one weight, as replicates in the
ledger do, or each counts."""

_PEERS: tuple[Peer, ...] = (
    arena_battles,
    alpaca_battles,
    mt_bench_battles,
    arena_hard_battles,
    judgement_battles,
    exported_battles,
)

TYPED = ("games", "models", "preference", "g1_winner", "g2_winner")
"""Columns of theirs in which a cell of another type than the others must not be passed over."""


def battles_of(table: ColumnSource, columns: BattleColumns) -> PeerBattles:
    """As a known tool's, or the table as it is; so too where the user names the columns of models or winners.

    Raises ExchangeError where a row of a known tool's table does not fit.
    """
    if columns.model_a is None and columns.model_b is None and columns.winner is None:
        for peer in _PEERS:
            found = peer(table, columns)
            if found is not None:
                return found
    return PeerBattles(table=table, columns=columns)


def _decided(battles: PeerBattles, layout: Layout) -> PeerBattles:
    """Without the rows of which neither winner nor verdict is told: those were shown in vain."""
    table = battles.table
    told = [name for name in (layout.winner, layout.verdict) if name is not None]
    undecided = np.logical_and.reduce([blank(table, name) for name in told])
    if not undecided.any():
        return battles
    if undecided.all():
        raise table.fault(NO_VERDICTS.format("` and `".join(told)), code=EMPTY)
    kept = np.flatnonzero(~undecided)
    lacking = np.flatnonzero(undecided).tolist()
    reasons = table.cells(table.one_of("reason") or "")
    sides = [table.take(name) for name in layout.pair]

    def take(name: str) -> "pl.Series":
        return table.take(name).gather(kept)

    raters = None if layout.rater is None else table.take(layout.rater)
    in_vain = tuple(
        InVain(
            models=_names_in(table, layout.pair, sides, row),
            reason=_reason(table, reasons[row], row),
            rater=None if raters is None else plain_id(raters[row]),
        )
        for row in lacking
    )
    return replace(
        battles,
        table=replace(
            table,
            take=take,
            places=[row + 1 if table.places is None else table.places[row] for row in kept.tolist()],
            as_read=None
            if table.as_read is None
            else {name: [cells[row] for row in kept.tolist()] for name, cells in table.as_read.items()},
        ),
        in_vain=(*battles.in_vain, *in_vain),
    )


def blank(table: ColumnSource, name: str) -> npt.NDArray[np.bool_]:
    """Of each row: whether the column says nothing."""
    import polars as pl

    column = table.take(name)
    if column.dtype == pl.String:
        column = column.str.strip_chars().replace("", None)
    empty = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
    return empty.to_numpy()


def _names_in(table: ColumnSource, pair: tuple[str, str], sides: "Sequence[pl.Series]", row: int) -> tuple[str, str]:
    one, other = (name_in(table, column, side[row], row=row + 1) for column, side in zip(pair, sides, strict=True))
    return one.strip(), other.strip()


def _reason(table: ColumnSource, said: object, row: int) -> Reason:
    reason = read_reason(said)
    if reason is None:
        raise table.fault(f"The column `reason` is {said!r}; one of {', '.join(REASONS)} is expected.", row=row + 1)
    return reason


__all__ = [
    "AS_NAMED",
    "BattleColumns",
    "BattleTable",
    "Repeats",
    "beside_others",
    "joined_tables",
    "read_battle_files",
    "read_battles",
]

AS_NAMED = BattleColumns()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BattleTable:
    comparisons: Comparisons
    """In the file's order, without the rows that set a model against itself; `self_battles` counts those."""
    rows: int
    """Read, self-battles included."""
    notes: tuple[str, ...]
    """Sentences: which columns were taken for what, and what was left out."""
    layout: Layout
    name: str
    """The file's, or "a frame"."""
    digest: str | None
    """SHA-256 of the file; None for a frame."""
    verdicts: int
    """That the comparisons are made of: as many, unless another tool's row is several of ours."""
    in_vain: tuple[InVain, ...]
    """Showings that the file says gave no verdict."""
    item_name: Callable[[int], str]
    """By its number, what the file calls an item."""
    item_names: Callable[[], Mapping[int, str]]
    """All of those, by number; none where no items are named."""
    showings: Comparisons | None = None
    """What each row joins, where the file tells that: the same models and items, a row for each vote."""
    shown_in_vain: int = 0
    """Showings that were joined and have no vote."""
    each_counted: Comparisons | None = None
    """Where repeats share a weight: the rows as they are if each counts in full."""
    kinds: Mapping[str, RaterKind] = field(default_factory=dict[str, RaterKind])
    """Of raters, where the file or the user says it."""

    def kind_of(self, rater: str) -> RaterKind:
        return self.kinds.get(rater, "human")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cells:
    sides: Sides
    verdicts: VerdictColumns
    items: Labels | None
    raters: Labels | None
    clusters: Labels | None

    def spaced(self, layout: Layout) -> dict[str, int]:
        """Rows with spaces around a cell."""
        found = {"models": self.sides.spaced, layout.winner or "winner": self.verdicts.spaced}
        for name, labels in ((layout.item, self.items), (layout.rater, self.raters)):
            if name is not None and labels is not None:
                found[name] = labels.spaced
        return found


def read_battles(source: Source, *, columns: BattleColumns = AS_NAMED, repeats: Repeats = "share") -> BattleTable:
    """From a path (CSV, TSV, JSONL, JSON, Parquet, packed with gzip or not; `-` is the standard input), a frame, or
    columns that are open.

    Columns model_a, model_b and winner, or left, right and winner; a `verdict` of +2 .. -2 may stand for the winner.
    Optional: item or id, rater, first_shown, weight, length_a with length_b (words). Other tools' tables are told by
    their columns: Chatbot Arena's, AlpacaEval's annotations, judgements of MT-bench, of Arena-Hard and our own.
    `repeats` says whether rows of one item, pair, rater and order share a weight. Raises ExchangeError, one sentence
    that names the place, on anything that does not fit.
    """
    asked = columns
    named = [name for name in (columns.model_a, columns.model_b, columns.winner) if name is not None]
    texts = (*PAIRS[0], *PAIRS[1], "winner", "first_shown", *named, *TYPED)
    given = source if isinstance(source, ColumnSource) else open_columns(source, texts=texts)
    if not named and (foreign := lmms_eval_fault(given.names)) is not None:
        raise given.fault(foreign, code=COLUMN)
    battles = battles_of(given, columns)
    battles = replace(battles, columns=replace(battles.columns, soft=asked.soft))
    peer_made = battles.table is not given
    battles, layout = completed(battles, layout_of(battles.table, battles.columns), asked)
    kinds = kinds_of(given, layout.rater, asked)
    battles = _decided(battles, layout)
    table, columns = battles.table, battles.columns
    # What `export --battles` wrote says it in words.
    in_words = "words" if layout.joined else None
    cells = _cells(table, layout, columns.winner_as or in_words, columns.winner_words)
    in_vain = tuple(replace(one, models=_in_one_spelling(one.models)) for one in battles.in_vain)
    comparisons = _with_models(_comparisons(battles, layout, cells), in_vain)
    # Another tool's reader that gives weights has shared them already.
    shared_before = peer_made and layout.weight is not None
    each_counted = comparisons
    comparisons, repeated = (comparisons, 0) if shared_before else with_repeats(comparisons, repeats)
    showings = None if battles.showings is None else _showings(battles.showings, comparisons.models)
    facts = RowFacts.of(comparisons)
    notes = (
        *battles.notes,
        *in_vain_notes(in_vain),
        *unit_notes(facts, layout, columns, table.names),
        *repeat_notes(repeated, layout.item, shared=repeats == "share"),
        *(order_notes(cells.sides, layout, told=showings is not None) if battles.order_known else ()),
        *([] if cells.verdicts.note is None else [cells.verdicts.note]),
        *other_notes(facts, layout),
        *space_notes(cells.spaced(layout)),
        *spelling_notes(cells.sides.respelled),
        *name_notes(comparisons.models),
        *partner_notes(cells.sides, layout, columns),
        *twice_notes(comparisons, shared=bool(repeated) and repeats == "share"),
    )
    name, digest = ("a frame", None) if table.file is None else (table.file.path.name, table.file.digest)
    return BattleTable(
        comparisons=comparisons,
        rows=len(comparisons) + comparisons.self_battles,
        notes=notes,
        layout=layout,
        name=name,
        digest=digest,
        verdicts=len(comparisons) if battles.verdicts is None else battles.verdicts,
        in_vain=in_vain,
        item_name=partial(_item_name, table, layout.item, cells.items),
        item_names=partial(_item_names, table, layout.item, cells.items),
        showings=showings,
        shown_in_vain=0 if battles.showings is None else len(battles.showings.in_vain),
        each_counted=None if comparisons is each_counted else replace(each_counted, self_battles=0),
        kinds=kinds,
    )


def read_battle_files(
    paths: Sequence[Path], *, columns: BattleColumns = AS_NAMED, repeats: Repeats = "share"
) -> tuple[BattleTable, ...]:
    """Each of them; a column that only some have is asked of those. Raises ExchangeError, Misuse."""
    every = tuple(dict.fromkeys(paths))
    return tuple(
        read_battles(path, columns=form, repeats=repeats)
        for path, form in zip(every, forms_of_files(every, columns), strict=True)
    )


def joined_tables(tables: Sequence[BattleTable]) -> BattleTable:
    """All of them as one: models, items and raters of one name are the same, and where a table names no rater its file
    is one. What only some tell of all rows (items, levels, lengths) is left out."""
    if len(tables) == 1:
        return tables[0]
    tables = [beside_others(one) for one in tables]
    names = _CommonNames.of(tables)
    shown = [one.comparisons if one.showings is None else one.showings for one in tables]
    several = any(one.showings is not None for one in tables)
    return replace(
        tables[0],
        comparisons=names.stacked([one.comparisons for one in tables]),
        rows=sum(one.rows for one in tables),
        notes=tuple(f"{one.name}: {note}" for one in tables for note in one.notes),
        name=" and ".join(one.name for one in tables),
        digest=None,
        verdicts=sum(one.verdicts for one in tables),
        in_vain=tuple(each for one in tables for each in one.in_vain),
        item_name=names.items.__getitem__,
        item_names=lambda: dict(enumerate(names.items)),
        showings=names.stacked(shown) if several else None,
        shown_in_vain=sum(one.shown_in_vain for one in tables),
        each_counted=None,
        kinds=_joined_kinds(tables),
    )


def beside_others(table: BattleTable) -> BattleTable:
    """A table among several: where it names no rater, its file is one."""
    if table.comparisons.raters:
        return table
    rater = unpacked_name(Path(table.name)).stem
    one = f"No rater column: its rows are those of one rater, {rater}, and none is taken for a repeat of another"
    nobody = np.zeros(len(table.comparisons), np.int32)
    return replace(
        table,
        comparisons=replace(table.comparisons, rater=nobody, raters=(rater,)),
        notes=tuple(note.replace(NO_RATER, one) for note in table.notes),
    )


def _joined_kinds(tables: Sequence[BattleTable]) -> dict[str, RaterKind]:
    found: dict[str, RaterKind] = {}
    for one in tables:
        for name in one.comparisons.raters:
            if found.setdefault(name, one.kind_of(name)) != one.kind_of(name):
                raise ExchangeError(f"The rater `{name}` is a person in one file and a model in another.", code=TWICE)
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _CommonNames:
    """By which several tables become one."""

    models: tuple[str, ...]
    items: tuple[str, ...]
    raters: tuple[str, ...]
    items_of: tuple[Mapping[int, str] | None, ...]
    """Of each table, by its own numbers; None where it names none."""
    raters_of: tuple[Mapping[int, str], ...]

    @classmethod
    def of(cls, tables: Sequence[BattleTable]) -> "_CommonNames":
        items = tuple(None if one.comparisons.item is None else one.item_names() for one in tables)
        raters = tuple(dict(enumerate(one.comparisons.raters)) for one in tables)
        return cls(
            models=tuple(sorted({name for one in tables for name in one.comparisons.models})),
            items=tuple(dict.fromkeys(name for some in items if some is not None for name in some.values())),
            raters=tuple(dict.fromkeys(name for some in raters for name in some.values())),
            items_of=items,
            raters_of=raters,
        )

    def stacked(self, tables: Sequence[Comparisons]) -> Comparisons:
        of = [_named(one, self.models, whole=True) for one in tables]
        judged = [np.zeros(len(one), np.int32) if one.rater is None else one.rater for one in of]
        values = [one.value for one in of if one.value is not None]
        return Comparisons(
            models=self.models,
            model_a=np.concatenate([one.model_a for one in of]),
            model_b=np.concatenate([one.model_b for one in of]),
            sign=np.concatenate([one.sign for one in of]),
            weight=_filled([one.weight for one in of], of, 1.0),
            item=_recoded([one.item for one in of], self.items_of, self.items),
            first=_filled([one.first for one in of], of, 0),
            value=np.concatenate(values) if len(values) == len(of) else None,
            length=_filled([one.length for one in of], of, np.nan),
            soft=_filled([one.soft for one in of], of, np.nan),
            rater=_recoded(judged, self.raters_of, self.raters),
            raters=self.raters,
            self_battles=sum(one.self_battles for one in of),
        )


def _recoded(
    columns: Sequence[Codes | None], names_of: Sequence[Mapping[int, str] | None], names: Sequence[str]
) -> Codes | None:
    """One below the other, by the common names; None where a part has none."""
    number = {name: code for code, name in enumerate(names)}
    parts: list[Codes] = []
    for codes, own in zip(columns, names_of, strict=True):
        if codes is None or own is None:
            return None
        known = np.zeros(max(own, default=-1) + 1, np.int32)
        for old, name in own.items():
            known[old] = number[name]
        parts.append(known[codes])
    return np.concatenate(parts)


def _filled(columns: Sequence[Any], of: Sequence[Comparisons], usual: float) -> Any:
    """One below the other; None where no part has it."""
    known = [one for one in columns if one is not None]
    if not known:
        return None
    return np.concatenate(
        [
            np.full(len(part), usual, known[0].dtype) if one is None else one
            for one, part in zip(columns, of, strict=True)
        ]
    )


def _showings(battles: PeerBattles, models: Sequence[str]) -> Comparisons:
    layout = layout_of(battles.table, battles.columns)
    found = _comparisons(battles, layout, _cells(battles.table, layout, None, {}))
    return _named(found, sorted({*found.models, *models}), whole=True)


def _item_name(table: ColumnSource, column: str | None, items: Labels | None, code: int) -> str:
    if column is None or items is None:
        return str(code)
    return _called(table.take(column)[int((items.codes == code).argmax())])


def _item_names(table: ColumnSource, column: str | None, items: Labels | None) -> dict[int, str]:
    if column is None or items is None:
        return {}
    cells = table.take(column)
    codes, first = np.unique(items.codes, return_index=True)
    return {int(code): _called(cells[int(row)]) for code, row in zip(codes, first, strict=True)}


def _called(cell: object) -> str:
    return (cell.decode() if isinstance(cell, bytes) else str(cell)).strip()


def _cells(table: ColumnSource, layout: Layout, winner_as: WinnerAs | None, words: Mapping[str, str]) -> _Cells:
    sides = sides_of(table, layout)
    verdicts = verdicts_of(table, layout, sides.models, winner_as, words)
    if not len(verdicts.sign):
        raise table.fault("There are no rows; at least one battle is needed.", code=EMPTY)
    return _Cells(
        sides=sides,
        verdicts=verdicts,
        items=None if layout.item is None else items_of(table, layout.item),
        raters=None if layout.rater is None else raters_of(table, layout.rater),
        clusters=None if layout.cluster is None else items_of(table, layout.cluster, what="cluster"),
    )


def _in_one_spelling(models: tuple[str, str]) -> tuple[str, str]:
    one, other = (normalize("NFC", name) for name in models)
    return one, other


def _with_models(comparisons: Comparisons, in_vain: Sequence[InVain]) -> Comparisons:
    """With the names of models that were shown in vain only: they too belong on the board."""
    return _named(comparisons, sorted({*comparisons.models, *(name for one in in_vain for name in one.models)}))


def _named(comparisons: Comparisons, names: Sequence[str], *, whole: bool = False) -> Comparisons:
    """With these names of models; `whole`: however they are ordered."""
    if not whole and len(names) == len(comparisons.models):
        return comparisons
    number = {name: code for code, name in enumerate(names)}
    code = np.array([number[name] for name in comparisons.models], dtype=np.int32)
    a, b = code[comparisons.model_a], code[comparisons.model_b]
    return replace(comparisons, models=tuple(names), model_a=a, model_b=b)


def with_repeats(comparisons: Comparisons, how: Repeats) -> tuple[Comparisons, int]:
    """With the weights that `how` gives repeats, and how many rows repeat an earlier one.

    Without items, or without raters, no row is known to repeat another: each may be another rater's.
    """
    if comparisons.item is None or comparisons.rater is None:
        return comparisons, 0
    models = len(comparisons.models)
    a, b = comparisons.model_a.astype(np.int64), comparisons.model_b.astype(np.int64)
    swapped = np.zeros(len(a), np.bool_) if comparisons.first is None else comparisons.first < 0
    shown = np.where(swapped, b * models + a, a * models + b)
    keys = crossing(comparisons.item, comparisons.rater).astype(np.int64) * models**2 + shown
    _, place = np.unique(keys, return_inverse=True)
    weight = np.ones(len(a)) if comparisons.weight is None else comparisons.weight
    times = np.maximum(np.bincount(place.ravel(), weights=weight > 0), 1.0)
    again = int((times - 1).sum())
    if not again or how == "count":
        return comparisons, again
    return replace(comparisons, weight=weight / times[place.ravel()]), again


def _comparisons(battles: PeerBattles, layout: Layout, cells: _Cells) -> Comparisons:
    table = battles.table
    sides, verdicts, items, raters = cells.sides, cells.verdicts, cells.items, cells.raters
    apart = sides.one != sides.other
    if not apart.any():
        sentence = "Every row sets a model against itself; battles of two models are needed."
        raise table.fault(sentence, code=EMPTY)
    kept = slice(None) if apart.all() else apart
    weight = None if layout.weight is None else weights_of(table, layout.weight)[kept]
    if weight is not None and not weight.any():
        sentence = f"Every weight in the column `{layout.weight}` is 0; at least one battle must count."
        raise table.fault(sentence, code=EMPTY)
    probability = None if layout.probability is None else probabilities_of(table, layout.probability)[kept]
    lengths = length_difference(table, layout.lengths)[kept] if len(layout.lengths) == len(LENGTHS) else None
    return Comparisons(
        models=sides.models,
        model_a=sides.one[kept],
        model_b=sides.other[kept],
        sign=verdicts.sign[kept],
        weight=weight,
        item=None if items is None else items.codes[kept],
        cluster=None if cells.clusters is None else cells.clusters.codes[kept],
        cluster_noun="item" if cells.clusters is None else layout.cluster or "item",
        first=None if layout.joined or not battles.order_known else sides.first[kept],
        value=None if verdicts.value is None else verdicts.value[kept],
        length=lengths,
        probability=probability,
        soft=None if layout.soft is None else soft_verdicts_of(table, layout.soft)[kept],
        rater=None if raters is None else raters.codes[kept],
        raters=() if raters is None else raters.names,
        self_battles=len(apart) - int(np.count_nonzero(apart)),
    )
