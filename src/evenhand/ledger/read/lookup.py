"""One thing on record with everything about it: a trial whole, an item with all its answers and verdicts."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select

from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition, Trial
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger, StoredCall, chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOnRecord:
    key: str
    request: Mapping[str, Any]
    """As its key was made from it: messages, settings, images by digest."""
    call: StoredCall


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOnRecord:
    trial: Trial
    item: Item
    rater: Rater
    condition: Condition
    responses: tuple[Response, ...]
    """In the order shown."""
    judgements: tuple[Judgement, ...]
    """In the order of the record; a later one may have been read anew."""
    calls: tuple[CallOnRecord, ...]


def find_trial(ledger: Ledger, start: str) -> TrialOnRecord | None:
    """The trial whose key begins so; None where there is none, LedgerError where there are several."""
    trials, judgements = schema.trials, schema.judgements
    with ledger.reading() as connection:
        found = connection.execute(select(trials).where(trials.c.key.startswith(start, autoescape=True)).limit(2)).all()
        if not found:
            return None
        if len(found) > 1:
            raise LedgerError(f"Several trials begin with '{start}'; give more of the key.")
        trial = rows.trial_from(found[0])
        query = select(judgements).where(judgements.c.trial == trial.key).order_by(judgements.c.seq)
        made = tuple(rows.judgement_from(row) for row in connection.execute(query))
        rater = rows.rater_from(
            connection.execute(select(schema.raters).where(schema.raters.c.key == trial.rater)).one()
        )
        table = schema.conditions
        condition = rows.condition_from(connection.execute(select(table).where(table.c.key == trial.condition)).one())
    responses = responses_by_digest(ledger, trial.responses)
    return TrialOnRecord(
        trial=trial,
        item=find_item(ledger, trial.item),
        rater=rater,
        condition=condition,
        responses=tuple(responses[digest] for digest in trial.responses),
        judgements=made,
        calls=calls_on_record(ledger, dict.fromkeys(key for one in made for key in one.calls)),
    )


def find_item(ledger: Ledger, digest: str) -> Item:
    with ledger.reading() as connection:
        content, label = connection.execute(_ITEM, {"digest": digest}).one()
    return rows.item_from(content, label or digest[:12])


LABEL = (
    select(schema.benchmark_items.c.label)
    .where(schema.benchmark_items.c.item == schema.items.c.digest)
    .limit(1)
    .scalar_subquery()
)
"""Of an item, in a benchmark that has it."""
_ITEM = select(schema.items.c.content, LABEL).where(schema.items.c.digest == bindparam("digest"))


def responses_by_digest(ledger: Ledger, digests: tuple[str, ...]) -> dict[str, Response]:
    table = schema.responses
    with ledger.reading() as connection:
        return {
            row.digest: rows.response_from(row)
            for some in chunks(digests)
            for row in connection.execute(select(table).where(table.c.digest.in_(some)))
        }


def calls_on_record(ledger: Ledger, keys: Mapping[str, Any]) -> tuple[CallOnRecord, ...]:
    """In the order of the keys."""
    table = schema.calls
    with ledger.reading() as connection:
        found = {
            row.key: CallOnRecord(
                key=row.key,
                request=json.loads(row.request),
                call=StoredCall(reply=rows.reply_from(row), cost_usd=row.cost_usd),
            )
            for some in chunks(keys)
            for row in connection.execute(select(table).where(table.c.key.in_(some)))
        }
    return tuple(found[key] for key in keys if key in found)


def find_study(ledger: Ledger, key: str) -> Study | None:
    """What it wants, as it was registered."""
    table = schema.studies
    with ledger.reading() as connection:
        content = connection.execute(select(table.c.content).where(table.c.key == key)).scalar()
    return None if content is None else rows.study_from(content)


def trials_by_key(ledger: Ledger, keys: Iterable[str]) -> dict[str, Trial]:
    table = schema.trials
    with ledger.reading() as connection:
        return {
            row.key: rows.trial_from(row)
            for some in chunks(keys)
            for row in connection.execute(select(table).where(table.c.key.in_(some)))
        }
