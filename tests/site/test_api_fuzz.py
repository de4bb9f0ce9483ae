"""Whatever the API's own description allows, and much that it does not, is answered and is never an error of ours."""

from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, GenerationMode
from schemathesis.core.result import Ok

from evenhand.domain.submission import Entered
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.submissions.intakes import BoardIdentity, find_intake, open_intake
from evenhand.ledger.submissions.store import begin_submission
from evenhand.site.accounts.store import Invite, Role, grant_token, invite, join
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study, take_place
from tests.database import ledger_in
from tests.site.desk import TERMS
from tests.site.garden import planted
from tests.site.house import CONDITION, JUDGE, MODELS, House, fill, served

pytestmark = pytest.mark.slow

EXAMPLES = 6
"""Of every operation, for each role, of what is allowed and of what is not."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    ledger = ledger_in(tmp_path_factory.mktemp("fuzz"))
    with served(ledger) as house:
        yield house
    ledger.close()


@pytest.fixture(scope="module")
def known(house: House) -> dict[str, str]:
    """Values that lead somewhere, by the names of parameters."""
    ledger = house.ledger
    data = fill(ledger)
    asked = AskedStudy(data=data, form="forced", pairs=Pairs(), sharing=Sharing(people=9, each=1), most=9)
    study, garden = make_people_study(ledger, asked, made_by=None), planted(house)
    person = join(ledger, invite(ledger, Invite(role="annotator")).token, "Eve").person
    board = house.visitor().get("/api/boards").json()["boards"][0]["board"]
    judged = BoardIdentity(data=data, rater=JUDGE.key, condition=CONDITION.key)
    intake = find_intake(ledger, open_intake(ledger, "numbers", judged, TERMS, by="owner"))
    assert intake
    team = join(ledger, invite(ledger, Invite(role="team")).token, "Birds").person
    entered = Entered(model="Parrot", version="2", team="Birds")
    return {
        "intake": intake.id,
        "submission": begin_submission(ledger, intake, entered, person=team.id),
        "team": team.id,
        "board": board,
        "item": items_of(ledger, data)[0].label,
        "a": MODELS[0],
        "b": MODELS[1],
        "model": MODELS[0],
        "data": data,
        "study": study,
        "comparison": take_place(ledger, study, person),
        "number": "1",
        "person": person.id,
        "growing": garden.id,
        "task": "1",
        "version": "1",
    }


def token_of(house: House, role: Role | None, team: str) -> dict[str, str]:
    if role is None:
        return {}
    person = (
        team if role == "team" else join(house.ledger, invite(house.ledger, Invite(role=role)).token, "Ada").person.id
    )
    return {"Authorization": f"Bearer {grant_token(house.ledger, person, note='fuzz').token}"}


def operations(house: House) -> list[APIOperation[Any, Any, Any, Any]]:
    document = httpx.get(f"{house.url}/openapi.json", trust_env=False).json()
    found = list(schemathesis.openapi.from_dict(document).get_all_operations())
    described = [one.ok() for one in found if isinstance(one, Ok)]
    assert len(described) == len(found) >= 30
    return described


def drawn(operation: APIOperation[Any, Any, Any, Any], known: dict[str, str]) -> st.SearchStrategy[Any]:
    """What fits the description, with values of its own and with those that are there; and what does not fit."""
    path = {one.name: known[one.name] for one in operation.path_parameters if one.name in known}
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    own = [operation.as_strategy(mode) for mode in modes]
    there = [operation.as_strategy(mode, path_parameters=path) for mode in modes] if path else []
    return st.one_of(*own, *there)


@pytest.mark.parametrize("role", [None, "annotator", "team", "owner"])
def test_no_request_of_anybody_meets_an_error_of_ours(house: House, known: dict[str, str], role: Role | None):
    headers, statuses = token_of(house, role, known["team"]), list[int]()
    for operation in operations(house):

        @settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        )
        @given(case=drawn(operation, known))
        def answered(case: Any) -> None:
            answer = case.call(base_url=house.url, headers=headers)
            statuses.append(answer.status_code)
            assert answer.status_code < 500, f"{case.as_curl_command()} {answer.text}"

        answered()
    assert len(statuses) > 2 * len(operations(house))
    assert {200, 404, 422} <= set(statuses)
    assert house.visitor().get("/").status_code == 200
