"""`evenhand correlate`: how much the benchmarks of a table of scores say the same."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target

if TYPE_CHECKING:
    from evenhand.reports.redundancy import Redundancy


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelateOptions:
    force: bool = options.force()
    table: Path | None = options.argument(type=click.Path(path_type=Path), required=False)
    boards: bool = option(
        "--boards", is_flag=True, help="Beside TABLE's columns, one for each board of the ledger; without TABLE always."
    )
    plot: tuple[Target, ...] = options.plot("Draw the heat maps to this .svg, .png or .html; repeatable.")
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("correlate")
@options.takes(CorrelateOptions)
def command(_: click.Context, given: CorrelateOptions) -> None:
    """Spearman's rank correlation and R² of every two benchmarks of TABLE, or of every two boards of the ledger.

    TABLE has a row for each model, its name in the first column, and a column of scores for each benchmark; an empty
    cell leaves the model out of that benchmark's pairs. A column NAME_se has the standard errors of the column NAME:
    with them the table also says what two benchmarks of one truth would show, and the correlation without the errors.
    A board of the ledger is a column of Bradley-Terry ratings with their standard errors.
    """
    from evenhand.cli.notes import say_notes
    from evenhand.format.tables import console
    from evenhand.reports.redundancy import plot_redundancy, print_redundancy

    with waiting("Comparing benchmarks"):
        found = _found(given)
    for path in given.plot:
        with waiting("Drawing"):
            plot_redundancy(found, path)
    if given.as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False, allow_nan=False))
    else:
        print_redundancy(found, console())
        say_notes(found.notes)


def _found(given: CorrelateOptions) -> "Redundancy":
    from evenhand.exchange.score_table import read_scores
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.redundancy import Redundancy, ScoresOnRecord, with_boards

    read = None if given.table is None else read_scores(given.table, fewest=1 if given.boards else 2)
    if read is not None and not given.boards:
        return Redundancy.of(read)
    on_record = ScoresOnRecord.of(Ledger(given.store, create=False))
    table = on_record.table if read is None else with_boards(read, on_record.table)
    if len(table.scores) < 2:
        (only,) = table.scores
        raise WrongUse(
            f"The ledger holds one board, {only}, and a correlation is of two; give a TABLE of other scores beside it "
            "with --boards.",
            code="EH-CHOOSE-NOTHING",
        )
    return Redundancy.of(table, on_record.notes)
