"""A study from its guideline to its export, in a real browser: by keys, by touch, without scripts, and before axe."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.ledger.store.record import Ledger
from tests.database import ledger_in
from tests.e2e.browser import go, until_worked_out
from tests.e2e.test_accessibility import Inspector
from tests.e2e.test_comparing import CREATION, PHONE, Site, Visit, invited, listens, press, site, stock
from tests.ledger.test_people_quality import stock as furnish
from tests.ledger.test_people_quality import with_faulty_people
from tests.site.house import served

__all__ = ["site", "stock"]

pytestmark = pytest.mark.slow

TITLE = "Creative writing"
GUIDELINE = "# What to look at\n\n1. Read the **question**.\n2. Read both answers.\n\n```text\nLong is not better.\n```"
KNOWN = "sample-vivid | sample-careless"
COUNTED, TASKS = 6, 10
"""Beside what counts: one training item, one gold item, two repeats."""


@pytest.fixture
def inspector() -> Iterator[Inspector]:
    inspector = Inspector(findings=[])
    yield inspector
    assert not inspector.findings, "\n".join(inspector.findings)


def make(owner: Visit, inspector: Inspector | None = None) -> str:
    """The study's address."""
    page = owner.go("/admin/studies")
    data = page.get_by_label("Benchmark").locator("option", has_text=CREATION).get_attribute("value")
    page.get_by_label("Benchmark").select_option(data)
    page.get_by_role("button", name="Choose what is compared").click()
    page.get_by_label("Title").fill(TITLE)
    page.get_by_role("radio", name="Five levels").check()
    page.get_by_label("Offer “Both are bad”").check()
    page.get_by_label("Let people skip").check()
    page.locator("#guideline").fill(GUIDELINE)
    page.locator("#examples").fill(f"1 | {KNOWN} | It keeps to the image.")
    page.locator("#training").fill(f"2 | {KNOWN} | The other one invents a city.")
    page.locator("#gold").fill(f"3 | {KNOWN}")
    for name, number in {"repeats": 2, "comparisons": COUNTED, "people": 2, "each": 2, "overlap": 0, "seed": 7}.items():
        page.locator(f"#{name}").fill(str(number))
    page.get_by_role("button", name="Count again").click()
    expect(page.locator("#counts")).to_contain_text(f"{COUNTED} comparisons, asked {2 * TASKS} times in all")
    if inspector:
        inspector.looks_at(page, "study-new-filled")
    page.get_by_role("button", name="Make the study").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(TITLE)
    return page.url


def begin(person: Visit, inspector: Inspector | None = None) -> Page:
    """Before the first comparison, the guideline read."""
    page = person.go("/compare")
    page.get_by_role("button", name=f"Take part in {TITLE}").click()
    page.get_by_role("link", name="Read the guideline first").click()
    expect(page.get_by_role("heading", name="Example 1")).to_be_visible()
    expect(page.locator(".guideline strong")).to_have_text("question")
    if inspector:
        inspector.looks_at(page, "guideline")
    page.get_by_role("button", name="I have read it").click()
    page.get_by_role("link", name="Begin with number 1").click()
    at(page, 1)
    return page


def at(page: Page, number: int) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Comparison {number} of {TASKS}")


def by_keys(page: Page) -> None:
    """Everything that a keyboard can do, on the way from the first comparison to the last."""
    press(page, "2")
    expect(page.locator("[data-taught]")).to_contain_text(re.compile("You are right|Not quite"))
    expect(page.locator("[data-taught]")).to_contain_text("The other one invents a city.")
    page.keyboard.press("ArrowRight")
    at(page, 2)
    press(page, "z")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("c")
    expect(page.get_by_label("Comment")).to_be_focused()
    page.keyboard.type("Too dark 1 2 3 u s")
    page.get_by_label("Flag").select_option("broken-image")
    page.get_by_role("button", name="Keep the remark").click()
    expect(page.get_by_label("Comment")).to_have_value("Too dark 1 2 3 u s")
    press(page, "6")
    expect(page.locator("[data-status]")).to_have_text("Saved: Both are bad")
    page.keyboard.press("ArrowRight")
    at(page, 3)
    press(page, "s")
    expect(page.get_by_role("button", name="I cannot tell which is better")).to_be_focused()
    page.keyboard.press("Enter")
    at(page, 4)
    press(page, "u")
    at(page, 3)
    expect(page.locator("[data-status]")).to_have_text("No answer yet")
    listens(page)
    page.get_by_label("Go on after a choice").check()
    for number in range(3, TASKS + 1):
        at(page, number)
        press(page, "2")
    expect(page.get_by_text(f"All {TASKS} comparisons are answered.")).to_be_visible()


