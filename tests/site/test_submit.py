"""Claims about what outside teams do on the pages: ask, come in, upload, correct, confirm, follow, receive."""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Literal

import httpx2 as httpx
import pytest
from markupsafe import escape

from evenhand.exchange.tables import ExchangeTable
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import set_terms
from evenhand.site.accounts.requests import decide, requests_on_record
from evenhand.site.accounts.store import people
from evenhand.site.http.audit_log import events
from evenhand.site.submissions.public_pages import table_file
from tests.database import stored_in
from tests.engine.contest import founded
from tests.scripted_server import ScriptedServer
from tests.site.desk import POLICY, TERMS, Desk, Team, opened, words_of
from tests.site.house import GENEROUS, SCRIPT, SECRETS, House, come_in, form_token, links, refusal_of, served


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


@pytest.fixture
def team(desk: Desk) -> Team:
    return desk.team()


def asked(desk: Desk, visitor: httpx.Client, **fields: str) -> httpx.Response:
    given = {"name": "Birds", "about": "We make parrots."}
    token = form_token(visitor.get("/submit/request"))
    return visitor.post("/submit/request", data={"csrf": token, **given, **fields})


def private_link(page: httpx.Response, house: House) -> str:
    (link,) = re.findall(r'<code class="secret"[^>]*>([^<]+)</code>', page.text)
    return link.removeprefix(house.site.url)


def test_a_team_asks_comes_in_uploads_and_confirms(desk: Desk):
    visitor = desk.house.visitor()
    sent = asked(desk, visitor)
    assert sent.status_code == 201
    path = private_link(sent, desk.house)
    assert "Waiting for the owner" in visitor.get(path).text
    (request,) = requests_on_record(desk.ledger)
    assert (request.name, request.about) == ("Birds", "We make parrots.")
    decide(desk.ledger, request.id, accepted=True, by="owner")
    (door,) = links(visitor.get(path), "/join/")
    assert come_in(visitor, door, "Birds").headers["location"] == "/submissions"
    assert not links(visitor.get(path), "/join/")
    (person,) = people(desk.ledger)
    team = Team(desk, visitor, person.id)
    submission = team.began()
    assert team.upload(submission, desk.answers()).headers["location"] == f"/submissions/{submission}#check"
    assert f"{submission}/confirm" in team.page(submission)
    assert team.confirm(submission).status_code == 303
    assert desk.stands(submission).stage == "confirmed"
    assert "Waits for the owner's approval" in words_of(team.page(submission))
    logged = desk.house.logged()
    for what in ("asked to be let in", "joined", "began a submission", "uploaded answers", "confirmed a submission"):
        assert what in logged
    assert not any("Birds" in one.detail for one in events(desk.ledger, most=100))


def test_whoever_is_declined_reads_the_reason_and_is_not_let_in(desk: Desk):
    visitor = desk.house.visitor()
    path = private_link(asked(desk, visitor), desk.house)
    (request,) = requests_on_record(desk.ledger)
    decide(desk.ledger, request.id, accepted=False, by="owner", reason=f"Who are you? {SCRIPT}")
    page = visitor.get(path).text
    assert "Not accepted" in page
    assert str(escape(f"Who are you? {SCRIPT}")) in page
    assert SCRIPT not in page
    assert visitor.get(path.replace("/submit/request/", "/join/")).status_code == 404


def test_the_private_link_is_not_kept_and_a_guessed_one_is_refused_and_logged(desk: Desk, tmp_path: Path):
    visitor = desk.house.visitor()
    token = private_link(asked(desk, visitor), desk.house).rpartition("/")[2]
    desk.ledger.engine.dispose()
    stored = stored_in(tmp_path)
    assert stored
    assert token.encode() not in stored
    assert visitor.get("/submit/request/guess").status_code == 404
    assert "refused: request link" in desk.house.logged()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": ""}, "The team's name is missing"),
        ({"name": "   "}, "The team's name is missing"),
        ({"about": ""}, "Who you are and what for is missing"),
        ({"about": "x" * 2001}, "may have 2,000 characters"),
        ({"name": "a\x00b"}, "not text"),
    ],
)
def test_a_letter_that_cannot_be_sent_comes_back_as_it_was_typed(desk: Desk, fields: dict[str, str], words: str):
    typed = {"name": "Birds & co", "about": f"We {SCRIPT}", **fields}
    answered = asked(desk, desk.house.visitor(), **typed)
    assert answered.status_code == 422
    assert words in unescape(answered.text)
    for text in typed.values():
        assert str(escape(text.strip())) in answered.text.replace("&#0;", "\x00")
    assert SCRIPT not in answered.text
    assert requests_on_record(desk.ledger) == []


