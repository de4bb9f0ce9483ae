"""A claim about a team whose answer to an item is the withheld reference word for word: against every other model the
judge was asked in these words before, so its reply is on record. Whoever could tell that would know the reference, and
of each of those models its verdict against it. The judge is a scripted server, and the team asks over HTTP."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from html import unescape
from itertools import pairwise
from typing import Any

import httpx2 as httpx
import pytest
from sqlalchemy import func, select

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.item import Item
from evenhand.domain.submission import Closed, Raised, Withdrawn
from evenhand.engine.run.calling import Pacing
from evenhand.engine.run.retry import RetryRule
from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from tests.engine.contest import PRICE, TEAM, Contest, at_work, founded
from tests.scripted_server import Script, ScriptedServer
from tests.site.house import SECONDS, House, served
from tests.site.test_team_attacker import ALL, ITEMS, Attacker, by_lot

GUESSED = "11"
"""The label of the item to which the team says what the reference says: the last of all."""


def guess(item: Item) -> str:
    return item.reference or "" if item.label == GUESSED else f"I see {item.label} gables and a door in it."


@pytest.mark.slow
async def test_nothing_tells_a_team_which_of_its_answers_the_judge_had_read_before(ledger: Ledger):
    async with in_contest(ledger) as (server, _, team):
        before = len(server.requests)
        made = await team.judged(guess)
        asked = len(server.requests) - before
        battles, showings = looked_at(team, made)
    others = {(one["label"], one["opponent"]) for one in battles}
    known = 2 * sum(label == GUESSED for label, _ in others)
    assert known, "it met none of the others there; then nothing was to be told"
    # Nor in two orders where both answers are the same.
    assert asked == 2 * (len(others) + ITEMS) - known - 1, "the judge is not asked anew"
    assert {one["at"] for one in showings} == {None}
    assert battles == sorted(battles, key=lambda one: (int(one["label"]), one["opponent"]))


def looked_at(team: Attacker, submission: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Its battles as they are listed, and what is told of each showing."""
    label = team.contest.submission(submission).label
    (board,) = (one["board"] for one in team.client.get("/api/boards").json()["boards"])
    battles = team.client.get(f"/api/boards/{board}/battles", params={"model": label}).json()["battles"]
    showings: list[dict[str, Any]] = []
    for one in battles:
        asked = {"item": one["item"], "a": label, "b": one["opponent"]}
        showings += team.client.get(f"/api/boards/{board}/battle", params=asked).json()["showings"]
    return battles, showings


ONE_AT_A_TIME = Pacing(max_connections=1, retry=RetryRule(retries=0))
_LINK = re.compile(r'href="(/[^"#]*)')
_OF_THIS_ANSWER = re.compile(r'name="csrf" value="\w+"|nonce-[\w+/=-]+')
_NO_NEWS = re.compile(
    r"/(static|images|join|account|sign-)|.*(/battle\?|/case\?|[?&](sort|order|against|find|result|page)=)"
)


def guess_of_half(item: Item) -> str:
    """What the reference says on every other item."""
    return item.reference or "" if int(item.label) % 2 else f"I see {item.label} gables and a door in it."


@asynccontextmanager
async def in_contest(ledger: Ledger) -> AsyncGenerator[tuple[ScriptedServer, House, Attacker]]:
    async with ScriptedServer(Script(judge=by_lot)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=ALL)
        with served(ledger) as house:
            yield server, house, Attacker(contest, house, server.base_url)


@asynccontextmanager
async def judging(contest: Contest, server: ScriptedServer, **given: Any) -> AsyncGenerator[Callable[[int], Any]]:
    """The worker at it, one call after the other, and what lets it come to the call of that number and no further."""
    asked = len(server.requests)
    server.hold(asked)
    kind = replace(contest.kind(server.base_url, pacing=ONE_AT_A_TIME, **given), receipt=receipt_of)
    working = asyncio.create_task(at_work(kind))

    async def up_to(call: int) -> None:
        server.hold(asked + call - 1)
        async with asyncio.timeout(SECONDS):
            while len(server.requests) < asked + call:
                assert not working.done(), working.result()
                await asyncio.sleep(0.02)

    yield up_to
    server.go()
    await working


