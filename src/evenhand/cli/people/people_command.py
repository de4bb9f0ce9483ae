"""`evenhand people`: who has an account on the site of this ledger, and new accounts without a page."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import LedgerOptions, option
from evenhand.cli.people.owning import must_have_pages, refusing

if TYPE_CHECKING:
    from evenhand.domain.identity import Json
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.accounts.store import JoinedPerson, Person


@click.group("people", invoke_without_command=True)
@options.takes(LedgerOptions)
def command(ctx: click.Context, given: LedgerOptions) -> None:
    """The accounts on the site of this ledger: owners, those who write, caption and verify, and teams."""
    must_have_pages("people")
    if ctx.invoked_subcommand is not None:
        return
    from evenhand.format.tables import console, print_rows
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.accounts.store import people

    found = [_document(one) for one in people(Ledger(given.store, create=False))]
    if given.as_json:
        click.echo(json.dumps({"schema": 1, "people": found}, ensure_ascii=False))
    elif not found:
        click.echo("Nobody has an account here; `evenhand people add` makes one.")
    else:
        rows = [(one["name"] or "", one["role"] or "", one["person"] or "") for one in found]
        print_rows(("name", "role", "id"), rows, console())


def _document(one: "Person") -> "dict[str, str | None]":
    return {"person": one.id, "role": one.role, "name": one.name or None}


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOptions:
    name: str = options.argument()
    role: Literal["annotator", "team"] = option(
        "--role",
        settable=False,
        type=click.Choice(["annotator", "team"]),
        default="annotator",
        show_default=True,
        help="annotator: writes, captions, verifies and compares. team: submits models.",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("add")
@options.takes(AddOptions)
def add(_: click.Context, given: AddOptions) -> None:
    """Make an account for NAME, and print its token for scripts, which is shown this once.

    A team's token lets `evenhand submit` in: keep it in a file that only the team reads. Whoever shall come by a
    browser gets a link from the owner's pages instead.
    """
    from evenhand.cli.saying import say
    from evenhand.ledger.store.record import Ledger

    joined = _joined(Ledger(given.store), given)
    person = joined.person
    if given.as_json:
        document: dict[str, Json] = {"schema": 1, **_document(person), "token": joined.key.token}
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    say(f"'{person.name}' has an account as {person.role} ({person.id}). The token is shown this once:")
    click.echo(joined.key.token)


def _joined(ledger: "Ledger", given: AddOptions) -> "JoinedPerson":
    """Raises WrongUse where the name is another's, or none."""
    from evenhand.ledger.submissions.team_names import NameRefused
    from evenhand.site.accounts.store import add_person
    from evenhand.site.http.audit_log import LogEvent, write_down
    from evenhand.site.living.proposed import named

    with refusing():
        name = named(given.name, "the name")
    try:
        joined = add_person(ledger, given.role, name)
    except NameRefused as refused:
        raise WrongUse(str(refused)) from None
    write_down(ledger, LogEvent(what="joined", detail=f"{given.role} {joined.person.id}, by the command line"))
    return joined
