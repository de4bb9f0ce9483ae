"""`evenhand verify`: a receipt held against the ledger."""

import codecs
import json
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import option
from evenhand.cli.saying import folded
from evenhand.cli.waiting import waiting

if TYPE_CHECKING:
    from evenhand.reports.receipts.check import Check
    from evenhand.reports.receipts.reading import Receipt

_TOLD = 20
"""Differences of one kind that are told; the document has them all."""
_WHO = (
    "A receipt is verified by whoever holds the ledger that made it: name that with --store. A team compares its own "
    "file with the receipt by --predictions FILE, and asks by --public-key KEY whether the receipt is as the board "
    "signed it."
)
_FILE_ALONE = "There is no ledger here, so the file alone was compared; whoever holds the ledger verifies the rest."
_NOT_WORKED_OUT = (
    "There is no ledger here: that the row comes out of the judgements, and these out of the judge's replies, whoever "
    "holds the ledger verifies."
)
_WHOSE_KEY = "Is this the board's key? Compare it with the one on its page, or give that by --public-key."


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    receipt: Path = options.argument(type=click.Path(path_type=Path))
    predictions: Path | None = option(
        "--predictions",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="A file of answers: is it the one that was submitted?",
    )
    public_key: str | None = option(
        "--public-key",
        metavar="HEX|FILE",
        help="The board's public key as its page shows it, or a file with one or several: did it sign the receipt?",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("verify")
@options.takes(VerifyOptions)
def command(ctx: click.Context, given: VerifyOptions) -> None:
    """Work out again what RECEIPT says of a submission, from the ledger as it stood then. Exit 1 where they differ.

    That is for whoever holds the ledger. Without it, --public-key tells whether the receipt is as the board signed it,
    and --predictions whether a file is the one submitted.
    """
    from evenhand.ledger.store.record import Ledger
    from evenhand.reports.receipts.check import ReceiptVerification, signature_of, verify
    from evenhand.reports.receipts.reading import ReceiptError, read_receipt

    try:
        read = read_receipt(_bytes(given.receipt))
    except ReceiptError as error:
        raise WrongUse(f"{given.receipt}: {error}") from None
    predictions = None if given.predictions is None else _bytes(given.predictions)
    keys = None if given.public_key is None else _keys(given.public_key)
    store, as_json = given.store, given.as_json
    if _no_ledger(store):
        ctx.exit(_without_ledger(read, predictions, keys, store=store, as_json=as_json))
    with waiting("Working out the receipt again"):
        found = verify(Ledger(store, create=False), read, predictions=predictions)
    if keys is not None:
        found = ReceiptVerification(checks=(signature_of(read, keys), *found.checks))
    words = f"The receipt {'agrees' if found.agrees else 'does NOT agree'} with the ledger at {store}."
    if found.agrees and not found.verified:
        words += f" {given.predictions} is NOT the file that was submitted."
    _tell(found.checks, found.as_json(), words, as_json=as_json)
    ctx.exit(0 if found.verified else 1)


def _without_ledger(
    receipt: "Receipt", predictions: bytes | None, keys: "Collection[str] | None", *, store: str, as_json: bool
) -> int:
    """The exit code."""
    from evenhand.reports.receipts.check import SIGNATURE, same_file, signature_of

    signed = SIGNATURE in receipt.document
    if keys is not None and not signed:
        raise WrongUse("The receipt was made before receipts were signed; whoever holds the ledger verifies it.")
    if predictions is None and keys is None:
        from evenhand.ledger.store.opening import LedgerError

        raise LedgerError(f"There is no ledger at {store}. {_WHO}", code="EH-LEDGER-MISSING")
    checks = [signature_of(receipt, keys or ())] if signed else []
    if predictions is not None:
        checks.append(same_file(receipt, predictions))
    fine = all(one.ok for one in checks)
    # Whose the key is that a receipt names itself, the receipt cannot tell.
    verified = None if fine and keys is None else fine
    words = _NOT_WORKED_OUT if signed else _FILE_ALONE
    if signed and keys is None and fine:
        words = f"{_WHOSE_KEY} {words}"
    document: dict[str, object] = {
        "schema": 1,
        "verified": verified,
        "checks": [one.as_json() for one in checks],
        "not_checked": ["submission", "shown", "numbers", "judgements", "row", "chain"],
    }
    _tell(checks, document, words, as_json=as_json)
    return 0 if fine else 1


def _keys(given: str) -> "Collection[str]":
    from evenhand.ledger.upkeep.signing import keys_in

    found = keys_in(given) or keys_in(_text(Path(given)))
    if not found:
        raise WrongUse(
            f"{given} holds no public key: it is 64 characters of 0 to 9 and a to f, alone in the file, or what "
            "the board's /api/receipt-keys or `evenhand ledger keys list` gives."
        )
    return found


def _text(path: Path) -> str:
    """Editors put a mark before it, and some shells write UTF-16."""
    data = _bytes(path)
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if marked else "utf-8-sig", "replace")


def _tell(checks: "Sequence[Check]", document: object, words: str, *, as_json: bool) -> None:
    from evenhand.format.printable import printable

    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    for check in checks:
        lines = [check.found] if check.ok else [*check.differs[:_TOLD], *_more(len(check.differs) - _TOLD)]
        for line in lines:
            told = f"{'ok    ' if check.ok else 'FAILED'}  {check.name}: {printable(line)}"
            click.echo(folded(told, sys.stdout))
    click.echo(words)


def _no_ledger(store: str) -> bool:
    from evenhand.ledger.store.opening import sqlite_path

    path = sqlite_path(store)
    return path is not None and not path.exists()


def _more(number: int) -> list[str]:
    return [f"and {number:,} more; --json lists them all."] if number > 0 else []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}.") from None
