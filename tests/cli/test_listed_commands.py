"""Claims about the list of commands."""

import click
import pytest

from evenhand.cli.main import COMMANDS, evenhand


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_is_there(name: str):
    found = evenhand.get_command(click.Context(evenhand), name)
    assert isinstance(found, click.Command)
    assert found.name == name
