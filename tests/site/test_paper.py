"""Claims about a paper's own figures on a board's page, and the audit of its judge beside them."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.estimate import Estimate
from evenhand.domain.verdict import Grades
from evenhand.format.supported import share_words
from evenhand.ledger.read.projection import judged, studies
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, invite, join
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.comparisons import find_place
from evenhand.site.people.studies import people_studies, take_place
from tests.e2e.showroom import CREATION, FIVE_LEVELS, VISIT, furnished
from tests.e2e.workplace import Workplace
from tests.ledger.test_people_studies import say
from tests.scripted_server import server_process
from tests.site.house import GENEROUS, House, served

WORKING = "being worked out"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    here = Workplace(tmp_path_factory.mktemp("paper") / "show")
    furnished(here)
    return here


@pytest.fixture(scope="module")
def showroom(here: Workplace) -> Iterator[House]:
    with closing(Ledger(here.store)) as ledger, served(ledger) as house:
        yield house


def page_of(house: House, benchmark: str, **more: Any) -> tuple[str, httpx.Response]:
    """The board's id and its page, of the one that compares and is not people's."""
    visitor = house.visitor()
    board = next(
        one["board"]
        for one in visitor.get("/api/boards").json()["boards"]
        if one["benchmark"] == benchmark and one["judge"] != "people" and one["protocol"] != "creation_factuality"
    )
    return board, visitor.get(f"/boards/{board}", params=more)


def table(page: str, number: int) -> dict[str, list[str]]:
    """What stands in the cells of a paper's table, by the row's name."""
    part = re.search(rf'<caption id="paper-1-{number}".*?</table>', page, re.DOTALL)
    assert part, page
    return {
        unescape(re.sub(r"<[^>]*>", "", name)).strip(): re.findall(r"<b>(.*?)</b>", cells)
        for name, cells in re.findall(r'<th scope="row" class="name">(.*?)</th>(.*?)</tr>', part[0], re.DOTALL)
    }


def score(here: Workplace, benchmark: str) -> dict[str, Any]:
    ran = here.run("score", benchmark, "--judge", "scripted/judge", "--json")
    assert ran.code == 0, ran.err
    return ran.document


def scored(here: Workplace, benchmark: str) -> dict[str, dict[str, Any]]:
    return {one["model"]: one for one in score(here, benchmark)["models"]}


def figures(part: dict[str, Any]) -> list[str]:
    return [
        f"{part['reward']:.2f}",
        f"{100 * part['win_rate']:.0f} %",
        f"{part['vfs']:.2f}",
        f"{part['judged']} of {part['applicable']}",
    ]


def test_reward_win_rate_and_vfs_are_those_of_score(here: Workplace, showroom: House):
    _, page = page_of(showroom, CREATION)
    expected = scored(here, CREATION)
    assert table(page.text, 1) == {model: figures(one) for model, one in expected.items()}
    assert table(page.text, 2) == {
        model: [f"{part['reward'] + 0.0:.2f}" for part in one["categories"]] for model, one in expected.items()
    }
    best = next(iter(expected.values()))
    assert f"{best['reward_lower']:.2f} to {best['reward_upper']:.2f}" in page.text
    assert f"{best['vfs_lower']:.2f} to {best['vfs_upper']:.2f}" in page.text
    assert f"VFS {best['categories'][0]['vfs']:.2f}" in page.text


def test_of_a_category_stand_only_its_own_figures(here: Workplace, showroom: House):
    expected = scored(here, CREATION)
    category = next(iter(expected.values()))["categories"][1]["category"]
    _, page = page_of(showroom, CREATION, category=category)
    part = {
        model: next(part for part in one["categories"] if part["category"] == category)
        for model, one in expected.items()
    }
    assert table(page.text, 1) == {model: figures(one) for model, one in part.items()}
    assert "paper-1-2" not in page.text


def test_grades_stand_beside_the_preferences_and_not_on_a_board_of_their_own(showroom: House):
    visitor = showroom.visitor()
    listed = visitor.get("/").text
    assert "creation_preference" in listed
    assert "creation_factuality" not in listed
    graded = next(
        one["board"] for one in visitor.get("/api/boards").json()["boards"] if one["protocol"] == "creation_factuality"
    )
    page = visitor.get(f"/boards/{graded}")
    assert page.status_code == 200
    assert "Graded by" in page.text


def test_grades_alone_have_a_page(tmp_path: Path):
    here = Workplace(tmp_path / "here")
    with server_process() as url:
        who = ("--judge", "scripted/judge", "--judge-base-url", url, "--endpoint-name", "scripted", "--quiet")
        assert here.run("judge", CREATION, *who, "--protocol", "creation_factuality").code == 0
    with closing(Ledger(here.store)) as ledger, served(ledger) as house:
        visitor = house.visitor()
        assert "creation_factuality" in visitor.get("/").text
        board = visitor.get("/api/boards").json()["boards"][0]["board"]
        page = visitor.get(f"/boards/{board}")
        first, *others = judged(ledger, studies(ledger))
        same = [one for one in (first, *others) if one.trial.item == first.trial.item]
        given = {one.models: one.judgement.verdict for one in same if set(one.models) == set(first.models)}
        asked = {"item": first.trial.item, "a": first.models[0], "b": first.models[1]}
        showings = house.signed_in("owner").get(f"/api/boards/{board}/battle", params=asked).json()["showings"]
    assert page.status_code == 200
    assert len(given) == len(showings) > 0
    for one in showings:
        verdict = given[tuple(one["models"])]
        assert isinstance(verdict, Grades)
        assert one["verdict"] == f"grades {verdict.values[0]:g}, {verdict.values[1]:g}", "in the order shown"
    expected = scored(here, CREATION)
    assert ">Reward</th>" not in page.text  # a column without a single figure
    assert "VFS below it" in page.text
    assert {model: cells[0] for model, cells in table(page.text, 1).items()} == {
        model: f"{one['vfs']:.2f}" for model, one in expected.items()
    }


def test_elo_matches_and_wins_against_the_reference_are_those_of_score(here: Workplace, showroom: House):
    _, page = page_of(showroom, VISIT)
    document = score(here, VISIT)
    skills = next(one["skills"] for one in document["models"] if one["model"] != "reference")
    assert set(table(page.text, 3)) == {one["skill"] for one in skills}
    parts = document["parts"]
    assert [part["part"] for part in parts] == ["single", "multiple"]
    for number, part in enumerate(parts, start=1):
        as_score_prints(table(page.text, number), {one["model"]: one for one in part["models"]})
        for one in part["models"]:
            assert f"{one['elo_lower']:.0f} to {one['elo_upper']:.0f}" in page.text


def as_score_prints(rows: dict[str, list[str]], expected: dict[str, Any]) -> None:
    assert list(rows) == list(expected)
    for model, one in expected.items():
        median, elo, matches, rate, met, ties = rows[model]
        assert median.rstrip("*") == f"{one['elo_median']:.0f}"
        assert elo.rstrip("*") == f"{one['elo']:.0f}"
        assert matches == f"{one['matches']:,}"
        if model == "reference":
            assert (rate, met) == ("–", "–")
        else:
            won, low, high = (one[f"win_vs_reference{end}"] for end in ("", "_lower", "_upper"))
            assert rate == share_words(Estimate(value=won, lower=low, upper=high))
            assert (met, ties) == (f"{one['win_vs_reference_n']:.0f}", str(one["win_vs_reference_ties"]))


def test_peoples_verdicts_make_the_papers_figures_and_name_nobody(showroom: House):
    ledger = showroom.ledger
    study = next(one for one in people_studies(ledger) if one.title == FIVE_LEVELS)
    person = join(ledger, invite(ledger, Invite(role="annotator")).token, "Ada Annotator").person
    place = find_place(ledger, take_place(ledger, study.id, person))
    assert place is not None
    for number in range(1, place.tasks + 1):
        verdict = place.form.preference("Left>>Right")
        assert verdict is not None
        say(ledger, place, number, verdict)
    set_people_study(ledger, study.id, "closed", on=True)
    visitor = showroom.visitor()
    board = next(one["board"] for one in visitor.get("/api/boards").json()["boards"] if one["judge"] == "people")
    page = visitor.get(f"/boards/{board}")
    assert page.status_code == 200
    assert "Ada" not in page.text
    assert "latest audit" not in page.text
    assert visitor.get(f"/boards/{board}/audit").status_code == 404


def test_a_board_does_not_wait_for_the_papers_figures(here: Workplace):
    with (
        closing(Ledger(here.store)) as ledger,
        served(ledger, limits=replace(GENEROUS, glance=0.0)) as house,
    ):
        visitor = house.visitor()
        boards = visitor.get("/api/boards")
        path = f"/boards/{next(one['board'] for one in boards.json()['boards'] if one['benchmark'] == VISIT)}"
        page = visitor.get(path)
        assert page.status_code == 200
        assert WORKING in page.text
        while WORKING in (page := visitor.get(path)).text:
            pass
    assert "Battles won of those decided with the reference" in page.text
    assert "Won against reference" not in page.text  # beside the board's own figure of nearly that name


def test_the_latest_audit_stands_beside_the_judge_and_whole_on_a_page_of_its_own(showroom: House):
    board, page = page_of(showroom, VISIT)
    assert "swap consistency" in page.text
    whole = showroom.visitor().get(f"/boards/{board}/audit")
    assert whole.status_code == 200
    assert "<svg" in whole.text
    assert "planted effect" in whole.text
    policy = whole.headers["content-security-policy"]
    assert re.search(r"style-src 'self' 'sha256-[\w+/]{43}=';", policy)
    assert "unsafe" not in policy
    assert " style=" not in whole.text
    assert "measure order only" not in page.text, "the audit measured more"


def test_a_judge_that_was_never_audited_is_told_how(gallery: House):
    visitor = gallery.visitor()
    board = visitor.get("/api/boards").json()["boards"][0]["board"]
    page = visitor.get(f"/boards/{board}").text
    assert "evenhand audit --judge" in page
    assert "The whole audit" not in page
    assert visitor.get(f"/boards/{board}/audit").status_code == 404


def test_of_a_skill_with_one_item_the_page_speaks_of_one_item(showroom: House):
    of_skill = Counter(item.category for item in load_benchmark(VISIT).items)
    skill = next(name for name, number in of_skill.items() if number == 1)
    _, page = page_of(showroom, VISIT, category=skill)
    assert "ties left out; 1 item<" in page.text
