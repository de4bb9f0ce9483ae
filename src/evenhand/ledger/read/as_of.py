"""The record as it stood at two of its numbers: what came after them is not read."""

from dataclasses import dataclass

from sqlalchemy import func, or_, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import RunOnRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf:
    """Both numbers belong to what is read.

    Which trials a study wants has no number: a trial that was judged before and that the study took up since counts.
    """

    judgement: int
    """Sequence number of the last judgement."""
    answer: int
    """Likewise of the last choice of which answer stands."""


def as_of_run(ledger: Ledger, run: RunOnRecord) -> AsOf | None:
    """As the record stood when the run ended; None for one that has not: as it stands."""
    if run.ended_at is None:
        return None
    judged, chosen = schema.judgements.c, schema.response_choices.c
    last = select(func.max(judged.seq)).where(or_(judged.run == run.id, judged.at <= run.ended_at))
    with ledger.reading() as connection:
        judgement = connection.execute(last).scalar()
        answer = connection.execute(select(func.max(chosen.seq)).where(chosen.at <= run.ended_at)).scalar()
    return AsOf(judgement=judgement or 0, answer=answer or 0)
