"""What of a board's withheld verdicts everybody may count: batches that were released, each with a version of it.

A batch is released once and for good. Boards of one judge share their batches, as benchmarks may share items.
"""

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
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
class VerdictBatch:
    """Verdicts that are counted together or not at all."""

    models: tuple[str, str]
    """By name."""
    judgements: tuple[int, ...]
    """Sequence numbers; of a verdict that was read or said again and is the same, the first."""
    released: int = 0
    """Sequence number of the version that it came with, on whichever board."""
    foreign: bool = False
    """Whether an earlier Evenhand, which shared nothing among variants of the answers, released it of another one."""


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
    batches: Sequence[VerdictBatch]
    """That come with it."""
    judgement: int
    counted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedSoFar:
    version: BoardVersion
    batches: tuple[VerdictBatch, ...]
    """Of all boards of its judge."""
    earlier: frozenset[int]
    """Versions, by number, of an Evenhand that shared nothing among variants of the answers."""
    alike: tuple[VerdictBatch, ...]
    """Of all boards of those that are asked in the same words."""

    @property
    def counting(self) -> tuple[VerdictBatch, ...]:
        """In this version."""
        return self.until(self.version.seq)

    def until(self, version: int) -> tuple[VerdictBatch, ...]:
        """What counts in the version of that number."""
        alone = version in self.earlier
        return tuple(one for one in self.batches if one.released <= version and not (alone and one.foreign))


def last_version(ledger: Ledger) -> int:
    """The number of the last one on any board."""
    with ledger.reading() as connection:
        return connection.execute(_LAST).scalar() or 0


_LAST = select(func.max(schema.board_versions.c.seq))


def released_so_far(
    ledger: Ledger, board: str, judge: str, *, before: str | None = None, alike: Collection[str] = ()
) -> ReleasedSoFar:
    """`before`: what an earlier Evenhand called the judge on this board. `alike`: judges that are asked in the same
    words."""
    table = schema.board_versions
    with ledger.reading() as connection:
        every = connection.execute(select(table).where(table.c.judge.in_([judge, *alike])).order_by(table.c.seq)).all()
    rows = [row for row in every if row.judge == judge]
    others = [row for row in every if row.judge != judge]
    contents: dict[int, dict[str, Any]] = {row.seq: json.loads(row.content) for row in rows}
    own = [row for row in rows if row.board == board]
    version = BoardVersion(seq=0, number=0, judgement=0, counted="", at=None)
    if own:
        last = own[-1]
        counted = contents[last.seq]["counted"]
        version = BoardVersion(seq=last.seq, number=len(own), judgement=last.judgement, counted=counted, at=last.at)
    return ReleasedSoFar(
        version=version,
        batches=tuple(batch for seq, content in contents.items() for batch in _batches(content, seq, before)),
        earlier=frozenset(seq for seq, content in contents.items() if "named" in content),
        alike=tuple(batch for row in others for batch in _batches(json.loads(row.content), row.seq, None)),
    )


def _batches(content: Mapping[str, Any], seq: int, before: str | None) -> Iterable[VerdictBatch]:
    foreign = content.get("named", before) != before
    for first, second, numbers in content["batches"]:
        judgements = tuple(from_ranges(numbers, most=_MOST))
        yield VerdictBatch(models=(first, second), judgements=judgements, released=seq, foreign=foreign)


def add_version(ledger: Ledger, new: NewVersion, *, seen: int) -> bool:
    """Whether it was added; not where somebody has released something on any board since the last version was `seen`:
    of whichever judge, as one that is asked in the same words may have come meanwhile."""
    table = schema.board_versions
    batches = [[*one.models, as_ranges(sorted(one.judgements))] for one in new.batches]
    content = json.dumps({"batches": batches, "counted": new.counted})
    row = {"board": new.board, "judge": new.judge, "judgement": new.judgement, "content": content, "at": time.time()}
    with ledger.writing() as connection:
        if connection.dialect.name == "postgresql":
            # Two servers may begin to write at once, and each see that nothing came since.
            connection.execute(text("SELECT pg_advisory_xact_lock(:ours)"), {"ours": RELEASING})
        if (connection.execute(_LAST).scalar() or 0) != seen:
            return False
        connection.execute(table.insert(), [row])
    return True


def benchmarks_of_items(ledger: Ledger) -> dict[str, frozenset[str]]:
    """By item, the data of every benchmark that holds it."""
    table = schema.benchmark_items
    held: dict[str, set[str]] = {}
    with ledger.reading() as connection:
        for item, benchmark in connection.execute(select(table.c.item, table.c.benchmark)):
            held.setdefault(item, set()).add(benchmark)
    return {item: frozenset(those) for item, those in held.items()}
