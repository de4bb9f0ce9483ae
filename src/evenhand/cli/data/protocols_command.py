"""`evenhand protocols`: how judges can be asked, and how they are read."""

import json
from dataclasses import dataclass

import click

from evenhand.cli import options
from evenhand.format.printable import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolsOptions:
    as_json: bool = options.as_json()


@click.group("protocols", cls=options.ShowingGroup, invoke_without_command=True)
@options.takes(ProtocolsOptions)
def command(ctx: click.Context, given: ProtocolsOptions) -> None:
    """The available protocols; `show` prints one with its prompts."""
    if ctx.invoked_subcommand is not None:
        return
    from evenhand.cli.data.protocol_facts import facts
    from evenhand.format.tables import console, print_rows
    from evenhand.protocols.catalog import load_protocol, prompt_names, protocol_names

    protocols = [load_protocol(prompt) for name in protocol_names() for prompt in prompt_names(name)]
    if given.as_json:
        click.echo(json.dumps({"schema": 1, "protocols": [facts(one) for one in protocols]}, ensure_ascii=False))
        return
    rows = [(one.name, one.kind, str(one.levels or "–"), one.source) for one in protocols]
    print_rows(("protocol", "kind", "levels", "source"), rows, console())


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowProtocolOptions:
    name: str = options.argument()
    as_json: bool = options.as_json()


@command.command("show")
@options.takes(ShowProtocolOptions)
def show(_: click.Context, given: ShowProtocolOptions) -> None:
    """One protocol whole: its turns as they are sent, with {{slots}}, and its reading rule."""
    from evenhand.cli.data.protocol_facts import facts, reading_lines, turns
    from evenhand.protocols.catalog import load_protocol

    protocol = load_protocol(given.name)
    if given.as_json:
        click.echo(json.dumps({"schema": 1, **facts(protocol), "turns": turns(protocol)}, ensure_ascii=False))
        return
    for field, value in facts(protocol).items():
        if field in ("reading", "constrained"):
            continue
        click.echo(f"{field:12} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    click.secho("\nHow a reply is read", bold=True)
    for line in reading_lines(protocol):
        click.echo(printable(line))
    for turn in turns(protocol):
        click.secho(f"\n{turn['role']}", bold=True)
        click.echo(turn["text"])
        if turn["constrained"]:
            click.secho(f"\n{turn['role']}, under constrained readout", bold=True)
            click.echo(turn["constrained"])
        for slot, text in turn["where"].items():
            click.secho(f"\n{turn['role']}, where there is {slot}", bold=True)
            click.echo(text)
