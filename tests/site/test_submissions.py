"""Claims about a team's own submissions: uploading, following, receiving, and what others try with them."""

import asyncio
import io
import json
import re
import threading
from dataclasses import replace
from typing import Any

import pytest
from markupsafe import escape

from evenhand.domain.estimate import Estimate
from evenhand.domain.item import Benchmark
from evenhand.domain.submission import Closed, Failed, Judged, Raised, Refused, Stopped
from evenhand.format.supported import supported
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import set_terms
from evenhand.ledger.submissions.store import tell
from evenhand.reports.board.shown.columns import interval
from evenhand.site.accounts.store import people
from evenhand.site.http.settings import VisitorLimits
from evenhand.site.submissions.checks import Checks, WantedCheck
from evenhand.site.submissions.team_progress import estimate_in
from tests.site.desk import TERMS, Desk, Team, jsonl, opened, words_of
from tests.site.house import SCRIPT, SECRETS, House, refusal_of, served


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


@pytest.fixture
def team(desk: Desk) -> Team:
    return desk.team()


def test_every_fault_of_a_file_is_named_at_once(desk: Desk, team: Team):
    submission = team.began()
    rows = [
        {"item": "item 1", "response": "one"},
        {"item": "item 1", "response": "another"},
        {"item": "item 2", "response": ""},
        {"item": "item 3", "response": "Failed to obtain answer via API."},
        {"item": "itm 4", "response": "four"},
        {"item": "item 5", "response": f"=cmd() {SCRIPT}"},
    ]
    answered = team.upload(submission, jsonl(rows) + b"{not json\n", f"{SCRIPT}.jsonl")
    assert answered.status_code == 303
    page = team.page(submission)
    assert SCRIPT not in page
    told = words_of(page)
    for words in (
        "Two different answers to one question", "item 1 rows 1, 2", "Empty answers", "item 2 row 3",
        "Another tool's failure text", "Failed to obtain answer via API.", "Not among the questions", "itm 4",
        "near: item 4", "Questions without an answer", "item 6", "Could not be read", "not JSON", "row 7",
    ):  # fmt: skip
        assert words in told, words
    assert f"{submission}/confirm" not in team.page(submission)
    assert refusal_of(team.confirm(submission)) == (409, "EH-FILE-FAULTS")
    assert desk.stands(submission).stage == "draft"
    upload = desk.stands(submission).upload
    assert upload
    assert desk.ledger.submitted.get(upload.file) == jsonl(rows) + b"{not json\n"


def test_the_file_uploaded_last_counts_and_only_it_can_be_confirmed(desk: Desk, team: Team):
    submission = team.began()
    team.upload(submission, desk.answers())
    first = desk.stands(submission).upload_seq
    team.upload(submission, desk.answers(item_1="corrected"))
    late = team.confirm(submission, upload=first)
    assert late.status_code == 409
    assert desk.stands(submission).stage == "draft"
    assert team.confirm(submission).status_code == 303
    after = team.upload(submission, desk.answers())
    assert refusal_of(after, "confirmed") == (409, "EH-SUBMISSION-STAGE")
    upload = desk.stands(submission).upload
    assert upload
    assert b"corrected" in desk.ledger.submitted.get(upload.file)


def test_a_file_that_was_altered_on_the_disk_is_not_taken_for_the_one_that_was_sent(ledger: Ledger):
    with served(ledger) as house:
        desk = opened(house)
        team = desk.team()
        submission = team.began()
        team.upload(submission, desk.answers())
        upload = desk.stands(submission).upload
        assert upload
    ledger.places.submitted.put(upload.file, desk.answers(item_1="altered"))
    with served(ledger) as house:  # which has no findings at hand
        again = replace(desk, house=house)
        client = house.visitor(cookie=f"evenhand={team.client.cookies['evenhand']}")
        page = Team(again, client, team.id).page(submission)
    assert "cannot be read any more" in page
    assert f"{submission}/confirm" not in page


def test_findings_are_shown_again_by_a_server_that_did_not_make_them(ledger: Ledger):
    with served(ledger) as house:
        desk = opened(house)
        team = desk.team()
        submission = team.began()
        team.upload(submission, desk.answers(item_2=""))
        before = team.page(submission)
    with served(ledger) as house:
        client = house.visitor(cookie=f"evenhand={team.client.cookies['evenhand']}")
        after = Team(replace(desk, house=house), client, team.id).page(submission)
    assert words_of(before) == words_of(after)
    assert "Empty answers" in after


def test_no_file_at_all_is_a_sentence(desk: Desk, team: Team):
    submission = team.began()
    for answered in (
        team.post(f"/submissions/{submission}/file"),
        team.post(f"/submissions/{submission}/file", file="text instead of a file"),
        team.upload(submission, b"", name=""),
    ):
        assert refusal_of(answered, ".csv or .jsonl") == (422, "EH-INVALID")
    assert desk.stands(submission).upload is None


