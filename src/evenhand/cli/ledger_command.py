"""`evenhand ledger`: looking after the record."""

import json
from pathlib import Path

import click

from evenhand.cli import options


@click.group("ledger")
def command() -> None:
    """Size, backup and integrity of the ledger."""


@command.command("info")
@options.store
@options.as_json
def info(store: str, as_json: bool) -> None:
    """How large the ledger is, what it holds and what it cost."""
    from evenhand.ledger import upkeep
    from evenhand.ledger.record import Ledger

    found = upkeep.info(Ledger(store, create=False))
    if as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False))
        return
    size = "" if found.size_bytes is None else f", {found.size_bytes / 1e6:.1f} MB"
    click.echo(f"{found.where}{size}, tables at version {found.version}")
    click.echo("  ".join(f"{name} {count}" for name, count in found.counts.items()))
    click.echo(f"{found.images} images, {found.image_bytes / 1e6:.1f} MB")
    unknown = f"; the price of {found.cost_unknown} calls is unknown" if found.cost_unknown else ""
    click.echo(f"${found.cost_usd:.4f} spent{unknown}")


@command.command("backup")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@options.store
def backup(folder: Path, store: str) -> None:
    """Copy ledger and images into FOLDER while others may go on writing. The copy holds the fence's secret."""
    from evenhand.ledger import upkeep
    from evenhand.ledger.record import Ledger

    target = upkeep.backup(Ledger(store, create=False), folder)
    click.echo(f"Copied to {target}.", err=True)


@command.command("restore")
@click.argument("backup", type=click.Path(path_type=Path, exists=True))
@options.store
@options.option("--force", is_flag=True, help="Put it in the place of a ledger that is there.")
def restore(backup: Path, store: str, force: bool) -> None:
    """Make a ledger of BACKUP, the folder that `ledger backup` filled, or the ledger in it.

    The copy is checked as `ledger check` does before it is put in its place in one step; where anything is wrong,
    nothing is changed. What an older version wrote is brought up to date.
    """
    from evenhand.ledger.restoring import restore

    found = restore(backup, store, force=force)
    counted = f"{found.counts['judgements']} judgements, {found.images} images"
    click.echo(f"Restored to {found.where}: {counted}; all of it is as the record names it.", err=True)


@command.command("check")
@options.store
@options.as_json
@click.pass_context
def check(ctx: click.Context, store: str, as_json: bool) -> None:
    """Is everything that the ledger names by its content there and unchanged? Exit 1 if not.

    That is items, answers, images, requests and submitted files. Replies and verdicts have no such name: a receipt
    (`evenhand verify`) holds them.
    """
    from evenhand.ledger import upkeep
    from evenhand.ledger.record import Ledger

    problems = upkeep.check(Ledger(store, create=False))
    if as_json:
        click.echo(json.dumps({"schema": 1, "sound": not problems, "problems": problems}, ensure_ascii=False))
    else:
        for problem in problems:
            click.echo(problem)
        if not problems:
            click.echo("The ledger is sound.")
    ctx.exit(1 if problems else 0)
