"""Looking after a ledger: how large it is, a copy that is whole, and whether everything it names is there."""

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Column, Connection, func, select, text

from evenhand.domain.identity import Json, content_hash
from evenhand.ledger import rows, schema
from evenhand.ledger.opening import HEAD, LedgerError, explained, sqlite_path
from evenhand.ledger.record import Ledger

_COUNTED = ("benchmarks", "items", "responses", "raters", "studies", "trials", "runs", "calls", "judgements", "claims")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerInfo:
    where: str
    version: str
    size_bytes: int | None
    images: int
    image_bytes: int
    counts: dict[str, int]
    cost_usd: float
    cost_unknown: int
    """Calls whose price is unknown."""

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "where": self.where,
            "version": self.version,
            "size_bytes": self.size_bytes,
            "images": self.images,
            "image_bytes": self.image_bytes,
            "counts": dict(self.counts),
            "cost_usd": self.cost_usd,
            "cost_unknown": self.cost_unknown,
        }


def info(ledger: Ledger) -> LedgerInfo:
    path = sqlite_path(ledger.url)
    images = [ledger.images.path(digest) for digest in ledger.images.digests()]
    calls = schema.calls
    with ledger.reading() as connection:
        counts = {
            name: connection.execute(select(func.count()).select_from(schema.metadata.tables[name])).scalar_one()
            for name in _COUNTED
        }
        cost = connection.execute(select(func.sum(calls.c.cost_usd))).scalar()
        unknown = connection.execute(select(func.count()).where(calls.c.cost_usd.is_(None))).scalar_one()
    return LedgerInfo(
        where=ledger.where,
        version=HEAD,
        size_bytes=path.stat().st_size if path else None,
        images=len(images),
        image_bytes=sum(image.stat().st_size for image in images),
        counts=counts,
        cost_usd=float(cost or 0.0),
        cost_unknown=unknown,
    )


def backup(ledger: Ledger, folder: Path) -> Path:
    """A consistent copy of ledger and images while others go on writing; returns the copied ledger's path."""
    source = sqlite_path(ledger.url)
    if source is None:
        raise LedgerError("`ledger backup` copies SQLite ledgers; for PostgreSQL use pg_dump.")
    target = folder / source.name
    if target.exists():
        raise LedgerError(f"{target} exists already; choose another folder: a backup never overwrites one.")
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix(".part")
        unfinished.unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(source, timeout=ledger.wait_seconds)) as here,
            closing(sqlite3.connect(unfinished)) as there,
        ):
            here.backup(there)
        if ledger.images.root.exists():
            # A picture that is being written has no name in the ledger yet, and its file may be gone at any moment.
            unnamed = shutil.ignore_patterns("*.unfinished")
            shutil.copytree(ledger.images.root, folder / "images", ignore=unnamed, dirs_exist_ok=True)
        unfinished.rename(target)
    return target


def check(ledger: Ledger) -> list[str]:
    """Sentences about whatever is broken; an empty list is a sound ledger."""
    problems: list[str] = []
    with ledger.reading() as connection:
        if ledger.engine.dialect.name == "sqlite":
            verdict = connection.execute(text("PRAGMA integrity_check")).scalar()
            if verdict != "ok":
                problems.append(f"SQLite finds the file damaged: {verdict}.")
        problems += _altered(connection, "item", schema.items.c.digest, schema.items.c.content)
        problems += _altered(connection, "call", schema.calls.c.key, schema.calls.c.request)
        problems += _altered_responses(connection)
        problems += _orphans(connection, schema.judgements.c.trial, schema.trials.c.key, "judgements name no trial")
        problems += _orphans(connection, schema.trials.c.rater, schema.raters.c.key, "trials name no rater")
        problems += _orphans(connection, schema.trials.c.item, schema.items.c.digest, "trials name no item")
    problems += [f"The image file {problem.path}: {problem.reason}" for problem in ledger.images.check()]
    return problems


def _altered(connection: Connection, kind: str, name: Column[str], content: Column[str]) -> list[str]:
    table = connection.execute(select(name, content))
    return [_renamed(kind, digest) for digest, words in table if _named_by(kind, words) != digest]


def _named_by(kind: str, words: str) -> str | None:
    try:
        return content_hash(kind, json.loads(words))
    except ValueError:
        return None


def _altered_responses(connection: Connection) -> list[str]:
    table = connection.execute(select(schema.responses))
    return [_renamed("response", row.digest) for row in table if rows.response_from(row).digest != row.digest]


def _renamed(kind: str, digest: str) -> str:
    return f"The {kind} {digest[:12]} does not hold the content its name says."


def _orphans(connection: Connection, child: Column[str], parent: Column[str], words: str) -> list[str]:
    query = select(func.count()).select_from(child.table).where(child.not_in(select(parent)))
    count = connection.execute(query).scalar_one()
    return [f"{count} {words}."] if count else []