@pytest.mark.parametrize(
    "name", ["../../../etc/passwd.jsonl", "C:\\answers\\a.jsonl", "a\x1b[31m\n.jsonl", "x" * 300 + ".jsonl"]
)
def test_the_name_of_a_file_leads_nowhere(desk: Desk, team: Team, name: str):
    submission = team.began()
    assert team.upload(submission, desk.answers(), name).status_code == 303
    upload = desk.stands(submission).upload
    assert upload
    assert not set("/\\\x1b\n") & set(upload.name)
    assert len(upload.name) <= 200
    assert upload.name.endswith(".jsonl")
    assert not upload.faults


def test_a_team_may_confirm_as_often_as_the_terms_say(desk: Desk, team: Team):
    team.confirmed()
    team.confirmed(version="3")
    third = team.began(version="4")
    team.upload(third, desk.answers())
    refused = team.confirm(third)
    assert refusal_of(refused, "2 submissions", "30 days") == (409, "EH-SUBMISSIONS-MOST")
    assert "Parrot 4" in refused.text
    assert desk.stands(third).stage == "draft"


def test_the_line_is_told_first_come_first_served(desk: Desk, team: Team):
    first, second = team.confirmed(), desk.team("Fish").confirmed()
    fish = next(one for one in people(desk.ledger) if one.name == "Fish")
    assert desk.the(second).person == fish.id
    assert "Place 1 in line" in words_of(team.page(first))
    desk.approve(second)
    assert "Place 2" in words_of(team.page(first))


def test_progress_failures_and_the_pause_at_the_budget_are_told(desk: Desk, team: Team):
    submission = team.confirmed()
    desk.approve(submission)
    assert "Approved; the worker takes it up in its turn." in words_of(team.page(submission))
    study = desk.judge(submission, said=False)
    assert study.battles == 12
    told = words_of(team.page(submission))
    assert "24 verdicts are wanted." in told
    assert "of 24" not in told
    assert "without a decision" not in told
    owner = words_of(desk.house.signed_in("owner").get(f"/admin/submissions/{submission}").text)
    assert "24 of 24 trials asked, 1 without a verdict" in owner
    tell(desk.ledger, submission, Failed(detail=f"The key {SECRETS[0]} is wrong."), person=None)
    told = words_of(team.page(submission))
    assert "it will be tried again by itself" in told
    assert SECRETS[0] not in told
    tell(desk.ledger, submission, Stopped(spent=0.98), person=None)
    told = words_of(team.page(submission))
    assert "Paused at the budget" in told
    assert "0.98" not in told
    tell(desk.ledger, submission, Closed(), person="owner")
    desk.judge(submission, partial=True)
    assert "partial result" in words_of(team.page(submission))
    tell(desk.ledger, submission, Raised(budget=None), person="owner")
    assert "Being judged" in words_of(team.page(submission))


def test_a_refusal_is_told_with_its_reason(desk: Desk, team: Team):
    submission = team.confirmed()
    tell(desk.ledger, submission, Refused(reason=f"Not a model. {SCRIPT}"), person="owner")
    page = team.page(submission)
    assert "The owner has refused it" in page
    assert str(escape(f"Not a model. {SCRIPT}")) in page
    assert SCRIPT not in page


def test_the_row_is_told_as_the_receipt_has_it(desk: Desk, team: Team):
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    judged = desk.stands(submission).judged
    assert judged
    receipt: dict[str, Any] = dict(judged.receipt)
    row = receipt["row"]
    told = words_of(team.page(submission))
    # Of a draw without the reference the receipt has every digit, and the page those that its interval supports.
    rating = supported(Estimate(value=row["rating"], lower=row["rating_lower"], upper=row["rating_upper"], n=1))
    assert f"Rating {rating.value:.0f} {rating.lower:.0f} to {rating.upper:.0f}" in told
    assert f"Rank {row['rank']} {row['rank_lower']}–{row['rank_upper']} of 5" in told
    assert "23 of 24" in told
    assert "1 unreadable" in told
    assert re.search(r"even \d", told)
    assert re.search(r"odd \d", told)
    assert "How much the others moved" in told
    for one in receipt["moved"]:
        by = one["after"] - one["before"]
        assert f"{one['model']} {one['before']} {one['after']} {f'{by:+}' if by else 0}" in told
    listed = words_of(team.client.get("/submissions").text)
    assert f"Judged {rating.value:.0f} {row['rank']}" in listed
    given = team.client.get(f"/submissions/{submission}/receipt.json").json()
    assert given["kind"] == "evenhand-receipt"
    assert {name: given[name] for name in receipt} == receipt


