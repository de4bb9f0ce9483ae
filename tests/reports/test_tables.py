"""Claims about numbers and words in print."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.format.tables import excerpt, fitted
from evenhand.format.words import count, per_cent, unbroken


def test_no_line_ends_between_a_number_and_its_per_cent_sign():
    assert unbroken("won 50 % of 9") == "won 50\u00a0% of 9"


def test_a_line_is_fitted_between_words_and_keeps_numbers_with_what_they_count():
    line = "position        28.2 % to 82.9 %  n 12, sets not read whole: 2  judgements\u00a0369"
    for width in range(24, 90):
        lines = fitted(line, width, margin=8).split("\n")
        assert all(len(one) <= width for one in lines), width
        assert " ".join(" ".join(lines).split()) == " ".join(line.replace("\u00a0", " ").split())
        assert not any(one.lstrip().startswith(("%", "369")) for one in lines)
    assert fitted(line, 1000) == line.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("share", "words"),
    [(None, "–"), (0.5, "50.0 %"), (1.0, "100 %"), (0.0, "0 %"), (0.9999, ">99.9 %"), (0.0001, "<0.1 %")],
)
def test_a_missing_share_is_a_dash_and_only_all_and_none_are_whole(share: float | None, words: str):
    assert per_cent(share) == words


@pytest.mark.parametrize(("number", "words"), [(3.0, "3"), (2.5, "2.5"), (1 / 3, "0.3")])
def test_counts_are_whole_unless_replicates_share_them(number: float, words: str):
    assert count(number) == words


def test_words_are_not_cut_in_the_middle():
    assert excerpt("The quick brown fox jumps", 17) == "The quick brown …"
    assert excerpt("The quick brown fox jumps", 18) == "The quick brown …"
    assert excerpt(" Two\nlines ", 20) == "Two lines"
    # A text without spaces, or with one near its beginning, is cut where it must be.
    assert excerpt("abcdefghij", 6) == "abcd …"
    assert excerpt("a bcdefghijkl", 8) == "a bcde …"


@given(st.text(st.sampled_from("ab c"), max_size=40), st.integers(4, 20))
def test_an_excerpt_is_a_beginning_and_keeps_to_its_length(words: str, most: int):
    line = " ".join(words.split())
    found = excerpt(words, most)
    assert len(found) <= most
    assert line.startswith(found.removesuffix(" …"))
    assert (found == line) is (len(line) <= most)
