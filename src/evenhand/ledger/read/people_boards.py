"""Which of people's shares count on boards, and which of them everybody may see yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePart:
    """What one study for people adds to a board."""

    study: str
    title: str
    counts: bool
    """On the board that all studies of the benchmark share."""
    seen: bool
    """By everybody: it is closed, or the owner shows its board while it runs."""
    records: frozenset[str]
    """Keys of the people's shares, as studies on record."""


def people_parts(ledger: Ledger) -> tuple[PeoplePart, ...]:
    """The oldest study first."""
    with ledger.reading() as connection:
        return parts_within(connection)


def parts_within(connection: Connection) -> tuple[PeoplePart, ...]:
    found: dict[str, list[Row[*tuple[Any, ...]]]] = {}
    for row in _shares(connection):
        found.setdefault(row.id, []).append(row)
    return tuple(
        PeoplePart(
            study=study,
            title=some[0].title,
            counts=some[0].aside is None,
            seen=some[0].closed is not None or some[0].shown is not None,
            records=frozenset(row.record for row in some),
        )
        for study, some in found.items()
    )


def left_out(connection: Connection) -> set[str]:
    """Keys of studies on record that count on no shared board: set aside by the owner, or given back by a person."""
    shares = _shares(connection)
    aside = {row.record for row in shares if row.aside is not None}
    # Before replicates told shares apart, the very same one could be of two studies.
    counted = {row.record for row in shares if row.aside is None}
    return (aside - counted) | _given_back(connection)


def given_back(ledger: Ledger) -> set[str]:
    """Keys of the shares that a smaller one, or somebody else's, stands for."""
    with ledger.reading() as connection:
        return _given_back(connection)


def _given_back(connection: Connection) -> set[str]:
    # Before replicates told shares apart, the same one could be given back at one place and held at another.
    held = select(schema.people_places.c.record).where(schema.people_places.c.record.is_not(None))
    table = schema.given_back
    return set(connection.execute(select(table.c.study).where(table.c.study.not_in(held))).scalars())


_table, _places = schema.people_studies, schema.people_places
_SHARES = (
    select(_table.c.id, _table.c.title, _table.c.closed, _table.c.shown, _table.c.aside, _places.c.record)
    .join(_places, _places.c.study == _table.c.id)
    .where(_places.c.record.is_not(None))
    .order_by(_table.c.at, _table.c.id, _places.c.number)
)


def _shares(connection: Connection) -> Sequence[Row[*tuple[Any, ...]]]:
    return connection.execute(_SHARES).all()