def test_nobody_floods_the_owner_with_letters(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, letters_per_hour=3)) as house:
        desk = opened(house)
        visitor = house.visitor()
        statuses = [asked(desk, visitor).status_code for _ in range(5)]
        assert statuses == [201] * 3 + [429] * 2
        assert house.logged().count("refused: too many letters") == 1
        assert len(requests_on_record(ledger)) == 3


def test_the_public_pages_tell_the_policy_the_limits_and_where_the_questions_are(desk: Desk):
    visitor = desk.house.visitor()
    listed = words_of(visitor.get("/submit").text)
    assert "numbers" in listed
    assert "Judged by openai/judge under pairwise" in listed
    assert "2 in 30 days" in listed
    page = visitor.get(f"/submit/{desk.intake}")
    told = words_of(page.text)
    assert POLICY.replace("\n", " ") in told
    assert "6 questions with 1 image" in told
    assert "up to 12 battles, 3 of them against the reference" in told
    for link in links(page, f"/submit/{desk.intake}/"):
        assert visitor.get(link).status_code == 200
    assert visitor.get("/submit/none").status_code == 404


@pytest.mark.parametrize("pairs", ["random", "nearest"])
@pytest.mark.parametrize("public", [False, True])
async def test_the_page_speaks_of_a_reference_only_where_there_is_one(
    ledger: Ledger, pairs: Literal["random", "nearest"], public: bool
):
    async with ScriptedServer() as server:
        terms = replace(TERMS, pairs=pairs, reference_battles=4)
        contest = await founded(ledger, server.base_url, items=3, terms=terms, references=False)
    if public:
        open_benchmark(ledger, contest.intake.board.data, by=None)
    with served(ledger) as house:
        page = house.visitor().get(f"/submit/{contest.id}").text
        assert "What you get to see" in page
        assert "Captions" in page
        assert "reference" not in page.casefold()


def test_the_questions_hold_what_is_public_and_nothing_else(desk: Desk):
    visitor = desk.house.visitor()
    answered = visitor.get(f"/submit/{desk.intake}/items.jsonl")
    rows = [json.loads(line) for line in answered.text.splitlines()]
    assert answered.headers["content-disposition"] == 'attachment; filename="items.jsonl"'
    assert [row["item"] for row in rows] == desk.labels
    assert set(rows[0]) == {
        "item", "instruction", "category", "images", "image_sha256", "image_licences", "licence",
    }  # fmt: skip
    assert rows[0]["instruction"] == f"What is 1? {SCRIPT}"
    (image,) = rows[0]["images"]
    assert visitor.get(image.removeprefix(desk.house.site.url)).headers["content-type"] == "image/png"
    table = list(csv.DictReader(io.StringIO(visitor.get(f"/submit/{desk.intake}/items.csv").text)))
    assert [row["instruction"] for row in table] == [row["instruction"] for row in rows]


def test_a_question_that_looks_like_a_formula_is_guarded_where_spreadsheets_open_it():
    table = ExchangeTable(columns={"item": "text", "instruction": "text"}, rows=[{"item": "1", "instruction": "=1+1"}])
    assert table_file(table, "items.csv", guarded=True).body == b"item,instruction\r\n1,'=1+1\r\n"
    assert table_file(table, "items.csv").body == b"item,instruction\r\n1,=1+1\r\n"
    assert json.loads(bytes(table_file(table, "items.jsonl", guarded=True).body))["instruction"] == "=1+1"


