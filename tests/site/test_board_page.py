"""Claims about looking around on a board: sorted, found, head to head, and from one battle to the next."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.reports.page.report import report_of
from evenhand.reports.page.studies import with_grades
from evenhand.reports.page.writing import write_report
from tests.site.house import CONDITION, JUDGE, MODELS, House, fill, links, served
from tests.site.test_boards import only_board

BLUE = MODELS[1]


@pytest.fixture
def hall(ledger: Ledger) -> Iterator[House]:
    """A sample, so that everybody sees all of it; on two of six items the last model beats the first."""
    fill(ledger, sample=True, upset=True)
    with served(ledger) as house:
        yield house


def rows(page: httpx.Response) -> list[str]:
    """The models of the board's table, from top to bottom."""
    table = page.text.split('<table class="board">')[1].split("</table>")[0]
    return re.findall(r'class="name"><a href="[^"]*">([^<]*)', table)


def sorted_by(page: httpx.Response) -> list[tuple[str, str]]:
    return re.findall(r'aria-sort="(\w+)"><a class="by" href="[^"]*">([^<]*)', page.text)


def heading(page: httpx.Response, words: str) -> str:
    found = re.search(rf'<a class="by" href="([^"]*)">{re.escape(words)}<', page.text)
    assert found
    return found[1].replace("&amp;", "&")


def test_a_board_is_sorted_by_following_a_columns_heading_and_again_the_other_way(hall: House):
    visitor = hall.visitor()
    page = visitor.get(f"/boards/{only_board(visitor)}")
    ranked = rows(page)
    assert len(ranked) == 4
    assert sorted_by(page) == [("ascending", "Rank")]
    up = visitor.get(heading(page, "Model"))
    assert (rows(up), sorted_by(up)) == (sorted(ranked), [("ascending", "Model")])
    down = visitor.get(heading(up, "Model"))
    assert (rows(down), sorted_by(down)) == (sorted(ranked, reverse=True), [("descending", "Model")])
    assert rows(visitor.get(heading(page, "Win rate"))) == ranked
    assert rows(visitor.get(heading(page, "Rank"))) == ranked[::-1]
    assert rows(visitor.get(heading(down, "Rank"))) == ranked


def test_a_sorted_view_keeps_the_rest_of_the_view(hall: House):
    visitor = hall.visitor()
    page = visitor.get(f"/boards/{only_board(visitor)}?category=odd&method=win-rate")
    address = heading(page, "Model")
    assert "category=odd" in address
    assert "method=win-rate" in address
    assert "in odd" in visitor.get(address).text


def test_what_has_no_value_stands_last_whichever_way(hall: House):
    visitor = hall.visitor()
    board = only_board(visitor)
    for order in ("ascending", "descending"):
        # The reference did not meet itself.
        assert rows(visitor.get(f"/boards/{board}?sort=reference&order={order}"))[-1] == "reference"


def test_a_column_that_is_not_there_is_told_in_a_sentence(hall: House):
    visitor = hall.visitor()
    assert visitor.get(f"/boards/{only_board(visitor)}?sort=beauty").status_code == 422


def test_a_model_is_found_by_some_letters_and_keeps_its_rank(hall: House):
    visitor = hall.visitor()
    board = only_board(visitor)
    page = visitor.get(f"/boards/{board}", params={"find": " AMB "})
    assert rows(page) == ["amber"]
    assert "1 of 4 models with “AMB” in its name" in page.text
    assert "find=AMB" in heading(page, "Rating")
    assert rows(visitor.get(f"/boards/{board}", params={"find": "<b>"})) == []


def matrix(page: str) -> dict[str, list[str]]:
    """Figures by row, as they stand."""
    part = page.split('id="head-to-head"')[1].split("</details>")[0].split("<tbody>")[1]
    return {
        row.split('class="name">')[1].split("<")[0]: [
            re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)
        ]
        for row in part.split("</tr>")[:-1]
    }