def test_every_page_tells_a_rating_in_the_digits_that_its_interval_supports(desk: Desk, team: Team):
    """Half of this interval is a hundred points wide."""
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission, partial=True)
    judged = desk.stands(submission).judged
    assert judged
    receipt: dict[str, Any] = dict(judged.receipt)
    row = {**receipt["row"], "rating": 1153.2, "rating_lower": 1060, "rating_upper": 1260}
    tell(desk.ledger, submission, Raised(budget=None), person="owner")
    moved = [{"model": "ada", "before": 1100, "after": 1110}, {"model": "bel", "before": 900, "after": 900}]
    tell(desk.ledger, submission, Judged(receipt={**receipt, "row": row, "moved": moved}), person=None)
    owner = desk.house.signed_in("owner")
    told = words_of(team.page(submission))
    assert "Rating 1200 1100 to 1300" in told
    assert "1100 1110 +10" in told
    assert "a change of 0 is less than the rounding" in told
    assert "bel 900 900 0" in told
    assert f"Judged 1200 {row['rank']}" in words_of(team.client.get("/submissions").text)
    assert "Rating 1200 Interval 1100 to 1300" in words_of(owner.get(f"/admin/submissions/{submission}").text)


def test_it_is_anonymous_until_it_is_published_and_gone_when_withdrawn(desk: Desk, team: Team):
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    visitor = desk.house.visitor()
    (board,) = {one["board"] for one in visitor.get("/api/boards").json()["boards"]}

    def shown() -> str:
        return words_of(visitor.get(f"/boards/{board}").text)

    assert f"anonymous {submission}" in shown()
    assert "Parrot" not in shown()
    unsure = team.post(f"/submissions/{submission}/publish")
    assert unsure.status_code == 422
    assert "Nothing was published" in unsure.text
    assert team.post(f"/submissions/{submission}/publish", sure="yes").status_code == 303
    assert "Parrot 2 (Birds)" in shown()
    assert "Parrot 2 (Birds) is" not in shown()
    again = team.post(f"/submissions/{submission}/publish", sure="yes")
    assert again.status_code == 409
    assert "it is published already; it can be withdrawn" in again.text
    assert team.post(f"/submissions/{submission}/withdraw").status_code == 422
    assert team.post(f"/submissions/{submission}/withdraw", sure="yes").status_code == 303
    assert "Parrot" not in shown()
    assert submission not in shown()
    assert "Withdrawn" in team.page(submission)
    assert team.client.get(f"/submissions/{submission}/receipt.json").status_code == 200
    assert team.post(f"/submissions/{submission}/withdraw", sure="yes").status_code == 409
    logged = desk.house.logged()
    assert "published a submission" in logged
    assert "withdrew a submission" in logged


def test_nothing_is_received_before_it_is_judged(desk: Desk, team: Team):
    submission = team.confirmed()
    for name in ("receipt.json", "battles.jsonl"):
        assert team.client.get(f"/submissions/{submission}/{name}").status_code == 404


def test_the_battle_file_holds_ones_own_battles_and_the_words_only_where_they_are_open(desk: Desk, team: Team):
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    path = f"/submissions/{submission}/battles.jsonl"

    def battles() -> list[dict[str, Any]]:
        return [json.loads(line) for line in team.client.get(path).text.splitlines()]

    closed = battles()
    assert 0 < len(closed) <= 9
    for one in closed:
        assert "Parrot 2 (Birds)" in (one["A_model"], one["B_model"])
        assert "reference" not in (one["A_model"], one["B_model"])
        assert "auto_evaluation_cot" not in one
    open_benchmark(desk.ledger, desk.data, by="owner")
    whole = battles()
    assert len(whole) == len(closed) + 3
    assert all(SECRETS[0] in words for one in whole for words in one["auto_evaluation_cot"])


def test_another_teams_submission_is_not_there_and_the_attempt_is_logged(desk: Desk, team: Team):
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    stranger = desk.team("Fish")
    base = f"/submissions/{submission}"
    gets = ("", "/receipt.json", "/battles.jsonl")
    posts = {"/file": {}, "/confirm": {"upload": "1"}, "/publish": {"sure": "yes"}, "/withdraw": {"sure": "yes"}}
    answers = [stranger.client.get(f"{base}{path}") for path in gets]
    answers += [stranger.post(f"{base}{path}", **fields) for path, fields in posts.items()]
    unknown = stranger.client.get("/submissions/0badcafe")
    assert {answer.status_code for answer in answers} == {404}
    assert {words_of(answer.text) for answer in answers} == {words_of(unknown.text)}
    assert desk.house.logged().count("refused: another's submission") == len(answers) + 1
    assert desk.stands(submission).stage == "judged"
    assert not desk.stands(submission).published
    assert submission not in stranger.client.get("/submissions").text


