"""Claims about what the owner finds on the admin page: what waits, what happened, and what everybody may see."""

import re
from html import unescape

from evenhand.domain.submission import Stopped
from evenhand.ledger.read.public_benchmarks import opened_benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import tell
from evenhand.site.accounts.requests import ask_to_join
from evenhand.site.accounts.store import people
from evenhand.site.http.audit_log import LogEvent, write_down
from tests.site.desk import opened, words_of
from tests.site.garden import planted
from tests.site.house import SCRIPT, SECRETS, House, fill, form_token, served
from tests.site.test_compare import Stocked
from tests.site.test_growing import ready_to_verify
from tests.site.test_people_boards import judged, setting


def waits(page: str) -> list[str]:
    """The counts beside the links of the admin page."""
    return re.findall(r'<span class="badge due">([^<]*)</span>', page)


def told(page: str) -> dict[str, str]:
    """What the lines of a log are about, by what happened; links as [words](address)."""
    found: list[tuple[str, str]] = re.findall(
        r'class="happened">([^<]*)(?:<span class="small">(.*?)</span>)?</td>', page
    )
    return {what: unescape(re.sub(r'<a href="([^"]*)">(.*?)</a>', r"[\2](\1)", about)) for what, about in found}


def test_where_nothing_waits_nothing_is_counted(house: House):
    assert waits(house.signed_in("owner").get("/admin").text) == []


def test_requests_and_submissions_that_wait_are_counted_beside_their_link(house: House):
    desk = opened(house)
    team, owner = desk.team(), house.signed_in("owner", "Olive")
    first, second = team.confirmed(), team.confirmed(version="3")
    for name in ("Cats", "Dogs"):
        ask_to_join(house.ledger, name=name, about="x")
    desk.approve(second)
    tell(house.ledger, second, Stopped(spent=0.9), person=None)
    assert waits(owner.get("/admin").text) == ["2 requests to answer", "1 submission to approve", "1 budget reached"]
    desk.approve(first)
    assert waits(owner.get("/admin").text) == ["2 requests to answer", "1 budget reached"]


async def test_flagged_and_accepted_proposals_are_counted(house: House):
    garden = planted(house)
    ada, ben, eve = (garden.person(name) for name in ("Ada", "Ben", "Eve"))
    owner = garden.person("Olga", "owner")
    flagged = await ready_to_verify(garden, ada, ben)
    eve.verify(flagged, offensive="yes")
    assert waits(owner.client.get("/admin").text) == ["1 flagged proposal to decide on"]
    owner.post(f"/admin/growing/{garden.id}/proposals/{flagged}", word="cleared")
    assert waits(owner.client.get("/admin").text) == ["1 accepted item to join a version"]
    log = told(owner.client.get("/admin/audit").text)
    assert log["decided on a proposal: cleared"] == f"[What is in 1?](/admin/growing/{garden.id}/proposals/{flagged})"
    assert log["wrote an instruction"] == f"[garden](/admin/growing/{garden.id})"


def test_a_study_in_which_all_is_judged_waits_to_be_closed_and_says_what_comes_next(ledger: Ledger):
    data = fill(ledger)
    with served(ledger) as house:
        stocked, owner = Stocked(house=house, data=data), house.signed_in("owner", "Olive")
        finished = judged(stocked, owner, person="Ada", comparisons="2")
        stocked.study(owner)
        assert waits(owner.get("/admin").text) == ["1 study complete but open"]
        page = words_of(owner.get(f"/admin/studies/{finished}").text)
        assert "Everything that was asked is judged. What comes next" in page
        assert "evenhand align --benchmark numbers" in page
        another = judged(stocked, owner, person="Ben", comparisons="2")
        assert waits(owner.get("/admin").text) == ["2 studies complete but open"]
        for study in (finished, another):
            setting(owner, study, "close")
        assert waits(owner.get("/admin").text) == []
        assert "What comes next" not in owner.get(f"/admin/studies/{finished}").text


