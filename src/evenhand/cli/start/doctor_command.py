"""`evenhand doctor`: is everything in place, and what can an endpoint do?"""

import asyncio
import json
from dataclasses import dataclass
from typing import cast

import click

from evenhand.cli import options
from evenhand.cli.ask import asking_options
from evenhand.cli.ask.asking_options import ModelAddress
from evenhand.cli.environment import Environment
from evenhand.cli.options import option


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions:
    model: str | None = option("--model", help="Also ask this model: up to four tiny calls, which cost what they cost.")
    base_url: str | None = option("--base-url", help="Address of the model's server.")
    api_key_env: str | None = option("--api-key-env", help="Variable that holds the key.")
    timeout: float = option(
        "--timeout", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True, help="Seconds."
    )
    trust_folder: bool = options.trust_folder()
    insecure_http: bool = asking_options.insecure_http()
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("doctor")
@options.takes(DoctorOptions)
def command(ctx: click.Context, given: DoctorOptions) -> None:
    """Check versions, ledger, cache and keys; with --model also whether the endpoint answers, sees and can be read.

    Exit 1 where something needed is missing.
    """
    from evenhand.cli.start.checkup import CheckResult, check_endpoint, check_here

    findings: list[CheckResult] = check_here(given.store, cast(Environment, ctx.obj))
    if given.model:
        address = ModelAddress(model=given.model, base_url=given.base_url, api_key_env=given.api_key_env)
        findings += asyncio.run(check_endpoint(ctx, address, seconds=given.timeout, insecure_http=given.insecure_http))
    if given.as_json:
        document = {"schema": 1, "findings": [finding.as_json() for finding in findings]}
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            mark, colour = {"ok": ("ok", "green"), "no": ("no", "yellow"), "wrong": ("wrong", "red")}[finding.state]
            click.echo(f"{click.style(f'{mark:5}', fg=colour)} {finding.what:{width}} {finding.words}")
    ctx.exit(1 if any(finding.state == "wrong" for finding in findings) else 0)
