"""What each column of a table of battles says, as arrays; a cell that does not fit is told with its place."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evenhand.benchmarks.data_error import quoted
from evenhand.exchange.column_source import ColumnSource
from evenhand.exchange.preference_words import EXPECTED, read_preference
from evenhand.ratings.codes import WINNERS, Coded, Codes, Signs, coded_items, coded_names, winner_signs
from evenhand.ratings.sums import FloatArray

if TYPE_CHECKING:
    import polars as pl

PAIRS = (("model_a", "model_b"), ("left", "right"))
NEEDED = "Columns model_a, model_b and winner are expected, or left, right and winner."

_FIVE_LEVELS = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sides:
    models: tuple[str, ...]
    one: Codes
    other: Codes
    first: Signs
    """1 where the one was shown first, -1 where the other was."""
    order_untold: int | None
    """Rows in which the column first_shown is empty; None: there is no such column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdicts:
    sign: Signs
    value: Signs | None
    """Five-level verdicts, where a 2 occurs."""


def pair_of(table: ColumnSource) -> tuple[str, str]:
    there = [pair for pair in PAIRS if all(name in table.names for name in pair)]
    if len(there) > 1:
        named = " and as ".join(quoted(pair) for pair in there)
        raise table.fault(f"The two models of a row are named twice, as {named}; keep one pair of columns.")
    if there:
        return there[0]
    begun = next((pair for pair in PAIRS if any(name in table.names for name in pair)), PAIRS[0])
    raise table.missing(next(name for name in begun if name not in table.names), expected=NEEDED)


def verdicts_of(table: ColumnSource) -> Verdicts:
    """From `winner`, or from `verdict`, or from both where they agree."""
    if "verdict" not in table.names:
        if "winner" not in table.names:
            raise table.missing("winner", expected=NEEDED)
        return Verdicts(sign=_winners(table), value=None)
    value = _preferences(table)
    sign = np.sign(value)
    if "winner" in table.names:
        other = np.flatnonzero(_winners(table) != sign)
        if other.size:
            row = int(other[0])
            said = table.take("winner")[row]
            raise table.fault(f"The winner is {said!r} and the verdict {int(value[row]):+d}; keep one.", row=row + 1)
    return Verdicts(sign=sign, value=value if bool((np.abs(value) == _FIVE_LEVELS).any()) else None)


def sides_of(table: ColumnSource, pair: tuple[str, str]) -> Sides:
    one, other = (_texts(table, name, what="model") for name in pair)
    columns, untold = [one, other], None
    if "first_shown" in table.names:
        shown, untold = _first_shown(table, one)
        columns.append(shown)
    coded = coded_names(*columns)
    a, b = coded.columns[:2]
    _refuse_blank(table, coded, pair)
    first = np.ones(len(a), dtype=np.int8)
    if untold is not None:
        shown = coded.columns[2]
        neither = np.flatnonzero((shown != a) & (shown != b))
        if neither.size:
            row = int(neither[0])
            shown_name, *players = (coded.names[int(code)] for code in (shown[row], a[row], b[row]))
            sentence = f"first_shown is {shown_name!r}; {players[0]!r} or {players[1]!r} is expected."
            raise table.fault(sentence, row=row + 1)
        first[shown != a] = -1
    return Sides(models=coded.names, one=a, other=b, first=first, order_untold=untold)


def items_of(table: ColumnSource, name: str) -> Codes:
    column = table.take(name)
    if column.dtype.is_nested():
        raise table.fault(f"The column `{name}` holds {column.dtype}; an item is named by text or a number.")
    _refuse_missing(table, column, f"There is no item in the column `{name}`; name one in every row.")
    return coded_items(column)


def raters_of(table: ColumnSource, name: str) -> Coded:
    import polars as pl

    column = table.take(name)
    if column.dtype.is_nested():
        raise table.fault(f"The column `{name}` holds {column.dtype}; a rater is named by text or a number.")
    _refuse_missing(table, column, f"There is no rater in the column `{name}`; name one in every row.")
    return coded_names(column.cast(pl.String))


