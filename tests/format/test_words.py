"""Numbers, counts and lists in words."""

import pytest

from evenhand.format.words import counted, listed, sized, wide_notes


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
    ("size", "words"),
    [(0, "0 bytes"), (1, "1 byte"), (4542, "4,542 bytes"), (100_000, "0.1 MB"), (1_234_567_890, "1,234.6 MB")],
)
def test_what_is_there_is_never_told_as_no_megabytes(size: int, words: str) -> None:
    assert sized(size) == words


@pytest.mark.parametrize(
    ("names", "words"),
    [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b, c and 1 more")],
)
def test_the_first_names_are_listed_and_the_others_counted(names: str, words: str) -> None:
    assert listed(names, most=3) == words


@pytest.mark.parametrize(
    ("items", "told"),
    [((5,), "5 items: "), ((0, 9, 3, 40), "3 to 9 items: "), ((1,), "1 item: "), ((10, 40), None), ((0,), None)],
)
def test_few_items_are_told_as_the_reason_of_a_wide_interval(items: tuple[int, ...], told: str | None) -> None:
    notes = wide_notes(items)
    assert len(notes) == (told is not None)
    assert all(told is not None and note.startswith(f"{told}the interval is wide") for note in notes)
