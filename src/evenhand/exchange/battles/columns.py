"""What each column of a table of battles says, as arrays; a cell that does not fit is told with its place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from evenhand.benchmarks.data_error import BLANK, TWICE, TYPE
from evenhand.exchange.battles.column_source import ColumnSource
from evenhand.exchange.battles.layout import Layout
from evenhand.exchange.judgements.preference_words import EXPECTED, read_preference
from evenhand.exchange.winners import SIDES, WinnerAs, WinnerColumn, place_of_first
from evenhand.stats.ratings.codes import (
    Codebook,
    Codes,
    Signs,
    coded_items,
    coded_names,
    respelled,
    without_spaces,
)
from evenhand.stats.ratings.comparisons import HEAVIEST, LIGHTEST
from evenhand.stats.ratings.sums import FloatArray

if TYPE_CHECKING:
    import polars as pl

_FIVE_LEVELS = 2
# What programs write where a name is missing.
_NO_NAME = frozenset(("nan", "null", "<na>"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sides:
    models: tuple[str, ...]
    one: Codes
    other: Codes
    first: Signs
    """1 where the one was shown first, -1 where the other was."""
    order_untold: int | None
    """Rows in which the column first_shown is empty; None: there is no such column."""
    spaced: int
    """Rows in which a name has spaces around it."""
    written: tuple[str, ...] = ()
    """The names as the file has them."""

    @property
    def respelled(self) -> tuple[str, ...]:
        """Models whose name stands in the file in two spellings that look alike."""
        return respelled(self.written)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VerdictColumns:
    sign: Signs
    value: Signs | None
    """Five-level verdicts, where a 2 occurs."""
    spaced: int = 0
    """Rows whose winner has spaces around it."""
    note: str | None = None
    """How winners were read, where they could have been read otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Labels:
    """Items or raters."""

    codes: Codes
    spaced: int
    """Rows in which the label has spaces around it."""
    names: tuple[str, ...] = ()
    """Of raters, by code."""


def verdicts_of(
    table: ColumnSource,
    layout: Layout,
    models: tuple[str, ...],
    winner_as: WinnerAs | None,
    words: Mapping[str, str],
) -> VerdictColumns:
    """From the winner, or from the verdict, or from both where they agree.

    `models`: the names of all; `winner_as`: whether winners are names or words, None: what the rows say; `words`: ours
    by the file's own, where it has other ones.
    """
    won = None if layout.winner is None else _winners(table, layout, models, winner_as, words)
    if layout.verdict is None:
        return won or VerdictColumns(sign=np.zeros(0, dtype=np.int8), value=None)
    value = _preferences(table, layout.verdict)
    sign = np.sign(value)
    if won is not None and layout.winner is not None:
        other = np.flatnonzero(won.sign != sign)
        if other.size:
            row = int(other[0])
            said = table.take(layout.winner)[row]
            sentence = f"The winner is {said!r} and the verdict {int(value[row]):+d}; keep one."
            raise table.fault(sentence, row=row + 1, code=TWICE)
    five_levels = bool((np.abs(value) == _FIVE_LEVELS).any())
    return VerdictColumns(
        sign=sign,
        value=value if five_levels else None,
        spaced=0 if won is None else won.spaced,
        note=None if won is None else won.note,
    )


def sides_of(table: ColumnSource, layout: Layout) -> Sides:
    one, other = (_texts(table, name, what="model") for name in layout.pair)
    columns, untold = [one, other], None
    if layout.first_shown is not None:
        shown, untold = _first_shown(table, layout.first_shown, one)
        columns.append(_by_name(shown, one, other))
    as_written = coded_names(*columns)
    _refuse_blank(table, as_written, layout.pair)
    coded = without_spaces(as_written)
    a, b = coded.columns[:2]
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
    return Sides(
        models=coded.names,
        one=a,
        other=b,
        first=first,
        order_untold=untold,
        spaced=_spaced(as_written),
        written=as_written.names,
    )


