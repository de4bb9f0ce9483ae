"""The whole life of a study for people, in a real browser, with its scripts and without."""

import re
import secrets
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.site.people.changes import renew_answers
from evenhand.site.people.studies import people_studies
from tests.e2e.browser import go
from tests.e2e.workplace import SECONDS, Workplace, drawn
from tests.scripted_server import server_process
from tests.site.test_serve import owner_link, serving

pytestmark = pytest.mark.slow

VISIT, CREATION = "visit-bench-sample", "creation-mmbench-sample"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@dataclass(kw_only=True)
class Visit:
    """One person's browser, and what went wrong in it."""

    page: Page
    url: str
    trouble: list[str] = field(default_factory=list[str])

    def heed(self) -> None:
        """Notes errors of scripts, refused contents, and requests to other hosts."""
        self.page.on("console", lambda said: self.trouble.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda asked: self._asked(asked.url))

    def _asked(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self.url).netloc:
            self.trouble.append(f"asked {url}")

    def go(self, path: str) -> Page:
        return go(self.page, self.url + path)


@dataclass(frozen=True, kw_only=True)
class Site:
    browser: Browser
    url: str
    link: str
    here: Workplace
    contexts: list[BrowserContext] = field(default_factory=list[BrowserContext])
    olive: Visit | None = None
    """The owner, of a site that several tests use."""
    since: int = 0
    """The last judgement that was there before the test."""

    @property
    def owner(self) -> Visit:
        return self.olive or self.visit(self.link, "Olive")

    def left(self) -> None:
        for context in self.contexts:
            context.close()

    def visit(self, link: str, name: str, *, scripts: bool = True, phone: bool = False) -> Visit:
        context = self.browser.new_context(
            viewport=PHONE if phone else DESKTOP,  # pyright: ignore[reportArgumentType]
            java_script_enabled=scripts,
        )
        self.contexts.append(context)
        visit = Visit(page=context.new_page(), url=self.url)
        visit.heed()
        visit.page.goto(link)
        visit.page.get_by_label("Your name").fill(name)
        visit.page.get_by_role("button", name="Come in").click()
        return visit


def stocked(here: Workplace) -> None:
    """Both samples with their answers, and a model's verdicts on one of them."""
    with server_process() as url:
        assert here.judge(url, *drawn(30)).code == 0
    with closing(Ledger(here.store)) as ledger:
        benchmark = load_benchmark(CREATION)
        ledger.register_benchmark(benchmark)
        for path in bundled_answers(benchmark):
            ledger.add_responses(read_responses(path, benchmark).responses)


@contextmanager
def opened(browser: Browser, here: Workplace) -> Generator[Site]:
    with serving(here.folder, "--no-worker") as (process, url):
        site = Site(browser=browser, url=url, link=owner_link(process), here=here)
        yield site
        site.left()


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    here = Workplace(tmp_path_factory.mktemp("comparing") / "stock")
    stocked(here)
    return here


@pytest.fixture
def site(browser: Browser, stock: Workplace, tmp_path: Path) -> Iterator[Site]:
    with opened(browser, stock.copy(tmp_path.name)) as site:
        yield site


@pytest.fixture(scope="module")
def everybodys(browser: Browser, stock: Workplace) -> Iterator[Site]:
    with opened(browser, stock.copy("everybodys")) as site:
        yield replace(site, olive=site.owner)


@pytest.fixture
def shared(everybodys: Site) -> Iterator[Site]:
    """For a test with a study of its own, which needs no site of its own."""
    ((since,),) = everybodys.here.rows("SELECT coalesce(max(seq), 0) FROM judgements")
    site = replace(everybodys, contexts=[], since=since)
    yield site
    site.left()


def invited(owner: Visit, people: int) -> str:
    page = owner.go("/admin")
    page.get_by_label("Role").select_option("annotator")
    page.get_by_label("For whom").fill("the volunteers")
    page.get_by_label("People", exact=True).fill(str(people))
    page.get_by_role("button", name="Make a link").click()
    return page.locator("code.secret").inner_text()


