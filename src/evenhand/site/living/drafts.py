"""What a person has typed and not sent, kept so that a closed tab or another machine loses nothing of it."""

import json
import time
from collections.abc import Mapping

from sqlalchemy import bindparam, delete, insert, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger

# Built once: building it takes longer than running it.
_FIND = select(schema.drafts.c.content).where(
    schema.drafts.c.person == bindparam("person"), schema.drafts.c.what == bindparam("what")
)


def save_draft(ledger: Ledger, person: str, what: str, fields: Mapping[str, str]) -> None:
    """In the place of the one before; where every field is empty there is none."""
    table = schema.drafts
    row = {"person": person, "what": what, "content": json.dumps(dict(fields)), "at": time.time()}
    with ledger.writing() as connection:
        connection.execute(delete(table).where(table.c.person == person, table.c.what == what))
        if any(fields.values()):
            connection.execute(insert(table), [row])


def find_draft(ledger: Ledger, person: str, what: str) -> Mapping[str, str]:
    """Its fields; none where there is no draft."""
    with ledger.reading() as connection:
        content = connection.execute(_FIND, {"person": person, "what": what}).scalar()
    return {} if content is None else json.loads(content)


def drop_draft(ledger: Ledger, person: str, what: str) -> None:
    """Writes only where there is one."""
    if find_draft(ledger, person, what):
        save_draft(ledger, person, what, {})
