"""A benchmark grown to VisIT-Bench's shape: by clicks in a real browser, and by the rows of a file."""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.visit_bench.load import skills, sources
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import people
from evenhand.site.living.events import Verification
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.living.store import proposals, say
from tests.e2e.browser import browsing, go
from tests.e2e.test_growing import PICTURES, Site, invited, shown, site_in, through
from tests.e2e.workplace import SECONDS
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow

NAME = "Grown as VisIT"
WRITERS = ("Ada", "Ben", "Cleo", "Dan", "Eve")
EACH = 2
"""Instructions of each writer for each skill."""
SEVERAL = (*(one.skill for one in sources() if one.images == "multiple" and one.skill), "winoground")
"""The skills whose items have several images (Table 5, and the released data)."""
LICENCES = ("CC BY 4.0", "CC BY-SA 2.0", "CC0 1.0", "MIT")
SINGLE, BOTH, GIVEN = "Which herb is this, and is it ripe?", "What differs between the three?", "Count the shapes."


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


def by_clicks(skill: str, writer: str, each: int) -> bool:
    """What is written in the browser, and so is not in the file."""
    return (writer, each) == ("Ada", 0) and skill in (skills()[0], SEVERAL[0])


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Two of each writer for each skill, with a picture of its own; one of them without an instruction."""
    number = 0
    for skill in skills():
        for writer in WRITERS:
            for each in range(EACH):
                if by_clicks(skill, writer, each):
                    continue
                number += 1
                images = [drawn(folder, number, place) for place in range(2 + number % 3 if skill in SEVERAL else 1)]
                row = {
                    "images": images,
                    "skill": skill,
                    "source": f"Source {1 + number % 25}",
                    "licence": LICENCES[number % 25 % len(LICENCES)],
                    "instance": f"row-{number}",
                }
                if (skill, writer, each) == (skills()[1], "Ben", 0):
                    yield row  # for Ben to write in the browser
                    continue
                words = f"Tell me about picture {number}, as {skill} asks."
                captions = [f"Picture {number}, part {place}: one plain colour." for place in range(len(images))]
                yield {**row, "instruction": words, "captions": captions, "writer": writer}


def drawn(folder: Path, number: int, place: int) -> str:
    name = f"{number}-{place}.png"
    colour = (number % 256, number // 256 * 60, 40 + place * 50)
    Image.new("RGB", (48, 36), colour).save(folder / name)
    return name


def begun(owner: Page, site: Site) -> None:
    owner.goto(f"{site.url}/admin/growing")
    owner.get_by_label("Name").fill(NAME)
    owner.get_by_label("Skills to test, one a line").fill("\n".join(skills()))
    owner.get_by_role("button", name="Begin").click()
    owner.get_by_label("Instructions per person and skill").fill(str(EACH))
    owner.get_by_role("button", name="Save").click()
    expect(owner.get_by_label("Instructions per person and skill")).to_have_value(str(EACH))


def written(ada: Page, site: Site, growing: str) -> None:
    through(ada, "Write")
    expect(ada.get_by_text(f"Task 1 of {EACH * len(skills())}")).to_be_visible()
    expect(ada.get_by_text("your first of 2 instructions")).to_be_visible()
    ada.get_by_label("Or a file").set_input_files(PICTURES / "s01.png")
    ada.get_by_label("Its public licence (required)").select_option("CC0 1.0")
    ada.get_by_label("The instruction").fill(SINGLE)
    ada.get_by_role("button", name="Send").click()
    ada.goto(f"{site.url}/write/{growing}/{1 + skills().index(SEVERAL[0])}")
    ada.get_by_label("Or a file").set_input_files([PICTURES / f"s0{number}.png" for number in (3, 1, 2)])
    ada.get_by_label("Its public licence (required)").select_option("CC BY 4.0")
    ada.get_by_label("The instruction").fill(BOTH)
    ada.get_by_role("button", name="Send").click()
    ada.goto(f"{site.url}/write/{growing}/{1 + skills().index(SEVERAL[0])}")
    expect(ada.locator(".given img")).to_have_count(3)
    shown(ada, "grow-write-several")


def instructed(ben: Page, site: Site) -> None:
    ben.goto(f"{site.url}/grow")
    shown(ben, "grow-four-doors")
    ben.get_by_role("link", name="Write about an image").click()
    expect(ben.get_by_role("heading", level=1)).to_have_text(skills()[1].capitalize())
    expect(ben.get_by_role("link", name="Previous")).to_have_count(0)  # rows of his in the file are his tasks
    shown(ben, "grow-given-image")
    ben.get_by_label("The instruction").fill(GIVEN)
    ben.get_by_role("button", name="Send").click()
    expect(ben.get_by_text("No given image waits")).to_be_visible()


def captioned(cleo: Page) -> None:
    through(cleo, "Caption")
    for instruction in (SINGLE, BOTH, GIVEN):
        expect(cleo.get_by_role("heading", level=1)).to_have_text(instruction)
        boxes = cleo.locator("textarea")
        expect(boxes).to_have_count(3 if instruction == BOTH else 1)
        for number in range(boxes.count()):
            boxes.nth(number).fill(f"What there is to see, number {number + 1}.")
        if instruction == BOTH:
            shown(cleo, "grow-caption-several")
        cleo.get_by_role("button", name="Send").click()
    expect(cleo.get_by_text("Nothing waits for a caption")).to_be_visible()


def verified(dan: Page) -> None:
    through(dan, "Verify")
    for instruction in (SINGLE, BOTH):
        expect(dan.get_by_role("heading", level=1)).to_have_text(instruction)
        expect(dan.locator(".picture img")).to_have_count(3 if instruction == BOTH else 1)
        if instruction == BOTH:
            shown(dan, "grow-verify-several")
        dan.get_by_label("Yes").check()
        dan.get_by_role("button", name="Send").click()


def all_answered(ledger: Ledger, growing: str) -> None:
    deadline = time.monotonic() + SECONDS
    while any(one.standing.stage in ("image", "answer") for one in proposals(ledger, growing)):
        assert time.monotonic() < deadline, Counter(one.standing.stage for one in proposals(ledger, growing))
        time.sleep(1.0)


def rest_verified(ledger: Ledger, growing: str) -> None:
    """Each by somebody who neither wrote nor captioned it."""
    named = {one.name: one.id for one in people(ledger)}
    for one in proposals(ledger, growing):
        if one.standing.stage == "verify":
            by = named["Dan"] if one.standing.instruction.by != named["Dan"] else named["Eve"]
            yes = Verification(about=one.standing.answer_seq, follows=True)
            say(ledger, growing, one.id, yes, person=by)


def taken_in(site: Site, folder: Path) -> None:
    file = site.here.folder / "rows.jsonl"
    lines = [json.dumps(row) for row in rows(folder)]
    file.write_text("\n".join(lines), encoding="utf-8")
    ran = site.here.run("growing", "take", NAME, "rows.jsonl", "--json")
    assert ran.code == 0, ran.err
    assert ran.document["added"] == len(lines) == 698
    assert ran.document["stages"] == {"answer": 697, "instruct": 1}
    again = site.here.run("growing", "take", NAME, "rows.jsonl", "--json").document
    assert (again["added"], again["known"]) == (0, 698)


def published(owner: Page, site: Site, growing: str) -> None:
    owner.goto(f"{site.url}/admin/growing/{growing}")
    owner.get_by_role("button", name="Make version 1").click()
    expect(owner.get_by_role("link", name="Download version 1")).to_be_visible()
    shown(owner, "growing-as-visit")
    one = owner.get_by_role("link", name=BOTH)
    if one.count():
        one.click()
        shown(owner, "growing-proposal-several")


def items_of_the_shape(folder: Path) -> list[dict[str, Any]]:
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(items) == 700
    assert Counter(item["category"] for item in items) == dict.fromkeys(skills(), 10)
    several = Counter(item["category"] for item in items if len(item["images"]) > 1)
    assert several == dict.fromkeys(SEVERAL, 10)
    assert all(len(item["captions"]) == len(item["images"]) for item in items if item["category"] in SEVERAL)
    assert all("captions" not in item for item in items if item["category"] not in SEVERAL)
    assert all(item["licence"] for item in items)
    assert sum("source" in item and "instance" in item for item in items) == 698
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    skill_of = {item["item"]: item["category"] for item in items}
    wrote = Counter((skill_of[one["item"]], writer_of(one["events"])) for one in history)
    assert len({writer for _, writer in wrote}) == len(WRITERS)
    assert set(wrote.values()) == {EACH}
    assert len(wrote) == len(skills()) * len(WRITERS)
    loaded = load_benchmark("visit-bench", path=folder / "items.jsonl")
    assert loaded.name == NAME  # by its digest, which the version on record has
    return items


def writer_of(events: Sequence[dict[str, Any]]) -> str:
    return next(one["by"] for one in reversed(events) if one["what"] == "Instruction")


def told_of_licences(site: Site, owner: Page, items: Sequence[dict[str, Any]]) -> None:
    described = site.here.run("describe", "visit-bench=grown/items.jsonl", "--json").document
    (whole,) = described["benchmarks"]
    told = {one["licence"] for one in whole["pictures"]["licences"]}
    # One picture was proposed twice, under two of them.
    assert told == {*LICENCES, "CC0 1.0; CC BY 4.0"}
    assert sum(one["items"] for one in whole["sources"]) == 698
    assert len(whole["sources"]) == 25
    row = next(item for item in items if item["category"] == SEVERAL[1])
    case = site.here.run("show", "--item", row["item"], "--benchmark", NAME)
    assert f"licence {row['licence']}" in case.out
    assert f"from {row['source']}, instance {row['instance']}" in case.out
    answers = [
        json.dumps({"item": row["item"], "model": model, "response": words})
        for model, words in (("otter", "One plain colour in all of them."), ("heron", "I see nothing."))
    ]
    (site.here.folder / "answers.jsonl").write_text("\n".join(answers), encoding="utf-8")
    with server_process("--judge", "prefers-longer") as judge:
        asked = ("judge", "visit-bench", "--data", "grown/items.jsonl", "--responses", "answers.jsonl")
        more = ("--items", row["item"], "--judge", "scripted/judge", "--judge-base-url", judge, "--against", "otter")
        ran = site.here.run(*asked, *more, OPENAI_API_KEY="k")
        assert ran.code == 0, ran.err
    go(owner, site.url)
    expect(owner.get_by_text(NAME).first).to_be_visible()
    owner.get_by_role("link", name="scripted/judge").first.click()
    owner.get_by_role("link", name="otter").first.click()
    owner.locator("a[href*='/battle?']").first.click()
    expect(owner.get_by_text(f"Licence: {row['licence']}").first).to_be_visible()
    expect(owner.get_by_text(f"{row['source']}, instance {row['instance']}").first).to_be_visible()
    shown(owner, "growing-case")


def test_a_benchmark_grows_to_the_shape_of_visit_bench(browser: Browser, tmp_path: Path):
    folder = tmp_path / "site"
    folder.mkdir()
    with site_in(browser, folder) as site:
        owner = site.visit(site.link, "Olga")
        begun(owner, site)
        ada, ben, cleo, dan, _ = (site.visit(invited(owner, site, name), name) for name in WRITERS)
        ledger = Ledger(site.here.store, create=False)
        (growing,) = growing_benchmarks(ledger)
        written(ada, site, growing.id)
        taken_in(site, folder)
        instructed(ben, site)
        captioned(cleo)
        all_answered(ledger, growing.id)
        verified(dan)
        rest_verified(ledger, growing.id)
        published(owner, site, growing.id)
        ran = site.here.run("export", "--grown", NAME, "--out", "grown")
        assert ran.code == 0, ran.err
        told_of_licences(site, owner, items_of_the_shape(folder / "grown"))
        assert site.trouble == []