def make_study(
    owner: Visit, benchmark: str, form: str, title: str, *, against: str | None = None, **numbers: int
) -> str:
    """The study's address."""
    page = owner.go("/admin/studies")
    data = page.get_by_label("Benchmark").locator("option", has_text=benchmark).get_attribute("value")
    page.get_by_label("Benchmark").select_option(data)
    page.get_by_role("button", name="Choose what is compared").click()
    page.get_by_label("Title").fill(title)
    page.get_by_role("radio", name=form).check()
    if against is not None:
        page.get_by_role("radio", name="Each against one").check()
        page.get_by_label("Each against", exact=True).select_option(against)
    for name, number in {"people": 2, "each": 2, "overlap": 0, "seed": 7, **numbers}.items():
        page.locator(f"#{name}").fill(str(number))
    page.get_by_role("button", name="Make the study").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    return page.url


def begin(person: Visit, title: str) -> int:
    """How many comparisons are before them."""
    page = person.go("/compare")
    page.get_by_role("button", name=f"Take part in {title}").click()
    begun = page.get_by_role("link", name="Begin with number 1")
    expect(begun).to_be_visible()
    total = re.search(r"0 of (\d+) answered", page.content())
    assert total
    begun.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Comparison 1 of")
    return int(total[1])


def listens(page: Page) -> None:
    """Waits until the page's script runs: it then tells of the keys."""
    expect(page.locator("[data-keys]")).not_to_have_attribute("hidden", "")


def press(page: Page, key: str) -> None:
    listens(page)
    page.keyboard.press(key)


def compare_with_keys(person: Visit, title: str, key: str) -> int:
    total, page = begin(person, title), person.page
    for number in range(1, total + 1):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Comparison {number} of {total}")
        press(page, key)
        expect(page.get_by_role("status")).to_contain_text("Saved: ")
        expect(page.locator("[data-judged]")).to_have_text(str(number))
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text(f"All {total} comparisons are answered.")).to_be_visible()
    return total


def compare_with_forms(person: Visit, title: str, words: str) -> int:
    total, page = begin(person, title), person.page
    for number in range(1, total + 1):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Comparison {number} of {total}")
        page.get_by_role("radio", name=words, exact=True).check()
        page.get_by_role("button", name="Finish" if number == total else "Next").click()
    expect(page.get_by_text(f"All {total} comparisons are answered.")).to_be_visible()
    return total


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_two_people_compare_in_both_forms_and_their_board_is_read_by_every_command(site: Site, scripts: bool):
    owner = site.visit(site.link, "Olive", scripts=scripts)
    link = invited(owner, 2)
    forced = make_study(owner, VISIT, "A or B", "Following instructions", comparisons=5)
    five = make_study(owner, CREATION, "Five levels", "Creative writing", against="sample-plain", comparisons=4)
    ada = site.visit(link, "Ada", scripts=scripts)
    grace = site.visit(link, "Grace", scripts=scripts, phone=True)
    for person, which in ((ada, 0), (grace, 1)):
        if scripts:
            judged = compare_with_keys(person, "Following instructions", "12"[which])
            judged += compare_with_keys(person, "Creative writing", "25"[which])
        else:
            judged = compare_with_forms(person, "Following instructions", ("Model A", "Model B")[which])
            judged += compare_with_forms(person, "Creative writing", ("Left is better", "Right is much better")[which])
        assert judged == 9
    for address, done in ((forced, "5 of 5"), (five, "4 of 4")):
        page = owner.page
        go(page, address)
        for name in ("Ada", "Grace"):
            expect(page.get_by_role("row", name=re.compile(name))).to_contain_text(done)
        page.get_by_role("link", name="See the board").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("bench")
    expect(owner.go("/").get_by_role("link", name="Judged by 2 people")).to_have_count(2)
    assert not [words for visit in (owner, ada, grace) for words in visit.trouble]
    read_by_every_command(site.here)


def read_by_every_command(here: Workplace) -> None:
    ranked = here.run("rank", "--benchmark", VISIT, "--judge", "people", "--json")
    assert ranked.code == 0, ranked.err
    assert ranked.document["battles"] == 10
    assert sum(one["wins"] for one in ranked.document["models"]) == 10
    creative = here.run("rank", "--benchmark", CREATION, "--json", "--judge", "people")
    assert creative.code == 0, creative.err
    assert creative.document["battles"] == 8
    scored = here.run("score", CREATION, "--judge", "people", "--protocol", "creation_people", "--json")
    assert scored.code == 0, scored.err
    assert {one["model"] for one in scored.document["models"]} == {"sample-careless", "sample-vivid"}
    aligned = here.run("align", "--benchmark", VISIT, "--json")
    assert aligned.code == 0, aligned.err
    assert [one["rater"] for one in aligned.document["raters"]] == ["openai/gpt-4o"]
    assert len(aligned.document["humans"]["raters"]) == 2
    assert here.run("ledger", "check").code == 0
    assert here.run("runs").out.count("compare") == 4


