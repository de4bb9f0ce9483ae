"""The report in a real browser, from disk and with the network off: it opens, filters, and can be walked by keys."""

import asyncio
import json
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.reports.page.writing import write_report
from tests.benchmarks.creation_cases import generated_cases
from tests.database import ledger_in
from tests.e2e.creation_judge import Case, CreationJudge, Kind, decision
from tests.e2e.test_accessibility import Inspector
from tests.e2e.test_comparing import DESKTOP, PHONE
from tests.e2e.test_creation import MODEL, case_of, judged, written
from tests.e2e.workplace import Workplace
from tests.refusals import says
from tests.reports.report_scene import Scene, numbered, report, with_models
from tests.reports.test_report_page import HOSTILE
from tests.scripted_server import Script, ScriptedServer

pytestmark = pytest.mark.slow

SAMPLE = "creation-mmbench-sample"


def apart(work: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: Playwright keeps a loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


def report_in(here: Workplace) -> Path:
    ran = here.run("report")
    assert ran.code == 0, ran.err
    return here.folder / "report.html"


@dataclass(kw_only=True)
class Reader:
    """Somebody who was mailed the file."""

    page: Page
    trouble: list[str] = field(default_factory=list[str])

    def heed(self) -> None:
        self.page.on("console", lambda said: self.trouble.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        self.page.on(
            "request", lambda asked: None if asked.url.startswith(("file:", "data:")) else self.heard(asked.url)
        )

    def heard(self, url: str) -> None:
        self.trouble.append(f"asked {url}")

    def opens(self, path: Path, address: str = "") -> Page:
        self.page.goto(f"file://{path}{address}")
        self.page.wait_for_selector("#rows li", state="attached")
        return self.page

    @property
    def counted(self) -> str:
        return self.page.locator("#count").inner_text()


@pytest.fixture
def reader(browser: Browser) -> Iterator[Reader]:
    context = browser.new_context(viewport=DESKTOP, offline=True)  # pyright: ignore[reportArgumentType]
    reader = Reader(page=context.new_page())
    reader.heed()
    yield reader
    context.close()
    assert not reader.trouble


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models against the reference under both protocols."""
    here = Workplace(tmp_path_factory.mktemp("report") / "sample")
    benchmark = load_benchmark(SAMPLE)
    (bundled,) = bundled_answers(benchmark)
    answers = [json.loads(line) for line in bundled.read_text(encoding="utf-8").splitlines()]
    texts = {one["response"]: (one["item"], one["model"]) for one in answers}
    texts |= {item.reference or "": (item.label, "reference") for item in benchmark.items}

    async def judging() -> None:
        async with ScriptedServer(Script(judge=CreationJudge(answers=texts))) as server:
            await judged(here, server, SAMPLE)

    apart(judging())
    return report_in(here)


def faults(cases: list[Case]) -> tuple[set[str], set[str]]:
    """Items whose two verdicts disagree, and items with a showing that nobody could read, as the judge spoke."""

    def said(kind: Kind, item: str, *, turned: bool) -> tuple[float, ...] | str:
        first, second = (MODEL, "reference") if turned else ("reference", MODEL)
        return decision(kind, item, first, second)

    disagree: set[str] = set()
    failed: set[str] = set()
    for case in cases:
        kinds: list[Kind] = ["preference", *(["factuality"] if case.factual else [])]
        if any(isinstance(said(kind, case.item, turned=turned), str) for kind in kinds for turned in (False, True)):
            failed.add(case.item)
        one, other = (said("preference", case.item, turned=turned) for turned in (False, True))
        if not isinstance(one, str) and not isinstance(other, str):
            signs = [(value > 0) - (value < 0) for value in (-one[0], other[0])]
            disagree |= {case.item} if signs[0] != signs[1] else set()
    return disagree, failed


def test_765_cases_open_from_disk_without_a_network_and_filters_agree_with_the_judge(reader: Reader, tmp_path: Path):
    here = Workplace(tmp_path / "here")
    generated = generated_cases()
    data, answers, texts = written(tmp_path, generated)
    cases = [case_of(one) for one in generated]

    async def judging() -> None:
        async with ScriptedServer(Script(judge=CreationJudge(answers=texts))) as server:
            await judged(here, server, "creation-mmbench", "--data", str(data), "--responses", str(answers))

    apart(judging())
    page = reader.opens(report_in(here))
    expect(page.locator("#rows li")).to_have_count(50)
    assert reader.counted == "765 pairs of answers"
    disagree, failed = faults(cases)
    page.get_by_label("Show", exact=True).select_option("Verdicts disagree")
    assert reader.counted == f"{len(disagree)} of 765 pairs of answers"
    page.get_by_label("Show", exact=True).select_option("Without a verdict")
    assert reader.counted == f"{len(failed)} of 765 pairs of answers"
    page.get_by_label("Show", exact=True).select_option("Either of these")
    assert reader.counted == f"{len(disagree | failed)} of 765 pairs of answers"
    category = cases[0].category
    page.get_by_label("Category", exact=True).select_option(category)
    inside = {case.item for case in cases if case.category == category}
    assert reader.counted == f"{len((disagree | failed) & inside)} of 765 pairs of answers"
    page.get_by_role("button", name="Clear").click()
    assert reader.counted == "765 pairs of answers"
    page.get_by_role("button", name="Later").click()
    expect(page.locator("#page")).to_have_text("Page 2 of 16")
    page.locator("#rows a").last.click()
    expect(page.locator("#case h1")).to_contain_text("Item ")
    expect(page.locator("#case .case-bar")).to_contain_text("100 of 765")
    expect(page.locator("#case .pictures img").first).to_be_visible()


def test_a_case_shows_all_there_is_under_both_protocols(reader: Reader, sample: Path):
    page = reader.opens(sample)
    assert reader.counted == "48 pairs of answers"
    page.get_by_label("Model", exact=True).select_option("sample-vivid")
    assert reader.counted == "16 of 48 pairs of answers"
    page.locator("#rows a").first.click()
    case = page.locator("#case")
    expect(case.get_by_role("heading", name="Item 1", exact=True)).to_be_visible()
    expect(case).to_contain_text("Assume you are an author of picture books")
    expect(case.locator(".pictures img")).to_have_count(3)
    decoded = "pictures => Promise.all(pictures.map(one => one.decode().then(() => one.naturalWidth)))"
    assert all(width > 100 for width in case.locator(".pictures img").evaluate_all(decoded)), "they can be decoded"
    for protocol in ("creation_preference", "creation_factuality"):
        expect(case.get_by_role("heading", name=f"Judged under {protocol}")).to_be_visible()
    expect(case.locator(".protocol").first.locator(".panel")).to_have_count(2)
    said = {
        decision("preference", "1", *order) for order in (("reference", "sample-vivid"), ("sample-vivid", "reference"))
    }
    assert case.get_by_text("Final Verdict is").count() == sum(not isinstance(one, str) for one in said)
    answers = {item["model"]: item["response"] for item in _bundled() if item["item"] == "1"}
    expect(case.get_by_text(answers["sample-vivid"])).to_be_visible()
    fields = case.locator(".protocol").first.locator("details").first
    fields.locator("summary").click()
    expect(fields).to_contain_text("tokens in")
    expect(page).to_have_title("Item 1 · creation-mmbench-sample, judged by scripted/judge · Evenhand")


def test_grades_belong_to_the_preferences_and_make_no_report_alone(sample: Path):
    here = Workplace(sample.parent)
    runs = {one["protocol"]: one["run"] for one in listed_runs(here)}
    made = here.run("report", "--run", runs["creation_preference"], "--json", "--out", "one.html").document
    assert (made["judgements"], made["pairs"]) == (180, 48)
    assert made["scores"][0]["protocols"] == ["creation_preference", "creation_factuality"]
    alone = here.run("report", "--protocol", "creation_factuality")
    assert (alone.code, alone.out) == (2, "")
    says(alone.refused, "EH-PROTOCOL-UNFIT", "creation_factuality", "--protocol")
    # A run of grades is part of the board of the same judge's preferences.
    graded = here.run("report", "--run", runs["creation_factuality"], "--json", "--out", "two.html").document
    assert [graded[name] for name in ("judgements", "pairs", "scores")] == [
        made[name] for name in ("judgements", "pairs", "scores")
    ]


def listed_runs(here: Workplace) -> list[dict[str, Any]]:
    """With the protocol of each."""
    found = here.rows(
        "SELECT r.id, c.protocol FROM runs r JOIN studies s ON s.key = r.study JOIN conditions c ON c.key = s.condition"
    )
    return [{"run": run, "protocol": protocol} for run, protocol in found]


def _bundled() -> list[dict[str, str]]:
    (path,) = bundled_answers(load_benchmark(SAMPLE))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_list_can_be_walked_with_keys_and_keeps_its_filters(reader: Reader, sample: Path):
    page = reader.opens(sample)
    page.keyboard.press("/")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()
    page.keyboard.type("picture books j")
    assert reader.counted == "0 of 48 pairs of answers", "letters typed into a field are no commands"
    page.get_by_label("Search", exact=True).fill("picture book")
    shown = reader.counted
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#rows a").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    bar = page.locator("#case .case-bar")
    total = shown.split()[0]
    expect(bar).to_contain_text(f"1 of {total}")
    page.keyboard.press("j")
    expect(bar).to_contain_text(f"2 of {total}")
    page.keyboard.press("ArrowLeft")
    expect(bar).to_contain_text(f"1 of {total}")
    page.keyboard.press("Escape")
    expect(page.locator("#rows a").first).to_be_focused()
    expect(page.get_by_label("Search", exact=True)).to_have_value("picture book")
    assert reader.counted == shown
    page.go_back()
    expect(page.locator("#case h1")).to_be_visible()


def test_a_link_to_a_case_opens_it_with_the_filters_it_had(reader: Reader, sample: Path):
    page = reader.opens(sample)
    page.get_by_label("Show", exact=True).select_option("disagree")
    shown = reader.counted
    page.locator("#rows a").nth(1).click()
    title = page.locator("#case h1").inner_text()
    address = page.evaluate("location.hash")
    page.goto("about:blank")
    page = reader.opens(sample, address)
    expect(page.locator("#case h1")).to_have_text(title)
    page.get_by_role("link", name="Back to the list").click()
    assert reader.counted == shown
    expect(page.get_by_label("Show", exact=True)).to_have_value("disagree")
    page.goto("about:blank")
    page = reader.opens(sample, "#case=nosuchcase")
    expect(page.locator("#case")).to_be_hidden()
    expect(page.locator("#rows li")).to_have_count(48)


def test_from_a_case_one_gets_to_any_part_of_the_report(reader: Reader, sample: Path):
    page = reader.opens(sample)
    page.locator("#rows a").first.click()
    expect(page.locator("#case h1")).to_be_visible()
    page.get_by_role("navigation", name="Parts of the report").get_by_role("link", name="Cost").click()
    expect(page.locator("#case")).to_be_hidden()
    expect(page.get_by_role("heading", name="What it cost")).to_be_in_viewport()
    linked = page.locator("nav[aria-label='Parts of the report'] a").evaluate_all(
        "all => all.map(one => one.hash.slice(1))"
    )
    parts = page.locator("main > section").evaluate_all("all => all.map(one => one.id)")
    assert linked == parts, "every part can be gone to, in the order of the page"


def test_what_models_and_people_wrote_is_never_run(reader: Reader, tmp_path: Path):
    item = numbered(1).items[0]
    hostile = type(item)(
        label=HOSTILE, instruction=HOSTILE, category=HOSTILE, caption=HOSTILE, criteria=((HOSTILE, HOSTILE),)
    )
    here = Workplace(tmp_path / "here")
    (here.folder / ".evenhand").mkdir(parents=True)
    ledger = Ledger(here.store)
    scene = Scene(items=(hostile,), models=(HOSTILE, "blue"), replies=HOSTILE.replace("{", "{{").replace("}", "}}"))
    scene.judged(ledger, lambda item, first, second: 1)
    ledger.close()
    page = reader.opens(report_in(here))
    page.locator("#rows a").first.click()
    expect(page.locator("#case .said").first).to_contain_text("<script>document.title='owned'</script>")
    assert "owned' " not in page.title()
    assert page.title() != "owned"
    assert page.locator("#case img").count() == 0
    assert page.locator("#case script").count() == 0


def test_without_scripts_the_summary_tables_and_charts_still_read(browser: Browser, sample: Path):
    context = browser.new_context(viewport=DESKTOP, java_script_enabled=False, offline=True)  # pyright: ignore[reportArgumentType]
    page = context.new_page()
    page.goto(f"file://{sample}")
    expect(page.get_by_text("The list of judgements is opened by a script in this file")).to_be_visible()
    expect(page.get_by_role("heading", name="The board")).to_be_visible()
    expect(page.locator("figure svg").first).to_be_visible()
    expect(page.get_by_role("cell", name="960 to 1212")).to_be_visible()
    expect(page.locator("#browser")).to_be_hidden()
    context.close()


def test_light_and_dark_can_be_chosen(reader: Reader, sample: Path):
    page = reader.opens(sample)

    def ground() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = ground()
    page.get_by_role("button", name="Show in dark colours").click()
    assert ground() != light
    page.get_by_role("button", name="Show in light colours").click()
    assert ground() == light
    page.emulate_media(color_scheme="dark")
    assert ground() == light, "what was chosen stands"


def test_on_paper_stand_tables_and_charts_but_not_the_list(reader: Reader, sample: Path):
    page = reader.opens(sample)
    expect(page.locator("#rows li")).to_have_count(48)
    page.emulate_media(media="print")
    expect(page.locator("#browser")).to_be_hidden()
    expect(page.locator(".top")).to_be_hidden()
    expect(page.get_by_text("not printed with it")).to_be_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_dark_system_prints_black_on_white(reader: Reader, sample: Path):
    page = reader.opens(sample)
    page.emulate_media(media="print", color_scheme="dark")
    style = "getComputedStyle(document.{}).{}"
    assert page.evaluate(style.format("body", "backgroundColor")) == "rgb(255, 255, 255)"
    assert page.evaluate(style.format("body", "color")) == "rgb(0, 0, 0)"
    assert page.evaluate(style.format("querySelector('.frame')", "backgroundColor")) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Show in light colours", include_hidden=True).evaluate("one => one.click()")
    assert page.evaluate(style.format("body", "color")) == "rgb(0, 0, 0)", "so does a chosen theme"


def test_on_paper_a_tables_head_is_not_larger_than_its_body(reader: Reader, sample: Path):
    page = reader.opens(sample)
    page.emulate_media(media="print")
    size = "parseFloat(getComputedStyle(document.querySelector('.frame {}')).fontSize)"
    assert page.evaluate(size.format("thead th")) <= page.evaluate(size.format("tbody td"))


@pytest.mark.parametrize("address", ["", "#show=disagree"])
def test_the_page_and_a_case_have_no_serious_fault_for_those_who_hear_or_type(
    browser: Browser, sample: Path, address: str
):
    # A policy that runs no foreign script would keep the inspector out too.
    context = browser.new_context(viewport=DESKTOP, bypass_csp=True)  # pyright: ignore[reportArgumentType]
    page = context.new_page()
    page.goto(f"file://{sample}{address}")
    if address:
        page.locator("#rows a").first.click()
        expect(page.locator("#case h1")).to_be_visible()
    inspector = Inspector(findings=[])
    inspector.looks_at(page, "report-case" if address else "report")
    context.close()
    assert not inspector.findings, "\n".join(inspector.findings)


LONG = (
    "our-team-internal-checkpoint-000123456-step-99000-lr1e-5-seed42-vision-adapter",
    "meta-llama/Llama-3.2-90B-Vision-Instruct-quantized.w8a8",
    *(f"somebody/a-model-of-many-{number}-billion-parameters" for number in range(14)),
)
CUT_OFF = """[...document.querySelectorAll('figure svg')].flatMap(picture => {
  const frame = picture.getBoundingClientRect();
  return [...picture.querySelectorAll('text')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
      box.bottom > frame.bottom + 1;
  }).map(one => one.textContent);
})"""


def by_lot(item: str, first: str, second: str) -> int:
    """Everybody wins against somebody, so that all have a rating."""
    return 1 if crc32(f"{item}{first}".encode()) > crc32(f"{item}{second}".encode()) else -1


def test_no_label_of_a_picture_is_cut_off_however_long_its_model_is_called(browser: Browser, tmp_path: Path):
    with closing(ledger_in(tmp_path)) as ledger:
        scene = with_models(numbered(4), *LONG)
        items = tuple(replace(one, category=f"Drawings and photographs of number {one.label}") for one in scene.items)
        replace(scene, items=items).judged(ledger, by_lot)
        write_report(report(ledger), tmp_path / "report.html")
    for size in (DESKTOP, PHONE):
        context = browser.new_context(viewport=size, offline=True)  # pyright: ignore[reportArgumentType]
        page = context.new_page()
        page.goto(f"file://{tmp_path / 'report.html'}")
        assert page.locator("figure svg text").count() > 100
        assert page.evaluate(CUT_OFF) == []
        captions = page.locator("figure:visible figcaption").all()
        assert len(captions) == 5
        assert all(one.evaluate("one => one.scrollWidth <= one.clientWidth") for one in captions)
        context.close()


def test_on_a_phone_nothing_stands_out_of_the_page(browser: Browser, sample: Path):
    context = browser.new_context(viewport=PHONE, offline=True)  # pyright: ignore[reportArgumentType]
    page = context.new_page()
    page.goto(f"file://{sample}")
    expect(page.locator("#rows li")).to_have_count(48)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    picture = page.locator("#board figure:visible")
    expect(picture).to_have_count(1)
    assert picture.evaluate("one => one.scrollWidth <= one.clientWidth"), "the leader's dot is in sight"
    context.close()
