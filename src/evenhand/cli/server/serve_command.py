"""`evenhand serve`: the boards and the owner's pages in a browser."""

import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import click
from click.core import ParameterSource

from evenhand.cli import options
from evenhand.cli.ask import asking_options
from evenhand.cli.ask.asking_options import SubmissionJudgeOptions
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.options import as_given, option

if TYPE_CHECKING:
    from socket import socket

    from evenhand.site.http.settings import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    store: str = options.store()
    host: str = option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
    port: int = option(
        "--port", type=click.IntRange(0, 65535), default=8300, show_default=True, help="0: any that is free."
    )
    public_url: str | None = option(
        "--public-url", metavar="URL", help="https:// and the name under which others reach it, through a proxy."
    )
    owner_link: bool = option("--owner-link", is_flag=True, help="Print a link by which the owner comes back.")
    only_link: bool = option(
        "--only-link", is_flag=True, help="Print such a link and end; the server may be running meanwhile."
    )
    log: str = option(
        "--log",
        type=click.Choice(("plain", "json")),
        default="plain",
        show_default=True,
        help="json: a line of JSON on stderr for each request, without addresses, names and keys; the link that makes "
        "the first owner is then printed by --only-link alone.",
    )
    processes: int = option(
        "--processes",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        metavar="N",
        help="Processes that answer, for many visitors and several cores; meant for PostgreSQL, as on SQLite only one "
        "writes at a time.",
    )
    no_worker: bool = option("--no-worker", is_flag=True, help="Start no worker; `evenhand worker` is one.")
    model: str | None = option(
        "--model", help="For the worker: provider/model that writes reference answers from captions."
    )
    base_url: str | None = option(
        "--base-url", help="For the worker: address of the model's server; without --model, of the judge's."
    )
    api_key_env: str | None = option("--api-key-env", help="For the worker: variable that holds the key.")
    submissions: SubmissionJudgeOptions
    price: tuple[str, ...] = asking_options.price()
    trust_folder: bool = options.trust_folder()
    insecure_http: bool = asking_options.insecure_http()


@click.command("serve")
@options.takes(ServeOptions)
def command(ctx: click.Context, given: ServeOptions) -> None:
    """Serve the ledger's boards, an API and the owner's pages, until Ctrl-C.

    The first time it prints a link that makes you the owner. A worker is started beside it, which does what people ask
    for on the pages; what else `evenhand worker` can be told it reads from the environment and from evenhand.toml.
    """
    try:
        from evenhand.site.serving import bound_at
    except ImportError as error:
        raise WrongUse(f"`serve` needs {error.name}; install it from the clone: pip install '.[serve]'.") from error
    from evenhand.cli.folder import refuse_for
    from evenhand.cli.server.worker_command import command as worker
    from evenhand.site.http.settings import SiteError, site_at

    if not given.no_worker and not given.only_link:
        refuse_for(worker, cast(Environment, ctx.obj))
    try:
        site = site_at(given.host, given.port, public_url=given.public_url)
        if given.only_link:
            _print_links(given, site)
        else:
            with closing(bound_at(given.host, given.port)) as bound:
                _serve(ctx, given, bound)
    except SiteError as error:
        raise WrongUse(str(error)) from error


def _serve(ctx: click.Context, given: ServeOptions, bound: "socket") -> None:
    from evenhand.cli.server.working import worker_beside
    from evenhand.site import serving
    from evenhand.site.http.operations import write_line
    from evenhand.site.http.settings import site_at

    log = sys.stderr if given.log == "json" else None
    with closing(serving.open_for_pages(given.store)) as ledger, ExitStack() as beside:
        site = site_at(given.host, bound.getsockname()[1], public_url=given.public_url)

        def ready() -> None:
            owned = serving.has_owner(ledger)
            if log is None:
                click.echo(f"Serving {ledger.where} at {site.url} (Ctrl-C stops).", err=True)
            else:
                write_line(log, "serving", url=site.url, owner=owned)
            # A log is kept and read by others: whoever has the link of the first owner is the owner.
            if given.owner_link or not (owned or log):
                click.echo("Open this link once, within a day, to become the owner:")
                click.echo(serving.owner_link(ledger, site))
            if not given.no_worker:
                told = None if log is None else _worker_said
                beside.enter_context(worker_beside(given.store, _for_the_worker(ctx, given), told=told))

        serving.serve(ledger, serving.Serving(site=site, bound=bound, log=log, processes=given.processes), ready)


def _print_links(given: ServeOptions, site: "Site") -> None:
    from evenhand.format.printable import printable
    from evenhand.ledger.store.record import Ledger
    from evenhand.site.serving import owner_links

    if not (given.port or given.public_url):
        raise WrongUse("--only-link prints a link to a server that runs: say with --port at which port it does.")
    with closing(Ledger(given.store, create=False)) as ledger:
        for name, link in owner_links(ledger, site):
            click.echo(f"{printable(name)}: {link}" if name else link)


def _worker_said(words: str) -> None:
    from evenhand.site.http.operations import write_line

    write_line(sys.stderr, "worker", said=words)


_ITS_OWN = {"store", "host", "port", "public_url", "owner_link", "only_link", "log", "processes", "no_worker"}
"""What the worker has no flag for, or is told otherwise."""


def _for_the_worker(ctx: click.Context, given: ServeOptions) -> list[str]:
    """The worker's flags that were typed in here; what a file of the folder says it must see as the folder's."""
    flags = {name: f"--{name.replace('_', '-')}" for name, _ in as_given(given) if name not in _ITS_OWN}
    switches = [flags[name] for name, value in as_given(given) if name in flags and value is True]
    return switches + [
        word
        for name, value in as_given(given)
        if name in flags
        and not isinstance(value, bool)
        and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        for one in (cast("tuple[str, ...]", value) if isinstance(value, tuple) else (value,))
        for word in (flags[name], str(one))
    ]
