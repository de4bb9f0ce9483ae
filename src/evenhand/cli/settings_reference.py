"""Writes the reference of settings (`python -m evenhand.cli.settings_reference FILE`); tested for staleness."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evenhand.cli.folder import MAY_SET
from evenhand.cli.main import COMMANDS, evenhand
from evenhand.files.outputs import write_whole
from evenhand.models.provider import providers

HEAD = """\
# Settings

<!-- Made by `python -m evenhand.cli.settings_reference docs/reference/settings.md`; do not edit. -->

What each flag means, command by command: [commands](commands.md).

A setting is looked for in this order, and the first that has it counts:

1. the flag on the command line;
2. the variable in the environment;
3. the flag's name in your own `evenhand.toml`, without tables: `seed = 1`, `models = ["A", "B"]`;
4. the variable in `.env` in the current folder;
5. the flag's name in `evenhand.toml` in the current folder;
6. the default.

So what you said yourself, anywhere, goes before what a folder says. A variable is `EVENHAND_` and the flag's name.
Several values of a repeatable flag are separated by spaces there. Of an on-off flag the variable is `1` or `0`. A name
in a file that no command has is an error. Flags without a variable are given on the command line only.

Your own `evenhand.toml` lies in the folder `evenhand` of your configuration: `~/.config/evenhand/evenhand.toml` on
Linux (or below `XDG_CONFIG_HOME`), `~/Library/Application Support/evenhand/evenhand.toml` on a Mac. It may set every
flag that has a variable, but for `--trust-folder` and `--insecure-http`, which are said when they are meant: on the
command line or in the environment.
"""

FOLDER = """\
## What a folder may set

A folder may have come from a stranger, and whoever runs a command in it has typed nothing of what its files say. So
`evenhand.toml` and `.env` of the current folder (no other folder is looked at) may set what is in this table. Anything
else, whether it is written there by its flag or by its variable, ends the command with exit code 2 where the command
would use it, and a sentence says what would allow it: the flag, the variable in your real environment, your own
`evenhand.toml`, or `--trust-folder` (`EVENHAND_TRUST_FOLDER=1` in your environment), by which you vouch for the folder.

The same holds of the other variables in `.env` that are read at all: keys and addresses of providers, proxies,
`EVENHAND_CACHE`. Variables that no command reads are left alone; nothing of `.env` becomes part of the environment of
this program or of those it starts, and `${NAME}` is filled in only in a folder that you vouch for.

A folder cannot raise what is spent beyond what its own data asks for: it can lower the limits of the table, not raise
them, it cannot set prices, and your `--max-cost` stands whatever it says. It cannot choose the provider whose key goes
to an address that you typed, or to which a key goes that you named: name the model yourself there.

| flag | what a folder may give |
|---|---|
"""

WRITING = """\

## Files that are written

No command writes over a file without `--force`, unless the same command wrote it and nobody changed it since; what was
written is remembered in your own state folder (`~/.local/state/evenhand/written` on Linux), by a hash of the content. A
file appears whole or not at all. A link is not written through, and a path in this folder that leads out of it by a
link is refused; `--force` puts a file in the place of a link. `/dev/stdout` and its like may be named; other devices
and pipes may not.

Where the ledger usually lies (`.evenhand/ledger.db`) a link that leads out of the folder is refused too: give `--store`
with where it really lies.

## Keys over plain http

A key goes to an `http://` address on another machine only if you say `--insecure-http` (or set
`EVENHAND_INSECURE_HTTP=1` in your real environment): anybody on the way can read it. On this machine (`127.0.0.1`,
`localhost`; no name below it, which many systems look up in the network) nothing is needed.
"""

OTHERS = """\
## Variables that are no flags

| variable | what it is |
|---|---|
| `EVENHAND_IMAGE_CACHE` | where images of a database or S3 are kept here too, up to 2 GB; by default the user's cache |
| `EVENHAND_COLUMN_CACHE` | where columns are kept of large ledgers, made anew at will; by default the user's cache |
| `AWS_ENDPOINT_URL`, `AWS_REGION` | the server of images in `s3://…`; from the environment only, as the next |
| `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN` | who asks it |
| `EVENHAND_CACHE` | where the embedded model's weights lie; by default the user's own cache folder |
| `EVENHAND_TOKEN` | a team's token for `evenhand submit` |

## Keys and addresses of providers

The first of the variables that is set counts. `--judge-api-key-env` and its like name another.

| provider | address | key | another address |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRow:
    flags: str
    variable: str
    takes: str
    default: str


def settings_reference() -> str:
    used: defaultdict[SettingRow, list[str]] = defaultdict(list)
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
    return "\n".join(
        [HEAD, FOLDER + "\n".join(_may_set()), WRITING, "## Flags\n", table, OTHERS.rstrip("\n"), *_providers(), ""]
    )


def _may_set() -> Iterator[str]:
    """A row for each rule, the strictest first."""
    flags: defaultdict[str, list[str]] = defaultdict(list)
    for name, rule in MAY_SET.items():
        flags[rule.words].append(f"`--{name.replace('_', '-')}`")
    for words, names in flags.items():
        yield f"| {', '.join(sorted(names))} | {words} |"


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


def _setting(option: click.Option) -> SettingRow:
    return SettingRow(
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
    write_whole(Path(sys.argv[1]), settings_reference().encode())
