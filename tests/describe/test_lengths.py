"""Claims about the lengths of texts."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.describe.lengths import EDGES, lengths


def words(tokens: int) -> str:
    """Four letters of a byte each are a token."""
    return "abcd" * tokens


def test_words_and_tokens_are_counted_by_hand():
    # "a bc def" has 3 words in 8 bytes: 2 tokens by bytes, but no fewer than its words. "Größe" has 7 bytes: 2 tokens.
    found = lengths(["a bc def", "Größe", None, "", words(10)])
    assert found is not None
    assert found.texts == 3
    assert (found.words_mean, found.words_median, found.words_most) == (5 / 3, 1, 3)
    assert (found.tokens_mean, found.tokens_median, found.tokens_most) == (5, 3, 10)
    assert (found.long, found.long_share) == (0, 0.0)


def test_only_more_than_1500_tokens_are_long():
    found = lengths([words(1500), words(1501), words(50), words(51)])
    assert found is not None
    assert (found.long, found.long_share) == (1, 0.25)
    assert found.bars == (1, 1, 0, 0, 0, 1, 1)
    assert found.as_json()["tokens_over_1500_share"] == 0.25


def test_nothing_is_said_of_texts_that_are_not_there():
    assert lengths([None, ""]) is None


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30))
def test_every_text_stands_in_one_bar(tokens: list[int]):
    found = lengths(map(words, tokens))
    assert found is not None
    assert sum(found.bars) == found.texts == len(tokens)
    assert len(found.bars) == len(EDGES)
    assert found.bars[-1] == found.long
