"""Claims about what a team is told of its submission: why something is refused, what it is called, what is left out."""

import json
from dataclasses import replace

import httpx2 as httpx
import pytest

from evenhand.domain.identity import Json
from evenhand.domain.submission import Approved, Judged, Published, Raised, Refused, Withdrawn, label
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.submissions.intakes import set_terms
from evenhand.ledger.submissions.store import tell
from tests.site.desk import TERMS, Desk, Team, opened, placed, words_of
from tests.site.house import MODELS, REFERENCE, House, refusal_of


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


@pytest.fixture
def team(desk: Desk) -> Team:
    return desk.team()


def judged(team: Team, **fields: str) -> str:
    submission = team.confirmed(**fields)
    team.desk.approve(submission)
    team.desk.judge(submission)
    return submission


def test_what_comes_too_late_is_told_with_the_stage_and_what_can_be_done(desk: Desk, team: Team):
    one = team.confirmed()
    too_late = (409, "EH-SUBMISSION-STAGE")
    assert refusal_of(team.upload(one, desk.answers()), "confirmed", "withdrawn") == too_late
    assert refusal_of(team.script.post(f"/api/submissions/{one}/publish"), "confirmed") == too_late
    desk.approve(one)
    assert refusal_of(team.upload(one, desk.answers()), "approved") == too_late
    desk.judge(one)
    assert refusal_of(team.upload(one, desk.answers()), "judged", "another submission") == too_late
    tell(desk.ledger, one, Withdrawn(), person=team.id)
    withdrawn = team.script.post(f"/api/submissions/{one}/withdraw")
    assert refusal_of(withdrawn, "withdrawn", "another submission") == too_late


def test_a_team_on_a_ladder_reads_who_sees_its_row_and_how_many_items_are_in_reserve(desk: Desk, team: Team):
    reserved = tuple(item.digest for item in items_of(desk.ledger, desk.data))[:3]
    ladder = replace(TERMS, feedback="ladder", reserve=0.45, reserved=reserved)
    set_terms(desk.ledger, desk.intake, ladder, by="owner")
    one = team.confirmed()
    assert "3 of the 6 items are in reserve" in words_of(team.page(one))
    desk.approve(one)
    row = {"model": label(one), "feedback": "ladder", "shown": 2 / 3, "shown_n": 3, "shown_of": label(one)}
    for changed, told in ((False, "This submission did not move it"), (True, "This submission set this row")):
        receipt: dict[str, Json] = {"row": {**row, "changed": changed, "compared_with": None}, "moved": []}
        tell(desk.ledger, one, Judged(receipt=receipt, partial=True), person=None)
        page = words_of(team.page(one))
        assert told in page
        assert "Nobody but your team and the owner sees it." in page
        assert "3 of the 6 items are in reserve" in page
        tell(desk.ledger, one, Raised(budget=None), person="owner")


def test_a_submission_taken_down_after_judging_is_not_said_to_be_unjudged(desk: Desk, team: Team):
    one = judged(team)
    tell(desk.ledger, one, Refused(reason="It was trained on it."), person="owner")
    page = words_of(team.page(one))
    assert "Its row is off the board; what was judged stays on record." in page
    assert "Nothing was judged" not in page
    early = team.confirmed(version="3")
    tell(desk.ledger, early, Refused(reason="No."), person="owner")
    assert "Nothing was judged." in words_of(team.page(early))


def test_the_trials_of_a_submission_that_is_being_judged_are_listed_for_the_owner_alone(desk: Desk, team: Team):
    def trials(visitor: httpx.Client) -> int:
        (board,) = visitor.get("/api/boards").json()["boards"]
        return board["trials"]

    everybody, owner = desk.house.visitor(), desk.house.signed_in("owner")
    before = trials(everybody)
    one = team.confirmed()
    desk.approve(one)
    placed(desk.ledger, desk.data, label(one))
    assert (trials(everybody), trials(owner)) == (before, before + 24)


