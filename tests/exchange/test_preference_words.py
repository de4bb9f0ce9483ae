"""How files write a preference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.exchange.judgements.preference_words import Stated, read_preference


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("A>>B", 2), ("A>B", 1), ("A=B", 0), ("B>A", -1), ("B>>A", -2), ("A<B", -1), ("A<<B", -2), ("B<A", 1),
        ("Left>>Right", 2), ("Left>Right", 1), ("Left=Right", 0), ("Left<Right", -1), ("Left<<Right", -2),
        ("left >> right", 2), (" b > a ", -1),
        ("+2", 2), ("1", 1), ("0", 0), ("-1", -1), ("−2", -2), ("2.0", 2), (2, 2), (-1, -1), (1.0, 1),
    ],
)  # fmt: skip
def test_numbers_and_symbols_speak_for_model_a(words: object, value: int) -> None:
    assert read_preference(words) == Stated(value=value)


@pytest.mark.parametrize(
    "words",
    ["", "3", "-3", "1.5", "A", "tie", "model_a", "A>>>B", "A>C", 3, 0.5, True, None, [1], float("nan"), "{", "{}"],
)
def test_what_is_no_preference_is_never_taken_for_a_tie(words: object) -> None:
    assert read_preference(words) is None


def test_our_own_json_keeps_its_levels() -> None:
    document = {"kind": "preference", "value": -1, "levels": 2}
    assert read_preference(document) == Stated(value=-1, levels=2)
    assert read_preference('{"kind": "preference", "value": -1, "levels": 2}') == Stated(value=-1, levels=2)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "grades", "values": [1.0, 2.0]},
        {"kind": "choice", "value": 1},
        {"kind": "preference", "value": 2, "levels": 3},
        {"kind": "preference", "value": 1.0, "levels": 3},
        {"kind": "preference", "value": 1},
        {"value": 1, "levels": 3},
    ],
)
def test_other_json_is_no_preference(document: object) -> None:
    assert read_preference(document) is None


@given(st.text() | st.integers() | st.floats() | st.dictionaries(st.text(), st.integers()))
def test_anything_at_all_can_be_read(words: object) -> None:
    stated = read_preference(words)
    assert stated is None or stated.value in (-2, -1, 0, 1, 2)
