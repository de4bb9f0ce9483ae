"""Claims about submissions on record: nothing is overwritten, limits hold, files are what their names say."""

import json
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from evenhand.domain.identity import Json
from evenhand.domain.submission import (
    Approved,
    Confirmed,
    Entered,
    Estimated,
    Judged,
    Published,
    Raised,
    Stopped,
    SubmissionTerms,
    Uploaded,
    Withdrawn,
    label,
)
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import submission_events
from evenhand.ledger.submissions.intakes import (
    BoardIdentity,
    Intake,
    IntakeTaken,
    find_intake,
    intakes_on_record,
    open_intake,
    policy_hash,
    set_terms,
)
from evenhand.ledger.submissions.store import (
    Submission,
    TooMany,
    begin_submission,
    confirm,
    find_submission,
    queue,
    receipt_on_record,
    submissions_on_record,
    submitted_models,
    tell,
)
from evenhand.ledger.upkeep import check as upkeep
from evenhand.site.accounts.requests import (
    ask_for_data,
    ask_to_join,
    decide,
    find_request,
    request_with,
    requests_on_record,
)
from evenhand.site.accounts.store import InvitationRefused, join, people
from tests.database import url_in
from tests.ledger.scene import make_older
from tests.refusals import tells

BOARD = BoardIdentity(data="d" * 64, rater="r" * 64, condition="c" * 64)
TERMS = SubmissionTerms(policy="Nobody trains on it.", per_team=2, days=30)
ENTERED = Entered(model="Parrot", version="2", team="Birds", link="https://birds.example")
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
    cost_usd=None,
)
APPROVAL = Approved(budget=1.0, opponents=("a", "reference"), battles=2, reference_battles=1, seed=0)


def an_intake(ledger: Ledger) -> Intake:
    found = find_intake(ledger, open_intake(ledger, "birds", BOARD, TERMS, by="owner"))
    assert found is not None
    return found


def a_draft(ledger: Ledger, intake: Intake, *, person: str = "team") -> Submission:
    begun = begin_submission(ledger, intake, ENTERED, person=person)
    file = ledger.submitted.add(b"{}")
    said = Uploaded(file=file, name="p.jsonl", size=2, answered=1, faults=0)
    tell(ledger, begun, said, person=person)
    return the(ledger, begun)


def the(ledger: Ledger, submission: str) -> Submission:
    found = find_submission(ledger, submission)
    assert found is not None
    return found


def confirmed(ledger: Ledger, intake: Intake, *, person: str = "team") -> Submission:
    draft = a_draft(ledger, intake, person=person)
    confirm(ledger, draft, intake, upload=draft.standing.upload_seq)
    return the(ledger, draft.id)


def approved(ledger: Ledger, intake: Intake) -> Submission:
    one = confirmed(ledger, intake)
    tell(ledger, one.id, ESTIMATE, person=None)
    tell(ledger, one.id, APPROVAL, person="owner")
    return the(ledger, one.id)


def test_the_terms_set_last_stand_and_a_board_takes_submissions_once(ledger: Ledger):
    intake = an_intake(ledger)
    assert intake.terms == TERMS
    assert intake.board == BOARD
    set_terms(ledger, intake.id, replace(TERMS, open=False), by="owner")
    assert [one.terms.open for one in intakes_on_record(ledger)] == [False]
    with pytest.raises(IntakeTaken, match="takes submissions already"):
        open_intake(ledger, "birds", BOARD, TERMS, by="owner")
    other = open_intake(ledger, "birds", replace(BOARD, variant="text-only"), TERMS, by="owner")
    assert [one.id for one in intakes_on_record(ledger)] == [intake.id, other]
    assert find_intake(ledger, "none") is None


def test_what_a_team_accepted_is_known_by_its_words(ledger: Ledger):
    intake = an_intake(ledger)
    draft = a_draft(ledger, intake)
    assert draft.policy_hash == policy_hash("Nobody trains on it.") != policy_hash("Nobody trains on it!")


def test_everything_said_comes_back_as_it_was_said(ledger: Ledger):
    one = approved(ledger, an_intake(ledger))
    tell(ledger, one.id, Stopped(spent=0.97), person=None)
    found = the(ledger, one.id)
    kinds = [type(event.said) for event in found.events]
    assert kinds == [Uploaded, Confirmed, Estimated, Approved, Stopped]
    assert [event.person for event in found.events] == ["team", "team", None, "owner", None]
    assert found.standing.approved == APPROVAL
    assert found.standing.estimated == ESTIMATE
    assert found.entered == ENTERED


