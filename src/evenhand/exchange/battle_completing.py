"""A table of battles completed by what the user says of it: models' names for ids, and who judged."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks.data_error import TWICE
from evenhand.exchange.battles.column_source import ColumnSource, open_columns
from evenhand.exchange.battles.layout import BattleColumns, Layout
from evenhand.exchange.battles.parts import is_parted, open_parts
from evenhand.exchange.file_form import ModelNames, RaterKind, plain_id, raters_of_files
from evenhand.exchange.judgements.preferences_file import PreferenceForm
from evenhand.exchange.judgements.row import RATER_COLUMNS
from evenhand.exchange.peers.battles import PeerBattles

if TYPE_CHECKING:
    import polars as pl

_NAMED = ("item", "rater", "winner", "model_a", "model_b", "kind", "cluster")
"""Fields of BattleColumns that name a column."""


def battle_columns(form: PreferenceForm) -> BattleColumns:
    """The same of files of battles."""
    theirs = {ours: theirs for theirs, ours in form.columns.items()}
    return BattleColumns(
        item=theirs.get("item"),
        rater=theirs.get("rater"),
        winner=theirs.get("winner"),
        model_a=theirs.get("model_a"),
        model_b=theirs.get("model_b"),
        kind=theirs.get("rater_kind"),
        winner_words=form.winner_words,
        winner_as=form.winner_as,
        names=form.names,
        rater_names=form.raters,
        rater_kind=form.rater_kind,
    )


def forms_of_files(paths: Sequence[Path], columns: BattleColumns) -> tuple[BattleColumns, ...]:
    """How each is read: without the columns that only others have, and with its own rater. Raises Misuse."""
    if len(paths) == 1 and not columns.rater_names:
        return (columns,)
    tables = [open_parts(path).whole() if is_parted(path) else open_columns(path, texts=()) for path in paths]
    forms: list[BattleColumns] = []
    for table in tables:
        asked = {field: getattr(columns, field) for field in _NAMED}
        elsewhere = {
            field: None
            for field, name in asked.items()
            if name and table.one_of(name) is None and any(other.one_of(name) for other in tables)
        }
        forms.append(replace(columns, rater_names=(), **elsewhere))
    told = [
        (path, table.one_of(*((form.rater,) if form.rater else RATER_COLUMNS)) is not None)
        for path, table, form in zip(paths, tables, forms, strict=True)
    ]
    named = raters_of_files(told, columns.rater_names)
    # Who is named by the user is of the kind that the user says; the others are what their file says.
    otherwise = None if named else columns.rater_kind
    return tuple(
        replace(form, rater_names=(named[path],), rater_kind=columns.rater_kind)
        if path in named
        else replace(form, rater_kind=otherwise)
        for path, form in zip(paths, forms, strict=True)
    )


def completed(battles: PeerBattles, layout: Layout, asked: BattleColumns) -> tuple[PeerBattles, Layout]:
    """Raises ExchangeError where a model has no name, or the table says who judged and so does the user."""
    if asked.rater_names:
        if layout.rater is not None:
            raise battles.table.fault(f"The column `{layout.rater}` says who judged; leave out --rater.", code=TWICE)
        battles = replace(battles, table=_with_rater(battles.table, asked.rater_names[0]))
        layout = replace(layout, rater="rater")
    if asked.names is not None:
        battles = replace(battles, table=_with_names(battles.table, layout, asked.names))
    return battles, layout


def _with_rater(table: ColumnSource, name: str) -> ColumnSource:
    import polars as pl

    def take(column: str) -> pl.Series:
        return pl.Series("rater", [name] * len(table.take(table.names[0]))) if column == "rater" else table.take(column)

    return replace(table, names=(*table.names, "rater"), take=take, as_read=None)


def _with_names(table: ColumnSource, layout: Layout, names: ModelNames) -> ColumnSource:
    def take(column: str) -> "pl.Series":
        found = table.take(column)
        if column in layout.pair:
            if column == layout.pair[0]:
                _refuse_alike(table, layout, names)
            return _called(table, found, names)
        # Winners and what was shown first are words too.
        return _as_ids(found).replace(names.by_id) if column in (layout.winner, layout.first_shown) else found

    return replace(table, take=take, as_read=None)


def _refuse_alike(table: ColumnSource, layout: Layout, names: ModelNames) -> None:
    sentence = names.alike(one for side in layout.pair for one in _as_ids(table.take(side).unique(maintain_order=True)))
    if sentence is not None:
        raise table.fault(sentence, code=TWICE)


def _called(table: ColumnSource, column: "pl.Series", names: ModelNames) -> "pl.Series":
    ids = _as_ids(column)
    unknown = ids.is_not_null() & (ids != "") & ~ids.is_in(list(names.by_id))
    if unknown.any():
        row = int(unknown.arg_max() or 0)
        raise table.fault(names.lacking(ids[row]), row=row + 1)
    return ids.replace(names.by_id)


def _as_ids(column: "pl.Series") -> "pl.Series":
    import polars as pl

    if column.dtype == pl.String:
        return column.str.strip_chars()
    return pl.Series(column.name, [None if cell is None else plain_id(cell) for cell in column], dtype=pl.String)


def kinds_of(given: ColumnSource, rater: str | None, asked: BattleColumns) -> dict[str, RaterKind]:
    """Of the raters whether each is a person or a model, as far as anybody says it. Raises ExchangeError."""
    import polars as pl

    column = given.one_of(asked.kind or "rater_kind")
    if asked.kind is not None and column is None:
        raise given.missing(asked.kind, expected="It was asked for as the column rater_kind.")
    if asked.rater_names:
        return {asked.rater_names[0]: asked.rater_kind or "human"}
    if rater is None or rater not in given.names:
        return {}
    if column is None:
        if asked.rater_kind is None:
            return {}
        return {plain_id(one): asked.rater_kind for one in given.take(rater).unique() if one is not None}
    pairs = pl.DataFrame([given.take(rater).alias("rater"), given.take(column).alias("kind")])
    found: dict[str, RaterKind] = {}
    for one, said in pairs.unique(maintain_order=True).rows():
        kind = plain_id(said).casefold() or asked.rater_kind or "human"
        if kind not in ("human", "model"):
            raise given.fault(f"The column `{column}` says {said!r} of `{one}`; `human` or `model` is expected.")
        if found.setdefault(plain_id(one), kind) != kind:
            raise given.fault(f"The rater `{one}` is human in one row and model in another.", code=TWICE)
    return found
