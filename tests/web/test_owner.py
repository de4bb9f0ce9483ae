"""Claims about the owner's pages and a person's own account."""

import re

import pytest

from evenhand.ledger.audit_log import events
from evenhand.ledger.people import people
from tests.web.house import House, come_in, fill, form_token


def test_a_name_can_be_erased_and_the_person_is_out(house: House):
    owner = house.signed_in("owner", "Ada")
    person = house.signed_in("annotator", "Grace Hopper")
    (_, grace) = people(house.ledger)
    token = form_token(owner.get("/admin"))
    link = owner.post(f"/admin/people/{grace.id}/link", data={"csrf": token})
    assert link.status_code == 201
    assert owner.post(f"/admin/people/{grace.id}/erase", data={"csrf": token}).status_code == 303
    assert person.get("/account").status_code == 401
    found = re.search(r"/join/[\w-]+", link.text)
    assert found
    assert person.get(found[0]).status_code == 410  # nor do they come back by a link made before
    assert owner.post(f"/admin/people/{grace.id}/link", data={"csrf": token}).status_code == 404
    assert "Grace" not in owner.get("/admin").text
    assert "Grace" not in owner.get("/admin/audit").text
    (_, erased) = people(house.ledger)
    assert (erased.name, erased.erased, erased.rater) == ("", True, grace.rater)


def test_a_person_who_lost_their_session_comes_back_as_the_same(house: House):
    owner = house.signed_in("owner")
    house.signed_in("annotator", "Grace")
    (_, grace) = people(house.ledger)
    page = owner.post(f"/admin/people/{grace.id}/link", data={"csrf": form_token(owner.get("/admin"))})
    found = re.search(r"/join/[\w-]+", page.text)
    assert found
    elsewhere = house.visitor()
    assert come_in(elsewhere, found[0], "").status_code == 303
    assert elsewhere.get("/api/me").json()["person"] == grace.id
    assert len(people(house.ledger)) == 2


def test_nobody_ends_another_persons_token(house: House):
    ada, eve = house.signed_in("annotator", "Ada"), house.signed_in("annotator", "Eve")
    token = form_token(ada.get("/account"))
    ada.post("/account/tokens", data={"csrf": token, "note": "mine"})
    key = re.findall(r"/account/keys/(\w+)/end", ada.get("/account").text)[0]
    assert eve.post(f"/account/keys/{key}/end", data={"csrf": form_token(eve.get("/account"))}).status_code == 404
    assert ada.post(f"/account/keys/{key}/end", data={"csrf": token}).status_code == 303


@pytest.mark.parametrize(
    "fields",
    [
        {"uses": "0"},
        {"uses": "9" * 40},
        {"uses": "²"},
        {"days": "-1"},
        {"role": "god"},
        {"note": "x" * 201},
        {"uses": ""},
    ],
)
def test_a_form_filled_in_wrongly_is_told_so(house: House, fields: dict[str, str]):
    owner = house.signed_in("owner")
    right = {"csrf": form_token(owner.get("/admin")), "role": "team", "uses": "1", "days": "1", "note": ""}
    refused = owner.post("/admin/invitations", data={**right, **fields})
    assert refused.status_code == 422
    assert "Traceback" not in refused.text


def test_what_an_owner_does_is_written_down(house: House):
    owner = house.signed_in("owner")
    data = fill(house.ledger)
    fields = {"csrf": form_token(owner.get("/admin")), "role": "team", "uses": "1", "days": "1", "note": "Team <b>"}
    page = owner.post("/admin/invitations", data=fields)
    assert "Team &lt;b&gt;" in page.text
    for what in ("open", "close"):
        assert owner.post(f"/admin/benchmarks/{data}", data={**fields, "what": what}).status_code == 303
    assert house.logged()[:3] == ["closed a benchmark", "opened a benchmark", "invited"]
    (person,) = people(house.ledger)
    assert {one.person for one in events(house.ledger, most=3)} == {person.id}
    assert "closed a benchmark" in owner.get("/admin/audit").text
    assert owner.get("/api/audit").json()["events"][0]["what"] == "closed a benchmark"
