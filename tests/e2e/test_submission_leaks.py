"""Claims about what is withheld: phrases planted in it, and quoted by the judge, reach nobody but the owner."""

import itertools
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import httpx2 as httpx
import pytest
from sqlalchemy import Column, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import people
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study, take_place
from tests.e2e.contest_world import CAPTION, ITEMS, PLANTED, RATER, REFERENCE, Contest, write_faulty, write_predictions
from tests.e2e.workplace import SECONDS, Workplace, ended
from tests.scripted_server import server_process
from tests.site.house import form_token, served
from tests.site.test_serve import free_port, owner_link

pytestmark = pytest.mark.slow

FOLLOWED = 2_000
"""Pages of one visitor at most: a walk that finds more has gone astray."""


ANONYMOUS, PENDING, WITHDRAWN, PUBLISHED = "quetzal-7d1f", "heron-7d1f", "wren-7d1f", "robin-7d1f"
"""The submitted models, by what becomes of them; their answers begin with the name."""
UNPUBLISHED = (ANONYMOUS, PENDING, WITHDRAWN)


@dataclass(frozen=True, kw_only=True)
class Site:
    contest: Contest
    url: str
    owner: httpx.Client
    visitors: dict[str, httpx.Client]
    """By role: passer-by, annotator, the team, another team."""
    intake: str
    submissions: dict[str, str]
    """By model."""
    data_request: str

    @property
    def submission(self) -> str:
        """The one that is judged and anonymous."""
        return self.submissions[ANONYMOUS]


def scripted(visitor: httpx.Client) -> dict[str, str]:
    """A header for the API's changes."""
    if "authorization" in visitor.headers:
        return {}
    return {"X-CSRF-Token": form_token(visitor.get("/account"))}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """With limits that a walk through everything does not meet: else what it met would be the limits."""
    folder = tmp_path_factory.mktemp("leaks") / "here"
    with server_process("--judge", "quotes by-quality") as judge:
        contest = Contest(here=Workplace(folder), judge=judge)
        contest.found()
        contest.share_items()
        ledger = Ledger(contest.here.store)
        worker = contest.here.start("worker", *contest.serving, OPENAI_API_KEY="key-of-the-judge")
        try:
            with served(ledger) as house:
                visitors = {
                    "somebody passing by": house.visitor(),
                    "an annotator": house.signed_in("annotator"),
                    "the team": house.signed_in("team", "Birds"),
                    "another team": house.signed_in("team", "Others"),
                }
                site = lived(contest, house.url, house.signed_in("owner"), visitors)
                asked = AskedStudy(
                    data=data_of(site), form="forced", pairs=Pairs(), sharing=Sharing(people=9, each=1), most=9
                )
                study = make_people_study(ledger, asked, made_by=None)
                rater = next(one for one in people(ledger) if one.role == "annotator")
                take_place(ledger, study, rater)
                yield site
        finally:
            worker.terminate()
            ended(worker)
            ledger.close()


def data_of(site: Site) -> str:
    (offer,) = site.owner.get("/api/submit").json()["intakes"]
    boards = {one["board"]: one["data"] for one in site.owner.get("/api/boards").json()["boards"]}
    return boards[offer["board"]]


def lived(contest: Contest, url: str, owner: httpx.Client, visitors: dict[str, httpx.Client]) -> Site:
    """Submissions that ended in every way, by the API, and a request for what is withheld that waits."""
    team = visitors["the team"]
    intake = opened(contest, owner)
    submissions = {model: confirmed(contest, team, intake, model) for model in (*UNPUBLISHED, PUBLISHED)}
    for model in (ANONYMOUS, WITHDRAWN, PUBLISHED):
        judged(owner, submissions[model])
    for model, word in ((WITHDRAWN, "withdraw"), (PUBLISHED, "publish")):
        said = team.post(f"/api/submissions/{submissions[model]}/{word}", headers=scripted(team))
        assert said.status_code == 200, said.text
    asked = team.post(
        f"/api/submit/{intake}/data-request",
        json={"about": "why?", "policy_hash": policy_of(team)},
        headers=scripted(team),
    )
    assert asked.status_code == 201, asked.text
    return Site(
        contest=contest,
        url=url,
        owner=owner,
        visitors=visitors,
        intake=intake,
        submissions=submissions,
        data_request=asked.json()["request"],
    )


