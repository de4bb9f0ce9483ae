"""Claims about numbers and words in print."""

import pytest

from evenhand.reports.tables import count, per_cent, unbroken


def test_no_line_ends_between_a_number_and_its_per_cent_sign():
    assert unbroken("won 50 % of 9") == "won 50\u00a0% of 9"


@pytest.mark.parametrize(("share", "words"), [(None, "–"), (0.5, "50.0 %"), (1.0, "100.0 %")])
def test_a_missing_share_is_a_dash_and_never_a_number(share: float | None, words: str):
    assert per_cent(share) == words


@pytest.mark.parametrize(("number", "words"), [(3.0, "3"), (2.5, "2.5"), (1 / 3, "0.3")])
def test_counts_are_whole_unless_replicates_share_them(number: float, words: str):
    assert count(number) == words
