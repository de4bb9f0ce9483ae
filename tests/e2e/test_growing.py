"""The whole life of a benchmark that grows, in a real browser with its scripts and without: served, with its worker."""

import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from evenhand.benchmarks import visit_bench
from evenhand.benchmarks.catalog import load_benchmark
from tests.e2e.browser import browsing, load_again, words_of
from tests.e2e.workplace import SECONDS, Workplace, waited_for
from tests.scripted_server import server_process
from tests.site.test_serve import owner_link, serving

pytestmark = pytest.mark.slow

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
PICTURES = Path(visit_bench.__file__).parent / "sample" / "images"
SHOTS = "EVENHAND_SCREENSHOTS"
"""A folder for pictures of every page; none are taken where it is not set."""


@dataclass(frozen=True, kw_only=True)
class Site:
    browser: Browser
    url: str
    link: str
    here: Workplace
    trouble: list[str] = field(default_factory=list[str])
    contexts: list[BrowserContext] = field(default_factory=list[BrowserContext])

    def visit(self, link: str, name: str, *, scripts: bool = True) -> Page:
        context = self.browser.new_context(
            viewport=DESKTOP,  # pyright: ignore[reportArgumentType]
            java_script_enabled=scripts,
        )
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: self.trouble.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("request", lambda asked: self._asked(asked.url))
        page.goto(link)
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Come in").click()
        return page

    def _asked(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self.url).netloc:
            self.trouble.append(f"asked {url}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@contextmanager
def site_in(browser: Browser, folder: Path) -> Generator[Site]:
    with server_process("--judge", f"says {ANSWER}") as model:
        arguments = ("--model", "scripted/model", "--base-url", model)
        with serving(folder, *arguments) as (process, url):
            site = Site(browser=browser, url=url, link=owner_link(process), here=Workplace(folder))
            try:
                yield site
            finally:
                for context in site.contexts:
                    context.close()


def invited(owner: Page, site: Site, note: str) -> str:
    owner.goto(f"{site.url}/admin")
    owner.get_by_label("Role").select_option("annotator")
    owner.get_by_label("For whom").fill(note)
    owner.get_by_role("button", name="Make a link").click()
    return owner.locator(".secret").inner_text()


def shown(page: Page, name: str) -> None:
    """Pictures of a page at both widths, where they are asked for."""
    folder = os.environ.get(SHOTS)
    if not folder:
        return
    for size, label in ((DESKTOP, "desktop"), (PHONE, "phone")):
        page.set_viewport_size(size)  # pyright: ignore[reportArgumentType]
        page.screenshot(path=Path(folder) / f"{name}-{label}.png", full_page=True)
    page.set_viewport_size(DESKTOP)  # pyright: ignore[reportArgumentType]


def until_there(page: Page, words: str) -> None:
    """Reloads until the worker has done its part."""
    deadline = time.monotonic() + SECONDS
    while words not in (shown := words_of(page)):
        assert time.monotonic() < deadline, shown
        page.wait_for_timeout(200)
        load_again(page)


def begun(owner: Page, site: Site) -> None:
    owner.goto(f"{site.url}/admin/growing")
    shown(owner, "growing-begin")
    owner.get_by_label("Name").fill("Garden and kitchen")
    owner.get_by_label("Skills to test, one a line").fill("gardening tips\nfood recipe\ncounting")
    owner.get_by_role("button", name="Begin").click()
    expect(owner.get_by_role("heading", level=1)).to_contain_text("Garden and kitchen")


def through(page: Page, path: str) -> None:
    page.goto(f"{urlsplit(page.url).scheme}://{urlsplit(page.url).netloc}/grow")
    page.get_by_role("link", name=path).first.click()


INSTRUCTION = "How many apples are there, and what could I bake with the green ones?"
ANSWER = (
    "There are seven apples, and two of them are green. Tart green apples keep their shape in the oven: bake a "
    "crumble, a galette or a simple apple cake with them."
)
CAPTION = "A wooden table holds seven apples: a row of four red ones, and below it one red and two green ones."


def written(page: Page, *, scripts: bool) -> None:
    through(page, "Write")
    expect(page.get_by_text("Task 1 of 3")).to_be_visible()
    shown(page, "grow-write")
    page.get_by_label("Or a file").set_input_files(PICTURES / "s01.png")
    page.get_by_label("Its public licence (required)").select_option("CC0 1.0")
    page.get_by_label("The instruction").fill(INSTRUCTION)
    if scripts:
        expect(page.locator(".counter")).to_have_text(f"{len(INSTRUCTION)} / 200")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Task 2 of 3")).to_be_visible()
    page.get_by_role("button", name="Skip this skill").click()
    expect(page.get_by_text("Task 3 of 3")).to_be_visible()
    page.get_by_role("link", name="Previous").click()
    page.get_by_role("link", name="Previous").click()
    expect(page.get_by_label("The instruction")).to_have_value(INSTRUCTION)
    shown(page, "grow-write-again")


def captioned(page: Page) -> None:
    through(page, "Caption")
    expect(page.get_by_role("heading", level=1)).to_have_text(INSTRUCTION)
    shown(page, "grow-caption")
    page.get_by_label("Caption", exact=True).fill(CAPTION)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Nothing waits for a caption")).to_be_visible()
    shown(page, "grow-nothing-waits")


def verified(page: Page, *, scripts: bool) -> None:
    page.goto(f"{urlsplit(page.url).scheme}://{urlsplit(page.url).netloc}/grow")
    until_there(page, "waiting to be verified")
    shown(page, "grow")
    page.get_by_role("link", name="Verify").first.click()
    expect(page.get_by_text(CAPTION)).to_be_visible()
    expect(page.get_by_text(ANSWER)).to_be_visible()
    why = page.get_by_label("The caption is underspecified; it is not the model's fault")
    if scripts:
        expect(why).to_be_hidden()
        page.get_by_label("No", exact=True).check()
        expect(why).to_be_visible()
    shown(page, "grow-verify")
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("No answer waits for you")).to_be_visible()


