"""Claims about votes, one at a time: who was preferred, and how much each verdict counts. The columns are compared with
these in tests/reports/test_heard.py."""

from typing import Any

import pytest

from evenhand.domain.judgement import Judgement
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import Choice, NoVerdict, Preference, Verdict
from evenhand.ledger.read.projection import JudgedTrial
from tests.ledger.slow_reading import votes_of_trials


def shown(
    first: str, second: str, verdict: Verdict | NoVerdict, *, item: str = "item", replicate: int = 0, rater: str = "r"
) -> JudgedTrial:
    trial = Trial(item=item, responses=(first, second), rater=rater, condition="c", replicate=replicate)
    judgement = Judgement(trial=trial.key, verdict=verdict, reader="r1", calls=(), run="run", at=0.0)
    return JudgedTrial(seq=0, trial=trial, label=item, models=(first, second), judgement=judgement, stands=True)


def better(value: int, levels: Any = 5) -> Preference:
    return Preference(value=value, levels=levels)


@pytest.mark.parametrize("value", [2, 1, 0, -1, -2])
def test_a_model_wins_by_as_much_wherever_it_was_shown(value: int):
    forth, back = votes_of_trials([shown("amber", "blue", better(value)), shown("blue", "amber", better(-value))])
    assert (forth.model_a, forth.model_b, forth.value, forth.first) == ("amber", "blue", value, "amber")
    assert (back.model_a, back.model_b, back.value, back.first) == ("amber", "blue", value, "blue")


def test_a_judge_that_always_takes_the_first_gives_each_a_win():
    forth, back = votes_of_trials([shown("amber", "blue", better(1)), shown("blue", "amber", better(1))])
    assert (forth.sign, back.sign) == (1, -1)


def test_what_is_no_preference_is_no_vote():
    others = [NoVerdict(reason="unreadable"), NoVerdict(reason="timeout"), Choice(value=0)]
    assert votes_of_trials([shown("amber", "blue", other) for other in others]) == []


def test_replicates_of_one_showing_share_its_weight():
    thrice = [shown("amber", "blue", better(1), replicate=n) for n in range(3)]
    back = shown("blue", "amber", better(1))
    elsewhere = shown("amber", "blue", better(1), item="other")
    person = shown("amber", "blue", better(1), rater="Ann")
    weights = [vote.weight for vote in votes_of_trials([*thrice, back, elsewhere, person])]
    assert weights == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1, 1, 1])


def test_a_replicate_that_was_not_read_leaves_its_weight_to_the_others():
    unread = shown("amber", "blue", NoVerdict(reason="unreadable"), replicate=2)
    read = [shown("amber", "blue", better(1), replicate=n) for n in range(2)]
    assert [vote.weight for vote in votes_of_trials([unread, *read])] == [0.5, 0.5]


def test_a_longer_answer_is_told_from_the_side_of_the_first_name():
    forth, back, unknown = (
        votes_of_trials([shown(*pair, better(1))], lengths)[0]
        for pair, lengths in (
            (("amber", "blue"), {"amber": 7, "blue": 5}),
            (("blue", "amber"), {"amber": 7, "blue": 5}),
            (("blue", "amber"), None),
        )
    )
    assert (forth.length, back.length, unknown.length) == (2, 2, None)
