"""What a judgement of a constrained readout keeps of the offered answers' probabilities."""

import math

import pytest

from evenhand.domain.call import Reply, Usage
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.tasks.asking import ReplyReading
from evenhand.engine.tasks.judging import Showing
from evenhand.protocols.catalog import load_protocol
from tests.engine.test_judging import prepared


def read(reply: Reply) -> ReplyReading:
    found = prepared(Showing(protocol=load_protocol("visit_pairwise"), readout="constrained"))
    trial = next(iter(found.trials()))
    reading = found.asking.read_trial(trial, [reply])
    assert isinstance(reading, ReplyReading)
    return reading


def test_every_offered_answer_keeps_its_probability_in_short():
    notes = read(Reply(text=" A", offered=(math.log(0.6), math.log(0.3)))).notes
    assert notes["offered"] == {" A": 0.666667, " B": 0.333333}
    assert notes["soft"] == 0.666667


def test_equally_likely_answers_are_kept_though_nothing_was_decided():
    reading = read(Reply(text=" A", offered=(-0.7, -0.7)))
    assert isinstance(reading.verdict, NoVerdict)
    assert reading.notes["soft"] == 0.5


@pytest.mark.parametrize("after", [{"reasoning": "Let me see."}, {"usage": Usage(reasoning=12)}])
def test_after_reasoning_there_are_no_soft_verdicts(after: dict[str, object]):
    reading = read(Reply(text=" A", offered=(-0.1, -3.0), **after))  # pyright: ignore[reportArgumentType]
    assert not isinstance(reading.verdict, NoVerdict)
    assert not {"soft", "offered"} & reading.notes.keys()
