"""Claims about whose name a submission carries: the account's alone, which is the one that the owner accepted."""

import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.schema import people as table
from evenhand.site.accounts.requests import decide
from evenhand.site.accounts.store import Invite, find_person, invite, people
from tests.site.desk import Desk, opened
from tests.site.house import House, come_in, own_token


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


def asked(house: House, name: str) -> str:
    """The token of an accepted request."""
    sent = house.visitor().post("/api/submit/request", json={"name": name, "about": "We make parrots."}).json()
    assert decide(house.ledger, sent["request"], accepted=True, by="owner")
    return sent["token"]


def joined(house: House, token: str, name: str) -> tuple[int, str]:
    answer = house.visitor().post(f"/api/join/{token}", json={"name": name})
    return answer.status_code, answer.json().get("name") or answer.json().get("error")


def begin(desk: Desk, token: str, team: str) -> tuple[int, str]:
    script = desk.house.visitor(Authorization=f"Bearer {token}")
    policy = script.get("/api/submit").json()["intakes"][0]["policy_hash"]
    about = {"model": "Parrot", "version": "2", "team": team, "policy_hash": policy}
    answer = script.post(f"/api/submit/{desk.intake}", json=about)
    return answer.status_code, answer.json().get("team") or answer.json().get("error")


def test_who_was_accepted_under_one_name_does_not_come_in_under_another(desk: Desk):
    token = asked(desk.house, "Honest Wolves")
    status, words = joined(desk.house, token, "Birds")
    assert status == 422
    assert "'Honest Wolves'" in words
    assert joined(desk.house, token, "") == (201, "Honest Wolves")


def test_an_invitation_without_a_note_wants_a_name_and_one_that_nobody_has(desk: Desk):
    desk.team("Birds")
    token = desk.house.link("team").rpartition("/")[2]
    assert joined(desk.house, token, "")[0] == 422
    assert joined(desk.house, token, "BIRDS")[0] == 422
    assert joined(desk.house, token, "Cats") == (201, "Cats")


@pytest.mark.parametrize("name", ["Two  Birds", "Two\tBirds", "Two\u00a0Birds", " Two Birds\n"])
def test_a_name_with_odd_spaces_is_cleaned_and_its_team_submits(desk: Desk, name: str):
    token = desk.house.link("team").rpartition("/")[2]
    answer = desk.house.visitor().post(f"/api/join/{token}", json={"name": name}).json()
    assert answer["name"] == "Two Birds"
    assert begin(desk, answer["token"], name) == (201, "Two Birds")


@pytest.mark.parametrize("role", ["team", "annotator"])
def test_a_name_with_an_invisible_character_is_refused_in_a_sentence(desk: Desk, role: str):
    link = desk.house.link(role)  # pyright: ignore[reportArgumentType]
    status, words = joined(desk.house, link.rpartition("/")[2], "Bir\u200bds")
    assert (status, "U+200B" in words) == (422, True)
    assert "U+200B" in come_in(desk.house.visitor(), link, "Bir\u200bds").text
    assert not people(desk.ledger)


def test_an_account_that_has_no_name_submits_under_none(desk: Desk):
    team = desk.team("Birds")
    with desk.ledger.writing() as connection:
        connection.execute(table.update().where(table.c.id == team.id).values(name=""))
    script = team.script
    token = script.headers["authorization"].removeprefix("Bearer ")
    for name in ("Birds", "Cats"):
        status, words = begin(desk, token, name)
        assert (status, "has no name" in words) == (409, True)


def test_an_account_whose_name_was_kept_with_odd_spaces_submits(desk: Desk):
    team = desk.team("Birds")
    with desk.ledger.writing() as connection:
        connection.execute(table.update().where(table.c.id == team.id).values(name="Two\u00a0 Birds"))
    assert begin(desk, team.script.headers["authorization"].removeprefix("Bearer "), "two birds") == (201, "Two Birds")


def test_a_link_with_a_name_shows_it_and_takes_no_other(desk: Desk):
    link = f"/join/{invite(desk.ledger, Invite(role='team', note='Birds')).token}"
    visitor = desk.house.visitor()
    assert 'value="Birds" readonly' in visitor.get(link).text
    assert come_in(visitor, link, "Cats").status_code == 422
    assert come_in(visitor, link, "Birds").status_code == 303
    (person,) = people(desk.ledger)
    assert find_person(desk.ledger, person.id) == person
    assert person.name == "Birds"


def test_the_owner_is_told_that_a_name_is_taken_and_nothing_is_decided(desk: Desk):
    desk.team("Birds")
    owner = desk.house.signed_in("owner")
    sent = desk.house.visitor().post("/api/submit/request", json={"name": "birds", "about": "We too."}).json()
    script = {"X-CSRF-Token": own_token(owner)}
    path = f"/api/access-requests/{sent['request']}"
    refused = owner.post(path, json={"accepted": True}, headers=script)
    assert (refused.status_code, "Another team" in refused.json()["error"]) == (409, True)
    declined = owner.post(path, json={"accepted": False, "reason": "Choose another name."}, headers=script)
    assert declined.status_code == 204


def test_an_invitation_of_a_team_cannot_be_made_for_a_name_that_cannot_be_read(desk: Desk, ledger: Ledger):
    owner = desk.house.signed_in("owner")
    script = {"X-CSRF-Token": own_token(owner)}
    for note in ("Bir\u200bds", "x" * 101):
        made = owner.post("/api/invitations", json={"role": "team", "note": note}, headers=script)
        assert made.status_code == 422
