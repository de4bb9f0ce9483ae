"""The whole life of a submission, in a real browser and by script: asked, let in, checked, approved, judged, proven."""

import json
import re
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from evenhand.ledger.store.record import Ledger
from tests.e2e.browser import browsing, go, load_again, until_worked_out, words_of
from tests.e2e.contest_world import ITEMS, PLANTED, Contest, write_faulty, write_predictions
from tests.e2e.test_growing import DESKTOP, shown, until_there
from tests.e2e.workplace import SECONDS, Workplace
from tests.scripted_server import server_process
from tests.site.test_serve import owner_link, serving

pytestmark = pytest.mark.slow


@dataclass(frozen=True, kw_only=True)
class Site:
    contest: Contest
    browser: Browser
    url: str
    owner_link: str
    trouble: list[str] = field(default_factory=list[str])
    contexts: list[BrowserContext] = field(default_factory=list[BrowserContext])

    def page(self, *, scripts: bool = True) -> Page:
        context = self.browser.new_context(
            viewport=DESKTOP,  # pyright: ignore[reportArgumentType]
            java_script_enabled=scripts,
            accept_downloads=True,
        )
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: self.trouble.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.trouble.append(str(error)))
        page.on("request", lambda asked: self._asked(asked.url))
        return page

    def _asked(self, url: str) -> None:
        if urlsplit(url).netloc != urlsplit(self.url).netloc:
            self.trouble.append(f"asked {url}")

    def joined(self, link: str, name: str, *, scripts: bool = True) -> Page:
        page = self.page(scripts=scripts)
        page.goto(link)
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Come in").click()
        return page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as browser:
        yield browser


@contextmanager
def site_in(browser: Browser, folder: Path) -> Generator[Site]:
    with server_process("--judge", "quotes by-quality") as judge:
        contest = Contest(here=Workplace(folder), judge=judge)
        contest.found()
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("OPENAI_API_KEY", "key-of-the-judge")
            with serving(folder, *contest.serving) as (process, url):
                site = Site(contest=contest, browser=browser, url=url, owner_link=owner_link(process))
                try:
                    yield site
                finally:
                    for context in site.contexts:
                        context.close()


def opened(owner: Page, site: Site) -> None:
    """The board takes submissions: sixteen battles, four against the reference; the others on five items or more."""
    owner.goto(f"{site.url}/admin/submissions")
    owner.get_by_label("Board", exact=True).select_option(index=0)
    owner.get_by_label("Battles by lot", exact=True).fill("16")
    owner.get_by_label("Of them against the reference").fill("4")
    shown(owner, "submissions-open")
    owner.get_by_role("button", name="Open it").click()
    expect(owner.get_by_role("heading", level=1)).to_contain_text("Submissions to visit-bench")


def asked(page: Page, site: Site, team: str) -> str:
    """The team's own link, by which it learns that it was accepted."""
    page.goto(f"{site.url}/submit")
    shown(page, "submit")
    page.goto(f"{site.url}/submit/request")
    page.get_by_label("Name of your team").fill(team)
    page.get_by_label("Who you are, and what for").fill(f"We are {team}.")
    shown(page, "submit-request")
    page.get_by_role("button", name="Send it to the owner").click()
    expect(page.get_by_role("link", name="Open it")).to_be_visible()
    found = re.search(r"http\S+/submit/request/[\w-]+", page.content())
    assert found, page.content()
    return found[0]


def accepted(owner: Page, site: Site, team: str) -> None:
    owner.goto(f"{site.url}/admin/submissions")
    shown(owner, "submissions-waiting")
    owner.get_by_role("button", name=f"Accept {team}").click()


def until_gone(page: Page, words: str) -> None:
    """Reloads until the board is worked out anew."""
    deadline = time.monotonic() + SECONDS
    load_again(page)
    until_worked_out(page)
    while words in (shown := words_of(page)):
        assert time.monotonic() < deadline, shown
        page.wait_for_timeout(200)
        load_again(page)
        until_worked_out(page)


def sent(page: Page, path: Path) -> None:
    page.locator('input[type="file"]').set_input_files(path)
    page.get_by_role("button", name="Upload").click()


def changed_and_back(here: Workplace, statement: str, back: str) -> Callable[[], None]:
    with here.by_hand() as hand:
        assert len(hand.execute(f"{statement} RETURNING 1")) == 1

    def undo() -> None:
        with here.by_hand() as hand:
            hand.execute(back)

    return undo


