"""`evenhand read`: verdicts from raw replies got elsewhere; asks nobody."""

from pathlib import Path

import click

from evenhand.cli import options


@click.command("read")
@click.argument("protocol")
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
def command(protocol: str, file: Path, as_json: bool) -> None:
    """Read the verdicts in FILE as PROTOCOL does (JSONL with item, reply, and optionally shown, options, token)."""
    from evenhand.api.reading import read_verdicts
    from evenhand.domain.verdict import NoVerdict
    from evenhand.format.tables import console, print_rows
    from evenhand.format.verdict_words import by_position

    found = read_verdicts(file, protocol=protocol)
    if as_json:
        click.echo(found.to_json())
        return
    lines = [
        (one.item, "–", " ".join((f"{verdict.reason}.", verdict.detail)).strip())
        if isinstance(verdict, NoVerdict)
        else (one.item, by_position(verdict), "")
        for one, verdict in zip(found.replies, found.verdicts, strict=True)
    ]
    print_rows(("item", "verdict", "why there is none"), lines, console())
    click.echo(found.headline)
