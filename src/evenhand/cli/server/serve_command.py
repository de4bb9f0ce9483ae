"""`evenhand serve`: the boards and the owner's pages in a browser."""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Any, cast

import click
from click.core import ParameterSource

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.options import option


@click.command("serve")
@options.store
@option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@option("--port", type=click.IntRange(1, 65535), default=8300, show_default=True)
@option("--public-url", metavar="URL", help="https:// and the name under which others reach it, through a proxy.")
@option("--owner-link", is_flag=True, help="Print a link by which the owner comes back.")
@option("--no-worker", is_flag=True, help="Start no worker; `evenhand worker` is one.")
@option("--model", help="For the worker: provider/model that writes reference answers from captions.")
@option("--base-url", help="For the worker: address of the model's server.")
@option("--api-key-env", help="For the worker: variable that holds the key.")
@asking_flags.submission_flags
@asking_flags.price
@asking_flags.trust_folder
@asking_flags.insecure_http
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Serve the ledger's boards, an API and the owner's pages, until Ctrl-C.

    The first time it prints a link that makes you the owner. A worker is started beside it, which does what people ask
    for on the pages; what else `evenhand worker` can be told it reads from the environment and from evenhand.toml.
    """
    try:
        from evenhand.site import serving
    except ImportError as error:
        raise WrongUse(f"`serve` needs {error.name}; install it from the clone: pip install '.[serve]'.") from error
    from evenhand.cli.folder import refuse_for
    from evenhand.cli.server.worker_command import command as worker
    from evenhand.cli.server.working import worker_beside
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.http.settings import SiteError, site_at

    if not flags["no_worker"]:
        refuse_for(worker, cast(Environment, ctx.obj))
    try:
        site = site_at(flags["host"], flags["port"], public_url=flags["public_url"])
        with closing(Ledger(flags["store"])) as ledger, ExitStack() as beside:

            def ready() -> None:
                click.echo(f"Serving {ledger.where} at {site.url} (Ctrl-C stops).", err=True)
                if flags["owner_link"] or not serving.has_owner(ledger):
                    click.echo("Open this link once, within a day, to become the owner:")
                    click.echo(serving.owner_link(ledger, site))
                if not flags["no_worker"]:
                    beside.enter_context(worker_beside(flags["store"], _typed(ctx, flags)))

            serving.serve(ledger, site, host=flags["host"], port=flags["port"], ready=ready)
    except SiteError as error:
        raise WrongUse(str(error)) from error


_OF_THE_WORKER = (
    "model", "base_url", "api_key_env", "judge", "judge_base_url", "judge_api_key_env", "judge_endpoint_name",
    "extractor", "extractor_base_url", "extractor_api_key_env", "price",
)  # fmt: skip

_SAID_TO_THE_WORKER = ("trust_folder", "insecure_http")


def _typed(ctx: click.Context, flags: Mapping[str, Any]) -> list[str]:
    """The worker's flags that were typed in here; what a file of the folder says it must see as the folder's."""
    typed = [name for name in _OF_THE_WORKER if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    words = [f"--{name.replace('_', '-')}" for name in _SAID_TO_THE_WORKER if flags[name]]
    return words + [
        word
        for name in typed
        for value in (flags[name] if isinstance(flags[name], tuple) else (flags[name],))
        for word in (f"--{name.replace('_', '-')}", value)
    ]