def by_form(page: Page) -> None:
    """The same without a script."""
    page.get_by_role("radio", name="Left is better", exact=True).check()
    page.get_by_role("button", name="Next").click()
    expect(page.locator("[data-taught]")).to_contain_text(re.compile("You are right|Not quite"))
    page.get_by_role("button", name="Next").click()
    at(page, 2)
    page.get_by_text("Skip, comment or flag").click()
    page.get_by_role("button", name="I do not know enough about it").click()
    at(page, 3)
    page.get_by_role("button", name="Undo").click()
    at(page, 2)
    expect(page.locator("[data-status]")).to_have_text("No answer yet")
    for number in range(2, TASKS + 1):
        at(page, number)
        page.get_by_role("radio", name="Both are bad" if number == 2 else "Right is better", exact=True).check()
        page.get_by_role("button", name="Finish" if number == TASKS else "Next").click()
    expect(page.get_by_text(f"All {TASKS} comparisons are answered.")).to_be_visible()


def exported(site: Site) -> list[dict[str, object]]:
    ran = site.here.run("export", "--study", TITLE, "--out", "-")
    assert ran.code == 0, ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def test_a_study_lives_by_keys_without_scripts_and_before_axe(site: Site, inspector: Inspector):
    owner = site.visit(site.link, "Olive")
    study = make(owner, inspector)
    link = invited(owner, 2)
    ada = site.visit(link, "Ada")
    page = begin(ada, inspector)
    inspector.looks_at(page, "training")
    by_keys(page)
    plain = site.visit(link, "Grace", scripts=False)
    by_form(begin(plain))
    page = owner.page
    go(page, study)
    expect(page.locator("#people")).to_contain_text("An image is broken or missing")
    expect(page.locator("#people")).to_contain_text("Too dark 1 2 3 u s")
    page.get_by_label("Person", exact=True).select_option(label="Grace")
    page.get_by_label("Why").fill("answered one and the same")
    page.get_by_role("button", name="Leave out", exact=True).click()
    expect(page.get_by_role("region", name="Who was left out")).to_contain_text("answered one and the same")
    expect(page.get_by_role("row", name=re.compile("Grace"))).to_contain_text(["left out", "left out"])
    ranked = site.here.run("rank", "--benchmark", CREATION, "--judge", "people", "--json")
    assert ranked.code in (0, 2), ranked.err
    rows = exported(site)
    decided = [row for row in rows if row["row"] == "decision"]
    assert [(row["counts"], row["rule"]) for row in decided] == [(False, "answered one and the same")]
    counting = [row for row in rows if row["counts"] and row["row"] == "task"]
    assert len({row["person"] for row in counting}) == 1
    page.get_by_role("button", name="Count again").click()
    expect(page.get_by_role("region", name="Who was left out")).to_contain_text("counts again")
    with page.expect_download() as got:
        page.get_by_role("link", name="Export all of it as CSV").click()
    assert Path(got.value.path()).read_text().count("\n") == 1 + 1 + 2 * TASKS + 2
    assert sum(bool(row["counts"]) for row in exported(site) if row["row"] == "task") == 2 * COUNTED
    assert site.here.run("ledger", "check").code == 0
    assert not [words for visit in (owner, ada, plain) for words in visit.trouble]


