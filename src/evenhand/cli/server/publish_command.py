"""`evenhand publish`: the boards as a folder of pages that needs no server."""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.options import option, target


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    force: bool = options.force()
    folder: Path = options.argument(type=click.Path(path_type=Path))
    battles: bool = option(
        "--battle-pages/--no-battle-pages",
        default=True,
        show_default=True,
        help="A page for each battle; without them a large board is written in less time and space.",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("publish")
@options.takes(PublishOptions)
def command(_: click.Context, given: PublishOptions) -> None:
    """Write the public part of the ledger's boards to FOLDER as pages for any static host, or to open from disk.

    What is withheld on the pages of `serve` is not in them. The same command again writes what changed and removes what
    is gone; files in FOLDER that it did not write it leaves alone.
    """
    from evenhand.cli.server.publishing import publish_boards

    folder = target(given.folder, force=given.force)
    document = publish_boards(folder, given.store, battles=given.battles)
    if given.as_json:
        click.echo(json.dumps(document, ensure_ascii=False))