def weights_of(table: ColumnSource) -> FloatArray:
    weight = _numbers(table, "weight")
    empty = np.flatnonzero(np.isnan(weight))
    if empty.size:
        raise table.fault("The weight is missing; a number from 0 up is expected.", row=int(empty[0]) + 1)
    return weight


def length_difference(table: ColumnSource) -> FloatArray:
    """NaN where one of the two lengths is not told."""
    return _numbers(table, "length_a") - _numbers(table, "length_b")


def _winners(table: ColumnSource) -> Signs:
    winner = _texts(table, "winner", what="winner")
    try:
        return winner_signs(winner)
    except ValueError:
        row = int((~winner.is_in(list(WINNERS))).arg_max() or 0)
        known = ", ".join(WINNERS)
        raise table.fault(f"The winner is {winner[row]!r}; one of {known} is expected.", row=row + 1) from None


def _preferences(table: ColumnSource) -> Signs:
    import polars as pl

    column = table.take("verdict")
    _refuse_missing(table, column, f"There is no verdict; {EXPECTED} is expected.")
    if column.dtype.is_nested():
        raise table.fault(f"The column `verdict` holds {column.dtype}; {EXPECTED} is expected.")
    values: list[int] = []
    said = column.unique().to_list()
    for word in said:
        stated = read_preference(word)
        if stated is None:
            row = column.to_list().index(word)
            raise table.fault(f"The verdict is {word!r}; {EXPECTED} is expected.", row=row + 1)
        values.append(stated.value)
    return column.replace_strict(said, values, return_dtype=pl.Int8).to_numpy().astype(np.int8)


def _first_shown(table: ColumnSource, otherwise: "pl.Series") -> "tuple[pl.Series, int]":
    """Names, and in how many rows the cell is empty and `otherwise` stands in its place."""
    import polars as pl

    column = table.take("first_shown")
    if column.dtype == pl.Null:
        return otherwise, len(otherwise)
    text = _as_text(table, column, "first_shown", what="model")
    empty = text.is_null() | (text == "").fill_null(value=True)
    return otherwise.zip_with(empty, text), int(empty.sum())


def _numbers(table: ColumnSource, name: str) -> FloatArray:
    """From 0 up; NaN where a cell is empty."""
    import polars as pl

    column = table.take(name)
    if column.dtype == pl.String:
        column = column.replace("", None)
    elif not column.dtype.is_numeric() and column.dtype != pl.Null:
        raise table.fault(f"The column `{name}` holds {column.dtype}; numbers from 0 up are expected.")
    number = column.cast(pl.Float64, strict=False)
    unread = column.is_not_null() & number.is_null()
    wrong = unread | ((number < 0) | ~number.is_finite()).fill_null(value=False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise table.fault(f"`{name}` is {column[row]!r}; a number from 0 up is expected.", row=row + 1)
    return number.fill_null(float("nan")).to_numpy().astype(np.float64)


def _texts(table: ColumnSource, name: str, *, what: str) -> "pl.Series":
    column = table.take(name)
    _refuse_missing(table, column, f"There is no {what} in the column `{name}`.")
    return _as_text(table, column, name, what=what)


def _as_text(table: ColumnSource, column: "pl.Series", name: str, *, what: str) -> "pl.Series":
    import polars as pl

    if len(column) and not isinstance(column.dtype, (pl.String, pl.Categorical, pl.Enum)):
        raise table.fault(f"The column `{name}` holds {column.dtype}; a {what} is named by text.")
    return column.cast(pl.String)


def _refuse_missing(table: ColumnSource, column: "pl.Series", sentence: str) -> None:
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan()
    if missing.any():
        raise table.fault(sentence, row=int(missing.arg_max() or 0) + 1)


def _refuse_blank(table: ColumnSource, coded: Coded, pair: tuple[str, str]) -> None:
    blank = [code for code, name in enumerate(coded.names) if not name.strip()]
    for column, codes in zip(pair, coded.columns, strict=False):
        empty: npt.NDArray[np.intp] = np.flatnonzero(np.isin(codes, blank)) if blank else np.zeros(0, dtype=np.intp)
        if empty.size:
            raise table.fault(f"There is no model in the column `{column}`.", row=int(empty[0]) + 1)