def test_the_log_names_what_is_still_there_and_leads_to_it(house: House):
    desk = opened(house)
    team, owner = desk.team(), house.signed_in("owner", "Olive")
    submission = team.began(model=f"Parrot {SCRIPT}")
    (birds,) = (one for one in people(house.ledger) if one.name == "Birds")
    token = form_token(owner.get("/admin"))
    owner.post(f"/admin/benchmarks/{desk.data}", data={"csrf": token, "what": "open", "sure": "yes"})
    owner.post(f"/admin/people/{birds.id}/link", data={"csrf": token})
    write_down(
        house.ledger,
        LogEvent(what="accepted a request", detail=ask_to_join(house.ledger, name="Cats", about="x").id),
        LogEvent(what="opened a board for submissions", detail=desk.intake),
        LogEvent(what="freed a place in a study", detail=f"0123456789ab, 4 tasks of {birds.label}"),
        LogEvent(what="refused: origin", detail="https://evil.example"),
    )
    page = owner.get("/admin/audit").text
    assert SCRIPT not in page
    log = told(page)
    assert log["began a submission"] == f"[Parrot {SCRIPT} 2 (Birds)](/admin/submissions/{submission})"
    assert log["opened a benchmark"] == f"[numbers](/admin#benchmark-{desk.data})"
    assert log["made a link to come back"] == f"[Birds](/admin#person-{birds.id})"
    assert log["accepted a request"] == "[Cats](/admin/submissions)"
    assert log["opened a board for submissions"] == f"[numbers](/admin/submissions/intakes/{desk.intake})"
    assert log["freed a place in a study"] == f"0123456789ab, 4 tasks of [Birds](/admin#person-{birds.id})"
    assert log["refused: origin"] == "https://evil.example"
    overview = owner.get("/admin").text
    for place in (f'id="person-{birds.id}"', f'id="benchmark-{desk.data}"'):
        assert place in overview


def test_the_log_names_a_study(ledger: Ledger):
    data = fill(ledger)
    with served(ledger) as house:
        owner = house.signed_in("owner")
        study = Stocked(house=house, data=data).study(owner)
        assert told(owner.get("/admin").text)["made a study"] == f"[Which follows?](/admin/studies/{study})"


def test_one_click_gives_nothing_withheld_away(house: House):
    data = fill(house.ledger)
    owner = house.signed_in("owner")
    page = owner.get("/admin")
    assert "Show withheld parts to everybody…" in page.text
    assert f'action="/admin/benchmarks/{data}"' not in page.text
    asked = owner.get(f"/admin/benchmarks/{data}/open")
    assert "captions, references" in asked.text
    assert 'name="sure" value="yes" required' in asked.text
    fields = {"csrf": form_token(page), "what": "open"}
    refused = owner.post(f"/admin/benchmarks/{data}", data=fields)
    assert refused.status_code == 422
    assert "tick the box" in refused.text
    assert opened_benchmarks(house.ledger) == set()
    assert owner.post(f"/admin/benchmarks/{data}", data={**fields, "sure": "yes"}).status_code == 303
    assert opened_benchmarks(house.ledger) == {data}
    assert "Withhold again" in owner.get("/admin").text
    assert owner.post(f"/admin/benchmarks/{data}", data={**fields, "what": "close"}).status_code == 303
    assert opened_benchmarks(house.ledger) == set()


def test_of_a_sample_nothing_can_be_opened_as_nothing_is_withheld(house: House):
    data = fill(house.ledger, sample=True)
    owner = house.signed_in("owner")
    page = owner.get("/admin")
    assert "a sample: nothing withheld" in page.text
    assert "Show withheld parts" not in page.text
    assert owner.get(f"/admin/benchmarks/{data}/open").status_code == 409
    fields = {"csrf": form_token(page), "what": "open", "sure": "yes"}
    assert owner.post(f"/admin/benchmarks/{data}", data=fields).status_code == 409
    assert owner.get("/admin/benchmarks/none/open").status_code == 404
    token = {"X-CSRF-Token": form_token(page)}
    for path, status in ((data, 409), ("none", 404)):
        assert owner.put(f"/api/benchmarks/{path}", json={"open": True}, headers=token).status_code == status


def test_teams_are_told_whether_anything_is_withheld(house: House):
    desk = opened(house)
    owner, visitor = house.signed_in("owner"), house.visitor()
    assert "What it is judged against stays withheld." in visitor.get("/submit").text
    assert '<li class="no">Captions, references' in visitor.get(f"/submit/{desk.intake}").text
    fields = {"csrf": form_token(owner.get("/admin")), "what": "open", "sure": "yes"}
    assert owner.post(f"/admin/benchmarks/{desk.data}", data=fields).status_code == 303
    page = visitor.get("/submit").text
    assert "stays withheld" not in page
    assert "nothing is withheld" in page
    board = visitor.get(f"/submit/{desk.intake}").text
    assert '<li class="no">' not in board
    assert "nothing of this benchmark is withheld" in board
    assert not any(secret in page + board for secret in SECRETS)
