"""`evenhand report`: a board with every verdict behind it as one HTML file, or its tables."""

import json
from pathlib import Path
from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.options import option


@click.command("report")
@options.writes("out", "plot")
@options.choosing
@option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write; by default report.html, and tables to standard output.",
)
@option(
    "--format",
    "form",
    type=click.Choice(["html", "md", "latex", "csv"]),
    help="The page, or its tables; by default what --out ends in, else html. csv is one long table.",
)
@option(
    "--plot",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the report's pictures to this .svg, .png or .html; repeatable.",
)
@option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed of the sample listed where there are very many judgements.",
)
@options.store
@options.as_json
def command(**flags: Any) -> None:
    """One HTML file that can be mailed: the board, how far its judge can be trusted, and every judgement to look at.

    It needs no network and opens from disk. Of more than 20,000 judgements it lists those that disagree or failed, and
    a sample of the others.
    """
    from evenhand.cli.read.reporting import reported

    document = reported(flags)
    if flags["as_json"]:
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
