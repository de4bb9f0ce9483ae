"""Claims about what a team cannot do with submissions, however often it tries: fill the disk, replay, pose."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import set_terms
from evenhand.ledger.submissions.store import BEGUN_MOST, DRAFTS_MOST
from evenhand.ledger.upkeep.check import check
from evenhand.site.accounts.requests import WAITING_MOST
from tests.site.desk import TERMS, Desk, Team, opened, words_of
from tests.site.house import GENEROUS, House, form_token, refusal_of, served


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


@pytest.fixture
def team(desk: Desk) -> Team:
    return desk.team()


def kept(desk: Desk) -> set[str]:
    return {name for name, _ in desk.ledger.places.submitted.sizes()}


def last_file(desk: Desk, submission: str) -> str:
    upload = desk.stands(submission).upload
    assert upload
    return upload.file


def test_of_a_drafts_files_the_last_is_kept_and_none_once_it_is_withdrawn(desk: Desk, team: Team):
    submission = team.began()
    for text in ("first", "second", "third"):
        assert team.upload(submission, desk.answers(item_1=text)).status_code == 303
    assert kept(desk) == {last_file(desk, submission)}
    assert check(desk.ledger) == []
    assert team.post(f"/submissions/{submission}/withdraw", sure="yes").status_code == 303
    assert kept(desk) == set()
    assert check(desk.ledger) == []
    assert team.client.get(f"/submissions/{submission}").status_code == 200


def test_a_file_that_another_submission_names_stays(desk: Desk, team: Team):
    fish = desk.team("Fish")
    mine, theirs = team.began(), fish.began(team="Fish")
    assert team.upload(mine, desk.answers()).status_code == 303
    assert fish.upload(theirs, desk.answers()).status_code == 303
    assert last_file(desk, mine) == last_file(desk, theirs)
    assert team.post(f"/submissions/{mine}/withdraw", sure="yes").status_code == 303
    assert kept(desk) == {last_file(desk, theirs)}


def test_a_confirmed_file_stays_when_its_submission_is_withdrawn(desk: Desk, team: Team):
    submission = team.confirmed()
    assert team.post(f"/submissions/{submission}/withdraw", sure="yes").status_code == 303
    assert kept(desk) == {last_file(desk, submission)}


def test_a_file_that_comes_too_late_is_not_kept(desk: Desk, team: Team):
    submission = team.confirmed()
    assert team.upload(submission, desk.answers(item_1="late")).status_code == 409
    assert kept(desk) == {last_file(desk, submission)}


def test_a_team_begins_so_many_submissions_a_day(desk: Desk, team: Team):
    for number in range(BEGUN_MOST):
        submission = team.began(version=str(number))
        assert team.post(f"/submissions/{submission}/withdraw", sure="yes").status_code == 303
    refused = team.begin(version="more")
    assert refusal_of(refused, BEGUN_MOST) == (409, "EH-SUBMISSIONS-MOST")
    assert desk.team("Fish").begin(team="Fish").status_code == 303


def test_of_many_begun_in_one_moment_no_more_pass_than_may_be_open(desk: Desk, team: Team):
    script = team.script
    policy = script.get("/api/submit").json()["intakes"][0]["policy_hash"]

    def begin(number: int) -> int:
        about = {"model": "Parrot", "version": str(number), "team": "Birds", "policy_hash": policy}
        return script.post(f"/api/submit/{desk.intake}", json=about).status_code

    with ThreadPoolExecutor(max_workers=15) as threads:
        answers = Counter(threads.map(begin, range(45)))
    assert answers == {201: DRAFTS_MOST, 409: 45 - DRAFTS_MOST}


def test_of_many_requests_for_data_in_one_moment_no_more_pass_than_may_wait(desk: Desk, team: Team):
    script = team.script
    policy = script.get("/api/submit").json()["intakes"][0]["policy_hash"]

    def ask(number: int) -> int:
        asked = {"about": f"Why {number}?", "policy_hash": policy}
        return script.post(f"/api/submit/{desk.intake}/data-request", json=asked).status_code

    with ThreadPoolExecutor(max_workers=8) as threads:
        answers = Counter(threads.map(ask, range(16)))
    assert answers == {201: WAITING_MOST, 409: 16 - WAITING_MOST}


def fewer_answers(desk: Desk) -> bytes:
    """One is missing."""
    return b"".join(desk.answers().splitlines(keepends=True)[1:])


def test_terms_made_stricter_since_the_upload_hold_at_the_confirmation(desk: Desk, team: Team):
    set_terms(desk.ledger, desk.intake, replace(TERMS, missing_allowed=1), by="owner")
    submission = team.began()
    assert team.upload(submission, fewer_answers(desk)).status_code == 303
    assert desk.stands(submission).to_be_confirmed
    set_terms(desk.ledger, desk.intake, TERMS, by="owner")
    assert team.script.get(f"/api/submissions/{submission}").json()["upload"]["faults"] == 1
    assert "1 fault" in words_of(team.page(submission))
    refused = team.confirm(submission)
    assert refusal_of(refused) == (409, "EH-TERMS-CHANGED")
    assert desk.stands(submission).stage == "draft"


def test_terms_made_looser_since_the_upload_free_it(desk: Desk, team: Team):
    submission = team.began()
    assert team.upload(submission, fewer_answers(desk)).status_code == 303
    assert refusal_of(team.confirm(submission)) == (409, "EH-FILE-FAULTS")
    set_terms(desk.ledger, desk.intake, replace(TERMS, missing_allowed=1), by="owner")
    assert team.script.get(f"/api/submissions/{submission}").json()["upload"]["faults"] == 0
    assert team.confirm(submission).status_code == 303
    assert desk.stands(submission).stage == "confirmed"
    assert team.confirm(submission).status_code == 303  # again is no change


def test_a_file_that_is_gone_is_not_confirmed(desk: Desk, team: Team):
    submission = team.began()
    assert team.upload(submission, desk.answers()).status_code == 303
    upload = desk.stands(submission).upload
    assert upload is not None
    desk.ledger.places.submitted.put(upload.file, b"altered")
    set_terms(desk.ledger, desk.intake, replace(TERMS, missing_allowed=1), by="owner")
    refused = team.confirm(submission)
    assert (refused.status_code, "upload it again" in words_of(refused.text)) == (409, True)


@pytest.fixture
def narrow(ledger: Ledger) -> Iterator[House]:
    with served(ledger, limits=replace(GENEROUS, answers_per_hour=2.0)) as house:
        yield house


def test_a_person_uploads_so_many_files_an_hour_on_pages_and_by_script(narrow: House):
    desk = opened(narrow)
    team = desk.team()
    submission = team.began()
    assert team.upload(submission, desk.answers()).status_code == 303
    address = f"/api/submissions/{submission}/file?name=a.jsonl"
    assert team.script.put(address, content=desk.answers()).status_code == 200
    refused = team.script.put(address, content=desk.answers())
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 60
    assert team.upload(submission, desk.answers()).status_code == 429
    assert narrow.logged().count("refused: too many files of answers") == 1


def test_the_same_confirmation_again_is_told_how_it_stands(desk: Desk, team: Team):
    submission = team.confirmed()
    confirmed = {"upload": desk.stands(submission).upload_seq}
    desk.approve(submission)
    before = desk.the(submission).events
    told = team.script.post(f"/api/submissions/{submission}/confirm", json=confirmed)
    assert (told.status_code, told.json()["stage"]) == (200, "approved")
    assert desk.the(submission).events == before
    assert "refused: confirmation replayed" not in desk.house.logged()


def test_two_clicks_at_once_confirm_once_even_where_only_one_is_allowed(desk: Desk, team: Team):
    set_terms(desk.ledger, desk.intake, replace(TERMS, per_team=1), by="owner")
    submission = team.began()
    team.upload(submission, desk.answers())
    seq, script = desk.stands(submission).upload_seq, team.script
    address = f"/api/submissions/{submission}/confirm"
    with ThreadPoolExecutor(8) as clicks:
        answers = list(clicks.map(lambda _: script.post(address, json={"upload": seq}), range(8)))
    assert {one.status_code for one in answers} == {200}
    assert sum(type(event.said).__name__ == "Confirmed" for event in desk.the(submission).events) == 1


@pytest.mark.parametrize("what", ["withdrawn", "another file"])
def test_a_confirmation_played_again_is_refused_and_logged(desk: Desk, team: Team, what: str):
    submission = team.began()
    team.upload(submission, desk.answers(item_1="first"))
    first = desk.stands(submission).upload_seq
    team.upload(submission, desk.answers())
    assert team.confirm(submission).status_code == 303
    if what == "withdrawn":
        first = desk.stands(submission).upload_seq
        team.post(f"/submissions/{submission}/withdraw", sure="yes")
    before = desk.the(submission).events
    assert team.confirm(submission, upload=first).status_code == 409
    assert desk.the(submission).events == before
    assert desk.house.logged().count("refused: confirmation replayed") == 1


def test_the_confirmation_of_an_earlier_file_is_logged_and_counts_for_no_attack(desk: Desk, team: Team):
    submission = team.began()
    team.upload(submission, desk.answers(item_1="first"))
    first = desk.stands(submission).upload_seq
    team.upload(submission, desk.answers())
    assert team.confirm(submission, upload=first).status_code == 409
    logged = desk.house.logged()
    assert "refused: confirmation of an earlier file" in logged
    assert "refused: confirmation replayed" not in logged


@pytest.mark.parametrize("field", ["model", "version", "team"])
@pytest.mark.parametrize("char", ["\u202e", "\u200b", "\u2066", "\ufeff", "\x07"])
def test_characters_that_nobody_sees_are_in_no_name(team: Team, field: str, char: str):
    refused = team.begin(**{field: f"gpt{char}4"})
    assert refused.status_code == 422
    assert f"U+{ord(char):04X}" in refused.text


def test_a_link_lets_in_one_team_on_pages_and_by_script(desk: Desk):
    owner = desk.house.signed_in("owner")
    token = form_token(owner.get("/admin"))
    asked = {"role": "team", "note": "Birds", "uses": "2", "days": "14"}
    page = owner.post("/admin/invitations", data={"csrf": token, **asked})
    script = owner.post("/api/invitations", json={"role": "team", "uses": 2}, headers={"X-CSRF-Token": token})
    for refused in (page, script):
        assert refusal_of(refused, "each team") == (422, "EH-INVALID")
    assert owner.post("/admin/invitations", data={"csrf": token, **asked, "uses": "1"}).status_code == 201
    several = {"role": "annotator", "uses": 2}
    assert owner.post("/api/invitations", json=several, headers={"X-CSRF-Token": token}).status_code == 201
    assert json.loads(script.text)["schema"] == 1
