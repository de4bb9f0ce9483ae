"""Criteria as data: taste and fact kept apart by name, and nothing ever evaluated."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.creation_mmbench.criteria import read_criteria
from evenhand.benchmarks.files.literals import plain_literal
from evenhand.domain.item import Item
from tests.benchmarks.creation_cases import HOSTILE

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


def item(text: str) -> Item:
    return Item(label="1", instruction="x", criteria=read_criteria(text).pairs)


def test_a_dicts_text_is_taste_and_fact_by_its_keys():
    text = (
        "{'General Subjective Criteria': '1. Style\\n - 1.1 \"Vivid\"?', 'Visual Factuality Criteria': \"1. It's red\"}"
    )
    assert item(text).subjective_criteria == '1. Style\n - 1.1 "Vivid"?'
    assert item(text).factuality_criteria == "1. It's red"
    assert read_criteria(text).form == "dict"


def test_capitals_do_not_hide_the_subjective_key_and_all_other_keys_are_joined_as_facts():
    text = "{'SUBJECTIVE part': 'taste', 'objective': 'one', 'Visual Factuality': 'two'}"
    assert item(text).subjective_criteria == "taste"
    assert item(text).factuality_criteria == "one\n\ntwo"


def test_a_plain_text_is_taste_only():
    criteria = read_criteria("1. Is it good?\n2. Really?")
    assert (criteria.pairs, criteria.form) == ((("subjective", "1. Is it good?\n2. Really?"),), "text")
    assert item("1. Is it good?").factuality_criteria is None


def test_a_quoted_text_is_the_text_inside():
    assert read_criteria("'1. Is it good?'").pairs == (("subjective", "1. Is it good?"),)


def test_no_value_and_a_list_of_lines_are_understood():
    read = read_criteria("{'subjective': ['a', 'b'], 'objective': None}")
    assert read.pairs == (("subjective", "a\nb"), ("objective", ""))


def test_an_object_needs_no_text_around_it():
    assert read_criteria({"subjective": "a", "objective": "b"}).pairs == (("subjective", "a"), ("objective", "b"))
    assert read_criteria({"subjective": 3}).form == "damaged"


@pytest.mark.parametrize("text", HOSTILE)
def test_code_is_kept_as_text_and_not_run(tmp_path: Path, text: str):
    marker = tmp_path / "was-run"
    code = text.format(marker=marker)
    assert read_criteria(code).pairs == (("subjective", code),)
    assert not marker.exists()
    assert read_criteria(code).form == ("damaged" if code.startswith("{") else "text")


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 'b'} + {}",
        "{'a': 1}",
        "{'a': -1}",
        "{'a': f'{1}'}",
        "{'a': b'x'}",
        "{'a': 'b'",
        "{'a': '\\x'}",
        "{'a' 'b'}",
        "{[]: 'a'}",
        "[" * 100_000,
        "-" * 100_000 + "1",
        "('a'," * 3_000,
        "{'a': " + "'b'," * 20_000 + "}",
        "'" + "a" * 2_000_000 + "'",
    ],
)
def test_what_is_no_dict_of_texts_is_taken_whole(text: str):
    assert read_criteria(text).pairs == (("subjective", text),)


def test_a_literal_is_read_only_where_it_is_of_texts_short_and_flat():
    assert plain_literal("['a', None, {'b': ('c',)}]") == ["a", None, {"b": ("c",)}]
    assert [plain_literal(text) for text in ("[1]", "{'a': True}", "1+2j", "{'a': -1}", "[...]")] == [None] * 5
    assert plain_literal("[" * 5 + "]" * 5) == [[[[[]]]]]
    assert plain_literal("[" * 6 + "]" * 6) is None
    assert plain_literal(str(["a"] * 3_000)) == ["a"] * 3_000
    assert plain_literal(str(["a"] * 4_000)) is None


def test_an_unknown_escape_stands_for_itself_without_a_warning():
    assert plain_literal("{'a': 'c:\\d'}") == {"a": "c:\\d"}


@given(st.dictionaries(TEXTS, TEXTS))
def test_whatever_python_prints_of_a_dict_of_texts_is_read_back(entries: dict[str, str]):
    assert read_criteria(str(entries)).pairs == tuple(entries.items())


@given(st.lists(TEXTS, max_size=5))
def test_whatever_python_prints_of_a_list_of_texts_is_read_back(texts: list[str]):
    assert plain_literal(str(texts)) == texts


@given(st.text())
def test_any_text_is_read_without_an_error(text: str):
    pairs = read_criteria(text).pairs
    assert all(isinstance(part, str) for pair in pairs for part in pair)
