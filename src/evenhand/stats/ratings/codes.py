"""Columns of names as integer codes, made once, without a loop over rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

Codes: TypeAlias = npt.NDArray[np.int32]
Signs: TypeAlias = npt.NDArray[np.int8]
Column: TypeAlias = "Sequence[str] | Sequence[int] | npt.NDArray[Any] | pl.Series"

WINNERS = {"model_a": 1, "model_b": -1, "tie": 0, "left": 1, "right": -1, "tie (bothbad)": 0}
"""What a winner column may say, and its sign in favour of model_a."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Codebook:
    names: tuple[str, ...]
    """Sorted; a code is an index into it."""
    columns: tuple[Codes, ...]


def coded_names(*columns: Column) -> Codebook:
    """The columns over one list of names. Raises ValueError where a name is missing or not text."""
    import polars as pl

    # Categories of their own: in the shared ones codes would not start at 0.
    kind = pl.Categorical(pl.Categories.random())
    texts = [_text(column) for column in columns]
    # The columns of one kind must live side by side: polars forgets its codes when the last of them goes.
    categorical = [text.cast(kind) for text in texts]
    codes = [_codes(column) for column in categorical]
    name_of: dict[int, str] = {}
    distinct = max((int(code.max(initial=-1)) + 1 for code in codes), default=0)
    for text, code in zip(texts, codes, strict=True):
        _learn_names(name_of, text, code, distinct)
    names = sorted(name_of.values())
    place = {name: number for number, name in enumerate(names)}
    sorted_code = np.array([place[name_of[code]] for code in range(len(names))], dtype=np.int32)
    return Codebook(names=tuple(names), columns=tuple(sorted_code.take(code) for code in codes))


def _learn_names(name_of: dict[int, str], text: "pl.Series", code: Codes, distinct: int) -> None:
    """Adds the names behind the codes of a column, until all are known; most stand among the first rows."""
    begun, end = 0, 1 << 14
    while begun < len(code) and len(name_of) < distinct:
        one_row = np.full(distinct, -1, dtype=np.int64)
        one_row[code[begun:end]] = np.arange(begun, min(end, len(code)))
        seen = np.flatnonzero(one_row >= 0)
        name_of.update(zip(seen.tolist(), text.gather(one_row[seen]).to_list(), strict=True))
        begun, end = end, end * 8


def coded_items(column: Column) -> Codes:
    """Each distinct item's own number, from 0 up, in no stated order; raises ValueError where one is missing.

    Some numbers below the largest may be of no item.
    """
    import polars as pl

    series = _series(column)
    _refuse_missing(series, "item")
    if series.dtype.is_integer():
        return _compact(series.to_numpy())
    return _codes(series.cast(pl.String).cast(pl.Categorical(pl.Categories.random())))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WinnerWords:
    sign: Signs
    """0 also where the word is unknown."""
    unknown: npt.NDArray[np.bool_] | None
    """Rows whose word is none that is known; None: there is none."""
    spaced: int = 0
    """Rows whose word has spaces around it."""


def winner_signs(winners: Column) -> Signs:
    """+1 for model_a, -1 for model_b, 0 for a tie, from the words of a winner column in any letter case.

    Raises ValueError naming the first row whose word is none of `WINNERS`: an unknown word is never a tie.
    """
    text = _text(winners, what="winner")
    words = winner_words(text)
    if words.unknown is not None:
        row = int(words.unknown.argmax())
        known = ", ".join(WINNERS)
        raise ValueError(f"Row {row + 1} names the winner {text[row]!r}; one of {known} is expected.")
    return words.sign


def winner_words(text: "pl.Series", more: Mapping[str, int] | None = None) -> WinnerWords:
    """What a column of texts without a gap says of the winners; `more`: words besides, in small letters."""
    signs = np.zeros(len(text), dtype=np.int8)
    understood = 0
    for word, sign in WINNERS.items():
        if understood == len(text):
            break
        said = (text == word).to_numpy()
        understood += int(np.count_nonzero(said))
        if sign:
            signs += said.view(np.int8) * np.int8(sign)
    if understood == len(text):
        return WinnerWords(sign=signs, unknown=None)
    return _in_any_case(text, {**WINNERS, **(more or {})})


