"""A verdict in words: the same for the same verdict, whichever answer was shown first."""

import pytest

from evenhand.domain.verdict import Choice, Grades, NoVerdict, Preference, Verdict
from evenhand.format.verdict_words import by_name, by_position, verdict_words


@pytest.mark.parametrize(
    ("verdict", "named", "placed", "nameless"),
    [
        (Preference(value=1, levels=2), "X is better", "X, shown first, is better", "the first shown is better"),
        (
            Preference(value=-2, levels=5),
            "Y is much better",
            "Y, shown second, is much better",
            "the second shown is much better",
        ),
        (Preference(value=0, levels=3), "a tie", "a tie", "a tie"),
        (Grades(values=(7, 5.5)), "X 7, Y 5.5", "X 7, Y 5.5", "grades 7, 5.5, as shown"),
        (Choice(value=1), "Y was chosen", "number 2 of those shown", "number 2 of those shown"),
    ],
)
def test_each_kind_of_verdict_has_its_words(verdict: Verdict, named: str, placed: str, nameless: str) -> None:
    assert by_name(verdict, ["X", "Y"]) == named
    assert by_position(verdict, ["X", "Y"]) == placed
    assert by_position(verdict) == nameless


@pytest.mark.parametrize("value", [2, 1, 0, -1, -2])
def test_the_words_do_not_tell_who_was_shown_first(value: int) -> None:
    assert by_name(Preference(value=value, levels=5), "XY") == by_name(Preference(value=-value, levels=5), "YX")
    assert by_name(Grades(values=(7, 5)), "XY") == by_name(Grades(values=(5, 7)), "YX")


def test_no_verdict_names_its_reason_and_no_winner() -> None:
    said = verdict_words(NoVerdict(reason="refused"), "XY")
    assert (said.winner, said.about("XY")) == (None, "no verdict: refused")
