"""The public part of a ledger as files: nothing withheld, every link leads to a file, names that every disk takes."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from html import unescape
from itertools import groupby
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response
from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.site.publishing.addresses import Address, link_of, named, with_relative_links
from evenhand.site.publishing.walk import PublishError, WrittenSite, walked_boards, walked_cases
from tests.database import ledger_in
from tests.refusals import refused
from tests.site.house import JUDGE, MODELS, SECRETS, House, fill, judge, numbers, served
from tests.site.test_compare import Stocked
from tests.site.test_people_boards import judged as judged_by_one
from tests.site.test_people_boards import setting


def walked(ledger: Ledger, *, battles: bool = True) -> dict[str, bytes]:
    return made(walked_boards(ledger, battles=battles, told=lambda _: None))


def made(found: WrittenSite) -> dict[str, bytes]:
    with closing(found):
        return {name: content() for name, content in found.files.items()}


def pages(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: body.decode() for name, body in files.items() if name.endswith(".html")}


def links(page: str) -> list[str]:
    return [unescape(one) for one in re.findall(r'\s(?:href|src)="([^"]*)"', page)]


def broken_links(files: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Of all pages, those that lead to no file of the same folder; one to another site counts as broken here."""
    found: list[tuple[str, str]] = []
    for name, page in pages(files).items():
        for link in links(page):
            parts = urlsplit(link)
            there = PurePosixPath(name).parent.joinpath(unquote(parts.path)) if parts.path else PurePosixPath(name)
            whole = Path("/site").joinpath(there).resolve().relative_to("/site") if ".." in there.parts else there
            if parts.scheme or parts.netloc or link.startswith("/") or str(whole) not in files:
                found.append((name, link))
    return found