def test_page_board_and_battle_file_call_it_the_same_where_two_have_one_name(desk: Desk, team: Team):
    first, second = judged(team), judged(team)
    tell(desk.ledger, first, Published(), person=team.id)
    unpublished = f"Parrot 2 (Birds) [{second}]"
    assert f"Show it as “{unpublished}”" in words_of(team.page(second))
    tell(desk.ledger, second, Published(), person=team.id)
    for one in (first, second):
        name = f"Parrot 2 (Birds) [{one}]"
        (board,) = desk.house.visitor().get("/api/boards").json()["boards"]
        shown = desk.house.visitor().get(f"/api/boards/{board['board']}").json()["models"]
        assert next(row["name"] for row in shown if row["model"] == label(one)) == name
        assert f"On the board it is called {name}" in words_of(team.page(one))
        lines = team.client.get(f"/submissions/{one}/battles.jsonl").text.splitlines()
        assert lines
        assert all(name in (row["model_a"], row["model_b"]) for row in map(json.loads, lines))


def test_opponents_that_left_since_are_told_beside_the_battle_file(desk: Desk, team: Team):
    other = desk.team("Fish")
    met = judged(other)
    tell(desk.ledger, met, Published(), person=other.id)
    one = team.confirmed()
    drawn = Approved(budget=None, opponents=(*MODELS, label(met)), battles=12, reference_battles=3, seed=0)
    tell(desk.ledger, one, drawn, person="owner")
    desk.judge(one)
    told = "1 opponent left the board since: their battles count in the row, and are not in the file."
    assert told not in words_of(team.page(one))
    tell(desk.ledger, met, Withdrawn(), person=other.id)
    assert told in words_of(team.page(one))


def test_opponents_that_are_judged_on_are_told_beside_the_battle_file_that_lacks_them(desk: Desk, team: Team):
    other = desk.team("Fish")
    met = other.confirmed()
    desk.approve(met)
    desk.judge(met, partial=True)
    tell(desk.ledger, met, Published(), person=other.id)
    one = team.confirmed()
    drawn = Approved(budget=None, opponents=(MODELS[0], REFERENCE, label(met)), battles=12, reference_battles=3, seed=0)
    tell(desk.ledger, one, drawn, person="owner")
    desk.judge(one, opponents=drawn.opponents)
    told = (
        "Off the board while judging goes on there: 1 opponent, whose battles count in the row, and are in the file "
        "again when that has ended."
    )

    def looked() -> tuple[bool, int, int, int]:
        document = team.script.get(f"/api/submissions/{one}").json()
        lines = team.script.get(f"/api/submissions/{one}/battles").text.splitlines()
        theirs = sum("Fish" in line for line in lines)
        return told in words_of(team.page(one)), document["opponents_gone"], document["opponents_away"], theirs

    before = looked()
    tell(desk.ledger, met, Raised(budget=None), person="owner")
    meanwhile = looked()
    desk.judge(met)
    assert before == looked() == (False, 0, 0, before[-1])
    assert before[-1]
    assert meanwhile == (True, 0, 1, 0)
    of_all = desk.house.signed_in("owner").get(f"/api/submissions/{one}").json()
    assert (of_all["opponents_gone"], of_all["opponents_away"]) == (0, 0)
    tell(desk.ledger, met, Withdrawn(), person=other.id)
    assert looked() == (False, 1, 0, 0)


def test_where_nobody_has_rated_the_empty_file_of_ratings_is_explained(desk: Desk, team: Team):
    path = f"/submit/{desk.intake}/data"
    accepted = team.client.get(path).text.partition('name="policy_hash" value="')[2].partition('"')[0]
    team.post(path, policy_hash=accepted, about="A study.", accepted="yes")
    assert "No person has rated answers to this benchmark yet, so the file of ratings is empty." in words_of(
        team.client.get(path).text
    )


@pytest.mark.parametrize("name", ["аmber", "ａmber", "ámber"])
def test_a_model_that_looks_like_another_in_other_letters_is_refused(team: Team, name: str):
    assert refusal_of(team.begin(model=name), "'amber'") == (422, "EH-MODEL-NAME")
    assert team.begin(model="Amber").status_code == 303  # the very name, which a board shows with its team
    assert team.begin(model="amber grey").status_code == 303


def test_what_another_team_has_not_published_is_not_told_by_a_refusal(desk: Desk, team: Team):
    others = desk.team("Crows")
    one = judged(others, model="Raven")
    assert team.begin(model="Rаven").status_code == 303
    tell(desk.ledger, one, Published(), person=others.id)
    assert refusal_of(team.begin(model="Rаven"), "'Raven'") == (422, "EH-MODEL-NAME")
    assert others.begin(model="Rаven").status_code == 303  # one's own
