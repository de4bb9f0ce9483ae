"""`evenhand demo`: the whole story on the embedded model and the bundled sample."""

import asyncio
import json
from typing import Any, cast

import click

from evenhand.cli import options
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@click.command("demo")
@option("--full", is_flag=True, help="Draw all 32 pairs, however long they take.")
@click.option("--battles", type=click.IntRange(1, 32), help="Draw so many pairs; by default what fits into 5 minutes.")
@click.option(
    "--store",
    default="sqlite:///.evenhand/demo/ledger.db",
    show_default=True,
    callback=options.usual_store,
    help="The demo's own ledger.",
)
@options.as_json
@options.quiet
@options.force
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """A real language model of 135 million parameters judges the bundled answers, in both orders, on this machine.

    Prints the board and how far that judge can be trusted. Run again, it asks nothing: every verdict is on record.
    """
    from evenhand.cli.start.demonstration import BATTLES, demonstrate

    env = cast(Environment, ctx.obj)
    battles = BATTLES if flags["full"] else flags["battles"]
    shown = asyncio.run(demonstrate(flags["store"], env, battles=battles, quiet=flags["quiet"], force=flags["force"]))
    if flags["as_json"]:
        click.echo(json.dumps(shown.document, ensure_ascii=False))
    else:
        from evenhand.format.tables import console

        shown.print_story(console())
    ctx.exit(shown.exit_code)
