"""`--workers`: several processes at one run, killed at any moment, with limits and a budget that are those of all."""

import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from evenhand.cli.ask.ray_process import LINK
from evenhand.ledger.store.claims import is_dead
from tests.database import ON_POSTGRESQL
from tests.e2e.test_budget_kill import FAULTS, INPUT, OUTPUT, TASKS, billed
from tests.e2e.workplace import (
    SECONDS,
    Workplace,
    drawn,
    ended,
    interrupted,
    judging,
    stats,
    told,
    until,
    waited_for,
)
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow

BATTLES = 100
TRIALS = 2 * BATTLES
A_FEW = 20
"""Requests that are answered between the moment that is waited for and the kill, at most."""
A_FIFTH = ("--fault", "500=0.1", "--fault", "cut=0.05", "--fault", "garbage=0.05")


# Claims last for two minutes, in which the other tests run: who waits for their end begins with the first test.


@dataclass(frozen=True, kw_only=True)
class Asleep:
    """A command that has claimed trials and sleeps, and another that wants them when the claims are over."""

    here: Workplace
    url: str
    slept: "subprocess.Popen[str]"
    other: "subprocess.Popen[str]"
    places: int


@pytest.fixture(scope="module", autouse=True)
def asleep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asleep]:
    here, places = Workplace(tmp_path_factory.mktemp("asleep") / "here"), 4
    with server_process("--held") as url, ExitStack() as leaving:
        asked = judging(url, *drawn(BATTLES), "--max-connections", str(places))
        slept = begun(here, asked, leaving)
        until(url, lambda seen: seen["requests"] == places)
        slept.send_signal(signal.SIGSTOP)
        told(url, "go")
        yield Asleep(here=here, url=url, slept=slept, other=begun(here, asked, leaving), places=places)


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """A command that goes on without one of its workers."""

    here: Workplace
    url: str
    leader: "subprocess.Popen[str]"
    worker: int
    places: int


@pytest.fixture(scope="module", autouse=True)
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stopped]:
    here, places = Workplace(tmp_path_factory.mktemp("stopped") / "here"), 2
    with server_process("--held") as url, ExitStack() as leaving:
        asked = judging(url, *drawn(BATTLES), "--max-connections", str(places), "--workers", "2")
        leader = begun(here, asked, leaving)
        until(url, lambda seen: seen["requests"] > 0)
        waited_for(lambda: bool(at_work(here, leader.pid)))
        (worker,) = at_work(here, leader.pid)
        os.kill(worker, signal.SIGSTOP)
        leaving.callback(lambda: [os.kill(one, signal.SIGKILL) for one in helpers_of(leader.pid)])
        told(url, "go")
        yield Stopped(here=here, url=url, leader=leader, worker=worker, places=places)


def begun(here: Workplace, asked: tuple[str, ...], leaving: ExitStack) -> "subprocess.Popen[str]":
    """Killed in the end if nobody has waited for it."""
    process = leaving.enter_context(here.start(*asked))
    leaving.callback(process.kill)
    return process


