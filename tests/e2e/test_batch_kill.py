"""A command that judges by batch, killed with -9 at every step of it: every judgement once, every call paid once."""

import asyncio
import json
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

import pytest

from tests.batch_server import Batching, BatchServer, EntryFault, Moment, Wire
from tests.e2e.workplace import Workplace, drawn, ended, judging
from tests.scripted_server import Script

pytestmark = pytest.mark.slow

TRIALS = (400, pytest.param(2000, marks=pytest.mark.soak))
"""Judgements: so many in `make test-slow`, and in `make soak` the more. Both are sent in four batches, both wires are
killed at every step, and equally often."""
KILLS = 20
_LATER: tuple[Moment, ...] = (
    "polled", "importing", "imported", "imported", "imported", "imported",
    "creating", "polled", "importing", "imported", "imported", "imported",
    "creating", "created", "polled", "importing", "imported",
)  # fmt: skip
Killed = Literal["openai", "anthropic"]
TURNS: Mapping[Wire, tuple[Moment, ...]] = {
    "openai": ("uploading", "uploaded", "created", *_LATER),
    "anthropic": ("created", "polled", "polled", *_LATER),  # requests go up with the creation
}


def now_and_then(call: str, before: int) -> EntryFault | None:
    """A quarter expires when it comes first, a quarter of those when it comes again, and so on."""
    return "expired" if before < 3 and int(call, 16) % 4 ** (before + 1) == 0 else None


class Killer:
    """Kills the command that runs at the step whose turn it is. What expired makes that every step comes again."""

    def __init__(self, server: BatchServer) -> None:
        self.kills: Counter[Moment] = Counter()
        self.process: subprocess.Popen[str] | None = None
        self._turns = [*TURNS[server.batching.wire]]
        for moment in get_args(Moment):
            server.at[moment] = lambda _, moment=moment: self.strike(moment)

    def strike(self, moment: Moment) -> None:
        process = self.process
        if process is None or self._turns[:1] != [moment]:
            return
        del self._turns[0]
        self.kills[moment] += 1
        self.process = None
        process.kill()
        if moment == "creating" and self.kills[moment] % 2 == 0:
            raise ConnectionResetError  # killed before the request was there whole: nothing is made of it


async def until_done(here: Workplace, killer: Killer, *arguments: str) -> str:
    """The same command again until one is left to end by itself; what that says."""
    for _ in range(KILLS + 1):
        killer.process = process = here.start(*arguments)
        ran = await asyncio.to_thread(ended, process)
        killer.process = None
        if ran.code != -signal.SIGKILL:
            assert ran.code == 0, ran.err
            return ran.out
    raise AssertionError("it was killed more often than was meant")


@pytest.mark.parametrize("trials", TRIALS)
async def test_judgements_by_batch_killed_twenty_times(tmp_path: Path, trials: int) -> None:
    """On two wires at once, with a mark of ours on a batch and without: most of the time they wait for batches."""
    async with asyncio.TaskGroup() as both:
        for wire in get_args(Killed):
            both.create_task(judged_and_killed(tmp_path / wire, wire, trials))


async def judged_and_killed(folder: Path, wire: Killed, trials: int) -> None:
    here = Workplace(folder)
    here.folder.mkdir()
    name = {"openai": "openai/gpt-4o", "anthropic": "anthropic/c"}[wire]
    async with BatchServer(
        Script(keep=False), batching=Batching(wire=wire, most=3 * trials // 10, fault=now_and_then, backwards=True)
    ) as server:
        killer = Killer(server)
        asked = [*judging(server.base_url, *drawn(100), "--replicates", f"{trials // 200}", "--quiet", "--batch")]
        asked[asked.index("openai/gpt-4o")] = name
        paying = ("--price", "input=1,output=1,batch=0.5", "--max-cost", "1000")
        await until_done(here, killer, *asked, *paying)
        assert killer.kills.total() == KILLS, killer.kills
        assert set(killer.kills) == set(TURNS[wire])
        assert len(here.decided()) == trials
        calls = {row[0] for row in here.rows("SELECT key FROM calls")}
        assert set(server.paid) == calls
        assert set(server.paid.values()) == {1}
        assert server.attempts.total() == 0
        (cost,) = here.rows("SELECT sum(cost_usd) FROM calls")[0]
        (charged,) = here.rows("SELECT sum(usd) FROM charges")[0]
        assert charged == pytest.approx(cost)
        assert here.rows("SELECT count(*) FROM batch_entries WHERE settled IS NULL") == [(0,)]
        assert here.rows("SELECT count(*) FROM reservations WHERE holder LIKE 'batch %'") == [(0,)]
        again = json.loads(await until_done(here, killer, *asked))
        assert (again["called"], again["known"]) == (0, trials)
