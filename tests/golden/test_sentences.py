"""The one test of how errors are worded: their list is what the source says, so that rewording shows as a diff."""

import ast
import gc
from collections.abc import Iterator

import pytest

from tests.golden.sentences import COMMAND, LIST, ROOT, forget, parsed, raised, written

_WORDS = 4
"""From which on a text that is raised is a sentence or a part of one."""


@pytest.fixture(scope="module", autouse=True)
def no_garbage_is_collected() -> Iterator[None]:
    """While the source is read: it would take as long as the reading."""
    gc.disable()
    yield
    forget()
    gc.enable()


def test_the_list_of_sentences_is_what_the_source_says() -> None:
    assert LIST.read_text(encoding="utf-8") == written(), f"run: {COMMAND}"


def test_whatever_is_raised_in_words_is_in_the_list() -> None:
    said = {
        node.value.replace("\n", "\\n")
        for path in (ROOT / "src").rglob("*.py")
        for statement in raised(parsed(path))
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) >= _WORDS
    }
    assert len(said) > 500
    assert [text for text in sorted(said) if text not in written()] == []
