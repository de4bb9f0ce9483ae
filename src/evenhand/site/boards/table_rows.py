"""The rows of a board's table as a visitor asks for them, by which column and which models, and who beats whom."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from fastapi import Depends, Query

from evenhand.domain.estimate import Estimate
from evenhand.domain.response import REFERENCE
from evenhand.reports.board.board import BoardRow
from evenhand.site.boards.battle_list import Direction
from evenhand.site.boards.standings import Standings

Column: TypeAlias = Literal["rank", "model", "rating", "interval", "range", "tier", "win_rate", "reference", "won"]

MANY = 10
"""Models from which on one looks for a name."""

_LOWEST_FIRST: frozenset[Column] = frozenset({"rank", "model", "range", "tier"})
"""Which way a column is sorted first: of all others the highest stand on top."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRows:
    """As it stands: all models, as they are ranked."""

    sort: Column | Literal[""] = ""
    order: Direction | Literal[""] = ""
    find: str = ""

    @property
    def plain(self) -> bool:
        return not (self.sort or self.find)

    @property
    def column(self) -> Column:
        return self.sort or "rank"

    @property
    def direction(self) -> Direction:
        return self.order or _first(self.column)

    def turned(self, column: Column) -> dict[str, str]:
        """What to ask for to have the table by this column: the other way round where it is already."""
        first: Direction = _first(column)
        other: Direction = "descending" if first == "ascending" else "ascending"
        if self.column == column and self.direction == first:
            return {"sort": column, "order": other}
        return {} if column == "rank" else {"sort": column}


def _first(column: Column) -> Direction:
    return "ascending" if column in _LOWEST_FIRST else "descending"


async def asked_rows(
    sort: Literal["", "rank", "model", "rating", "interval", "range", "tier", "win_rate", "reference", "won"] = "",
    order: Literal["", "ascending", "descending"] = "",
    find: Annotated[str, Query(max_length=200)] = "",
) -> AskedRows:
    return AskedRows(sort=sort, order=order, find=find.strip())


Rows = Annotated[AskedRows, Depends(asked_rows)]


def arranged(found: Standings, asked: AskedRows) -> tuple[BoardRow, ...]:
    """Those whose names hold the letters, sorted within their components; what has no value stands last."""
    letters = asked.find.casefold()
    rows = [one for one in found.models if letters in found.names.get(one.model, one.model).casefold()]
    if not asked.sort:
        return tuple(rows)
    value = _values(found)[asked.sort]
    down = asked.direction == "descending"
    known = [one for one in rows if value(one) is not None]
    # Sorting is stable: of those alike the better ranked stays above.
    known.sort(key=lambda one: value(one), reverse=down)  # pyright: ignore[reportArgumentType]
    ordered = [*known, *(one for one in rows if value(one) is None)]
    components = list(dict.fromkeys(one.component for one in found.models))
    return tuple(sorted(ordered, key=lambda one: components.index(one.component)))


_Value: TypeAlias = Callable[[BoardRow], "float | str | tuple[int, int] | None"]


def _values(found: Standings) -> Mapping[Column, _Value]:
    def ranged(one: BoardRow) -> tuple[int, int] | None:
        return None if one.rank_lower is None or one.rank_upper is None else (one.rank_lower, one.rank_upper)

    def against(one: BoardRow) -> float | None:
        met = found.against_reference.get(one.model)
        return None if met is None else met.value

    return {
        "rank": lambda one: one.rank,
        "model": lambda one: found.names.get(one.model, one.model).casefold(),
        "rating": lambda one: one.rating.value,
        "interval": lambda one: one.rating.lower,
        "range": ranged,
        "tier": lambda one: one.tier,
        "win_rate": lambda one: one.win_rate.value,
        "reference": against,
        "won": lambda one: one.wins,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCell:
    """What one model won against another."""

    rate: Estimate
    linked: bool
    """Whether the battles behind it may be looked at."""

    @property
    def kind(self) -> str:
        """Which of the two is ahead, for this pair alone; empty where the interval holds 50 %."""
        if self.rate.lower is not None and self.rate.lower > 0.5:
            return "ahead"
        return "behind" if self.rate.upper is not None and self.rate.upper < 0.5 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadToHead:
    models: tuple[str, ...]
    """In the order of the board."""
    rows: tuple[tuple[PairCell | None, ...], ...]
    """None: the model itself, or one that it never met."""
    left_out: int
    """Models of the board that are not in it."""

    @property
    def linked(self) -> bool:
        """Whether some figure leads to its battles."""
        return any(cell is not None and cell.linked for row in self.rows for cell in row)


def head_to_head(found: Standings) -> HeadToHead | None:
    """None where fewer than three have met: of two the table says all."""
    models = tuple(one.model for one in found.models if one.model in found.pair_rates)
    if len(models) < 3:
        return None
    return HeadToHead(
        models=models,
        rows=tuple(tuple(_cell(found, one, other) for other in models) for one in models),
        left_out=len(found.models) - len(models),
    )


def _cell(found: Standings, one: str, other: str) -> PairCell | None:
    rate = found.pair_rates[one].get(other)
    if rate is None:
        return None
    withheld = found.asked.withheld and (found.on_record.human or REFERENCE in (one, other))
    return PairCell(rate=rate, linked=not withheld)
