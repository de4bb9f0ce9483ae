"""Claims about the way in for scripts: asked, answered and let in without a page, refused the same as on the pages."""

from collections.abc import Iterator

import httpx2 as httpx
import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.requests import decide, requests_on_record
from evenhand.site.accounts.store import access_keys
from tests.site.desk import Desk, opened
from tests.site.house import House, served

LETTER = {"name": " Birds  of prey", "about": "We make parrots."}


@pytest.fixture
def desk(house: House) -> Desk:
    return opened(house)


def ask(house: House, **fields: str) -> httpx.Response:
    return house.visitor().post("/api/submit/request", json={**LETTER, **fields})


def test_a_script_asks_learns_the_answer_and_comes_in(desk: Desk):
    house = desk.house
    sent = ask(house)
    assert sent.status_code == 201
    document = sent.json()
    token = document["token"]
    assert document["link"] == f"{house.site.url}/submit/request/{token}"
    asked = f"/api/submit/request/{token}"
    waiting = house.visitor().get(asked).json()
    assert (waiting["state"], waiting["name"], waiting["lets_in"]) == ("waiting", "Birds of prey", False)
    assert house.visitor().post(f"/api/join/{token}", json={"name": "Birds"}).status_code == 404
    decide(desk.ledger, document["request"], accepted=True, by="owner")
    accepted = house.visitor().get(asked).json()
    assert (accepted["state"], accepted["lets_in"]) == ("accepted", True)
    joined = house.visitor().post(f"/api/join/{token}", json={"name": "birds  of prey"})
    assert (joined.status_code, joined.json()["role"], joined.json()["name"]) == (201, "team", "Birds of prey")
    script = house.visitor(Authorization=f"Bearer {joined.json()['token']}")
    assert script.get("/api/submissions").json()["submissions"] == []
    (key,) = access_keys(desk.ledger, joined.json()["person"])
    assert (key.kind, key.id) == ("token", joined.json()["key"])
    assert house.visitor().get(asked).json()["lets_in"] is False
    again = house.visitor().post(f"/api/join/{token}", json={"name": "Birds"})
    assert again.status_code == 410
    for what in ("asked to be let in", "joined", "refused: invitation used up"):
        assert what in house.logged()


def test_who_is_declined_reads_the_reason(desk: Desk):
    sent = ask(desk.house).json()
    decide(desk.ledger, sent["request"], accepted=False, by="owner", reason="Not now.")
    told = desk.house.visitor().get(f"/api/submit/request/{sent['token']}").json()
    assert (told["state"], told["reason"], told["lets_in"]) == ("declined", "Not now.", False)


@pytest.mark.parametrize(
    "fields", [{"name": " "}, {"about": " "}, {"name": "x" * 101}, {"about": "x" * 2001}, {"name": "Bi\u202erds"}]
)
def test_a_letter_that_says_nothing_or_too_much_is_refused(desk: Desk, fields: dict[str, str]):
    assert ask(desk.house, **fields).status_code == 422
    assert list(requests_on_record(desk.ledger)) == []


def test_unknown_links_are_refused_and_logged(desk: Desk):
    visitor = desk.house.visitor()
    assert visitor.get("/api/submit/request/nonsense").status_code == 404
    assert visitor.post("/api/join/nonsense", json={"name": "x"}).status_code == 404
    assert {"refused: request link", "refused: invitation unknown"} <= set(desk.house.logged())


def test_another_sites_page_cannot_ask_in_somebodys_name(desk: Desk):
    visitor = desk.house.visitor(Origin="https://elsewhere.example")
    assert visitor.post("/api/submit/request", json=LETTER).status_code == 403
    assert visitor.post("/api/join/nonsense", json={"name": "x"}).status_code == 403
    plain = desk.house.visitor()
    body = b'{"name": "Birds", "about": "x"}'
    assert plain.post("/api/submit/request", content=body, headers={"Content-Type": "text/plain"}).status_code == 422
    assert list(requests_on_record(desk.ledger)) == []


@pytest.fixture
def unasked(ledger: Ledger) -> Iterator[House]:
    with served(ledger) as house:
        yield house


def test_letters_are_counted_with_those_of_the_page(unasked: House):
    statuses = [ask(unasked).status_code for _ in range(11)]
    assert statuses == [201] * 10 + [429]
    page = unasked.visitor()
    token = page.get("/submit/request").text.partition('name="csrf" value="')[2].partition('"')[0]
    assert page.post("/submit/request", data={"csrf": token, **LETTER}).status_code == 429
    assert unasked.logged().count("refused: too many letters") == 1
