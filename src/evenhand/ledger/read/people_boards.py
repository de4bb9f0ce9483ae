"""Which of people's shares count on boards, and which of them everybody may see yet."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, bindparam, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger, chunks

Showing: TypeAlias = tuple[str, str, str, str]
"""The rater, the item, and the responses shown first and second."""


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
    out: frozenset[str] = frozenset()
    """Of these, the shares of people whom the owner left out."""

    @property
    def counting(self) -> frozenset[str]:
        """On this study's own board."""
        return self.records - self.out


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDecision:
    """What the owner said about a person's part in a study."""

    seq: int
    person: str
    left_out: bool
    rule: str
    """By which rule, with the figures of that day."""
    by: str | None
    at: float


def decisions(ledger: Ledger, study: str) -> list[PersonDecision]:
    """The oldest first; the last of each person stands."""
    table = schema.people_decisions
    with ledger.reading() as connection:
        found = connection.execute(select(table).where(table.c.study == study).order_by(table.c.seq))
        return [
            PersonDecision(seq=row.seq, person=row.person, left_out=row.left_out, rule=row.rule, by=row.by, at=row.at)
            for row in found
        ]


def people_left_out(found: Iterable[PersonDecision]) -> dict[str, PersonDecision]:
    """By person, of those who are left out now."""
    last = {one.person: one for one in found}
    return {person: one for person, one in last.items() if one.left_out}


def _out(connection: Connection) -> set[tuple[str, str]]:
    """Study and person of all who are left out now."""
    last = {(study, person): out for study, person, out in connection.execute(_DECIDED)}
    return {one for one, out in last.items() if out}


def people_parts(ledger: Ledger) -> tuple[PeoplePart, ...]:
    """The oldest study first."""
    with ledger.reading() as connection:
        return parts_within(connection)


def parts_within(connection: Connection) -> tuple[PeoplePart, ...]:
    found: dict[str, list[Row[*tuple[Any, ...]]]] = {}
    out = _out(connection)
    for row in _shares(connection):
        found.setdefault(row.id, []).append(row)
    return tuple(
        PeoplePart(
            study=study,
            title=some[0].title,
            counts=some[0].aside is None,
            seen=some[0].closed is not None or some[0].shown is not None,
            records=frozenset(row.record for row in some),
            out=frozenset(row.record for row in some if (row.id, row.person) in out),
        )
        for study, some in found.items()
    )


def left_out(connection: Connection) -> set[str]:
    """Keys of studies on record that count on no shared board: set aside by the owner, of a person left out by them,
    or given back by a person."""
    shares, out = _shares(connection), _out(connection)
    aside = {row.record for row in shares if row.aside is not None or (row.id, row.person) in out}
    # Before replicates told shares apart, the very same one could be of two studies.
    counted = {row.record for row in shares if row.aside is None and (row.id, row.person) not in out}
    return (aside - counted) | _given_back(connection)


def given_back(ledger: Ledger) -> set[str]:
    """Keys of the shares that a smaller one, or somebody else's, stands for."""
    with ledger.reading() as connection:
        return _given_back(connection)


def _given_back(connection: Connection) -> set[str]:
    return set(connection.execute(_GIVEN_BACK).scalars())


_table, _places = schema.people_studies, schema.people_places
_SHARES = (
    select(
        _table.c.id, _table.c.title, _table.c.closed, _table.c.shown, _table.c.aside, _places.c.record, _places.c.person
    )
    .join(_places, _places.c.study == _table.c.id)
    .where(_places.c.record.is_not(None))
    .order_by(_table.c.at, _table.c.id, _places.c.number)
)
_HELD = select(_places.c.record).where(_places.c.record.is_not(None))
# Before replicates told shares apart, the same one could be given back at one place and held at another.
_GIVEN_BACK = select(schema.given_back.c.study).where(schema.given_back.c.study.not_in(_HELD))
_said = schema.people_decisions.c
_DECIDED = select(_said.study, _said.person, _said.left_out).order_by(_said.seq)


def _shares(connection: Connection) -> Sequence[Row[*tuple[Any, ...]]]:
    return connection.execute(_SHARES).all()


def asked_of_one_category(ledger: Ledger, records: Collection[str]) -> dict[str, str]:
    """Of the people's studies with these shares that drew from the items of one category alone: by title, which."""
    query = select(_table.c.title, _table.c.asked).join(_places, _places.c.study == _table.c.id).distinct()
    found: dict[str, str] = {}
    with ledger.reading() as connection:
        for some in chunks(records):
            for title, asked in connection.execute(query.where(_places.c.record.in_(some))):
                if category := json.loads(asked)["category"]:
                    found[title] = category
    return found


def draw_probabilities(ledger: Ledger, records: Collection[str]) -> dict[Showing, tuple[str, float]]:
    """Of each showing in these shares, the people's study that drew it and with which probability.

    Without those of studies that did not write it down. One drawn in several studies is of the last.
    """
    found: dict[Showing, tuple[str, float]] = {}
    with ledger.reading() as connection:
        for some in chunks(records):
            for rater, item, first, second, study, probability in connection.execute(_DRAWN, {"records": some}):
                found[rater, item, first, second] = (study, probability)
    return found


def draw_weights(ledger: Ledger, records: Collection[str]) -> dict[Showing, float]:
    """What each showing counts for so that what was drawn rarely speaks for what was not drawn: one in the mean of a
    study. Empty where everything was drawn alike."""
    drawn = draw_probabilities(ledger, records)
    rare: dict[str, list[float]] = {}
    for study, probability in drawn.values():
        rare.setdefault(study, []).append(1 / probability)
    uneven = {study: fmean(some) for study, some in rare.items() if min(some) < max(some) * (1 - 1e-9)}
    return {
        showing: 1 / probability / uneven[study] for showing, (study, probability) in drawn.items() if study in uneven
    }


_tasks = schema.people_tasks
_DRAWN = (
    select(
        schema.studies.c.rater, _tasks.c.item, _tasks.c.first, _tasks.c.second, _places.c.study, _tasks.c.probability
    )
    .join(_places, _places.c.id == _tasks.c.place)
    .join(schema.studies, schema.studies.c.key == _places.c.record)
    .where(_places.c.record.in_(bindparam("records", expanding=True)), _tasks.c.probability.is_not(None))
)
