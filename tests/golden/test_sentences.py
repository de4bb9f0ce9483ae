"""The one test of how errors are worded: their list is what the source says, so that rewording shows as a diff."""

import ast

from tests.golden.sentences import COMMAND, LIST, ROOT, parsed, written

_WORDS = 4
"""From which on a text that is raised is a sentence or a part of one."""


def test_the_list_of_sentences_is_what_the_source_says() -> None:
    assert LIST.read_text(encoding="utf-8") == written(), f"run: {COMMAND}"


def test_whatever_is_raised_in_words_is_in_the_list() -> None:
    said = {
        node.value.replace("\n", "\\n")
        for path in (ROOT / "src").rglob("*.py")
        for raised in ast.walk(parsed(path))
        if isinstance(raised, ast.Raise)
        for node in ast.walk(raised)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) >= _WORDS
    }
    assert len(said) > 500
    assert [text for text in sorted(said) if text not in written()] == []
