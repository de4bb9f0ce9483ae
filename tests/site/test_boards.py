"""Claims about the public pages: what a board, a model and a battle show, and to whom."""

import csv
import io
import re
from dataclasses import replace
from urllib.parse import urlencode

import httpx2 as httpx
import pytest

from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Entries, Ledger
from tests.site.house import (
    MODELS,
    PNG,
    SCRIPT,
    SECRETS,
    House,
    fill,
    fill_with_lengths,
    judge,
    links,
    numbers,
    served,
)
from tests.site.test_asked_again_attacker import says, trials_on

BLUE = MODELS[1]


def only_board(visitor: httpx.Client) -> str:
    (board,) = visitor.get("/api/boards").json()["boards"]
    return board["board"]


def battle_of(house: House, board: str, *models: str) -> str:
    on_board = house.visitor().get("/api/boards").json()["boards"][0]
    item = items_of(house.ledger, on_board["data"])[0]
    return f"/boards/{board}/battle?" + urlencode({"item": item.label, "a": models[0], "b": models[1]})


def test_an_empty_ledger_says_what_to_do(house: House):
    page = house.visitor().get("/")
    assert page.status_code == 200
    assert "evenhand judge" in page.text


def test_the_list_of_boards_leads_to_each(gallery: House):
    visitor = gallery.visitor()
    (link,) = links(visitor.get("/"), "/boards/")
    assert link == f"/boards/{only_board(visitor)}"
    assert visitor.get(link).status_code == 200


def test_a_trial_that_two_studies_want_or_that_was_asked_again_is_listed_once(ledger: Ledger):
    fill(ledger)
    benchmark = numbers(ledger)
    answers = ledger.responses_to([item.digest for item in benchmark.items])
    judge(ledger, benchmark, answers, models=MODELS[:3])
    both, few = sorted(studies(ledger), key=lambda one: -one.reached)
    assert (both.reached, few.reached) == (72, 36)
    again = [replace(one, attempt=1) for one in trials_on(ledger, benchmark.items[:1])]
    ledger.commit(
        Entries(trials=again, links=[(both.key, one.key) for one in again], judgements=says(again, reader="r1"))
    )
    with served(ledger) as house:
        (board,) = house.visitor().get("/api/boards").json()["boards"]
        assert board["trials"] == 72


def test_a_board_shows_models_in_order_with_the_judge_beside_them(gallery: House):
    visitor = gallery.visitor()
    page = visitor.get(f"/boards/{only_board(visitor)}").text
    places = [page.index(f">{name}") for name in ("amber", "blue &lt;script&gt;", "=cmd()")]
    assert places == sorted(places)
    assert "Against reference" in page
    for words in ("openai/judge", "Can this judge be trusted?", "68 of 72 verdicts", "4 unreadable", "Updated"):
        assert words in page


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("method=elo", "Elo ratings from 34 battles"),
        ("method=win-rate", "win rate from 68 votes"),
        ("category=even", "in even"),
        ("equal_length=true", "at equal length"),
    ],
)
def test_a_board_can_be_looked_at_in_another_way(gallery: House, query: str, words: str):
    visitor = gallery.visitor()
    chosen = visitor.get(f"/boards?board={only_board(visitor)}&{query}")
    assert chosen.status_code == 303
    assert words in visitor.get(chosen.headers["location"]).text


def test_statistics_own_words_stand_in_folds_alone(ledger: Ledger):
    fill(ledger, upset=True)
    words = re.compile("sandwich|Student|CR3|bootstrap|resample|clustered|covariance|Bonferroni", re.IGNORECASE)
    with served(ledger) as house:
        visitor = house.visitor()
        for query in ("", "?method=elo", "?method=win-rate", "?equal_length=true"):
            page = visitor.get(f"/boards/{only_board(visitor)}{query}").text
            open_part = re.sub(r"<details.*?</details>|<code>.*?</code>", "", page, flags=re.DOTALL)
            assert words.findall(open_part) == []
            assert query or words.search(page)


def test_ranges_and_tiers_are_explained_under_a_board(gallery: House):
    visitor = gallery.visitor()
    page = visitor.get(f"/boards/{only_board(visitor)}").text
    assert page.count("own range: the ranks a model may hold, right for that model alone") == 1
    assert page.count("simultaneous: right for all models together") == 1


