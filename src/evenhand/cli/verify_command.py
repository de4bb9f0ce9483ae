"""`evenhand verify`: a receipt held against the ledger."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.cli.surroundings import WrongUse

if TYPE_CHECKING:
    from evenhand.reports.receipt_check import Check

_TOLD = 20
"""Differences of one kind that are told; the document has them all."""
_WHO = (
    "A receipt is verified by whoever holds the ledger that made it: name that with --store. A team compares its own "
    "file with the receipt by --predictions FILE."
)
_FILE_ALONE = "There is no ledger here, so the file alone was compared; whoever holds the ledger verifies the rest."


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
    """Work out again what RECEIPT says of a submission, from the ledger as it stood then. Exit 1 where they differ.

    That is for whoever holds the ledger; without it, --predictions still tells whether a file is the one submitted.
    """
    from evenhand.ledger.record import Ledger
    from evenhand.reports.receipt_check import same_file, verify
    from evenhand.reports.receipt_reading import ReceiptError, read_receipt

    try:
        read = read_receipt(_bytes(receipt))
    except ReceiptError as error:
        raise WrongUse(f"{receipt}: {error}") from None
    given = None if predictions is None else _bytes(predictions)
    if given is not None and _no_ledger(store):
        check = same_file(read, given)
        document = {"schema": 1, "verified": None, "checks": [check.as_json()]}
        _tell([check], document, _FILE_ALONE, as_json=as_json)
        ctx.exit(0 if check.ok else 1)
    if _no_ledger(store):
        raise click.ClickException(f"There is no ledger at {store}. {_WHO}")
    found = verify(Ledger(store, create=False), read, predictions=given)
    words = f"The receipt {'agrees' if found.agrees else 'does NOT agree'} with the ledger at {store}."
    if found.agrees and not found.verified:
        words += f" {predictions} is NOT the file that was submitted."
    _tell(found.checks, found.as_json(), words, as_json=as_json)
    ctx.exit(0 if found.verified else 1)


def _tell(checks: "Sequence[Check]", document: object, words: str, *, as_json: bool) -> None:
    from evenhand.domain.printable import printable

    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    for check in checks:
        lines = [check.found] if check.ok else [*check.differs[:_TOLD], *_more(len(check.differs) - _TOLD)]
        for line in lines:
            click.echo(f"{'ok    ' if check.ok else 'FAILED'}  {check.name}: {printable(line)}")
    click.echo(words)


def _no_ledger(store: str) -> bool:
    from evenhand.ledger.opening import sqlite_path

    path = sqlite_path(store)
    return path is not None and not path.exists()


def _more(number: int) -> list[str]:
    return [f"and {number:,} more; --json lists them all."] if number > 0 else []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}.") from None
