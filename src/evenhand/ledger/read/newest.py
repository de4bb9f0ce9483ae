"""How far the record has got: what a projection was made of, so that one made before can be told from a fresh one."""

from dataclasses import dataclass

from sqlalchemy import func, select

from evenhand.ledger.read.people_boards import PeoplePart, people_parts
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import submission_events


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    judgement: int
    """The newest one's sequence number; 0 where there is none."""
    answer: int
    """Likewise of the choices of which answer stands."""
    studies: int
    """How many there are."""
    said: int
    """The newest number of what was said about submissions."""
    people: tuple[PeoplePart, ...]
    """What of people's studies counts, and who may see it."""


def last_departure(ledger: Ledger) -> int:
    """The number of the newest word that took a submission off the board; what was made before still names it."""
    query = select(func.max(submission_events.c.seq)).where(submission_events.c.kind.in_(("withdrawn", "refused")))
    with ledger.reading() as connection:
        return connection.execute(query).scalar() or 0


def newest(ledger: Ledger) -> Newest:
    table, choices = schema.judgements, schema.response_choices
    with ledger.reading() as connection:
        last = connection.execute(select(func.max(table.c.seq))).scalar()
        answer = connection.execute(select(func.max(choices.c.seq))).scalar()
        studies = connection.execute(select(func.count()).select_from(schema.studies)).scalar_one()
        said = connection.execute(select(func.max(submission_events.c.seq))).scalar()
    return Newest(
        judgement=last or 0,
        answer=answer or 0,
        studies=studies,
        said=said or 0,
        people=people_parts(ledger),
    )
