"""A key that a server repeats in all its answers is written nowhere."""

import asyncio
from functools import partial

import pytest

from tests.e2e.workplace import Ran, Workplace, drawn
from tests.refusals import says
from tests.scripted_server import Canned, Script, ScriptedServer, server_process

KEY = "sk-planted-9f8e7d6c5b4a39281706"


def assert_nowhere(here: Workplace, *ran: Ran) -> None:
    for one in ran:
        assert KEY not in one.out
        assert KEY not in one.err
    stored = here.stored()
    assert b"scripted" in stored
    assert KEY.encode() not in stored
    for path in here.files():
        assert KEY.encode() not in path.read_bytes(), path


def test_a_key_that_is_refused_and_repeated_is_not_shown_and_not_kept(here: Workplace) -> None:
    with server_process("--key", "another") as url:
        ran = here.judge(url, *drawn(10), OPENAI_API_KEY=KEY)
    assert ran.code == 2
    assert "***" in ran.err
    assert_nowhere(here, ran)


async def test_a_key_that_every_answer_repeats_is_not_shown_and_not_kept(here: Workplace) -> None:
    error = {"error": {"message": f"I was given {KEY}.", "param": KEY, "code": KEY}}
    reply = {"choices": [{"message": {"content": f"{KEY}! Overall, Response A is better."}, "finish_reason": "stop"}]}
    refusal = {"choices": [{"message": {"refusal": f"Not with {KEY}."}, "finish_reason": "stop"}]}
    answers = [
        *[Canned(body=reply)] * 2,
        Canned(status=500, body=error),
        Canned(status=400, body=error),
        Canned(status=429, body=error, headers={"Retry-After": "0", "X-Key": KEY}),
        Canned(body=f"<html>{KEY}".encode()),
        Canned(body=f'{{"choices": "{KEY}'.encode()),
        Canned(body=error),
        Canned(body=refusal),
        Canned(body={"choices": [], "key": KEY}),
    ]
    async with ScriptedServer(Script(key=KEY)).then(*answers) as server:
        judge = partial(here.judge, server.base_url, *drawn(10), "--max-retries", "0", OPENAI_API_KEY=KEY)
        ran = await asyncio.to_thread(judge)
    shown = here.run("runs", "--json", OPENAI_API_KEY=KEY)
    assert ran.code == 3
    assert sum(ran.document["failed"].values()) == 7
    assert ran.document["no_verdict"] == {"refused": 1}
    assert here.rows("SELECT count(*) FROM calls WHERE text LIKE '***! Overall%'") == [(2,)]
    assert here.rows("SELECT count(*) FROM judgements WHERE detail LIKE '%I was given ***.%'") == [(4,)]
    assert_nowhere(here, ran, shown)


async def test_a_redirect_that_holds_the_key_is_neither_followed_nor_shown(here: Workplace) -> None:
    away = Canned(status=307, headers={"Location": f"http://127.0.0.1:9/{KEY}"})
    async with ScriptedServer().then(*[away] * 30) as server:
        ran = await asyncio.to_thread(partial(here.judge, server.base_url, *drawn(10), OPENAI_API_KEY=KEY))
    assert (ran.code, ran.document["verdicts"]) == (2, 0)
    assert "(307)" in ran.err
    assert_nowhere(here, ran)


@pytest.mark.parametrize("flag", ["--base-url", "--judge-base-url"])
def test_credentials_in_a_base_url_are_refused_without_being_repeated(here: Workplace, flag: str) -> None:
    ran = here.run("judge", "visit-bench-sample", "--judge", "openai/gpt-4o", flag, f"http://me:{KEY}@127.0.0.1:9/v1")
    assert (ran.code, ran.out) == (2, "")
    says(ran.refused, "EH-MISUSE", flag, "key variable")
    assert KEY not in ran.err
