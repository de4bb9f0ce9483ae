"""`evenhand compare`: what changed from one run to another."""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.options import option, output
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    force: bool = options.force()
    first: str = options.argument()
    second: str = options.argument()
    changes: int = option(
        "--changes",
        type=click.IntRange(0),
        default=10,
        show_default=True,
        help="So many items and battles that changed are listed; a page and --json have all.",
    )
    out: Target | None = output(
        "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write one page, .html or .md, to this file."
    )
    seed: int = options.seed("Of the resamples behind the intervals of differences.")
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("compare")
@options.takes(CompareOptions)
def command(_: click.Context, given: CompareOptions) -> None:
    """What changed from the run FIRST to the run SECOND: verdicts, coverage, ratings, item by item.

    FIRST and SECOND are beginnings of runs' ids, as `evenhand runs` lists them. Each counts as the record stood when it
    ended, so that answers replaced and judged again can be compared with what was said before.
    """
    from evenhand.api.reading import compare
    from evenhand.cli.saying import say
    from evenhand.format.sheet_table import print_sheet
    from evenhand.format.tables import console, escape
    from evenhand.format.words import unbroken
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.run_changes import change_sheets, title_of, write_changes

    with waiting("Comparing the runs"):
        found = compare(given.first, given.second, ledger=Ledger(given.store, create=False), seed=given.seed)
    if given.out is not None:
        write_changes(found, given.out)
        say(f"Written: {given.out}")
    if given.as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False, allow_nan=False))
        return
    if given.out is not None:
        return
    terminal = console()
    terminal.print(f"[bold]{escape(title_of(found))}[/bold]")
    terminal.print()
    for sentence in (found.headline, *found.sentences):
        terminal.print(unbroken(escape(sentence)))
    for sheet in change_sheets(found, most=given.changes):
        if sheet.rows:
            terminal.print()
            print_sheet(sheet, terminal)
