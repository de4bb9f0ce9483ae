"""What judgements were read from, as hashes: a changed byte is noticed, and none of the words can be got back."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Column, Connection, bindparam, select

from evenhand.domain.identity import canonical_json, content_hash
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.record import Ledger, chunks

_KEYS: BindParameter[Any] = bindparam("keys", expanding=True)
_judgements, _calls = schema.judgements.c, schema.calls.c
_MADE = select(
    _judgements.seq, _judgements.trial, _judgements.reader, _judgements.verdict, _judgements.reason, _judgements.calls
).where(_judgements.seq.in_(_KEYS))
_REPLIES = select(
    _calls.key, _calls.text, _calls.finish, _calls.reasoning, _calls.model, _calls.offered, _calls.forced
).where(_calls.key.in_(_KEYS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """A judgement as it is stored, whether or not it can be understood."""

    seq: int
    trial: str
    """Key of the trial."""
    reader: str
    verdict: str | None
    """JSON."""
    reason: str | None
    calls: tuple[str, ...]
    """Keys."""
    replies: tuple[str | None, ...]
    """Of each call the SHA-256 of what came back; None where it is not on record."""

    @property
    def hash(self) -> bytes:
        """SHA-256 of all but the number, as canonical JSON."""
        content = [self.trial, self.reader, list(self.calls), list(self.replies), self.verdict, self.reason]
        return hashlib.sha256(canonical_json(content).encode("ascii")).digest()


def traces(ledger: Ledger, numbers: Iterable[int]) -> Iterator[Fingerprint]:
    """Of the judgements of these sequence numbers that are on record, in their order."""
    with ledger.reading() as connection:
        for some in chunks(sorted(numbers)):
            found = sorted(row for part in fetched(connection, _MADE, keys=some) for row in part)
            called = {row[0]: _names(row[-1]) for row in found}
            replies = _replies(connection, {name for names in called.values() for name in names})
            for seq, trial, reader, verdict, reason, _ in found:
                calls = called[seq]
                yield Fingerprint(
                    seq=seq,
                    trial=trial,
                    reader=reader,
                    verdict=verdict,
                    reason=reason,
                    calls=calls,
                    replies=tuple(replies.get(key) for key in calls),
                )


def _replies(connection: Connection, keys: Iterable[str]) -> dict[str, str]:
    """By call, the hash of its reply: words, how it ended, and what was offered."""
    return {
        key: content_hash("reply", [*words, offered, bool(forced)])
        for some in chunks(sorted(keys))
        for part in fetched(connection, _REPLIES, keys=some)
        for key, *words, offered, forced in part
    }


def _names(stored: str) -> tuple[str, ...]:
    """Of a JSON list; what is none names nothing that is there."""
    try:
        return tuple(map(str, json.loads(stored)))
    except (ValueError, TypeError):
        return (stored,)


def judgement_numbers(ledger: Ledger, *, until: int) -> list[int]:
    """The sequence numbers of all judgements on record up to this one, in their order."""
    return _numbers(ledger, schema.judgements.c.seq, until)


def answer_numbers(ledger: Ledger, *, until: int) -> list[int]:
    """Likewise of the choices of which answer stands."""
    return _numbers(ledger, schema.response_choices.c.seq, until)


def answer_choices(ledger: Ledger, *, until: int) -> Iterator[tuple[int, str, str, str, str]]:
    """Those choices whole: number, item, model, variant, answer."""
    table = schema.response_choices.c
    query = select(table.seq, table.item, table.model, table.variant, table.response)
    with ledger.reading() as connection:
        for part in fetched(connection, query.where(table.seq <= until).order_by(table.seq)):
            yield from ((row[0], row[1], row[2], row[3], row[4]) for row in part)


def _numbers(ledger: Ledger, column: Column[int], until: int) -> list[int]:
    with ledger.reading() as connection:
        found = fetched(connection, select(column).where(column <= until).order_by(column))
        return [number for part in found for (number,) in part]
