"""What judges were asked again to see whether they have changed, and what their endpoints said they ran."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Row, select

from evenhand.domain.identity import draw
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.ledger.read.answers import word_counts
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.results import results_of
from evenhand.ledger.read.vote_columns import preferring
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger, chunks

REPLICATE = 1_000_000
"""Of trials that ask again: beyond those of boards and audits, so that neither ever takes such a reply for its own."""


Shown: TypeAlias = tuple[str, str, str]
"""An item, by its digest, and two answers in the order shown: by their digests, or by their models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRow:
    """A showing of a board, as its judge decided it."""

    models: tuple[str, str]
    """In the order shown."""
    sign: int
    """Positive for the answer shown first."""
    longer: float
    """Words by which that answer is longer."""
    seq: int
    """Of the judgement."""
    at: float
    stands: bool
    """Whether both answers still stand for their models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRow:
    """A showing asked again, with the result that counts: the first verdict got, else the last reason there is none."""

    look: str
    shown: Shown
    verdict: Verdict | NoVerdict
    seq: int
    """Of the judgement."""
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEndpoint:
    """What answered a judgement's first call, by its own words, and which reading rule read it."""

    model: str
    fingerprint: str
    reader: str


def lot(look: str, shown: Shown) -> int:
    """By which the rows of a look are drawn."""
    return draw(0, "sentinel", look, *shown)


def recorded_rows(ledger: Ledger, board: Sequence[StudyOnRecord]) -> dict[Shown, RecordedRow]:
    """The board's showings that have a preference got at the first attempt; of several replicates the first."""
    results = results_of(ledger, [one.key for one in board])
    kept = results.rows(results.pair & preferring(results) & (results.attempt == 0))
    words = word_counts(ledger, filter(None, kept.responses), items=kept.item.names)
    found: dict[Shown, RecordedRow] = {}
    for place in range(len(kept)):
        first, second = int(kept.first[place]), int(kept.second[place])
        answers = kept.responses[first], kept.responses[second]
        verdict = kept.endings[int(kept.ending[place])]
        assert isinstance(verdict, Preference)
        row = RecordedRow(
            models=(kept.models[int(kept.model_of[first])], kept.models[int(kept.model_of[second])]),
            sign=verdict.sign,
            longer=float(words.get(answers[0], math.nan) - words.get(answers[1], math.nan)),
            seq=int(kept.seq[place]),
            at=float(kept.at[place]),
            stands=bool(kept.stands[place]),
        )
        found.setdefault((kept.item.names[int(kept.item.code[place])], *answers), row)
    return found


def looks_at(ledger: Ledger, board: Sequence[StudyOnRecord]) -> list[StudyOnRecord]:
    """The studies that asked a board's judge again as the board was judged, in the order of the record."""
    one, table = board[0], schema.studies
    looked = select(table.c.key).where(table.c.purpose == "sentinel", table.c.data == one.data).limit(1)
    with ledger.reading() as connection:
        if connection.execute(looked).first() is None:
            return []  # to count what all studies have reached takes long
    return [
        study
        for study in studies(ledger, benchmark=one.benchmark, purposes=("sentinel",))
        if (study.data, study.variant, study.rater.key, study.condition.key)
        == (one.data, one.variant, one.rater.key, one.condition.key)
    ]


def rows_of_looks(ledger: Ledger, looks: Sequence[StudyOnRecord]) -> dict[str, list[Shown]]:
    """By look the item and the two models, as shown, of every row that it wants, answered or not."""
    table = schema.studies
    query = select(table.c.key, table.c.content).where(table.c.key.in_([one.key for one in looks]))
    with ledger.reading() as connection:
        contents = dict(connection.execute(query).all())
    found: dict[str, dict[Shown, None]] = {}
    for one in looks:
        found.setdefault(one.look, {}).update(dict.fromkeys(rows.study_from(contents[one.key]).showings))
    return {look: list(some) for look, some in found.items()}


def asked_rows(ledger: Ledger, looks: Sequence[StudyOnRecord]) -> list[AskedRow]:
    """Of these studies, each trial once; what was never answered is not among them."""
    links, trials, made = schema.study_trials, schema.trials, schema.judgements
    query = (
        select(links.c.study, trials.c.key, trials.c.item, trials.c.responses, made.c.seq, made.c.at)
        .add_columns(made.c.verdict, made.c.reason)
        .join(trials, trials.c.key == links.c.trial)
        .join(made, made.c.trial == links.c.trial)
        .where(links.c.study.in_([one.key for one in looks]))
        .order_by(made.c.seq)
    )
    look = {one.key: one.look for one in looks}
    found: dict[str, AskedRow] = {}
    with ledger.reading() as connection:
        for row in connection.execute(query):
            known = found.get(row.key)
            if known is None or isinstance(known.verdict, NoVerdict):
                found[row.key] = _asked(row, look[row.study])
    return [one for one in found.values() if not (isinstance(one.verdict, NoVerdict) and one.verdict.call_failed)]


def _asked(row: Row[Any], look: str) -> AskedRow:
    return AskedRow(
        look=look,
        shown=(row.item, *json.loads(row.responses)),
        verdict=rows.verdict_of(row.verdict, row.reason, ""),
        seq=row.seq,
        at=row.at,
    )


def endpoints(ledger: Ledger, numbers: Iterable[int]) -> dict[int, AskedEndpoint]:
    """By the judgements' numbers; those that were read from no call are not among them."""
    made, calls = schema.judgements, schema.calls
    judged = select(made.c.seq, made.c.reader, made.c.calls)
    answered = select(calls.c.key, calls.c.model, calls.c.fingerprint)
    with ledger.reading() as connection:
        first = {
            row.seq: (row.reader, keys[0])
            for some in chunks(numbers)
            for row in connection.execute(judged.where(made.c.seq.in_(some)))
            if (keys := json.loads(row.calls))
        }
        found = {
            row.key: row
            for some in chunks({key for _, key in first.values()})
            for row in connection.execute(answered.where(calls.c.key.in_(some)))
        }
    return {
        seq: AskedEndpoint(model=found[key].model, fingerprint=found[key].fingerprint, reader=reader)
        for seq, (reader, key) in first.items()
        if key in found
    }