def _spaced(coded: Codebook) -> int:
    """Rows in which a name has spaces around it."""
    padded = np.array([name != name.strip() for name in coded.names], dtype=np.bool_)
    if not padded.any():
        return 0
    return int(np.count_nonzero(np.logical_or.reduce([padded.take(column) for column in coded.columns])))


def items_of(
    table: ColumnSource,
    name: str,
    *,
    what: Literal["item", "cluster"] = "item",
    coded: "Callable[[pl.Series], Codes]" = coded_items,
) -> Labels:
    """`coded`: what numbers them."""
    import polars as pl

    column = _naming(table, name, "an item")
    _refuse_missing(table, column, f"There is no {what} in the column `{name}`; name one in every row.")
    if column.dtype != pl.String:
        # numpy knows no whole numbers of 128 bits.
        column = column.cast(pl.String) if str(column.dtype).endswith("128") else column
        return Labels(codes=coded(column), spaced=0)
    plain = column.str.strip_chars()
    return Labels(codes=coded(plain), spaced=int((plain != column).sum()))


def raters_of(table: ColumnSource, name: str) -> Labels:
    import polars as pl

    column = _naming(table, name, "a rater")
    _refuse_missing(table, column, f"There is no rater in the column `{name}`; name one in every row.")
    as_written = coded_names(column.cast(pl.String))
    coded = without_spaces(as_written)
    return Labels(codes=coded.columns[0], spaced=_spaced(as_written), names=coded.names)


def _naming(table: ColumnSource, name: str, what: str) -> "pl.Series":
    """A column of names; bytes, as some programs write texts, are told as the texts that they are."""
    import polars as pl

    column = table.take(name)
    if column.dtype.is_nested() or column.dtype.base_type() in (pl.Duration, pl.Object):
        raise table.fault(f"The column `{name}` holds {column.dtype}; {what} is named by text or a number.", code=TYPE)
    if column.dtype != pl.Binary:
        return column
    try:
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        sentence = f"The column `{name}` holds bytes that are no text in UTF-8; {what} is named by text or a number."
        raise table.fault(sentence, code=TYPE) from None


def weights_of(table: ColumnSource, name: str) -> FloatArray:
    weight = _numbers(table, name)
    empty = np.flatnonzero(np.isnan(weight))
    if empty.size:
        sentence = "The weight is missing; a number from 0 up is expected."
        raise table.fault(sentence, row=int(empty[0]) + 1, code=BLANK)
    most = float(weight.max(initial=0.0))
    if most > HEAVIEST:
        row = int(weight.argmax())
        raise table.fault(f"The weight is {weight[row]:g}; at most {HEAVIEST:g} is expected.", row=row + 1)
    lost = np.flatnonzero((weight > 0) & (weight < max(LIGHTEST * most, 1 / HEAVIEST)))
    if lost.size:
        row = int(lost[0])
        sentence = f"The weight is {weight[row]:g}; beside the largest, {most:g}, no fit sees it. Set it to 0."
        raise table.fault(sentence, row=row + 1)
    return weight


def probabilities_of(table: ColumnSource, name: str) -> FloatArray:
    """With which rows were drawn to be judged."""
    found = _numbers(table, name)
    wrong = np.flatnonzero(~((found > 0) & (found <= 1)))
    if wrong.size:
        row = int(wrong[0])
        raise table.fault(f"The column `{name}` is {found[row]:g}; above 0 and up to 1 is expected.", row=row + 1)
    return found


def soft_verdicts_of(table: ColumnSource, name: str) -> FloatArray:
    """In favour of the row's first model; NaN where the cell is empty."""
    found = _numbers(table, name)
    wrong = np.flatnonzero((found < 0) | (found > 1))
    if wrong.size:
        row = int(wrong[0])
        raise table.fault(f"The column `{name}` is {found[row]:g}; 0 to 1 is expected.", row=row + 1)
    return found


def length_difference(table: ColumnSource, lengths: tuple[str, ...]) -> FloatArray:
    """NaN where one of the two lengths is not told."""
    one, other = lengths
    return _numbers(table, one) - _numbers(table, other)