@pytest.fixture(scope="module")
def withheld(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    ledger = ledger_in(tmp_path_factory.mktemp("withheld"))
    fill(ledger, undecided=4)
    yield ledger
    ledger.close()


@pytest.fixture(scope="module")
def files(withheld: Ledger) -> dict[str, bytes]:
    return walked(withheld)


def test_nothing_withheld_is_in_any_file(files: Mapping[str, bytes]):
    assert [(name, word) for name, body in files.items() for word in SECRETS if word.encode() in body] == []
    assert len([name for name in files if "/battles/" in name and name.endswith(".html")]) == 3 * 6


def test_of_a_sample_captions_references_criteria_and_the_judges_words_are_shown(ledger: Ledger):
    fill(ledger, sample=True)
    files = walked(ledger)
    (case,) = [page for name, page in pages(files).items() if "/items/" in name and "What is 3?" in page]
    assert all(word in case for word in SECRETS)
    battle = next(page for name, page in pages(files).items() if "/battles/" in name)
    assert "I quote" in battle
    assert len([name for name in files if name.startswith("boards/") and "/battles/" in name]) == 6 * 6


@pytest.mark.slow
def test_every_page_of_a_sample_and_of_a_script_says_so_in_its_head(ledger: Ledger):
    for name in ("scripted/one", "scripted/two"):
        fill(ledger, sample=True, rater=replace(JUDGE, name=name))
    found = pages(walked(ledger))
    heads = {name: page.partition("<main")[2].partition("<section")[0] for name, page in found.items()}
    of_data = {name for name in heads if name not in ("index.html", "benchmarks/index.html")}
    assert len(of_data) > 40
    assert {name for name in of_data if ">sample</span>" not in heads[name]} == set()
    judged = {name for name in of_data if name.startswith("boards/") or name.endswith("/judges.html")}
    assert {name for name in judged if ">scripted judge</span>" not in heads[name]} == set()
    assert all(">sample</span>" in page for page in (found["index.html"], found["benchmarks/index.html"]))


def test_an_opened_benchmark_is_published_whole_and_a_closed_one_is_not_any_more(ledger: Ledger):
    data = fill(ledger)
    open_benchmark(ledger, data, by=None)
    assert SECRETS[1].encode() in b"".join(walked(ledger, battles=False).values())
    close_benchmark(ledger, data)
    assert SECRETS[1].encode() not in b"".join(walked(ledger, battles=False).values())


def test_every_link_is_relative_and_leads_to_a_file(files: Mapping[str, bytes]):
    assert broken_links(files) == []
    assert len(pages(files)) > 20


def test_no_page_has_a_form_that_goes_anywhere_or_a_way_to_sign_in(files: Mapping[str, bytes]):
    for name, page in pages(files).items():
        assert not re.search(r'<form[^>]*(action|method)=|type="submit"|name="csrf"', page), name
        assert not re.search(r"/(admin|account|join|submit|api)\b[^\"]*\"", page.replace("/api/boards", "")), name
        assert 'type="module"' not in page, name


def test_the_documents_are_those_that_the_api_gives(withheld: Ledger, files: Mapping[str, bytes]):
    with served(withheld) as house:
        visitor = house.visitor()
        boards = visitor.get("/api/boards").json()
        assert json.loads(files["api/boards.json"]) == boards
        (board,) = (one["board"] for one in boards["boards"])
        assert json.loads(files[f"boards/{board}/board.json"]) == visitor.get(f"/api/boards/{board}").json()
        views = [("method", "elo"), ("method", "win-rate"), ("equal_length", "true")]
        for view in views:
            document = json.loads(files[f"boards/{board}/{named([view])}.json"])
            assert document == visitor.get(f"/api/boards/{board}", params=dict([view])).json(), view
        listed = [json.loads(body) for name, body in files.items() if "/battles/" in name and name.startswith("api/")]
        assert {one["model"] for one in listed} == set(MODELS) - {"reference"}
        for one in listed:
            given = visitor.get(f"/api/boards/{board}/battles", params={"model": one["model"]}).json()
            assert (one["total"], one["battles"]) == (given["total"], given["battles"])


def test_a_category_is_published_as_the_api_gives_it(ledger: Ledger):
    fill(ledger, sample=True)
    files = walked(ledger, battles=False)
    with served(ledger) as house:
        visitor = house.visitor()
        (board,) = (one["board"] for one in visitor.get("/api/boards").json()["boards"])
        for category in ("even", "odd"):
            document = json.loads(files[f"boards/{board}/{named([('category', category)])}.json"])
            assert document == visitor.get(f"/api/boards/{board}", params={"category": category}).json()


def test_the_same_record_makes_the_same_files(withheld: Ledger, files: Mapping[str, bytes]):
    assert walked(withheld) == dict(files)


def test_what_rests_on_the_same_is_walked_in_turn(files: Mapping[str, bytes]):
    """So that it is worked out once: a view and its documents, a battle and its document, the battles of an item."""
    order = list(files)
    for name in order:
        if re.fullmatch(r"boards/[^/]+/[^/]+\.html", name) and not name.endswith("audit.html"):
            beside = {name.replace("index.html", "board.html").replace(".html", ending) for ending in (".csv", ".json")}
            assert set(order[order.index(name) + 1 :][:3]) >= beside, name
    battles = [name for name in order if "/battles/" in name and name.startswith("boards/")]
    for name in battles:
        assert order[order.index(name) + 1] == f"api/{name}".replace("/battles/", "/battle/").replace(".html", ".json")
    items = [json.loads(files[order[order.index(name) + 1]])["item"] for name in battles]
    assert len(list(groupby(items))) == len(set(items)) == 6


def test_what_was_walked_is_not_written_out_by_whoever_names_it(withheld: Ledger):
    with closing(walked_boards(withheld, battles=False, told=lambda _: None)) as found:
        assert len(repr(found)) < 200
        assert all(len(repr(content)) < 500 for content in found.files.values())


@pytest.mark.slow
def test_a_page_that_is_still_being_worked_out_is_waited_for(ledger: Ledger):
    """Nothing is there at once."""
    for rater in (JUDGE, replace(JUDGE, name="openai/other")):
        fill(ledger, sample=True, rater=rater)
    at_leisure = walked(ledger, battles=False)
    in_a_hurry = made(walked_boards(ledger, battles=False, told=lambda _: None, patience=0.0))
    assert in_a_hurry == at_leisure
    assert any(name.endswith("/judges.html") for name in in_a_hurry)
    assert not any("being worked out" in page for page in pages(in_a_hurry).values())


def test_without_battle_pages_their_lists_stay_and_lead_nowhere(withheld: Ledger):
    files = walked(withheld, battles=False)
    assert not [name for name in files if "/battles/" in name and name.startswith("boards/")]
    model = next(page for name, page in pages(files).items() if "/models/" in name)
    assert "item 1" in model
    assert broken_links(files) == []


def test_a_head_to_head_figure_leads_to_the_battles_against_that_model():
    there = link_of("/boards/0123456789abcdef/model?name=amber&against=a%2Fb&result=won#battles")
    assert there is not None
    assert there.fragment == "against=a%2Fb"
    assert there.address == Address("/boards/0123456789abcdef/model", (("name", "amber"),))


def test_models_whose_names_look_alike_have_files_of_their_own():
    names = ["GPT-4", "gpt-4", "GPT\u20114", "\u0421laude", "Claude", "a/b", "a b", "..", "con", "x" * 900, "x" * 901]
    names += ["模型", "модель", "", " ", "a\ud83d", "a\0b", "%2e%2e", "caf\u00e9", "cafe\u0301"]
    made = [named([("name", name)]) for name in names]
    assert len({one.lower() for one in made}) == len(names)
    assert [one for one in made if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,58}", one)] == []


def test_a_category_that_is_called_like_a_method_is_another_file():
    assert named([("method", "elo")]) != named([("category", "elo")])
    assert named([("a", "x"), ("b", "y z")]) != named([("a", "x y"), ("b", "z")])


def test_such_models_are_published_each_on_a_page_of_its_own(ledger: Ledger):
    benchmark = numbers(ledger)
    ledger.register_benchmark(benchmark)
    models = ("Same", "same", "sa\u200bme", "a/../b", "x" * 300)
    answers = [Response(item=one.digest, model=name, text=f"{name}!") for one in benchmark.items for name in models]
    ledger.add_responses(answers)
    judge(ledger, benchmark, answers, models=models)
    files = walked(ledger, battles=False)
    assert len([name for name in files if "/models/" in name]) == len(models)
    assert broken_links(files) == []


def test_a_link_to_what_is_not_published_is_none_and_one_to_another_site_stays():
    page = '<a class="x" href="/admin">A</a> <a href="https://example.org/">B</a> <img src="/images/x" alt="">'
    assert with_relative_links(page, file="index.html", files={}) == (
        '<a class="x">A</a> <a href="https://example.org/">B</a> <img alt="">'
    )


def test_what_somebody_writes_is_not_taken_for_a_link(ledger: Ledger):
    words = 'see <a href="/admin">this</a> href="/boards"'
    item = Item(label="i", instruction=words)
    benchmark = Benchmark(name="own", items=(item,), licence="", citation="", protocols=())
    ledger.register_benchmark(benchmark)
    open_benchmark(ledger, benchmark.digest, by=None)
    files = made(walked_cases(ledger, benchmark.digest, told=lambda _: None))
    (case,) = [page for name, page in pages(files).items() if "/items/" in name]
    assert words in unescape(case)
    assert broken_links(files) == []


def test_a_ledger_without_a_board_is_told_what_to_do(ledger: Ledger):
    with refused(PublishError, "evenhand judge", "evenhand benchmarks show NAME --pages FOLDER"):
        walked(ledger)


def test_the_cases_of_one_benchmark_need_no_board(ledger: Ledger):
    benchmark = numbers(ledger)
    ledger.register_benchmark(benchmark)
    open_benchmark(ledger, benchmark.digest, by=None)
    files = made(walked_cases(ledger, benchmark.digest, told=lambda _: None))
    assert broken_links(files) == []
    assert files["index.html"].count(b'class="cover"') == 6
    assert len([name for name in files if "/items/" in name]) == 6
    assert all("Boards" not in page for page in pages(files).values())


def test_a_study_that_still_runs_is_named_as_what_keeps_the_only_board_back(ledger: Ledger):
    benchmark = numbers(ledger)
    ledger.register_benchmark(benchmark)
    answers = [Response(item=one.digest, model=name, text=name) for one in benchmark.items for name in MODELS]
    ledger.add_responses(answers)
    with served(ledger) as house:
        stocked, owner = Stocked(house=house, data=benchmark.digest), house.signed_in("owner")
        study = judged_by_one(stocked, owner, person="Ada", title="Which is better?")
        with refused(PublishError, "Which is better?", "Close the study", "evenhand serve"):
            walked(ledger)
        setting(owner, study, "close")
        assert "people" in walked(ledger, battles=False)["api/boards.json"].decode()


def cases_seen(house: House, role: str | None) -> dict[str, int]:
    visitor = house.visitor() if role is None else house.signed_in(role)  # pyright: ignore[reportArgumentType]
    found = {"list": visitor.get("/benchmarks").text.count("numbers</a>")}
    (data,) = {one.data for one in benchmarks(house.ledger)}
    found["cases"] = visitor.get(f"/benchmarks/{data}").status_code
    page = visitor.get(f"/benchmarks/{data}/case", params={"item": "item 1"})
    return found | {"case": page.status_code, "secrets": sum(word in page.text for word in SECRETS)}


def test_before_anything_is_judged_only_the_owner_looks_through_a_benchmark_unless_it_is_opened(ledger: Ledger):
    benchmark = numbers(ledger)
    ledger.register_benchmark(benchmark)
    with served(ledger) as house:
        assert cases_seen(house, None) == {"list": 0, "cases": 404, "case": 404, "secrets": 0}
        assert cases_seen(house, "annotator") == {"list": 0, "cases": 404, "case": 404, "secrets": 0}
        assert cases_seen(house, "owner") == {"list": 1, "cases": 200, "case": 200, "secrets": 4}
        open_benchmark(ledger, benchmark.digest, by=None)
        assert cases_seen(house, None) == {"list": 1, "cases": 200, "case": 200, "secrets": 4}


def test_of_a_judged_benchmark_everybody_sees_what_is_asked_and_nothing_it_is_held_against(withheld: Ledger):
    with served(withheld) as house:
        assert cases_seen(house, None) == {"list": 1, "cases": 200, "case": 200, "secrets": 0}
        assert cases_seen(house, "owner") == {"list": 1, "cases": 200, "case": 200, "secrets": 4}


def test_cases_are_chosen_by_kind_and_page_without_a_script(ledger: Ledger):
    items = tuple(
        Item(
            label=f"c{n}",
            instruction=f"Say {n}" if n % 2 else f"Sing {n}",
            images=tuple(f"https://example.org/{n}-{k}.png" for k in range(n % 3)),
            category=f"kind {n % 4}",
            task=f"task {n % 5}",
        )
        for n in range(1, 121)
    )
    licences = {name: "CC0" if name.endswith("-0.png") else "CC BY" for one in items for name in one.images}
    benchmark = Benchmark(name="many", items=items, licence="MIT", citation="", protocols=(), licences=licences)
    ledger.register_benchmark(benchmark)
    open_benchmark(ledger, benchmark.digest, by=None)
    here = f"/benchmarks/{benchmark.digest}"
    with served(ledger) as house:
        visitor = house.visitor()

        def found(**asked: str | int) -> list[str]:
            page = visitor.get(here, params=asked)
            assert page.status_code == 200
            return re.findall(r'class="cover" href="[^"]*">(c\d+)<', page.text)

        assert [len(found(page=n)) for n in (1, 2, 3)] == [48, 48, 24]
        assert visitor.get(here, params={"page": 4}).status_code == 404
        wanted = [one for one in items if one.category == "kind 1" and one.task == "task 2" and len(one.images) == 1]
        assert found(category="kind 1", task="task 2", images="1") == [one.label for one in wanted]
        assert found(licence="CC BY", images="2", find="SING") == [
            one.label for one in items if len(one.images) == 2 and one.instruction.startswith("Sing")
        ]
        assert found(category="none") == []
        second = visitor.get(here, params={"find": "Say", "page": 2}).text
        assert '?find=Say"' in second
        assert len(re.findall('class="cover"', second)) == 12
