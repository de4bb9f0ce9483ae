"""Claims about the owner's pages and a person's own account."""

import re
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import update

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import access_keys, people
from evenhand.site.app import ROUTERS
from evenhand.site.http.audit_log import events
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import fresh_owner_of, owner_of
from evenhand.site.http.settings import site_at
from evenhand.site.http.visitor import Visitor
from evenhand.site.living.settings import Example, LivingTerms, NewBenchmark, Skill, begin_growing
from evenhand.site.serving import owner_link, owner_links
from tests.database import held, url_in
from tests.site.house import GENEROUS, House, come_in, fill, form_token, own_token, refusal_of, served, standing_still


def test_a_name_can_be_erased_and_the_person_is_out(house: House):
    owner = house.signed_in("owner", "Ada")
    person = house.signed_in("annotator", "Grace Hopper")
    (_, grace) = people(house.ledger)
    token = form_token(owner.get("/admin"))
    link = owner.post(f"/admin/people/{grace.id}/link", data={"csrf": token})
    assert link.status_code == 201
    assert owner.post(f"/admin/people/{grace.id}/erase", data={"csrf": token, "sure": "yes"}).status_code == 303
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
        assert owner.post(f"/admin/benchmarks/{data}", data={**fields, "what": what, "sure": "yes"}).status_code == 303
    assert house.logged()[:3] == ["closed a benchmark", "opened a benchmark", "invited"]
    (person,) = people(house.ledger)
    assert {one.person for one in events(house.ledger, most=3)} == {person.id}
    assert "closed a benchmark" in owner.get("/admin/audit").text
    assert owner.get("/api/audit").json()["events"][0]["what"] == "closed a benchmark"


@pytest.mark.parametrize("what", ["erase", "sign-out"])
def test_one_click_takes_nobodys_access_away(house: House, what: str):
    owner, person = house.signed_in("owner", "Ada"), house.signed_in("annotator", "Grace")
    (_, grace) = people(house.ledger)
    page = owner.get("/admin").text
    assert f'href="/admin/people/{grace.id}/{what}"' in page
    assert f'action="/admin/people/{grace.id}/{what}"' not in page
    sure = owner.get(f"/admin/people/{grace.id}/{what}")
    assert "Grace" in sure.text
    assert 'name="sure" value="yes" required' in sure.text
    asked = owner.post(f"/admin/people/{grace.id}/{what}", data={"csrf": form_token(sure)})
    assert asked.status_code == 422
    assert "Nothing was done" in asked.text
    assert person.get("/account").status_code == 200
    done = owner.post(f"/admin/people/{grace.id}/{what}", data={"csrf": form_token(sure), "sure": "yes"})
    assert done.status_code == 303
    assert person.get("/account").status_code == 401
    for nobody in ("none", grace.id) if what == "erase" else ("none",):
        assert owner.get(f"/admin/people/{nobody}/{what}").status_code == 404


@pytest.mark.parametrize("what", ["erase", "sign-out"])
def test_the_last_owner_who_can_come_in_stays(house: House, what: str):
    owner = house.signed_in("owner", "Ada")
    (ada,) = people(house.ledger)
    sure = owner.get(f"/admin/people/{ada.id}/{what}")
    assert refusal_of(sure) == (200, "EH-LAST-OWNER")
    assert 'name="sure"' not in sure.text
    sent = {"csrf": form_token(owner.get("/admin")), "sure": "yes"}
    refused = owner.post(f"/admin/people/{ada.id}/{what}", data=sent)
    assert refusal_of(refused) == (409, "EH-LAST-OWNER")
    gone = owner.delete(f"/api/people/{ada.id}/name", headers={"X-CSRF-Token": sent["csrf"]})
    assert gone.status_code == 409
    assert owner.get("/admin").status_code == 200
    second = house.signed_in("owner", "Grace")
    assert owner.post(f"/admin/people/{ada.id}/{what}", data=sent).status_code == 303
    assert owner.get("/admin").status_code == 401
    assert second.get("/admin").status_code == 200


