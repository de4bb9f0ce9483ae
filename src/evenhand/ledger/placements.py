"""Models that joined a board: whom they met when they were placed."""

from sqlalchemy import select

from evenhand.domain.study import Study
from evenhand.ledger import rows, schema
from evenhand.ledger.record import Ledger


def placements_like(ledger: Ledger, study: Study) -> list[Study]:
    """The studies on record that placed the same model alike, whatever its opponents; in the order of the record."""
    table = schema.studies
    query = select(table.c.content).where(
        table.c.data == study.data,
        table.c.purpose == study.purpose,
        table.c.rater == study.rater,
        table.c.condition == study.condition,
    )
    with ledger.reading() as connection:
        found = connection.execute(query.order_by(table.c.at)).scalars().all()
    return [one for one in map(rows.study_from, found) if one.pairing == "placing" and _draw(one) == _draw(study)]


def _draw(study: Study) -> tuple[object, ...]:
    """What the lots hang on, besides who can be drawn."""
    return study.new, study.battles, study.reference_battles, study.seed, study.variant
