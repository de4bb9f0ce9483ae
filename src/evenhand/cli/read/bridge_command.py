"""`evenhand bridge`: an old judge's board and a new one's on one scale."""

import json
from dataclasses import dataclass

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option
from evenhand.cli.waiting import waiting
from evenhand.domain.trial import See
from evenhand.format.sheet import Format, written


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeOptions:
    old: str = options.argument()
    new: str | None = options.argument(required=False)
    dry_run: bool = option(
        "--dry-run", is_flag=True, help="Ask nobody and bridge nothing: which models to let the new judge rate."
    )
    width: float | None = option(
        "--width",
        type=click.FloatRange(0, min_open=True),
        help="With --dry-run: a newcomer shall be known within so many points to each side.",
    )
    tau: float = option(
        "--tau",
        type=click.FloatRange(0),
        default=0.0,
        show_default=True,
        help="With --dry-run: points by which the two judges are taken to differ about single models.",
    )
    benchmark: str | None = option("--benchmark", help="Of the ledger: on which benchmark.")
    variant: str | None = option("--variant", help="Of the ledger: on which variant of the answers.")
    protocol: str | None = option("--protocol", help="Of the ledger: by which protocol.")
    see: See | None = options.see()
    form: Format = options.table_format("How the table is written.")
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("bridge")
@options.takes(BridgeOptions)
def command(_: click.Context, given: BridgeOptions) -> None:
    """Put models that only the judge NEW rated on the board of the judge OLD, by the models that both rated.

    OLD and NEW are judges of the ledger, files of battles, or runs of the ledger, each for the board it is part of: so
    one judge at two endpoints can be bridged. With --dry-run OLD alone is enough.
    """
    from evenhand.api.reading import bridge, judges_board, plan_bridge
    from evenhand.format.tables import console
    from evenhand.reports.board.board import Board
    from evenhand.reports.board.choosing import Choice
    from evenhand.reports.bridging import BridgedBoard, BridgePlan, bridge_sheet, plan_sheet, print_bridge

    choice = Choice(benchmark=given.benchmark, variant=given.variant, protocol=given.protocol, see=given.see)

    def board_of(name: str) -> Board:
        return judges_board(name, choice, ledger=given.store)

    found: BridgedBoard | BridgePlan
    with waiting("Bridging"):
        if given.dry_run:
            found = plan_bridge(board_of(given.old), width=given.width, tau=given.tau)
        elif given.new is None:
            raise WrongUse("Name the judge whose models are brought over: `evenhand bridge OLD NEW`.")
        else:
            found = bridge(board_of(given.old), board_of(given.new))
    if given.as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False, allow_nan=False))
    elif given.form == "table":
        print_bridge(found, console())
    else:
        sheet = bridge_sheet(found) if isinstance(found, BridgedBoard) else plan_sheet(found)
        click.echo(written([sheet], given.form, found.sentences), nl=False)
