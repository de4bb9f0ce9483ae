"""The page of JSON documents lists exactly the fields that the commands print."""

from collections.abc import Iterator
from typing import Any

import click
import pytest

from evenhand.cli.main import COMMANDS, evenhand
from tests.docs.documents import documents, page
from tests.docs.pages import text_of


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    return documents(tmp_path_factory.mktemp("documents"))


@pytest.mark.slow
def test_the_fields_on_the_page_are_those_that_the_commands_print(found: dict[str, list[Any]]) -> None:
    stale = "run: python -m tests.docs.documents docs/reference/json.md"
    assert text_of("docs/reference/json.md") == page(found), stale


@pytest.mark.slow
def test_every_document_says_its_schema(found: dict[str, list[Any]]) -> None:
    for name, each in found.items():
        assert [document["schema"] for document in each] == [1] * len(each), name


@pytest.mark.slow
def test_a_field_that_comes_or_goes_changes_the_page(found: dict[str, list[Any]]) -> None:
    more = {**found, "doctor": [{**found["doctor"][0], "new_field": 1}]}
    assert "`new_field`" in page(more)
    less = {**found, "doctor": [{"schema": 1}]}
    assert "`findings[]`" in _section(page(found), "doctor")
    assert "`findings[]`" not in _section(page(less), "doctor")


def _section(text: str, name: str) -> str:
    return text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def with_json(command: click.Command, name: str) -> Iterator[str]:
    """This command and those below it that print a document."""
    if any("--json" in parameter.opts for parameter in command.params):
        yield name
    if isinstance(command, click.Group):
        context = click.Context(command)
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from with_json(found, f"{name} {below}")


def test_every_command_that_prints_a_document_stands_on_the_page() -> None:
    text = text_of("docs/reference/json.md")
    names = [
        name
        for one in COMMANDS
        if (found := evenhand.get_command(click.Context(evenhand), one)) is not None
        for name in with_json(found, one)
    ]
    assert len(names) > 25
    for name in names:
        # Its own section, or a sentence that says where its fields are.
        assert f"    evenhand {name} " in text or f"`{name}`" in text, name
