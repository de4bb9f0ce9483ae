"""`evenhand demo`: a real record of people and two judges, then the embedded model put to the test."""

import json
from dataclasses import dataclass
from typing import cast

import click

from evenhand.cli import options
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    skip_embedded: bool = option(
        "--skip-embedded", settable=False, is_flag=True, help="Only the record; the embedded model is not asked."
    )
    full: bool = option("--full", is_flag=True, help="Draw all 32 pairs, however long they take.")
    battles: int | None = option(
        "--battles",
        settable=False,
        type=click.IntRange(1, 32),
        help="Draw so many pairs; by default what fits into 5 minutes.",
    )
    store: str = option(
        "--store",
        settable=False,
        default="sqlite:///.evenhand/demo/ledger.db",
        show_default=True,
        callback=options.usual_store,
        help="The demo's own ledger.",
    )
    as_json: bool = options.as_json()
    quiet: bool = options.quiet()
    force: bool = options.force()


@click.command("demo")
@options.takes(DemoOptions)
def command(ctx: click.Context, given: DemoOptions) -> None:
    """What people, GPT-4 and GPT-3.5 said of 59 models, without a call; then a judge on this machine, live.

    The first part is on record: boards, how near each judge comes to people, which position it favours, a report. Then
    a language model of 135 million parameters judges the bundled answers, in both orders. Run again, it asks nothing.
    """
    from evenhand.api.running import run
    from evenhand.cli.start.demonstration import BATTLES, demonstrate, program_name, side_by_side
    from evenhand.cli.start.real_record import real_record, written_report
    from evenhand.format.tables import console
    from evenhand.ledger.store.record import Ledger

    env = cast(Environment, ctx.obj)
    terminal = console()
    folder = Ledger(given.store).beside
    record = real_record(folder, force=given.force)
    if not given.as_json:
        record.print_story(terminal)
    page = written_report(record, folder, force=given.force)
    if not given.as_json:
        record.print_further(terminal, page, program_name())
    told = {"record": record.as_json(page)}
    if given.skip_embedded:
        if given.as_json:
            click.echo(json.dumps({"schema": 1, "calls": 0, **told}, ensure_ascii=False))
        return
    if not given.as_json:
        terminal.print("\n[bold]And a judge that nobody should believe, live on this machine[/bold]")
    battles = BATTLES if given.full else given.battles
    shown = run(demonstrate(given.store, env, battles=battles, quiet=given.quiet, force=given.force))
    closing = side_by_side(record, shown)
    if given.as_json:
        click.echo(json.dumps({**shown.document, **told, "closing": closing}, ensure_ascii=False))
    else:
        shown.print_story(terminal)
        terminal.print(f"\n{closing}", style="bold")
    ctx.exit(shown.exit_code)
