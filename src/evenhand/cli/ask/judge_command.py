"""`evenhand judge`: asks a judge to compare answers, and records every verdict."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.options import option


@click.command("judge")
@click.argument("benchmark")
@option("--data", type=click.Path(path_type=Path), help="The benchmark's file, where it is not bundled.")
@options.reference
@option("--responses", multiple=True, type=click.Path(path_type=Path), help="Answers to judge; repeatable.")
@option("--models", multiple=True, help="Only these models' answers; repeatable.")
@option("--variant", help="Which variant of the answers (text-only-generic …); the baseline keeps its plain ones.")
@options.allow_partial
@option("--judge", required=True, help="provider/model, or local/smollm2.")
@option("--base-url", help="Address of the judge's server, if --judge-base-url is not given.")
@option("--judge-base-url", help="Address of the judge's server.")
@option("--judge-api-key-env", help="Variable that holds the judge's key.")
@option("--endpoint-name", help="A lasting name for a server whose address changes.")
@option("--against", help="Every other model against this one; by default the baseline, where the protocol has one.")
@option("--pairs", type=click.Choice(["round-robin", "random"]), help="Else how models are paired [round-robin].")
@option("--battles", type=click.IntRange(1), help="With --pairs random: how many battles; with --new 700 by default.")
@option("--new", help="With --pairs random: add this model, against opponents drawn at random for each item.")
@option(
    "--reference-battles",
    type=click.IntRange(0),
    help="With --new: how many battles are against the reference [150 of 700, and the same share of other numbers].",
)
@option("--orders", type=click.Choice(["both", "published", "reversed", "random"]), default="both", show_default=True)
@option("--limit", type=click.IntRange(1), help="Only the first N items.")
@option("--sample", type=click.IntRange(1), help="Only N items, sampled with --seed.")
@option("--category", multiple=True, help="Only items of this category; repeatable.")
@option("--items", multiple=True, help="Only these items; repeatable.")
@option("--protocol", multiple=True, help="A protocol's name or folder; the benchmark's own by default. Repeatable.")
@option("--see", type=click.Choice(["images", "caption", "both", "none"]), help="What the judge is shown of the image.")
@option("--readout", type=click.Choice(["free", "constrained"]), default="free", show_default=True)
@option(
    "--fence",
    type=click.Choice(["none", "nonce", "token"]),
    default="none",
    show_default=True,
    help="nonce: wrap the answers. token: read only a closing line with a token that no candidate knows.",
)
@option("--extractor", help="Model that finds the decision in a reply that has no readable one; the judge by default.")
@option("--extractor-base-url", help="Address of the extractor's server.")
@option("--extractor-api-key-env", help="Variable that holds the extractor's key.")
@option("--image-detail", type=click.Choice(["low", "high", "auto"]), help="The OpenAI `detail` value.")
@option("--max-image-edge", type=click.IntRange(16), help="Shrink images to this many pixels.")
@option("--replicates", type=click.IntRange(1), default=1, show_default=True, help="Times each trial is asked.")
@option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@option("--replace", is_flag=True, help="Use the new answers where the ledger holds others.")
@option("--retry-failed", is_flag=True, help="Ask only what failed before; plan nothing new.")
@option(
    "--retry-reason",
    multiple=True,
    type=click.Choice(["refused", "truncated", "unreadable", "conflicting"]),
    help="Ask again what ended for this reason; the first verdict counts. Repeatable.",
)
@asking_flags.settings_flags
@asking_flags.how_much_flags
@options.store
@options.as_json
@options.quiet
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Compare the answers of several models to BENCHMARK, two at a time, in both orders.

    Run the same command again and only what is missing is asked.
    """
    from evenhand.cli.ask.judging import carry_out_all, ledger_for, orders_of, placing_of, players_of
    from evenhand.cli.ask.outcome import print_dry_run
    from evenhand.engine.run.quote import added_up

    env = cast(Environment, ctx.obj)
    if flags["against"] and flags["pairs"] == "random":
        raise WrongUse("--against and --pairs random are two ways to choose pairs; give one of them.")
    if flags["battles"] and flags["pairs"] != "random":
        raise WrongUse("--battles says how many to draw, so it goes with --pairs random.")
    _check_placing(flags)
    ledger = ledger_for(flags["store"], dry_run=flags["dry_run"])
    orders = orders_of(ctx, flags, env, ledger)
    if flags["dry_run"]:
        quoted = added_up([order.dry_run() for order in orders])
        print_dry_run(
            quoted,
            max_cost=flags["max_cost"],
            as_json=flags["as_json"],
            placing=placing_of(orders),
            players=players_of(orders),
        )
        return
    outcomes = asyncio.run(carry_out_all(orders, quiet=flags["quiet"]))
    if flags["as_json"]:
        click.echo(json.dumps(outcomes.document, ensure_ascii=False))
    outcomes.print_summary()
    ctx.exit(outcomes.exit_code)


def _check_placing(flags: dict[str, Any]) -> None:
    if flags["new"] and flags["pairs"] != "random":
        raise WrongUse("--new draws opponents for the model that joins, so it goes with --pairs random.")
    if flags["reference_battles"] is None:
        return
    if not flags["new"]:
        raise WrongUse("--reference-battles are battles of a model that joins, so it goes with --new.")
    if flags["battles"] and flags["reference_battles"] > flags["battles"]:
        raise WrongUse("--reference-battles are among the --battles, so there cannot be more of them.")