def test_what_is_chosen_is_saved_at_once_and_can_be_changed_later(shared: Site):
    page = (ada := at_five_levels(shared, comparisons=5)).page
    first = page.url
    page.get_by_role("radio", name="Equally good").check()
    expect(page.get_by_role("status")).to_have_text("Saved: Equally good")
    page.reload()
    expect(page.get_by_role("status")).to_have_text("Your choice: Equally good")
    expect(page.get_by_role("radio", name="Equally good")).to_be_checked()
    for key, words in (("1", "Left is much better"), ("5", "Right is much better"), ("1", "Left is much better")):
        press(page, key)
        expect(page.get_by_role("status")).to_have_text(f"Saved: {words}")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 2 of 5")
    press(page, "ArrowLeft")
    page.wait_for_url(first)
    expect(page.get_by_role("radio", name="Left is much better")).to_be_checked()
    page.get_by_label("Go to number").fill("4")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 4 of 5")
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 3 of 5")
    assert said(shared) == ["0", "2", "-2", "2"]
    assert not ada.trouble


def test_an_arrow_never_moves_a_choice_that_has_the_focus(shared: Site):
    ada = at_five_levels(shared, comparisons=5)
    ada.page.get_by_role("radio", name="Left is better").check()
    expect(ada.page.get_by_role("status")).to_have_text("Saved: Left is better")
    ada.page.keyboard.press("ArrowRight")
    expect(ada.page.get_by_role("heading", level=1)).to_have_text("Comparison 2 of 5")
    assert said(shared) == ["1"]


def test_a_page_of_a_comparison_names_no_model_and_fits_a_phone(shared: Site):
    owner = shared.owner
    make_study(owner, VISIT, "A or B", "Following instructions", people=1, each=1, comparisons=6)
    ada = shared.visit(invited(owner, 1), "Ada", phone=True)
    total = begin(ada, "Following instructions")
    names = {model for (model,) in shared.here.rows("SELECT DISTINCT model FROM responses")}
    for _ in range(total):
        words = ada.page.content() + ada.page.url
        assert not [name for name in names if name in words]
        assert ada.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        with ada.page.expect_navigation():
            ada.page.get_by_role("button", name=re.compile("Next|Finish")).click()
    assert not ada.trouble


def at_five_levels(site: Site, *, comparisons: int = 2) -> Visit:
    """Somebody before the first comparison of a study of their own, at five levels."""
    owner, title = site.owner, f"Creative writing {secrets.token_hex(4)}"
    make_study(owner, CREATION, "Five levels", title, people=1, each=1, comparisons=comparisons)
    ada = site.visit(invited(owner, 1), "Ada")
    begin(ada, title)
    listens(ada.page)
    return ada


def said(site: Site) -> list[str]:
    """What was chosen in this test, in turn."""
    found = site.here.rows(f"SELECT verdict FROM judgements WHERE reader = 'form' AND seq > {site.since} ORDER BY seq")
    return [number for (verdict,) in found for number in re.findall(r'"value":(-?\d)', verdict)]


def test_next_waits_for_a_choice_that_is_still_being_saved(shared: Site):
    page = at_five_levels(shared).page
    held: list[Route] = []
    page.route("**/api/comparisons/**", lambda route: held.append(route))
    page.get_by_role("radio", name="Left is better").check()
    page.get_by_role("radio", name="Right is better").check()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 1 of 2")
    until_asked(page, held, 1)
    held[0].continue_()
    expect(page.get_by_role("status")).to_contain_text("Saving Right is better")
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 1 of 2")
    until_asked(page, held, 2)
    held[1].continue_()
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 2 of 2")
    assert said(shared) == ["1", "-1"]


def until_asked(page: Page, held: list[Route], times: int) -> None:
    deadline = time.monotonic() + SECONDS
    while len(held) < times:
        assert time.monotonic() < deadline, f"the page asked the server {len(held)} times, and not {times}"
        page.wait_for_timeout(20)


