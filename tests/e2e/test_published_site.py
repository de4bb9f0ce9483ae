"""What `publish` wrote in a real browser, from disk and from a plain static server: whole, silent and to be used."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files as resources
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from evenhand.ledger.store.record import Ledger
from tests.e2e.showroom import furnished, with_other_judges
from tests.e2e.test_accessibility import Inspector, inspector
from tests.e2e.workplace import Workplace
from tests.hosting import hosting
from tests.site.house import SECRETS, fill, until
from tests.site.test_publish import broken_links

pytestmark = pytest.mark.slow

__all__ = ["inspector"]


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@dataclass(kw_only=True)
class Reader:
    page: Page
    start: str
    """Where the folder is, with a slash at the end."""
    trouble: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.page.on("console", lambda said: self.trouble.append(f"{said.type}: {said.text} at {self.page.url}"))
        self.page.on("pageerror", lambda error: self.trouble.append(f"{error} at {self.page.url}"))
        self.page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        self.page.on("request", lambda asked: self.trouble.append(asked.url) if self._outside(asked.url) else None)
        self.page.on("requestfailed", self._failed)

    def _failed(self, asked: Request) -> None:
        if asked.failure != "net::ERR_ABORTED":  # the page was left before it came
            self.trouble.append(f"{asked.url}: {asked.failure}")

    def _outside(self, url: str) -> bool:
        return not url.startswith((self.start, "data:"))

    def opens(self, name: str) -> Page:
        self.page.goto(f"{self.start}{name}")
        return self.page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two samples that are open, of one the judges compared, and a benchmark of which everything is withheld that can
    be."""
    here = Workplace(tmp_path_factory.mktemp("published") / "show")
    furnished(here)
    with_other_judges(here, items=2, verdicts=80)
    with closing(Ledger(here.store)) as ledger:
        fill(ledger)
    ran = here.run("publish", "site", "--json")
    assert ran.code == 0, ran.err
    assert ran.document["kinds"]["boards"] == 6
    again = here.run("publish", "site", "--json")
    assert (again.document["written"], again.document["removed"]) == ([], [])
    return here.folder / "site"


@pytest.fixture(params=["disk", "server"])
def reader(request: pytest.FixtureRequest, site: Path, browser: Browser) -> Iterator[Reader]:
    context = browser.new_context()
    if request.param == "disk":
        yield Reader(page=context.new_page(), start=f"{site.as_uri()}/")
    else:
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(site)))
        with hosting(server):
            yield Reader(page=context.new_page(), start=f"http://127.0.0.1:{server.server_port}/")
            context.close()
        return
    context.close()


def files_of(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def the(site: Path, pattern: str, holding: str) -> str:
    """The first page of these that holds the words."""
    found = next(path for path in sorted(site.glob(pattern)) if holding in path.read_text())
    return str(found.relative_to(site))


def test_no_link_is_broken_and_nothing_withheld_is_in_any_file(site: Path):
    files = files_of(site)
    assert broken_links(files) == []
    assert [(name, word) for name, body in files.items() for word in SECRETS if word.encode() in body] == []
    assert b"I quote" not in b"".join(files.values())


def headings(page: Page, table: str) -> set[str]:
    """Of what it tells of each row, without what stands small below."""
    told = page.locator(f"{table} thead th").evaluate_all(
        """cells => cells.map(cell => {
            const copy = cell.cloneNode(true);
            copy.querySelectorAll(".small").forEach(one => one.remove());
            return copy.textContent;
        })"""
    )
    return {" ".join(one.split()).casefold() for one in told} - {"model", "skill"}


def test_the_figures_of_a_paper_have_other_names_than_those_of_the_board(site: Path, browser: Browser):
    """They count otherwise: a tie is half a win here and none there, the reference has a rank here and none there."""
    page = browser.new_context().new_page()
    papers = set[str]()
    for board in site.glob("boards/*/index.html"):
        page.goto(board.as_uri())
        ours, theirs = headings(page, "table.board"), headings(page, "table.paper")
        assert {"rank", "win rate"} <= ours
        assert not ours & theirs
        papers |= theirs
    assert {"rank by reward", "rank by median elo", "win rate, a tie not won"} <= papers
    page.context.close()


def test_pages_of_every_kind_are_silent_and_ask_nobody_else(reader: Reader, site: Path):
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    few = [name for name in pages if not re.search("/(battles|items)/", name)]
    many = [name for name in pages if name not in few]
    # What a page asks for is the same from both: of the many, fewer are opened from the server.
    for name in (*few, *many[:: 12 if reader.start.startswith("file") else 60]):
        page = reader.opens(name)
        assert page.locator("h1").count() == 1, name
    for name in (few[0], many[0]):
        reader.opens(name)
        # What is fetched when it comes in sight may come after the page.
        until(lambda: reader.page.evaluate("[...document.images].every(one => one.complete)"), "a page and its images")
    assert reader.trouble == []


def test_shares_that_are_told_by_a_bound_stand_between_their_neighbours(browser: Browser, tmp_path: Path):
    shares = ["100 %", "<1 %", "46 %", "0 %", ">99 %", "1 %", "99 %", "–"]
    rows = "".join(f"<tr><td>{share.replace('<', '&lt;')}<span>0 to 9 %</span></td></tr>" for share in shares)
    head = '<thead><tr><th><span data-sort="down">Win rate</span></th></tr></thead>'
    script = resources("evenhand.site").joinpath("static/published.js").read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(f"<table>{head}<tbody>{rows}</tbody></table><script>{script}</script>", "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.get_by_role("button", name="Win rate").click()
    shown = [words.partition(" %")[0] for words in page.locator("td").all_inner_texts()]
    assert shown[:-1] == ["100", ">99", "99", "46", "1", "<1", "0"]
    page.close()


def test_a_board_is_sorted_and_its_figures_lead_to_the_battles_behind_them(reader: Reader, site: Path):
    page = reader.opens(the(site, "boards/*/index.html", "visit-bench-sample, judged by scripted/judge ·"))
    names = page.locator("#board-rows .name")
    ranked = names.all_inner_texts()
    page.get_by_role("button", name="Rank").click()
    ranks = [int(words) for words in page.locator("#board-rows .rank b").all_inner_texts()]
    assert ranks == sorted(ranks, reverse=True)
    assert names.all_inner_texts() != ranked
    assert page.locator("table.board thead th").first.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="Rating").click()
    assert names.all_inner_texts() == ranked
    page.get_by_role("button", name="Model", exact=True).click()
    assert names.all_inner_texts() == sorted(ranked)
    page.locator("details.pairs summary").click()
    page.locator(".matrix tbody a").first.click()
    expect(page.locator("#b-against")).not_to_have_value("")
    against = page.locator("#b-against option:checked").inner_text()
    shown = page.locator("#battle-rows tr:visible .name").all_inner_texts()
    assert shown
    assert set(shown) == {against}
    page.locator("#b-result").select_option("won")
    assert {one.strip() for one in page.locator("#battle-rows tr:visible .result").all_inner_texts()} <= {"won"}
    page.locator("#b-against").select_option("")
    page.locator("#b-result").select_option("")
    assert page.locator("#battle-rows tr:visible").count() == 50
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text(re.compile("^Page 2 of"))).to_be_visible()
    page.locator("#battle-rows tr:visible a").first.click()
    expect(page.get_by_role("heading", name="Verdicts")).to_be_visible()
    page.get_by_role("link", name="The item").click()
    expect(page.get_by_role("heading", name="Reference answer")).to_be_visible()
    assert reader.trouble == []