def published(owner: Page, site: Site, folder: Path) -> Path:
    owner.goto(f"{site.url}/admin/growing")
    owner.get_by_role("link", name="Garden and kitchen").click()
    shown(owner, "growing-pipeline")
    owner.get_by_role("button", name="Make version 1").click()
    with owner.expect_download() as coming:
        owner.get_by_role("link", name="Download version 1").click()
    packed = folder / "grown.zip"
    coming.value.save_as(packed)
    owner.get_by_role("link", name=INSTRUCTION).click()
    expect(owner.get_by_text("In the benchmark since version 1")).to_be_visible()
    shown(owner, "growing-proposal")
    return packed


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_an_item_grows_from_three_peoples_work_and_joins_the_benchmark(browser: Browser, tmp_path: Path, scripts: bool):
    folder = tmp_path / "site"
    folder.mkdir()
    with site_in(browser, folder) as site:
        owner = site.visit(site.link, "Olga", scripts=scripts)
        begun(owner, site)
        ada, ben, eve = (
            site.visit(invited(owner, site, name), name, scripts=scripts) for name in ("Ada", "Ben", "Eve")
        )
        written(ada, scripts=scripts)
        captioned(ben)
        verified(eve, scripts=scripts)
        assert published(owner, site, tmp_path).stat().st_size > 0
        assert site.trouble == []
        ran = site.here.run("export", "--grown", "Garden and kitchen", "--out", "grown")
        assert ran.code == 0, ran.err
    (item,) = load_benchmark("visit-bench", path=folder / "grown" / "items.jsonl").items
    assert (item.instruction, item.caption, item.category) == (INSTRUCTION, CAPTION, "gardening tips")
    assert item.reference == ANSWER


def test_a_draft_follows_its_writer_to_another_browser_and_no_other_person(browser: Browser, tmp_path: Path):
    with site_in(browser, tmp_path) as site:
        owner = site.visit(site.link, "Olga")
        begun(owner, site)
        first, second = (invited(owner, site, name) for name in ("Ada", "Ben"))
        ada, ben = site.visit(first, "Ada"), site.visit(second, "Ben")
        through(ada, "Write")
        ada.get_by_label("The instruction").fill(INSTRUCTION)
        expect(ada.locator("[data-draft-note]")).to_have_text("Draft saved.")
        elsewhere = browser.new_context(storage_state={"cookies": ada.context.cookies()})  # pyright: ignore[reportArgumentType]
        site.contexts.append(elsewhere)
        page = elsewhere.new_page()
        page.goto(ada.url)
        expect(page.get_by_label("The instruction")).to_have_value(INSTRUCTION)
        expect(page.get_by_text("Your draft")).to_be_visible()
        page.get_by_label("The instruction").fill("And now?")
        page.goto(f"{site.url}/grow")  # before the pause after which it is saved
        waited_for(lambda: site.here.rows("SELECT 1 FROM drafts WHERE content LIKE '%And now?%'"))
        through(page, "Write")
        expect(page.get_by_label("The instruction")).to_have_value("And now?")
        ben.goto(ada.url)
        expect(ben.get_by_label("The instruction")).to_have_value("")
        assert ada.evaluate("localStorage.length") == 0
        assert site.trouble == []
