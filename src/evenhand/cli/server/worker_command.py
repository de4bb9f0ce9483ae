"""`evenhand worker`: does what people have asked for on the pages of `serve`."""

from typing import Any, cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@click.command("worker")
@option("--model", help="provider/model that writes reference answers from captions; without one none are written.")
@option("--base-url", help="Address of the model's server.")
@option("--api-key-env", help="Variable that holds the key.")
@option("--endpoint-name", help="A lasting name for a server whose address changes.")
@asking_flags.submission_flags
@option("--allow-private", is_flag=True, help="Also fetch images from this machine and private networks.")
@option("--once", is_flag=True, help="End when there is nothing left to do.")
@click.option("--while-stdin-is-open", is_flag=True, hidden=True)
@asking_flags.settings_flags
@asking_flags.pace_flags
@options.store
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Do what people ask for on the pages, until Ctrl-C.

    Fetches the images that they proposed, has a model answer from their captions, and has the models that teams
    submitted judged. `serve` starts one by itself. Several may run at once: none does what another does. What answers
    and submissions may cost is set by the owner, on the pages. The sampling settings are those of --model; a judge is
    asked as its board was.
    """
    from evenhand.cli.server.working import work_until_stopped
    from evenhand.ledger.store.record import Ledger

    work_until_stopped(ctx, flags, cast(Environment, ctx.obj), Ledger(flags["store"]))