def test_the_matrix_says_who_beats_whom_and_leads_to_the_battles(hall: House):
    visitor = hall.visitor()
    board = only_board(visitor)
    page = visitor.get(f"/boards/{board}")
    found = matrix(page.text)
    assert list(found) == rows(page)
    # Four of six items in both orders, and the two on which all is reversed.
    assert found["amber"] == ["", "67", "67", "67"]
    assert found["reference"] == ["33", "33", "33", ""]
    battles = visitor.get(next(one for one in links(page, f"/boards/{board}/model?name=amber&amp;against=reference")))
    assert len(links(battles, f"/boards/{board}/battle")) == 6


def test_figures_of_pairs_lead_nowhere_where_their_battles_are_withheld(ledger: Ledger):
    fill(ledger, upset=True)
    with served(ledger) as house:
        visitor, owner = house.visitor(), house.signed_in("owner")
        board = only_board(visitor)
        start = f"/boards/{board}/model?name=amber&amp;against="
        against = {
            who: {one.rpartition("against=")[2].partition("#")[0] for one in links(page, start)}
            for who, page in (("visitor", visitor.get(f"/boards/{board}")), ("owner", owner.get(f"/boards/{board}")))
        }
    assert "reference" in against["owner"]
    assert "reference" not in against["visitor"]
    assert len(against["visitor"]) == 2


def listed(visitor: httpx.Client, board: str, **asked: str) -> list[tuple[str, str, str]]:
    found = visitor.get(f"/api/boards/{board}/battles", params={"model": "amber", **asked}).json()
    assert found["total"] == len(found["battles"])
    return [(one["label"], one["opponent"], one["result"]) for one in found["battles"]]


def test_a_models_battles_are_filtered_and_sorted(hall: House):
    visitor = hall.visitor()
    board = only_board(visitor)
    everything = listed(visitor, board)
    assert len(everything) == 18
    assert {one[1] for one in listed(visitor, board, against=BLUE)} == {BLUE}
    assert len(listed(visitor, board, result="lost")) == 6
    assert {one[0] for one in listed(visitor, board, category="even")} == {"item 2", "item 4", "item 6"}
    assert {one[0] for one in listed(visitor, board, find="TEM 3")} == {"item 3"}
    assert listed(visitor, board, against="nobody") == []
    by_item = [one[0] for one in listed(visitor, board, sort="item", order="descending")]
    assert by_item == sorted(by_item, reverse=True)
    results = [one[2] for one in listed(visitor, board, sort="result")]
    assert results == ["won"] * 12 + ["lost"] * 6
    page = visitor.get(f"/boards/{board}/model", params={"name": "amber", "result": "lost"})
    assert "6 battles." in page.text
    assert page.text.count(">lost</span>") == 6
    assert visitor.get(f"/boards/{board}/model?name=amber&result=drawn").status_code == 422


def test_how_many_battles_are_withheld_does_not_tell_how_they_ended(ledger: Ledger):
    fill(ledger, upset=True)
    with served(ledger) as house:
        visitor = house.visitor()
        board = only_board(visitor)
        for result in ("", "won", "lost"):
            page = visitor.get(f"/boards/{board}/model", params={"name": "amber", "result": result})
            assert "6 battles more are withheld" in page.text
        assert listed(visitor, board, against="reference") == []


def test_one_steps_from_battle_to_battle_through_what_was_chosen(hall: House):
    visitor = hall.visitor()
    board = only_board(visitor)
    page = visitor.get(f"/boards/{board}/model", params={"name": "amber", "result": "won", "sort": "against"})
    first, *_, last = links(page, f"/boards/{board}/battle")
    seen, address = [], first
    while address:
        page = visitor.get(address)
        assert f"{len(seen) + 1} of 12 chosen" in page.text
        seen.append(address)
        found = re.search(r'rel="next" href="([^"]*)"', page.text)
        address = found[1].replace("&amp;", "&") if found else ""
    assert len(set(seen)) == 12
    assert seen[-1] == last
    before = re.search(r'rel="prev" href="([^"]*)"', page.text)
    assert before
    assert before[1].replace("&amp;", "&") == seen[-2]
    assert "amber</strong> won 2 of 2 verdicts." in page.text


