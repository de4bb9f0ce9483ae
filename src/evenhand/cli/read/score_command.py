"""`evenhand score`: a benchmark's table as its paper makes it."""

from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.cli.saying import say


def _breakdowns() -> tuple[str, ...]:
    from evenhand.reports.papers.catalog import breakdowns

    return breakdowns()


@click.command("score")
@click.argument("benchmark")
@option("--judge", help="Which judge's verdicts.")
@option("--protocol", help="Under which protocol; creation-mmbench: instead of creation_preference.")
@option("--readout", type=click.Choice(["free", "constrained", "token"]), help="Readout mode.")
@option("--variant", help="Of which variant of the answers.")
@option("--run", multiple=True, help="The board that this run is part of; creation-mmbench: one for each protocol.")
@option("--against", help="creation-mmbench: which baseline, where several were judged against.")
@option(
    "--by",
    type=options.OneOf(_breakdowns),
    help="visit-bench: a table by skill or by source dataset; creation-mmbench: by category or by task.",
)
@option(
    "--compare-variants",
    is_flag=True,
    help="creation-mmbench: text-only answers from generic and query-specific descriptions next to the vision run.",
)
@option(
    "--join",
    type=click.Choice(["visit", "mt-bench"]),
    default="visit",
    show_default=True,
    help="visit-bench: how the two orders make a battle.",
)
@option(
    "--bootstrap",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    help="visit-bench: resamples of items behind the intervals of Elo.",
)
@option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Random seed of resamples and of the order in which Elo plays.",
)
@option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "md", "latex"]),
    default="table",
    show_default=True,
    help="How the tables are written.",
)
@options.store
@options.as_json
def command(benchmark: str, **flags: Any) -> None:
    """The table of BENCHMARK as its paper makes it, from what the ledger holds."""
    from evenhand.api.scoring import score_of
    from evenhand.cli.notes import say_notes
    from evenhand.cli.read.ranking import print_audit_of
    from evenhand.format.sheet import written
    from evenhand.format.sheet_table import print_sheet
    from evenhand.format.tables import console, escape
    from evenhand.format.words import unbroken
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.board.table import print_reliability
    from evenhand.reports.papers.paper import TableRequest

    asked = TableRequest(
        benchmark=benchmark,
        judge=flags["judge"],
        protocol=flags["protocol"],
        readout=flags["readout"],
        variant=flags["variant"],
        runs=tuple(flags["run"]),
        against=flags["against"],
        by=flags["by"],
        compare_variants=flags["compare_variants"],
        join=flags["join"],
        rounds=flags["bootstrap"],
        seed=flags["seed"],
        form=flags["form"],
    )
    scored = score_of(asked, lambda: Ledger(flags["store"], create=False))
    found = scored.found
    say_notes(found.notes)
    if flags["as_json"]:
        click.echo(scored.to_json())
    elif flags["form"] != "table":
        click.echo(written(found.sheets, flags["form"], scored.sentences), nl=False)
        if flags["form"] == "csv":
            for sentence in scored.sentences:
                say(sentence)
    else:
        terminal = console()
        for sheet in found.sheets:
            print_sheet(sheet, terminal)
        for sentence in found.sentences:
            terminal.print(unbroken(escape(sentence)))
        if found.board is not None:
            terminal.print()
            print_reliability(found.board, terminal)
            print_audit_of(None, found.board, flags, terminal)