def test_what_would_change_nothing_is_not_added(ledger: Ledger):
    one = approved(ledger, an_intake(ledger))
    before = the(ledger, one.id).events
    with pytest.raises(TooLate):
        tell(ledger, one.id, APPROVAL, person="owner")
    with pytest.raises(TooLate):
        tell(ledger, one.id, Withdrawn(), person="team", allowed=lambda _: False)
    assert the(ledger, one.id).events == before


def test_a_result_is_said_once_however_many_workers_say_it(ledger: Ledger):
    one = approved(ledger, an_intake(ledger))
    late: list[bool] = []

    def judge() -> None:
        try:
            tell(ledger, one.id, Judged(receipt={"schema": 1}), person=None)
        except TooLate:
            late.append(True)

    in_parallel(judge, times=6)
    assert len(late) == 5
    assert [type(event.said) for event in the(ledger, one.id).events].count(Judged) == 1


RECEIPT: dict[str, Json] = {
    "row": {"rating": 1012.5},
    "moved": [],
    "study": {"key": "s"},
    "record": {"board_marks": "AAAA"},
}
SHOWN = {name: RECEIPT[name] for name in ("row", "moved", "study")}


def test_a_receipt_comes_back_whole_and_the_event_keeps_what_is_shown(ledger: Ledger):
    intake = an_intake(ledger)
    one = approved(ledger, intake)
    assert receipt_on_record(ledger, one.id) is None
    told = tell(ledger, one.id, Judged(receipt={**RECEIPT, "row": {}}, partial=True), person=None)
    assert told == the(ledger, one.id).standing
    tell(ledger, one.id, Raised(budget=9.0), person="owner")
    assert receipt_on_record(ledger, one.id) == {**RECEIPT, "row": {}}
    tell(ledger, one.id, Judged(receipt=RECEIPT), person=None)
    tell(ledger, one.id, Withdrawn(), person="team")
    assert receipt_on_record(ledger, one.id) == RECEIPT
    other = approved(ledger, intake)
    tell(ledger, other.id, Judged(receipt={}), person=None)
    assert receipt_on_record(ledger, one.id) == RECEIPT
    assert the(ledger, one.id).standing.judged == Judged(receipt=SHOWN)
    with ledger.reading() as connection:
        written = connection.execute(select(submission_events.c.content)).scalars().all()
    assert not any("board_marks" in content for content in written)


def test_receipts_that_an_older_ledger_kept_in_its_events_are_moved(tmp_path: Path):
    events = [("judged", {"partial": True, "receipt": RECEIPT}), ("published", {})]
    make_older(
        tmp_path,
        "0007",
        *(
            "INSERT INTO submission_events (submission, kind, content, at) "
            f"VALUES ('5ab1', '{kind}', '{json.dumps(content)}', 0)"
            for kind, content in events
        ),
    )
    with closing(Ledger(url_in(tmp_path))) as opened:
        assert receipt_on_record(opened, "5ab1") == RECEIPT
        with opened.reading() as connection:
            in_order = select(submission_events.c.content).order_by(submission_events.c.seq)
            written = connection.execute(in_order).scalars().all()
    assert [json.loads(one) for one in written] == [{"partial": True, "receipt": SHOWN}, {}]