def everything(house: House, team: Attacker, submission: str) -> dict[str, str]:
    """All that the team can ask for, and somebody passing by: what the API has, what its pages lead to, and each of
    its battles by name."""
    found: dict[str, str] = {}
    for who, client in (("team", team.client), ("visitor", house.visitor())):
        for path in (*addresses(client, team, submission), *battles_by_name(client, team, submission)):
            look(client, who, path, found)
        to_see = ["/", "/submit", "/submissions", f"/submissions/{submission}", "/benchmarks", "/metrics"]
        while to_see:
            path = to_see.pop()
            if f"{who} {path}" not in found and not _NO_NEWS.match(path):
                to_see += look(client, who, path, found)
    return found


def look(client: httpx.Client, who: str, path: str, found: dict[str, str]) -> list[str]:
    """Where it leads."""
    answer = client.get(path)
    found[f"{who} {path}"] = f"{answer.status_code} {_OF_THIS_ANSWER.sub('', answer.text)}"
    if "text/html" not in answer.headers.get("content-type", ""):
        return []
    return [unescape(one) for one in _LINK.findall(answer.text)]


def addresses(client: httpx.Client, team: Attacker, submission: str) -> Iterable[str]:
    """Of the whole API."""
    boards = client.get("/api/boards").json()["boards"]
    known = {
        "{submission}": [submission],
        "{board}": [one["board"] for one in boards],
        "{data}": [one["data"] for one in boards],
        "{intake}": [team.contest.id],
        "{ending}": ["jsonl"],
    }
    paths = [path for path, ways in client.get("/openapi.json").json()["paths"].items() if "get" in ways]
    for name, values in known.items():
        paths = [path.replace(name, one) for path in paths for one in (values if name in path else [""])]
    models = ("ann", team.contest.submission(submission).label)
    lists = [f"{path}?model={model}" for path in paths if path.endswith("/battles") for model in models]
    return [*(path for path in paths if "{" not in path), *lists]


def battles_by_name(client: httpx.Client, team: Attacker, submission: str) -> Iterable[str]:
    (board,) = (one["board"] for one in client.get("/api/boards").json()["boards"])
    label = team.contest.submission(submission).label
    # By their public names, which the list of somebody else's battles has.
    listed = client.get(f"/api/boards/{board}/battles", params={"model": "ann"}).json()["battles"]
    for item in sorted({one["item"] for one in listed}):
        for other in ("ann", "ben"):
            yield f"/api/boards/{board}/battle?item={item}&a={label}&b={other}"


@pytest.mark.slow
@pytest.mark.parametrize("is_open", [False, True])
async def test_until_it_is_judged_nothing_tells_how_much_of_it_is(ledger: Ledger, is_open: bool):
    """Nor where nothing else of the benchmark is withheld: which answers another team gave before is not told."""
    async with in_contest(ledger) as (server, house, team):
        contest = team.contest
        if is_open:
            open_benchmark(ledger, contest.intake.board.data, by="owner")
        made = await team.submits(guess_of_half)
        contest.approve(made)
        seen: list[dict[str, str]] = []
        read: list[int] = []
        async with judging(contest, server) as up_to:
            for call in (1, 2, 14):
                await up_to(call)
                read.append(newest(ledger).judgement)
                seen.append(await asyncio.to_thread(everything, house, team, made))
        after = await asyncio.to_thread(everything, house, team, made)
    assert contest.stands(made).stage == "judged"
    assert read == sorted(set(read)), "verdicts came all the time"
    assert read[-1] - read[0] > 14 - 1, "some of them without a call"
    for before, now in pairwise(seen):
        assert {path for path in before | now if before.get(path) != now.get(path)} == set()
    (status,) = (words for path, words in seen[0].items() if path == f"team /api/submissions/{made}")
    assert '"stage":"approved"' in status
    assert '"done":null' in status
    assert after != seen[-1], "so what was looked at tells something when it may"


@pytest.mark.slow
async def test_nothing_tells_how_far_one_is_that_was_judged_in_part_and_goes_on(ledger: Ledger):
    async with in_contest(ledger) as (server, house, team):
        contest = team.contest
        made = await judged_in_part(team, server, guess_of_half)
        contest.say(made, Raised(budget=None))
        seen: list[dict[str, str]] = []
        async with judging(contest, server, price=PRICE) as up_to:
            for call in (1, 2, 6):
                await up_to(call)
                seen.append(await asyncio.to_thread(of_its_own, house, team, made))
    assert contest.stands(made).stage == "judged"
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][f"team /api/submissions/{made}/battles"].startswith("409 ")