def test_the_owner_sees_every_planted_fault_and_the_board_with_and_without(
    browser: Browser, inspector: Inspector, tmp_path: Path
):
    with closing(ledger_in(tmp_path)) as ledger:
        furnish(ledger)
        study, _ = with_faulty_people(ledger)
        with served(ledger) as house, closing(browser.new_context()) as context:
            page = context.new_page()
            page.goto(f"{house.url}{house.link('owner')}")
            page.get_by_label("Your name").fill("Olive")
            page.get_by_role("button", name="Come in").click()
            page.goto(f"{house.url}/admin/studies/{study}")
            until_worked_out(page)
            named = page.locator("#remarkable strong").all_inner_texts()
            assert named == ["random:", "always left:", "as the judge:", "right and slow:"]
            inspector.looks_at(page, "study-faults")
            for rule in ("repeats", "judge"):
                page.get_by_label("Rule").select_option(rule)
                page.get_by_role("button", name="Leave them out").click()
            expect(page.get_by_role("button", name="Count again")).to_have_count(3)
            inspector.looks_at(page, "study-decided")
            page.set_viewport_size(PHONE)  # pyright: ignore[reportArgumentType]
            board = page.get_by_role("region", name="The board with and without those left out")
            assert board.evaluate("one => one.scrollWidth <= one.clientWidth"), "both boards are seen on a phone"


def test_a_thumb_reaches_the_choices_wherever_one_reads(site: Site):
    owner = site.visit(site.link, "Olive")
    make(owner)
    context = site.browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)  # pyright: ignore[reportArgumentType]
    site.contexts.append(context)
    person = Visit(page=context.new_page(), url=site.url)
    person.heed()
    person.page.goto(invited(owner, 1))
    person.page.get_by_label("Your name").fill("Grace")
    with person.page.expect_navigation():
        person.page.get_by_role("button", name="Come in").tap()
    page = begin(person)
    for number in range(1, TASKS + 1):
        at(page, number)
        listens(page)
        for where in (0, 0.5, 1):
            page.evaluate(f"window.scrollTo(0, {where} * document.body.scrollHeight)")
            box = page.get_by_text("Left is better", exact=True).bounding_box()
            assert box
            assert 0 <= box["y"] <= PHONE["height"] - box["height"]
        # What is read keeps the larger part of the screen.
        bar = page.locator(".choosing").bounding_box()
        assert bar
        assert bar["height"] < PHONE["height"] / 3
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        page.get_by_role("radio", name="Left is better", exact=True).tap()
        expect(page.locator("[data-status]")).to_have_text("Saved: Left is better")
        page.get_by_role("button", name="Finish" if number == TASKS else "Next").tap()
    expect(page.get_by_text(f"All {TASKS} comparisons are answered.")).to_be_visible()
    assert not person.trouble


def test_answers_are_shown_as_markdown_and_the_raw_text_is_one_key_away(site: Site):
    with closing(Ledger(site.here.store)) as ledger:
        benchmark = load_benchmark(CREATION)
        answers = [one for path in bundled_answers(benchmark) for one in read_responses(path, benchmark).responses]
        marked = "**bold**\n\n<script>document.title = 'taken'</script>\n\n```python\n" + "wide = 1  " * 60 + "\n```"
        ledger.add_responses([replace(one, text=f"{marked}\n\n{one.model}") for one in answers], replace=True)
    owner = site.visit(site.link, "Olive")
    make(owner)
    ada = site.visit(invited(owner, 1), "Ada", phone=True)
    page = begin(ada)
    listens(page)
    assert "taken" not in page.title()
    expect(page.locator(".rendered strong").first).to_have_text("bold")
    expect(page.get_by_text("**bold**").first).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.keyboard.press("r")
    expect(page.get_by_text("**bold**").first).to_be_visible()
    expect(page.locator(".rendered strong").first).to_be_hidden()
    page.keyboard.press("r")
    expect(page.locator(".rendered strong").first).to_be_visible()
    assert not ada.trouble
