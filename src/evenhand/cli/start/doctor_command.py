"""`evenhand doctor`: is everything in place, and what can an endpoint do?"""

import asyncio
import json
from typing import Any, cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_flags
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@click.command("doctor")
@option("--model", help="Also ask this model: up to four tiny calls, which cost what they cost.")
@option("--base-url", help="Address of the model's server.")
@option("--api-key-env", help="Variable that holds the key.")
@option("--timeout", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True, help="Seconds.")
@asking_flags.trust_folder
@asking_flags.insecure_http
@options.store
@options.as_json
@click.pass_context
def command(ctx: click.Context, **flags: Any) -> None:
    """Check versions, ledger, cache and keys; with --model also whether the endpoint answers, sees and can be read.

    Exit 1 where something needed is missing.
    """
    from evenhand.cli.start.checkup import CheckResult, check_endpoint, check_here

    env = cast(Environment, ctx.obj)
    findings: list[CheckResult] = check_here(flags["store"], env)
    if flags["model"]:
        findings += asyncio.run(check_endpoint(ctx, flags, env))
    if flags["as_json"]:
        document = {"schema": 1, "findings": [finding.as_json() for finding in findings]}
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            mark, colour = {"ok": ("ok", "green"), "no": ("no", "yellow"), "wrong": ("wrong", "red")}[finding.state]
            click.echo(f"{click.style(f'{mark:5}', fg=colour)} {finding.what:{width}} {finding.words}")
    ctx.exit(1 if any(finding.state == "wrong" for finding in findings) else 0)
