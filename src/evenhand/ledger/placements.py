"""Models that joined a board: whom they met when they were placed."""

from sqlalchemy import select

from evenhand.domain.study import Study
from evenhand.ledger import rows, schema
from evenhand.ledger.record import Ledger


def placements(ledger: Ledger, data: str) -> list[Study]:
    """The studies that placed a model on the board of these data, in the order of the record."""
    table = schema.studies
    query = select(table.c.content).where(table.c.data == data, table.c.purpose == "board").order_by(table.c.at)
    with ledger.reading() as connection:
        found = connection.execute(query).scalars().all()
    return [study for study in map(rows.study_from, found) if study.pairing == "placing"]
