"""A log of events in one table: they are added one after the other, each checked against those before, and read back.

It knows nothing of what they say: whoever keeps one names the kinds there are, and what an event makes of a state.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import Column, Connection, Row, Select, Table, bindparam, select

from evenhand.domain.event import Event
from evenhand.domain.identity import canonical_json
from evenhand.ledger.store.statements import insert_all

SaidT = TypeVar("SaidT")
StateT = TypeVar("StateT")


class TooLate(Exception):
    """Something that cannot be said of a thing as it stands now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLog(Generic[SaidT, StateT]):
    table: Table
    """With the columns seq, kind, person, content and at."""
    about: str
    """The column that names the thing an event is about."""
    kinds: Mapping[str, type[Any]]
    """Dataclasses, by the names they have in the table."""
    after: Callable[[StateT, Event[SaidT]], StateT]
    """Where it stands after one more; as before, where that does not fit."""
    tuples: frozenset[str] = frozenset()
    """Fields of those dataclasses that are tuples, which JSON knows as lists."""
    later: frozenset[str] = frozenset()
    """Fields that came later: left out where they have their default, so that an event is written as it always was."""

    def name(self, kind: type[Any]) -> str:
        return next(name for name, known in self.kinds.items() if known is kind)

    def events(self, connection: Connection, thing: str) -> list[Event[SaidT]]:
        """All of one thing, in their order."""
        return [self.event(row) for row in connection.execute(_events_of(self.table, self.about), {"thing": thing})]

    def event(self, row: Row[Any]) -> Event[SaidT]:
        content: dict[str, Any] = json.loads(row.content)
        content.update({name: tuple(content[name]) for name in self.tuples & content.keys()})
        return Event(seq=row.seq, at=row.at, person=row.person, said=self.kinds[row.kind](**content))

    def must_change(self, before: StateT, said: SaidT, *, person: str | None) -> None:
        """Raises TooLate where it would leave the thing as it stands."""
        # The sequence number is known only afterwards: one that fits no event tells whether it would change anything.
        if self.after(before, Event(seq=0, at=time.time(), person=person, said=said)) == before:
            raise TooLate

    def add(self, connection: Connection, thing: str, said: SaidT, *, person: str | None, **more: Any) -> Event[SaidT]:
        """Unchecked; `more` are columns of this table alone."""
        at = time.time()
        row = {
            self.about: thing,
            "kind": self.name(type(said)),
            "person": person,
            "content": canonical_json(self._content(said)),
            "at": at,
            **more,
        }
        (seq,) = insert_all(connection, self.table, [row])
        return Event(seq=seq, at=at, person=person, said=said)

    def _content(self, said: SaidT) -> dict[str, Any]:
        usual = {one.name: one.default for one in fields(cast("Any", said)) if one.name in self.later}
        every: dict[str, Any] = asdict(cast("Any", said))
        return {name: value for name, value in every.items() if name not in usual or value != usual[name]}


@cache
def _events_of(table: Table, about: str) -> Select[*tuple[Any, ...]]:
    return select(table).where(table.c[about] == bindparam("thing")).order_by(table.c.seq)


def in_turn(connection: Connection, column: Column[str], value: str) -> None:
    """On PostgreSQL writers about one thing wait for each other here; on SQLite all writers do anyway."""
    connection.execute(_turn(column), {"value": value})


@cache
def _turn(column: Column[str]) -> Select[*tuple[Any, ...]]:
    # Built once: building it takes SQLAlchemy longer than running it takes SQLite.
    return select(column).where(column == bindparam("value")).with_for_update()
