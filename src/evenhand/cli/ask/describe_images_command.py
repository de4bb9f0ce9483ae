"""`evenhand describe-images`: asks a model what images show, for models that are to answer without them."""

from pathlib import Path
from typing import Any, cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@click.command("describe-images")
@options.writes("out")
@click.argument("benchmark")
@asking_flags.who_answers_flags
@option(
    "--mode",
    type=click.Choice(["generic", "query-specific"]),
    default="generic",
    show_default=True,
    help="query-specific: the model first says what to look at for the question, which takes a second call.",
)
@option(
    "--out", type=click.Path(path_type=Path), help="Also write the descriptions to this .jsonl, .csv or .parquet file."
)
@asking_flags.settings_flags
@asking_flags.how_much_flags
@options.store
@options.as_json
@options.quiet
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Ask a model to describe the images of every item of BENCHMARK, as `answer --variant text-only` needs it.

    Run the same command again and only what is missing is asked; the same images are described once for all items that
    show them, in the generic mode.
    """
    from evenhand.cli.ask.answers import describe_order
    from evenhand.cli.ask.judging import ledger_for

    ledger = ledger_for(flags["store"], dry_run=flags["dry_run"])
    order = describe_order(ctx, flags, cast(Environment, ctx.obj), ledger)
    ctx.exit(order.obey(flags))
