"""Flags that the folder's files set: evenhand.toml, and over it the EVENHAND_ variables of `.env`."""

from collections.abc import Mapping
from typing import Any, cast

import click

from evenhand.cli.surroundings import Surroundings, WrongUse
from evenhand.domain.naming import hint

TRUST = "trust_folder"


def defaults(group: click.Group, ctx: click.Context, surroundings: Surroundings) -> dict[str, Any]:
    """click's default map, command by command; a flag in evenhand.toml that no command has is an error.

    Only flags that have a variable can be set so: the demo's ledger, for one, is always its own.
    """
    if TRUST in surroundings.toml:
        raise WrongUse(
            "evenhand.toml sets 'trust-folder', but a folder cannot vouch for itself: give --trust-folder on the "
            "command line."
        )
    known: set[str] = set()
    mapped = _of_group(group, ctx, surroundings, known)
    for flag, value in surroundings.toml.items():
        if isinstance(value, dict):
            raise WrongUse(
                f"evenhand.toml has the table [{flag}], but it holds flags alone, one a line, that stand for every "
                f'command that has them: judge = "openai/gpt-4o".'
            )
        if flag not in known:
            raise WrongUse(f"evenhand.toml sets '{flag}', which is no flag of any command; {hint(flag, known)}")
    return mapped


def _of_group(group: click.Group, ctx: click.Context, surroundings: Surroundings, known: set[str]) -> dict[str, Any]:
    mapped: dict[str, Any] = {}
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        mapped[name] = _of_command(command, surroundings, known)
        if isinstance(command, click.Group):
            mapped[name] |= _of_group(command, ctx, surroundings, known)
    return mapped


def _of_command(command: click.Command, surroundings: Surroundings, known: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for option in command.params:
        if not isinstance(option, click.Option) or not isinstance(option.envvar, str) or not option.name:
            continue
        known.add(option.name)
        if option.name == TRUST:
            continue
        written = _written(option, surroundings.dotenv)
        if written is not None:
            found[option.name] = written
        elif option.name in surroundings.toml:
            found[option.name] = _from_toml(option, surroundings.toml[option.name])
    return found


def _from_toml(option: click.Option, value: Any) -> Any:
    if option.multiple:
        return cast(list[Any], value) if isinstance(value, list) else [value]
    if isinstance(value, list):
        flag = (option.name or "").replace("_", "-")
        raise WrongUse(f"evenhand.toml gives '{flag}' a list, but it takes one value.")
    return value


def _written(option: click.Option, dotenv: Mapping[str, str]) -> str | list[str] | None:
    assert isinstance(option.envvar, str)
    value = dotenv.get(option.envvar)
    return list(option.type.split_envvar_value(value)) if value is not None and option.multiple else value