def test_a_category_counts_only_its_own_items(gallery: House):
    visitor = gallery.signed_in("owner")
    board = visitor.get(f"/api/boards/{only_board(visitor)}", params={"category": "odd"}).json()
    # Three items of six models' pairs in two orders; the undecided trials are on the last item, an even one.
    assert board["coverage"] == {"wanted": 36, "with_verdict": 36, "reasons": {}}
    assert board["items"] == 3


def test_views_that_do_not_exist_are_told_in_a_sentence(gallery: House):
    visitor = gallery.visitor()
    board = only_board(visitor)
    for path in ("/boards/none", f"/boards/{board}?category=none", f"/boards/{board}/model?name=none", "/none"):
        page = visitor.get(path)
        assert page.status_code == 404
        assert "There is no" in page.text
    assert visitor.get(f"/boards/{board}?method=magic").status_code == 422


def test_the_json_of_a_board_is_the_command_lines_document(gallery: House):
    visitor = gallery.visitor()
    board = only_board(visitor)
    document = visitor.get(f"/boards/{board}/board.json").json()
    assert document == visitor.get(f"/api/boards/{board}").json()
    assert [one["model"] for one in document["models"]] == list(MODELS)
    assert document["schema"] == 1


def test_a_withheld_board_has_all_digits_for_the_owner_alone_and_an_open_one_for_everybody(ledger: Ledger):
    data = fill(ledger, upset=True)

    def ratings(visitor: httpx.Client) -> list[float]:
        found = visitor.get(f"/api/boards/{only_board(visitor)}").json()
        return [one["rating"] for one in found["models"] if one["rating"] is not None]

    with served(ledger) as house:
        everybody, owner = house.visitor(), house.signed_in("owner")
        assert ratings(everybody)
        assert all(one % 10 == 0 for one in ratings(everybody))
        assert not all(one % 10 == 0 for one in ratings(owner))
        open_benchmark(ledger, data, by=None)
        assert ratings(everybody) == ratings(owner)


def test_the_csv_of_a_board_holds_no_formula(gallery: House):
    visitor = gallery.visitor()
    found = visitor.get(f"/boards/{only_board(visitor)}/board.csv")
    assert found.headers["content-type"] == "text/csv; charset=utf-8"
    names = [row["model"] for row in csv.DictReader(io.StringIO(found.text))]
    assert names == ["amber", BLUE, "'=cmd()", "reference"]


def test_a_models_page_leads_to_its_battles_page_by_page(ledger: Ledger):
    fill(ledger, sample=True)
    with served(ledger) as house:
        visitor = house.visitor()
        board = only_board(visitor)
        page = visitor.get(f"/boards/{board}/model", params={"name": "amber"})
        found = links(page, f"/boards/{board}/battle")
        assert len(found) == 18  # six items, three opponents
        assert page.text.count(">won<") == 18
        assert "odd" in page.text
        assert visitor.get(found[0]).status_code == 200
        beyond = visitor.get(f"/boards/{board}/model", params={"name": "amber", "page": "2"})
        assert "No battle" in beyond.text


def test_battles_against_the_reference_are_not_listed_where_they_are_withheld(gallery: House):
    for visitor, opponents in ((gallery.visitor(), {BLUE, "=cmd()"}), (gallery.signed_in("owner"), set(MODELS[1:]))):
        found = visitor.get(f"/api/boards/{only_board(visitor)}/battles", params={"model": "amber"}).json()
        assert {one["opponent"] for one in found["battles"]} == opponents
        assert found["total"] == len(found["battles"])
    hidden = (
        gallery.visitor()
        .get(f"/api/boards/{only_board(gallery.visitor())}/battles", params={"model": "reference"})
        .json()
    )
    assert hidden["battles"] == []


def test_a_battle_shows_the_licence_and_the_origin_of_its_images(ledger: Ledger):
    data = fill(ledger, sample=True)
    image, *_ = items_of(ledger, data)[0].images
    ledger.images.addresses.tell({image: "CC BY-SA 2.0"}, {image: "Ann <b>, https://e.org/1"}, {})
    with served(ledger) as house:
        visitor = house.visitor()
        page = visitor.get(battle_of(house, only_board(visitor), "amber", BLUE)).text
    assert "Licence: CC BY-SA 2.0" in page
    assert "Ann &lt;b&gt;, https://e.org/1" in page


