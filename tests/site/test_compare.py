"""Claims about comparing in the browser and by script: blind, in one's own order, and never overwritten."""

import json
import re
from dataclasses import dataclass, replace
from urllib.parse import quote

import httpx2 as httpx
import pytest
from sqlalchemy import select

from evenhand.domain.response import Response
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import people
from evenhand.site.people.studies import find_people_study, people_studies, progress
from tests.site.house import MODELS, SECRETS, House, fill, form_token, numbers, own_token, refusal_of, served

FORCED = {
    "form": "forced", "title": "Which follows?", "category": "", "items": "", "pairs": "all", "against": "",
    "given": "", "comparisons": "", "people": "2", "each": "2", "overlap": "0", "seed": "3",
    "models": ["amber", MODELS[1], MODELS[2]], "go": "make",
}  # fmt: skip


@pytest.fixture
def stocked(ledger: Ledger):
    data = fill(ledger)
    with served(ledger) as house:
        yield Stocked(house=house, data=data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stocked:
    """A house with a benchmark and answers."""

    house: House
    data: str

    @property
    def ledger(self) -> Ledger:
        return self.house.ledger

    def study(self, owner: httpx.Client, **fields: str | list[str]) -> str:
        made = owner.post("/admin/studies", data={"csrf": own_token(owner), "data": self.data, **FORCED, **fields})
        assert made.status_code == 303, made.text
        return made.headers["location"].removeprefix("/admin/studies/")

    def said(self) -> list[tuple[str, str]]:
        """Trial and verdict of every judgement of a person's, in the order of the record."""
        table = schema.judgements
        query = select(table.c.trial, table.c.verdict).where(table.c.reader == "form").order_by(table.c.seq)
        with self.ledger.reading() as connection:
            return [(trial, verdict) for trial, verdict in connection.execute(query)]


def start(person: httpx.Client, study: str) -> str:
    """The address of the person's own share."""
    begun = person.post(f"/compare/studies/{study}", data={"csrf": own_token(person)})
    assert begun.status_code == 303, begun.text
    return begun.headers["location"]


def filled(page: httpx.Response, choice: str, **fields: str) -> dict[str, str]:
    """The form of a comparison's page with a choice made."""
    hidden: list[tuple[str, str]] = re.findall(r'name="(csrf|after|showing)" value="(\w+)"', page.text)
    assert {name for name, _ in hidden} == {"csrf", "after", "showing"}, page.text
    return {**dict(hidden), "choice": choice, "go": "next", **fields}


def choose(person: httpx.Client, place: str, number: int, choice: str, **fields: str) -> httpx.Response:
    return person.post(f"{place}/{number}", data=filled(person.get(f"{place}/{number}"), choice, **fields))


def test_a_study_gives_each_person_what_the_numbers_say(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner, people="3", each="1", overlap="50")
    found = find_people_study(stocked.ledger, study)
    assert found is not None
    assert (found.comparisons, found.places, found.taken) == (18, 3, 0)  # 6 items, 3 pairs
    assert [one.tasks for one in progress(stocked.ledger, study)] == [12, 12, 12]  # 9 for all, 3 of the other 9


def test_two_people_compare_and_their_judgements_make_a_board(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner)
    ada, grace = stocked.house.signed_in("annotator", "Ada"), stocked.house.signed_in("annotator", "Grace")
    for person in (ada, grace):
        place = start(person, study)
        assert "0 of 18 answered" in person.get(place).text
        for number in range(1, 19):
            onward = choose(person, place, number, "A")
            last = place if number == 18 else f"{place}/{number + 1}"
            assert (onward.status_code, onward.headers["location"]) == (303, last)
        assert "All 18 comparisons are answered" in person.get(place).text
    assert len(stocked.said()) == 36
    boards = owner.get("/api/boards").json()["boards"]
    (human,) = [one for one in boards if one["judge"] == "people"]
    assert (human["protocol"], human["trials"]) == ("visit_people", 36)
    ranked = owner.get(f"/api/boards/{human['board']}").json()
    assert {one["model"] for one in ranked["models"]} == set(FORCED["models"])
    page = owner.get(f"/admin/studies/{study}").text
    assert "18 of 18" in page
    assert "Ada" in page


def test_nothing_that_a_person_is_sent_names_a_model(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    everyone = ["amber", MODELS[1], MODELS[2], "reference"]
    study = stocked.study(owner, form="five-level", models=everyone, people="1", each="1", title="Numbers")
    person = stocked.house.signed_in("annotator")
    place = start(person, study)
    with stocked.ledger.reading() as connection:
        answers = list(connection.execute(select(schema.responses)))
        trials = set(connection.execute(select(schema.people_tasks.c.trial)).scalars())
    names = {"amber", "=cmd()", "reference", *(row.digest for row in answers), *trials}
    pages = [person.get(path) for path in ("/compare", place, "/api/comparisons", f"/api{_api(place)}")]
    for number in range(1, 37):
        pages += [person.get(f"{place}/{number}"), person.get(f"/api{_api(place)}/{number}")]
    for page in pages:
        assert page.status_code == 200
        words = str(page.url) + str(page.headers) + _without_answers(page.text)
        assert not [name for name in names if name and name in words], page.url
        # The house's questions and answers hold a script.
        assert page.headers["content-type"] == "application/json" or "<script>alert" not in page.text


def _api(place: str) -> str:
    return place.replace("/compare/", "/comparisons/")


def _without_answers(text: str) -> str:
    """Models of this house sign their answers; what they wrote is theirs."""
    text = re.sub(r"(amber|blue [^ ]*|=cmd\(\)) says", "", text)
    text = re.sub(r"blue &lt;script&gt;.*? says", "", text)
    return re.sub(r"reference-9f1c \d", "", text)


def test_the_form_of_creation_shows_its_criteria_and_never_caption_or_truth(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    person = stocked.house.signed_in("annotator")
    caption, _, truth, criterion = SECRETS
    five = start(person, stocked.study(owner, form="five-level"))
    forced = start(person, stocked.study(owner))
    for place, shown in ((five, True), (forced, False)):
        for page in (person.get(f"{place}/1"), person.get(f"/api{_api(place)}/1")):
            assert (criterion in page.text) is shown
            assert caption not in page.text
            assert truth not in page.text


def test_sides_and_order_are_each_persons_own(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner)
    for name in ("Ada", "Grace"):
        start(stocked.house.signed_in("annotator", name), study)
    tasks = schema.people_tasks
    with stocked.ledger.reading() as connection:
        rows = list(connection.execute(select(tasks).order_by(tasks.c.place, tasks.c.number)))
    shares = [[row for row in rows if row.place == place] for place in sorted({row.place for row in rows})]
    shown = [[(row.item, row.first, row.second) for row in share] for share in shares]
    assert [item for item, _, _ in shown[0]] != [item for item, _, _ in shown[1]]
    # Two people see each comparison, and each a different way round.
    assert {(item, second, first) for item, first, second in shown[0]} == set(shown[1])


def test_changing_ones_mind_adds_a_judgement_and_the_newest_counts(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(owner))
    for choice in ("A", "B", "A", "B"):
        choose(person, place, 1, choice)
    assert [verdict.count("-1") for _, verdict in stocked.said()] == [0, 1, 0, 1]
    assert 'value="B" checked' in person.get(f"{place}/1").text
    assert person.get(f"/api{_api(place)}").json()["choices"][0] == "B"
    assert person.get(f"/api{_api(place)}").json()["judged"] == 1
    board = next(one["board"] for one in owner.get("/api/boards").json()["boards"] if one["judge"] == "people")
    assert owner.get(f"/api/boards/{board}").json()["battles"] == 1


def test_a_form_sent_again_changes_nothing(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(owner))
    first = filled(person.get(f"{place}/1"), "A")
    for _ in range(3):
        assert person.post(f"{place}/1", data=first).status_code == 303
    assert len(stocked.said()) == 1
    choose(person, place, 1, "B")
    person.post(f"{place}/1", data=first)  # the first form once more, after a change of mind
    assert [verdict.count("-1") for _, verdict in stocked.said()] == [0, 1]


def test_going_on_without_a_choice_saves_nothing(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(owner))
    assert choose(person, place, 2, "").headers["location"] == f"{place}/3"
    assert choose(person, place, 2, "", go="previous").headers["location"] == f"{place}/1"
    assert choose(person, place, 1, "B", go="stay").headers["location"] == f"{place}/1"
    assert choose(person, place, 1, "", go="previous").headers["location"] == f"{place}/1"
    assert len(stocked.said()) == 1


def test_one_jumps_to_a_number_and_no_further_than_the_last(stocked: Stocked):
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(stocked.house.signed_in("owner")))
    assert person.get(f"{place}/jump?number=7").headers["location"] == f"{place}/7"
    assert person.get(f"{place}/jump?number=999").headers["location"] == f"{place}/18"
    assert person.get(f"{place}/jump?number=0").status_code == 422


@pytest.mark.parametrize("number", ["0", "19", "x", "-1"])
def test_beyond_the_last_there_is_nothing_to_look_at_or_to_send(stocked: Stocked, number: str):
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(stocked.house.signed_in("owner")))
    page = person.get(f"{place}/1")
    assert person.get(f"{place}/{number}").status_code == 404
    for choice in ("", "A"):
        assert person.post(f"{place}/{number}", data=filled(page, choice)).status_code == 404
    assert stocked.said() == []


def test_a_share_has_ended_when_its_last_comparison_is_answered(stocked: Stocked):
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(stocked.house.signed_in("owner"), comparisons="3"))

    def ended() -> list[dict[str, object]]:
        with stocked.ledger.reading() as connection:
            return [json.loads(one) for one in connection.execute(select(schema.run_ends.c.outcome)).scalars()]

    for number in (3, 1):
        choose(person, place, number, "A")
        choose(person, place, number, "B")
        assert ended() == []
    choose(person, place, 2, "A")
    choose(person, place, 2, "B")
    assert ended() == [{"known": 0, "called": 3, "failed": {}}]


