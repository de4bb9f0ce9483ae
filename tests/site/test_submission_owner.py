"""Claims about the owner's side of submissions: who comes in, what is approved at which price, what is given out."""

import json
from dataclasses import dataclass, replace

import httpx2 as httpx
import pytest

from evenhand.domain.rater import Rater
from evenhand.domain.submission import Estimated, Judged, Stopped, Uploaded
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.submissions.intakes import intakes_on_record
from evenhand.ledger.submissions.store import Submission, begin_submission, find_submission, tell
from evenhand.ledger.submissions.store import confirm as confirm_upload
from evenhand.site.accounts.requests import ask_to_join
from evenhand.site.accounts.store import people
from evenhand.site.submissions.actions import entered
from tests.site.house import MODELS, SCRIPT, SECRETS, House, fill, form_token, links, own_token, refusal_of

ESTIMATE = Estimated(
    opponents=("amber", "reference"),
    battles=12,
    reference_battles=6,
    seed=0,
    trials=24,
    calls_at_least=24,
    calls_at_most=48,
    input_tokens=1000,
    output_tokens=100,
    cost_usd=3.25,
)


ROW = {"rating": 1012.4, "rating_lower": 950.0, "rating_upper": 1080.0, "rank": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    house: House
    owner: httpx.Client
    intake: str
    data: str

    def post(self, path: str, **fields: str) -> httpx.Response:
        token = form_token(self.owner.get("/admin"))
        if fields.get("word") == "approve":
            # As a page that was opened just now has it.
            fields = {"estimate": str(self.the(path.strip("/")).standing.estimated_seq), **fields}
        return self.owner.post(f"/admin/submissions{path}", data={"csrf": token, **fields})

    def confirmed(self, *, estimate: Estimated | None = ESTIMATE) -> Submission:
        ledger = self.house.ledger
        self.house.signed_in("team", "Birds")
        person = people(ledger)[-1].id
        (intake,) = intakes_on_record(ledger)
        about = entered(model=f"Parrot {SCRIPT}", version="2", team="Birds", link="https://birds.example")
        made = begin_submission(ledger, intake, about, person=person)
        upload = Uploaded(file="f" * 64, name=f"{SCRIPT}.csv", size=9, answered=6, faults=0)
        seq = tell(ledger, made, upload, person=person).upload_seq
        confirm_upload(ledger, self.the(made), intake, upload=seq)
        if estimate is not None:
            tell(ledger, made, estimate, person=None)
        return self.the(made)

    def the(self, submission: str) -> Submission:
        found = find_submission(self.house.ledger, submission)
        assert found is not None
        return found

    def stage(self, submission: str) -> str:
        return self.the(submission).standing.stage


TERMS = {
    "policy": "Nobody trains on it.",
    "battles": "12",
    "reference_battles": "6",
    "seed": "3",
    "per_team": "2",
    "days": "30",
    "missing_allowed": "1",
    "open": "yes",
}


@pytest.fixture
def office(house: House) -> Office:
    data = fill(house.ledger)
    owner = house.signed_in("owner")
    (board,) = owner.get("/api/boards").json()["boards"]
    token = form_token(owner.get("/admin"))
    made = owner.post("/admin/submissions/intakes", data={"csrf": token, "board": board["board"], **TERMS})
    assert made.status_code == 303, made.text
    return Office(house=house, owner=owner, intake=made.headers["location"].rpartition("/")[2], data=data)


def test_a_board_is_opened_under_terms_that_can_be_changed(office: Office):
    (intake,) = intakes_on_record(office.house.ledger)
    assert (intake.terms.policy, intake.terms.battles, intake.terms.missing_allowed) == ("Nobody trains on it.", 12, 1)
    assert (intake.benchmark, intake.board.data) == ("numbers", office.data)
    changed = office.post(f"/intakes/{office.intake}", **{**TERMS, "open": "", "battles": "20"})
    assert changed.status_code == 303
    (intake,) = intakes_on_record(office.house.ledger)
    assert (intake.terms.open, intake.terms.battles) == (False, 20)
    assert "20" in office.owner.get(f"/admin/submissions/intakes/{office.intake}").text
    assert office.owner.get("/admin/submissions/intakes/none").status_code == 404


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"battles": "0"}, "At least one battle"),
        ({"reference_battles": "13"}, "there cannot be more of them"),
        ({"per_team": "0"}, "at least once"),
        ({"policy": " "}, "The policy is missing"),
        ({"battles": "many"}, "whole number"),
    ],
)
def test_terms_that_cannot_be_kept_are_refused_in_a_sentence(office: Office, fields: dict[str, str], words: str):
    refused = office.post(f"/intakes/{office.intake}", **{**TERMS, **fields})
    assert refused.status_code == 422
    assert words in refused.text


