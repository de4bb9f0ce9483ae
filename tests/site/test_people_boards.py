"""Claims about people's boards: who sees them and when, what counts on them, and what they say of the people."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape

import httpx2 as httpx
import pytest

from evenhand.domain.response import Response
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import people
from evenhand.site.people.studies import progress
from tests.refusals import tells
from tests.site.house import MODELS, House, fill, fill_with_lengths, form_token, own_token, refusal_of, served
from tests.site.test_compare import Stocked, choose, filled, start


@pytest.fixture
def stocked(ledger: Ledger) -> Iterator[Stocked]:
    data = fill(ledger)
    with served(ledger) as house:
        yield Stocked(house=house, data=data)


def judged(stocked: Stocked, owner: httpx.Client, *, person: str, choice: str = "A", **fields: str | list[str]) -> str:
    """A study of one person's, all judged."""
    study = stocked.study(owner, people="1", each="1", **fields)
    annotator = stocked.house.signed_in("annotator", person)
    place = start(annotator, study)
    (mine,) = progress(stocked.ledger, study)
    for number in range(1, mine.tasks + 1):
        assert choose(annotator, place, number, choice).status_code == 303
    return study


def setting(owner: httpx.Client, study: str, what: str) -> None:
    changed = owner.post(f"/admin/studies/{study}/settings", data={"csrf": own_token(owner), "what": what})
    assert changed.status_code == 303, changed.text


def human_boards(visitor: httpx.Client) -> list[str]:
    return [one["board"] for one in visitor.get("/api/boards").json()["boards"] if one["judge"] == "people"]


def test_nobody_but_the_owner_reads_a_board_while_people_judge(stocked: Stocked):
    house, owner = stocked.house, stocked.house.signed_in("owner")
    visitors = (house.visitor(), house.signed_in("annotator", "Eve"), house.signed_in("team", "Cats"))
    study = judged(stocked, owner, person="Ada")
    (board,) = human_boards(owner)
    item = items_of(stocked.ledger, stocked.data)[0].label
    battle = {"item": item, "a": "amber", "b": MODELS[1]}
    paths = (
        "", "/board.csv", "/board.json", "/model?name=amber", f"?study={study}",
        "/battle?" + str(httpx.QueryParams(battle)),
    )  # fmt: skip
    asked = [f"/boards/{board}{path}" for path in paths]
    asked += [f"/api/boards/{board}", f"/api/boards/{board}/battles?model=amber"]
    for visitor in visitors:
        assert human_boards(visitor) == []
        assert "Judged by 1 person" not in visitor.get("/").text
        for path in asked:
            assert refusal_of(visitor.get(path)) == (404, "EH-BOARD-WITHHELD"), path
    assert {owner.get(path).status_code for path in asked} == {200}
    assert "Only you see this" in owner.get(f"/boards/{board}").text
    setting(owner, study, "close")
    for visitor in visitors:
        assert human_boards(visitor) == [board]
        assert {visitor.get(path).status_code for path in asked if "battle?" not in path} == {200}
    assert "Only you see this" not in owner.get(f"/boards/{board}").text


def test_a_board_can_be_shown_while_its_study_runs_and_hidden_again(stocked: Stocked):
    owner, visitor = stocked.house.signed_in("owner"), stocked.house.visitor()
    study = judged(stocked, owner, person="Ada")
    assert "Only you, until you close the study" in owner.get(f"/admin/studies/{study}").text
    for what, seen in (("show", 1), ("hide", 0), ("close", 1), ("reopen", 0)):
        setting(owner, study, what)
        assert len(human_boards(visitor)) == seen, what
    assert stocked.house.logged()[:2] == ["opened a study again", "closed a study"]


def test_others_see_a_shared_board_without_the_study_that_still_runs(stocked: Stocked):
    open_benchmark(stocked.ledger, stocked.data, by=None)  # else so few items are not shown to others
    owner, visitor = stocked.house.signed_in("owner"), stocked.house.visitor()
    first = judged(stocked, owner, person="Ada", title="First", comparisons="4")
    second = judged(stocked, owner, person="Grace", title="Second", comparisons="6")
    setting(owner, first, "close")
    (board,) = human_boards(visitor)
    assert visitor.get(f"/api/boards/{board}").json()["votes"] == 4
    assert owner.get(f"/api/boards/{board}").json()["votes"] == 10
    assert visitor.get(f"/boards/{board}?study={second}").status_code == 404
    assert "Second" not in visitor.get(f"/boards/{board}").text


