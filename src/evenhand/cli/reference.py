"""Writes the command reference (`python -m evenhand.cli.reference FILE`); a test fails when the file is stale."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from evenhand.cli.main import COMMANDS, evenhand
from evenhand.files.outputs import write_whole


def reference() -> str:
    made = "Made by `python -m evenhand.cli.reference docs/reference/commands.md`; do not edit."
    head = f"# Commands\n\n<!-- {made} -->\n"
    context = click.Context(evenhand, info_name="evenhand")
    parts: list[str] = [head]
    for name in COMMANDS:
        command = evenhand.get_command(context, name)
        assert command is not None
        parts += _sections(command, click.Context(command, info_name=name, parent=context))
    return "\n".join(parts)


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## {context.command_path}\n\n{_help(command)}\n"
    rows = [
        _row(parameter) for parameter in command.params if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"    {context.command_path} {usage}\n"
    if rows:
        yield "| flag | variable | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _sections(child, click.Context(child, info_name=name, parent=context))


def _help(command: click.Command) -> str:
    return "\n".join(line.strip() for line in (command.help or "").strip().splitlines())


def _row(option: click.Option) -> str:
    choices = f" {', '.join(option.type.choices)}" if isinstance(option.type, click.Choice) else ""
    default = f" Default: {option.default}." if option.show_default and option.default not in (None, ()) else ""
    flags = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    variable = f"`{option.envvar}`" if option.envvar else ""
    meaning = f"{option.help or ''}{choices}{default}".strip().replace("|", "\\|")
    return f"| {flags} | {variable} | {meaning} |"


if __name__ == "__main__":
    write_whole(Path(sys.argv[1]), reference().encode())