def test_a_battle_shows_both_answers_both_orders_and_the_judges_words(ledger: Ledger):
    fill(ledger, sample=True)
    with served(ledger) as house:
        visitor = house.visitor()
        page = visitor.get(battle_of(house, only_board(visitor), "amber", BLUE))
    assert page.text.count("shown first") == 2
    assert page.text.count("What the judge wrote") == 2
    assert page.text.count("<b>amber</b> is better") == 2
    for secret in SECRETS:
        assert secret in page.text


def test_what_people_and_models_wrote_is_shown_as_text(ledger: Ledger):
    fill(ledger, sample=True)
    with served(ledger) as house:
        visitor = house.visitor()
        board = only_board(visitor)
        paths = [
            "/", f"/boards/{board}", f"/boards/{board}/model?" + urlencode({"name": BLUE}),
            battle_of(house, board, "amber", BLUE),
        ]  # fmt: skip
        for path in paths:
            page = visitor.get(path)
            assert page.status_code == 200
            assert SCRIPT not in page.text
            assert "&lt;script&gt;" in page.text


def test_no_page_names_another_host_or_styles_itself(gallery: House):
    visitor = gallery.visitor()
    board = only_board(visitor)
    for path in ("/", f"/boards/{board}", f"/boards/{board}/model?name=amber", "/api", "/none"):
        page = visitor.get(path).text
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', page)
        assert " style=" not in page
        assert "<style" not in page
        assert not re.search(r"<script(?! src=)", page)


def test_an_image_comes_with_its_own_type_and_can_do_nothing(gallery: House):
    visitor = gallery.visitor()
    page = visitor.get(battle_of(gallery, only_board(visitor), "amber", BLUE))
    (source,) = re.findall(r'src="(/images/\w+)"', page.text)
    image = visitor.get(source)
    assert image.content == PNG
    assert image.headers["content-type"] == "image/png"
    assert image.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in image.headers["content-security-policy"]
    assert visitor.get("/images/" + "0" * 64).status_code == 404


def everything_under(visitor: httpx.Client, house: House) -> list[httpx.Response]:
    """Every public page and document about the one board, and every battle of it, the hidden ones too."""
    board = only_board(visitor)
    data = visitor.get("/api/boards").json()["boards"][0]["data"]
    paths = ["/", "/api", "/openapi.json", "/api/boards", f"/boards/{board}", f"/api/boards/{board}"]
    paths += [f"/boards/{board}/board.csv", f"/boards/{board}/board.json", f"/boards/{board}?category=even"]
    for model in MODELS:
        paths += [f"/boards/{board}/model?" + urlencode({"name": model})]
        paths += [f"/api/boards/{board}/battles?" + urlencode({"model": model})]
        for other in MODELS:
            for item in items_of(house.ledger, data)[:2]:
                asked = urlencode({"item": item.label, "a": model, "b": other})
                paths += [f"/boards/{board}/battle?{asked}", f"/api/boards/{board}/battle?{asked}"]
    return [visitor.get(path) for path in paths]


@pytest.mark.parametrize("role", [None, "annotator", "team"])
def test_nobody_but_the_owner_sees_what_is_withheld(gallery: House, role: str | None):
    visitor = gallery.visitor() if role is None else gallery.signed_in(role)  # pyright: ignore[reportArgumentType]
    for page in everything_under(visitor, gallery):
        for secret in SECRETS:
            assert secret not in page.text, page.url


def test_the_owner_sees_what_is_withheld(gallery: House):
    owner = gallery.signed_in("owner")
    board = only_board(owner)
    page = owner.get(battle_of(gallery, board, "amber", "reference")).text
    for secret in SECRETS:
        assert secret in page


def test_an_opened_benchmark_is_seen_by_everybody(ledger: Ledger):
    data = fill(ledger)
    with served(ledger) as house:
        visitor = house.visitor()
        hidden = battle_of(house, only_board(visitor), "amber", "reference")
        assert visitor.get(hidden).status_code == 404
        open_benchmark(ledger, data, by=None)
        assert SECRETS[0] in visitor.get(hidden).text


