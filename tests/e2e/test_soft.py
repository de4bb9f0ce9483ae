"""Soft verdicts from the wire to the board, and through files."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests import warm
from tests.scripted_server import Script, ScriptedServer


class Desk:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    async def run(self, *arguments: str, expect: int = 0) -> str:
        done = await asyncio.to_thread(warm.run, *arguments, cwd=self.folder, env={**os.environ, "EVENHAND_QUIET": "1"})
        assert done.returncode == expect, done.stderr
        return done.stdout if expect == 0 else done.stderr

    async def json(self, *arguments: str) -> dict[str, Any]:
        return json.loads(await self.run(*arguments, "--json"))

    async def judge(self, readout: str, *more: str) -> dict[str, Any]:
        return await self.json(
            "judge",
            "visit-bench-sample",
            "--judge",
            "openai/m",
            "--judge-base-url",
            self.url,
            "--readout",
            readout,
            *more,
        )


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    def longer(body: dict[str, Any]) -> str:
        words = str(body["messages"])
        return "Overall, Response A is better." if len(words) % 3 else "Overall, Response B is better."

    async with ScriptedServer(Script(judge=longer)) as server:
        yield Desk(tmp_path, server.base_url)


@pytest.mark.slow
async def test_a_constrained_readout_is_ranked_softly_and_every_way_gives_one_board(desk: Desk) -> None:
    await desk.judge("constrained")
    hard, soft = await desk.json("rank"), await desk.json("rank", "--soft")
    assert hard["soft"] is None
    assert soft["soft"]["votes"] == soft["votes"] == hard["votes"]
    assert soft["coverage"] == hard["coverage"]
    assert sum(one["win_rate_n"] for one in soft["models"]) == pytest.approx(2 * soft["votes"])
    assert {one["win_rate_visit"] for one in soft["models"]} == {None}
    for kind, more in (("judgements", ()), ("battles", ("--with-reference",))):
        file = desk.folder / f"{kind}.jsonl"
        await desk.run("export", f"--{kind}", *more, "--out", str(file))
        again = await desk.json("rank", str(file), "--soft")
        rated = {one["model"]: (one["rating"], one["rating_lower"]) for one in again["models"]}
        for one in soft["models"]:
            assert rated[one["model"]] == pytest.approx((one["rating"], one["rating_lower"]))
    shown = pl.read_ndjson(desk.folder / "battles.jsonl")
    assert shown["soft"].is_between(0, 1).all()


async def test_free_readouts_have_no_soft_board(desk: Desk) -> None:
    await desk.judge("free", "--limit", "4")
    told = await desk.run("rank", "--soft", expect=2)
    assert "free readout, where the judge may reason before it decides" in told
    assert "--readout constrained" in told


async def test_a_papers_table_gets_its_soft_figures_beside_the_hard_ones(desk: Desk) -> None:
    await desk.judge("constrained", "--limit", "6")
    scored = await desk.json("score", "visit-bench-sample", "--soft", "--bootstrap", "0")
    assert scored["soft"]["baseline"] == "reference"
    for one in scored["soft"]["models"]:
        # The script says the one of its two answers with .8 and the other with .06.
        certain = 0.8 / 0.86
        expected = certain * one["share_won_hard"] + (1 - certain) * (1 - one["share_won_hard"])
        assert one["share_won"] == pytest.approx(expected, abs=1e-5)
        assert one["share_won_lower"] < one["share_won"] < one["share_won_upper"]
    assert "Soft verdicts against reference" in await desk.run(
        "score", "visit-bench-sample", "--soft", "--bootstrap", "0"
    )
