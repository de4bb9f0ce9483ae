"""Claims about a submission: where it stands follows from what was said, in its turn and by whom it may be said."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.event import Event
from evenhand.domain.submission import (
    FIRST_WAIT,
    LONGEST_WAIT,
    Approved,
    Closed,
    Confirmed,
    Entered,
    Estimated,
    Failed,
    Judged,
    Published,
    Raised,
    Refused,
    Said,
    Stopped,
    SubmissionState,
    SubmittedModel,
    Uploaded,
    Withdrawn,
    after,
    label,
    labelled,
    standing,
)

GOOD = Uploaded(file="f" * 64, name="p.jsonl", size=10, answered=3, faults=0)
FAULTY = replace(GOOD, file="e" * 64, faults=2)
ESTIMATE = Estimated(
    opponents=("a", "reference"),
    battles=2,
    reference_battles=1,
    seed=0,
    trials=4,
    calls_at_least=4,
    calls_at_most=8,
    input_tokens=100,
    output_tokens=10,
    cost_usd=0.5,
)
APPROVAL = Approved(budget=1.0, opponents=("a", "reference"), battles=2, reference_battles=1, seed=0)
RESULT = Judged(receipt={"schema": 1})
ENTERED = Entered(model="Parrot", version="2", team="Birds")


def told(*said: Said, at: float = 0.0) -> SubmissionState:
    return standing(Event(seq=n, at=at, person=None, said=one) for n, one in enumerate(said, start=1))


CONFIRMED = (GOOD, Confirmed(about=1))
APPROVED = (*CONFIRMED, ESTIMATE, APPROVAL)


def test_a_submission_begins_as_a_draft_without_a_file():
    assert told() == SubmissionState()
    assert not told().to_be_confirmed


def test_a_file_with_faults_cannot_be_confirmed_and_a_better_one_takes_its_place():
    assert told(FAULTY, Confirmed(about=1)).stage == "draft"
    mended = told(FAULTY, GOOD)
    assert mended.upload == GOOD
    assert told(FAULTY, GOOD, Confirmed(about=2)).stage == "confirmed"


def test_only_the_last_upload_can_be_confirmed():
    assert told(GOOD, replace(GOOD, file="d" * 64), Confirmed(about=1)).stage == "draft"


def test_a_confirmed_file_cannot_be_changed():
    assert told(*CONFIRMED, FAULTY).upload == GOOD


def test_nothing_is_approved_before_it_is_confirmed():
    assert told(GOOD, APPROVAL).stage == "draft"
    assert told(GOOD, ESTIMATE).estimated is None
    assert told(*APPROVED).stage == "approved"
    assert told(*APPROVED).estimated == ESTIMATE


def test_the_owner_refuses_with_a_reason_and_that_is_the_end():
    refused = told(*CONFIRMED, Refused(reason="trained on it"))
    assert (refused.stage, refused.reason, refused.on_the_board) == ("refused", "trained on it", False)
    assert told(*CONFIRMED, Refused(reason="no"), APPROVAL).stage == "refused"
    assert told(GOOD, Refused(reason="not yet")).stage == "draft"


def test_the_owner_takes_a_row_down_and_ends_what_is_being_judged():
    assert told(*APPROVED, Refused(reason="no")).stage == "refused"
    gone = told(*APPROVED, RESULT, Published(), Refused(reason="somebody else's model"))
    assert (gone.stage, gone.published, gone.on_the_board) == ("refused", False, False)
    assert told(*APPROVED, Refused(reason="no"), RESULT).judged is None


def test_at_its_budget_it_stops_until_the_owner_raises_it():
    stopped = told(*APPROVED, Stopped(spent=0.99))
    assert stopped.stage == "stopped"
    going_on = told(*APPROVED, Stopped(spent=0.99), Raised(budget=3.0))
    assert going_on.stage == "approved"
    assert going_on.approved == replace(APPROVAL, budget=3.0)
    assert going_on.approval_seq == 6


def test_the_owner_may_let_it_be_judged_by_what_is_there_and_later_go_on():
    closing = (*APPROVED, Stopped(spent=1.0), Closed())
    assert told(*closing).closing
    partial = (*closing, replace(RESULT, partial=True))
    assert told(*partial).stage == "judged"
    assert told(*partial, Raised(budget=None)).stage == "approved"
    assert not told(*partial, Raised(budget=None)).closing
    assert told(*APPROVED, RESULT, Raised(budget=None)).stage == "judged"


def test_only_what_was_approved_is_judged():
    assert told(*CONFIRMED, RESULT).judged is None
    assert told(*CONFIRMED, Stopped(spent=1.0)).stage == "confirmed"
    assert told(*APPROVED, Withdrawn(), RESULT).judged is None


def test_it_is_published_once_it_is_judged_and_withdrawn_at_any_time():
    assert not told(*APPROVED, Published()).published
    published = told(*APPROVED, RESULT, Published())
    assert published.published
    assert published.on_the_board
    gone = told(*APPROVED, RESULT, Published(), Withdrawn())
    assert (gone.stage, gone.published, gone.on_the_board) == ("withdrawn", False, False)
    assert told(GOOD, Withdrawn()).stage == "withdrawn"
    assert told(*CONFIRMED, Refused(reason="no"), Withdrawn()).stage == "refused"


def test_after_failures_it_waits_longer_each_time_but_never_longer_than_an_hour():
    waits = [told(*APPROVED, *[Failed(detail="429")] * n, at=1000.0).next_try - 1000.0 for n in range(1, 10)]
    assert waits[:3] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT]
    assert waits[-1] == LONGEST_WAIT
    assert told(*APPROVED).next_try == 0.0
    assert told(*APPROVED, Failed(detail="429"), Raised(budget=9.0)).next_try == 0.0


SAID = st.sampled_from(
    [
        GOOD,
        FAULTY,
        Confirmed(about=1),
        Confirmed(about=2),
        ESTIMATE,
        APPROVAL,
        Refused(reason="no"),
        Stopped(spent=1.0),
        Raised(budget=2.0),
        Closed(),
        Failed(detail="429"),
        RESULT,
        replace(RESULT, partial=True),
        Published(),
        Withdrawn(),
    ]
)


@given(st.lists(SAID, max_size=12))
def test_whatever_is_said_nothing_is_judged_that_was_not_confirmed_and_approved(said: list[Said]):
    found = SubmissionState()
    for number, one in enumerate(said, start=1):
        before = found
        found = after(before, Event(seq=number, at=0.0, person=None, said=one))
        if found.judged is not None:
            assert found.approved is not None
            assert found.upload is not None
            assert not found.upload.faults
        if before.stage in ("refused", "withdrawn"):
            assert found.stage == before.stage


def test_the_record_knows_the_model_by_a_label_that_says_nothing():
    assert labelled(label("1a2b3c4d")) == "1a2b3c4d"
    assert labelled("gpt-4") is None


def test_its_name_is_shown_once_it_is_published():
    model = SubmittedModel(submission="1a2b", person="p", entered=ENTERED, standing=told(*APPROVED, RESULT))
    assert model.shown == "anonymous 1a2b"
    published = replace(model, standing=told(*APPROVED, RESULT, Published()))
    assert published.shown == "Parrot 2 (Birds)"


@pytest.mark.parametrize(("version", "shown"), [("", "Parrot (Birds)"), ("1.5", "Parrot 1.5 (Birds)")])
def test_a_model_without_a_version_is_named_without_one(version: str, shown: str):
    assert replace(ENTERED, version=version).shown == shown


SPEAKS, CHOSEN = {"orders": 1}, {"like": "a", "same": 9}


@pytest.mark.parametrize("known", [{}, SPEAKS, CHOSEN, {**SPEAKS, **CHOSEN}])
@pytest.mark.parametrize("found", [{}, SPEAKS, CHOSEN, {**SPEAKS, **CHOSEN}])
def test_a_word_of_the_owner_holds_for_what_was_known_then_and_for_nothing_else(
    known: dict[str, Any], found: dict[str, Any]
):
    """Of two kinds of things that are found each is decided about for itself."""
    approved = replace(APPROVAL, despite="with_reference" if known else "")
    stands = told(*CONFIRMED, replace(ESTIMATE, **known), approved, replace(ESTIMATE, **found))
    new = found.keys() - known.keys()
    assert (stands.stage, stands.taken_back) == (("confirmed", True) if new else ("approved", False))


def test_without_the_reference_no_order_asks_about_it_but_a_figure_may_tell_more():
    approved = replace(APPROVAL, despite="without_reference", reference_battles=0)
    speaks = (*CONFIRMED, replace(ESTIMATE, **SPEAKS), approved)
    assert told(*speaks, replace(ESTIMATE, **SPEAKS)).stage == "approved"
    likened = (*CONFIRMED, replace(ESTIMATE, **CHOSEN), approved)
    assert told(*likened, replace(ESTIMATE, **SPEAKS, **CHOSEN)).stage == "approved"
    assert told(*speaks, replace(ESTIMATE, **SPEAKS, **CHOSEN)).taken_back  # a ladder's row, which rests on all battles


def test_what_was_approved_with_the_reference_may_have_met_it_whatever_is_approved_after_that():
    anew = replace(APPROVAL, despite="without_reference", reference_battles=0)
    stands = told(*APPROVED, replace(ESTIMATE, **CHOSEN), anew)
    assert stands.approved == anew
    assert stands.against_reference == APPROVAL.reference_battles