def _winners(
    table: ColumnSource,
    layout: Layout,
    models: tuple[str, ...],
    winner_as: WinnerAs | None,
    words: Mapping[str, str],
) -> VerdictColumns:
    one, other = (_texts(table, model, what="model") for model in layout.pair)
    said = _texts(table, layout.winner or "winner", what="winner")
    found = WinnerColumn(table=table, said=said, sides=(one, other), models=models, words=words).read(winner_as)
    return VerdictColumns(sign=found.sign, value=None, spaced=found.spaced, note=found.note)


def _preferences(table: ColumnSource, name: str) -> Signs:
    import polars as pl

    column = table.take(name)
    _refuse_missing(table, column, f"There is no verdict; {EXPECTED} is expected.")
    if column.dtype.is_nested():
        raise table.fault(f"The column `{name}` holds {column.dtype}; {EXPECTED} is expected.", code=TYPE)
    values: list[int] = []
    said = column.unique().to_list()
    for word in said:
        stated = read_preference(word)
        if stated is None:
            row = column.to_list().index(word)
            raise table.fault(f"The verdict is {word!r}; {EXPECTED} is expected.", row=row + 1)
        values.append(stated.value)
    return column.replace_strict(said, values, return_dtype=pl.Int8).to_numpy().astype(np.int8)


def _first_shown(table: ColumnSource, name: str, otherwise: "pl.Series") -> "tuple[pl.Series, int]":
    """What the column says, and in how many rows it is empty and `otherwise` stands in its place."""
    import polars as pl

    column = table.take(name)
    if column.dtype == pl.Null:
        return otherwise, len(otherwise)
    text = _as_text(table, column, name, what="model")
    empty = text.is_null() | (text.str.strip_chars() == "").fill_null(value=True)
    return otherwise.zip_with(empty, text), int(empty.sum())


def _by_name(shown: "pl.Series", one: "pl.Series", other: "pl.Series") -> "pl.Series":
    """The models' names where a word tells the side, unless a model of the row has that name."""
    words = [word for word in shown.unique().to_list() if word.strip().lower() in SIDES]
    if not words:
        return shown
    sides = one, other
    if not any(name.strip().lower() in SIDES for side in sides for name in side.unique().to_list()):
        for word in words:
            shown = sides[SIDES[word.strip().lower()]].zip_with(shown == word, shown)
        return shown
    import polars as pl

    rows = zip(shown.to_list(), zip(one.to_list(), other.to_list(), strict=True), strict=True)
    return pl.Series(
        [said if (place := place_of_first(said, pair)) is None else pair[place] for said, pair in rows], dtype=pl.String
    )


def _numbers(table: ColumnSource, name: str) -> FloatArray:
    """From 0 up; NaN where a cell is empty."""
    import polars as pl

    column = table.take(name)
    if column.dtype == pl.String:
        column = column.replace("", None)
    elif not column.dtype.is_numeric() and column.dtype != pl.Null:
        raise table.fault(f"The column `{name}` holds {column.dtype}; numbers from 0 up are expected.", code=TYPE)
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
        raise table.fault(f"The column `{name}` holds {column.dtype}; a {what} is named by text.", code=TYPE)
    return column.cast(pl.String)


def _refuse_missing(table: ColumnSource, column: "pl.Series", sentence: str) -> None:
    missing = column.is_null()
    if column.dtype.is_float():
        missing = missing | column.is_nan()
    if missing.any():
        raise table.fault(sentence, row=int(missing.arg_max() or 0) + 1, code=BLANK)


def _refuse_blank(table: ColumnSource, coded: Codebook, pair: tuple[str, str]) -> None:
    blank = [code for code, name in enumerate(coded.names) if not name.strip() or name.strip().casefold() in _NO_NAME]
    for column, codes in zip(pair, coded.columns, strict=False):
        empty: npt.NDArray[np.intp] = np.flatnonzero(np.isin(codes, blank)) if blank else np.zeros(0, dtype=np.intp)
        if empty.size:
            row = int(empty[0])
            said = coded.names[int(codes[row])].strip()
            written = f": {said!r} stands for a missing name; name the model, or leave the row out" if said else ""
            raise table.fault(f"There is no model in the column `{column}`{written}.", row=row + 1, code=BLANK)