def test_only_teams_submit(desk: Desk):
    for role in ("owner", "annotator"):
        client = desk.house.signed_in(role, role)
        for path in ("/submissions", f"/submit/{desk.intake}/new"):
            assert client.get(path).status_code == 403
    passing = desk.house.visitor()
    assert passing.get("/submissions").status_code == 401
    assert passing.post("/submissions/x/file", content=b"x" * 1000).status_code == 401
    assert "refused: role" in desk.house.logged()


def test_a_confirmation_sent_twice_changes_nothing(desk: Desk, team: Team):
    submission = team.confirmed()
    before = desk.the(submission).events
    again = team.confirm(submission)
    assert (again.status_code, again.headers["location"]) == (303, f"/submissions/{submission}")
    assert desk.the(submission).events == before
    assert desk.house.logged().count("confirmed a submission") == 1


def test_nobody_submits_under_another_teams_name(desk: Desk):
    crows = desk.team("Crows")
    refused = crows.begin(team="Birds")
    assert refusal_of(refused, "'Crows'") == (422, "EH-TEAM-NAME")
    assert crows.begin(team="CROWS").status_code == 303


def test_script_and_html_in_every_field_are_shown_as_text(desk: Desk):
    team = desk.team(f"Birds {SCRIPT}")
    submission = team.began(model=f"M {SCRIPT}", version=f"V {SCRIPT}")
    team.upload(submission, jsonl([{"item": f"I {SCRIPT}", "response": f"R {SCRIPT}"}]), f'"><img src=x>{SCRIPT}.csv')
    team.upload(submission, jsonl([{"item": f"I {SCRIPT}", "response": f"R {SCRIPT}"}]))
    set_terms(desk.ledger, desk.intake, replace(TERMS, policy=f"P {SCRIPT}"), by="owner")
    for path in (
        "/submit",
        f"/submit/{desk.intake}",
        f"/submit/{desk.intake}/new",
        "/submissions",
        f"/submissions/{submission}",
    ):
        page = team.client.get(path)
        assert page.status_code == 200
        assert SCRIPT not in page.text, path
        assert "<img src=x" not in page.text, path
    assert str(escape(f"M {SCRIPT}")) in team.page(submission)


def test_a_file_larger_than_the_most_is_refused_on_the_page(desk: Desk, team: Team):
    submission = team.began()
    refused = team.upload(submission, bytes(50 * 2**20 + 1))
    assert refusal_of(refused, "50 MB") == (413, "EH-TOO-LARGE")
    assert "Upload the answers" in refused.text
    assert desk.stands(submission).upload is None


def test_ones_own_battles_are_there_after_a_withdrawal_too(desk: Desk, team: Team):
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    path = f"/submissions/{submission}/battles.jsonl"
    before = team.client.get(path).text
    team.post(f"/submissions/{submission}/withdraw", sure="yes")
    assert before == team.client.get(path).text != ""


def test_a_bound_that_is_infinite_stays_so_on_the_page():
    fields = {"rating": 1200, "rating_lower": 1100, "rating_upper": None, "rating_n": 7, "unbounded": "upper"}
    assert interval(estimate_in(fields, "rating")) == "1100 to ∞"
    assert estimate_in(fields, "rating").n == 7


class Waiting(io.BytesIO):
    """A file that is read when it is told to be."""

    begun = threading.Semaphore(0)
    allowed = threading.Event()

    def read(self, size: int | None = -1, /) -> bytes:
        self.begun.release()
        self.allowed.wait()
        return super().read(size)


async def test_two_files_are_checked_at_once_and_the_others_wait(ledger: Ledger):
    benchmark = Benchmark(name="none", items=(), licence="", citation="", protocols=())
    checks = Checks(ledger)
    wanted = WantedCheck(benchmark=benchmark, missing_allowed=0)
    taken = [asyncio.create_task(checks.take(Waiting(b"{}"), "a.jsonl", wanted)) for _ in range(4)]
    try:
        for _ in range(2):
            assert await asyncio.to_thread(Waiting.begun.acquire, timeout=60)
        for _ in range(1000):
            await asyncio.sleep(0)
        assert not Waiting.begun.acquire(blocking=False)
    finally:
        Waiting.allowed.set()
    assert {found.upload.size for found in await asyncio.gather(*taken)} == {2}


def test_a_slow_upload_has_time_by_its_size_and_no_more():
    limits = VisitorLimits(body_bytes=1000, seconds=2.0, slowest=500.0)
    assert limits.time_limit(0) == limits.time_limit(1000) == 2.0
    assert limits.time_limit(2000) == 4.0
    assert VisitorLimits().body_limit("/submissions/x/file") > 50 * 2**20
    assert VisitorLimits().body_limit("/api/submissions/x/file") > 50 * 2**20
    assert VisitorLimits().body_limit("/submit/request") == VisitorLimits().body_bytes
