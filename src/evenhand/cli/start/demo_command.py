"""`evenhand demo`: the whole story on the embedded model and the bundled sample."""

import asyncio
import json
from dataclasses import dataclass
from typing import cast

import click

from evenhand.cli import options
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    full: bool = option("--full", is_flag=True, help="Draw all 32 pairs, however long they take.")
    battles: int | None = option(
        "--battles",
        settable=False,
        type=click.IntRange(1, 32),
        help="Draw so many pairs; by default what fits into 5 minutes.",
    )
    store: str = option(
        "--store",
        settable=False,
        default="sqlite:///.evenhand/demo/ledger.db",
        show_default=True,
        callback=options.usual_store,
        help="The demo's own ledger.",
    )
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()
    force: bool = options.force()


@click.command("demo")
@options.takes(DemoOptions)
def command(ctx: click.Context, given: DemoOptions) -> None:
    """A real language model of 135 million parameters judges the bundled answers, in both orders, on this machine.

    Prints the board and how far that judge can be trusted. Run again, it asks nothing: every verdict is on record.
    """
    from evenhand.cli.start.demonstration import BATTLES, demonstrate

    env = cast(Environment, ctx.obj)
    battles = BATTLES if given.full else given.battles
    shown = asyncio.run(demonstrate(given.store, env, battles=battles, quiet=given.quiet, force=given.force))
    if given.as_json:
        click.echo(json.dumps(shown.document, ensure_ascii=False))
    else:
        from evenhand.format.tables import console

        shown.print_story(console())
    ctx.exit(shown.exit_code)
