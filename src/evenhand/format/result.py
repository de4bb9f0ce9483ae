"""What a result is in Python: a line in a shell, a table in a notebook, a document, a frame, a picture."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, ClassVar, cast

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.format.html import rendered
from evenhand.format.words import in_python, unbroken

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

PRINTED = 100
"""Characters in a line of what is printed."""
_SHOWN = 60
"""Rows of a table in a notebook; the frame has all."""


class Result(ABC):
    """Base of what `rank`, `score`, `audit` and the others give back."""

    __slots__ = ()

    table: ClassVar[str]
    """The field of the JSON document that holds a list of rows."""
    shown: ClassVar[tuple[str, ...]]
    """The fields of a row that a notebook's table shows; those that no row has are left out."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """One line: what it is of and what came out."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What must be read with the table; below it in a notebook."""
        return ()

    @abstractmethod
    def as_json(self) -> Mapping[str, Json]:
        """The document that the command of the same name prints with --json."""

    def to_json(self) -> str:
        """The document that the command of the same name prints with --json, as text."""
        return json.dumps(self.as_json(), ensure_ascii=False, allow_nan=False)

    def rows(self) -> list[dict[str, Json]]:
        """The document's rows with all their fields."""
        return [dict(row) for row in cast("Iterable[Mapping[str, Json]]", self.as_json()[self.table])]

    def to_polars(self) -> "pl.DataFrame":
        """One row for each row of the JSON document, with all its fields."""
        import polars as pl

        return pl.DataFrame(self.rows(), infer_schema_length=None, strict=False)

    def to_pandas(self) -> "pd.DataFrame":
        """The same for pandas. Raises Misuse where pandas is not installed."""
        try:
            import pandas as pd
        except ImportError as error:
            raise Misuse("pandas is not installed: `pip install pandas`, or take to_polars().") from error
        return pd.DataFrame(self.rows())

    def chart(self) -> Any:
        """An Altair chart. Raises ChartError where there is nothing to draw."""
        from evenhand.format.charts import ChartError

        raise ChartError(f"There is no picture of this: {self.headline}")

    def __repr__(self) -> str:
        return in_python(self.headline)

    def __str__(self) -> str:
        """What print shows: the line, the table and the sentences that a notebook shows."""
        from rich.console import Console

        from evenhand.format.tables import escape, print_rows

        seen = self._seen()
        console = Console(file=StringIO(), width=PRINTED, highlight=False, emoji=False, color_system=None)
        with console.capture() as printed:
            console.print(escape(seen.headline))
            headings = [name.replace("_", " ") for name in seen.names]
            print_rows(headings, ([words for words, _ in row] for row in seen.rows), console)
            for sentence in seen.sentences:
                console.print(unbroken(escape(sentence)))
        return printed.get().rstrip()

    def _repr_html_(self) -> str:
        seen = self._seen()
        return rendered(
            "format/result.html", headline=seen.headline, names=seen.names, rows=seen.rows, sentences=seen.sentences
        )

    def _seen(self) -> "_Seen":
        rows = self.rows()
        names = [name for name in self.shown if any(row.get(name) is not None for row in rows)]
        more = [f"{len(rows) - _SHOWN} more rows: to_polars() has them all."] if len(rows) > _SHOWN else []
        return _Seen(
            headline=repr(self),
            names=names,
            rows=[[_shown(name, row.get(name)) for name in names] for row in rows[:_SHOWN]],
            sentences=[*more, *map(in_python, self.sentences)],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What a person is shown of a result."""

    headline: str
    names: list[str]
    rows: list[list[tuple[str, bool]]]
    sentences: list[str]


def _shown(name: str, value: Json) -> tuple[str, bool]:
    """A reason and a note are sentences of ours; other words may be a name, and stay."""
    return _cell(in_python(value) if name in ("note", "reason") and isinstance(value, str) else value)


def _cell(value: Json) -> tuple[str, bool]:
    """Its words, with as many digits as one reads, and whether it is a number; nothing is never a number."""
    if value is None or value == {} or isinstance(value, str):
        return value if isinstance(value, str) else "–", False
    if isinstance(value, int | float) and not isinstance(value, bool):
        words = f"{value:,}" if isinstance(value, int) else f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3g}"
        return words, True
    return json.dumps(value, ensure_ascii=False), False
