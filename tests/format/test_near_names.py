"""Who mistyped a name is told the nearest ones, also among very many, and soon."""

from difflib import SequenceMatcher, get_close_matches

import pytest

from evenhand.format.near_names import close_to

MANY = [f"item-{number:06d}" for number in range(30_000)]


# In `make test` among a fifth of them, still more than difflib is given to look at.
@pytest.mark.parametrize("names", [MANY[::5], pytest.param(MANY, marks=pytest.mark.slow)], ids=["a fifth", "all"])
@pytest.mark.parametrize("word", ["item-01234x", "itme-012345", "item_012345", "012345", "tem-012345", "item-0123456"])
def test_the_nearest_of_many_names_is_found_as_difflib_would(word: str, names: list[str]):
    (nearest,) = get_close_matches(word, names, n=1, cutoff=0.6)
    found = close_to(word, names, most=3, cutoff=0.6)
    # Several names can be equally near.
    assert SequenceMatcher(None, found[0], word).ratio() == SequenceMatcher(None, nearest, word).ratio()


def test_what_looks_like_no_name_is_near_none():
    assert close_to("Where is the harbour?", MANY, most=3, cutoff=0.6) == []


def test_few_names_are_all_looked_at():
    assert close_to("tow", ["one", "two", "three"], most=2, cutoff=0.5) == ["two"]
