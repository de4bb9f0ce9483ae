"""`evenhand rank`: the board of what was judged."""

import json
from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.options import option


@click.command("rank")
@options.choosing
@option("--method", type=click.Choice(["win-rate", "elo"]), default="win-rate", show_default=True)
@option("--seed", type=int, default=0, show_default=True, help="Of the order in which Elo plays the battles.")
@options.store
@options.as_json
def command(**flags: Any) -> None:
    """The models in order, with intervals, what was left out, and how far the judge can be trusted."""
    from evenhand.cli.boards import board_of
    from evenhand.reports.tables import console, print_board

    board = board_of(flags)
    if flags["as_json"]:
        click.echo(json.dumps(board.as_json(), ensure_ascii=False))
    else:
        print_board(board, console())
