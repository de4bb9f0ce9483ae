"""`evenhand describe-images`: asks a model what images show, for models that are to answer without them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from evenhand.cli import options
from evenhand.cli.ask.asking_options import AnswererOptions, AskingOptions
from evenhand.cli.options import option, output
from evenhand.files.outputs import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeImagesOptions:
    force: bool = options.force()
    benchmark: str = options.argument()
    who: AnswererOptions
    mode: Literal["generic", "query-specific"] = option(
        "--mode",
        type=click.Choice(["generic", "query-specific"]),
        default="generic",
        show_default=True,
        help="query-specific: the model first says what to look at for the question, which takes a second call.",
    )
    query_model: str | None = option(
        "--query-model", help="query-specific: another model that says what to look at; the describing one by default."
    )
    query_base_url: str | None = option("--query-base-url", help="Address of the query model's server.")
    query_api_key_env: str | None = option("--query-api-key-env", help="Variable that holds the query model's key.")
    out: Target | None = output(
        "--out",
        type=click.Path(path_type=Path),
        help="Also write the descriptions to this .jsonl, .csv or .parquet file.",
    )
    asking: AskingOptions
    store: str = options.store()
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()


@click.command("describe-images")
@options.takes(DescribeImagesOptions)
def command(ctx: click.Context, given: DescribeImagesOptions) -> None:
    """Ask a model to describe the images of every item of BENCHMARK, as `answer --variant text-only` needs it.

    Run the same command again and only what is missing is asked; the same images are described once for all items that
    show them, in the generic mode.
    """
    from evenhand.cli.ask.answers import describe_order
    from evenhand.cli.ask.judging import ledger_for

    ledger = ledger_for(given.store, dry_run=given.asking.dry_run)
    ctx.exit(describe_order(ctx, given, ledger).obey(ctx, given))
