"""Lists and truth values that a cell holds as text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.benchmarks.files.cells import is_nothing, read_list, read_truth


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ('["a", "b"]', ["a", "b"]),
        ('["a", NaN, NaN]', ["a", None, None]),
        (" ['it''s', \"x\"] ", ["its", "x"]),
        ("['a', \"it's\"]", ["a", "it's"]),
        ("[]", []),
        (["a", None], ["a", None]),
        ("a, b", None),
        ("[a, b]", None),
        ("[__import__('os').getcwd()]", None),
        ("[" * 100_000, None),
        ('{"a": 1}', None),
        (None, None),
        (7, None),
    ],
)
def test_a_list_is_read_as_json_or_as_python_prints_it(cell: object, found: object) -> None:
    assert read_list(cell) == found


@given(st.lists(st.text() | st.none()))
def test_any_list_of_texts_survives_json_and_python(texts: list[Any]) -> None:
    assert read_list(json.dumps(texts)) == texts
    assert read_list(repr(texts)) == texts


@pytest.mark.parametrize("cell", [True, "True", "true", " TRUE ", "1", "1.0", 1, 1.0, "yes"])
def test_what_is_true(cell: object) -> None:
    assert read_truth(cell) is True


@pytest.mark.parametrize("cell", [False, "False", "0", "0.0", 0, 0.0, "no"])
def test_what_is_false(cell: object) -> None:
    assert read_truth(cell) is False


@pytest.mark.parametrize("cell", [None, "", "  ", "nan", "NaN"])
def test_what_says_nothing_is_neither(cell: object) -> None:
    assert is_nothing(cell)
    assert read_truth(cell) is None


@pytest.mark.parametrize("cell", ["maybe", "2", 2, "[True]", ["True"]])
def test_what_is_no_truth_value_is_unclear(cell: object) -> None:
    assert read_truth(cell) == "unclear"


def test_none_is_an_answer() -> None:
    assert not is_nothing("None")
