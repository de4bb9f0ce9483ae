"""A model's battles one by one, as far as a visitor may see them: which, in which order, and what is beside one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
from fastapi import Depends, Query

from evenhand.ledger.read.item_names import public_names
from evenhand.ledger.read.projection import item_labels, items_of
from evenhand.ledger.store.record import Ledger
from evenhand.site.boards.standings import BoardBattles, Standings
from evenhand.site.http.visibility import Sight

PER_PAGE = 50

Result: TypeAlias = Literal["won", "lost", "tie"]
Column: TypeAlias = Literal["item", "against", "result"]
Direction: TypeAlias = Literal["ascending", "descending"]
"""In the words of `aria-sort`."""

_SIGNS: Mapping[str, int] = {"won": 1, "tie": 0, "lost": -1}
_RESULTS: Mapping[int, Result] = {1: "won", 0: "tie", -1: "lost"}
COLUMNS: Mapping[Column, str] = {"item": "Item", "against": "Against", "result": "Result"}
RESULTS: Mapping[Result, str] = {"won": "Won", "tie": "Tied", "lost": "Lost"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBattles:
    """Which of a model's battles, and in which order; as it stands: all, in the order of the record, which nobody else
    is told where something is withheld: what was read from a reply on record comes first there."""

    against: str = ""
    result: Result | Literal[""] = ""
    category: str = ""
    item: str = ""
    """Some letters of the items' labels."""
    sort: Column | Literal[""] = ""
    order: Direction = "ascending"

    @property
    def narrowed(self) -> bool:
        return bool(self.against or self.result or self.category or self.item)

    def query(self, **changed: str) -> str:
        """As the end of an address that has a query already; empty for the plain list."""
        fields = ("against", "result", "category", "item", "sort", "order")
        named = {name: getattr(self, name) for name in fields} | changed
        if not named["sort"] or named["order"] == "ascending":
            named["order"] = ""
        # On the page of one battle `item` is that battle's.
        given = {("find" if name == "item" else name): value for name, value in named.items() if value}
        return f"&{urlencode(given)}" if given else ""

    def by(self, column: Column) -> str:
        """The query that sorts by this column: the other way round where it does already."""
        turned = self.sort == column and self.order == "ascending"
        return self.query(sort=column, order="descending" if turned else "ascending")


Text = Annotated[str, Query(max_length=1000)]


async def asked_battles(
    against: Text = "",
    result: Literal["", "won", "lost", "tie"] = "",
    category: Text = "",
    find: Annotated[Text, Query(description="Some letters of the items' labels.")] = "",
    sort: Literal["", "item", "against", "result"] = "",
    order: Direction = "ascending",
) -> AskedBattles:
    return AskedBattles(against=against, result=result, category=category, item=find.strip(), sort=sort, order=order)


