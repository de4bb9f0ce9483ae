"""Benchmarks that people let grow: what each is, its settings, of which the last stand, and its versions."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from evenhand.domain.identity import canonical_json
from evenhand.format.look_alikes import at_a_glance
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.statements import insert_all
from evenhand.site.living.events import Rules

ROUNDS_MOST = 20
"""Instructions of one person for one skill, at most."""

_growing, _settings = schema.growing, schema.growing_settings
_WITH_SETTINGS = select(_growing, _settings.c.content).join(_settings, _settings.c.growing == _growing.c.id)
_ALL = _WITH_SETTINGS.where(
    _settings.c.seq.in_(select(func.max(_settings.c.seq)).group_by(_settings.c.growing))
).order_by(_growing.c.at.desc(), _growing.c.id)
# Built once, as every request of somebody who writes asks it: building it takes longer than running it.
_ONE = _WITH_SETTINGS.where(_growing.c.id == bindparam("growing")).order_by(_settings.c.seq.desc()).limit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A worked example that whoever writes is shown."""

    instruction: str
    output: str
    image: str | None = None
    """Its digest."""
    skill: str = ""
    """The skill it is of, where that is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    name: str
    example: Example


@dataclass(frozen=True, slots=True, kw_only=True)
class LivingTerms:
    """What the owner has set."""

    skills: tuple[Skill, ...]
    """In their order: each is a task for everybody who writes, in every round."""
    per_skill: int = 1
    """Instructions that everybody writes for each skill."""
    rules: Rules = field(default_factory=Rules)
    max_cost: float | None = None
    """Dollars that reference answers may cost in all; None is no limit."""
    paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingBenchmark:
    id: str
    name: str
    licence: str
    """Of the benchmark as a whole; each image has its own."""
    base: str | None
    """The digest of the data it grows from."""
    at: float
    terms: LivingTerms

    def skill(self, name: str) -> Skill | None:
        return next((one for one in self.terms.skills if one.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    number: int
    data: str
    """The digest of its data, under which it is a benchmark on record."""
    by: str
    at: float
    items: int
    """How many it holds."""


class NameTaken(Exception):
    """A sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBenchmark:
    name: str
    licence: str
    base: str | None
    terms: LivingTerms


def begin_growing(ledger: Ledger, asked: NewBenchmark, *, by: str) -> str:
    """The new one's id. Raises NameTaken."""
    table, growing = schema.growing, secrets.token_hex(4)
    row = {
        "id": growing,
        "name": asked.name,
        "licence": asked.licence,
        "base": asked.base,
        "by": by,
        "at": time.time(),
    }
    with ledger.writing() as connection:
        names = connection.execute(select(table.c.name)).scalars()
        like = next((one for one in names if at_a_glance(one) == at_a_glance(asked.name)), None)
        if like is not None:
            raise NameTaken(f"There is a growing benchmark of the name '{like}' already; choose another name.")
        insert_all(connection, table, [row])
        insert_all(connection, schema.growing_settings, [_settings_row(growing, asked.terms, by)])
    return growing


def set_terms(ledger: Ledger, growing: str, terms: LivingTerms, *, by: str) -> None:
    with ledger.writing() as connection:
        insert_all(connection, schema.growing_settings, [_settings_row(growing, terms, by)])


def growing_benchmarks(ledger: Ledger) -> Sequence[GrowingBenchmark]:
    """The newest first."""
    with ledger.reading() as connection:
        return [_benchmark(row) for row in connection.execute(_ALL)]


def find_growing(ledger: Ledger, growing: str) -> GrowingBenchmark | None:
    with ledger.reading() as connection:
        row = connection.execute(_ONE, {"growing": growing}).first()
    return None if row is None else _benchmark(row)


def add_version(connection: Connection, growing: str, version: Version) -> None:
    """In a transaction that has its turn, so that nobody else gives the same number."""
    row = {"growing": growing, "number": version.number, "data": version.data, "by": version.by, "at": version.at}
    insert_all(connection, schema.growing_versions, [row])


def versions(ledger: Ledger, growing: str) -> Sequence[Version]:
    """The first first."""
    table, places = schema.growing_versions, schema.benchmark_items
    held = select(func.count()).where(places.c.benchmark == table.c.data).scalar_subquery()
    query = select(table, held.label("items")).where(table.c.growing == growing).order_by(table.c.number)
    with ledger.reading() as connection:
        return [
            Version(number=row.number, data=row.data, by=row.by, at=row.at, items=row.items)
            for row in connection.execute(query)
        ]


def _settings_row(growing: str, terms: LivingTerms, by: str) -> dict[str, Any]:
    return {"growing": growing, "content": canonical_json(asdict(terms)), "by": by, "at": time.time()}


def _benchmark(row: Row[Any]) -> GrowingBenchmark:
    return GrowingBenchmark(
        id=row.id, name=row.name, licence=row.licence, base=row.base, at=row.at, terms=_terms(row.content)
    )


@lru_cache(maxsize=64)
def _terms(written: str) -> LivingTerms:
    content: Mapping[str, Any] = json.loads(written)
    skills = tuple(Skill(name=one["name"], example=Example(**one["example"])) for one in content["skills"])
    return LivingTerms(
        skills=skills,
        per_skill=content.get("per_skill", 1),  # terms written before there were several have none
        rules=Rules(**content["rules"]),
        max_cost=content["max_cost"],
        paused=content["paused"],
    )
