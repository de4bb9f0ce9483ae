"""`evenhand answer`: asks a model every item, and keeps what it says."""

from pathlib import Path
from typing import Any, cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@click.command("answer")
@options.writes("out")
@click.argument("benchmark")
@asking_flags.who_answers_flags
@option(
    "--variant",
    type=click.Choice(["default", "text-only", "text-only-generic", "text-only-query-specific"]),
    help="text-only: descriptions are sent instead of the images; text-only is text-only-generic.",
)
@option("--descriptions-by", help="With --variant text-only: whose descriptions; needed where several described.")
@option("--out", type=click.Path(path_type=Path), help="Also write the answers to this .jsonl, .csv or .parquet file.")
@asking_flags.settings_flags
@asking_flags.how_much_flags
@options.store
@options.as_json
@options.quiet
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Ask a model every item of BENCHMARK: images first, then the question, at temperature 0.

    Run the same command again and only what is missing is asked. What a model said counts, also where it was cut at the
    token limit or is a refusal; such answers are flagged.
    """
    from evenhand.cli.ask.answers import answer_order
    from evenhand.cli.ask.judging import ledger_for

    ledger = ledger_for(flags["store"], dry_run=flags["dry_run"])
    order = answer_order(ctx, flags, cast(Environment, ctx.obj), ledger)
    ctx.exit(order.obey(flags))
