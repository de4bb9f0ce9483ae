"""`evenhand describe`: what benchmarks hold, side by side."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.cli.saying import say

if TYPE_CHECKING:
    from evenhand.cli.data.describing import DescribedFile


@click.command("describe")
@options.writes("plot")
@click.argument("benchmarks", nargs=-1, required=True, metavar="NAME[=PATH]...")
@option(
    "--detector",
    type=click.Path(path_type=Path),
    help="An ONNX object detector with COCO's classes, to count what the images show.",
)
@option(
    "--image-kinds",
    type=click.Path(path_type=Path),
    help="A table with the columns image and kind, such as photograph or chart.",
)
@option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "md", "latex"]),
    default="table",
    show_default=True,
    help="How the tables are written; csv is one long table with a row for each number.",
)
@option(
    "--plot",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the pictures to this .svg or .png, or pictures and tables to this .html; repeatable.",
)
@options.store
@options.as_json
def command(benchmarks: tuple[str, ...], **flags: Any) -> None:
    """What each benchmark NAME holds: items, lengths, images, what it asks for.

    PATH is the benchmark's file, where it is not bundled; NAME may be a .jsonl file of your own. Several stand side by
    side. Images that were fetched before are found beside the ledger.
    """
    from evenhand.cli.data.describing import told_of

    told = told_of(benchmarks, flags)
    for path in flags["plot"]:
        told.plot(path)
        click.echo(f"Written: {path}", err=True)
    if flags["as_json"]:
        click.echo(json.dumps(told.document, ensure_ascii=False, allow_nan=False))
    else:
        _print(told, flags["form"])


def _print(told: "DescribedFile", form: Any) -> None:
    from evenhand.format.sheet import written
    from evenhand.format.sheet_table import print_sheet
    from evenhand.format.tables import console, escape
    from evenhand.format.words import unbroken
    from evenhand.reports.description.sheets import long_sheet, sheets

    if form == "csv":
        click.echo(written([long_sheet(told.described)], form), nl=False)
        for note in told.notes:
            say(note)
    elif form != "table":
        click.echo(written(sheets(told.described), form, told.notes), nl=False)
    else:
        terminal = console()
        for sheet in sheets(told.described):
            print_sheet(sheet, terminal)
        for note in told.notes:
            terminal.print(unbroken(escape(note)))
