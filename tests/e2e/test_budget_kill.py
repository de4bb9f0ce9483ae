"""Killed with -9 at any moment, two at once, with an endpoint that fails in every way: what the endpoint itself counts
as billed stays within the budget."""

import json
import random
import re
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from evenhand.domain.submission import Raised, SubmissionTerms
from tests.e2e.test_submission_worker import Entry, entered, judge_flags, taking
from tests.e2e.workplace import Ran, Workplace, drawn, ended, stats, until, waited_for
from tests.scripted_server import doomed, server_process

pytestmark = pytest.mark.slow

FAULTS = ("500=0.08", "cut=0.06", "hang=0.04", "truncated=0.05", "empty=0.05", "garbage=0.04", "429=0.05")
PACE = ("--max-connections", "4", "--timeout", "0.6", "--max-retries", "3")
INPUT, OUTPUT = 1000.0, 1000.0
"""Dollars per million tokens: for a call some $3.40 is set aside, and it costs some $0.65."""


def billed(url: str) -> float:
    """In dollars, by the server's own count: also what it wrote to somebody who was not there any more."""
    tokens = stats(url)["billed"]
    return (tokens.get("input", 0) * INPUT + tokens.get("output", 0) * OUTPUT) / 1e6


@dataclass(frozen=True, kw_only=True)
class Killed:
    kills: int
    last: tuple[Ran, ...]
    """How the two ended that were left to themselves after the last kill."""


def killing(
    start: "Callable[[Mapping[str, str]], subprocess.Popen[str]]", *, kills: int, lots: random.Random
) -> Killed:
    """One process, and then two at once, of which now the one and now the other is started again. The server kills each
    at one of its requests, with which others may be at any moment of theirs; who comes when the budget is spent asks
    nothing and is not killed."""

    def begun(most: int = 10) -> "subprocess.Popen[str]":
        return start(doomed(lots.randint(1, most)))

    first = ended(begun(5))
    assert first.code == -signal.SIGKILL, first
    pair = [begun(), begun()]
    done = 1
    for _ in range(3 * kills):
        if done >= kills - 1:
            break
        place = lots.randrange(2)
        done += ended(pair[place]).code == -signal.SIGKILL
        pair[place] = begun()
    done += sum(ended(process).code == -signal.SIGKILL for process in pair)
    left = [start({}), start({})]
    return Killed(kills=done, last=tuple(ended(process) for process in left))


def server(seed: int) -> list[str]:
    return ["--bills", "--latency", "0.05", "--seed", str(seed), *(w for one in FAULTS for w in ("--fault", one))]


@dataclass(frozen=True, kw_only=True)
class Task:
    """A command that has more to ask than its budget pays for."""

    words: Callable[[Path, int], tuple[str, ...]]
    """Its arguments, once its data is in the folder: so many things to ask about."""
    address: str = "--judge-base-url"
    replies: str = "by-quality"
    """Who answers at the scripted server."""


