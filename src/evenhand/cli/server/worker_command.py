"""`evenhand worker`: does what people have asked for on the pages of `serve`."""

from dataclasses import dataclass

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_options
from evenhand.cli.ask.asking_options import SubmissionJudgeOptions, WorkerAskingOptions
from evenhand.cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    model: str | None = option(
        "--model", help="provider/model that writes reference answers from captions; without one none are written."
    )
    base_url: str | None = option("--base-url", help="Address of the model's server; without --model, of the judge's.")
    api_key_env: str | None = option("--api-key-env", help="Variable that holds the key.")
    endpoint_name: str | None = asking_options.endpoint_name()
    submissions: SubmissionJudgeOptions
    allow_private: bool = option(
        "--allow-private", is_flag=True, help="Also fetch images from this machine and private networks."
    )
    once: bool = option("--once", is_flag=True, help="End when there is nothing left to do.")
    while_stdin_is_open: bool = option("--while-stdin-is-open", settable=False, is_flag=True, hidden=True)
    workers: int = asking_options.workers()
    asking: WorkerAskingOptions
    store: str = options.store()


@click.command("worker")
@options.takes(WorkerOptions)
def command(ctx: click.Context, given: WorkerOptions) -> None:
    """Do what people ask for on the pages, until Ctrl-C.

    Fetches the images that they proposed, has a model answer from their captions, and has the models that teams
    submitted judged. `serve` starts one by itself. Several may run at once: none does what another does. With --workers
    there are as many, which share --max-connections, --rpm and --tpm; one that ends is started again. What answers and
    submissions may cost is set by the owner, on the pages. The sampling settings are those of --model; a judge is asked
    as its board was. With --once, exit 3 where something was tried and did not go: it is told.
    """
    from evenhand.cli.server.working import work_until_stopped
    from evenhand.ledger.store.record import Ledger

    work_until_stopped(ctx, given, Ledger(given.store))