@pytest.mark.parametrize("what", ["erase", "sign-out"])
def test_an_owner_who_is_signed_out_is_an_owner_still(house: House, what: str):
    owner = house.signed_in("owner", "Ada")
    away = house.signed_in("owner", "Grace")
    ada = next(one for one in people(house.ledger) if one.name == "Ada")
    assert away.post("/leave", data={"csrf": form_token(away.get("/account"))}).status_code == 303
    sent = {"csrf": form_token(owner.get("/admin")), "sure": "yes"}
    assert owner.post(f"/admin/people/{ada.id}/{what}", data=sent).status_code == 303
    link = next(link for name, link in owner_links(house.ledger, house.site) if name in ("", "Grace"))
    assert come_in(away, link.removeprefix(house.site.url)).status_code == 303
    assert away.get("/admin").status_code == 200


def test_an_invitation_with_a_mistake_comes_back_as_it_was_filled_in(house: House):
    owner = house.signed_in("owner")
    fields = {"csrf": form_token(owner.get("/admin")), "role": "team", "uses": "0", "days": "30", "note": "Team <A>"}
    page = owner.post("/admin/invitations", data=fields)
    assert refusal_of(page, "People", "1 to 1000") == (422, "EH-INVALID")
    assert 'value="Team &lt;A&gt;"' in page.text
    assert '<option value="team" selected>' in page.text
    assert 'name="days" type="number" min="1" max="365" value="30"' in page.text
    assert "/join/" not in page.text


def test_a_link_says_for_how_many_it_is(house: House):
    owner = house.signed_in("owner")
    fields = {"csrf": form_token(owner.get("/admin")), "role": "annotator", "days": "1", "note": ""}
    many = owner.post("/admin/invitations", data={**fields, "uses": "5"}).text
    assert "Up to 5 people can come in by it, each as a person of their own" in many
    assert 'data-copy="link" hidden' in many
    assert "One person can come in by it" in owner.post("/admin/invitations", data={**fields, "uses": "1"}).text


def test_whoever_came_by_a_link_is_told_that_they_are_in(house: House):
    link = house.link("annotator", uses=2)
    visitor = house.visitor()
    come_in(visitor, link, "Ada")
    again = visitor.get(link)
    assert again.status_code == 200
    assert "You are already in" in again.text
    assert 'href="/compare"' in again.text
    other = house.visitor()
    assert "You are invited" in other.get(link).text
    come_in(other, link, "Grace")
    assert visitor.get(link).status_code == 200  # used up, and they are in all the same
    assert house.visitor().get(link).status_code == 410
    assert "refused: invitation used up" in house.logged()
    assert len(people(house.ledger)) == 2


def test_a_script_with_a_wrong_token_is_told_about_the_token(house: House):
    refused = house.visitor(Authorization="Bearer guess").get("/api/me")
    assert refusal_of(refused, "token") == (401, "EH-SIGN-IN")
    assert "invited" in house.visitor().get("/api/me").json()["error"]


def test_styles_come_however_many_requests_were_refused(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, guesses_per_minute=2, clock=standing_still)) as house:
        visitor = house.visitor()
        style = re.search(r"/static/evenhand\.css[^\"]*", visitor.get("/").text)
        assert style
        for number in range(4):
            visitor.get(f"/join/guess-{number}")
        assert visitor.get("/").status_code == 429
        assert visitor.get(style[0]).status_code == 200


def test_whoever_has_nothing_to_compare_is_led_to_what_waits(house: House):
    person = house.signed_in("annotator")
    assert "/grow" not in person.get("/compare").text.partition("<main")[2]
    terms = LivingTerms(skills=(Skill(name="counting", example=Example(instruction="Count.", output="Three.")),))
    begin_growing(house.ledger, NewBenchmark(name="Birds", licence="CC BY 4.0", base=None, terms=terms), by="owner")
    page = person.get("/compare").text.partition("<main")[2]
    assert 'href="/grow"' in page
    assert "Birds" in page