def test_the_judges_that_were_compared_are_a_page_with_a_chart_and_a_document(reader: Reader, site: Path):
    reader.opens("index.html").get_by_role("link", name="Which of these judges to pay").click()
    page = reader.page
    expect(page.get_by_role("heading", level=1)).to_contain_text("Judges of visit-bench-sample")
    expect(page.locator("h1 .badge", has_text="scripted judge")).to_be_visible()
    rows = page.get_by_role("row").filter(has_text="scripted/longest")
    assert rows.count() >= 2
    assert page.locator("figure svg:visible, figure img:visible").count()
    assert page.get_by_role("link", name="JSON").get_attribute("href") in {
        f"../../{path.relative_to(site)}" for path in site.glob("api/benchmarks/*/judges.json")
    }
    assert reader.trouble == []


def test_items_are_chosen_by_script(reader: Reader, site: Path):
    page = reader.opens(the(site, "benchmarks/*/index.html", "creation-mmbench-sample"))
    every = page.locator("#case-rows > li").count()
    page.get_by_label("Images").select_option("3")
    some = page.locator("#case-rows > li:visible")
    assert 0 < some.count() < every
    assert all("3 images" in one or "three images" in one for one in some.all_inner_texts())
    page.get_by_label("Words").fill("no such words")
    assert some.count() == 0
    page.get_by_label("Words").fill("")
    page.get_by_label("Images").select_option("")
    assert some.count() == every
    long = page.locator("#case-rows > li[data-words]").first
    ending = (long.get_attribute("data-words") or "").splitlines()[-1][-25:].strip()
    assert ending not in long.inner_text(), "it is not shown in the list"
    page.get_by_label("Words").fill(f" {ending.upper()} ")
    assert 0 < some.count() < every
    expect(long).to_be_visible()
    page.get_by_label("Words").fill("")
    page.get_by_label("Task").select_option(index=1)
    some.first.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Criteria", exact=True)).to_be_visible()
    assert reader.trouble == []


def test_without_a_script_every_list_is_whole(site: Path, browser: Browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / the(site, "benchmarks/*/index.html", "visit-bench-sample")).as_uri())
    assert page.locator("#case-rows > li:visible").count() == 22
    assert page.locator("form:visible").count() == 0
    context.close()


def test_axe_finds_nothing(site: Path, browser: Browser, inspector: Inspector):
    page = browser.new_context().new_page()
    for name, pattern, holding in (
        ("boards", "index.html", ""),
        ("board", "boards/*/index.html", "visit-bench-sample"),
        ("board-withheld", "boards/*/index.html", "numbers"),
        ("audit", "boards/*/audit.html", "visit-bench-sample"),
        ("model", "boards/*/models/*.html", "visit-bench-sample"),
        ("battle", "boards/*/battles/*.html", "visit-bench-sample"),
        ("benchmarks", "benchmarks/index.html", ""),
        ("cases", "benchmarks/*/index.html", "creation-mmbench-sample"),
        ("case", "benchmarks/*/items/*.html", "creation-mmbench-sample"),
        ("case-withheld", "benchmarks/*/items/*.html", "numbers"),
        ("judges", "benchmarks/*/judges.html", "visit-bench-sample"),
    ):
        page.goto((site / the(site, pattern, holding)).as_uri())
        for folded in page.locator("details.view summary, details.pairs summary").all():
            folded.click()
        inspector.looks_at(page, f"published-{name}")
    page.context.close()
