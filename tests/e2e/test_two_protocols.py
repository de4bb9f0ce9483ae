"""A benchmark with two protocols of its own is judged under both by one command, on one budget."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.workplace import Ran, Workplace
from tests.scripted_server import Script, ScriptedServer


def judge(body: dict[str, Any]) -> str:
    content = body["messages"][0]["content"]
    if "Response B Visual Factuality Score: Y/10" in str(content):
        return "Response A Visual Factuality Score: 8/10\nResponse B Visual Factuality Score: 6 out of 10"
    return "**Final Verdict:** [[A>B]]"


async def run(here: Workplace, server: ScriptedServer, *more: str) -> Ran:
    arguments = (
        "judge", "creation-mmbench-sample", "--judge", "scripted/judge", "--judge-base-url", server.base_url,
        "--endpoint-name", "scripted", "--json", "--limit", "5", *more,
    )  # fmt: skip
    return await asyncio.to_thread(here.run, *arguments)


async def test_both_are_asked_and_the_second_time_neither(tmp_path: Path) -> None:
    here = Workplace(tmp_path / "here")
    async with ScriptedServer(Script(judge=judge)) as server:
        first = await run(here, server)
        sent = [seen.body["messages"][0]["content"] for seen in server.requests]
        again = await run(here, server)
        preference_alone = await run(here, server, "--protocol", "creation_preference", "--orders", "published")
    assert first.code == 0, first.err
    preference, factuality = first.document["runs"]
    assert (preference["protocol"], factuality["protocol"]) == ("creation_preference", "creation_factuality")
    assert preference["not_applicable"] == 0
    assert first.document["planned"] == preference["planned"] + factuality["planned"]
    assert first.document["verdicts"] == first.document["called"] == len(sent)
    assert first.document["tokens"]["input"] == preference["tokens"]["input"] + factuality["tokens"]["input"]
    with_images = [content for content in sent if not isinstance(content, str)]
    assert len(with_images) == preference["planned"]
    assert all(part["image_url"]["detail"] == "low" for parts in with_images for part in parts[:-1])
    assert "creation_factuality:" in first.err
    assert (again.document["called"], again.document["known"]) == (0, first.document["planned"])
    assert "runs" not in preference_alone.document
    assert preference_alone.document["known"] == preference["planned"] / 2, "the baseline against each, once"
    without_baseline = here.rows(
        "SELECT key FROM trials t WHERE NOT EXISTS (SELECT 1 FROM responses r WHERE r.model = 'reference' "
        "AND t.responses LIKE '%' || r.digest || '%')"
    )
    assert without_baseline == []


async def test_one_budget_covers_both(tmp_path: Path) -> None:
    here = Workplace(tmp_path / "here")
    async with ScriptedServer(Script(judge=judge)) as server:
        price = ("--price", "input=0,output=100000")  # ten cents a token
        quoted = (await run(here, server, "--protocol", "creation_preference", "--dry-run")).document
        # Each verdict has seven of the server's tokens and may have 4096: after the last, one more call does not fit.
        enough = quoted["trials"] * 0.7 + 409.6 - 0.1
        short = await run(here, server, *price, "--max-cost", str(enough))
    assert short.code == 3, short.err
    preference, factuality = short.document["runs"]
    assert preference["verdicts"] == preference["planned"] == quoted["trials"]
    assert (factuality["called"], factuality["not_reached"]) == (0, factuality["planned"])
    assert short.document["cost_usd"] == pytest.approx(quoted["trials"] * 0.7)


async def test_a_chosen_setting_is_no_reason_to_refuse_it_the_next_time(tmp_path: Path) -> None:
    here = Workplace(tmp_path / "here")
    async with ScriptedServer(Script(judge=judge)) as server:
        chosen = ("--protocol", "creation_preference", "--temperature", "0.5")
        assert (await run(here, server, *chosen)).code == 0
        again = await run(here, server, *chosen)
        assert again.code == 0, again.err
        assert again.document["called"] == 0
    (notes,) = here.rows("SELECT DISTINCT notes FROM judgements")
    assert notes == ('{"adapted":["By choice, temperature is 0.5, not 0."]}',)
    board = here.run("rank", "--json")
    assert board.code == 0, board.err
    assert any("By choice, temperature is 0.5, not 0." in note for note in board.document["notes"])