def test_a_board_is_opened_once_and_only_where_there_is_one(office: Office):
    (board,) = office.owner.get("/api/boards").json()["boards"]
    again = office.post("/intakes", board=board["board"], **TERMS)
    assert again.status_code == 422
    assert "takes submissions already" in again.text
    assert office.post("/intakes", board="none", **TERMS).status_code == 422


def test_the_owner_sees_what_it_costs_and_approves_with_a_budget(office: Office):
    one = office.confirmed()
    assert links(office.owner.get("/admin/submissions"), "/admin/submissions/")[0] == f"/admin/submissions/{one.id}"
    page = office.owner.get(f"/admin/submissions/{one.id}").text
    for words in ("24 to 48", "$3.25", "amber, reference", "1,000", "Parrot &lt;script&gt;"):
        assert words in page
    assert SCRIPT not in page
    assert office.post(f"/{one.id}", word="approve", budget="4.50").status_code == 303
    approved = office.the(one.id).standing.approved
    assert approved is not None
    assert (approved.budget, approved.opponents, approved.battles, approved.seed) == (4.5, ESTIMATE.opponents, 12, 0)
    assert "approved a submission: a budget of $4.50" in office.house.logged()
    assert office.post(f"/{one.id}", word="approve", budget="4.50").status_code == 409


def test_nothing_is_approved_before_it_is_estimated_or_without_a_word_about_money(office: Office):
    one = office.confirmed(estimate=None)
    refused = office.post(f"/{one.id}", word="approve", budget="1")
    assert refusal_of(refused) == (409, "EH-ESTIMATE-MISSING")
    tell(office.house.ledger, one.id, ESTIMATE, person=None)
    assert office.post(f"/{one.id}", word="approve", budget="").status_code == 422
    assert office.post(f"/{one.id}", word="approve", budget="-1").status_code == 422
    assert office.post(f"/{one.id}", word="approve", budget="nan").status_code == 422
    assert office.stage(one.id) == "confirmed"
    assert office.post(f"/{one.id}", word="approve", unlimited="yes").status_code == 303
    assert office.stage(one.id) == "approved"


def test_only_the_estimate_that_was_seen_is_approved(office: Office):
    one = office.confirmed()
    seen = str(one.standing.estimated_seq)
    assert f'name="estimate" value="{seen}"' in office.owner.get(f"/admin/submissions/{one.id}").text
    tell(office.house.ledger, one.id, replace(ESTIMATE, cost_usd=325.0), person=None)
    refused = office.post(f"/{one.id}", word="approve", estimate=seen, budget="4.50")
    assert refusal_of(refused) == (409, "EH-ESTIMATE-CHANGED")
    assert "$325.00" in refused.text
    assert office.post(f"/{one.id}", word="approve", estimate="", budget="4.50").status_code == 422
    assert office.stage(one.id) == "confirmed"
    assert office.post(f"/{one.id}", word="approve", budget="400").status_code == 303


def test_an_estimate_under_terms_that_no_longer_hold_is_not_approved(office: Office):
    drawn = intakes_on_record(office.house.ledger)[0].terms.drawn
    one = office.confirmed(estimate=replace(ESTIMATE, terms=drawn))
    office.post(f"/intakes/{office.intake}", **{**TERMS, "policy": "Nobody trains on it at all."})
    office.post(f"/intakes/{office.intake}", **{**TERMS, "battles": "20"})
    refused = office.post(f"/{one.id}", word="approve", budget="4.50")
    assert refusal_of(refused, "terms") == (409, "EH-ESTIMATE-CHANGED")
    assert office.stage(one.id) == "confirmed"
    now = intakes_on_record(office.house.ledger)[0].terms.drawn
    tell(office.house.ledger, one.id, replace(ESTIMATE, terms=now), person=None)
    assert office.post(f"/{one.id}", word="approve", budget="4.50").status_code == 303


