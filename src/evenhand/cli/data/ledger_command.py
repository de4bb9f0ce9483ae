"""`evenhand ledger`: looking after the record."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.environment import WrongUse
from evenhand.cli.options import LedgerOptions, option
from evenhand.cli.waiting import waiting

if TYPE_CHECKING:
    from evenhand.images.places import Copied
    from evenhand.ledger.upkeep.chain import ChainReport


@click.group("ledger")
def command() -> None:
    """Size, backup and integrity of the ledger; a copy of it in another database; where its images lie."""


@command.command("info")
@options.takes(LedgerOptions)
def info(_: click.Context, given: LedgerOptions) -> None:
    """How large the ledger is, what it holds and what it cost."""
    from evenhand.format.tables import console, fitted
    from evenhand.format.words import counted, sized
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.upkeep import chain, signing
    from evenhand.ledger.upkeep import check as upkeep

    ledger = Ledger(given.store, create=False)
    found, head, keys = upkeep.info(ledger), chain.head(ledger), signing.public_keys(ledger)
    if given.as_json:
        more = {"chain": head.as_json(), "public_keys": [one.as_json() for one in keys]}
        click.echo(json.dumps({**found.as_json(), **more}, ensure_ascii=False))
        return
    click.echo(f"{found.where}, {sized(found.size_bytes)}, tables at version {found.version}")
    counts = "  ".join(f"{name}\u00a0{count}" for name, count in found.counts.items())
    click.echo(fitted(counts, console().width))
    click.echo(f"{counted(found.images, 'image')}, {sized(found.image_bytes)}")
    unknown = f"; the price of {found.cost_unknown} calls is unknown" if found.cost_unknown else ""
    click.echo(f"${found.cost_usd:.4f} spent{unknown}")
    click.echo(_named("Head of the chain", head.hash))
    click.echo(_named("Public key for receipts", keys[0].key))


def _named(what: str, value: str) -> str:
    """What one copies is a line of its own, so that a narrow terminal does not break it."""
    return f"{what}:\n  {value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupOptions:
    folder: Path = options.argument(type=click.Path(path_type=Path, file_okay=False))
    store: str = options.store()


@command.command("backup")
@options.takes(BackupOptions)
def backup(ctx: click.Context, given: BackupOptions) -> None:
    """Copy ledger and images into FOLDER while others may go on writing.

    Exit 1 where the copy's chain is not sound; 3 where images or submitted files are not in it, each of which is named:
    what is not there cannot be copied, and what is behind a link is not. The rest is.

    The copy holds the ledger's secrets: the fence's, and the key that signs receipts.
    """
    from evenhand.cli.sentences import FAILED, INCOMPLETE
    from evenhand.format.printable import printable
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.upkeep import chain
    from evenhand.ledger.upkeep import check as upkeep

    with waiting("Copying the ledger"):
        ledger = Ledger(given.store, create=False)
        target = upkeep.backup(ledger, given.folder)
    with waiting("Checking the copy"):
        copied = Ledger(f"sqlite:///{target}", create=False)
        found, lacking = chain.check(copied), upkeep.left_out(ledger, copied)
    state = "but the copy is not sound" if found.problems else "but not all of it" if lacking else "and found sound"
    click.echo(f"Copied to {target}, {state}.", err=True)
    click.echo(_named("Head of the chain", found.head.hash), err=True)
    for problem in (*found.problems, *lacking):
        click.echo(printable(problem), err=True)
    ctx.exit(FAILED if found.problems else INCOMPLETE if lacking else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreOptions:
    backup: Path = options.argument(type=click.Path(path_type=Path, exists=True))
    store: str = options.store()
    force: bool = option("--force", is_flag=True, help="Replace the ledger that is there.")


@command.command("restore")
@options.takes(RestoreOptions)
def restore(_: click.Context, given: RestoreOptions) -> None:
    """Make a ledger of BACKUP, the folder that `ledger backup` filled, or the ledger in it.

    The copy is checked as `ledger check` does before it is put in its place in one step; where anything is wrong,
    nothing is changed. What an older version wrote is brought up to date.
    """
    from evenhand.ledger.upkeep.restoring import restore

    with waiting("Restoring the ledger"):
        found = restore(given.backup, given.store, force=given.force)
    counted = f"{found.counts['judgements']} judgements, {found.images} images"
    click.echo(f"Restored to {found.where}: {counted}; all of it is as the record names it.", err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOptions:
    source: str = options.argument(metavar="FROM")
    target: str = options.argument(metavar="TO")
    images: str | None = option(
        "--images",
        settable=False,
        metavar="URL",
        help="Where the copy's images are to lie: a folder, `database` or s3://BUCKET/PREFIX. By default beside a "
        "SQLite ledger, and in PostgreSQL's database itself.",
    )
    as_json: bool = options.as_json()


@command.command("copy")
@options.takes(CopyOptions)
def copy(_: click.Context, given: CopyOptions) -> None:
    """Copy the ledger at the URL FROM to the URL TO, SQLite or PostgreSQL, with images and submitted files.

    TO is a new file or an empty database. Every table is read again there and compared by its digest before the copy
    counts; one that was cut off leaves no ledger at TO, so the same command can be given again. Others may go on
    writing to FROM: what they write after the beginning is not in the copy.

    The copy is the same ledger, with its secrets: let only one of the two be written from then on.
    """
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.upkeep.copying import copy_ledger

    with waiting("Copying the ledger") as shown:

        def told(words: str) -> None:
            shown.words = words

        ledger = Ledger(given.source, create=False)
        done = copy_ledger(ledger, given.target, images=given.images, told=told)
    if given.as_json:
        click.echo(json.dumps(done.as_json(), ensure_ascii=False))
        return
    click.echo(f"Copied {done.source} to {done.target}: {done.rows:,} rows in {len(done.tables)} tables.")
    click.echo(f"{_files(done.images, 'image')} in {done.images_in}; {_files(done.submitted, 'submitted file')}.")
    click.echo("Each table was read again in the copy, each file hashed: all are equal.")
    click.echo(_named("Digest of all tables", done.digest))
    click.echo(_named("Head of the chain", done.head.hash))


def _files(done: "Copied", what: str) -> str:
    from evenhand.format.words import sized

    return f"{done.files:,} {what}{'' if done.files == 1 else 's'} ({sized(done.size)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesOptions:
    url: str | None = options.argument(required=False)
    store: str = options.store()


@command.command("images")
@options.takes(ImagesOptions)
def images(_: click.Context, given: ImagesOptions) -> None:
    """Where the ledger's images lie; with URL (a folder, `database` or s3://BUCKET/PREFIX) move them there.

    Submitted files go with them. Let nothing else write to the ledger meanwhile. A folder or a bucket that they were in
    keeps its files: delete them when you have looked at the new place.
    """
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.upkeep.copying import move_images

    ledger = Ledger(given.store, create=False)
    if given.url is None:
        click.echo(ledger.places.images.where)
        return
    with waiting("Copying images"):
        done = move_images(ledger, given.url)
    if done.source == done.target:
        click.echo(f"The images lie in {done.target} already.", err=True)
        return
    counted = f"{_files(done.images, 'image')}, {_files(done.submitted, 'submitted file')}"
    click.echo(f"Copied from {done.source} to {done.target}, each read again there and hashed: {counted}.", err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    against: tuple[str, ...] = option(
        "--against",
        settable=False,
        metavar="FILE",
        multiple=True,
        type=click.Path(),
        help="A receipt, a report or a backup: is this ledger a continuation of the one it was made from? Repeatable.",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("check")
@options.takes(CheckOptions)
def check(ctx: click.Context, given: CheckOptions) -> None:
    """Is the record as it was written? Exit 1 if not, with the rows that were changed, put in or taken out.

    Items, answers, images, requests and submitted files are compared with their names; every row that a figure rests on
    against the chain of hashes that it was written with. Whoever can write to the whole ledger can make the chain anew:
    only --against a file that lies elsewhere tells that.
    """
    from evenhand.format.printable import printable
    from evenhand.format.tables import console, fitted
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.upkeep import chain
    from evenhand.ledger.upkeep import check as upkeep
    from evenhand.ledger.upkeep.published import goes_on_from, published_head

    try:
        heads = {path: published_head(path) for path in map(_file, given.against)}
    except chain.HeadError as error:
        raise WrongUse(str(error)) from None
    with waiting("Checking the ledger"):
        ledger = Ledger(given.store, create=False)
        problems, found = upkeep.check(ledger), chain.check(ledger)
        problems += found.problems
        parted = {path: words for path, head in heads.items() if (words := chain.continues(ledger, head))}
        ahead = [path for path in parted if goes_on_from(path, found.head)]
        behind = [
            f"{path} is ahead of this ledger: it holds all that is here, and what was written since. This is an older "
            "copy, or the newest rows were taken out with their links."
            for path in ahead
        ]
        problems += [f"{path}: {one}" for path, words in parted.items() if path not in ahead for one in words]
    if given.as_json:
        told = [*problems, *behind]
        document = {"schema": 1, "sound": not told, "problems": told, "chain": found.as_json()}
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        if problems:
            click.echo("The ledger is not sound: what is on record is not what was written.")
        else:
            ends_early = "The ledger ends before what it was compared with; until there it is sound."
            click.echo(ends_early if behind else "The ledger is sound.")
            for path in heads:
                if path not in ahead:
                    click.echo(printable(f"It continues the ledger that {path} was made from."))
        for problem in (*problems, *behind):
            click.echo(fitted(printable(problem), console().width))
        for line in _covered(found):
            click.echo(line)
    ctx.exit(1 if problems or behind else 0)


def _file(given: str) -> Path:
    """A file that may be named by the URL of a ledger in it, of which a path would lose slashes. Raises WrongUse."""
    from evenhand.ledger.store.opening import sqlite_path

    if "://" not in given:
        return Path(given)
    path = sqlite_path(given)
    if path is None:
        raise WrongUse(
            "--against takes a file (a receipt, a report or a backup), not the address of a server; make a backup of "
            "the ledger there with `ledger backup` and name its folder."
        )
    return path


def _covered(found: "ChainReport") -> list[str]:
    """What the chain can tell of, and from when on."""
    lines = [
        f"Looked at: {found.rows:,} rows, covered by {found.links:,} links of the chain.",
        _named("Head of the chain", found.head.hash),
    ]
    if found.genesis is not None:
        since = found.as_json()["covered_since"]
        lines.append(f"The chain was begun on {since}; what was on record before is covered as it was then.")
    if found.erased:
        counts = ", ".join(f"{count:,} of {table}" for table, count in found.erased.items())
        lines.append(
            f"Texts that were taken away, with only their digest left: {counts}. What a verdict rests on cannot be "
            "read in them any more. No command of Evenhand takes such a text away: ask who did."
        )
    return lines


@command.group("keys")
def keys() -> None:
    """The key pair that signs receipts."""


@keys.command("list")
@options.takes(LedgerOptions)
def list_keys(_: click.Context, given: LedgerOptions) -> None:
    """The public keys: the one that signs now, then those before it. Publish them where teams find them."""
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.upkeep import signing

    found = [one.as_json() for one in signing.public_keys(Ledger(given.store, create=False))]
    if given.as_json:
        click.echo(json.dumps({"schema": 1, "public_keys": found}))
        return
    for one in found:
        until = "signs now" if one["retired"] is None else f"until {one['retired']}"
        click.echo(f"{one['key']}  {until}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateOptions:
    store: str = options.store()


@keys.command("rotate")
@options.takes(RotateOptions)
def rotate(_: click.Context, given: RotateOptions) -> None:
    """Let a new key sign from now on. Receipts that the old one signed still verify; its private half is deleted."""
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.upkeep import signing

    fresh = signing.rotate(Ledger(given.store, create=False))
    click.echo(f"Receipts are signed with a new key from now on. Its public half: {fresh.key}")