def _in_any_case(text: "pl.Series", words: Mapping[str, int]) -> WinnerWords:
    import polars as pl

    plain = text.str.strip_chars()
    lowered = plain.str.to_lowercase()
    signs = lowered.replace_strict(list(words), list(words.values()), default=None, return_dtype=pl.Int8)
    unknown = signs.is_null().to_numpy()
    return WinnerWords(
        sign=signs.fill_null(0).to_numpy().astype(np.int8),
        unknown=unknown if unknown.any() else None,
        spaced=int((plain != text).sum()),
    )


def without_spaces(coded: Codebook) -> Codebook:
    """Names without the spaces around them, letters with marks in one spelling (NFC); those then alike become one."""
    plain = [normalize("NFC", name.strip()) for name in coded.names]
    if tuple(plain) == coded.names:
        return coded
    names = sorted(set(plain))
    place = {name: number for number, name in enumerate(names)}
    code = np.array([place[name] for name in plain], dtype=np.int32)
    return Codebook(names=tuple(names), columns=tuple(code.take(column) for column in coded.columns))


def respelled(names: Iterable[str]) -> tuple[str, ...]:
    """Names that stand there in two spellings: a letter with a mark as one character, and as two."""
    plain = Counter(normalize("NFC", name) for name in {name.strip() for name in names})
    return tuple(sorted(name for name, count in plain.items() if count > 1))


def _series(column: Column) -> "pl.Series":
    import polars as pl

    if isinstance(column, pl.Series):
        return column
    try:
        return pl.Series(values=column, nan_to_null=True)
    except TypeError as mixed:
        raise ValueError(f"A column of names holds values of different types: {mixed}") from mixed


def _text(column: Column, *, what: str = "model") -> "pl.Series":
    import polars as pl

    series = _series(column)
    _refuse_missing(series, what)
    if len(series) and not isinstance(series.dtype, (pl.String, pl.Categorical, pl.Enum)):
        raise ValueError(f"A column of {what} names is text, not {series.dtype}.")
    return series.cast(pl.String)


def _refuse_missing(series: "pl.Series", what: str) -> None:
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan()
    if missing.any():
        raise ValueError(f"Row {int(missing.arg_max() or 0) + 1} has no {what}.")


def _codes(categorical: "pl.Series") -> Codes:
    return categorical.to_physical().to_numpy().astype(np.int32, copy=False)


def narrow(codes: Codes, limit: int) -> npt.NDArray[np.uint16] | Codes:
    """In 16 bits where every code below `limit` fits: numpy sorts those by counting, many times faster."""
    return codes.astype(np.uint16) if limit <= 1 << 16 else codes


def dense(numbers: npt.NDArray[Any]) -> Codes:
    """Renumbered from 0 without gaps."""
    compact = _compact(numbers)
    seen = np.zeros(int(compact.max(initial=-1)) + 1, dtype=np.bool_)
    seen[compact] = True
    return compact if seen.all() else (np.cumsum(seen, dtype=np.int32) - 1).take(compact)


def first_rows(codes: Codes) -> npt.NDArray[np.intp]:
    """Of each number, where all below the largest occur, the first row that has it."""
    found = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.intp)
    found[codes[::-1]] = np.arange(len(codes))[::-1]  # of several the last stays
    return found


def all_differ(codes: npt.NDArray[np.integer[Any]]) -> bool:
    """Whether no number, each being from 0 up and not far above their count, occurs twice."""
    seen = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.bool_)
    seen[codes] = True
    return int(np.count_nonzero(seen)) == len(codes)


def _compact(numbers: npt.NDArray[Any]) -> Codes:
    """Renumbered from 0, with gaps if they are not too wide."""
    if not numbers.size:
        return np.zeros(0, dtype=np.int32)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low > 8 * numbers.size + 1024:
        return np.unique(numbers, return_inverse=True)[1].astype(np.int32)
    if numbers.dtype.itemsize < 4:
        # In one byte 127 - (-128) would be -1.
        numbers = numbers.astype(np.int64)
    return (numbers - low).astype(np.int32, copy=False)