@pytest.mark.parametrize("scripts", [True, False], ids=["with its scripts", "without scripts"])
def test_the_whole_life_of_a_submission(browser: Browser, tmp_path: Path, scripts: bool):
    folder = tmp_path / "here"
    with site_in(browser, folder) as site:
        owner = site.joined(site.owner_link, "Olga", scripts=scripts)
        opened(owner, site)

        # A team asks, is accepted, and comes in by the link it has had from the start.
        team = site.page(scripts=scripts)
        link = asked(team, site, "Birds")
        team.goto(link)
        expect(team.locator("main")).to_contain_text("Waiting for the owner")
        accepted(owner, site, "Birds")
        team.reload()
        team.get_by_role("link", name="Come in as Birds").click()
        expect(team.get_by_label("Name of your team")).to_have_value("Birds")
        team.get_by_role("button", name="Come in").click()

        # It reads the policy, enters the model, and a faulty file is told fault by fault.
        team.goto(f"{site.url}/submit")
        team.get_by_role("heading", name="visit-bench").get_by_role("link").click()
        shown(team, "submit-board")
        team.get_by_role("link", name="Begin a submission").first.click()
        team.get_by_label("Model", exact=True).fill("Parrot")
        team.get_by_label("Version", exact=True).fill("2")
        expect(team.get_by_label("Team", exact=True)).to_have_value("Birds")
        team.get_by_role("checkbox").check()
        shown(team, "submission-new")
        team.get_by_role("button", name="Go on to the upload").click()
        write_faulty(folder / "faulty.jsonl")
        sent(team, folder / "faulty.jsonl")
        main = team.locator("main")
        for words in ("q0", "q1", "q99", f"q{ITEMS - 1}", f"q{ITEMS - 2}", "not JSON"):
            expect(main).to_contain_text(words)
        shown(team, "submission-faults")
        expect(team.get_by_role("button", name=re.compile("Confirm"))).to_have_count(0)
        write_predictions(folder / "predictions.jsonl")
        sent(team, folder / "predictions.jsonl")
        shown(team, "submission-checked")
        team.get_by_role("button", name=re.compile("Confirm")).click()
        expect(main).to_contain_text(re.compile("approv", re.IGNORECASE))
        shown(team, "submission-waiting")

        # The owner sees what it costs and approves; the worker judges; the board has a row without a name.
        owner.goto(f"{site.url}/admin/submissions")
        owner.get_by_role("link", name="Parrot 2").click()
        until_there(owner, "Approve and judge")
        shown(owner, "submission-approve")
        expect(owner.locator("main")).to_contain_text("16")
        owner.get_by_role("button", name="Approve and judge").click()
        until_there(team, "Anonymous")
        shown(team, "submission-judged")
        submission = team.url.rstrip("/").rpartition("/")[2]
        board = site.page()
        go(board, site.url)
        board.get_by_role("link", name="scripted/judge").click()
        until_there(board, f"anonymous {submission}")
        assert "Parrot" not in board.content()

        # Battle file and receipt; the receipt is verified, and any changed byte is noticed.
        battles, receipt = folder / "battles.jsonl", folder / "receipt.json"
        for path, name in (
            (battles, re.compile("battle", re.IGNORECASE)),
            (receipt, re.compile("receipt", re.IGNORECASE)),
        ):
            with team.expect_download() as download:
                team.get_by_role("link", name=name).first.click()
            download.value.save_as(path)
        told = battles.read_text()
        assert len(told.splitlines()) == 12
        assert not [phrase for phrase in PLANTED if phrase in told + receipt.read_text()]
        verified(site, receipt, submission)

        # Published it has a name; withdrawn it is gone.
        team.reload()
        publish = team.locator("form", has=team.get_by_role("button", name="Publish"))
        publish.get_by_role("checkbox").check()
        publish.get_by_role("button").click()
        until_there(board, "Parrot 2 (Birds)")
        shown(board, "boards-submitted")
        team.reload()
        team.get_by_text("Withdraw it").click()
        withdraw = team.locator("form", has=team.get_by_role("button", name="Withdraw"))
        withdraw.get_by_role("checkbox").check()
        withdraw.get_by_role("button").click()
        expect(main).to_contain_text(re.compile("withdrawn", re.IGNORECASE))
        shown(team, "submission-withdrawn")
        until_gone(board, "Parrot 2 (Birds)")
        assert submission not in board.content()
        expect(board.get_by_role("link", name="amber").first).to_be_visible()
        assert site.trouble == []