def test_people_are_one_judge_without_names_and_their_single_verdicts_are_withheld(ledger: Ledger):
    for name in ("person-a1", "person-b2"):
        fill(ledger, rater=Rater(kind="human", name=name))
    with served(ledger) as house:
        visitor = house.visitor()
        board = only_board(visitor)
        pages = everything_under(visitor, house)
        assert visitor.get(f"/api/boards/{board}").json()["judge"] == "people"
        for page in pages:
            assert "person-a1" not in page.text, page.url
            assert "person-b2" not in page.text, page.url
        assert "Judged by 2 people" in pages[0].text
        assert "shown first" not in visitor.get(battle_of(house, board, "amber", BLUE)).text
        assert house.signed_in("owner").get(battle_of(house, board, "amber", BLUE)).text.count("person 2") == 2


def test_a_board_is_new_when_something_new_is_on_record(ledger: Ledger):
    data = fill(ledger)
    with served(ledger) as house:
        visitor = house.visitor()
        board = only_board(visitor)
        assert visitor.get(f"/api/boards/{board}").json()["votes"] == 72
        item = items_of(ledger, data)[0]
        ledger.add_responses([Response(item=item.digest, model="amber", text="another answer")], replace=True)
        # What was said about the answer that stands no more is left out: one item, three opponents, two orders. And of
        # its battles against the reference the other five, which were told together with the one.
        assert visitor.get(f"/api/boards/{board}").json()["votes"] == 56
        assert visitor.get(battle_of(house, board, "amber", BLUE)).status_code == 404
        assert visitor.get(battle_of(house, board, BLUE, "=cmd()")).status_code == 200


def test_a_judge_without_a_single_verdict_has_no_board(ledger: Ledger):
    fill(ledger, undecided=72)
    with served(ledger) as house:
        assert house.visitor().get("/api/boards").json()["boards"] == []


def test_where_length_tells_nothing_the_ratings_shown_are_not_at_equal_length(ledger: Ledger):
    fill(ledger, upset=True)
    with served(ledger) as house:
        visitor = house.visitor()
        where = f"/api/boards/{only_board(visitor)}"
        plain, controlled = (visitor.get(where, params=params).json() for params in ({}, {"equal_length": "true"}))
    assert [one["rating"] for one in plain["models"]] == [one["rating"] for one in controlled["models"]]
    assert "The ratings shown are not at equal length." in controlled["notes"]


def test_at_equal_length_the_best_still_come_first(ledger: Ledger):
    fill_with_lengths(ledger)
    with served(ledger) as house:
        visitor = house.visitor()
        where = f"/boards/{only_board(visitor)}/board.csv"
        plain, controlled = (
            list(csv.DictReader(io.StringIO(visitor.get(where, params=params).text)))
            for params in ({}, {"equal_length": "true"})
        )
    assert {row["model"] for row in plain} == {row["model"] for row in controlled}
    assert [row["rating"] for row in plain] != [row["rating"] for row in controlled]
    for rows in (plain, controlled):
        ratings = [float(row["rating"]) for row in rows]
        assert ratings == sorted(ratings, reverse=True)
        assert [int(row["rank"]) for row in rows] == [1, 2, 3, 4]


def test_at_equal_length_nothing_is_said_of_the_plain_ranks(ledger: Ledger):
    open_benchmark(ledger, fill_with_lengths(ledger), by=None)
    with served(ledger) as house:
        visitor = house.visitor()
        where = f"/api/boards/{only_board(visitor)}"
        plain, controlled = (visitor.get(where, params=params).json() for params in ({}, {"equal_length": "true"}))
    assert (len(plain["neighbours"]), controlled["neighbours"]) == (3, [])
    last = [(board["models"][-1]["rank_lower"], board["models"][-1]["tier"]) for board in (plain, controlled)]
    assert last == [(4, 4), (3, 3)]
    # The plain board separates the last two, and this one must not say so.
    told = [[one for one in board["notes"] if one.startswith("Separated from")] for board in (plain, controlled)]
    assert [len(one) for one in told] == [1, 0]
    assert sum(one.startswith("Simultaneous rank ranges") for one in controlled["notes"]) == 1