def signed_in_long_ago(house: House) -> None:
    keys = schema.access_keys
    with house.ledger.writing() as connection:
        connection.execute(update(keys).where(keys.c.kind == "session").values(at=time.time() - 3_700))


DANGEROUS = (
    ("/admin/people/{person}/erase", {"sure": "yes"}),
    ("/admin/people/{person}/sign-out", {"sure": "yes"}),
    ("/admin/people/{person}/link", {}),
    ("/admin/benchmarks/{data}", {"what": "open", "sure": "yes"}),
    ("/account/tokens", {"note": "for a script"}),
    ("/admin/submissions/{person}", {"word": "refuse"}),
    ("/admin/submissions/requests/{person}", {"word": "accept"}),
)


@pytest.mark.parametrize(("path", "fields"), DANGEROUS, ids=[path for path, _ in DANGEROUS])
def test_what_is_dangerous_needs_a_sign_in_within_the_hour(house: House, path: str, fields: dict[str, str]):
    owner = house.signed_in("owner", "Olga")
    house.signed_in("annotator", "Ada")
    person = next(one.id for one in people(house.ledger) if one.name == "Ada")
    path = path.format(person=person, data="0" * 64)
    fields = {**fields, "csrf": form_token(owner.get("/admin"))}
    signed_in_long_ago(house)
    told = ("within the last hour", f"`evenhand serve --only-link --port {urlsplit(house.url).port}`")
    assert refusal_of(owner.post(path, data=fields), *told) == (401, "EH-SIGN-IN-AGAIN")
    assert [one.name for one in people(house.ledger)] == ["Olga", "Ada"]
    assert "made a token" not in house.logged()


def test_every_change_that_only_an_owner_makes_needs_a_fresh_sign_in_or_is_known_to_be_harmless():
    """A new route fails here until somebody has decided. An owner's invitation is told apart within; revoking takes
    nothing that was given; who is left out of a study is counted again by the same form."""
    found: set[str] = set()
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and (changing := (route.methods or set()) - {"GET"}):
                asked = {one.call for one in route.dependant.dependencies}
                if owner_of in asked and fresh_owner_of not in asked:
                    found |= {f"{method} {route.path}" for method in changing}
    assert found == {
        "POST /admin/invitations",
        "POST /admin/invitations/{invitation}/revoke",
        "POST /api/invitations",
        "DELETE /api/invitations/{invitation}",
        *(f"POST /admin/studies{path}" for path in ("", "/{study}/pause", "/{study}/question", "/{study}/renew")),
        *(f"POST /admin/studies/{{study}}/{path}" for path in ("rule", "one", "places", "places/{place}/free")),
        *(f"POST /api/studies{path}" for path in ("", "/count", "/{study}/rule", "/{study}/renew")),
        "PUT /api/studies/{study}/people/{person}",
        "DELETE /api/studies/{study}/people/{person}",
        "PUT /api/studies/{study}/people/{person}/counts",
        *(f"POST /admin/growing{path}" for path in ("", "/{growing}/skills/{number}", "/{growing}/versions")),
        "POST /admin/growing/{growing}/proposals/{proposal}",
        *(f"POST /api/growing{path}" for path in ("", "/{growing}/versions", "/{growing}/proposals/{proposal}")),
        "PUT /api/growing/{growing}/skills/{number}",
        "PUT /api/growing/{growing}/skills/{number}/image",
    }


def test_the_budget_of_a_growing_benchmark_needs_a_fresh_sign_in_by_the_api_too(house: House):
    owner = house.signed_in("owner")
    headers = {"X-CSRF-Token": own_token(owner), "Origin": house.url}
    new = {"name": "grown", "licence": "CC0-1.0", "skills": ["counting"]}
    growing = owner.post("/api/growing", json=new, headers=headers).json()["growing"]
    signed_in_long_ago(house)
    refused = owner.put(f"/api/growing/{growing}", json={"max_cost": 500}, headers=headers)
    assert refusal_of(refused) == (401, "EH-SIGN-IN-AGAIN")
    assert owner.get(f"/api/growing/{growing}").json()["max_cost"] is None


