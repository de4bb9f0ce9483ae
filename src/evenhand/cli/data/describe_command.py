"""`evenhand describe`: what benchmarks hold, side by side."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.options import OwnFileOptions, option
from evenhand.cli.saying import say
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target
from evenhand.format.sheet import Format, written

if TYPE_CHECKING:
    from evenhand.cli.data.describing import DescribedFile


def _pictures() -> tuple[str, ...]:
    from evenhand.reports.description.charts import PICTURES

    return PICTURES


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeOptions:
    force: bool = options.force()
    benchmarks: tuple[str, ...] = options.argument(nargs=-1, required=True, metavar="NAME[=PATH]...")
    own: OwnFileOptions
    detector: Path | None = option(
        "--detector",
        type=click.Path(path_type=Path),
        help="An ONNX object detector with COCO's classes, to count what the images show.",
    )
    image_kinds: Path | None = option(
        "--image-kinds",
        type=click.Path(path_type=Path),
        help="A table with the columns image and kind, such as photograph or chart.",
    )
    form: Format = options.table_format("How the tables are written; csv is one long table with a row for each number.")
    plot: tuple[Target, ...] = options.plot(
        "Draw the pictures to this .svg or .png, or pictures and tables to this .html; repeatable."
    )
    pictures: tuple[str, ...] = option(
        "--picture",
        multiple=True,
        type=options.OneOf(_pictures),
        help="Draw only this picture into .svg or .png, such as tasks; repeatable.",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("describe")
@options.takes(DescribeOptions)
def command(_: click.Context, given: DescribeOptions) -> None:
    """What each benchmark NAME holds: items, lengths, images, what it asks for.

    PATH is the benchmark's file, where it is not bundled; NAME may be a file of your own items. Several stand side by
    side. Images that were fetched before are found beside the ledger.
    """
    from evenhand.cli.data.describing import told_of

    with waiting("Reading what is asked"):
        told = told_of(given)
    for path in given.plot:
        with waiting("Drawing"):
            told.plot(path, given.pictures)
        click.echo(f"Written: {path}", err=True)
    if given.as_json:
        click.echo(json.dumps(told.document, ensure_ascii=False, allow_nan=False))
    else:
        _print(told, given.form)


def _print(told: "DescribedFile", form: Format) -> None:
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
