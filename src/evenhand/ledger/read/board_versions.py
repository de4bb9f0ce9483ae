"""What of a board's withheld verdicts everybody may count: batches that were released, each with a version of it.

A batch is released once and for good. Boards of one judge share their batches, as benchmarks may share items.
"""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, text

from evenhand.format.number_ranges import as_ranges, from_ranges
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger

_MOST = 2**62
RELEASING = 0x72656C6561736564
"""The number of a lock on PostgreSQL; any that no other program of the database takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Verdicts that are counted together or not at all."""

    models: tuple[str, str]
    """By name."""
    judgements: tuple[int, ...]
    """Sequence numbers."""
    released: int = 0
    """Sequence number of the version that it came with, on whichever board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardVersion:
    seq: int
    """Batches that came with later versions of other boards do not count yet."""
    number: int
    """From 1; 0 before anything was released."""
    judgement: int
    """Sequence number of the last judgement that it counts."""
    counted: str
    """What its figures are made of, as a digest; empty of one by an earlier Evenhand."""
    at: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    board: str
    judge: str
    batches: Sequence[Batch]
    """That come with it."""
    judgement: int
    counted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedSoFar:
    version: BoardVersion
    batches: tuple[Batch, ...]
    """Of all boards of its judge."""
    seen: int
    """Number of the judge's last version on any board."""

    @property
    def counting(self) -> tuple[Batch, ...]:
        """In this version."""
        return tuple(batch for batch in self.batches if batch.released <= self.version.seq)


def released_so_far(ledger: Ledger, board: str, judge: str) -> ReleasedSoFar:
    table = schema.board_versions
    query = select(table).where(table.c.judge == judge).order_by(table.c.seq)
    with ledger.reading() as connection:
        rows = connection.execute(query).all()
    own = [row for row in rows if row.board == board]
    version = BoardVersion(seq=0, number=0, judgement=0, counted="", at=None)
    if own:
        last = own[-1]
        counted = _content(last.content)["counted"]
        version = BoardVersion(seq=last.seq, number=len(own), judgement=last.judgement, counted=counted, at=last.at)
    return ReleasedSoFar(
        version=version,
        batches=tuple(batch for row in rows for batch in _batches(row.content, row.seq)),
        seen=rows[-1].seq if rows else 0,
    )


def _batches(content: str, seq: int) -> Iterable[Batch]:
    for first, second, numbers in _content(content)["batches"]:
        yield Batch(models=(first, second), judgements=tuple(from_ranges(numbers, most=_MOST)), released=seq)


def _content(stored: str) -> dict[str, Any]:
    found: Any = json.loads(stored)
    return {"batches": found, "counted": ""} if isinstance(found, list) else found


def add_version(ledger: Ledger, new: NewVersion, *, seen: int) -> None:
    """Nothing is added where somebody else has released something of this judge since it was `seen`."""
    table, judge = schema.board_versions, new.judge
    batches = [[*one.models, as_ranges(sorted(one.judgements))] for one in new.batches]
    content = json.dumps({"batches": batches, "counted": new.counted})
    row = {"board": new.board, "judge": judge, "judgement": new.judgement, "content": content, "at": time.time()}
    with ledger.writing() as connection:
        if connection.dialect.name == "postgresql":
            # Two servers may begin to write at once, and each see that nothing came since.
            connection.execute(text("SELECT pg_advisory_xact_lock(:ours)"), {"ours": RELEASING})
        last = connection.execute(select(func.max(table.c.seq)).where(table.c.judge == judge)).scalar()
        if (last or 0) == seen:
            connection.execute(table.insert(), [row])


def benchmarks_of_items(ledger: Ledger) -> dict[str, frozenset[str]]:
    """By item, the data of every benchmark that holds it."""
    table = schema.benchmark_items
    held: dict[str, set[str]] = {}
    with ledger.reading() as connection:
        for item, benchmark in connection.execute(select(table.c.item, table.c.benchmark)):
            held.setdefault(item, set()).add(benchmark)
    return {item: frozenset(those) for item, those in held.items()}