def in_parallel(work: Callable[[], None], *, times: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_team_may_confirm_as_often_as_the_terms_say_even_in_one_moment(ledger: Ledger):
    intake = an_intake(ledger)
    drafts = [a_draft(ledger, intake) for _ in range(5)]
    waiting, refused = list(drafts), list[str]()

    def confirm_one() -> None:
        draft = waiting.pop()
        try:
            confirm(ledger, draft, intake, upload=draft.standing.upload_seq)
        except TooMany as error:
            refused.append(str(error))

    in_parallel(confirm_one, times=5)
    assert len(refused) == 3
    tells(refused[0], "2 submissions", "30 days")
    assert [the(ledger, one.id).standing.stage for one in drafts].count("confirmed") == 2
    other = a_draft(ledger, intake, person="others")
    assert confirm(ledger, other, intake, upload=other.standing.upload_seq).stage == "confirmed"


def test_submissions_are_found_by_their_team_and_by_where_they_went(ledger: Ledger):
    intake = an_intake(ledger)
    mine, theirs = a_draft(ledger, intake), a_draft(ledger, intake, person="others")
    assert [one.id for one in submissions_on_record(ledger, person="team")] == [mine.id]
    assert [one.id for one in submissions_on_record(ledger, intake=intake.id)] == [mine.id, theirs.id]
    assert submissions_on_record(ledger, intake="none") == []
    assert find_submission(ledger, "none") is None


def test_a_board_knows_those_that_were_approved_by_their_labels(ledger: Ledger):
    intake = an_intake(ledger)
    a_draft(ledger, intake)
    one = approved(ledger, intake)
    assert list(submitted_models(ledger)) == [label(one.id)]
    tell(ledger, one.id, Judged(receipt={"schema": 1}), person=None)
    tell(ledger, one.id, Published(), person="team")
    assert submitted_models(ledger)[label(one.id)].shown == "Parrot 2 (Birds)"
    tell(ledger, one.id, Withdrawn(), person="team")
    assert not submitted_models(ledger)[label(one.id)].standing.on_the_board


def test_they_are_judged_in_the_order_of_their_approval(ledger: Ledger):
    intake = an_intake(ledger)
    first, second = confirmed(ledger, intake), confirmed(ledger, intake)
    for one in (second, first):
        tell(ledger, one.id, ESTIMATE, person=None)
        tell(ledger, one.id, APPROVAL, person="owner")
    assert [one.id for one in queue(submissions_on_record(ledger))] == [second.id, first.id]


def test_a_file_is_kept_byte_for_byte_and_an_altered_one_is_noticed(ledger: Ledger):
    digest = ledger.submitted.add(b"one\r\n")
    assert ledger.submitted.add(b"one\r\n") == digest
    assert ledger.submitted.get(digest) == b"one\r\n"
    assert ledger.submitted.holds(digest)
    ledger.places.submitted.put(digest, b"one\n")
    assert not ledger.submitted.holds(digest)
    assert ledger.submitted.add(b"one\r\n") == digest
    assert ledger.submitted.holds(digest)
    assert not ledger.submitted.holds("0" * 64)
    for name in ("0" * 64, "../ledger.db", digest.upper(), ""):
        with pytest.raises(KeyError):
            ledger.submitted.get(name)


@pytest.mark.sqlite("a backup is a copy of SQLite's file")
def test_a_backup_holds_the_files_too_and_the_check_misses_them_where_they_are_gone(ledger: Ledger, tmp_path: Path):
    one = a_draft(ledger, an_intake(ledger))
    assert one.standing.upload is not None
    file = one.standing.upload.file
    copied = upkeep.backup(ledger, tmp_path / "safe")
    assert (copied.parent / "submitted" / file).read_bytes() == b"{}"
    assert upkeep.check(ledger) == []
    ledger.places.submitted.put(file, b"{ }")
    assert [file in problem for problem in upkeep.check(ledger)] == [True]


def test_whoever_asks_is_let_in_by_their_own_link_once_the_owner_accepts(ledger: Ledger):
    asked = ask_to_join(ledger, name="Birds", about="We make parrots.")
    waiting = request_with(ledger, asked.token)
    assert waiting is not None
    assert (waiting.kind, waiting.accepted, waiting.name) == ("team", None, "Birds")
    with pytest.raises(InvitationRefused):
        join(ledger, asked.token, "Birds")
    assert decide(ledger, asked.id, accepted=True, by="owner")
    assert join(ledger, asked.token, "Birds").person.role == "team"
    with pytest.raises(InvitationRefused, match="used already"):
        join(ledger, asked.token, "Birds")
    assert len(people(ledger)) == 1
    assert request_with(ledger, "guessed") is None


def test_whoever_is_declined_learns_why_and_is_not_let_in(ledger: Ledger):
    asked = ask_to_join(ledger, name="Birds", about="")
    assert decide(ledger, asked.id, accepted=False, by="owner", reason="Who are you?")
    declined = request_with(ledger, asked.token)
    assert declined is not None
    assert (declined.accepted, declined.reason) == (False, "Who are you?")
    with pytest.raises(InvitationRefused):
        join(ledger, asked.token, "Birds")
    assert not decide(ledger, asked.id, accepted=True, by="owner")
    assert not decide(ledger, "none", accepted=True, by="owner")


def test_a_request_for_what_is_withheld_is_a_persons_and_makes_no_invitation(ledger: Ledger):
    intake = an_intake(ledger)
    request = ask_for_data(
        ledger, person="team", name="Birds", intake=intake.id, about="error analysis", policy_hash=intake.policy_hash
    )
    assert decide(ledger, request, accepted=True, by="owner")
    found = find_request(ledger, request)
    assert found is not None
    assert (found.kind, found.person, found.intake, found.accepted) == ("data", "team", intake.id, True)
    assert [one.id for one in requests_on_record(ledger, person="team")] == [request]
    assert requests_on_record(ledger, person="others") == []