def test_the_same_estimate_again_is_no_other(office: Office):
    one = office.confirmed()
    with pytest.raises(TooLate):
        tell(office.house.ledger, one.id, ESTIMATE, person=None)
    assert office.the(one.id).standing.estimated_seq == one.standing.estimated_seq


def test_a_budget_that_nobody_could_keep_is_refused(office: Office):
    one = office.confirmed(estimate=replace(ESTIMATE, cost_usd=None))
    refused = office.post(f"/{one.id}", word="approve", budget="1")
    assert refused.status_code == 409
    assert "--price" in refused.text
    assert office.post(f"/{one.id}", word="approve", unlimited="yes").status_code == 303


def test_a_refusal_needs_a_reason(office: Office):
    one = office.confirmed()
    assert office.post(f"/{one.id}", word="refuse", reason="").status_code == 422
    assert office.post(f"/{one.id}", word="refuse", reason=f"No. {SCRIPT}").status_code == 303
    assert office.the(one.id).standing.reason == f"No. {SCRIPT}"
    assert SCRIPT not in office.owner.get(f"/admin/submissions/{one.id}").text


def test_at_the_budget_the_owner_is_asked_and_goes_on_or_ends_it(office: Office):
    one = office.confirmed()
    office.post(f"/{one.id}", word="approve", budget="1")
    tell(office.house.ledger, one.id, Stopped(spent=0.99), person=None)
    assert "The budget is reached" in office.owner.get(f"/admin/submissions/{one.id}").text
    assert office.post(f"/{one.id}", word="raise", budget="5").status_code == 303
    assert office.stage(one.id) == "approved"
    tell(office.house.ledger, one.id, Stopped(spent=4.99, least=5.75), person=None)
    assert "It goes on with a budget of $5.75 in all, or more" in office.owner.get(f"/admin/submissions/{one.id}").text
    assert office.post(f"/{one.id}", word="close").status_code == 303
    assert office.the(one.id).standing.closing
    tell(office.house.ledger, one.id, Judged(receipt={"schema": 1, "row": ROW}, partial=True), person=None)
    page = office.owner.get(f"/admin/submissions/{one.id}").text
    assert "Judged in part" in page
    assert "950 to 1080" in page


def test_whoever_asks_to_come_in_is_answered_on_the_page(office: Office):
    asked = ask_to_join(office.house.ledger, name="Birds", about=f"We make parrots. {SCRIPT}")
    page = office.owner.get("/admin/submissions").text
    assert "Birds wants to come in" in page
    assert SCRIPT not in page
    assert office.post(f"/requests/{asked.id}", word="decline", reason="").status_code == 422
    assert office.post(f"/requests/{asked.id}", word="accept").status_code == 303
    assert office.post(f"/requests/{asked.id}", word="accept").status_code == 404
    assert "accepted a request" in office.house.logged()


def test_nobody_but_the_owner_decides(office: Office):
    one = office.confirmed()
    for role in ("team", "annotator"):
        other = office.house.signed_in(role, "Eve")
        token = form_token(other.get("/account"))
        for path in ("", f"/{one.id}", f"/intakes/{office.intake}"):
            assert other.get(f"/admin/submissions{path}").status_code == 403
        sent = {"csrf": token, "word": "approve", "unlimited": "yes"}
        assert other.post(f"/admin/submissions/{one.id}", data=sent).status_code == 403
    assert office.house.visitor().get(f"/admin/submissions/{one.id}").status_code == 401
    assert office.stage(one.id) == "confirmed"
    assert "refused: role" in office.house.logged()


