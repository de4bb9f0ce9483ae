"""`evenhand serve`: the boards and the owner's pages in a browser."""

from contextlib import closing

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.cli.surroundings import WrongUse


@click.command("serve")
@options.store
@option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@option("--port", type=click.IntRange(1, 65535), default=8300, show_default=True)
@option("--public-url", metavar="URL", help="https:// and the name under which others reach it, through a proxy.")
@option("--owner-link", is_flag=True, help="Print a link by which the owner comes back.")
def command(store: str, host: str, port: int, public_url: str | None, owner_link: bool) -> None:
    """Serve the ledger's boards, an API and the owner's pages, until Ctrl-C.

    The first time it prints a link that makes you the owner.
    """
    try:
        from evenhand.web import serving
    except ImportError as error:
        raise WrongUse(f"`serve` needs {error.name}; install it with: pip install 'evenhand[serve]'.") from error
    from evenhand.ledger.record import Ledger
    from evenhand.web.site import SiteError, site_at

    try:
        site = site_at(host, port, public_url=public_url)
        with closing(Ledger(store)) as ledger:

            def ready() -> None:
                click.echo(f"Serving {ledger.where} at {site.url} (Ctrl-C stops).", err=True)
                if owner_link or not serving.has_owner(ledger):
                    click.echo("Open this link once, within a day, to become the owner:")
                    click.echo(serving.owner_link(ledger, site))

            serving.serve(ledger, site, host=host, port=port, ready=ready)
    except SiteError as error:
        raise WrongUse(str(error)) from error
