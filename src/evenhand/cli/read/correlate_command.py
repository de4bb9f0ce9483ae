"""`evenhand correlate`: how much the benchmarks of a table of scores say the same."""

import json
from pathlib import Path
from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.options import option


@click.command("correlate")
@options.writes("plot")
@click.argument("table", type=click.Path(path_type=Path))
@option(
    "--plot",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the heat maps to this .svg, .png or .html; repeatable.",
)
@options.as_json
def command(table: Path, **flags: Any) -> None:
    """Spearman's rank correlation and R² of every two benchmarks of TABLE.

    TABLE has a row for each model, its name in the first column, and a column of scores for each benchmark; an empty
    cell leaves the model out of that benchmark's pairs.
    """
    from evenhand.exchange.score_table import read_scores
    from evenhand.format.tables import console
    from evenhand.reports.redundancy import Redundancy, plot_redundancy, print_redundancy

    found = Redundancy.of(read_scores(table))
    for path in flags["plot"]:
        plot_redundancy(found, path)
    if flags["as_json"]:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False, allow_nan=False))
    else:
        print_redundancy(found, console())