def test_an_owner_is_invited_only_after_a_fresh_sign_in_and_others_at_any_time(house: House):
    owner = house.signed_in("owner")
    fields = {"csrf": form_token(owner.get("/admin")), "days": "1", "uses": "1", "note": ""}
    signed_in_long_ago(house)
    refused = owner.post("/admin/invitations", data={**fields, "role": "owner"})
    assert "within the last hour" in refused.text
    assert "/join/" not in refused.text
    assert "/join/" in owner.post("/admin/invitations", data={**fields, "role": "annotator"}).text
    headers = {"X-CSRF-Token": fields["csrf"], "Origin": house.url}
    asked = {"role": "owner", "note": "", "uses": 1, "days": 1}
    assert refusal_of(owner.post("/api/invitations", json=asked, headers=headers))[1] == "EH-SIGN-IN-AGAIN"


def test_a_scripts_token_is_no_session_that_grows_old(house: House):
    owner = house.signed_in("owner")
    made = owner.post("/account/tokens", data={"csrf": form_token(owner.get("/account")), "note": "n"}).text
    token = re.search(r"[\w-]{43}", re.sub(r'name="csrf" value="[^"]*"', "", made))
    assert token is not None
    with house.ledger.writing() as connection:
        connection.execute(update(schema.access_keys).values(at=time.time() - 3_700))
    script = house.visitor(authorization=f"Bearer {token.group()}")
    asked = {"role": "owner", "note": "", "uses": 1, "days": 1}
    assert script.post("/api/invitations", json=asked).status_code == 201


def test_whoever_opens_a_link_of_their_own_again_has_just_signed_in_and_one_session(house: House):
    owner = house.signed_in("owner")
    (olga,) = people(house.ledger)
    signed_in_long_ago(house)
    link = urlsplit(owner_link(house.ledger, house.site)).path
    assert "Welcome back" in owner.get(link).text
    assert come_in(owner, link, "").status_code == 303
    assert len(access_keys(house.ledger, olga.id)) == 1
    made = owner.post("/account/tokens", data={"csrf": form_token(owner.get("/account")), "note": "n"})
    assert made.status_code == 201


def test_a_session_that_is_old_makes_no_token_by_the_api_either(house: House):
    owner = house.signed_in("owner")
    headers = {"X-CSRF-Token": own_token(owner), "Origin": house.url}
    signed_in_long_ago(house)
    refused = owner.post("/api/tokens", json={"note": "n"}, headers=headers)
    assert refusal_of(refused) == (401, "EH-SIGN-IN-AGAIN")


def test_behind_a_proxy_the_sentence_names_what_prints_a_link_to_the_public_address():
    site = site_at("127.0.0.1", 8300, public_url="https://board.example.org")
    with pytest.raises(Refusal) as refused:
        Visitor(address="", since=time.time() - 3_700).must_have_just_signed_in(site)
    assert "`evenhand serve --only-link --public-url https://board.example.org`" in str(refused.value)


def test_each_of_several_owners_has_a_link_of_their_own(house: House):
    house.signed_in("owner", "Olga")
    otto = house.signed_in("owner", "Otto")
    signed_in_long_ago(house)
    links = dict(owner_links(house.ledger, house.site))
    assert set(links) == {"Olga", "Otto"}
    assert come_in(otto, urlsplit(links["Otto"]).path, "").status_code == 303
    assert otto.get("/api/me").json()["name"] == "Otto"


def test_a_page_is_shown_though_the_use_of_its_session_cannot_be_noted(tmp_path: Path):
    with closing(Ledger(url_in(tmp_path), wait_seconds=1)) as ledger, served(ledger) as house:
        visitor = house.signed_in("annotator")
        with ledger.writing() as connection:
            connection.execute(update(schema.access_keys).values(expires=time.time() + 3_600))
        with held(ledger.url):
            assert visitor.get("/account").status_code == 200