def test_the_template_wants_only_its_answers(desk: Desk, team: Team):
    for ending in ("jsonl", "csv"):
        template = team.client.get(f"/submit/{desk.intake}/predictions.{ending}").text
        submission = team.began()
        team.upload(submission, template.encode(), f"predictions.{ending}")
        page = words_of(team.page(submission))
        assert "6 faults to correct" in page
        filled = template.replace('"response": ""', '"response": "x"').replace(",\r\n", ",x\r\n")
        team.upload(submission, filled.encode(), f"predictions.{ending}")
        assert "No fault: 6 of 6 questions" in words_of(team.page(submission))


def test_nothing_withheld_stands_on_any_page_of_a_team_or_the_public(desk: Desk, team: Team):
    submission = team.confirmed()
    desk.approve(submission)
    desk.judge(submission)
    paths = [
        "/submit", f"/submit/{desk.intake}", f"/submit/{desk.intake}/new", "/submissions", f"/submissions/{submission}",
        *(f"/submit/{desk.intake}/{name}.{end}" for name in ("items", "predictions") for end in ("jsonl", "csv")),
        f"/submissions/{submission}/receipt.json", f"/submissions/{submission}/battles.jsonl",
        "/api/submit", "/api/submissions", f"/api/submissions/{submission}",
        f"/api/submissions/{submission}/receipt", f"/api/submissions/{submission}/battles",
    ]  # fmt: skip
    for path in paths:
        answered = team.client.get(path)
        assert answered.status_code == 200, path
        assert not any(secret in answered.text for secret in SECRETS), path


def test_a_submission_is_begun_with_the_policy_that_was_accepted(desk: Desk, team: Team):
    one = desk.the(team.began())
    assert (one.entered.model, one.entered.version, one.entered.team) == ("Parrot", "2", "Birds")
    assert one.entered.link == "https://birds.example"
    assert one.person == team.id
    refused = team.begin(sure="")
    assert refusal_of(refused) == (422, "EH-POLICY-NOT-ACCEPTED")
    assert 'value="Parrot"' in refused.text
    set_terms(desk.ledger, desk.intake, replace(TERMS, policy="Another policy."), by="owner")
    late = team.begin(policy_hash=one.policy_hash)
    assert refusal_of(late) == (409, "EH-POLICY-CHANGED")
    assert "Another policy." in late.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": ""}, "The model's name is missing"),
        ({"version": "  "}, "The version is missing"),
        ({"team": "x" * 101}, "may have 100 characters, not 101"),
        ({"link": "javascript:alert(1)"}, "begins with https://"),
        ({"link": "https://"}, "begins with https://"),
        ({"link": "ftp://birds.example"}, "begins with https://"),
        ({"link": "//birds.example"}, "begins with https://"),
        ({"link": "https://birds.example/a b"}, "begins with https://"),
        ({"link": "https://[birds"}, "begins with https://"),
        ({"link": "https://birds.example/" + "x" * 500}, "may have 500 characters"),
        ({"model": "a\x00b"}, "not text"),
    ],
)
def test_what_cannot_be_entered_is_said_on_the_form(desk: Desk, team: Team, fields: dict[str, str], words: str):
    answered = team.begin(**fields)
    assert answered.status_code == 422
    assert words in unescape(answered.text)
    assert "Your submissions" not in words_of(answered.text)


def test_nothing_is_begun_or_confirmed_where_the_intake_is_closed_or_its_policy_changed(desk: Desk, team: Team):
    ready = team.began()
    team.upload(ready, desk.answers())
    set_terms(desk.ledger, desk.intake, replace(TERMS, policy="Another policy."), by="owner")
    changed = team.confirm(ready)
    assert refusal_of(changed) == (409, "EH-POLICY-CHANGED")
    set_terms(desk.ledger, desk.intake, replace(TERMS, open=False), by="owner")
    for answered in (team.confirm(ready), team.upload(ready, desk.answers())):
        assert refusal_of(answered) == (409, "EH-INTAKE-CLOSED")
    assert "No submissions are taken at this moment" in team.client.get(f"/submit/{desk.intake}/new").text
    assert "closed at the moment" in team.client.get(f"/submit/{desk.intake}").text
    assert desk.stands(ready).stage == "draft"


def test_drafts_are_counted(desk: Desk, team: Team):
    for _ in range(20):
        team.began()
    refused = team.begin()
    assert refused.status_code == 409
    assert "20 drafts" in refused.text
