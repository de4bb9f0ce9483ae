"""Every page before axe-core, in a real browser: light and dark, on a desk and on a phone. No serious finding."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.browser import until_worked_out
from tests.e2e.showroom import CREATION, FIVE_LEVELS, FORCED, VISIT, furnished, with_other_judges
from tests.e2e.test_comparing import DESKTOP, PHONE, Site, Visit, invited
from tests.e2e.test_growing import CAPTION, INSTRUCTION, PICTURES, SHOTS, begun, through, until_there
from tests.e2e.workplace import Workplace
from tests.scripted_server import server_process
from tests.site.test_serve import owner_link, serving

pytestmark = pytest.mark.slow

SERIOUS = ("serious", "critical")
ONLY_FAULTS = {"resultTypes": ["violations"]}
"""To write down each element that has none takes longer than to look."""
OUT_OF_TURN = "[...document.querySelectorAll('[tabindex]')].some(one => one.tabIndex > 0)"
"""Without such elements the focus follows the order of the page, which is that of the eye."""


@dataclass(frozen=True, kw_only=True)
class Inspector:
    findings: list[str]

    def looks_at(self, page: Page, name: str) -> None:
        """As it stands before the visitor, in both schemes and at both widths."""
        page.wait_for_load_state()
        until_worked_out(page)
        if not page.evaluate("'axe' in window"):
            page.evaluate(_axe())
        folder = os.environ.get(SHOTS)
        for width, size in (("desktop", DESKTOP), ("phone", PHONE)):
            page.set_viewport_size(size)  # pyright: ignore[reportArgumentType]
            # Nothing but the colours changes with the scheme.
            for scheme, rules in (("dark", {"runOnly": ["color-contrast"]}), ("light", {})):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # pyright: ignore[reportArgumentType]
                found = page.evaluate(
                    f"axe.run({json.dumps({**rules, **ONLY_FAULTS})}).then(found => found.violations)"
                )
                self.findings.extend(
                    f"{name}, {width}, {scheme}: {one['id']}: {node['html']} {node['failureSummary']}"
                    for one in found
                    if one["impact"] in SERIOUS
                    for node in one["nodes"]
                )
            if page.evaluate(OUT_OF_TURN):
                self.findings.append(f"{name}, {width}: the keyboard goes another way than the eye")
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > size["width"]:
                self.findings.append(f"{name}, {width}: {wide} pixels wide")
            if folder:
                page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)
        page.set_viewport_size(DESKTOP)  # pyright: ignore[reportArgumentType]
        page.emulate_media(color_scheme="light")


@cache
def _axe() -> str:
    """Half a megabyte of script: a page is given it once, for all that it is looked at."""
    from axe_playwright_python.base import AXE_SCRIPT

    return AXE_SCRIPT


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    here = Workplace(tmp_path_factory.mktemp("accessibility") / "show")
    furnished(here)
    with_other_judges(here)
    with server_process("--judge", "says Seven, and two of them are green.") as model:
        answering = ("--model", "scripted/model", "--base-url", model)
        with serving(here.folder, *answering) as (process, url):
            site = Site(browser=browser, url=url, link=owner_link(process), here=here)
            yield site
            for context in site.contexts:
                context.close()


@pytest.fixture(scope="module")
def owner(site: Site) -> Visit:
    return site.visit(site.link, "Olive")


@pytest.fixture
def inspector() -> Iterator[Inspector]:
    inspector = Inspector(findings=[])
    yield inspector
    assert not inspector.findings, "\n".join(inspector.findings)


def board_of(visit: Visit, benchmark: str) -> str:
    """The path of the board that a model judged."""
    page = visit.go("/")
    link = page.locator("section", has=page.get_by_role("heading", level=2, name=re.compile(benchmark))).locator(
        "a.cover", has_text="scripted/judge"
    )
    return link.first.get_attribute("href") or ""


def test_the_public_pages(site: Site, owner: Visit, inspector: Inspector):
    visit, creation = board_of(owner, VISIT), board_of(owner, CREATION)
    for name, path in (
        ("boards", "/"),
        ("board-visit", visit),
        ("board-creation", creation),
        ("board-elo", f"{creation}?method=elo"),
        ("board-equal-length", f"{visit}?equal_length=true"),
        ("judge-audit", f"{visit}/audit"),
        ("api", "/api"),
        ("no-such-page", "/none"),
    ):
        inspector.looks_at(owner.go(path), name)
    page = owner.go("/")
    page.get_by_role("link", name=re.compile("judges")).first.click()
    page.wait_for_url("**/judges")
    until_worked_out(page)
    page.get_by_text("What the columns mean").click()
    assert page.locator("main svg, main img").count(), "cost against agreement is drawn"
    inspector.looks_at(page, "judges")
    page = owner.go(visit)
    page.locator("details.view summary").click()
    page.locator("details.pairs summary").click()
    inspector.looks_at(page, "board-unfolded")
    page.get_by_role("link", name="Win rate").click()
    page.wait_for_url("**sort=win_rate**")
    assert page.get_by_role("columnheader", name="Win rate").get_attribute("aria-sort") == "descending"
    inspector.looks_at(page, "board-sorted")
    page.locator("table.board tbody th a").first.click()
    inspector.looks_at(page, "model")
    page.get_by_role("link", name=re.compile("against")).first.click()
    inspector.looks_at(page, "battle")
    page.get_by_role("link", name=re.compile("^Next")).first.click()
    page.get_by_text(re.compile(r"^2 of \d+$")).first.wait_for()
    # The page that is not there is told of by the browser too.
    assert [words for words in owner.trouble if "404" not in words] == []


def test_the_owners_pages(site: Site, owner: Visit, inspector: Inspector):
    link = invited(owner, 3)
    inspector.looks_at(owner.page, "admin-link")
    guest = site.browser.new_context()
    page = guest.new_page()
    page.goto(link)
    inspector.looks_at(page, "join")
    guest.close()
    for name, path in (
        ("admin", "/admin"),
        ("audit-log", "/admin/audit"),
        ("studies", "/admin/studies"),
        ("growing-begin", "/admin/growing"),
        ("account", "/account"),
    ):
        inspector.looks_at(owner.go(path), name)
    page = owner.go("/admin/studies")
    page.get_by_role("button", name="Choose what is compared").click()
    inspector.looks_at(page, "study-new")
    page = owner.go("/admin/studies")
    page.get_by_role("link", name=FORCED).click()
    inspector.looks_at(page, "study")


@pytest.mark.parametrize(("title", "name"), [(FORCED, "compare-forced"), (FIVE_LEVELS, "compare-five-level")])
def test_the_pages_where_people_compare(site: Site, owner: Visit, inspector: Inspector, title: str, name: str):
    ada = site.visit(invited(owner, 1), "Ada")
    page = ada.go("/compare")
    inspector.looks_at(page, "compare")
    page.get_by_role("button", name=f"Take part in {title}").click()
    inspector.looks_at(page, "compare-overview")
    page.get_by_role("link", name="Begin with number 1").click()
    inspector.looks_at(page, name)
    if title == FIVE_LEVELS:
        page.set_viewport_size({"width": 1280, "height": 800})
        criteria, bar = (
            page.get_by_role("region", name="Criteria").bounding_box(),
            page.locator(".choosing").bounding_box(),
        )
        assert criteria
        assert bar
        assert criteria["y"] + criteria["height"] <= bar["y"]


def test_the_pages_where_a_benchmark_grows(site: Site, owner: Visit, inspector: Inspector):
    # What the steps of the growing pages want of a site is its address, which both have.
    begun(owner.page, site)  # pyright: ignore[reportArgumentType]
    pipeline = owner.page.url
    ada, ben, eve = (site.visit(invited(owner, 1), name).page for name in ("Ada", "Ben", "Eve"))
    through(ada, "Write")
    inspector.looks_at(ada, "grow-write")
    ada.get_by_label("Or a file").set_input_files(PICTURES / "s01.png")
    ada.get_by_label("Its public licence (required)").select_option("CC0 1.0")
    ada.get_by_label("The instruction").fill(INSTRUCTION)
    ada.get_by_role("button", name="Send").click()
    through(ben, "Caption")
    inspector.looks_at(ben, "grow-caption")
    ben.get_by_label("Caption", exact=True).fill(CAPTION)
    ben.get_by_role("button", name="Send").click()
    inspector.looks_at(ben, "grow-nothing-waits")
    eve.goto(f"{site.url}/grow")
    until_there(eve, "waiting to be verified")
    inspector.looks_at(eve, "grow")
    eve.get_by_role("link", name="Verify").first.click()
    inspector.looks_at(eve, "grow-verify")
    yes, no = (eve.get_by_label(word, exact=True).bounding_box() for word in ("Yes", "No"))
    assert yes
    assert no
    assert yes["y"] == no["y"]
    assert yes["x"] < no["x"]
    eve.get_by_label("Yes").check()
    eve.get_by_role("button", name="Send").click()
    owner.page.goto(pipeline)
    inspector.looks_at(owner.page, "growing-pipeline")
    owner.page.get_by_role("link", name=INSTRUCTION).first.click()
    inspector.looks_at(owner.page, "growing-proposal")
    owner.page.goto(pipeline)
    owner.page.get_by_role("link", name="gardening tips").first.click()
    inspector.looks_at(owner.page, "growing-skill")


def test_the_pages_where_teams_submit(site: Site, owner: Visit, inspector: Inspector):
    page = owner.go("/admin/submissions")
    inspector.looks_at(page, "submissions-admin")
    page.get_by_role("button", name="Open it").click()
    inspector.looks_at(page, "intake")
    intake = page.url.rpartition("/")[2]
    outsider = site.browser.new_context().new_page()
    for name, path in (
        ("submit", "/submit"),
        ("submit-board", f"/submit/{intake}"),
        ("submit-request", "/submit/request"),
    ):
        outsider.goto(f"{site.url}{path}")
        inspector.looks_at(outsider, name)
    outsider.get_by_label("Name of your team").fill("Birds")
    outsider.get_by_label("Who you are, and what for").fill("We make parrots.")
    outsider.get_by_role("button", name="Send it to the owner").click()
    inspector.looks_at(outsider, "submit-request-sent")
    outsider.goto(outsider.get_by_text(f"{site.url}/submit/request/").first.inner_text())
    inspector.looks_at(outsider, "submit-request-waiting")
    inspector.looks_at(owner.go("/admin/submissions"), "submissions-waiting")
    owner.page.get_by_role("button", name="Accept Birds").click()
    outsider.reload()
    outsider.get_by_role("link", name="Come in as Birds").click()
    inspector.looks_at(outsider, "join-team")
    outsider.get_by_role("button", name="Come in").click()
    inspector.looks_at(outsider, "submissions")
    for name, path in (("submission-new", f"/submit/{intake}/new"), ("data-request", f"/submit/{intake}/data")):
        outsider.goto(f"{site.url}{path}")
        inspector.looks_at(outsider, name)
    outsider.goto(f"{site.url}/submit/{intake}/new")
    outsider.get_by_label("Model", exact=True).fill("Parrot")
    outsider.get_by_label("Version", exact=True).fill("2")
    outsider.get_by_role("checkbox").check()
    outsider.get_by_role("button", name="Go on to the upload").click()
    inspector.looks_at(outsider, "submission-draft")
    faulty = b'{"item": "s01", "response": "one"}\n{"item": "s01", "response": "two"}\n{"item": "x", "response": ""}\n'
    outsider.locator('input[type="file"]').set_input_files(
        {"name": "faulty.jsonl", "mimeType": "text/plain", "buffer": faulty}
    )
    outsider.get_by_role("button", name="Upload").click()
    inspector.looks_at(outsider, "submission-faults")
    inspector.looks_at(owner.go(f"/admin/submissions/{outsider.url.rpartition('/')[2]}"), "submission-admin")
    outsider.context.close()


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(site: Site, owner: Visit):
    for path in ("/", "/admin", "/submit/request", "/compare"):
        page = owner.go(path)
        page.evaluate(FOCUSABLE)
        count = page.evaluate("window.focusable.length")
        assert count > 5
        for number in range(count):
            page.keyboard.press("Tab")
            assert page.evaluate(f"document.activeElement === window.focusable[{number}]"), (path, number)


FOCUSABLE = """
window.focusable = [...document.querySelectorAll(
  'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')]
  .filter(one => !one.disabled && one.checkVisibility({visibilityProperty: true}))
"""
"""As they stand in the page, those that can be seen; a radio's group is one stop, and none is on these pages."""
