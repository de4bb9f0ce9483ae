"""Twenty thousand judgements by four processes, of which one is killed now and then, where every fifth answer is a
fault: with half a budget first, then with enough. Those of Ray are in test_ray_workers."""

import random
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.e2e.test_workers import A_FIFTH, BATTLES, TRIALS, kill_helpers
from tests.e2e.workplace import Ran, Workplace, drawn, ended, judging, stats, until, waited_for
from tests.scripted_server import server_process

pytestmark = pytest.mark.soak

REPLICATES = 100
JUDGEMENTS = TRIALS * REPLICATES
PLACES, A_SECOND = 64, 40
"""For all four together: calls in flight, and requests that may start in a second."""
EVERY = 900
"""Requests between two kills at most, so that they fall into the run and not behind it."""
INPUT, OUTPUT = 2.5, 10.0
"""Dollars per million tokens."""
HALF, ENOUGH = 30.0, 300.0
"""Dollars."""


@dataclass(frozen=True, kw_only=True)
class Crew:
    """Four processes at one study."""

    commands: int = 1
    """Started by hand; 1: one command that starts the others."""
    runner: tuple[str, ...] = ()
    """What the command is told of who starts them."""
    full: int = 0
    """As for `kill_helpers`."""

    def words(self, url: str, budget: float) -> tuple[str, ...]:
        share = ("--max-connections", str(PLACES // self.commands), "--rpm", str(61 * A_SECOND // self.commands))
        price = ("--price", f"input={INPUT},output={OUTPUT}", "--max-cost", f"{budget}")
        workers = ("--workers", "4", *self.runner) if self.commands == 1 else ()
        # A call that fails eleven times in a row is none of these.
        tries = ("--replicates", str(REPLICATES), "--max-retries", "10")
        return judging(url, *drawn(BATTLES), *tries, *share, *price, *workers, "--quiet")

    def killed(
        self, here: Workplace, url: str, *, budget: float, kills: int, lots: random.Random
    ) -> tuple[int, list[Ran]]:
        """How many were killed, and how those ended that were not."""
        asked = self.words(url, budget)
        if self.commands == 1:
            leader = here.start(*asked)
            done = kill_helpers(here, url, leader, kills=kills, every=EVERY, lots=lots, full=self.full)
            return done, [ended(leader)]
        team = [here.start(*asked) for _ in range(self.commands)]
        done = kill_commands(here, url, team, asked, kills=kills, lots=lots)
        return done, [ended(process) for process in team]


def kill_commands(
    here: Workplace,
    url: str,
    team: "list[subprocess.Popen[str]]",
    asked: Sequence[str],
    *,
    kills: int,
    lots: random.Random,
) -> int:
    """As whoever started them would: each is started again."""
    done = 0
    while done < kills and all(process.poll() is None for process in team):
        reached = stats(url)["requests"] + lots.randint(1, EVERY)
        waited_for(lambda least=reached: stats(url)["requests"] >= least or any(one.poll() is not None for one in team))
        place = lots.randrange(len(team))
        if team[place].poll() is None:
            team[place].send_signal(signal.SIGKILL)
            done += 1
            ended(team[place])
            team[place] = here.start(*asked)
    return done


def billed(url: str) -> float:
    """In dollars, by the server's own count: also what it wrote to somebody who was not there any more."""
    tokens = stats(url)["billed"]
    return (tokens["input"] * INPUT + tokens["output"] * OUTPUT) / 1e6


@pytest.mark.parametrize("commands", [1, 4])
def test_twenty_thousand_judgements_by_four_processes_killed_ten_times(here: Workplace, commands: int) -> None:
    check_crew(here, Crew(commands=commands))


def check_crew(here: Workplace, crew: Crew) -> None:
    lots, held = random.Random(crew.commands), ["--held"] if crew.full else []
    with server_process("--bills", "--latency", "0.05", "--seed", str(crew.commands), *A_FIFTH, *held) as url:
        killed, stopped = crew.killed(here, url, budget=HALF, kills=5, lots=lots)
        assert {ran.code for ran in stopped} == {3}, [ran.err for ran in stopped]
        half = until(url, lambda seen: seen["in_flight"] == 0)
        spent = billed(url)
        assert HALF / 8 < spent <= HALF
        assert killed == 5
        more, last = crew.killed(here, url, budget=ENOUGH, kills=5, lots=lots)
        seen = until(url, lambda seen: seen["in_flight"] == 0)
        whole = billed(url)
    assert {ran.code for ran in last} == {0}, [ran.err for ran in last]
    assert more == 5
    assert len(here.decided()) == JUDGEMENTS, "lost none, and doubled none, of which `decided` sees to it"
    again = seen["answered"] - JUDGEMENTS
    assert 0 <= again <= (killed + more) * PLACES, "no more is asked again than was in flight"
    charged = here.rows("SELECT sum(usd) FROM charges")[0][0]
    assert whole <= ENOUGH
    assert seen["peak"] <= 2 * PLACES, "what a killed one had sent is worked on while others have its places"
    # The two phases begin with a burst each; what is kept waiting on the way may come together with what follows.
    assert seen["requests"] <= A_SECOND * (seen["span"] + 4 * crew.commands)
    assert here.rows("SELECT * FROM claims") == []
    assert here.run("ledger", "check").code == 0
    print(
        f"\n{crew.commands} command(s), {killed + more} kills, {JUDGEMENTS} judgements, {seen['requests']} requests in "
        f"{seen['span']:.0f} s, {again} answered again, peak {seen['peak']}, busiest second {seen['busiest']} of "
        f"{A_SECOND} a second and a burst; ${spent:.2f} billed of ${HALF:.0f} ({half['answered']} answered), "
        f"${whole:.2f} of ${ENOUGH:.0f}, ${charged:.2f} charged"
    )
