"""Claims about the record as of a number: it is what a ledger says that was stopped there."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.domain.response import Response
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Ledger
from tests.examples import examples
from tests.ledger import scene
from tests.ledger.scene import RESPONSES, STUDY, TRIALS, again, prefers, record, set_up, without
from tests.ledger.slow_reading import same_comparisons
from tests.ledger.test_columns_of_the_record import ITEMS, MODELS, Event, events, recorded

COPIES_A_FILE = pytest.mark.sqlite("each example is a copy of the bytes of a SQLite file")
of_the_board = events.map(lambda some: [replace(one, study=one.study % 2) for one in some])
"""All by studies that are meant: which trials a study wants has no number."""


def now(ledger: Ledger) -> AsOf:
    found = newest(ledger)
    return AsOf(judgement=found.judgement, answer=found.answer)


def alike(one: JudgedBattles, other: JudgedBattles) -> None:
    """The same by every name and number; codes may differ."""
    for results in ("results", "showings"):
        mine, theirs = getattr(one, results), getattr(other, results)
        assert list(mine.each()) == list(theirs.each())
        np.testing.assert_array_equal(mine.seq, theirs.seq)
        np.testing.assert_array_equal(mine.attempt, theirs.attempt)
        assert mine.remarked() == theirs.remarked()
    assert (one.replaced, one.coverage, one.waiting.battles) == (other.replaced, other.coverage, other.waiting.battles)
    assert set(one.not_asked) == set(other.not_asked)
    assert one.not_reached == other.not_reached
    same_comparisons(one.votes.comparisons(), other.votes.comparisons())


@COPIES_A_FILE
@settings(deadline=None, max_examples=examples(40))
@given(st.sampled_from(["model", "human"]), of_the_board, st.integers(0, 25), st.sampled_from([0, 1_000]))
def test_an_earlier_number_gives_what_a_ledger_says_that_was_stopped_there(
    kind: str, written: list[Event], stop: int, wanted: int
):
    with recorded(kind, written[:stop], wanted=wanted) as (stopped, then):
        expected, number = judged_battles(stopped, then), now(stopped)
        with recorded(kind, written, wanted=wanted) as (ledger, chosen):
            alike(judged_battles(ledger, chosen, as_of=number), expected)
            items = {ITEMS[0].digest}
            alike(judged_battles(ledger, chosen, items=items, as_of=number), judged_battles(stopped, then, items=items))


@COPIES_A_FILE
@settings(deadline=None, max_examples=examples(40))
@given(events, st.sampled_from([0, 1_000]))
def test_the_newest_number_gives_what_no_number_gives(written: list[Event], wanted: int):
    with recorded("model", written, wanted=wanted) as (ledger, chosen):
        alike(judged_battles(ledger, chosen, as_of=now(ledger)), judged_battles(ledger, chosen))


@COPIES_A_FILE
@settings(deadline=None, max_examples=examples(40))
@given(of_the_board, st.sets(st.sampled_from(MODELS)), st.sampled_from([0, 1_000]))
def test_without_a_model_the_record_is_one_in_which_it_never_played(
    written: list[Event], left_out: set[str], wanted: int
):
    kept = [one for one in written if not left_out & {*one.pair} or one.replaced]
    with recorded("model", written, wanted=wanted) as (ledger, chosen):
        found = judged_battles(ledger, chosen, without=left_out)
    with recorded("model", kept, wanted=wanted) as (other, meant):
        expected = judged_battles(other, meant)
    assert list(found.results.each()) == list(expected.results.each())
    assert found.replaced == expected.replaced
    assert set(found.not_asked) == {one for one in expected.not_asked if not left_out & {*one.models}}
    assert not left_out & {*found.votes.playing}
    same_comparisons(found.votes.comparisons(), expected.votes.comparisons())


def on_record(ledger: Ledger) -> list[StudyOnRecord]:
    return studies(ledger)


def test_a_study_that_is_complete_now_was_not_reached_then(ledger: Ledger):
    set_up(ledger)
    record(ledger, TRIALS[:2], [prefers(trial, 1) for trial in TRIALS[:2]])
    number = now(ledger)
    before = judged_battles(ledger, on_record(ledger))
    record(ledger, TRIALS[2:], [prefers(trial, 1) for trial in TRIALS[2:]])
    assert judged_battles(ledger, on_record(ledger)).not_reached == 0
    then = judged_battles(ledger, on_record(ledger), as_of=number)
    assert then.not_reached == before.not_reached == 4
    assert then.coverage.wanted == 6


def test_what_was_asked_again_since_was_reached_before(ledger: Ledger):
    set_up(ledger)
    record(ledger, TRIALS, [without(TRIALS[0], "unreadable"), *(prefers(trial, 1) for trial in TRIALS[1:])])
    number = now(ledger)
    ledger.add_responses(
        [Response(item=RESPONSES[0].item, model="amber", text="Rather so.")], replace=True
    )  # the study's own answers were all reached: the new one is another study's
    later = again(TRIALS[0])
    record(ledger, [later], [prefers(later, 1), prefers(TRIALS[1], -1, reader="r2")])
    then = judged_battles(ledger, on_record(ledger), as_of=number)
    assert (then.not_reached, then.coverage.with_verdict, then.replaced) == (0, 5, 0)
    assert then.coverage.reasons == {"unreadable": 1}
    assert judged_battles(ledger, on_record(ledger)).replaced == 2


def test_an_answer_that_was_replaced_since_stood_then_and_is_what_was_wanted(ledger: Ledger):
    set_up(ledger)
    record(ledger, TRIALS[:1], [prefers(TRIALS[0], 1)])
    number = now(ledger)
    changed = replace(RESPONSES[0], text="Rather so.")
    ledger.add_responses([changed], replace=True)
    then = judged_battles(ledger, on_record(ledger), as_of=number)
    assert (then.replaced, len(then.votes), then.not_reached) == (0, 1, 5)
    today = judged_battles(ledger, on_record(ledger))
    assert (today.replaced, len(today.votes), today.not_reached) == (1, 0, 6)


def test_a_trial_that_a_study_takes_up_later_counts_from_when_it_was_judged(ledger: Ledger):
    audit = replace(STUDY, purpose="audit")
    set_up(ledger, STUDY, audit)
    record(ledger, TRIALS[:1], [prefers(TRIALS[0], 1)], study=audit)
    number = now(ledger)
    ledger.link(STUDY.key, [TRIALS[0].key])
    assert len(judged_battles(ledger, on_record(ledger), as_of=number).votes) == 1


def test_grades_of_one_answer_are_left_out_with_their_model(ledger: Ledger):
    set_up(ledger)
    alone = [replace(trial, responses=trial.responses[:1]) for trial in TRIALS[:2]]
    record(ledger, alone, [scene.judgement(trial, scene.NoVerdict(reason="refused")) for trial in alone])
    found = judged_battles(ledger, on_record(ledger), without={"amber"})
    assert [models[0] for _, models, _ in found.results.each()] == ["blue"]