def opened(contest: Contest, owner: httpx.Client) -> str:
    """The intake of the board of all items."""
    boards = [one for one in owner.get("/api/boards").json()["boards"] if one["judge"] != "people"]
    whole = next(one for one in boards if items_on(owner, one["board"]) == ITEMS)
    terms = {"battles": 14, "reference_battles": 6, "policy": "Nobody trains on it.", "per_team": 9}
    made = owner.post("/api/intakes", json={"board": whole["board"], "terms": terms}, headers=scripted(owner))
    assert made.status_code == 201, made.text
    return made.json()["intake"]


def come(visitor: httpx.Client, path: str, params: Mapping[str, str] | None = None) -> httpx.Response:
    """What is there itself: a busy machine works it out later."""
    deadline = time.monotonic() + SECONDS
    while (told := visitor.get(path, params=params)).status_code in (202, 503):
        assert time.monotonic() < deadline, told.text
        time.sleep(0.2)
    return told


def items_on(owner: httpx.Client, board: str) -> int:
    return come(owner, f"/api/boards/{board}").json()["items"]


def policy_of(team: httpx.Client) -> str:
    return team.get("/api/submit").json()["intakes"][0]["policy_hash"]


def confirmed(contest: Contest, team: httpx.Client, intake: str, model: str) -> str:
    """A submission, after a file with faults was refused."""
    about = {"model": model, "version": "2", "team": "Birds", "policy_hash": policy_of(team)}
    begun = team.post(f"/api/submit/{intake}", json=about, headers=scripted(team))
    assert begun.status_code == 201, begun.text
    submission = begun.json()["submission"]
    write_faulty(contest.folder / "faulty.jsonl")
    write_predictions(contest.folder / "predictions.jsonl", word=model)
    upload = 0
    for name in ("faulty.jsonl", "predictions.jsonl"):
        sent = team.put(
            f"/api/submissions/{submission}/file?name={name}",
            content=(contest.folder / name).read_bytes(),
            headers={**scripted(team), "Content-Type": "application/octet-stream"},
        )
        assert sent.status_code == 200, sent.text
        upload = sent.json()["upload"]
    said = team.post(f"/api/submissions/{submission}/confirm", json={"upload": upload}, headers=scripted(team))
    assert said.status_code == 200, said.text
    return submission


def judged(owner: httpx.Client, submission: str) -> None:
    until(owner, submission, lambda one: one["estimate"] is not None)
    deadline = time.monotonic() + SECONDS
    while True:  # the board may have grown since, by the submission before it
        found = {one["submission"]: one for one in owner.get("/api/all-submissions").json()["submissions"]}
        word = {"word": "approve", "estimate": found[submission]["estimate"]["number"], "budget": 5}
        approved = owner.post(f"/api/submissions/{submission}/decide", json=word, headers=scripted(owner))
        if approved.status_code == 200:
            break
        assert approved.json()["code"] == "EH-ESTIMATE-CHANGED", approved.text
        assert time.monotonic() < deadline, approved.text
        time.sleep(0.2)
    until(owner, submission, lambda one: one["stage"] == "judged")


