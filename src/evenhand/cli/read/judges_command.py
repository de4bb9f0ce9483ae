"""`evenhand judges`: every judge on record in one table, and which one to pay."""

from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.options import BattleFileOptions, option
from evenhand.cli.waiting import waiting
from evenhand.files.outputs import Target
from evenhand.format.sheet import Format, written


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgesOptions:
    force: bool = options.force()
    files: tuple[Path, ...] = options.argument(nargs=-1, type=click.Path(path_type=Path))
    reading: BattleFileOptions
    judge: tuple[str, ...] = option(
        "--judge", multiple=True, help="Which raters of FILES are judges; all models by default. Repeatable."
    )
    benchmark: str | None = option("--benchmark", help="From the ledger: on which benchmark.")
    variant: str | None = option("--variant", help="From the ledger: on which variant of the answers.")
    form: Format = options.table_format("How the tables are written.")
    plot: tuple[Target, ...] = options.plot(
        "Draw cost against agreement with people to this .svg, .png or .html; repeatable."
    )
    explain: bool = options.explain()
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("judges")
@options.takes(JudgesOptions)
def command(ctx: click.Context, given: JudgesOptions) -> None:
    """Every judge on record in one table, and which of them to pay.

    Of the ledger: nearness to people, order, its latest audits, coverage, price, tokens and waiting time. FILES of
    preferences, as `align` reads them, tell nearness to people and order without a ledger.
    """
    from evenhand.api.reading import judges
    from evenhand.format.tables import console
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.judges.table import judges_sheets, print_judges

    options.refuse_mixture(
        ctx,
        given.files,
        of_ledger=("benchmark", "variant", "store"),
        of_files=("judge", "dry_run", *options.OF_FILES),
    )
    if given.reading.dry_run:
        from evenhand.cli.read.understanding import say_understood, understood_preferences

        say_understood(understood_preferences(given.files, given.reading.form), as_json=given.as_json)
        return
    with waiting("Comparing judges"):
        report = judges(
            given.files,
            ledger=None if given.files else Ledger(given.store, create=False),
            benchmark=None if given.files else given.benchmark,
            variant=None if given.files else given.variant,
            judge=given.judge,
            **(given.reading.told if given.files else {}),
        )
    if given.plot:
        from evenhand.format.charts import save

        for path in given.plot:
            with waiting("Drawing"):
                save(report.chart(), path)
            click.echo(f"Written: {path}", err=True)
    if given.as_json:
        click.echo(report.to_json())
    elif given.form == "table":
        print_judges(report, console(), explain=given.explain)
    else:
        click.echo(written(judges_sheets(report), given.form, report.sentences), nl=False)