def test_each_study_has_a_board_of_its_own_and_a_pilot_can_be_left_out(stocked: Stocked):
    open_benchmark(stocked.ledger, stocked.data, by=None)  # else so few items are not shown to others
    owner, visitor = stocked.house.signed_in("owner"), stocked.house.visitor()
    pilot = judged(stocked, owner, person="Ada", title="Pilot", comparisons="4")
    main = judged(stocked, owner, person="Grace", title="Main", comparisons="6", choice="B")
    for study in (pilot, main):
        setting(owner, study, "close")
    (board,) = human_boards(visitor)
    link = re.search(r'href="(/boards/[^"]+)">See the board', owner.get(f"/admin/studies/{pilot}").text)
    assert link
    assert unescape(link[1]) == f"/boards/{board}?study={pilot}"
    votes = {
        study: visitor.get(f"/api/boards/{board}", params={"study": study}).json()["votes"] for study in (pilot, main)
    }
    assert votes == {pilot: 4, main: 6}
    page = visitor.get(unescape(link[1])).text
    assert "The study <strong>Pilot</strong> alone" in page
    assert f'<option value="{main}">Main' in page
    inside = re.search(rf'href="(/boards/{board}/model\?name=[^"]*)"', page)
    assert inside
    assert inside[1].endswith(f"&amp;study={pilot}")
    setting(owner, pilot, "leave out")
    assert visitor.get(f"/api/boards/{board}").json()["votes"] == 6
    assert visitor.get(f"/api/boards/{board}", params={"study": pilot}).json()["votes"] == 4
    setting(owner, main, "leave out")
    assert human_boards(visitor) == []
    assert visitor.get(f"/boards/{board}").status_code == 404
    assert visitor.get(f"/boards/{board}?study={main}").status_code == 200
    setting(owner, main, "count")
    assert human_boards(visitor) == [board]
    # Another judge's board has no such study, and the form leaves it out.
    other = next(one["board"] for one in visitor.get("/api/boards").json()["boards"] if one["judge"] != "people")
    chosen = visitor.get("/boards", params={"board": other, "study": pilot, "method": "elo"})
    assert chosen.headers["location"] == f"/boards/{other}?method=elo"


def test_a_peoples_board_tells_of_the_people(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner, people="2", each="2")
    for name in ("Ada", "Grace"):
        annotator = stocked.house.signed_in("annotator", name)
        place = start(annotator, study)
        for number in range(1, 19):
            choose(annotator, place, number, "A")
    (board,) = human_boards(owner)
    page = unescape(owner.get(f"/boards/{board}").text)
    assert "How far do these people agree?" in page
    assert "Krippendorff's alpha" in page
    # Both always chose the answer shown first, and each saw every comparison the other way round.
    leaning = page.partition("Chose the answer shown first")[2]
    assert re.search(r"<dd>100 %", leaning), leaning[:200]
    assert "Sides are random for every person" in page
    agreeing = page.partition("On the side of the others' mean")[2]
    assert re.search(r"<dd>0(\.0)? %", agreeing), agreeing[:200]
    assert "seen in both orders" not in page
    setting(owner, study, "close")
    assert 'class="badge">closed' in owner.get(f"/admin/studies/{study}").text


