"""Claims about studies for people on a board with submissions: nobody compares answers that are not published."""

import httpx2 as httpx
import pytest

from evenhand.domain.submission import labelled
from evenhand.ledger.read.answers import response_models
from evenhand.ledger.store import schema
from evenhand.site.people.study_making import material
from tests.site.house import House, fill, numbers, own_token
from tests.site.test_compare import start
from tests.submitted_models import ANSWER, all_stages, submitted


def asked_over_the_api(house: House, owner: httpx.Client, **more: object) -> httpx.Response:
    body = {"data": numbers(house.ledger).digest, "form": "forced", "people": 1, **more}
    return owner.post("/api/studies", json=body, headers={"X-CSRF-Token": own_token(owner)})


def given_to_people(house: House) -> set[str]:
    """The models whose answers stand in anybody's tasks."""
    table = schema.people_tasks
    with house.ledger.reading() as connection:
        shown = {digest for row in connection.execute(table.select()) for digest in (row.first, row.second)}
    return set(response_models(house.ledger, shown).values())


def test_a_study_of_everybody_asks_about_no_submission_but_the_published(house: House):
    fill(house.ledger)
    made = all_stages(house.ledger, numbers(house.ledger).items)
    answered = asked_over_the_api(house, house.signed_in("owner"), models=[])
    assert answered.status_code == 201, answered.text
    found = given_to_people(house)
    assert {model for model in found if labelled(model) is not None} == {made["published"]}
    assert "amber" in found


@pytest.mark.parametrize("stage", ["judging", "anonymous", "withdrawn", "taken back"])
def test_a_study_that_names_another_is_refused_in_one_sentence(house: House, stage: str):
    fill(house.ledger)
    model = submitted(house.ledger, numbers(house.ledger).items, stage)
    owner = house.signed_in("owner")
    said = f"'{model}' is no submission that its team has published, so nobody else may read its answers; leave it out."
    for fields in (
        {"models": ["amber", model]},
        {"pairs": "against", "against": model},
        {"pairs": "given", "given": [["amber", model]]},
    ):
        refused = asked_over_the_api(house, owner, **fields)
        assert (refused.status_code, refused.json()["error"]) == (422, said)
    assert given_to_people(house) == set()


def test_the_page_offers_no_submission_but_the_published_and_ticks_it(house: House):
    data = fill(house.ledger)
    made = all_stages(house.ledger, numbers(house.ledger).items)
    page = house.signed_in("owner").get(f"/admin/studies/new?data={data}").text
    assert f'name="models" value="{made["published"]}" checked' in page
    for stage, model in made.items():
        assert (model in page) is (stage == "published")
    found = material(house.ledger, data)
    assert found is not None
    assert made["published"] in found.usual_study().models


def test_an_annotator_reads_no_answer_of_an_anonymous_submission(house: House):
    data = fill(house.ledger)
    submitted(house.ledger, numbers(house.ledger).items, "anonymous")
    made = asked_over_the_api(house, house.signed_in("owner"), models=[], data=data)
    person = house.signed_in("annotator", "Grace")
    place = start(person, made.json()["study"])
    pages = [person.get(f"{place}/{number}") for number in range(1, 19)]
    assert {page.status_code for page in pages} == {200}
    assert not any(ANSWER in page.text for page in pages)
