"""`evenhand read`: verdicts from raw replies got elsewhere; asks nobody."""

import json
from pathlib import Path

import click

from evenhand.cli import options


@click.command("read")
@click.argument("protocol")
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
def command(protocol: str, file: Path, as_json: bool) -> None:
    """Read the verdicts in FILE as PROTOCOL does (JSONL with item, reply, and optionally shown, options, token)."""
    from evenhand.cli.read.showing import in_words
    from evenhand.domain.verdict import NoVerdict, verdict_json
    from evenhand.exchange.judgements.replies import read_replies
    from evenhand.format.tables import console, print_rows
    from evenhand.protocols.catalog import load_protocol
    from evenhand.stats.reliability.coverage import Coverage

    rule = load_protocol(protocol)
    replies = read_replies(file, needs_options=rule.kind == "choice", needs_token=rule.rule.token)
    verdicts = [rule.read(one.reply, shown=one.shown, options=one.options, token=one.token) for one in replies]
    coverage = Coverage.of(verdicts)
    if as_json:
        rows = [
            {
                "item": one.item,
                "verdict": None if isinstance(verdict, NoVerdict) else verdict_json(verdict),
                "reason": verdict.reason if isinstance(verdict, NoVerdict) else None,
            }
            for one, verdict in zip(replies, verdicts, strict=True)
        ]
        document = {"schema": 1, "protocol": rule.name, "replies": rows, "coverage": coverage.as_json()}
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    lines = [
        (one.item, "–", " ".join((f"{verdict.reason}.", verdict.detail)).strip())
        if isinstance(verdict, NoVerdict)
        else (one.item, in_words(verdict), "")
        for one, verdict in zip(replies, verdicts, strict=True)
    ]
    print_rows(("item", "verdict", "why there is none"), lines, console())
    click.echo(f"{coverage.with_verdict} of {coverage.wanted} replies hold a verdict.")
