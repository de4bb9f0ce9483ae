"""`evenhand read`: verdicts from raw replies got elsewhere; asks nobody."""

from dataclasses import dataclass
from pathlib import Path

import click

from evenhand.cli import options
from evenhand.cli.waiting import waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    protocol: str = options.argument()
    file: Path = options.argument(type=click.Path(path_type=Path))
    criteria: Path | None = options.option(
        "--criteria",
        type=click.Path(path_type=Path),
        help="With PROTOCOL rubric: the TOML file of criteria that the judge was given; the protocol's own if none.",
    )
    as_json: bool = options.as_json()


@click.command("read")
@options.takes(ReadOptions)
def command(_: click.Context, given: ReadOptions) -> None:
    """Read the verdicts in FILE as PROTOCOL does (JSONL with reply, and optionally item, shown, options, token).

    A row without an item is called by its number.
    """
    from evenhand.api.reading import read_verdicts
    from evenhand.domain.verdict import NoVerdict
    from evenhand.format.tables import console, print_rows
    from evenhand.format.verdict_words import by_position
    from evenhand.protocols.catalog import load_protocol

    protocol = load_protocol(given.protocol, criteria=given.criteria)
    graded = protocol.rubric.names if protocol.rubric else None
    with waiting("Reading the replies"):
        found = read_verdicts(given.file, protocol=protocol)
    if given.as_json:
        click.echo(found.to_json())
        return
    lines = [
        (one.item, "–", " ".join((f"{verdict.reason}.", verdict.detail)).strip())
        if isinstance(verdict, NoVerdict)
        else (one.item, by_position(verdict, graded), "")
        for one, verdict in zip(found.replies, found.verdicts, strict=True)
    ]
    print_rows(("item", "verdict", "why there is none"), lines, console())
    click.echo(found.headline)