def test_only_categories_that_somebody_judged_are_offered_and_others_are_nowhere(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    judged(stocked, owner, person="Ada", category="even")
    (board,) = human_boards(owner)
    page = owner.get(f"/boards/{board}").text
    assert "<option>even</option>" in page
    assert "<option>odd</option>" not in page
    for category in ("odd", "none"):
        for path in (
            f"/boards/{board}",
            f"/boards/{board}/board.csv",
            f"/boards/{board}/board.json",
            f"/api/boards/{board}",
        ):
            refused = owner.get(path, params={"category": category})
            assert refused.status_code == 404, path
            assert "no such category" in refused.text
    assert owner.get(f"/api/boards/{board}", params={"category": "even"}).json()["items"] == 3


def test_documents_are_at_equal_length_where_that_is_asked_for(ledger: Ledger):
    fill_with_lengths(ledger)
    with served(ledger) as house:
        at_equal_length(house.visitor())


def at_equal_length(visitor: httpx.Client) -> None:
    (board,) = [one["board"] for one in visitor.get("/api/boards").json()["boards"]]
    plain = visitor.get(f"/api/boards/{board}").json()
    asked = {"equal_length": "true"}
    document = visitor.get(f"/api/boards/{board}", params=asked).json()
    assert document == visitor.get(f"/boards/{board}/board.json", params=asked).json()
    assert document["equal_length"] is True
    ratings = {one["model"]: one["rating"] for one in document["models"]}
    assert ratings != {one["model"]: one["rating"] for one in plain["models"]}
    table = csv.DictReader(io.StringIO(visitor.get(f"/boards/{board}/board.csv", params=asked).text))
    assert [float(row["rating"]) for row in table] == [one["rating"] for one in document["models"]]


def test_updated_is_of_the_board_and_not_of_the_whole_record(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    judged(stocked, owner, person="Ada", comparisons="1")
    others = next(one["board"] for one in owner.get("/api/boards").json()["boards"] if one["judge"] != "people")
    # The model's verdicts of this house are of November 2023.
    assert 'Updated <time datetime="2023-11-14T22:14:31Z">' in owner.get(f"/boards/{others}").text
    (board,) = human_boards(owner)
    assert "Updated <time" in owner.get(f"/boards/{board}").text
    assert "2023-11-14" not in owner.get(f"/boards/{board}").text


def test_the_usual_study_can_be_held_against_what_a_model_judged(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    page = owner.get(f"/admin/studies/new?data={stocked.data}").text
    # Models met each other here, so people do: 3 models, 6 items; a fifth, 3.6, of 18 for both and the rest for one.
    assert 'name="pairs" value="all" checked' in page
    assert 'name="form" value="forced" checked' in page
    assert "<b>18 comparisons</b>, asked 22 times in all: <b>11</b> for each of 2 people" in page
    assert "A model has judged all of them" in page


def test_a_study_is_counted_before_it_is_made(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    fields = {"form": "five-level", "title": "Kept", "pairs": "all", "models": ["amber", MODELS[1]], "people": "3",
              "each": "2", "overlap": "0", "seed": "5", "items": "4", "data": stocked.data, "go": "count"}  # fmt: skip
    token = form_token(owner.get(f"/admin/studies/new?data={stocked.data}"))
    page = owner.post("/admin/studies", data={"csrf": token, **fields})
    assert page.status_code == 200
    tells(page.text, "<b>4 comparisons</b>", "8 times", "<b>2 to 3</b>", "3 people")
    assert 'value="Kept"' in page.text
    assert 'name="form" value="five-level" checked' in page.text
    assert owner.get("/api/studies").json()["studies"] == []


def test_the_owner_frees_the_rest_of_a_place(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner, people="1", each="1")
    ada, grace = stocked.house.signed_in("annotator", "Ada"), stocked.house.signed_in("annotator", "Grace")
    place = start(ada, study)
    choose(ada, place, 7, "A")
    (who,) = [one.id for one in people(stocked.ledger) if (one.name, one.role) == ("Ada", "annotator")]
    page = owner.get(f"/admin/studies/{study}")
    assert "Free the rest" in page.text
    sent = {"csrf": form_token(page), "person": who}
    number = place.removeprefix("/compare/")
    assert owner.post(f"/admin/studies/{study}/places/none/free", data=sent).status_code == 404
    freed = owner.post(f"/admin/studies/{study}/places/{number}/free", data=sent)
    assert freed.status_code == 303
    assert "0 of 17" in grace.get(start(grace, study)).text
    assert "The comparison is answered" in ada.get(place).text
    assert owner.post(f"/admin/studies/{study}/places/{number}/free", data=sent).status_code == 409
    assert stocked.house.logged().count("freed a place in a study") == 1


def test_replaced_answers_are_told_to_the_owner_and_can_be_renewed(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = judged(stocked, owner, person="Ada")
    assert "was replaced since" not in owner.get(f"/admin/studies/{study}").text
    item = items_of(stocked.ledger, stocked.data)[0]
    stocked.ledger.add_responses([Response(item=item.digest, model="amber", text="present")], replace=True)
    page = owner.get(f"/admin/studies/{study}")
    assert "2 tasks of this study show an answer that was replaced since, 2 of them judged already" in page.text
    assert owner.post(f"/admin/studies/{study}/renew", data={"csrf": form_token(page)}).status_code == 303
    after = owner.get(f"/admin/studies/{study}").text
    assert "was replaced since" not in after
    assert "16 of 18" in after


def test_a_finished_study_says_so(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = judged(stocked, owner, person="Ada", comparisons="2")
    assert '<span class="badge good">finished</span>' in owner.get(f"/admin/studies/{study}").text
    assert '<span class="badge good">finished</span>' in owner.get("/admin/studies").text


def test_a_window_that_comes_too_late_is_shown_what_stands(stocked: Stocked):
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(stocked.house.signed_in("owner"), form="five-level"))
    sent = filled(person.get(f"{place}/1"), "")
    assert person.post(f"{place}/1", data={**sent, "choice": "Left>Right"}).status_code == 303
    late = person.post(f"{place}/1", data={**sent, "choice": "Left<Right"})
    assert refusal_of(late, "Left>Right") == (409, "EH-CONFLICT")
    assert 'value="Left&gt;Right" checked' in late.text
    assert 'name="after" value="1"' in late.text
    address = f"/api{place.replace('/compare/', '/comparisons/')}/1"
    token = {"X-CSRF-Token": sent["csrf"]}
    chosen = {"choice": "Left<Right", "showing": sent["showing"], "after": 0}
    refused = person.put(address, json=chosen, headers=token)
    assert refused.status_code == 409
    assert (refused.json()["choice"], refused.json()["times"]) == ("Left>Right", 1)
    assert len(stocked.said()) == 1


def test_settings_of_a_study_are_changed_by_script_too(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = judged(stocked, owner, person="Ada", comparisons="2")
    token = {"X-CSRF-Token": own_token(owner)}
    assert owner.put(f"/api/studies/{study}", json={"closed": True, "counts": False}, headers=token).status_code == 204
    found = owner.get(f"/api/studies/{study}").json()
    assert (found["closed"], found["counts"], found["shown"], found["paused"]) == (True, False, False, False)
    assert human_boards(owner) == []


def test_a_wrong_study_over_the_api_is_told_in_one_plain_sentence(house: House):
    owner = house.signed_in("owner")
    token = {"X-CSRF-Token": own_token(owner)}
    asked = {"data": "ab", "form": "forced", "pairs": "against"}
    refused = owner.post("/api/studies", json=asked, headers=token)
    assert refusal_of(refused, "model") == (422, "EH-INVALID")
