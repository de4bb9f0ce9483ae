"""What a team is called: as the owner accepted it, and as no other team here is."""

import unicodedata

from sqlalchemy import Connection, select, update

from evenhand.ledger.store import schema
from evenhand.ledger.store.submission_schema import access_requests, receipts, submissions

# Letters and marks that take no room: of what Unicode tells to ignore, those that are no control or format characters.
_WITHOUT_A_SHAPE = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))


class NameRefused(Exception):
    """A name that this team cannot have. A sentence."""


def one_line(name: str) -> str:
    """With single spaces of the plain kind."""
    return " ".join(name.split())


def as_read(name: str) -> str:
    """As a hurried reader takes it: without case, kinds of space, widths of letters, and what is not seen."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return one_line("".join(char for char in plain if not _unseen(char)))


def _unseen(char: str) -> bool:
    return char in _WITHOUT_A_SHAPE or (unicodedata.category(char) in ("Cc", "Cf") and not char.isspace())


def team_name(connection: Connection, name: str, *, accepted: str) -> str:
    """What a new team's account is called; `accepted` is empty where the owner named nobody.

    Raises NameRefused.
    """
    chosen = one_line(accepted) or one_line(name)
    if not as_read(chosen):
        raise NameRefused("The team's name is missing; what a team submits carries it.")
    if name and as_read(name) != as_read(chosen):
        raise NameRefused(f"The owner has let you in as '{chosen}', and your account carries that name; give no other.")
    must_be_free(connection, chosen)
    return chosen


def must_be_free(connection: Connection, name: str) -> None:
    """Raises NameRefused where another team's account has the name, or something that was submitted under it."""
    people = schema.people
    accounts = connection.execute(select(people.c.name).where(people.c.role == "team")).scalars()
    submitted = connection.execute(select(submissions.c.team).distinct()).scalars()
    if as_read(name) in {as_read(one) for one in (*accounts, *submitted)}:
        raise NameRefused(f"Another team here is called '{name}'; a team needs a name of its own.")


def forget_team(connection: Connection, person: str, *, invitation: str | None) -> None:
    """Takes away what a person asked for in their words, and the name under which they submitted.

    What has a receipt keeps it: the receipt, and the row once it is published, say it.
    """
    # An invitation that answers a request has the request's id.
    asked = access_requests
    theirs = (asked.c.person == person) | (asked.c.id == invitation)
    connection.execute(update(asked).where(theirs).values(name="", about=""))
    unjudged = (submissions.c.person == person) & submissions.c.id.not_in(select(receipts.c.submission))
    connection.execute(update(submissions).where(unjudged).values(team=f"person-{person}"))