@pytest.mark.parametrize("wrong", [{"choice": "C"}, {"choice": "Left>Right"}, {"after": "-1"}, {"go": "away"}])
def test_a_form_filled_in_wrongly_is_told_so_and_saves_nothing(stocked: Stocked, wrong: dict[str, str]):
    person = stocked.house.signed_in("annotator")
    place = start(person, stocked.study(stocked.house.signed_in("owner")))
    assert choose(person, place, 1, **{"choice": "A", **wrong}).status_code == 422
    assert not stocked.said()


def test_another_persons_task_is_not_there_and_asking_is_written_down(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner)
    ada, eve = stocked.house.signed_in("annotator", "Ada"), stocked.house.signed_in("annotator", "Eve")
    place = start(ada, study)
    start(eve, study)
    token = form_token(eve.get("/account"))
    sent = {**filled(ada.get(f"{place}/1"), "A"), "csrf": token}
    chosen = {"choice": "A", "showing": sent["showing"]}
    asked = [
        eve.get(place), eve.get(f"{place}/1"), eve.get(f"{place}/jump?number=1"), eve.post(f"{place}/1", data=sent),
        eve.get(f"/api{_api(place)}"), eve.get(f"/api{_api(place)}/1"),
        eve.put(f"/api{_api(place)}/1", json=chosen, headers={"X-CSRF-Token": token}),
        owner.get(f"{place}/1"),
    ]  # fmt: skip
    assert {one.status_code for one in asked} == {404}
    assert stocked.house.logged().count("refused: another person's task") == 8
    assert eve.get("/compare/0123456789abcdef/1").status_code == 404
    assert "refused: unknown task" in stocked.house.logged()
    assert ada.get(f"{place}/0").status_code == ada.get(f"{place}/19").status_code == 404
    assert ada.get(f"{place}/x").status_code == ada.get(f"{place}/²").status_code == 404
    assert not stocked.said()


