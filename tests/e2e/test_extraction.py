"""Replies that need an extractor, through the real command line: killed, resumed, and with an extractor elsewhere."""

import asyncio
import json
from typing import Any

import pytest

from tests.e2e.workplace import Workplace, drawn, judging, killed_once, stats
from tests.refusals import says
from tests.scripted_server import Script, ScriptedServer, server_process

pytestmark = pytest.mark.slow

IN_FLIGHT = 8
BATTLES = 40
TRIALS = 2 * BATTLES


def calls_of(here: Workplace) -> dict[str, int]:
    """How many calls each decided trial refers to."""
    rows = here.rows("SELECT trial, calls FROM judgements WHERE reason IS NULL OR reason = 'unreadable'")
    return {trial: len(json.loads(calls)) for trial, calls in rows}


def test_killed_twice_the_first_calls_are_not_paid_again_and_the_verdicts_are_those_of_a_quiet_run(
    here: Workplace, elsewhere: Workplace
) -> None:
    with server_process("--judge", "hesitant") as url:
        quiet = elsewhere.judge(url, *drawn(BATTLES))
        assert quiet.code == 0, quiet.err
        quiet_calls = stats(url)["requests"]
    with server_process("--judge", "hesitant", "--latency", "0.03") as url:
        arguments = judging(url, *drawn(BATTLES), "--max-connections", str(IN_FLIGHT))
        for moment in (30, 70):
            killed_once(url, lambda: here.start(*arguments), requests=moment, answered=moment + IN_FLIGHT)
        last = here.run(*arguments)
        seen = stats(url)
    assert last.code == 0, last.err
    assert here.decided() == elsewhere.decided()
    assert calls_of(here) == calls_of(elsewhere)
    assert set(calls_of(here).values()) == {1, 2}
    assert len(here.decided()) == TRIALS
    assert seen["distinct"] == quiet_calls == sum(calls_of(here).values())
    assert seen["answered_again"] <= 2 * IN_FLIGHT
    assert here.rows("SELECT * FROM claims") == []


def test_an_extractor_elsewhere_gets_the_second_calls_alone_and_a_key_of_its_own(here: Workplace) -> None:
    with (
        server_process("--judge", "hesitant", "--key", "for-the-judge") as url,
        server_process("--judge", "hesitant", "--key", "for-the-other") as other,
    ):
        keys = {"JUDGE_KEY": "for-the-judge", "OTHER_KEY": "for-the-other"}
        extractor = ("--extractor", "openai/small", "--extractor-base-url", other)
        variables = ("--judge-api-key-env", "JUDGE_KEY", "--extractor-api-key-env", "OTHER_KEY")
        arguments = judging(url, *drawn(20), *extractor, *variables)
        quoted = here.run(*arguments, "--dry-run", **keys).document
        assert (quoted["calls_at_least"], quoted["calls_at_most"]) == (40, 80)
        done = here.run(*arguments, **keys)
        assert done.code == 0, done.err
        assert stats(url)["requests"] == 40
        assert 0 < stats(other)["requests"] < 40
        assert done.document["requests"] == 40 + stats(other)["requests"]
        by_itself = here.run(*judging(url, *drawn(20), "--judge-api-key-env", "JUDGE_KEY"), **keys)
        assert by_itself.code == 0, by_itself.err
        assert by_itself.document["requests"] == stats(other)["requests"], "only the extractions are another's"
        assert stats(url)["answered_again"] == 0


def test_the_dry_run_says_at_least_and_at_most_in_words(here: Workplace) -> None:
    arguments = [word for word in judging("http://127.0.0.1:9/v1", *drawn(3)) if word != "--json"]
    said = here.run(*arguments, "--dry-run")
    assert said.code == 0, said.err
    assert "6 trials wanted, 0 already known, at least 6 and at most 12 calls to make." in said.out


def test_extractor_flags_that_say_nothing_are_refused_in_a_sentence(here: Workplace) -> None:
    url = "http://127.0.0.1:9/v1"
    alone = here.judge(url, "--extractor-base-url", url)
    assert alone.code == 2
    says(alone.refused, "EH-USAGE", "--extractor-base-url", "--extractor,")
    key = here.judge(url, "--extractor", "openai/small", "--extractor-api-key-env", "sk-0123456789abcdefghij")
    assert key.code == 2
    says(key.refused, "EH-MISUSE", "--extractor-api-key-env OPENAI_API_KEY")
    assert "0123456789abcdefghij" not in key.err
    idle = here.judge(url, "--extractor", "openai/small", "--readout", "constrained")
    assert idle.code == 2
    says(idle.refused, "EH-USAGE", "--extractor", "visit_pairwise", "constrained")
    unpriced = here.judge(
        url, "--extractor", "openai/no-such", "--extractor-base-url", url, "--max-cost", "1", "--price",
        "openai/gpt-4o:input=1,output=1",
    )  # fmt: skip
    assert unpriced.code == 2
    says(unpriced.refused, "EH-PRICE-UNKNOWN", "--max-cost", "openai/no-such", "--price")


WORDY = "Both have merits. " * 222
"""1000 of the server's tokens."""


def wordy(body: dict[str, Any]) -> str:
    return "Final Answer: B" if "FinalAnswerExtractionGPT" in str(body["messages"][0]) else WORDY


async def test_settings_given_for_the_judge_hold_where_it_extracts_itself_and_not_for_another(here: Workplace) -> None:
    one_trial = (*drawn(1), "--orders", "published", "--temperature", "0.5")
    async with ScriptedServer(Script(judge=wordy)) as server, ScriptedServer(Script(judge=wordy)) as other:
        done = await asyncio.to_thread(here.judge, server.base_url, *one_trial)
        assert done.code == 0, done.err
        elsewhere = ("--extractor", "openai/small", "--extractor-base-url", other.base_url)
        done = await asyncio.to_thread(here.judge, server.base_url, *one_trial, *elsewhere)
        assert done.code == 0, done.err
    sent = [(seen.body["temperature"], seen.body["max_tokens"]) for seen in (*server.requests, *other.requests)]
    assert sent == [(0.5, 1024), (0.5, 512), (0.0, 512)]


async def test_judge_and_extractor_spend_from_one_budget(here: Workplace) -> None:
    async with ScriptedServer(Script(judge=wordy)) as server, ScriptedServer(Script(judge=wordy)) as other:
        # At ten cents a token the judge's reply costs $100 and may cost $102.40, and an extraction may cost $51.20.
        dear = ("--price", "input=0,output=100000", "--max-cost", "110")
        arguments = (*drawn(1), "--orders", "published", *dear, "--extractor", "openai/small")
        done = await asyncio.to_thread(here.judge, server.base_url, *arguments, "--extractor-base-url", other.base_url)
    assert done.code == 3, done.err
    assert done.document["failed"] == {"over-budget": 1}
    assert (len(server.requests), len(other.requests)) == (1, 0)
