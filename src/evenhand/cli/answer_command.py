"""`evenhand answer`: asks a model every item, and keeps what it says."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import click

from evenhand.cli import asking_flags, options
from evenhand.cli.options import option
from evenhand.cli.surroundings import Surroundings


@click.command("answer")
@click.argument("benchmark")
@option("--data", type=click.Path(path_type=Path), help="The benchmark's file, where it is not bundled.")
@option("--model", required=True, help="provider/model, or local/smollm2.")
@option("--name", help="The model's name on the boards; its own by default.")
@option("--base-url", help="Address of the model's server.")
@option("--api-key-env", help="Variable that holds the key.")
@option("--endpoint-name", help="A lasting name for a server whose address changes.")
@option("--limit", type=click.IntRange(1), help="Only the first N items.")
@option("--sample", type=click.IntRange(1), help="Only N items, drawn by the seed.")
@option("--category", multiple=True, help="Only items of this category; repeatable.")
@option("--items", multiple=True, help="Only these items; repeatable.")
@option("--seed", type=int, default=0, show_default=True, help="Of the drawing of items.")
@option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="As OpenAI's wire has it.")
@option("--max-image-edge", type=click.IntRange(16), help="Shrink images to this many pixels.")
@option("--replace", is_flag=True, help="Ask again where the ledger holds another answer, and let the new one stand.")
@option("--out", type=click.Path(path_type=Path), help="Also write the answers to this .jsonl, .csv or .parquet file.")
@asking_flags.settings_flags
@asking_flags.how_much_flags
@options.store
@options.as_json
@options.quiet
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Ask a model every item of BENCHMARK: images first, then the question, at temperature 0.

    Run the same command again and only what is missing is asked.
    """
    from evenhand.cli.answers import answer_order
    from evenhand.cli.judging import ledger_for
    from evenhand.cli.outcome import print_dry_run

    ledger = ledger_for(flags["store"], dry_run=flags["dry_run"])
    order = answer_order(ctx, flags, cast(Surroundings, ctx.obj), ledger)
    if flags["dry_run"]:
        print_dry_run(order.dry_run(), max_cost=flags["max_cost"], as_json=flags["as_json"], noun="items")
        return
    outcome = asyncio.run(order.carry_out(quiet=flags["quiet"]))
    if flags["out"]:
        order.write(flags["out"])
    if flags["as_json"]:
        click.echo(json.dumps(outcome.document, ensure_ascii=False))
    outcome.print_summary()
    ctx.exit(outcome.exit_code)
