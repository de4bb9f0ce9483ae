"""`evenhand runs`: what was done, newest first."""

import json
import time
from collections.abc import Mapping
from typing import Any

import click

from evenhand.cli import options
from evenhand.cli.options import option


@click.command("runs")
@option("--last", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@options.store
@options.as_json
def command(last: int, store: str, as_json: bool) -> None:
    """What was run, under which judge, and how each run ended."""
    from rich.console import Console

    from evenhand.ledger.record import Ledger
    from evenhand.ledger.runs import runs
    from evenhand.reports.tables import print_rows

    found = runs(Ledger(store, create=False), last=last)
    if as_json:
        documents = [
            {
                "run": run.id,
                "command": run.command,
                "settings": run.settings,
                "version": run.version,
                "at": run.at,
                "ended_at": run.ended_at,
                "outcome": run.outcome,
            }
            for run in found
        ]
        click.echo(json.dumps({"schema": 1, "runs": documents}, ensure_ascii=False))
        return
    rows = [
        (
            run.id,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(run.at)),
            run.command,
            str(run.settings.get("benchmark", "")),
            str(run.settings.get("judge") or run.settings.get("model") or ""),
            _ending(run.outcome),
        )
        for run in found
    ]
    print_rows(("run", "started", "command", "benchmark", "model", "ended"), rows, Console())


def _ending(outcome: Mapping[str, Any] | None) -> str:
    if outcome is None:
        return "not yet, or killed"
    if "imported" in outcome:
        return f"{outcome['imported']} imported"
    done = f"{outcome['known']} known, {outcome['called']} asked"
    for sign, words in (
        ("error", "stopped by an error"),
        ("interrupted", "interrupted"),
        ("over_budget", "budget reached"),
    ):
        if outcome.get(sign):
            return f"{done}; {words}"
    failed = sum(outcome["failed"].values())
    return f"{done}; {failed} failed" if failed else done
