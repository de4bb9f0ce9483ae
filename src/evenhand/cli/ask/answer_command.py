"""`evenhand answer`: asks a model every item, and keeps what it says."""

from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.ask.asking_options import AnswererOptions, AskingOptions
from evenhand.cli.options import option, output
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    force: bool = options.force()
    benchmark: str = options.argument()
    who: AnswererOptions
    variant: str | None = option(
        "--variant",
        type=click.Choice(["default", "text-only", "text-only-generic", "text-only-query-specific"]),
        help="text-only: descriptions are sent instead of the images; text-only is text-only-generic.",
    )
    descriptions_by: str | None = option(
        "--descriptions-by", help="With --variant text-only: whose descriptions; needed where several described."
    )
    out: Target | None = output(
        "--out", type=click.Path(path_type=Path), help="Also write the answers to this .jsonl, .csv or .parquet file."
    )
    asking: AskingOptions
    store: str = options.store()
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()


@click.command("answer")
@options.takes(AnswerOptions)
def command(ctx: click.Context, given: AnswerOptions) -> None:
    """Ask a model every item of BENCHMARK: images first, then the question, at temperature 0.

    Run the same command again and only what is missing is asked. What a model said counts, also where it was cut at the
    token limit or is a refusal; such answers are flagged.
    """
    from evenhand.cli.ask.answers import answer_order
    from evenhand.cli.ask.judging import ledger_for

    ledger = ledger_for(given.store, dry_run=given.asking.dry_run)
    with waiting("Reading the items", quiet=given.quiet):
        order = answer_order(ctx, given, ledger)
    ctx.exit(order.obey(ctx, given))