def test_only_those_who_compare_get_in(stocked: Stocked):
    study = stocked.study(stocked.house.signed_in("owner"))
    team = stocked.house.signed_in("team")
    assert team.get("/compare").status_code == 403
    assert team.post(
        f"/compare/studies/{study}", data={"csrf": form_token(team.get("/account"))}
    ).status_code == 403  # fmt: skip
    assert stocked.house.visitor().get("/compare").status_code == 401
    assert [one.person for one in progress(stocked.ledger, study)] == [None, None]


def test_a_paused_study_can_be_looked_at_and_takes_nothing(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner)
    ada, grace = stocked.house.signed_in("annotator", "Ada"), stocked.house.signed_in("annotator", "Grace")
    place = start(ada, study)
    choose(ada, place, 1, "A")
    token = form_token(owner.get(f"/admin/studies/{study}"))
    assert owner.post(f"/admin/studies/{study}/pause", data={"csrf": token, "what": "pause"}).status_code == 303
    refused = choose(ada, place, 1, "B")
    assert refused.status_code == 409
    assert "paused" in refused.text
    assert "paused" in ada.get(f"{place}/1").text
    grace_token = form_token(grace.get("/account"))
    assert grace.post(f"/compare/studies/{study}", data={"csrf": grace_token}).status_code == 409
    assert "Which follows?" not in grace.get("/compare").text
    assert owner.post(f"/admin/studies/{study}/pause", data={"csrf": token, "what": "resume"}).status_code == 303
    assert choose(ada, place, 1, "B").status_code == 303
    assert len(stocked.said()) == 2


