"""Benchmarks that people let grow: what each is, its settings, of which the last stand, and its versions."""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, func, insert, select

from evenhand.domain.identity import canonical_json
from evenhand.domain.proposal import Rules
from evenhand.ledger import schema
from evenhand.ledger.record import Ledger


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
class Terms:
    """What the owner has set."""

    skills: tuple[Skill, ...]
    """In their order: each is one task for everybody who writes."""
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
    terms: Terms

    def skill(self, name: str) -> Skill | None:
        return next((one for one in self.terms.skills if one.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    number: int
    data: str
    """The digest of its data, under which it is a benchmark on record."""
    by: str
    at: float


class NameTaken(Exception):
    """A sentence."""


class VersionTaken(Exception):
    """A sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBenchmark:
    name: str
    licence: str
    base: str | None
    terms: Terms


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
        if connection.execute(select(table.c.id).where(table.c.name == asked.name)).first() is not None:
            raise NameTaken(f"There is a growing benchmark of the name '{asked.name}' already; choose another name.")
        connection.execute(insert(table), [row])
        connection.execute(insert(schema.growing_settings), [_settings_row(growing, asked.terms, by)])
    return growing


def set_terms(ledger: Ledger, growing: str, terms: Terms, *, by: str) -> None:
    with ledger.writing() as connection:
        connection.execute(insert(schema.growing_settings), [_settings_row(growing, terms, by)])


def growing_benchmarks(ledger: Ledger, growing: str | None = None) -> Sequence[GrowingBenchmark]:
    """The newest first; or the one of this id."""
    table, settings = schema.growing, schema.growing_settings
    newest = select(func.max(settings.c.seq)).group_by(settings.c.growing)
    query = (
        select(table, settings.c.content)
        .join(settings, settings.c.growing == table.c.id)
        .where(settings.c.seq.in_(newest))
        .order_by(table.c.at.desc(), table.c.id)
    )
    if growing is not None:
        query = query.where(table.c.id == growing)
    with ledger.reading() as connection:
        return [_benchmark(row) for row in connection.execute(query)]


def find_growing(ledger: Ledger, growing: str) -> GrowingBenchmark | None:
    return next(iter(growing_benchmarks(ledger, growing)), None)


def add_version(ledger: Ledger, growing: str, version: Version) -> None:
    """Raises VersionTaken where somebody else was first."""
    table = schema.growing_versions
    row = {"growing": growing, "number": version.number, "data": version.data, "by": version.by, "at": version.at}
    with ledger.writing() as connection:
        connection.execute(select(schema.growing.c.id).where(schema.growing.c.id == growing).with_for_update())
        last = connection.execute(select(func.max(table.c.number)).where(table.c.growing == growing)).scalar() or 0
        if version.number != last + 1:
            raise VersionTaken(f"Version {version.number} was made by somebody else in this moment; look at it first.")
        connection.execute(insert(table), [row])


def versions(ledger: Ledger, growing: str) -> Sequence[Version]:
    """The first first."""
    table = schema.growing_versions
    query = select(table).where(table.c.growing == growing).order_by(table.c.number)
    with ledger.reading() as connection:
        return [Version(number=row.number, data=row.data, by=row.by, at=row.at) for row in connection.execute(query)]


def _settings_row(growing: str, terms: Terms, by: str) -> dict[str, Any]:
    return {"growing": growing, "content": canonical_json(asdict(terms)), "by": by, "at": time.time()}


def _benchmark(row: Row[Any]) -> GrowingBenchmark:
    return GrowingBenchmark(
        id=row.id, name=row.name, licence=row.licence, base=row.base, at=row.at, terms=_terms(row.content)
    )


@lru_cache(maxsize=64)
def _terms(written: str) -> Terms:
    content: Mapping[str, Any] = json.loads(written)
    skills = tuple(Skill(name=one["name"], example=Example(**one["example"])) for one in content["skills"])
    return Terms(
        skills=skills,
        rules=Rules(**content["rules"]),
        max_cost=content["max_cost"],
        paused=content["paused"],
    )