def test_what_is_withheld_is_given_to_those_who_were_granted_it_and_marked_as_theirs(office: Office):
    team = office.house.signed_in("team", "Birds")
    address = f"/submit/{office.intake}/data"
    page = team.get(address)
    policy = page.text.split('name="policy_hash" value="')[1].split('"')[0]
    sent = {"csrf": form_token(page), "about": "error analysis", "policy_hash": policy}
    assert "must be accepted" in team.post(address, data=sent).text
    assert team.post(address, data={**sent, "accepted": "yes", "policy_hash": "0" * 64}).status_code == 422
    assert team.post(address, data={**sent, "accepted": "yes"}).status_code == 303
    (request,) = office.owner.get("/api/access-requests").json()["requests"]
    download = f"/data-requests/{request['request']}/items.jsonl"
    assert team.get(download).status_code == 403
    assert office.post(f"/requests/{request['request']}", word="accept").status_code == 303
    rows = [json.loads(line) for line in team.get(download).text.splitlines()]
    assert len(rows) == 6
    assert all(secret in json.dumps(rows) for secret in SECRETS)
    assert {row["released_to"] for row in rows} == {"Birds"}
    assert {row["release"] for row in rows} == {request["request"]}
    ratings = f"/data-requests/{request['request']}/ratings.jsonl"
    assert links(team.get(address), "/data-requests/") == [download, ratings]
    assert team.get(ratings).text == ""
    fill(office.house.ledger, rater=Rater(kind="human", name="person-Zoe"))
    rated = team.get(ratings).text
    told = [json.loads(line) for line in rated.splitlines()]
    assert len(told) == 6 * 12
    assert {row["person"] for row in told} == {1}
    assert {row["canary"] for row in told} == {row["canary"] for row in rows}
    assert told[0]["verdict"] == {"kind": "preference", "value": 1, "levels": 3}
    assert {model for row in told for model in row["models"]} == set(MODELS)
    assert "Zoe" not in rated
    assert team.get(f"/api{ratings}").text == rated
    assert office.house.logged().count("exported what is withheld") == 4
    other = office.house.signed_in("team", "Others")
    assert other.get(download).status_code == 404
    assert other.get(f"/api{download}").status_code == 404
    assert other.get(ratings).status_code == 404
    assert office.house.visitor().get(download).status_code == 401
    assert "refused: another's request" in office.house.logged()
    assert "refused: data not granted" in office.house.logged()


def test_the_owner_does_the_same_by_script(office: Office):
    one = office.confirmed()
    token = office.owner.post(
        "/api/tokens", json={"note": "ci"}, headers={"X-CSRF-Token": own_token(office.owner)}
    ).json()["token"]
    script = office.house.visitor(Authorization=f"Bearer {token}")
    (told,) = script.get("/api/all-submissions").json()["submissions"]
    assert (told["stage"], told["estimate"]["cost_usd"]) == ("confirmed", 3.25)
    decide = f"/api/submissions/{one.id}/decide"
    seen = {"estimate": told["estimate"]["number"]}
    for said in ({}, {"budget": None}, {"unlimited": False}, {"budget": 2, "unlimited": True}):
        refused = script.post(decide, json={"word": "approve", **seen, **said})
        assert refused.status_code == 422
        assert "unlimited" in refused.json()["error"]
    assert script.post(decide, json={"word": "refuse", "reason": " "}).status_code == 422
    assert office.stage(one.id) == "confirmed"
    blind = script.post(decide, json={"word": "approve", "budget": 2})
    assert refusal_of(blind, "estimate") == (422, "EH-ESTIMATE-MISSING")
    other = script.post(decide, json={"word": "approve", "budget": 2, "estimate": seen["estimate"] - 1})
    assert refusal_of(other) == (409, "EH-ESTIMATE-CHANGED")
    assert office.stage(one.id) == "confirmed"
    done = script.post(decide, json={"word": "approve", "budget": 2, **seen})
    assert (done.status_code, done.json()["stage"], done.json()["budget"]) == (200, "approved", 2)
    assert script.post("/api/submissions/none/decide", json={"word": "close"}).status_code == 404
    assert script.put(f"/api/intakes/{office.intake}", json={"open": False}).status_code == 204
    assert not intakes_on_record(office.house.ledger)[0].terms.open
    assert script.post(decide, json={"word": "raise"}).status_code == 422
    raised = script.post(decide, json={"word": "raise", "unlimited": True})
    assert (raised.status_code, raised.json()["budget"]) == (200, None)
    asked = ask_to_join(office.house.ledger, name="Fish", about="x")
    answer = f"/api/access-requests/{asked.id}"
    assert script.post(answer, json={"accepted": False}).status_code == 422
    assert script.post(answer, json={"accepted": True}).status_code == 204
