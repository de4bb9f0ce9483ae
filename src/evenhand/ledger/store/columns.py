"""Columns of a large reading: texts as numbers, and rows that agree in several columns as one number."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Executable

from evenhand.stats.ratings.codes import Codes, dense

Number = TypeVar("Number", bound=np.generic)
Integers: TypeAlias = npt.NDArray[np.signedinteger[Any]]

_FETCHED = 500
"""Rows that are Python objects at one time: so few that they stay in the processor's cache."""
_MOST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coded:
    """A column of texts."""

    names: tuple[str, ...]
    """The different ones; some may stand in no row."""
    code: Codes
    """Of each row an index into them."""

    def rows(self, kept: npt.NDArray[Any] | slice) -> "Coded":
        """`kept`: a mask, or indices in the order wanted."""
        return Coded(names=self.names, code=taken(self.code, kept))

    def in_order_of_rows(self) -> "Coded":
        """Names in the order in which rows mention them, and only those."""
        first = np.full(len(self.names), len(self.code))
        first[self.code[::-1]] = np.arange(len(self.code))[::-1]  # of several the last stays
        used: list[int] = np.argsort(first)[: np.count_nonzero(first < len(self.code))].tolist()
        place = np.zeros(len(self.names), dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        return Coded(names=tuple(self.names[code] for code in used), code=place[self.code])


def taken(column: npt.NDArray[Number], kept: npt.NDArray[Any] | slice) -> npt.NDArray[Number]:
    """These rows of it. A column that is one number over and over stays so, in a few bytes."""
    if not is_constant(column) or isinstance(kept, slice):
        return column[kept]
    number = int(np.count_nonzero(kept)) if kept.dtype == np.bool_ else len(kept)
    return np.broadcast_to(column[0], number)


def of_codes(values: npt.NDArray[Number], code: Integers) -> npt.NDArray[Number]:
    """The value of each row's code; of one code over and over one number."""
    return np.broadcast_to(values[code[0]], len(code)) if is_constant(code) else values[code]


def is_constant(column: npt.NDArray[Any]) -> bool:
    """Whether it is known without looking that all rows are the same."""
    return len(column) > 0 and column.strides == (0,)


class Interning:
    """Gives every different value the next number, in the order they come."""

    def __init__(self) -> None:
        self._code: defaultdict[Any, int] = defaultdict(None)
        self._code.default_factory = self._code.__len__

    def learn(self, values: Collection[Any]) -> None:
        """Of none that is known, each once: numbered several times as fast as `codes` does it."""
        self._code.update(zip(values, count(len(self._code)), strict=False))

    def codes(self, column: Collection[Any]) -> Codes:
        return np.fromiter(map(self._code.__getitem__, column), np.int32, len(column))

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self._code)


def fetched(connection: Connection, query: Executable, **parameters: Sequence[str | int]) -> Iterator[list[Any]]:
    """Rows as plain tuples, hundreds at a time; columns of the type Words come as they are stored."""
    # The driver's own cursor: through SQLAlchemy's rows the same reading costs a third more.
    cursor = cast(Any, connection.execute(query, parameters)).cursor
    while some := cursor.fetchmany(_FETCHED):
        yield some


def joint(*columns: Integers) -> Codes:
    """The same number for rows that agree in all columns, from 0 without gaps."""
    code, size = columns[0].astype(np.int64), int(columns[0].max(initial=0)) + 1
    for column in columns[1:]:
        different = int(column.max(initial=0)) + 1
        if different == 1:
            continue
        if size * different > _MOST:
            code = np.unique(code, return_inverse=True)[1].astype(np.int64)
            size = len(code)
        code, size = code * different + column, size * different
    return dense(code)
