"""Claims about sums that rest on few items: nobody but the owner reads a single withheld verdict from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx2 as httpx
import pytest

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.trial import Condition
from evenhand.exchange.judgements.row import IMPORTED
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark, opened_benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.withheld.released import FEWEST, TOO_FEW
from tests.ledger.scene import speaking
from tests.site.house import CONDITION, JUDGE, House, judge, served

MODELS = ("amber", "blue", REFERENCE)
CATEGORIES = {"single": 1, "several": 5, "many": 7}


@dataclass(frozen=True)
class Fair:
    house: House
    data: str

    def board(self, *, human: bool) -> str:
        boards = self.house.visitor().get("/api/boards").json()["boards"]
        return next(one["board"] for one in boards if (one["judge"] == "people") == human)


@pytest.fixture
def fair(ledger: Ledger) -> Iterator[Fair]:
    """One item of a category, five and seven of others, judged by a model and by a person."""
    items = tuple(
        Item(label=f"{category} {n}", instruction=f"{category} {n}?", reference=f"r {category} {n}", category=category)
        for category, number in CATEGORIES.items()
        for n in range(number)
    )
    benchmark = Benchmark(name="fair", items=items, licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    answers = [
        Response(
            item=one.digest, model=model, text=f"{model} {one.label}" if model != REFERENCE else str(one.reference)
        )
        for one in items
        for model in MODELS
    ]
    ledger.add_responses(answers)
    for rater in (JUDGE, Rater(kind="human", name="person-1")):
        judge(ledger, benchmark, answers, rater=rater, models=MODELS)
    with served(ledger) as house:
        yield Fair(house, benchmark.digest)


def document(visitor: httpx.Client, board: str, **asked: str) -> dict[str, Any]:
    answer = visitor.get(f"/api/boards/{board}", params=asked)
    return answer.json() if answer.status_code == 200 else {"error": answer.json()["error"]}


def counts(found: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    return {one["model"]: (one["wins"], one["losses"]) for one in found["models"]}


def test_of_a_judging_model_battles_with_the_reference_on_one_item_are_left_out(fair: Fair):
    board = fair.board(human=False)
    owner, visitor = fair.house.signed_in("owner"), fair.house.visitor()
    assert counts(document(owner, board, category="single")) == {"amber": (4, 0), "blue": (2, 2), REFERENCE: (0, 4)}
    shown = document(visitor, board, category="single")
    assert counts(shown) == {"amber": (2, 0), "blue": (0, 2)}
    assert any(TOO_FEW in note for note in shown["notes"])
    for path in (f"/boards/{board}?category=single", f"/boards/{board}/board.json?category=single"):
        assert TOO_FEW in visitor.get(path).text
        assert TOO_FEW not in owner.get(path).text
    assert REFERENCE in owner.get(f"/boards/{board}/board.csv?category=single").text
    assert REFERENCE not in visitor.get(f"/boards/{board}/board.csv?category=single").text


def test_of_people_a_category_on_one_item_is_not_shown_at_all(fair: Fair):
    board = fair.board(human=True)
    assert counts(document(fair.house.signed_in("owner"), board, category="single"))["amber"] == (4, 0)
    for role in (None, "annotator", "team"):
        visitor = fair.house.visitor() if role is None else fair.house.signed_in(role, "Eve")
        assert TOO_FEW in document(visitor, board, category="single")["error"]
        page = visitor.get(f"/boards/{board}?category=single")
        assert TOO_FEW in page.text
        assert "blue" not in page.text


def test_the_card_of_people_on_few_items_says_how_many_are_needed_and_who_sees_it(ledger: Ledger):
    items = tuple(Item(label=f"i{n}", instruction=f"{n}?") for n in range(FEWEST - 1))
    benchmark = Benchmark(name="small", items=items, licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    answers = [Response(item=one.digest, model=model, text=f"{model} {one.label}") for one in items for model in "ab"]
    ledger.add_responses(answers)
    judge(ledger, benchmark, answers, rater=Rater(kind="human", name="person-1"), models=("a", "b"))
    says = "too few items to be shown: others than the owner see two models&#39; verdicts once they met on 5 items."
    with served(ledger) as house:
        home = house.visitor().get("/").text
        assert says in home
        assert "being worked out" not in home
        assert "on 5 items" in house.visitor().get(home.split('class="cover" href="')[1].split('"')[0]).text


@pytest.mark.parametrize("human", [False, True])
def test_what_is_left_out_does_not_follow_from_the_sums_of_all_and_of_the_others(fair: Fair, human: bool):
    """With one category of one item, a second is left out too; the whole board and the largest stay as they are."""
    board, owner, visitor = fair.board(human=human), fair.house.signed_in("owner"), fair.house.visitor()
    for asked in ({}, {"category": "many"}):
        assert counts(document(visitor, board, **asked)) == counts(document(owner, board, **asked))
    several = document(visitor, board, category="several")
    assert ("error" in several) if human else (REFERENCE not in counts(several))


def test_a_models_page_counts_by_category_only_what_may_be_shown(fair: Fair):
    board = fair.board(human=False)
    owner, visitor = fair.house.signed_in("owner"), fair.house.visitor()
    path = f"/boards/{board}/model?name=blue"
    assert TOO_FEW in visitor.get(path).text
    assert TOO_FEW not in owner.get(path).text
    people = f"/boards/{fair.board(human=True)}/model?name=blue"
    assert "single" in owner.get(people).text
    assert "single" not in visitor.get(people).text


@pytest.mark.parametrize("human", [False, True])
def test_a_pair_is_set_against_each_other_only_in_what_may_be_counted(fair: Fair, human: bool):
    board, there = fair.board(human=human), 'id="head-to-head"'
    owner, visitor = fair.house.signed_in("owner"), fair.house.visitor()
    for path in (f"/boards/{board}", f"/boards/{board}?category=many"):
        assert there in visitor.get(path).text
    single = f"/boards/{board}?category=single"
    assert there in owner.get(single).text
    assert there not in visitor.get(single).text


def test_of_an_opened_benchmark_nothing_is_left_out(fair: Fair):
    board = fair.board(human=True)
    open_benchmark(fair.house.ledger, fair.data, by=None)
    assert counts(document(fair.house.visitor(), board, category="single"))["amber"] == (4, 0)


def test_what_answers_say_to_the_judge_is_told_of_all_items_and_of_no_category(fair: Fair):
    speaking(fair.house.ledger, {"amber": ("verdict",)})
    board, visitor = fair.board(human=False), fair.house.visitor()

    def written(**asked: str) -> int | None:
        models = {one["model"]: one for one in document(visitor, board, **asked)["models"]}
        return models["amber"]["writes_verdicts"]

    assert written() == 13
    # With those of seven items, the one of the single item would follow from the board by category.
    assert written(category="many") is None


def test_the_head_of_a_page_says_which_version_it_is_and_the_owners_has_none(fair: Fair):
    board, visitor = fair.board(human=False), fair.house.visitor()
    assert document(visitor, board)["version"] == 1
    assert "Version 1, " in visitor.get(f"/boards/{board}").text
    owner = fair.house.signed_in("owner")
    assert "version" not in document(owner, board)
    assert "Version 1, " not in owner.get(f"/boards/{board}").text


PERSON = Rater(kind="human", name="person-1")


def judged_by_a_person(
    ledger: Ledger, items: Sequence[Item], *, condition: Condition, models: Sequence[str] = ("amber", "blue")
) -> None:
    benchmark = Benchmark(name="own", items=tuple(items), licence="CC0-1.0", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    answers = [Response(item=one.digest, model=model, text=f"{model} {one.label}") for one in items for model in models]
    ledger.add_responses(answers)
    judge(ledger, benchmark, answers, rater=PERSON, models=models, condition=condition)


def seen_by_all(house: House, **asked: str) -> dict[str, Any]:
    visitor = house.visitor()
    (board,) = visitor.get("/api/boards").json()["boards"]
    return document(visitor, board["board"], **asked)


BARE = [Item(label=f"i{n}", instruction=f"{n}?", category="odd" if n == 1 else "even") for n in range(FEWEST - 1)]


def test_imported_verdicts_all_count_where_nothing_of_their_items_is_withheld(ledger: Ledger):
    judged_by_a_person(ledger, BARE, condition=IMPORTED)
    with served(ledger) as house:
        whole = seen_by_all(house)
        assert counts(whole) == {"amber": (8, 0), "blue": (0, 8)}
        assert "version" not in whole
        assert counts(seen_by_all(house, category="odd"))["amber"] == (2, 0)


@pytest.mark.parametrize(
    ("condition", "more", "models"),
    [
        pytest.param(CONDITION, {}, ("amber", "blue"), id="judged here"),
        pytest.param(IMPORTED, {"reference": "r"}, ("amber", "blue"), id="reference"),
        pytest.param(IMPORTED, {"caption": "c"}, ("amber", "blue"), id="caption"),
        pytest.param(IMPORTED, {"ground_truth": "g"}, ("amber", "blue"), id="ground truth"),
        pytest.param(IMPORTED, {"criteria": (("criteria", "c"),)}, ("amber", "blue"), id="criteria"),
        pytest.param(IMPORTED, {}, ("amber", REFERENCE), id="the reference plays"),
    ],
)
def test_they_count_in_batches_where_something_is(
    ledger: Ledger, condition: Condition, more: Mapping[str, Any], models: tuple[str, str]
):
    items = [replace(one, **more) for one in BARE]
    judged_by_a_person(ledger, items, condition=condition, models=models)
    with served(ledger) as house:
        assert TOO_FEW in seen_by_all(house)["error"]


def test_of_items_with_and_without_a_reference_those_without_count_at_once(ledger: Ledger):
    items = [replace(one, reference="r") if one.label == "i0" else one for one in BARE]
    judged_by_a_person(ledger, items, condition=IMPORTED)
    with served(ledger) as house:
        shown = seen_by_all(house)
    assert counts(shown) == {"amber": (6, 0), "blue": (0, 6)}
    assert any(note.startswith("2 judgements of people are not in these figures") for note in shown["notes"])


def test_the_head_of_the_page_says_what_is_left_out(fair: Fair):
    page = fair.house.visitor().get(f"/boards/{fair.board(human=False)}?category=single").text
    assert 0 < page.index("are not in these figures") < page.index("<table")
    assert page.count("are not in these figures") == 1


def test_a_published_record_is_open_from_the_start_and_stays_closed_once_its_owner_closed_it(ledger: Ledger):
    record = Benchmark(name="record", items=tuple(BARE), licence="CC BY 4.0", citation="", protocols=(), published=True)
    ledger.register_benchmark(record)
    assert opened_benchmarks(ledger) == {record.digest}
    close_benchmark(ledger, record.digest)
    ledger.register_benchmark(record)
    assert opened_benchmarks(ledger) == set()