def test_the_steps_pass_over_what_a_visitor_may_not_see(ledger: Ledger):
    fill(ledger, upset=True)
    with served(ledger) as house:
        visitor = house.visitor()
        board = only_board(visitor)
        page = visitor.get(f"/boards/{board}/model", params={"name": "amber"})
        battle = visitor.get(links(page, f"/boards/{board}/battle")[0])
        assert "1 of 12" in battle.text
        owner = house.signed_in("owner")  # whose list goes by the record
        page = owner.get(f"/boards/{board}/model", params={"name": "amber"})
        assert "1 of 18" in owner.get(links(page, f"/boards/{board}/battle")[0]).text


@pytest.mark.parametrize("judge", ["scripted/judge", "openai/judge"])
def test_every_page_of_a_sample_and_of_a_scripted_judge_says_so_in_its_head(ledger: Ledger, tmp_path: Path, judge: str):
    fill(ledger, sample=True, rater=Rater(kind="model", name=judge, endpoint="openai"), upset=True)
    written = tmp_path / "report.html"
    write_report(report_of(ledger, with_grades(found := studies(ledger), found)), written)
    report = written.read_text(encoding="utf-8")
    with served(ledger) as house:
        visitor = house.visitor()
        board = f"/boards/{only_board(visitor)}"
        model = f"{board}/model?name={BLUE}"
        battle = f"{board}/battle?item={_first_item(ledger)}&a={MODELS[0]}&b={BLUE}"
        pages = [visitor.get(path).text for path in (board, model, battle)]
        cards = visitor.get("/").text
    for page in (*pages, report):
        head = page.split('class="opening"')[1].split("</div>")[0]
        assert ('class="badge">scripted judge<' in head) == (judge == "scripted/judge")
        assert 'class="badge">sample<' in head
    assert ('class="badge">scripted judge<' in cards) == (judge == "scripted/judge")


def _first_item(ledger: Ledger) -> str:
    return items_of(ledger, studies(ledger)[0].data)[0].digest


@pytest.mark.parametrize("backwards", [False, True], ids=["as planned", "the other way round"])
def test_in_which_order_replies_came_is_told_by_no_list_and_no_battle(ledger: Ledger, backwards: bool):
    """Not even of items and models whose names differ only in a way in which numbers and letters are read alike."""
    items = tuple(
        Item(label=label, instruction=f"{label}?", reference=f"House {label}.") for label in ("2", "02", "10")
    )
    models = ("amber", "blue 1", "blue 01", REFERENCE)
    benchmark = Benchmark(name="houses", items=items, licence="CC0-1.0", citation="", protocols=())
    answers = [
        Response(item=one.digest, model=model, text=f"{model}: {one.label}") for one in items for model in models
    ]
    given = {one.digest: {each.model: each.digest for each in answers if each.item == one.digest} for one in items}
    study = Study(
        benchmark="houses", data=benchmark.digest, items=tuple(one.digest for one in items), models=models,
        rater=JUDGE.key, condition=CONDITION.key,
    )  # fmt: skip
    trials = [*wanted(study, given)]
    ledger.register_benchmark(benchmark)
    ledger.add_responses(answers)
    ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=len(trials))
    for trial in reversed(trials) if backwards else trials:
        verdict = Preference(value=1, levels=3)
        judgement = Judgement(trial=trial.key, verdict=verdict, reader="r1", calls=(), run="run", at=1.0)
        ledger.commit(Entries(trials=[trial], links=[(study.key, trial.key)], judgements=[judgement]))
    with served(ledger) as house:
        visitor = house.visitor()
        board = only_board(visitor)
        named = [(label, opponent) for label, opponent, _ in listed(visitor, board)]
        shown: list[list[str]] = []
        for label, opponent in named:
            asked = {"item": label, "a": "amber", "b": opponent}
            showings = visitor.get(f"/api/boards/{board}/battle", params=asked).json()["showings"]
            shown += [one["models"] for one in showings]
    expected = [(label, model) for label in ("02", "2", "10") for model in ("blue 01", "blue 1")]
    assert named == expected
    assert shown == [pair for _, model in expected for pair in (["amber", model], [model, "amber"])]
