"""`evenhand score`: a benchmark's table as its paper makes it, or of grades by criteria."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.cli.saying import say
from evenhand.cli.waiting import waiting
from evenhand.domain.trial import Readout, See
from evenhand.domain.vote import Joining
from evenhand.format.sheet import Format, written

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.reports.papers.paper import ScoredTable


def _breakdowns() -> tuple[str, ...]:
    from evenhand.reports.papers.catalog import breakdowns

    return breakdowns()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    benchmark: str = options.argument()
    judge: str | None = option("--judge", help="Which judge's verdicts.")
    protocol: str | None = option(
        "--protocol", help="Under which protocol; creation-mmbench: instead of creation_preference."
    )
    readout: Readout | None = options.readout()
    variant: str | None = options.variant()
    see: See | None = options.see()
    run: tuple[str, ...] = option(
        "--run", multiple=True, help="The board that this run is part of; creation-mmbench: one for each protocol."
    )
    against: str | None = option(
        "--against", help="creation-mmbench: which baseline, where several were judged against."
    )
    by: str | None = option(
        "--by",
        type=options.OneOf(_breakdowns),
        help="visit-bench: a table by skill or by source dataset; creation-mmbench: by category or by task.",
    )
    compare_variants: bool = option(
        "--compare-variants",
        is_flag=True,
        help="creation-mmbench: text-only answers from generic and query-specific descriptions next to the vision run.",
    )
    join: Joining = options.join("visit-bench: how the two orders make a battle.")
    bootstrap: int = option(
        "--bootstrap",
        type=click.IntRange(0),
        default=200,
        show_default=True,
        help="visit-bench: resamples of items behind the intervals of Elo.",
    )
    k: float = option(
        "--k",
        type=click.FloatRange(0, 1_000, min_open=True),
        default=4.0,
        show_default=True,
        help="visit-bench: Elo's step, the most points one battle moves.",
    )
    seed: int = options.seed("Random seed of resamples and of the order in which Elo plays.")
    groups: Path | None = option(
        "--groups",
        type=click.Path(path_type=Path),
        help="creation-mmbench: a models file with the columns model and group; tells the gaps between groups.",
    )
    with_people: bool = option(
        "--with-people",
        settable=False,
        is_flag=True,
        help="Add the figures against the baseline that people's verdicts on some of the items correct.",
    )
    soft: bool = option(
        "--soft",
        is_flag=True,
        help="Add the figures against the baseline by how likely the judge was to prefer each side.",
    )
    form: Format = options.table_format()
    explain: bool = options.explain()
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("score")
@options.takes(ScoreOptions)
def command(_: click.Context, given: ScoreOptions) -> None:
    """The table of BENCHMARK as its paper makes it, or of grades by criteria, from what the ledger holds."""
    from evenhand.api.scoring import model_groups, score_of
    from evenhand.cli.notes import say_notes
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.papers.paper import TableRequest

    asked = TableRequest(
        benchmark=given.benchmark,
        judge=given.judge,
        protocol=given.protocol,
        readout=given.readout,
        variant=given.variant,
        see=given.see,
        runs=given.run,
        against=given.against,
        by=given.by,
        compare_variants=given.compare_variants,
        join=given.join,
        rounds=given.bootstrap,
        k=given.k,
        seed=given.seed,
        groups=model_groups(given.groups),
        with_people=given.with_people,
        soft=given.soft,
        form=given.form,
    )
    with waiting("Scoring"):
        scored = score_of(asked, lambda: Ledger(given.store, create=False))
    say_notes(scored.found.notes)
    if given.as_json:
        click.echo(scored.to_json())
    elif given.form == "table":
        _print(scored.found, given.store, explain=given.explain)
    else:
        click.echo(written(scored.found.sheets, given.form, scored.sentences), nl=False)
        if given.form == "csv":
            for sentence in scored.sentences:
                say(sentence)


_LINES = 6
"""Under the tables, where nobody asks for more."""


def _print(found: "ScoredTable", store: str, *, explain: bool) -> None:
    from evenhand.cli.read.ranking import audited_on_record, print_audit_of
    from evenhand.format.sheet_table import print_sheet
    from evenhand.format.tables import console, escape
    from evenhand.format.words import unbroken
    from evenhand.reports.board.shown.table import print_reliability

    terminal = console()
    if not explain and found.heading:
        terminal.print(unbroken(escape(found.heading)), style="dim")
    for sheet in found.sheets:
        print_sheet(sheet, terminal)
    if not explain:
        _print_shortly(found, store, terminal)
        return
    for sentence in found.sentences:
        terminal.print(unbroken(escape(sentence)))
    if found.board is not None:
        terminal.print()
        print_reliability(found.board, terminal, audited=audited_on_record(found.board, store))
        print_audit_of(found.board, store, terminal, explain=True)


def _print_shortly(found: "ScoredTable", store: str, terminal: "Console") -> None:
    """The conclusion, whether the judge can be trusted, then what could change a reader's mind, the gravest first."""
    from evenhand.cli.read.ranking import print_audit_of
    from evenhand.format.tables import escape
    from evenhand.format.words import counted, unbroken
    from evenhand.reports.board.shown.table import print_trust

    if found.lead:
        terminal.print(unbroken(escape(found.lead)), style="bold")
    room = _LINES - 1 - bool(found.lead)
    if found.board is not None:
        print_trust(found.board, terminal)
        room -= 2  # its audit stands below
    for sentence in (*found.asked, *found.cautions[:room]):
        terminal.print(unbroken(escape(sentence)))
    left = len(found.cautions) - room
    more = f"{counted(left, 'more caution')} and " if left > 0 else ""
    terminal.print(f"--explain tells {more}how the table is made.", style="dim")
    if found.board is not None:
        print_audit_of(found.board, store, terminal, explain=False)