def helpers_of(leader: int) -> list[int]:
    """The processes that it has started and that live."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent, *_ = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(parent) == leader and state != "Z":
            found.append(int(stat.parent.name))
    return found


def at_work(here: Workplace, leader: int) -> list[int]:
    """The processes beside it that live and have claimed something, whoever started them."""
    holders = [holder for (holder,) in here.rows("SELECT DISTINCT holder FROM claims")]
    found = {int(holder.rsplit("|", 3)[1]) for holder in holders if not is_dead(holder)}
    return sorted(found - {leader})


def kill_helpers(
    here: Workplace,
    url: str,
    leader: "subprocess.Popen[str]",
    *,
    kills: int,
    every: int,
    lots: random.Random,
    full: int = 0,
) -> int:
    """How many were killed that were at work, each when the server has seen so many requests more. Where it takes long
    until they are at work, nothing is answered before `full` of them are, nor after a kill before they are again."""
    done = 0
    until(url, lambda seen: seen["requests"] > 0 or leader.poll() is not None)
    while done < kills and leader.poll() is None:
        let_all_come(here, url, leader, full)
        reached = stats(url)["requests"] + lots.randint(1, every)
        told(url, f"hold?after={reached + A_FEW}")  # else all may be done before the kill
        waited_for(lambda least=reached: leader.poll() is not None or stats(url)["requests"] >= least)
        waited_for(lambda: leader.poll() is not None or bool(at_work(here, leader.pid)))
        if living := at_work(here, leader.pid):
            time.sleep(lots.uniform(0, 0.1))  # any moment of a call
            with suppress(ProcessLookupError):  # a budget may be spent by now
                os.kill(lots.choice(living), signal.SIGKILL)
                done += 1
        told(url, "go")
    let_all_come(here, url, leader, full)
    return done


def let_all_come(here: Workplace, url: str, leader: "subprocess.Popen[str]", full: int) -> None:
    if full:
        told(url, "hold")
        waited_for(lambda: leader.poll() is not None or len(at_work(here, leader.pid)) >= full)
        told(url, "go")


def check_kills(
    here: Workplace, *more: str, replicates: int, kills: int, every: int, seed: int, places: int, full: int = 0
) -> str:
    """With four workers."""
    trials = TRIALS * replicates
    with server_process("--latency", "0.05", "--seed", str(seed), *A_FIFTH, *(["--held"] if full else [])) as url:
        asked = judging(url, *drawn(BATTLES), "--replicates", str(replicates), "--max-connections", str(places))
        leader = here.start(*asked, "--workers", "4", *more)
        killed = kill_helpers(here, url, leader, kills=kills, every=every, lots=random.Random(seed), full=full)
        ran = ended(leader)
        seen = until(url, lambda seen: seen["in_flight"] == 0)
    assert ran.code == 0, ran.err
    counts = ran.document
    assert (counts["planned"], counts["known"], counts["called"], counts["failed"]) == (trials, 0, trials, {})
    assert counts["verdicts"] == trials
    assert len(here.decided()) == trials, "lost none, and doubled none, of which `decided` sees to it"
    again = seen["answered"] - trials
    assert killed == kills
    assert 0 <= again <= killed * places, "no more is asked again than was in flight"
    assert (here.rows("SELECT count(*) FROM runs"), here.rows("SELECT * FROM claims")) == ([(1,)], [])
    assert here.run("ledger", "check").code == 0
    return (
        f"{killed} kills, {trials} trials, {seen['requests']} requests, {again} answered again, "
        f"peak {seen['peak']}, {counts['wall_s']} s"
    )


def test_workers_killed_now_and_then_are_replaced_and_nothing_is_lost_or_doubled(here: Workplace) -> None:
    print(check_kills(here, replicates=5, kills=4, every=60, seed=1, places=8))


def test_limits_are_those_of_all_workers_together(here: Workplace) -> None:
    a_second = 20
    with server_process("--latency", "0.05") as url:
        limits = ("--max-connections", "3", "--rpm", str(61 * a_second))
        ran = ended(here.start(*judging(url, *drawn(BATTLES), *limits, "--workers", "4")))
        seen = stats(url)
    assert ran.code == 0, ran.err
    assert seen["requests"] == seen["distinct"] == ran.document["requests"] == ran.document["called"] == TRIALS
    assert seen["peak"] <= 3
    # At once goes what a second allows; more time than is needed is taken on any machine, less on none.
    assert seen["span"] >= (TRIALS - 2 * a_second) / a_second / 2
    people = here.rows("SELECT count(DISTINCT holder) FROM claims")
    assert people == [(0,)]


def check_budget(here: Workplace, *more: str, every: int, full: int = 0) -> None:
    """Of workers that are killed three times."""
    budget, lots = 160.0, random.Random(1)
    # What is held back must not count as hanging.
    faults = [one for one in FAULTS if not (full and one.startswith("hang"))]
    given = [*(word for one in faults for word in ("--fault", one)), *(["--held"] if full else [])]
    here.folder.mkdir()
    # So slow that helpers are at work before one process alone has spent it.
    with server_process("--bills", "--latency", "1", *given) as url:
        asked = (*TASKS["judge"].words(here.folder, 800), "--judge-base-url", url, "--endpoint-name", "scripted")
        asked = (*asked, "--json", "--quiet", "--max-connections", "6", "--max-retries", "3")
        asked = (*asked, "--timeout", f"{SECONDS if full else 5}")
        asked = (*asked, "--price", f"input={INPUT},output={OUTPUT}", "--max-cost", f"{budget}", "--workers", "3")
        leader = here.start(*asked, *more)
        killed = kill_helpers(here, url, leader, kills=3, every=every, lots=lots, full=full)
        ran = ended(leader)
        spent = billed(url)
    assert ran.code == 3, ran.err
    assert killed > 0
    assert budget / 8 < spent <= budget
    charged = here.rows("SELECT sum(usd) FROM charges")[0][0]
    assert charged <= budget + 1e-6
    here.decided()


def test_a_budget_holds_for_all_workers_whatever_dies(here: Workplace) -> None:
    check_budget(here, every=8)


def test_a_budget_that_workers_alone_have_spent_is_said_to_be_spent_by_nobody_else(here: Workplace) -> None:
    here.folder.mkdir()
    with server_process("--bills", "--held") as url:
        asked = (*TASKS["judge"].words(here.folder, 200), "--judge-base-url", url, "--endpoint-name", "scripted")
        asked = (*asked, "--price", f"input={INPUT},output={OUTPUT}", "--max-cost", "60", "--max-connections", "6")
        leader = here.start(*asked, "--workers", "3")
        until(url, lambda seen: seen["requests"] > 0)
        waited_for(lambda: leader.poll() is not None or len(at_work(here, leader.pid)) == 2)
        told(url, "go")
        ran = ended(leader)
    assert ran.code == 3, ran.err
    assert "spent; the next call could pass it" in ran.err


def test_the_line_of_progress_tells_what_all_workers_have_done(here: Workplace) -> None:
    """Also of a plan that is made bit by bit."""
    answered, trials = 620, 800
    with server_process("--held") as url:
        asked = judging(url, *drawn(BATTLES), "--replicates", f"{trials // TRIALS}", "--max-connections", "8")
        leader = here.start(*asked, "--workers", "3")
        until(url, lambda seen: seen["requests"] > 0)
        waited_for(lambda: len(at_work(here, leader.pid)) == 2)
        told(url, f"hold?after={answered}")
        waited_for(lambda: len(here.decided()) == answered)
        assert leader.stderr is not None
        lines: list[str] = []
        while len(lines) < A_FEW and f"{answered}/{trials} trials" not in "".join(lines):
            lines.append(leader.stderr.readline())
        told(url, "go")
        ran = ended(leader)
    assert ran.code == 0, ran.err
    assert f"{answered}/{trials} trials" in "".join(lines)
    assert "asked by other runs" not in "".join(lines)


def outcomes(place: Workplace) -> list[list[object]]:
    """What each run says that it has done."""
    found = [json.loads(outcome) for (outcome,) in place.rows("SELECT outcome FROM run_ends ORDER BY at")]
    names = ("planned", "known", "known_no_verdict", "reread", "called", "verdicts", "no_verdict", "failed")
    return [[one.get(name) for name in names] for one in found]


@pytest.mark.parametrize("name", TASKS)
def test_every_command_does_by_workers_what_it_does_alone(here: Workplace, elsewhere: Workplace, name: str) -> None:
    task = TASKS[name]
    codes: list[int] = []
    asked_for: list[int] = []
    for place, workers in ((here, "3"), (elsewhere, "1")):
        place.folder.mkdir()
        with server_process("--judge", task.replies, "--latency", "0.02") as url:
            words = (*task.words(place.folder, 200), task.address, url, "--endpoint-name", "scripted", "--json")
            ran = ended(place.start(*words, "--workers", workers))
            codes.append(ran.code)
            asked_for.append(stats(url)["distinct"])
            assert ran.document
    assert codes[0] == codes[1] in (0, 4)
    assert asked_for[0] == asked_for[1] > 0
    assert here.rows("SELECT * FROM claims") == []
    for table in ("judgements", "responses", "calls", "runs"):
        counts = [place.rows(f"SELECT count(*) FROM {table}") for place in (here, elsewhere)]
        assert counts[0] == counts[1], table
    assert outcomes(here) == outcomes(elsewhere)


def test_what_workers_have_answered_is_counted_once(here: Workplace) -> None:
    task = TASKS["answer"]
    here.folder.mkdir()
    with server_process("--judge", task.replies, "--latency", "0.05", "--held") as url:
        words = (*task.words(here.folder, 200), task.address, url, "--endpoint-name", "scripted", "--json")
        leader = here.start(*words, "--max-connections", "4", "--workers", "3")
        until(url, lambda seen: seen["requests"] > 0)
        waited_for(lambda: leader.poll() is not None or len(at_work(here, leader.pid)) == 2)
        told(url, "go")
        ran = ended(leader)
    assert ran.code == 0, ran.err
    assert outcomes(here) == [[200, 0, {}, 0, 200, 200, {}, {}]]


@pytest.mark.parametrize("name", ["answer", "describe-images", "judge"])
def test_what_a_killed_worker_had_done_is_counted_once(here: Workplace, name: str) -> None:
    """Whatever it had said of it."""
    task, size = TASKS[name], 200
    here.folder.mkdir()
    with server_process("--judge", task.replies, "--latency", "0.05", "--held") as url:
        words = (*task.words(here.folder, size), task.address, url, "--endpoint-name", "scripted", "--json")
        leader = here.start(*words, "--max-connections", "6", "--workers", "3")
        killed = kill_helpers(here, url, leader, kills=2, every=20, lots=random.Random(name), full=2)
        ran = ended(leader)
    assert (ran.code, killed) == (0, 2), ran.err
    assert outcomes(here) == [[size, 0, {}, 0, size, size, {}, {}]]
    assert f"{size} {'trials' if name == 'judge' else 'items'}: 0 known before, {size} asked (" in ran.err


def test_one_interrupt_ends_all_workers_and_keeps_what_was_answered(here: Workplace) -> None:
    with server_process("--latency", "0.3") as url:
        told(url, "hold?after=60")
        leader = here.start(*judging(url, *drawn(BATTLES), "--max-connections", "6", "--workers", "3"))
        until(url, lambda seen: seen["requests"] > 60)
        waited_for(lambda: len(helpers_of(leader.pid)) == 2)
        helpers = helpers_of(leader.pid)
        ran = interrupted(url, leader)
        seen = stats(url)
    assert ran.code == 130, ran.err
    assert not [one for one in helpers if Path(f"/proc/{one}").exists()]
    assert seen["in_flight"] == 0
    assert len(here.decided()) == seen["answered"] == ran.document["called"] < TRIALS
    assert ran.document["not_reached"] == TRIALS - seen["answered"]
    assert here.rows("SELECT * FROM claims") == []


def test_workers_whose_leader_is_killed_put_on_record_what_is_in_flight_and_end(here: Workplace) -> None:
    with server_process("--latency", "0.3") as url:
        asked = judging(url, *drawn(BATTLES), "--max-connections", "6", "--workers", "3")
        told(url, "hold?after=60")
        leader = here.start(*asked)
        until(url, lambda seen: seen["requests"] >= 40)
        waited_for(lambda: len(helpers_of(leader.pid)) == 2)
        helpers = helpers_of(leader.pid)
        leader.kill()
        assert ended(leader).code == -signal.SIGKILL
        told(url, "go")
        waited_for(lambda: not [one for one in helpers if Path(f"/proc/{one}").exists()])
        again = here.run(*asked)
        seen = stats(url)
    assert again.code == 0, again.err
    assert len(here.decided()) == TRIALS
    assert seen["answered_again"] <= 6


def test_a_worker_that_says_much_on_standard_error_goes_on(here: Workplace) -> None:
    with server_process("--held") as url:
        # By which Python tells of each module that it loads: more than a pipe takes.
        unread = ("sh", "-c", 'exec "$0" "$@" 2> /dev/null')
        asked = judging(url, *drawn(BATTLES), "--workers", "2")
        leader = here.start_anew(*asked, before=unread, PYTHONVERBOSE="1")
        until(url, lambda seen: seen["requests"] > 0)
        waited_for(lambda: leader.poll() is not None or bool(at_work(here, leader.pid)))
        told(url, "go")
        ran = ended(leader)
    assert ran.code == 0, ran.out
    assert len(here.decided()) == TRIALS


@pytest.mark.skipif(not ON_POSTGRESQL, reason="other machines share no SQLite file")
def test_a_process_that_was_cut_off_asks_nothing_that_another_machine_took_over(here: Workplace) -> None:
    places = 4
    with server_process("--held") as url:
        process = here.start(*judging(url, *drawn(BATTLES), "--max-connections", str(places), "--no-wait"))
        until(url, lambda seen: seen["requests"] == places)
        with here.by_hand() as hand:
            kept, before = hand.execute("SELECT what, until FROM claims LIMIT 1")[0]
            hand.execute("UPDATE claims SET holder = 'elsewhere|1|1|run' WHERE what <> ?", [kept])
            hand.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        waited_for(lambda: here.rows("SELECT max(until) FROM claims WHERE holder LIKE '%+lock'") > [(before,)])
        told(url, "go")
        ran = ended(process)
        seen = stats(url)
    assert ran.code == 3, ran.err
    assert seen["requests"] <= places + 1


def test_a_wrong_key_ends_all_workers_with_one_sentence(here: Workplace) -> None:
    with server_process("--key", "right") as url:
        ran = ended(here.start(*judging(url, *drawn(BATTLES), "--workers", "3"), OPENAI_API_KEY="wrong"))
    assert ran.code == 2
    assert ran.err.count("Error:") == 1


@pytest.mark.parametrize("other", [{"mine": "Another answer."}, {"another": "A roof."}])
def test_a_worker_that_finds_other_files_puts_none_of_them_on_record(here: Workplace, other: dict[str, str]) -> None:
    """Of a model that who leads knows, or of another one: a machine of a cluster may have files of its own."""
    here.folder.mkdir()
    asked = ("--responses", "answers.jsonl", "--items", "s01", "--replace")

    def write(answers: dict[str, str]) -> None:
        rows = [json.dumps({"item": "s01", "model": model, "response": said}) for model, said in answers.items()]
        (here.folder / "answers.jsonl").write_text("\n".join(rows), encoding="utf-8")

    def on_record() -> list[list[tuple[object, ...]]]:
        tables = ("responses", "response_choices", "studies", "benchmarks")
        return [here.rows(f"SELECT count(*) FROM {table}") for table in tables]

    with server_process() as url:
        write(answers := {"mine": "A house.", "yours": "A tree."})
        led = here.judge(url, *asked)
        assert led.code == 0, led.err
        before = on_record()
        write(answers | other)
        ours, theirs = socket.socketpair()
        with theirs:
            command = judging(url, *asked, "--workers", "2")
            worker = here.start_anew(*command, fds=[theirs.fileno()], **{LINK: str(theirs.fileno())})
        ours.close()
        ran = ended(worker)
    assert "Traceback" not in ran.err
    assert on_record() == before, ran.err


def test_a_process_that_slept_longer_than_its_claims_last_asks_only_what_was_in_flight_again(asleep: Asleep) -> None:
    other = ended(asleep.other)  # which has them all when their leases are over
    asleep.slept.send_signal(signal.SIGCONT)
    woken = ended(asleep.slept)
    seen = stats(asleep.url)
    assert (other.code, woken.code) == (0, 0), other.err + woken.err
    assert len(asleep.here.decided()) == TRIALS
    assert seen["requests"] - seen["distinct"] <= asleep.places
    assert (asleep.here.rows("SELECT * FROM claims"), asleep.here.run("ledger", "check").code) == ([], 0)


def test_a_worker_that_is_stopped_and_never_goes_on_is_not_waited_for(stopped: Stopped) -> None:
    ran = ended(stopped.leader)
    seen = stats(stopped.url)
    assert ran.code == 0, ran.err
    assert ran.document["verdicts"] == len(stopped.here.decided()) == TRIALS
    assert seen["requests"] - seen["distinct"] <= stopped.places
    assert not Path(f"/proc/{stopped.worker}").exists()