@pytest.mark.slow
async def test_a_team_that_withdrew_one_that_was_to_go_on_is_promised_no_file(ledger: Ledger):
    """Its receipt it has; its page says why there is no more."""
    async with in_contest(ledger) as (server, _, team):
        contest = team.contest
        made = await judged_in_part(team, server, guess_of_half)
        contest.say(made, Raised(budget=None))
        goes_on = team.client.get(f"/submissions/{made}").text
        contest.say(made, Withdrawn(), person=TEAM)
        gone = team.client.get(f"/submissions/{made}").text
        receipt = team.client.get(f"/api/submissions/{made}/receipt")
        battles = team.client.get(f"/api/submissions/{made}/battles")
    assert (receipt.status_code, battles.status_code) == (200, 409)
    promise = "comes when judging has ended"
    assert (promise in goes_on, promise in gone, "there is no file of its battles" in gone) == (True, False, True)


def of_its_own(house: House, team: Attacker, submission: str) -> dict[str, str]:
    """The board with it: it is not counted meanwhile, neither by its verdicts nor by what is missing."""
    found: dict[str, str] = {}
    own = [f"/submissions/{submission}{file}" for file in ("", "/receipt.json", "/battles.jsonl")]
    own += [f"/api/submissions/{submission}{what}" for what in ("", "/receipt", "/battles")]
    for who, client in (("team", team.client), ("visitor", house.visitor())):
        boards = [f"/api/boards/{one['board']}" for one in client.get("/api/boards").json()["boards"]]
        for path in (*own, "/api/boards", *boards, *battles_by_name(client, team, submission)):
            look(client, who, path, found)
    return found


async def judged_in_part(team: Attacker, server: ScriptedServer, say: Callable[[Item], str]) -> str:
    """Stopped at its budget, and judged by what was there."""
    contest = team.contest
    made = await team.submits(say)
    await at_work(contest.kind(server.base_url, price=PRICE))
    estimated = contest.stands(made).estimated
    assert estimated is not None
    assert estimated.cost_usd is not None
    contest.approve(made, 4 * estimated.cost_usd / estimated.calls_at_most)
    kind = replace(contest.kind(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME), receipt=receipt_of)
    await at_work(kind)
    assert contest.stands(made).stage == "stopped"
    contest.say(made, Closed())
    await at_work(kind)
    judged = contest.stands(made).judged
    assert judged is not None
    assert judged.partial
    return made


LAST = "9"
"""The label of the item of which the judge is asked last: calls go out in the order of their words."""


def guess_of_last(item: Item) -> str:
    return item.reference or "" if item.label == LAST else f"I see {item.label} gables and a door in it."


@pytest.mark.slow
async def test_where_it_ends_in_part_what_was_on_record_is_judged_in_its_turn(ledger: Ledger):
    """Else a battle that has a verdict, where others have none that come before it, would tell that its reply was
    there."""
    async with in_contest(ledger) as (server, _, team):
        made = await judged_in_part(team, server, guess_of_last)
        battles, _ = looked_at(team, made)
    assert 0 < len(battles) < ITEMS
    assert LAST not in {one["label"] for one in battles}


@pytest.mark.slow
@pytest.mark.parametrize("connections", [1, 16])
async def test_where_calls_fail_what_was_on_record_is_not_read_either(ledger: Ledger, connections: int):
    """Else, where the owner ends it then, its battles would be those whose replies were there, and no others."""
    pacing = Pacing(max_connections=connections, retry=RetryRule(retries=0))
    async with ScriptedServer(Script(judge=by_lot)) as server, ScriptedServer(Script(faults={"500": 1.0})) as down:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=ALL)
        made = contest.submitted(guess_of_half)
        await contest.worked(server.base_url)
        contest.approve(made)
        before, asked = verdicts(ledger), len(server.requests)
        await contest.worked(down.base_url, pacing=pacing)
        assert down.requests
        assert verdicts(ledger) == before
        await contest.worked(server.base_url, pacing=pacing)
        asked = len(server.requests) - asked
    judged = contest.stands(made).judged
    assert judged is not None
    assert not judged.partial
    assert verdicts(ledger) - before > asked, "some of them without a call"


def verdicts(ledger: Ledger) -> int:
    made = schema.judgements
    with ledger.reading() as connection:
        return connection.execute(select(func.count()).where(made.c.verdict.is_not(None))).scalar_one()