Battles = Annotated[AskedBattles, Depends(asked_battles)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedBattle:
    item: str
    """Its public name."""
    label: str
    opponent: str
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleList:
    total: int
    battles: tuple[ListedBattle, ...]
    """Of one page."""
    left_out: int = 0
    """Battles of the model that this visitor may not see one by one: of all, for of some it would tell how they
    ended."""
    opponents: tuple[str, ...] = ()
    """All that may be chosen from."""

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PER_PAGE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Where a battle stands in a model's list."""

    number: int
    """From 1."""
    total: int
    previous: ListedBattle | None
    next: ListedBattle | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Played:
    """Battles of one model from its side, in the order asked for."""

    index: BoardBattles
    item: npt.NDArray[np.int64]
    opponent: npt.NDArray[np.int64]
    sign: npt.NDArray[np.int64]
    labels: Sequence[str]
    """By the number of the item."""
    names: Sequence[str]
    """Public ones, likewise."""

    def __len__(self) -> int:
        return len(self.item)

    def rows(self, kept: "npt.NDArray[np.bool_] | npt.NDArray[np.intp] | slice") -> "_Played":
        return _Played(
            index=self.index,
            item=self.item[kept],
            opponent=self.opponent[kept],
            sign=self.sign[kept],
            labels=self.labels,
            names=self.names,
        )

    def listed(self) -> list[ListedBattle]:
        items: list[int] = self.item.tolist()
        opponents: list[int] = self.opponent.tolist()
        signs: list[int] = self.sign.tolist()
        return [
            ListedBattle(
                item=self.names[item],
                label=self.labels[item],
                opponent=self.index.rows.models[opponent],
                result=_RESULTS[sign],
            )
            for item, opponent, sign in zip(items, opponents, signs, strict=True)
        ]


def listed_battles(
    ledger: Ledger, found: Standings, model: str, seen: Sight, asked: AskedBattles, page: int | None
) -> BattleList:
    """One page of those a visitor may see, None for all; of people's only where their verdicts may be seen."""
    played = _played(ledger, found, model, seen)
    if played is None or found.index is None:
        return BattleList(total=0, battles=())
    wanted = _arranged(ledger, found, played, asked, seen)
    opponents: list[int] = np.unique(played.opponent).tolist()
    shown = wanted if page is None else wanted.rows(slice((page - 1) * PER_PAGE, page * PER_PAGE))
    return BattleList(
        total=len(wanted),
        battles=tuple(shown.listed()),
        left_out=len(found.index.of(model)) - len(played),
        opponents=tuple(found.index.rows.models[code] for code in opponents),
    )


def beside(
    ledger: Ledger, found: Standings, models: tuple[str, str], item: str, *, seen: Sight, asked: AskedBattles
) -> Neighbours | None:
    """Of the battle of the two on the item of this public name, in the list of the first; None where it is not in it.

    People's battles of one item and pair are several, and all on one page: they count as one.
    """
    model, opponent = models
    played = _played(ledger, found, model, seen)
    if played is None:
        return None
    every = {(one.item, one.opponent): one for one in _arranged(ledger, found, played, asked, seen).listed()}
    if (item, opponent) not in every:
        return None
    listed = list(every.values())
    place = listed.index(every[item, opponent])
    return Neighbours(
        number=place + 1,
        total=len(listed),
        previous=listed[place - 1] if place else None,
        next=listed[place + 1] if place + 1 < len(listed) else None,
    )


def _played(ledger: Ledger, found: Standings, model: str, seen: Sight) -> _Played | None:
    """All that may be seen, in the order of the record."""
    index = found.index
    # Of a board made while something was withheld, lots say on which items those verdicts lie.
    seen = replace(seen, everything=seen.everything and not found.asked.withheld)
    if index is None or not seen.verdicts(human=found.on_record.human) or model not in index.rows.models:
        return None
    hidden = [other for other in index.rows.models if not seen.battle((model, other))]
    rows = index.rows.rows(index.of(model, without=hidden))
    assert rows.item is not None
    ours = rows.model_a == index.rows.models.index(model)
    labels = item_labels(ledger, {found.on_record.data})
    names = public_names(ledger, found.on_record.data)
    return _Played(
        index=index,
        item=rows.item.astype(np.int64),
        opponent=np.where(ours, rows.model_b, rows.model_a).astype(np.int64),
        sign=np.where(ours, rows.sign, -rows.sign).astype(np.int64),
        labels=[labels[digest] for digest in index.items],
        names=[names[digest] for digest in index.items],
    )


def _arranged(ledger: Ledger, found: Standings, played: _Played, asked: AskedBattles, seen: Sight) -> _Played:
    models, kept = played.index.rows.models, np.ones(len(played), dtype=np.bool_)
    if asked.against:
        kept &= played.opponent == (models.index(asked.against) if asked.against in models else -1)
    if asked.result:
        kept &= played.sign == _SIGNS[asked.result]
    if asked.item:
        letters = asked.item.casefold()
        kept &= np.array([letters in label.casefold() for label in played.labels], dtype=np.bool_)[played.item]
    if asked.category:
        of_category = {one.digest for one in items_of(ledger, found.on_record.data) if one.category == asked.category}
        kept &= np.array([digest in of_category for digest in played.index.items], dtype=np.bool_)[played.item]
    wanted = played.rows(kept)
    sort = asked.sort or "item"
    if not asked.sort and seen.everything:
        return wanted
    # By more than the number: 2 and 02 would else stand in the order of the record.
    item = _places([(_by_number(label), name) for label, name in zip(wanted.labels, wanted.names, strict=True)])[
        wanted.item
    ]
    opponent = _places([(_by_number(found.names.get(model, model)), model) for model in models])[wanted.opponent]
    keys = {"item": item, "against": opponent, "result": -wanted.sign}
    first = keys[sort] if asked.order == "ascending" else -keys[sort]
    # Of what is alike the items are in their order, whichever way the list goes.
    return wanted.rows(np.lexsort((opponent, item, first)))


def _places(names: Sequence[tuple[object, ...]]) -> npt.NDArray[np.int64]:
    """Where each stands in their order; equal ones share a place."""
    place = {name: number for number, name in enumerate(sorted(set(names)))}
    return np.array([place[name] for name in names], dtype=np.int64)


def _by_number(name: str) -> tuple[tuple[int, int, str], ...]:
    """Item 2 before item 10."""
    parts = re.split(r"(\d{1,18})", name.casefold())
    return tuple((0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in parts if part)
