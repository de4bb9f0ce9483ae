"""`evenhand correlate`: how much the benchmarks of a table of scores say the same."""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.files.outputs import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelateOptions:
    force: bool = options.force()
    table: Path = options.argument(type=click.Path(path_type=Path))
    plot: tuple[Target, ...] = options.plot("Draw the heat maps to this .svg, .png or .html; repeatable.")
    as_json: bool = options.as_json()


@click.command("correlate")
@options.takes(CorrelateOptions)
def command(_: click.Context, given: CorrelateOptions) -> None:
    """Spearman's rank correlation and R² of every two benchmarks of TABLE.

    TABLE has a row for each model, its name in the first column, and a column of scores for each benchmark; an empty
    cell leaves the model out of that benchmark's pairs. A column NAME_se has the standard errors of the column NAME:
    with them the table also says what two benchmarks of one truth would show, and the correlation without the errors.
    """
    from evenhand.exchange.score_table import read_scores
    from evenhand.format.tables import console
    from evenhand.reports.redundancy import Redundancy, plot_redundancy, print_redundancy

    found = Redundancy.of(read_scores(given.table))
    for path in given.plot:
        plot_redundancy(found, path)
    if given.as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False, allow_nan=False))
    else:
        print_redundancy(found, console())
