"""`evenhand show`: one run, trial or item whole."""

import json
from dataclasses import dataclass
from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    what: str | None = options.argument(required=False)
    benchmark: str | None = option("--benchmark", help="With --item: whose item.")
    item: str | None = option(
        "--item", help="An item's id: what is asked, its images and criteria, all its answers and verdicts."
    )
    models: tuple[str, ...] = option(
        "--models", multiple=True, help="Of an item: only these models, and whom they met; repeatable."
    )
    flips: bool = option("--flips", is_flag=True, help="Of a run: the pairs whose verdict changed with the order.")
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("show")
@options.takes(ShowOptions)
def command(_: click.Context, given: ShowOptions) -> None:
    """WHAT is the beginning of a run's id (see `evenhand runs`) or of a trial's key."""
    from evenhand.cli.read import case_page, showing
    from evenhand.ledger.read.lookup import find_trial
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.store.runs import find_run
    from evenhand.reports.case import trial_document

    ledger = Ledger(given.store, create=False)
    document: dict[str, Any]
    what = given.what
    if what is None:
        if given.item is None:
            raise WrongUse("Say what to show: a run, a trial, or --benchmark NAME --item ID.")
        document = case_page.case_document(ledger, given.benchmark, given.item, models=given.models)
        printed = case_page.print_case
    elif (trial := find_trial(ledger, what)) is not None:
        document = trial_document(trial)
        printed = showing.print_trial
    else:
        document = showing.run_document(ledger, find_run(ledger, what))
        printed = showing.print_flips if given.flips else showing.print_run
    if given.as_json:
        click.echo(json.dumps({"schema": 1, **document}, ensure_ascii=False))
    else:
        printed(document)
