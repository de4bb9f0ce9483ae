"""What a team is called: as the owner accepted it, and as no other team here is."""

import re

from sqlalchemy import Connection, select, update

from evenhand.format.look_alikes import at_a_glance
from evenhand.ledger.store import schema
from evenhand.ledger.store.submission_schema import access_requests, receipts, submissions

_SIGNS = re.compile(r"[\W_]+")


class NameRefused(Exception):
    """A name that this team cannot have. A sentence."""


def one_line(name: str) -> str:
    """With single spaces of the plain kind."""
    return " ".join(name.split())


def team_name(connection: Connection, name: str, *, accepted: str) -> str:
    """What a new team's account is called; `accepted` is empty where the owner named nobody.

    Raises NameRefused.
    """
    chosen = one_line(accepted) or one_line(name)
    if not at_a_glance(chosen):
        raise NameRefused("The team's name is missing; what a team submits carries it.")
    if name and at_a_glance(name) != at_a_glance(chosen):
        raise NameRefused(f"The owner has let you in as '{chosen}', and your account carries that name; give no other.")
    must_be_free(connection, chosen)
    return chosen


def must_be_free(connection: Connection, name: str) -> None:
    """Raises NameRefused where another team's account has the name, or something that was submitted under it."""
    people = schema.people
    accounts = connection.execute(select(people.c.name).where(people.c.role == "team")).scalars()
    submitted = connection.execute(select(submissions.c.team).distinct()).scalars()
    like = next((one for one in (*accounts, *submitted) if _letters(one) == _letters(name)), None)
    if like is not None:
        raise NameRefused(f"Another team here is called '{like}'; a team needs a name that nobody takes for another's.")


def _letters(name: str) -> str:
    """OpenAI, Open AI and Open-AI. are one; a name of signs alone is its signs."""
    seen = at_a_glance(name)
    return _SIGNS.sub("", seen) or seen


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
