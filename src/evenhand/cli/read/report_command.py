"""`evenhand report`: a board with every verdict behind it as one HTML file, or its tables."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from evenhand.cli import options
from evenhand.cli.options import BattleFileOptions, ChoosingOptions, option, output
from evenhand.files.outputs import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    force: bool = options.force()
    files: tuple[Path, ...] = options.argument(nargs=-1, type=click.Path(path_type=Path))
    reading: BattleFileOptions
    raters: tuple[str, ...] = options.raters()
    choosing: ChoosingOptions
    out: Target | None = output(
        "--out",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Where to write; by default report.html, and tables to standard output.",
    )
    form: Literal["html", "md", "latex", "csv"] | None = option(
        "--format",
        type=click.Choice(["html", "md", "latex", "csv"]),
        help="The page, or its tables; by default what --out ends in, else html. csv is one long table.",
    )
    plot: tuple[Target, ...] = options.plot("Draw the report's pictures to this .svg, .png or .html; repeatable.")
    seed: int = options.seed("Random seed of the sample listed where there are very many judgements.")
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("report")
@options.takes(ReportOptions)
def command(ctx: click.Context, given: ReportOptions) -> None:
    """One HTML file that can be mailed: the board, how far its judge can be trusted, and every judgement to look at.

    It needs no network and opens from disk. Of more than 20,000 judgements it lists so many: of those that disagree or
    failed as many as find room, and a sample of the others. FILES of battles, as `rank` reads them, make a report by
    themselves, without a ledger.
    """
    from evenhand.cli.read.reporting import reported

    options.refuse_mixture(ctx, given.files, of_ledger=_OF_A_LEDGER, of_files=_OF_A_FILE)
    if given.reading.dry_run:
        from evenhand.cli.read.understanding import say_understood, understood_tables
        from evenhand.exchange.battle_completing import battle_columns

        say_understood(understood_tables(given.files, battle_columns(given.reading.form)), as_json=given.as_json)
        return
    document = reported(given)
    if given.as_json:
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))


_OF_A_LEDGER = ("benchmark", "judge", "protocol", "readout", "variant", "see", "run", "store")
_OF_A_FILE = ("dry_run", "raters", *options.OF_FILES)
