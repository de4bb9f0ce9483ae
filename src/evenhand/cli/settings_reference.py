"""Writes the reference of settings (`python -m evenhand.cli.settings_reference FILE`); tested for staleness."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evenhand.cli.main import COMMANDS, evenhand
from evenhand.models.provider import providers

HEAD = """\
# Settings

<!-- Made by `python -m evenhand.cli.settings_reference docs/reference/settings.md`; do not edit. -->

What each flag means, command by command: [commands](commands.md).

A setting is looked for in this order, and the first that has it counts:

1. the flag on the command line;
2. the variable in the environment;
3. the variable in `.env` in the current folder;
4. the flag's name in `evenhand.toml` in the current folder, without tables: `seed = 1`, `models = ["A", "B"]`;
5. the default.

A variable is `EVENHAND_` and the flag's name. Several values of a repeatable flag are separated by spaces there. Of an
on-off flag the variable is `1` or `0`. A name in `evenhand.toml` that no command has is an error. Flags without a
variable are given on the command line only. A base URL that only the folder's files name gets no key of yours, unless
`--trust-folder` says so.
"""

OTHERS = """\
## Variables that are no flags

| variable | what it is |
|---|---|
| `EVENHAND_CACHE` | where the embedded model's weights lie; by default the user's own cache folder |
| `EVENHAND_TOKEN` | a team's token for `evenhand submit` |

## Keys and addresses of providers

The first of the variables that is set counts. `--judge-api-key-env` and its like name another.

| provider | address | key | another address |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    flags: str
    variable: str
    takes: str
    default: str


def settings_reference() -> str:
    used: defaultdict[Setting, list[str]] = defaultdict(list)
    context = click.Context(evenhand, info_name="evenhand")
    for name in COMMANDS:
        command = evenhand.get_command(context, name)
        assert command is not None
        for path, option in _options(command, name):
            used[_setting(option)].append(f"`{path}`")
    rows = [
        f"| {one.flags} | {one.variable} | {one.takes} | {one.default} | {', '.join(commands)} |"
        for one, commands in sorted(
            used.items(), key=lambda pair: (pair[0].flags.replace("`", ""), pair[0].variable, pair[1])
        )
    ]
    table = "| flag | variable | takes | default | commands |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    return "\n".join([HEAD, "## Flags\n", table, OTHERS.rstrip("\n"), *_providers(), ""])


def _options(command: click.Command, path: str) -> Iterator[tuple[str, click.Option]]:
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield path, parameter
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _options(child, f"{path} {name}")


def _setting(option: click.Option) -> Setting:
    return Setting(
        flags=", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts)),
        variable=f"`{option.envvar}`" if option.envvar else "",
        takes=_takes(option),
        default=_default(option.default, option),
    )


def _takes(option: click.Option) -> str:
    repeatable = ", repeatable" if option.multiple else ""
    if option.is_flag:
        return "on or off"
    kind = option.type
    if isinstance(kind, click.Choice):
        return ", ".join(str(one) for one in kind.choices) + repeatable
    if isinstance(kind, click.IntRange | click.FloatRange):
        return f"{'whole number' if isinstance(kind, click.IntRange) else 'number'}{_range(kind)}{repeatable}"
    if isinstance(kind, click.Path):
        return f"path{repeatable}"
    names = {"integer": "whole number", "float": "number"}
    return names.get(kind.name, "text") + repeatable


def _range(kind: click.IntRange | click.FloatRange) -> str:
    above = "" if kind.min is None else f" {'above' if kind.min_open else 'from'} {kind.min:g}"
    below = "" if kind.max is None else f" to {kind.max:g}"
    return above + below


def _default(value: Any, option: click.Option) -> str:
    if option.required:
        return "must be given"
    if value is None or value is False or value == () or not isinstance(value, str | int | float):
        return ""
    return "on" if value is True else f"`{value}`"


def _providers() -> Iterator[str]:
    for name, provider in sorted(providers().items()):
        keys = ", ".join(f"`{key}`" for key in provider.key_variables)
        needed = "" if provider.key_required else " (not needed)"
        urls = ", ".join(f"`{url}`" for url in provider.url_variables)
        yield f"| `{name}` | `{provider.base_url}` | {keys}{needed} | {urls} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(settings_reference(), encoding="utf-8")