def answering(command: str, *more: str) -> Task:
    def words(folder: Path, size: int) -> tuple[str, ...]:
        rows = [
            {"item": f"{n}", "instruction": f"What does picture {n} show? " * 60, "images": [f"{n}.png"]}
            for n in range(size)
        ]
        for n in range(size):
            Image.new("RGB", (16, 16), (n % 256, n // 256, 7)).save(folder / f"{n}.png")
        _lines(folder / "pictures.jsonl", rows)
        return (command, "pictures.jsonl", "--model", "openai/gpt-4o", "--max-tokens", "120", *more)

    return Task(words=words, address="--base-url")


def judging_pairs(_: Path, size: int) -> tuple[str, ...]:
    return ("judge", "visit-bench-sample", "--judge", "openai/gpt-4o", *drawn(100), "--replicates", str(size // 200))


def grading(folder: Path, size: int) -> tuple[str, ...]:
    outputs = [f"{name} is the longest of them all. " * 15 for name in ("Rhine", "Elbe", "Danube", "Oder")]
    _lines(folder / "rivers.jsonl", [{"prompt": f"Name {n} rivers.", "outputs": outputs} for n in range(size // 4)])
    return ("grade", "rivers.jsonl", "--judge", "openai/gpt-4o", "--max-tokens", "200")


def auditing(_: Path, size: int) -> tuple[str, ...]:
    return ("audit", "--judge", "openai/gpt-4o", "--budget", str(size))


def _lines(path: Path, rows: Iterable[object]) -> None:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


TASKS = {
    "judge": Task(words=judging_pairs),
    "answer": answering("answer"),
    "describe-images": answering("describe-images", "--mode", "query-specific"),
    "grade": Task(words=grading, replies="picks-longest"),
    "audit": Task(words=auditing),
}


def command_killed(here: Workplace, name: str, *, kills: int, budget: float, size: int, seed: int) -> str:
    """What came of it, in words."""
    task = TASKS[name]
    here.folder.mkdir(exist_ok=True)
    with server_process("--judge", task.replies, *server(seed)) as url:
        asked = (*task.words(here.folder, size), task.address, url, "--endpoint-name", "scripted", "--json", "--quiet")
        asked = (*asked, *PACE, "--price", f"input={INPUT},output={OUTPUT}")
        dear = (*asked, "--max-cost", f"{budget}")
        told = killing(lambda doom: here.start(*dear, **doom), kills=kills, lots=random.Random(seed))
        spent = billed(url)
        assert [one.code for one in told.last] == [3, 3], told.last
        assert any(
            "counted as spent for calls that were cut off when a process was killed" in one.err for one in told.last
        )
        again = here.run(*dear)
        assert again.code == 3
        assert "Give a higher --max-cost to go on" in again.err
        # What a kill cut into is not given anew, though a call may still fit that can cost less than the last refused.
        assert billed(url) - spent < budget / 8
        spent = billed(url)
        assert spent <= budget
        assert spent > budget / 8, "else it says nothing"  # kills cut off what is set aside at its most

        shown = json.loads(here.run("runs", "--json", "--last", "999").out)["runs"]
        cut_off = sum(one["cut_off_usd"] for one in shown)
        assert sum(one["spent_usd"] for one in shown) + cut_off <= budget + 1e-6
        assert 0 < cut_off < budget
        assert "cut off" in here.run("runs", "--last", "999").out

        more = here.run(*asked, "--max-cost", f"{budget + 10}")
        assert more.code == 3
        assert spent < billed(url) <= budget + 10
        return f"{name}: {told.kills} kills, ${spent:.2f} billed of ${budget:.2f}, ${cut_off:.2f} cut off by kills"


def worker_killed(here: Workplace, *, kills: int, budget: float, battles: int, seed: int) -> str:
    with server_process() as url:
        assert here.judge(url, *drawn(20)).code == 0
    with server_process(*server(seed)) as url:
        flags = (*judge_flags(url), *PACE)
        given = [*flags[: flags.index("--price") + 1], f"input={INPUT},output={OUTPUT}", *PACE]
        intake = taking(here, SubmissionTerms(policy="p", battles=battles, reference_battles=8))
        entries = [entered(here, intake, name) for name in ("newcomer", "other")]
        assert here.run("worker", "--once", *given).code == 0
        for entry in entries:
            entry.approve(budget)
        once = ("worker", "--once", *given)
        told = killing(lambda doom: here.start(*once, **doom), kills=kills, lots=random.Random(seed))
        spent = billed(url)
        assert {entry.stands.stage for entry in entries} == {"stopped"}
        assert all(entry.spent() <= budget for entry in entries)
        assert spent <= sum(entry.spent() for entry in entries) + 1e-6
        assert spent > budget / 2, "else it says nothing"
        raised(entries[0], url, here, given, budget + 10, spent)
        return f"worker: {told.kills} kills, ${spent:.2f} billed of ${2 * budget:.2f}"


def raised(entry: Entry, url: str, here: Workplace, given: list[str], budget: float, before: float) -> None:
    """With more it goes on, and what was cut off stays spent."""
    entry.tell(Raised(budget=budget))
    assert here.run("worker", "--once", *given).code == 0
    waited_for(lambda: entry.stands.stage != "approved")
    assert before < billed(url) <= before + 10


@pytest.mark.parametrize("name", TASKS)
def test_a_command_killed_now_and_then_keeps_its_budget(here: Workplace, name: str) -> None:
    command_killed(here, name, kills=4, budget=60.0, size=200, seed=1)


def test_workers_killed_now_and_then_keep_the_budgets_of_submissions(here: Workplace) -> None:
    worker_killed(here, kills=3, budget=60.0, battles=120, seed=1)


def test_kills_before_any_reply_keep_the_budget_also_where_every_character_is_a_token(here: Workplace) -> None:
    """Nothing can be learned from such an endpoint: what is set aside must be enough from the first call on."""
    budget, kills = 24.0, 0
    with server_process("--bills", "--per-character", "1", "--held") as url:
        asked = (*judging_pairs(here.folder, 200), "--judge-base-url", url, "--endpoint-name", "scripted", "--quiet")
        asked = (*asked, "--max-connections", "4", "--max-tokens", "64", "--price", f"input={INPUT},output={OUTPUT}")
        while True:
            # Two go out before a reply is heard; of the later runs, which may have money for one alone, one is enough.
            reached = stats(url)["requests"] + (1 if kills else 2)
            process = here.start(*asked, "--max-cost", f"{budget}")
            until(
                url,
                lambda seen, process=process, least=reached: process.poll() is not None or seen["requests"] >= least,
            )
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGKILL)
            ended(process)
            kills += 1
            assert kills < 12
        assert ended(process).code == 3
        assert kills > 1
        assert budget / 4 < billed(url) <= budget


@pytest.mark.parametrize("name", TASKS)
def test_a_budget_below_the_most_that_a_call_can_cost_names_the_least_with_which_it_starts(
    here: Workplace, name: str
) -> None:
    task = TASKS[name]
    here.folder.mkdir(exist_ok=True)
    with server_process("--judge", task.replies, "--bills") as url:
        asked = (*task.words(here.folder, 200), task.address, url, "--endpoint-name", "scripted", "--json", "--quiet")
        asked = (*asked, "--price", f"input={INPUT},output={OUTPUT}")

        def least_named(budget: str) -> str:
            told = here.run(*asked, "--max-cost", budget)
            assert told.code == 3
            found = re.search(
                r"that one of the next calls alone can cost at most, .* Give --max-cost ([\d.]+) or more", told.err
            )
            assert found, told.err
            assert "Run the same command again" not in told.err
            return found[1]

        least = least_named("0.5")
        assert stats(url)["requests"] == 0
        # Cheaper ones may go with less, but the dearest does not.
        assert least_named(f"{float(least) - 0.0002:.4f}") == least
        before = stats(url)["requests"]
        assert here.run(*asked, "--max-cost", least).code == 3
        assert stats(url)["requests"] > before


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TASKS)
def test_thirty_kills_do_not_take_a_command_over_its_budget(here: Workplace, name: str, seed: int) -> None:
    print(command_killed(here, name, kills=30, budget=500.0, size=1600, seed=seed))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
def test_thirty_kills_do_not_take_workers_over_the_budgets_of_submissions(here: Workplace, seed: int) -> None:
    print(worker_killed(here, kills=30, budget=270.0, battles=600, seed=seed))
