"""Constrained readout reads the likeliest offered answer, and nothing where the model meant something else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.verdict import Choice, NoVerdict, Preference
from evenhand.protocols.offered import Constrained
from tests.refusals import refused

PAIR = Constrained(begin="Overall, Response", answers={" A": 1, " B": -1}, levels=2)
CHOICE = Constrained(begin="Selection: Option", answers={" 1": 1, " 2": 2, " 3": 3}, levels=None)
logprobs = st.none() | st.floats(max_value=0.0)


def test_the_likelier_answer_is_read_with_its_log_odds_and_mass():
    reading = PAIR.read([math.log(0.6), math.log(0.3)], forced=False)
    assert reading.verdict == Preference(value=1, levels=2)
    assert reading.log_odds == pytest.approx(math.log(2))
    assert reading.mass == pytest.approx(0.9)


def test_log_odds_are_of_the_first_answer_so_swapping_turns_the_sign():
    forward, reversed_ = PAIR.read([-0.2, -2.0], forced=False), PAIR.read([-2.0, -0.2], forced=False)
    assert reversed_.verdict == Preference(value=-1, levels=2)
    assert forward.log_odds == pytest.approx(1.8)
    assert reversed_.log_odds == pytest.approx(-1.8)


def test_a_mass_under_one_half_decides_nothing_unless_the_answers_were_forced():
    unlikely = [math.log(0.3), math.log(0.19)]
    free = PAIR.read(unlikely, forced=False)
    assert isinstance(free.verdict, NoVerdict)
    assert free.verdict.reason == "unreadable"
    assert free.mass == pytest.approx(0.49)
    assert PAIR.read(unlikely, forced=True).verdict == Preference(value=1, levels=2)
    assert PAIR.read([math.log(0.3), math.log(0.21)], forced=False).verdict == Preference(value=1, levels=2)


def test_a_draw_decides_nothing():
    assert isinstance(PAIR.read([-0.7, -0.7], forced=True).verdict, NoVerdict)
    assert isinstance(CHOICE.read([-1.0, -3.0, -1.0], forced=False).verdict, NoVerdict)


def test_an_answer_that_was_not_listed_leaves_the_odds_unknown():
    reading = PAIR.read([-0.1, None], forced=False)
    assert (reading.verdict, reading.log_odds) == (Preference(value=1, levels=2), None)
    nothing = PAIR.read([None, None], forced=False)
    assert isinstance(nothing.verdict, NoVerdict)
    assert nothing.mass is None


def test_a_choice_is_the_index_as_shown():
    reading = CHOICE.read([-3.0, -0.1, -4.0], forced=False)
    assert reading.verdict == Choice(value=1)
    first, others = math.exp(-3.0), math.exp(-0.1) + math.exp(-4.0)
    assert reading.log_odds == pytest.approx(math.log(first / others))


def test_forced_answers_less_likely_than_any_float_are_still_told_apart():
    reading = PAIR.read([-900.0, -905.0], forced=True)
    assert reading.verdict == Preference(value=1, levels=2)
    assert reading.log_odds == pytest.approx(5.0)


def test_another_number_of_log_probabilities_is_an_error():
    with refused(ValueError, "2 answers", 3):
        PAIR.read([-1.0, -1.0, -1.0], forced=False)


@given(given_=st.lists(logprobs, min_size=2, max_size=2), forced=st.booleans())
def test_what_is_stored_is_finite_or_absent(given_: list[float | None], forced: bool):
    reading = PAIR.read(given_, forced=forced)
    assert reading.log_odds is None or math.isfinite(reading.log_odds)
    assert reading.mass is None or 0 <= reading.mass <= 2


def test_not_a_number_is_no_likelihood():
    assert isinstance(PAIR.read([math.nan, math.nan], forced=True).verdict, NoVerdict)
    assert PAIR.read([math.nan, -0.1], forced=False).verdict == Preference(value=-1, levels=2)


THREE = Constrained(begin="Verdict:", answers={" A": 1, " C": 0, " B": -1}, levels=3)
FIVE = Constrained(begin="Verdict:", answers={" AA": 2, " A": 1, " C": 0, " B": -1, " BB": -2}, levels=5)


def test_probabilities_are_of_the_offered_answers_alone_and_a_tie_is_half_a_win():
    reading = THREE.read([math.log(0.4), math.log(0.1), math.log(0.3)], forced=False)
    assert reading.probabilities == pytest.approx({" A": 0.5, " C": 0.125, " B": 0.375})
    assert reading.soft == pytest.approx(0.5 + 0.125 / 2)
    assert reading.expected is None


def test_of_five_levels_the_mean_of_the_value_is_told_too():
    reading = FIVE.read([math.log(share) for share in (0.4, 0.3, 0.1, 0.15, 0.05)], forced=False)
    assert reading.soft == pytest.approx(0.4 + 0.3 + 0.05)
    assert reading.expected == pytest.approx(0.8 + 0.3 - 0.15 - 0.1)


def test_two_equally_likely_answers_have_no_hard_verdict_and_a_soft_one():
    reading = PAIR.read([-0.7, -0.7], forced=True)
    assert isinstance(reading.verdict, NoVerdict)
    assert reading.soft == 0.5


def test_what_was_meant_otherwise_has_no_soft_verdict_either():
    reading = PAIR.read([math.log(0.3), math.log(0.19)], forced=False)
    assert (reading.probabilities, reading.soft) == (None, None)


def test_a_choice_has_probabilities_and_no_soft_verdict():
    reading = CHOICE.read([math.log(0.2), math.log(0.6), None], forced=False)
    assert reading.probabilities == pytest.approx({" 1": 0.25, " 2": 0.75, " 3": 0.0})
    assert reading.soft is None


def test_soft_verdicts_of_the_two_orders_mirror_each_other():
    forward, turned = PAIR.read([-900.0, -903.0], forced=True), PAIR.read([-903.0, -900.0], forced=True)
    assert forward.soft == pytest.approx(1 / (1 + math.exp(-3)))
    assert turned.soft is not None
    assert forward.soft == pytest.approx(1 - turned.soft)