def until(owner: httpx.Client, submission: str, holds: Callable[[dict[str, Any]], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        found = {one["submission"]: one for one in owner.get("/api/all-submissions").json()["submissions"]}
        if holds(found[submission]):
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def walked(visitor: httpx.Client, starts: list[str]) -> dict[str, httpx.Response]:
    """Every page that links lead to, forms that ask included; nothing is changed on the way. Of the orders in which a
    page's rows can be had, one."""
    seen: dict[str, httpx.Response] = {}
    ordered: set[str] = set()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen[path] = page = come(visitor, path)
        assert len(seen) < FOLLOWED, sorted(seen)
        if "text/html" in page.headers.get("content-type", "") or page.is_redirect:
            found = [unescape(one) for one in re.findall(r'(?:href|src|action)="([^"#]*)', page.text)]
            found += [page.headers["location"]] if page.is_redirect else []
            for link in found:
                there = urlsplit(urljoin(str(page.url), link))
                if there.netloc != urlsplit(str(page.url)).netloc or ("sort=" in there.query and there.path in ordered):
                    continue
                waiting.append(f"{there.path}?{there.query}" if there.query else there.path)
                if "sort=" in there.query:
                    ordered.add(there.path)
    return seen


@dataclass(frozen=True, kw_only=True)
class Share:
    """Of the addresses into which three names and more are put, so that there are thousands: every `nth`, from the
    `first` on."""

    nth: int = 1
    first: int = 0

    def of(self, addresses: Iterable[tuple[str, ...]], *, names: int) -> list[tuple[str, ...]]:
        every = list(addresses)
        return every if names < 3 else every[self.first :: self.nth]


def operations(site: Site, *, values: Mapping[str, list[str]], share: Share) -> list[str]:
    """Every address that the API can be asked at, with all that is known put into it, and with nonsense."""
    paths: list[str] = []
    for path, methods in site.owner.get("/openapi.json").json()["paths"].items():
        if "get" not in methods:
            continue
        names = re.findall(r"{(\w+)}", path)
        asked = [
            one["name"] for one in methods["get"].get("parameters", []) if one["in"] == "query" and one["required"]
        ]
        choices = [[*values.get(name, []), "nonsense"] for name in (*names, *asked)]
        for chosen in share.of(itertools.product(*choices), names=len(choices)):
            given = dict(zip((*names, *asked), chosen, strict=True))
            filled = re.sub(r"{(\w+)}", lambda found, given=given: given[found[1]], path)
            query = urlencode({name: given[name] for name in asked})
            paths.append(f"{filled}?{query}" if query else filled)
    return paths


def known(site: Site) -> dict[str, list[str]]:
    boards = [one["board"] for one in site.owner.get("/api/boards").json()["boards"]]
    battles = [
        one
        for board in boards
        for one in come(site.owner, f"/api/boards/{board}/battles", {"model": "amber"}).json().get("battles", [])
    ]
    models = ["amber", "blue", "reference", *(f"submission-{one}" for one in site.submissions.values())]
    return {
        "board": boards,
        "intake": [site.intake],
        "submission": list(site.submissions.values()),
        "request": [site.data_request],
        "item": sorted({one["item"] for one in battles})[:2],
        "a": models,
        "b": models,
        "model": models,
        "name": models,
        "data": [one["data"] for one in site.owner.get("/api/boards").json()["boards"]][:1],
    }


def found_in(page: httpx.Response, phrases: Sequence[str] = PLANTED) -> list[str]:
    words = (page.text + json.dumps(dict(page.headers))).casefold()
    return [phrase for phrase in phrases if phrase in words]


def more_pages(site: Site, values: Mapping[str, list[str]], share: Share) -> list[str]:
    """Pages to which no link leads somebody who may not see them."""
    board = values["board"][0]
    named = itertools.product(values["board"], values["item"], values["a"], values["b"])
    battles = [
        f"/boards/{one}/battle?{urlencode({'item': item, 'a': a, 'b': b})}"
        for one, item, a, b in share.of(named, names=4)
    ]
    return [
        "/",
        "/api",
        "/openapi.json",
        "/admin",
        "/admin/audit",
        "/admin/submissions",
        f"/admin/submissions/intakes/{site.intake}",
        *(
            path.format(one)
            for one in site.submissions.values()
            for path in (
                "/admin/submissions/{}",
                "/submissions/{}",
                "/submissions/{}/receipt.json",
                "/submissions/{}/battles.jsonl",
            )
        ),
        f"/submit/{site.intake}/items.jsonl",
        f"/submit/{site.intake}/items.csv",
        f"/data-requests/{site.data_request}/items.jsonl",
        f"/data-requests/{site.data_request}/ratings.jsonl",
        f"/boards/{board}/audit",
        f"/boards/{board}?category=nonsense",
        *battles,
    ]


def test_the_owner_sees_what_was_planted(site: Site):
    """Else the walks of the others would prove nothing."""
    values = known(site)
    pages = [come(site.owner, path) for path in more_pages(site, values, Share())]
    seen = {found for page in pages for found in found_in(page, (*PLANTED, *UNPUBLISHED, PUBLISHED))}
    assert {CAPTION, REFERENCE, *UNPUBLISHED, PUBLISHED} <= seen
    done = site.contest.run("export", "--judgements", "--judge", RATER, "--out", "judgements.jsonl")
    assert done.code == 0, done.err
    rated = [json.loads(line) for line in (site.contest.folder / "judgements.jsonl").read_text().splitlines()]
    assert [one["models"] for one in rated if one["rater"] == RATER] == [["amber", "blue"]] * ITEMS


# In `make test-slow` each asks for a quarter of the battles, and all four together for all of them; in `make soak` each
# asks for all.
@pytest.mark.parametrize("nth", [4, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("first", "who"), [*enumerate(("somebody passing by", "an annotator", "the team", "another team"))]
)
def test_nobody_else_reads_a_word_of_it_anywhere(site: Site, who: str, first: int, nth: int):
    visitor, values, share = site.visitors[who], known(site), Share(nth=nth, first=first % nth)
    pages = walked(visitor, [*more_pages(site, values, share), *operations(site, values=values, share=share)])
    assert len(pages) > 100
    secret = PLANTED if who == "the team" else (*PLANTED, *UNPUBLISHED)
    assert {path: found_in(page, secret) for path, page in pages.items() if found_in(page, secret)} == {}
    assert {page.status_code for page in pages.values()} <= {200, 303, 400, 401, 403, 404, 405, 409, 410, 422}
    shown = {found for page in pages.values() for found in found_in(page, (*UNPUBLISHED, PUBLISHED))}
    assert shown == ({*UNPUBLISHED, PUBLISHED} if who == "the team" else {PUBLISHED})
    hashes = hashes_of_what_is_withheld(site)
    named = {path: sorted(hashes & starts_of_hashes(path, page)) for path, page in pages.items()}
    assert {path: found for path, found in named.items() if found} == {}


def test_a_battle_is_not_found_by_its_items_digest_but_by_the_owner(site: Site):
    board, item = known(site)["board"][0], sorted(digests(site))[0]
    query = urlencode({"item": item, "a": "amber", "b": "blue"})
    for path in (f"/boards/{board}/battle?{query}", f"/api/boards/{board}/battle?{query}"):
        assert {who: visitor.get(path).status_code for who, visitor in site.visitors.items()} == dict.fromkeys(
            site.visitors, 404
        )
    labels = [one["item"] for one in battles_on(site.visitors["somebody passing by"], board)]
    assert labels
    assert all(re.fullmatch(r"q\d+", label) for label in labels)


def battles_on(visitor: httpx.Client, board: str) -> list[dict[str, Any]]:
    return come(visitor, f"/api/boards/{board}/battles", {"model": "amber"}).json()["battles"]


def digests(site: Site) -> set[str]:
    """Of the items."""
    return stored(site, schema.items.c.digest)


def stored(site: Site, *columns: Column[str]) -> set[str]:
    with closing(Ledger(site.contest.here.store)) as ledger, ledger.reading() as connection:
        return {value for column in columns for value in connection.execute(select(column)).scalars()}


def hashes_of_what_is_withheld(site: Site) -> set[str]:
    """How the unkeyed hashes over references, captions and what holds them begin: who guesses those makes these."""
    columns = (schema.items.c.digest, schema.responses.c.digest, schema.trials.c.key, schema.calls.c.key)
    return {value[:12] for value in stored(site, *columns)}


def starts_of_hashes(path: str, page: httpx.Response) -> set[str]:
    words = f"{path} {page.text} {json.dumps(dict(page.headers))}"
    return {found[:12] for found in re.findall(r"(?<![0-9a-f])[0-9a-f]{12,64}(?![0-9a-f])", words)}


def test_two_boards_share_items_and_a_people_study_runs(site: Site):
    boards = site.owner.get("/api/boards").json()["boards"]
    assert len({one["data"] for one in boards}) == 2
    assert site.owner.get("/api/studies").json()["studies"]
    assert "/compare/" in site.visitors["an annotator"].get("/compare").text


def test_a_team_has_its_battles_without_the_reference_and_its_receipt(site: Site):
    team = site.visitors["the team"]
    battles = team.get(f"/api/submissions/{site.submission}/battles")
    receipt = team.get(f"/api/submissions/{site.submission}/receipt")
    assert (battles.status_code, receipt.status_code) == (200, 200)
    assert len(battles.text.splitlines()) == 8
    assert f"{ANONYMOUS} says" in battles.text
    assert found_in(battles) == found_in(receipt) == []


def test_another_teams_submission_is_refused_in_the_words_for_none_and_logged(site: Site):
    others, there, nowhere = site.visitors["another team"], site.submission, "00000000"
    for path in ("", "/receipt", "/battles"):
        one, none = (others.get(f"/api/submissions/{submission}{path}") for submission in (there, nowhere))
        assert one.status_code == none.status_code == 404
        assert one.text == none.text
    for path in (f"/submissions/{there}", f"/submissions/{there}/battles.jsonl"):
        assert others.get(path).status_code == 404
    for path in ("publish", "withdraw"):
        sent = others.post(f"/api/submissions/{there}/{path}", headers=scripted(others))
        assert sent.status_code == 404
    logged = [event["what"] for event in site.owner.get("/api/audit").json()["events"]]
    assert logged.count("refused: another's submission") >= 5


def test_errors_about_files_quote_nothing_but_the_file(site: Site):
    team = site.visitors["the team"]
    policy = team.get("/api/submit").json()["intakes"][0]["policy_hash"]
    about = {"model": "Crow", "version": "1", "team": "Birds", "policy_hash": policy}
    begun = team.post(f"/api/submit/{site.intake}", json=about, headers=scripted(team)).json()["submission"]
    near = [{"item": f"q{n}x", "response": "?"} for n in range(ITEMS)]
    asked = [{"instruction": "Which one is number 1", "crow prediction": "?"}]
    for name, rows in (("near.jsonl", near), ("asked.jsonl", asked)):
        sent = team.put(
            f"/api/submissions/{begun}/file?name={name}",
            content="".join(json.dumps(row) + "\n" for row in rows).encode(),
            headers={**scripted(team), "Content-Type": "application/octet-stream"},
        )
        assert sent.status_code == 200
        assert sent.json()["faults"]
        assert found_in(sent) == []


def test_the_public_part_is_public_and_nothing_else(site: Site, tmp_path: Path):
    for name in ("public.jsonl", "public.csv"):
        done = site.contest.run(
            "export", "--public", "--data", "items.jsonl", "--benchmark", "visit-bench", "--out", name
        )
        assert done.code == 0, done.err
        words = (site.contest.folder / name).read_text()
        assert "Which one is number 3?" in words
        assert not [phrase for phrase in PLANTED if phrase in words]
    served = site.visitors["somebody passing by"].get(f"/submit/{site.intake}/items.jsonl").text
    assert len(served.splitlines()) == ITEMS


def test_what_serve_and_worker_write_about_themselves_holds_nothing_of_it(tmp_path: Path):
    with server_process("--judge", "quotes by-quality") as judge:
        contest = Contest(here=Workplace(tmp_path / "here"), judge=judge)
        contest.found()
        worker = contest.here.start("worker", *contest.serving, OPENAI_API_KEY="key-of-the-judge")
        port = str(free_port())
        server = contest.here.start("serve", "--port", port, "--no-worker")
        try:
            link = owner_link(server)
            submission = submitted_by_script(contest, f"http://127.0.0.1:{port}", link)
        finally:
            worker.terminate()
            server.terminate()
            told = [ended(worker), ended(server)]
    words = "".join(one.out + one.err for one in told)
    assert submission
    assert "Serving" in told[1].err
    secret = (*PLANTED, ANONYMOUS, "key-of-the-judge", link.rpartition("/")[2])
    assert not [phrase for phrase in secret if phrase in words.casefold()]


def submitted_by_script(contest: Contest, url: str, link: str) -> str:
    """Judged, and asked after by everybody: the submission's id."""
    with ExitStack() as leaving:
        owner, team = (leaving.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=60)) for _ in range(2))
        came = owner.post(f"/api/join/{link.rpartition('/')[2]}", json={"name": "Olga"}).json()
        owner.headers["Authorization"] = f"Bearer {came['token']}"
        asked = team.post("/api/submit/request", json={"name": "Birds", "about": "We sing."}).json()
        accepted = owner.post(f"/api/access-requests/{asked['request']}", json={"accepted": True})
        assert accepted.status_code == 204, accepted.text
        inside = team.post(f"/api/join/{asked['token']}", json={"name": "Birds"}).json()
        team.headers["Authorization"] = f"Bearer {inside['token']}"
        submission = confirmed(contest, team, opened(contest, owner), ANONYMOUS)
        judged(owner, submission)
        for path in ("", "/receipt", "/battles", "/nonsense"):
            team.get(f"/api/submissions/{submission}{path}")
        return submission
