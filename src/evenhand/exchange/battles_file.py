"""Battles of two models, from files and frames of anybody's making, as comparisons to be rated."""

from dataclasses import dataclass

import numpy as np

from evenhand.exchange.battle_columns import (
    PAIRS,
    Sides,
    items_of,
    length_difference,
    pair_of,
    raters_of,
    sides_of,
    verdicts_of,
    weights_of,
)
from evenhand.exchange.column_source import ColumnSource, Source, open_columns
from evenhand.ratings.comparisons import Comparisons

_LENGTHS = ("length_a", "length_b")


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleColumns:
    """Columns under names of the file's own."""

    item: str | None = None
    """None: `item`, or `id`, where there is one."""
    rater: str | None = None
    """None: `rater` where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BattleTable:
    comparisons: Comparisons
    """In the file's order, without the rows that set a model against itself; `self_battles` counts those."""
    rows: int
    """Read, self-battles included."""
    notes: tuple[str, ...]
    """Sentences: which columns were taken for what, and what was left out."""


AS_NAMED = BattleColumns()

JOINED = "shown_first"
"""The column in which `export --battles` lists the showings that it joined to one row."""

_JOINED_NOTES = ("Each row joins the showings that its column shown_first lists, so nothing is known about order.",)


def read_battles(source: Source, *, columns: BattleColumns = AS_NAMED) -> BattleTable:
    """From a path (CSV, TSV, JSONL, JSON, Parquet) or a polars or pandas frame.

    Columns model_a, model_b and winner, or left, right and winner; a `verdict` of +2 .. -2 may stand for the winner.
    Optional: item or id, rater, first_shown, weight, length_a with length_b (words). Raises ExchangeError, one sentence
    that names the place, on anything that does not fit.
    """
    table = open_columns(source, texts=(*PAIRS[0], *PAIRS[1], "winner", "first_shown"))
    pair, verdicts = pair_of(table), verdicts_of(table)
    if not len(verdicts.sign):
        raise table.fault("There are no rows; at least one battle is needed.")
    sides = sides_of(table, pair)
    item, rater = _column(table, columns.item, "item", "id"), _column(table, columns.rater, "rater")
    raters = None if rater is None else raters_of(table, rater)
    apart = sides.one != sides.other
    if not apart.any():
        raise table.fault("Every row sets a model against itself; battles of two models are needed.")
    kept = slice(None) if apart.all() else apart
    comparisons = Comparisons(
        models=sides.models,
        model_a=sides.one[kept],
        model_b=sides.other[kept],
        sign=verdicts.sign[kept],
        weight=weights_of(table)[kept] if "weight" in table.names else None,
        item=None if item is None else items_of(table, item)[kept],
        first=None if JOINED in table.names else sides.first[kept],
        value=None if verdicts.value is None else verdicts.value[kept],
        length=length_difference(table)[kept] if set(_LENGTHS) <= set(table.names) else None,
        rater=None if raters is None else raters.columns[0][kept],
        raters=() if raters is None else raters.names,
        self_battles=len(apart) - int(np.count_nonzero(apart)),
    )
    notes = (
        *_unit_notes(comparisons, item, rater),
        *(_JOINED_NOTES if JOINED in table.names else _order_notes(sides, pair)),
        *_other_notes(comparisons, table),
    )
    return BattleTable(comparisons=comparisons, rows=len(apart), notes=notes)


def _column(table: ColumnSource, asked: str | None, *usual: str) -> str | None:
    if asked is not None and asked not in table.names:
        raise table.missing(asked, expected=f"It was asked for as the {usual[0]} column.")
    return asked or table.one_of(usual)


def _unit_notes(comparisons: Comparisons, item: str | None, rater: str | None) -> list[str]:
    notes = ["No item column: each battle is its own cluster."]
    if item is not None and comparisons.item is not None:
        notes = [f"Item column: {item} ({_counted(int(np.count_nonzero(np.bincount(comparisons.item))), 'item')})."]
    if rater is not None:
        notes.append(f"Rater column: {rater} ({_counted(len(comparisons.raters), 'rater')}).")
    return notes


def _order_notes(sides: Sides, pair: tuple[str, str]) -> list[str]:
    if sides.order_untold is None:
        return [f"No first_shown column: {pair[0]} is taken as shown first."]
    if sides.order_untold:
        where = _counted(sides.order_untold, "row")
        return [f"In {where} first_shown is empty: {pair[0]} is taken as shown first."]
    return []


def _other_notes(comparisons: Comparisons, table: ColumnSource) -> list[str]:
    notes: list[str] = []
    if comparisons.weight is not None:
        notes.append(f"Weight column: weight (sum {comparisons.total:,.6g}).")
    if comparisons.value is not None:
        notes.append("Verdict column: verdict, five levels.")
    lone = [name for name in _LENGTHS if name in table.names]
    if len(lone) == 1:
        notes.append(f"The column {lone[0]} stands alone and is not used: both length_a and length_b are needed.")
    if comparisons.self_battles:
        notes.append(f"{_counted(comparisons.self_battles, 'row')} set a model against itself: left out.")
    return notes


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
