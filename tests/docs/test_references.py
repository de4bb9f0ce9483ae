"""What is generated of the documents is what the program says now, and no page names a flag that is not there."""

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest

from evenhand.cli.http_reference import http_reference
from evenhand.cli.main import evenhand
from evenhand.cli.python_reference import python_reference
from evenhand.cli.settings_reference import settings_reference
from tests.docs.pages import ROOT, text_of

PAGES = ["README.md", "CONTRIBUTING.md", *(str(page.relative_to(ROOT)) for page in sorted(ROOT.glob("docs/**/*.md")))]
PAGES.remove("docs/reference/commands.md")  # made of the flags themselves
_FENCED = re.compile(r"```[^\n]*\n(.*?)```", flags=re.DOTALL)


def drawings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("drawings", ROOT / "docs/drawings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown_commands(text: str) -> list[str]:
    """Lines that begin with the program's name, in any block of code."""
    blocks = [*_FENCED.findall(text), *re.findall(r"(?:^ {4}.*\n)+", text, flags=re.MULTILINE)]
    lines = [line.strip().removeprefix("- run: ") for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("evenhand ")]


def test_the_reference_of_the_python_calls_is_what_their_docstrings_say() -> None:
    stale = "run: python -m evenhand.cli.python_reference docs/reference/python.md"
    assert text_of("docs/reference/python.md") == python_reference(), stale


def test_the_reference_of_the_http_api_is_what_the_server_describes() -> None:
    stale = "run: python -m evenhand.cli.http_reference docs/reference/http.md"
    assert text_of("docs/reference/http.md") == http_reference(), stale


def test_the_reference_of_settings_is_what_the_program_takes() -> None:
    stale = "run: python -m evenhand.cli.settings_reference docs/reference/settings.md"
    assert text_of("docs/reference/settings.md") == settings_reference(), stale


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("order-bias.svg", marks=pytest.mark.slow),
        "failures.svg",
        pytest.param("clusters.svg", marks=pytest.mark.slow),
        "elo.svg",
        "chance.svg",
    ],
)
def test_the_pictures_are_what_their_simulations_draw(name: str) -> None:
    drawn, kept = drawings().drawn(name), text_of(f"docs/explanation/{name}")
    assert _rounded(kept) == _rounded(drawn), "run: python docs/drawings.py"


def _rounded(picture: str) -> str:
    """Processors differ in the last digits of a number, and so do pictures that are the same to the eye."""
    return re.sub(r"-?[0-9]+\.[0-9]{7,}", lambda number: f"{float(number[0]):.6f}", picture)


def test_every_picture_of_the_explanations_is_drawn_by_the_script() -> None:
    assert {path.name for path in (ROOT / "docs/explanation").glob("*.svg")} == set(drawings().PICTURES)


def parsed(command: str) -> None:
    """Raises click's own error where the command, a flag or a flag's value is not what the program takes."""
    words = shlex.split(command, comments=True)[1:]
    context = click.Context(evenhand, info_name="evenhand")
    group: click.Command = evenhand
    while isinstance(group, click.Group):
        assert words, f"{command} names no command"
        name = words.pop(0)
        if name.startswith("-"):
            return
        found = group.get_command(context, name)
        assert found is not None, f"{command} names a command that is not there: {name}"
        group = found
        context = click.Context(group, info_name=name, parent=context)
        if isinstance(group, click.Group) and not words:
            return
    group.make_parser(context).parse_args(words)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_shown_anywhere_has_the_flags_it_is_shown_with(page: str) -> None:
    for command in shown_commands(text_of(page)):
        if "…" in command:
            continue
        try:
            parsed(command)
        except click.UsageError as error:
            pytest.fail(f"{page}: {command}: {error.format_message()}")


def test_a_flag_that_is_not_there_is_found() -> None:
    with pytest.raises(click.UsageError):
        parsed("evenhand rank battles.csv --no-such-flag")


def test_the_how_to_pages_and_the_tutorial_are_all_run() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for page in (*ROOT.glob("docs/how-to/*.md"), *ROOT.glob("docs/tutorial/*.md")):
        assert str(page.relative_to(ROOT)) in tests


@pytest.mark.parametrize("page", PAGES)
def test_a_file_to_be_saved_is_named_in_the_text_where_every_reader_sees_it(page: str) -> None:
    text = text_of(page)
    for name in re.findall(r"^```\w+ (\S+)$", text, flags=re.MULTILINE):
        assert re.search(rf"`{re.escape(name)}`:\n\n```\w+ {re.escape(name)}\n", text), name
