import asyncio
import json
from urllib.request import urlopen

import aiohttp
import pytest

from tests.scripted_server import FAULTS, Script, ScriptedServer, judge_named, server_process

Said = tuple[int, bytes]


def body(text: str) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def shown(first: str, second: str) -> dict[str, object]:
    return body(f"Here they are.\n\nResponse A: {first}\n\nResponse B: {second}\n\nThink step-by-step and finish.")


async def run(script: Script, texts: list[str]) -> dict[str, Said]:
    async with ScriptedServer(script) as server, aiohttp.ClientSession() as session:

        async def ask(text: str) -> tuple[str, Said]:
            async with session.post(f"{server.base_url}/chat/completions", json=body(text)) as response:
                return text, (response.status, await response.read())

        return dict(await asyncio.gather(*map(ask, texts)))


async def test_a_run_is_repeated_whatever_the_order() -> None:
    script = Script(faults={"429": 0.3, "500": 0.1, "garbage": 0.05, "empty": 0.05}, seed=3)
    texts = [f"question {number}" for number in range(200)]
    forth, back = await run(script, texts), await run(script, texts[::-1])
    assert forth == back
    limited = sum(status == 429 for status, _ in forth.values())
    assert 40 <= limited <= 80
    assert await run(Script(faults=script.faults, seed=4), texts) != forth


async def test_a_body_that_comes_again_is_drawn_anew_and_counted() -> None:
    async with ScriptedServer(Script(faults={"500": 0.5})) as server, aiohttp.ClientSession() as session:
        statuses: set[int] = set()
        for _ in range(20):
            async with session.post(f"{server.base_url}/chat/completions", json=body("again")) as response:
                statuses.add(response.status)
        assert statuses == {200, 500}
        assert [seen.attempt for seen in server.requests] == list(range(20))
        stats = server.stats()
        assert (stats["requests"], stats["distinct"], stats["repeats"]) == (20, 1, 19)
        assert stats["outcomes"]["500"] + stats["outcomes"]["answered"] == 20


async def test_the_gauge_shows_how_many_were_in_flight() -> None:
    async with ScriptedServer(Script(held=True)) as server, aiohttp.ClientSession() as session:
        url = f"{server.base_url}/chat/completions"
        asked = [asyncio.ensure_future(session.post(url, json=body(str(number)))) for number in range(8)]
        while server.in_flight < 8:  # noqa: ASYNC110  the server tells by this number alone
            await asyncio.sleep(0.005)
        server.go()
        for response in await asyncio.gather(*asked):
            response.release()
        assert (server.peak, server.in_flight) == (8, 0)


@pytest.mark.parametrize(
    ("judge", "first", "second", "better"),
    [
        ("always-first", "x", "xxx", "A"),
        ("prefers-longer", "x", "xxx", "B"),
        ("prefers-longer", "xxx", "x", "A"),
    ],
)
def test_built_in_judges_judge_as_they_are_called(judge: str, first: str, second: str, better: str) -> None:
    assert judge_named(judge)(shown(first, second)).endswith(f"Overall, Response {better} is better.")


def test_a_judge_by_quality_does_not_follow_the_order() -> None:
    verdict = judge_named("by-quality")
    for number in range(20):
        there, back = verdict(shown(f"a{number}", "b")), verdict(shown("b", f"a{number}"))
        assert there[-len("A is better.")] != back[-len("A is better.")]


def test_a_server_in_its_own_process_counts_for_itself() -> None:
    with server_process("--fault", "429=0.5", "--seed", "1") as url:
        with urlopen(f"{url}/models") as models:
            assert json.load(models)["object"] == "list"
        with urlopen(url.removesuffix("/v1") + "/_stats") as stats:
            assert json.load(stats)["requests"] == 0


def test_every_fault_of_the_plan_has_a_name() -> None:
    assert len(FAULTS) == len(set(FAULTS)) == 14
