"""`evenhand verify`: a receipt held against the ledger."""

import json
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.cli.surroundings import WrongUse

_TOLD = 20
"""Differences of one kind that are told; the document has them all."""


@click.command("verify")
@click.argument("receipt", type=click.Path(path_type=Path))
@option(
    "--predictions",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A file of answers: is it the one that was submitted?",
)
@options.store
@options.as_json
@click.pass_context
def command(ctx: click.Context, receipt: Path, predictions: Path | None, store: str, as_json: bool) -> None:
    """Work out again what RECEIPT says of a submission, from the ledger as it stood then. Exit 1 where they differ."""
    from evenhand.domain.printable import printable
    from evenhand.ledger.record import Ledger
    from evenhand.reports.receipt_check import verify
    from evenhand.reports.receipt_reading import ReceiptError, read_receipt

    try:
        read = read_receipt(_bytes(receipt))
    except ReceiptError as error:
        raise WrongUse(f"{receipt}: {error}") from None
    given = None if predictions is None else _bytes(predictions)
    found = verify(Ledger(store, create=False), read, predictions=given)
    if as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False))
    else:
        for check in found.checks:
            lines = [check.found] if check.ok else [*check.differs[:_TOLD], *_more(len(check.differs) - _TOLD)]
            for line in lines:
                click.echo(f"{'ok    ' if check.ok else 'FAILED'}  {check.name}: {printable(line)}")
        words = "agrees with the ledger" if found.verified else "does NOT agree with the ledger"
        click.echo(f"The receipt {words} at {store}.")
    ctx.exit(0 if found.verified else 1)


def _more(number: int) -> list[str]:
    return [f"and {number:,} more; --json lists them all."] if number > 0 else []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}.") from None
