"""Numbers, counts and lists in words."""

import pytest

from evenhand.format.words import counted, listed


@pytest.mark.parametrize(
    ("number", "nouns", "words"),
    [
        (1, ("item",), "1 item"),
        (0, ("item",), "0 items"),
        (2000, ("item",), "2,000 items"),
        (2, ("reply",), "2 replies"),
        (2, ("day",), "2 days"),
        (1, ("row does", "rows do"), "1 row does"),
        (3, ("row does", "rows do"), "3 rows do"),
    ],
)
def test_a_noun_agrees_with_its_number(number: int, nouns: tuple[str, ...], words: str) -> None:
    assert counted(number, *nouns) == words


@pytest.mark.parametrize(
    ("names", "words"),
    [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b, c and 1 more")],
)
def test_the_first_names_are_listed_and_the_others_counted(names: str, words: str) -> None:
    assert listed(names, most=3) == words
