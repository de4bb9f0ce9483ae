"""Claims about verdicts, and votes joined to battles."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.identity import canonical_json
from evenhand.domain.rater import Rater
from evenhand.domain.verdict import (
    CALL_FAILED,
    UNDECIDED,
    Choice,
    Grades,
    NoVerdict,
    Preference,
    Verdict,
    verdict_from_json,
    verdict_json,
)
from evenhand.domain.vote import Vote
from tests.refusals import refused

VALUES: dict[Any, tuple[int, ...]] = {2: (1, -1), 3: (1, 0, -1), 5: (2, 1, 0, -1, -2)}

preferences = st.sampled_from([Preference(value=v, levels=levels) for levels, values in VALUES.items() for v in values])
grades = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1).map(lambda v: Grades(values=tuple(v)))
choices = st.integers(0, 100).map(lambda value: Choice(value=value))


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("value", range(-3, 4))
def test_a_preference_is_one_of_its_levels(levels: Any, value: int):
    if value in VALUES[levels]:
        assert Preference(value=value, levels=levels).sign == (value > 0) - (value < 0)
    else:
        with refused(ValueError, f"{levels} levels", value):
            Preference(value=value, levels=levels)


def test_there_are_no_four_levels():
    levels: Any = 4
    with refused(ValueError, "2, 3 or 5", levels):
        Preference(value=1, levels=levels)


@pytest.mark.parametrize("values", [(), (1.0, float("nan")), (float("inf"),)])
def test_grades_are_numbers(values: tuple[float, ...]):
    with pytest.raises(ValueError, match="finite numbers"):
        Grades(values=values)


def test_nobody_chooses_the_option_before_the_first():
    with pytest.raises(ValueError, match="index from 0"):
        Choice(value=-1)


def test_a_verdict_of_two_levels_is_not_slightly_better_on_five():
    assert Preference(value=1, levels=2) != Preference(value=1, levels=5)


@given(preferences | grades | choices)
def test_a_verdict_is_read_back_as_it_was_written(verdict: Verdict):
    document = verdict_json(verdict)
    assert verdict_from_json(document) == verdict
    assert canonical_json(document)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "tie"},
        {"kind": "preference", "value": 0, "levels": 2},
        {"kind": "preference", "value": 1},
        {"kind": "grades", "values": []},
        {"kind": "choice", "value": -1},
        {},
    ],
)
def test_what_is_no_verdict_is_not_read_as_one(document: dict[str, Any]):
    with pytest.raises((ValueError, KeyError)):
        verdict_from_json(document)


def test_a_failed_call_is_told_from_a_reply_without_a_decision():
    assert not set(CALL_FAILED) & set(UNDECIDED)
    assert all(NoVerdict(reason=reason).call_failed for reason in CALL_FAILED)
    assert not any(NoVerdict(reason=reason).call_failed for reason in UNDECIDED)


@pytest.mark.parametrize(("value", "sign"), [(2, 1), (1, 1), (0, 0), (-1, -1), (-2, -1)])
def test_how_much_better_does_not_change_who_won(value: int, sign: int):
    judge = Rater(kind="human", name="Ann")
    vote = Vote(item="1", model_a="X", model_b="Y", first="Y", value=value, levels=5, rater=judge.key)
    assert vote.sign == sign
