"""A table of battles in another tool's form, made over into rows that name two models and who won."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evenhand.benchmarks.data_error import BLANK, CELL, EMPTY
from evenhand.domain.verdict import Reason
from evenhand.exchange.battles.column_source import ColumnSource, series_of
from evenhand.exchange.battles.layout import PAIRS, BattleColumns


@dataclass(frozen=True, slots=True, kw_only=True)
class InVain:
    """A showing of two models that gave no verdict."""

    models: tuple[str, str]
    reason: Reason
    rater: str | None = None
    """None: nobody knows who."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PeerBattles:
    table: ColumnSource
    columns: BattleColumns
    """What the table calls the columns that the rating needs."""
    in_vain: tuple[InVain, ...] = ()
    """They are in no row of the table."""
    verdicts: int | None = None
    """How many verdicts the rows are made of; None: each row is one."""
    order_known: bool = True
    """False where nobody knows which of two answers was shown first."""
    notes: tuple[str, ...] = ()
    """Sentences: what was read how."""
    showings: "PeerBattles | None" = None
    """Where each row joins several showings, those; None where the rows are what there is."""


Peer: TypeAlias = Callable[[ColumnSource, BattleColumns], PeerBattles | None]
"""None: the table is not of this tool. Raises ExchangeError where it is and a row does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleShowing:
    place: int
    """Its row in the file, from 1."""
    models: tuple[str, str]
    """In the order shown."""
    said: int | Reason
    """+2 to -2 in favour of the model shown first, or why there is no verdict."""
    item: object = None
    rater: object = None
    weight: float = 1.0
    """Repetitions of one showing share its weight."""
    soft: float | None = None
    """How likely the model shown first was to be preferred, and half as likely as a tie."""


def of_showings(
    table: ColumnSource,
    showings: Sequence[BattleShowing],
    *,
    item: str | None,
    rater: str | None,
    notes: tuple[str, ...] = (),
) -> PeerBattles:
    """`item` and `rater` are what the file calls their columns; None where it has none."""
    read = [one for one in showings if isinstance(one.said, int)]
    model_a, model_b = PAIRS[0]
    cells: dict[str, Sequence[object]] = {
        model_a: [one.models[0] for one in read],
        model_b: [one.models[1] for one in read],
        "verdict": [one.said for one in read],
        "first_shown": [one.models[0] for one in read],
    }
    if item is not None:
        cells[item] = [one.item for one in read]
    if rater is not None:
        cells[rater] = [one.rater for one in read]
    if any(one.soft is not None for one in read):
        cells["soft"] = [one.soft for one in read]
    if any(one.weight != 1 for one in read):
        cells["weight"] = [one.weight for one in read]
    return PeerBattles(
        table=made_over(table, cells, [one.place for one in read]),
        columns=BattleColumns(item=item, rater=rater),
        in_vain=tuple(
            InVain(models=one.models, reason=one.said, rater=None if one.rater is None else str(one.rater))
            for one in showings
            if not isinstance(one.said, int)
        ),
        notes=notes,
    )


def made_over(table: ColumnSource, columns: Mapping[str, Sequence[object]], places: Sequence[int]) -> ColumnSource:
    """A table of these columns; `places` are the rows of `table`, from 1, that each was made of.

    Raises ExchangeError where nothing is left to be rated.
    """
    if not places:
        raise table.fault("No row holds a verdict; at least one battle is needed.", code=EMPTY)
    made = {name: series_of(name, values, file=table.file) for name, values in columns.items()}
    return ColumnSource(names=tuple(made), file=table.file, take=made.__getitem__, places=places)


def name_in(table: ColumnSource, column: str, value: object, *, row: int) -> str:
    """The name of a model. Raises ExchangeError where there is none; `row` counts from 1."""
    if not isinstance(value, str) or not value.strip():
        found = "empty" if value is None or value == "" else repr(value)
        code = BLANK if found == "empty" else CELL
        raise table.fault(f"The column `{column}` is {found}; the name of a model is expected.", row=row, code=code)
    return value.strip()


def column_of(table: ColumnSource, asked: str | None, *usual: str) -> str | None:
    """The table's name of the column asked for, else of the first usual one there is.

    Raises ExchangeError where the one asked for is not there.
    """
    found = table.one_of(*usual) if asked is None else table.one_of(asked)
    if asked is not None and found is None:
        raise table.missing(asked, expected="It was asked for as a column of items or raters.")
    return found