def test_without_a_server_one_is_told_so_and_next_saves_it(shared: Site):
    page = at_five_levels(shared).page
    page.route("**/api/comparisons/**", lambda route: route.abort())
    page.get_by_role("radio", name="Left is better").check()
    expect(page.get_by_role("status")).to_have_text("Not saved yet: the server cannot be reached. Next tries again.")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 2 of 2")
    assert said(shared) == ["1"]


def test_a_second_window_is_shown_what_the_first_one_chose(shared: Site):
    ada = at_five_levels(shared)
    other = ada.page.context.new_page()
    other.goto(ada.page.url)
    listens(other)
    ada.page.get_by_role("radio", name="Left is better").check()
    expect(ada.page.get_by_role("status")).to_have_text("Saved: Left is better")
    # Clicked and not checked: the refusal may put the first choice back before anybody looks.
    other.get_by_role("radio", name="Equally good").click()
    expect(other.get_by_role("status")).to_contain_text("you chose Left>Right meanwhile in another window")
    expect(other.get_by_role("radio", name="Left is better")).to_be_checked()
    other.get_by_role("radio", name="Equally good").check()
    expect(other.get_by_role("status")).to_have_text("Saved: Equally good")
    assert said(shared) == ["1", "0"]


def test_a_second_window_is_told_that_the_first_took_its_choice_back(shared: Site):
    ada = at_five_levels(shared)
    ada.page.get_by_role("radio", name="Left is better").check()
    expect(ada.page.locator("[data-judged]")).to_have_text("1")
    other = ada.page.context.new_page()
    other.goto(ada.page.url)
    listens(other)
    other.keyboard.press("u")
    expect(other.get_by_role("status")).to_have_text("No answer yet")
    ada.page.get_by_role("radio", name="Equally good").click()
    expect(ada.page.get_by_role("status")).to_contain_text("you took your choice back meanwhile in another window")
    expect(ada.page.locator("[data-judged]")).to_have_text("0")
    expect(ada.page.locator("input[name=choice]:checked")).to_have_count(0)
    ada.page.get_by_role("radio", name="Equally good").check()
    expect(ada.page.get_by_role("status")).to_have_text("Saved: Equally good")
    expect(ada.page.locator("[data-judged]")).to_have_text("1")


def test_a_comparison_that_changed_under_ones_eyes_is_shown_anew_and_nothing_is_saved(site: Site):
    page = at_five_levels(site).page
    with closing(Ledger(site.here.store)) as ledger:
        benchmark = load_benchmark(CREATION)
        answers = [one for path in bundled_answers(benchmark) for one in read_responses(path, benchmark).responses]
        ledger.add_responses([replace(one, text="An answer nobody has seen.") for one in answers], replace=True)
        (study,) = people_studies(ledger)
        assert renew_answers(ledger, study.id) == 2
    press(page, "2")
    expect(page.get_by_role("alert")).to_contain_text("Not saved: this comparison has changed since you opened it")
    expect(page.get_by_role("heading", level=1)).to_have_text("Comparison 1 of 2")
    expect(page.get_by_text("An answer nobody has seen.").first).to_be_visible()
    assert said(site) == []
    listens(page)
    press(page, "2")
    expect(page.get_by_role("status")).to_have_text("Saved: Left is better")
    assert said(site) == ["1"]


def test_a_laptop_shows_picture_question_and_both_answers_above_the_choices(shared: Site):
    page = at_five_levels(shared).page
    page.set_viewport_size({"width": 1280, "height": 720})
    below = page.locator(".choosing").bounding_box()
    assert below
    for part in (".asked-pictures img >> nth=0", ".asked-words h2 >> nth=0", ".side >> nth=0", ".side >> nth=1"):
        box = page.locator(part).bounding_box()
        assert box, part
        # Of an answer its beginning: it may be longer than a screen.
        assert 0 <= box["y"] < below["y"] - 60, part


def test_a_phone_hides_no_column_and_a_name_is_not_broken_in_a_word(shared: Site):
    page = shared.owner.page.context.new_page()
    page.set_viewport_size(PHONE)  # pyright: ignore[reportArgumentType]
    go(page, f"{shared.url}/")
    page.get_by_role("link", name="openai/gpt-4o").click()
    for heading in ("Tier", "Win rate", "Against reference", "Won – lost – tied"):
        expect(page.locator("table.board").get_by_role("columnheader", name=heading)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    name = page.locator("table.board").get_by_role("link", name="reference", exact=True)
    box = name.bounding_box()
    assert box
    assert box["height"] < 30  # one line
    page.close()
