"""`evenhand show`: one run, trial or item whole."""

import json
from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.cli.surroundings import WrongUse


@click.command("show")
@click.argument("what", required=False)
@option("--benchmark", help="With --item: whose item.")
@option("--item", help="An item's id: all its answers and verdicts.")
@options.store
@options.as_json
def command(what: str | None, benchmark: str | None, item: str | None, store: str, as_json: bool) -> None:
    """WHAT is the beginning of a run's id (see `evenhand runs`) or of a trial's key."""
    from evenhand.cli.showing import item_document, print_item, print_run, print_trial, run_document, trial_document
    from evenhand.ledger.lookup import find_trial
    from evenhand.ledger.record import Ledger
    from evenhand.ledger.runs import find_run

    ledger = Ledger(store, create=False)
    document: dict[str, Any]
    if what is None:
        if item is None:
            raise WrongUse("Say what to show: a run, a trial, or --benchmark NAME --item ID.")
        document = item_document(ledger, benchmark, item)
        printed = print_item
    elif (trial := find_trial(ledger, what)) is not None:
        document = trial_document(trial)
        printed = print_trial
    else:
        document = run_document(ledger, find_run(ledger, what))
        printed = print_run
    if as_json:
        click.echo(json.dumps({"schema": 1, **document}, ensure_ascii=False))
    else:
        printed(document)