def test_a_full_study_has_no_place_for_a_third(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner)
    people_there = [stocked.house.signed_in("annotator", name) for name in "abc"]
    third_token = form_token(people_there[2].get("/compare"))
    places = [start(person, study) for person in people_there[:2]]
    assert len(set(places)) == 2
    again = people_there[0].post(
        f"/compare/studies/{study}", data={"csrf": form_token(people_there[0].get(f"{places[0]}/1"))}
    )
    assert again.headers["location"] == places[0]
    assert "Which follows?" not in people_there[2].get("/compare").text
    refused = people_there[2].post(f"/compare/studies/{study}", data={"csrf": third_token})
    assert refused.status_code == 409
    assert "taken" in refused.text


def options(page: httpx.Response) -> list[str]:
    """Whom the owner can give a place to."""
    listed = page.text.partition('<select id="person"')[2].partition("</select>")[0]
    return re.findall(r'<option value="(\w+)"', listed)


def test_an_owner_gives_places_and_removes_a_study_that_nobody_touched(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    grace = stocked.house.signed_in("annotator", "Grace")
    study = stocked.study(owner)
    stocked.house.signed_in("annotator", "Linus")
    before = owner.get(f"/admin/studies/{study}")
    token = form_token(before)
    owners, person, linus = (one.id for one in people(stocked.ledger))
    assert options(before) == [owners, person, linus]
    given = owner.post(f"/admin/studies/{study}/places", data={"csrf": token, "person": person})
    assert given.status_code == 303
    assert options(owner.get(f"/admin/studies/{study}")) == [owners, linus]
    assert "Which follows?" in grace.get("/compare").text
    assert owner.post(f"/admin/studies/{study}/places", data={"csrf": token, "person": "nobody"}).status_code == 404
    assert owner.post(f"/admin/studies/{study}/remove", data={"csrf": token}).status_code == 409
    other = stocked.study(owner, title="Never begun")
    assert owner.post(f"/admin/studies/{other}/remove", data={"csrf": token}).status_code == 303
    assert [one.id for one in people_studies(stocked.ledger)] == [study]
    with stocked.ledger.reading() as connection:
        assert len(set(connection.execute(select(schema.people_tasks.c.place)).scalars())) == 2


def test_an_erased_name_leaves_the_judgements(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    ada = stocked.house.signed_in("annotator", "Ada Lovelace")
    study = stocked.study(owner)
    choose(ada, start(ada, study), 1, "A")
    person = people(stocked.ledger)[1]
    token = form_token(owner.get("/admin"))
    assert owner.post(f"/admin/people/{person.id}/erase", data={"csrf": token, "sure": "yes"}).status_code == 303
    page = owner.get(f"/admin/studies/{study}").text
    assert "Lovelace" not in page
    assert person.label in page
    assert "1 of 18" in page
    other = stocked.study(owner, title="Another")
    assert person.id not in owner.get(f"/admin/studies/{other}").text  # no place is offered to them
    given = owner.post(f"/admin/studies/{other}/places", data={"csrf": token, "person": person.id})
    assert given.status_code == 404
    assert len(stocked.said()) == 1


def test_agreement_is_that_of_people_who_saw_the_same(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner, form="five-level")
    shares: list[tuple[httpx.Client, str]] = []
    for name in ("Ada", "Grace"):
        person = stocked.house.signed_in("annotator", name)
        shares.append((person, start(person, study)))
    for person, place in shares:
        for number in range(1, 19):
            # Both prefer the answer that is longer; they see them on different sides.
            left, right = person.get(f"/api{_api(place)}/{number}").json()["answers"]
            choice = "Left>Right" if (len(left), left) > (len(right), right) else "Left<<Right"
            choose(person, place, number, choice)
    document = owner.get(f"/api/studies/{study}").json()
    assert document["agreement"] == 1.0
    assert document["agreement_n"] == 36
    assert 0 < document["alpha"] < 1  # they agree on the side and not on how much
    assert [one["judged"] for one in document["people"]] == [18, 18]
    assert "100" in owner.get(f"/admin/studies/{study}").text


def test_scripts_do_the_same(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    token = {"X-CSRF-Token": own_token(owner)}
    asked = {
        "data": stocked.data, "form": "five-level", "pairs": "against", "against": "reference", "people": 2,
        "people_per_comparison": 2, "items": 4, "seed": 5, "title": "By script",
    }  # fmt: skip
    assert owner.post("/api/studies", json=asked).status_code == 403
    made = owner.post("/api/studies", json=asked, headers=token)
    assert made.status_code == 201
    study = made.json()["study"]
    assert made.json()["comparisons"] == 12  # 4 items, 3 models against the reference
    grace = stocked.house.signed_in("annotator", "Grace")
    hers = {"X-CSRF-Token": own_token(grace)}
    granted = grace.post("/api/tokens", json={"note": "script"}, headers=hers).json()
    script = stocked.house.visitor(authorization=f"Bearer {granted['token']}")
    assert script.get("/api/comparisons").json()["open"] == [
        {"study": study, "title": "By script", "form": "five-level"}
    ]
    share = script.post("/api/comparisons", json={"study": study}).json()
    address = f"/api/comparisons/{share['comparison']}"
    assert share["offered"][0] == "Left>>Right"
    showing = script.get(f"{address}/3").json()["showing"]
    chosen = {"choice": "Left=Right", "showing": showing, "after": 0}
    for _ in range(2):
        assert script.put(f"{address}/3", json=chosen).json() == {
            "schema": 1, "number": 3, "choice": "Left=Right", "times": 1,
        }  # fmt: skip
    assert script.put(f"{address}/3", json={"choice": "Left<Right", "showing": showing}).json()["times"] == 2
    assert script.get(f"{address}/3").json()["choice"] == "Left<Right"
    assert script.put(f"{address}/3", json={"choice": "A", "showing": showing}).status_code == 422
    assert script.put(f"{address}/3", json={"choice": "Left=Right"}).status_code == 422
    assert script.put(f"{address}/99", json=chosen).status_code == 404
    assert owner.put(f"/api/studies/{study}", json={"paused": True}, headers=token).status_code == 204
    assert script.put(f"{address}/4", json=chosen).status_code == 409
    person = people(stocked.ledger)[0].id
    assert owner.put(f"/api/studies/{study}/people/{person}", headers=token).status_code == 204
    assert [one["taken"] for one in owner.get("/api/studies").json()["studies"]] == [2]


@pytest.mark.parametrize(
    ("fields", "code", "fact"),
    [
        ({"people": "0"}, "EH-INVALID", "People"),
        ({"each": "3"}, "EH-INVALID", "1 to 2"),
        ({"overlap": "101"}, "EH-INVALID", "0 to 100"),
        ({"pairs": "given", "given": "amber"}, "EH-INVALID", "two models"),
        ({"pairs": "given", "given": "amber | a|b"}, "EH-INVALID", "\\|"),
        ({"pairs": "given", "given": "amber | amber"}, "EH-INVALID", "itself"),
        ({"pairs": "given", "given": ""}, "EH-INVALID", "pairs"),
        ({"pairs": "against"}, "EH-INVALID", "model"),
        ({"pairs": "against", "against": "ambre"}, "EH-STUDY", "'amber'"),
        ({"models": ["amber"]}, "EH-STUDY", "models"),
        ({"models": ["x" * 1001]}, "EH-INVALID", "1,000"),
        ({"category": "square"}, "EH-STUDY", "category"),
        ({"form": "essay"}, "EH-INVALID", "'forced'"),
        ({"sample": "ab"}, "EH-STUDY", "sample"),
    ],
)
def test_a_study_that_cannot_be_is_refused_with_a_sentence(
    stocked: Stocked, fields: dict[str, str | list[str]], code: str, fact: str
):
    owner = stocked.house.signed_in("owner")
    token = form_token(owner.get(f"/admin/studies/new?data={stocked.data}"))
    refused = owner.post("/admin/studies", data={"csrf": token, "data": stocked.data, **FORCED, **fields})
    assert refusal_of(refused, fact) == (422, code)
    # The form comes back as it was filled in.
    assert 'name="title" maxlength="120" placeholder="numbers" value="Which follows?"' in refused.text
    assert f'name="seed" type="number" min="0" max="999999999" value="{FORCED["seed"]}"' in refused.text
    assert not people_studies(stocked.ledger)


def test_a_study_of_no_benchmark_is_not_found(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    token = form_token(owner.get(f"/admin/studies/new?data={stocked.data}"))
    refused = owner.post("/admin/studies", data={"csrf": token, **FORCED, "data": "ab"})
    assert refusal_of(refused, "benchmark") == (404, "EH-NOT-FOUND")


def test_nobody_is_said_to_have_judged_a_creative_benchmark_that_no_model_judged(ledger: Ledger):
    creative = replace(numbers(ledger), name="creation-mmbench-mine")
    ledger.register_benchmark(creative)
    ledger.add_responses([Response(item=one.digest, model="amber", text="an answer") for one in creative.items])
    with served(ledger) as house:
        page = house.signed_in("owner").get(f"/admin/studies/new?data={creative.digest}").text
    assert 'value="against" checked' in page
    assert "Models judged" not in page


def test_given_pairs_a_category_and_a_number_narrow_a_study(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner, pairs="given", given="amber | =cmd()\n=cmd() | amber", category="even", items="2")
    found = find_people_study(stocked.ledger, study)
    assert found is not None
    assert found.comparisons == 2
    category = {item.digest: item.category for item in items_of(stocked.ledger, stocked.data)}
    with stocked.ledger.reading() as connection:
        asked = set(connection.execute(select(schema.people_tasks.c.item)).scalars())
    assert [category[item] for item in asked] == ["even", "even"]


def test_the_owners_pages_of_studies_are_there(stocked: Stocked):
    owner = stocked.house.signed_in("owner")
    assert "No study was made yet" in owner.get("/admin/studies").text
    study = stocked.study(owner, title="<b>bold</b>")
    for path in ("/admin/studies", f"/admin/studies/{study}", f"/admin/studies/new?data={stocked.data}"):
        assert owner.get(path).status_code == 200
    assert "&lt;b&gt;bold&lt;/b&gt;" in owner.get("/admin/studies").text
    assert owner.get("/admin/studies/nothing").status_code == 404
    assert owner.get("/admin/studies/new?data=nothing").status_code == 404
    assert "/api/comparisons/{comparison}/{number}" in owner.get("/api").text


@pytest.mark.parametrize("odd", ["\ud83d", "\x00", "'; DROP TABLE people; --", "x" * 5000, "../../admin", "％00"])
def test_odd_words_from_a_script_are_refused_and_never_a_fault_of_ours(stocked: Stocked, odd: str):
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner)
    token = {"X-CSRF-Token": own_token(owner), "Content-Type": "application/json"}
    person = stocked.house.signed_in("annotator")
    place = start(person, study)
    mine = {"X-CSRF-Token": own_token(person), "Content-Type": "application/json"}
    quoted = quote(odd, safe="", errors="surrogatepass")
    whole = {"data": stocked.data, "form": "forced", "people": 2}
    asked = [
        owner.post("/api/studies", content=json.dumps({**whole, "data": odd}), headers=token),
        owner.post("/api/studies", content=json.dumps({**whole, "sample": odd}), headers=token),
        owner.post("/api/studies", content=json.dumps({**whole, "models": ["amber", odd]}), headers=token),
        owner.post("/api/studies", content=json.dumps({**whole, "category": odd}), headers=token),
        owner.put(f"/api/studies/{study}/people/{quoted}", headers=token),
        person.post("/api/comparisons", content=json.dumps({"study": odd}), headers=mine),
        person.put(f"/api{_api(place)}/1", content=json.dumps({"choice": odd, "showing": "a"}), headers=mine),
        person.put(f"/api{_api(place)}/1", content=json.dumps({"choice": "A", "showing": odd}), headers=mine),
        person.put(f"/api{_api(place)}/{quoted}", content=json.dumps({"choice": "A", "showing": "a"}), headers=mine),
        person.get(f"/api/comparisons/{quoted}/1"),
        person.get(f"/compare/{quoted}/1"),
        person.get(f"{place}/{quoted}"),
        person.get(f"/admin/studies/{quoted}"),
        owner.get(f"/admin/studies/{quoted}"),
        owner.get(f"/admin/studies/new?data={quoted}"),
    ]
    assert {400 <= one.status_code < 500 for one in asked} == {True}, [one.status_code for one in asked]
    assert not stocked.said()
    assert len(people_studies(stocked.ledger)) == 1