def verified(site: Site, receipt: Path, submission: str) -> None:
    contest = site.contest
    sound = contest.run("verify", receipt.name)
    assert sound.code == 0, sound.out + sound.err
    mine = contest.run("verify", receipt.name, "--predictions", "predictions.jsonl")
    assert mine.code == 0, mine.out + mine.err
    seq, call, verdict = _one_of_the_row(contest.here, submission)
    changes = {
        "a stored reply": (
            f"UPDATE calls SET text = text || ' ' WHERE key = '{call}'",
            f"UPDATE calls SET text = substr(text, 1, length(text) - 1) WHERE key = '{call}'",
        ),
        "a stored verdict": (
            f"UPDATE judgements SET verdict = replace(verdict, '1', '-1') WHERE seq = {seq}",
            f"UPDATE judgements SET verdict = '{verdict}' WHERE seq = {seq}",
        ),
    }
    for what, (statement, back) in changes.items():
        undo = changed_and_back(contest.here, statement, back)
        noticed = contest.run("verify", receipt.name)
        assert noticed.code == 1, f"{what}: {noticed.out}"
        undo()
        assert contest.run("verify", receipt.name).code == 0, what
    with closing(Ledger(contest.here.store)) as ledger:
        stored = {digest: ledger.places.submitted.get(digest) or b"" for digest, _ in ledger.places.submitted.sizes()}
        digest, before = next((digest, data) for digest, data in stored.items() if b"parrot" in data)
        ledger.places.submitted.put(digest, before.replace(b"parrot", b"Parrot", 1))
        assert contest.run("verify", receipt.name).code == 1
        ledger.places.submitted.put(digest, before)
    other = contest.folder / "other.jsonl"
    other.write_bytes(before + b"\n")
    assert contest.run("verify", receipt.name, "--predictions", "other.jsonl").code == 1


def _one_of_the_row(here: Workplace, submission: str) -> tuple[int, str, str]:
    """A judgement of the submitted model that prefers the answer shown first: its number, first call and verdict."""
    rows = here.rows(
        "SELECT j.seq, j.calls, j.verdict FROM judgements j JOIN trials t ON t.key = j.trial JOIN responses r "
        f"ON t.responses LIKE '%' || r.digest || '%' WHERE r.model = 'submission-{submission}' ORDER BY j.seq"
    )
    found = [(seq, json.loads(calls)[0], verdict) for seq, calls, verdict in rows]
    return next(one for one in found if json.loads(one[2])["value"] == 1)


def test_a_team_submits_from_a_script(browser: Browser, tmp_path: Path):
    folder = tmp_path / "here"
    with site_in(browser, folder) as site:
        owner = site.joined(site.owner_link, "Olga")
        opened(owner, site)
        owner.goto(f"{site.url}/admin")
        owner.get_by_label("Role").select_option("team")
        owner.get_by_label("For whom").fill("Fishes")
        owner.get_by_role("button", name="Make a link").click()
        link = owner.locator(".secret").inner_text()
        with httpx.Client(trust_env=False, timeout=60) as visitor:
            token = _token(visitor, link)
        write_faulty(folder / "faulty.jsonl")
        write_predictions(folder / "predictions.jsonl", word="fish")
        who = ("--model", "Fish", "--version", "1", "--team", "Fishes", "--accept-policy")
        faulty = site.contest.here.run("submit", site.url, "faulty.jsonl", *who, EVENHAND_TOKEN=token)
        assert faulty.code == 2, faulty.out + faulty.err
        for words in ("q0", "q1", "q99", f"q{ITEMS - 1}"):
            assert words in faulty.out + faulty.err
        done = site.contest.here.run(
            "submit", site.url, "predictions.jsonl", *who, "--confirm", "--json", EVENHAND_TOKEN=token
        )
        assert done.code == 0, done.err
        submission = done.document["submission"]
        owner.goto(f"{site.url}/admin/submissions/{submission}")
        until_there(owner, "Approve and judge")
        owner.get_by_role("button", name="Approve and judge").click()
        waited = site.contest.here.run(
            "submit", site.url, "--status", submission, "--wait", "--every", "0.2",
            "--receipt", "receipt.json", "--battles", "battles.jsonl", "--json", EVENHAND_TOKEN=token,
        )  # fmt: skip
        assert waited.code == 0, waited.err
        assert waited.document["stage"] == "judged"
        assert site.contest.run("verify", "receipt.json").code == 0
        assert len((folder / "battles.jsonl").read_text().splitlines()) == 12
        assert token not in "".join((faulty.out, faulty.err, done.out, done.err, waited.out, waited.err))


def _token(visitor: httpx.Client, link: str) -> str:
    def form_token(page: httpx.Response) -> str:
        found = re.search(r'name="csrf" value="(\w+)"', page.text)
        assert found
        return found[1]

    base = link.partition("/join/")[0]
    visitor.post(link, data={"csrf": form_token(visitor.get(link)), "name": "Fishes"})
    made = visitor.post(
        f"{base}/api/tokens", json={"note": "ci"}, headers={"X-CSRF-Token": form_token(visitor.get(f"{base}/account"))}
    )
    return made.json()["token"]
