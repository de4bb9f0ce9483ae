"""`evenhand reproduce`: a paper's published tables, recomputed."""

import json

import click

from evenhand.cli import options


@click.command("reproduce")
@click.argument("paper", type=click.Choice(["creation-mmbench", "visit-bench", "grade-score"]))
@options.as_json
@click.pass_context
def command(ctx: click.Context, paper: str, as_json: bool) -> None:
    """Recompute what can be recomputed of PAPER's tables from its own printed figures, and say where it does not agree.

    Ends with 1 where a row differs in a way that is not known.
    """
    from evenhand.reports.reproduce import reproduce
    from evenhand.reports.reproduce.words import print_reproduction
    from evenhand.reports.tables import console

    found = reproduce(paper)
    if as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False))
    else:
        print_reproduction(found, console())
    ctx.exit(0 if found.ok else 1)
