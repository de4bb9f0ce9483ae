"""A benchmark's items as a visitor asks for them: of which kind, page by page, and what is beside one."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query

from evenhand.domain.item import Item
from evenhand.ledger.read.item_names import public_names
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Ledger

PER_PAGE = 48
_EXCERPT = 220
"""Characters of an instruction in the list."""
UNSTATED = "not stated"
"""Stands for the licence of images of which the data states none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCases:
    """As it stands: all."""

    category: str = ""
    task: str = ""
    licence: str = ""
    images: str = ""
    find: str = ""
    """Some letters of the item's name or of its instruction."""

    @property
    def narrowed(self) -> bool:
        return any((self.category, self.task, self.licence, self.images, self.find))

    def query(self, page: int = 1) -> str:
        """With its question mark; empty for the first page of all."""
        fields = ("category", "task", "licence", "images", "find")
        given = {name: getattr(self, name) for name in fields if getattr(self, name)}
        given |= {"page": str(page)} if page > 1 else {}
        return f"?{urlencode(given)}" if given else ""


Text = Annotated[str, Query(max_length=1000)]


async def asked_cases(
    category: Text = "", task: Text = "", licence: Text = "", images: Text = "", find: Text = ""
) -> AskedCases:
    return AskedCases(category=category, task=task, licence=licence, images=images, find=find.strip())


Cases = Annotated[AskedCases, Depends(asked_cases)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCase:
    name: str
    """Its public one."""
    item: Item
    """All of it: nothing but its label, instruction, category, task and images may be shown of it in a list."""
    licences: tuple[str, ...]
    """Of its images, each once."""

    @property
    def excerpt(self) -> str:
        return shorten(self.item.instruction, _EXCERPT, placeholder=" …")

    @property
    def facets(self) -> dict[str, tuple[str, ...]]:
        """The values by which it is found."""
        return {
            "category": (self.item.category or "",),
            "task": (self.item.task or "",),
            "licence": self.licences,
            "images": (str(len(self.item.images)),),
        }

    def fits(self, asked: AskedCases) -> bool:
        wanted = {name: getattr(asked, name) for name in self.facets}
        letters = asked.find.casefold()
        return all(not value or value in self.facets[name] for name, value in wanted.items()) and (
            letters in self.item.label.casefold() or letters in self.item.instruction.casefold()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseList:
    total: int
    shown: tuple[ListedCase, ...]
    """Of one page."""
    page: int
    pages: int
    choices: Mapping[str, Sequence[tuple[str, int]]]
    """By field, the values that all items have, each with the number of items; nothing where they have one alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseBeside:
    number: int
    """From 1."""
    total: int
    previous: str | None
    """Its public name."""
    next: str | None


class CaseShelf:
    """The items of the benchmarks looked at last: data under one digest never change."""

    def __init__(self, ledger: Ledger, *, most: int = 4) -> None:
        self._ledger, self._most = ledger, most
        self._kept: dict[str, Mapping[str, Item]] = {}

    def of(self, data: str, without: Collection[str]) -> dict[str, Item]:
        """By public name, in the order of the data; `without` are digests."""
        found = self._kept.pop(data, None)
        if found is None:
            names = public_names(self._ledger, data)
            found = {names[item.digest]: item for item in items_of(self._ledger, data)}
        self._kept[data] = found
        while len(self._kept) > self._most:
            self._kept.pop(next(iter(self._kept)), None)
        return {name: item for name, item in found.items() if item.digest not in without}


def listed_cases(ledger: Ledger, data: str, items: Mapping[str, Item], asked: AskedCases, page: int | None) -> CaseList:
    """`page`: None for all on one."""
    said = ledger.images.addresses.licences(data)
    every = [ListedCase(name=name, item=item, licences=_licences(item, said)) for name, item in items.items()]
    fitting = [one for one in every if one.fits(asked)]
    shown = fitting if page is None else fitting[(page - 1) * PER_PAGE : page * PER_PAGE]
    return CaseList(
        total=len(fitting),
        shown=tuple(shown),
        page=page or 1,
        pages=1 if page is None else max(1, -(-len(fitting) // PER_PAGE)),
        choices={
            "category": _choices(every, "category", key=str.casefold),
            "task": _choices(every, "task", key=str.casefold),
            "licence": _choices(every, "licence", key=str.casefold),
            "images": _choices(every, "images", key=int),
        },
    )


def _licences(item: Item, said: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(said.get(name, UNSTATED) for name in item.images))


def _choices(every: Sequence[ListedCase], field: str, *, key: Callable[[str], Any]) -> list[tuple[str, int]]:
    times = Counter(value for one in every for value in one.facets[field] if value)
    return sorted(times.items(), key=lambda pair: key(pair[0])) if len(times) > 1 else []


def beside_case(items: Mapping[str, Item], name: str) -> CaseBeside:
    names = list(items)
    place = names.index(name)
    return CaseBeside(
        number=place + 1,
        total=len(names),
        previous=names[place - 1] if place else None,
        next=names[place + 1] if place + 1 < len(names) else None,
    )
