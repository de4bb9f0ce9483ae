"""Claims about what people said: it counts for what they saw, in the study they said it in, and is never lost."""

from collections.abc import Iterator

import httpx2 as httpx
import pytest

from evenhand.domain.response import Response
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import people
from tests.site.house import fill, form_token, own_token, refusal_of, served
from tests.site.test_compare import Stocked, choose, filled, start
from tests.site.test_people_boards import human_boards, judged, setting


@pytest.fixture
def stocked(ledger: Ledger) -> Iterator[Stocked]:
    """Nothing is withheld, so that everybody reads what people judged, on however few items."""
    data = fill(ledger)
    open_benchmark(ledger, data, by=None)
    with served(ledger) as house:
        yield Stocked(house=house, data=data)


def renewed(stocked: Stocked, owner: httpx.Client, study: str, text: str) -> None:
    """Every answer of amber's is replaced, and the owner asks about the present ones."""
    fresh = [Response(item=item.digest, model="amber", text=text) for item in items_of(stocked.ledger, stocked.data)]
    stocked.ledger.add_responses(fresh, replace=True)
    token = form_token(owner.get(f"/admin/studies/{study}"))
    assert owner.post(f"/admin/studies/{study}/renew", data={"csrf": token}).status_code == 303


def test_a_window_that_shows_an_answer_replaced_since_is_shown_the_present_one_and_saves_nothing(stocked: Stocked):
    owner, person = stocked.house.signed_in("owner"), stocked.house.signed_in("annotator")
    study = stocked.study(owner, pairs="given", given="amber | =cmd()")
    place = start(person, study)
    sent = filled(person.get(f"{place}/1"), "A")
    renewed(stocked, owner, study, "an answer nobody has seen")
    late = person.post(f"{place}/1", data=sent)
    assert refusal_of(late, "changed") == (409, "EH-CONFLICT")
    assert "an answer nobody has seen" in late.text
    assert " checked" not in late.text
    address = f"/api{place.replace('/compare/', '/comparisons/')}/1"
    token = {"X-CSRF-Token": sent["csrf"]}
    refused = person.put(address, json={"choice": "A", "showing": sent["showing"], "after": 0}, headers=token)
    assert (refusal_of(refused, "changed"), refused.json()["changed"]) == ((409, "EH-CONFLICT"), True)
    without = {name: value for name, value in sent.items() if name != "showing"}
    assert person.post(f"{place}/1", data=without).status_code == 409
    assert stocked.said() == []
    assert person.post(f"{place}/1", data=filled(late, "B")).status_code == 303
    assert len(stocked.said()) == 1


def test_a_window_open_while_a_place_is_divided_says_nothing_of_another_item(stocked: Stocked):
    owner, ada = stocked.house.signed_in("owner"), stocked.house.signed_in("annotator", "Ada")
    study = stocked.study(owner, people="1", each="1")
    place = start(ada, study)
    for number in (2, 4, 6, 8, 10):
        choose(ada, place, number, "A")
    sent = filled(ada.get(f"{place}/4"), "B")
    (who,) = [one.id for one in people(stocked.ledger) if (one.name, one.role) == ("Ada", "annotator")]
    token = {"X-CSRF-Token": own_token(owner)}
    assert owner.delete(f"/api/studies/{study}/people/{who}", headers=token).status_code == 204
    assert ada.post(f"{place}/4", data=sent).status_code == 409
    assert ada.get(f"/api{place.replace('/compare/', '/comparisons/')}").json()["choices"] == ["A"] * 5


def test_what_is_judged_at_a_place_that_was_freed_and_taken_again_counts(stocked: Stocked):
    owner, ada = stocked.house.signed_in("owner"), stocked.house.signed_in("annotator", "Ada")
    study = stocked.study(owner, people="1", each="1", comparisons="4")
    (who,) = [one.id for one in people(stocked.ledger) if (one.name, one.role) == ("Ada", "annotator")]
    token = {"X-CSRF-Token": own_token(owner)}
    for _ in range(2):
        start(ada, study)
        assert owner.delete(f"/api/studies/{study}/people/{who}", headers=token).status_code == 204
    place = start(ada, study)
    for number in range(1, 5):
        choose(ada, place, number, "A")
    assert [one["judged"] for one in owner.get(f"/api/studies/{study}").json()["people"]] == [4]
    setting(owner, study, "close")
    visitor = stocked.house.visitor()
    (board,) = human_boards(visitor)
    alone = visitor.get(f"/api/boards/{board}", params={"study": study}).json()
    assert (alone["votes"], alone["coverage"]["wanted"]) == (4, 4)
    assert visitor.get(f"/api/boards/{board}").json()["votes"] == 4


def test_the_board_of_a_closed_study_stays_as_it_is_when_its_people_say_otherwise_in_another(stocked: Stocked):
    owner, visitor = stocked.house.signed_in("owner"), stocked.house.visitor()
    ada = stocked.house.signed_in("annotator", "Ada")
    first = stocked.study(owner, people="1", each="1", comparisons="9")
    place = start(ada, first)
    for number in range(1, 10):
        choose(ada, place, number, "A")
    setting(owner, first, "close")
    (board,) = human_boards(visitor)
    table = f"/boards/{board}/board.csv?study={first}"
    before = visitor.get(table).text
    second = start(ada, stocked.study(owner, people="1", each="1", comparisons="9"))
    assert "0 of 9" in ada.get(second).text
    for number in range(1, 10):
        assert choose(ada, second, number, "B").status_code == 303
    assert visitor.get(table).text == before
    told = visitor.get(f"/api/boards/{board}", params={"study": first}).json()
    (page,) = owner.get(f"/api/studies/{first}").json()["people"]
    assert told["votes"] == told["coverage"]["with_verdict"] == page["judged"] == 9


def test_a_study_that_is_not_there_is_not_said_to_run(stocked: Stocked):
    owner, visitor = stocked.house.signed_in("owner"), stocked.house.visitor()
    running = judged(stocked, owner, person="Ada", comparisons="2")
    (board,) = human_boards(owner)
    for path in (f"/boards/{board}", f"/api/boards/{board}"):
        for client in (visitor, owner):
            refused = client.get(path, params={"study": "nope"})
            assert refusal_of(refused, "study") == (404, "EH-NOT-FOUND")
        assert refusal_of(visitor.get(path, params={"study": running})) == (404, "EH-BOARD-WITHHELD")
        nowhere = visitor.get(path.replace(board, "0" * 16), params={"study": "nope"})
        assert refusal_of(nowhere, "board") == (404, "EH-NOT-FOUND")


def test_a_model_with_a_bar_in_its_name_can_be_given_as_a_pair(stocked: Stocked):
    items = items_of(stocked.ledger, stocked.data)
    stocked.ledger.add_responses([Response(item=item.digest, model="a|b", text="ab") for item in items])
    owner = stocked.house.signed_in("owner")
    study = stocked.study(owner, pairs="given", given="a\\|b | amber\n=cmd() | a\\|b")
    assert owner.get(f"/api/studies/{study}").json()["asked"]["given"] == [["a|b", "amber"], ["=cmd()", "a|b"]]
