"""The pages render without a broken link, and what is rendered asks no other host for anything."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import ROOT
from tests.e2e.browser import browsing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ELSEWHERE = re.compile(r"^(?:https?:)?//", flags=re.IGNORECASE)
_LOADS = {"src", "srcset", "data", "poster", "background", "action"}
"""Attributes that make a browser fetch something by itself, or send something."""


class Requests(HTMLParser):
    """The addresses a browser would ask for when it opens the page; a link that a reader may follow is none."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name in _LOADS or (name == "href" and tag in ("link", "use", "image"))):
                self.found.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with browsing() as browser:
        yield browser


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    """Without a network."""
    with browser.new_context(offline=True) as context:
        yield context.new_page()


def test_every_page_is_rendered(site: Path) -> None:
    for page in ROOT.glob("docs/**/*.md"):
        made = site / page.relative_to(ROOT / "docs").with_suffix(".html")
        assert made.exists(), f"{page} is not in the site"


def test_no_page_asks_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        reader = Requests()
        reader.feed(page.read_text(encoding="utf-8"))
        assert reader.found
        assert not [address for address in reader.found if ELSEWHERE.match(address)], page.name


def test_no_style_sheet_or_picture_asks_another_host(site: Path) -> None:
    for path in (*site.rglob("*.css"), *site.rglob("*.svg")):
        text = path.read_text(encoding="utf-8")
        loaded = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)|(?:xlink:)?href=\"([^\"]+)", text)
        assert not [address for each in loaded for address in each if ELSEWHERE.match(address)], path.name


def test_a_browser_without_a_network_opens_every_page_and_asks_nobody(site: Path, page: "Page") -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri())
    assert len(asked) > 100
    assert not [address for address in asked if not address.startswith((site.as_uri(), "data:"))]
    assert not complaints


def test_the_search_finds_a_section_from_disk_and_leads_to_it(site: Path, page: "Page") -> None:
    page.goto((site / "how-to/add-a-provider.html").as_uri())
    field = page.get_by_role("searchbox", name="Search these pages")
    field.fill("swap consistency")
    page.locator(".search-found a").first.wait_for()
    told = page.locator(".search-told").inner_text()
    assert re.match(r"\d+ found", told)
    texts = page.locator(".search-found li").all_inner_texts()
    assert len(texts) <= 12
    field.fill("eh.compare")
    page.locator(".search-found a", has_text="eh.compare").first.click()
    page.wait_for_url("**/reference/python.html#ehcompare")
    assert page.get_by_role("heading", name="eh.compare").is_visible()
    page.get_by_role("searchbox").fill("zzzz-no-such-word")
    page.get_by_text("Nothing found").wait_for()
    assert page.locator(".search-found a").count() == 0


def test_what_pages_say_is_text_to_the_search(site: Path) -> None:
    index = (site / "search-index.js").read_text(encoding="ascii")
    assert "<" not in index
    assert index.count('"address":') > 200


def test_the_program_files_beside_the_pages_are_not_in_the_site(site: Path) -> None:
    assert not list(site.rglob("*.py"))


def test_a_file_that_a_page_shows_by_name_is_a_block_of_code_under_that_name(site: Path) -> None:
    page = (site / "elo-2023.html").read_text(encoding="utf-8")
    assert "<p>Save as <code>battles.csv</code>:</p>" in page
    assert "time,model_a,model_b,winner" in re.findall(r"<pre><code[^>]*>(.*?)</code></pre>", page, flags=re.DOTALL)[0]
    assert "```" not in page


def test_no_page_shows_a_fence_that_was_not_understood(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert "```" not in page.read_text(encoding="utf-8"), page.name


def test_a_long_command_is_shown_whole_on_a_narrow_screen(site: Path, page: "Page") -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto((site / "how-to/add-a-provider.html").as_uri())
    cut = "all => all.filter(block => block.scrollWidth > block.clientWidth + 1).length"
    assert page.locator("pre").count() >= 4
    assert page.eval_on_selector_all("pre, pre code", cut) == 0


@pytest.mark.parametrize("name", ["commands", "settings", "json"])
def test_a_reader_of_a_generated_page_is_not_told_how_it_is_made(site: Path, name: str, page: "Page") -> None:
    page.goto((site / f"reference/{name}.html").as_uri())
    assert "do not edit" not in page.inner_text("body")
