"""Submissions judged by real workers over real HTTP: once, within the budget, whoever is killed when."""

import hashlib
import json
import os
import random
import signal
import subprocess
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.identity import Json
from evenhand.domain.submission import (
    Approved,
    Closed,
    Entered,
    Judged,
    Raised,
    Said,
    Stopped,
    SubmissionState,
    SubmissionTerms,
    Uploaded,
    Withdrawn,
    label,
)
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.ledger.submissions.intakes import BoardIdentity, Intake, find_intake, open_intake
from evenhand.ledger.submissions.placements import placing_progress
from evenhand.ledger.submissions.store import (
    Submission,
    begin_submission,
    confirm,
    find_submission,
    receipt_on_record,
    spent,
    tell,
)
from tests.e2e.test_worker_kill import children
from tests.e2e.workplace import Workplace, drawn, ended, killed_once, stats, told, until, waited_for
from tests.scripted_server import server_process
from tests.site.test_serve import free_port, serving

pytestmark = pytest.mark.slow

IN_FLIGHT = 4
DOLLARS = "input=0,output=1000"
"""What a reply costs hangs on its own length alone, and the scripted judge's replies are all of one length."""
BATTLES = SubmissionTerms(policy="Do not train on it.", battles=40, reference_battles=8)


def judge_flags(url: str) -> tuple[str, ...]:
    return (
        "--judge", "openai/gpt-4o", "--judge-base-url", url, "--judge-endpoint-name", "scripted", "--price", DOLLARS,
    )  # fmt: skip


def worker(url: str, *more: str) -> tuple[str, ...]:
    return ("worker", "--once", *judge_flags(url), "--max-connections", str(IN_FLIGHT), *more)


@dataclass(frozen=True)
class Entry:
    """One team's submission to a board in a workplace."""

    here: Workplace
    intake: str
    id: str

    def opened(self) -> Ledger:
        return opened(self.here)

    def found(self) -> Submission:
        with closing(self.opened()) as ledger:
            found = find_submission(ledger, self.id)
        assert found
        return found

    @property
    def stands(self) -> SubmissionState:
        return self.found().standing

    def said(self, kind: type[Said]) -> list[Said]:
        return [one.said for one in self.found().events if isinstance(one.said, kind)]

    def tell(self, said: Said, *, person: str = "owner") -> None:
        with closing(self.opened()) as ledger:
            tell(ledger, self.id, said, person=person)

    def approve(self, budget: float | None) -> None:
        estimated = self.stands.estimated
        assert estimated
        approved = Approved(
            budget=budget,
            opponents=estimated.opponents,
            battles=estimated.battles,
            reference_battles=estimated.reference_battles,
            seed=estimated.seed,
            until=estimated.until,
            looks=estimated.looks,
            max_calls=estimated.max_calls,
        )
        self.tell(approved)

    def spent(self) -> float:
        with closing(self.opened()) as ledger:
            return spent(ledger, self.id)

    def receipt(self) -> dict[str, Json]:
        with closing(self.opened()) as ledger:
            found = receipt_on_record(ledger, self.id)
        assert found is not None
        return found

    def check_each_trial_once(self) -> None:
        """Everything wanted is decided, nothing twice, and nobody holds anything."""
        with closing(self.opened()) as ledger:
            found = find_intake(ledger, self.intake)
            assert found
            progress = placing_progress(ledger, found.board, label(self.id))
        assert progress
        assert progress.decided == progress.wanted == progress.reached
        self.here.decided()
        assert self.here.rows("SELECT * FROM claims") == []
        checked = self.here.run("ledger", "check")
        assert checked.code == 0, checked.out + checked.err


def opened(here: Workplace) -> Ledger:
    return Ledger(here.store)


def taking(here: Workplace, terms: SubmissionTerms = BATTLES) -> Intake:
    """The board in this workplace, which takes submissions from now on."""
    with closing(opened(here)) as ledger:
        (study,) = studies(ledger, purposes=("board",))
        board = BoardIdentity(data=study.data, rater=study.rater.key, condition=study.condition.key)
        intake = find_intake(ledger, open_intake(ledger, study.benchmark, board, terms, by="owner"))
    assert intake
    return intake


def entered(here: Workplace, intake: Intake, name: str = "newcomer") -> Entry:
    """Uploaded and confirmed."""
    items = load_benchmark("visit-bench-sample").items
    data = "\n".join(json.dumps({"item": one.label, "response": f"{name} on {one.label}"}) for one in items).encode()
    with closing(opened(here)) as ledger:
        submission = begin_submission(ledger, intake, Entered(model=name, version="1", team="T"), person="team")
        file = ledger.submitted.add(data)
        upload = Uploaded(file=file, name="answers.jsonl", size=len(data), answered=len(items), faults=0)
        seq = tell(ledger, submission, upload, person="team").upload_seq
        found = find_submission(ledger, submission)
        assert found
        confirm(ledger, found, intake, upload=seq)
    return Entry(here, intake.id, submission)


def estimated(here: Workplace, url: str, terms: SubmissionTerms = BATTLES) -> Entry:
    entry = entered(here, taking(here, terms))
    done = here.run(*worker(url))
    assert done.code == 0, done.err
    assert entry.stands.estimated
    return entry


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A board judged by the real command."""
    here = Workplace(tmp_path_factory.mktemp("founded") / "here")
    with server_process() as url:
        judged = here.judge(url, *drawn(20))
    assert judged.code == 0, judged.err
    return here


@pytest.fixture
def here(founded: Workplace, request: pytest.FixtureRequest) -> Workplace:
    return founded.copy(hashlib.sha256(request.node.name.encode()).hexdigest()[:12])


def test_estimated_approved_and_judged_with_a_receipt(here: Workplace) -> None:
    with server_process() as url:
        entry = estimated(here, url)
        before = stats(url)["requests"]
        expected = entry.stands.estimated
        assert expected
        entry.approve(budget=1000.0)
        assert here.run(*worker(url)).code == 0
        assert here.run(*worker(url)).code == 0
        seen = stats(url)
    assert seen["requests"] - before == expected.calls_at_least == expected.trials == 80
    assert seen["answered_again"] == 0
    judged = entry.stands.judged
    assert judged
    assert not judged.partial
    entry.check_each_trial_once()
    (here.folder / "receipt.json").write_text(json.dumps(entry.receipt()))
    verified = here.run("verify", "receipt.json")
    assert verified.code == 0, verified.out + verified.err


def test_the_budget_stops_it_and_closed_it_is_judged_by_what_is_there(here: Workplace) -> None:
    with server_process() as url:
        entry = estimated(here, url)
        before = stats(url)["requests"]
        entry.approve(budget=1.5)
        assert here.run(*worker(url)).code == 0
        assert entry.stands.stage == "stopped"
        asked = stats(url)["requests"] - before
        assert 0 < asked < 80
        assert 0 < entry.spent() <= 1.5
        entry.tell(Closed())
        assert here.run("worker", "--once").code == 0  # without a judge
        assert stats(url)["requests"] - before == asked
    judged = entry.stands.judged
    assert judged
    assert judged.partial
    assert entry.receipt()["kind"] == "evenhand-receipt"


def test_closed_before_anything_was_asked_there_is_a_receipt_all_the_same(here: Workplace) -> None:
    with server_process() as url:
        entry = estimated(here, url)
        entry.approve(budget=1.5)
        entry.tell(Closed())
        done = here.run(*worker(url))
        assert done.code == 0, done.err
    judged = entry.stands.judged
    assert judged
    assert judged.partial


def test_two_workers_in_two_processes_ask_nothing_twice_and_spend_no_more_than_was_approved(here: Workplace) -> None:
    with server_process("--latency", "0.02") as url:
        intake = taking(here)
        entries = [entered(here, intake, name) for name in ("one", "two", "three")]
        assert here.run(*worker(url)).code == 0
        before = stats(url)["requests"]
        for entry in entries:
            entry.approve(budget=1.5)
        both = [here.start(*worker(url)) for _ in range(2)]
        assert [ended(one).code for one in both] == [0, 0]
        assert here.run(*worker(url)).code == 0
        for entry in entries:
            assert entry.stands.stage == "stopped"
            assert len(entry.said(Stopped)) == 1
            assert 0 < entry.spent() <= 1.5
            entry.tell(Raised(budget=None))
        both = [here.start(*worker(url)) for _ in range(2)]
        assert [ended(one).code for one in both] == [0, 0]
        assert here.run(*worker(url)).code == 0
        seen = stats(url)
    assert seen["requests"] - before == 240
    assert seen["answered_again"] == 0
    for entry in entries:
        entry.check_each_trial_once()
        assert len(entry.said(Judged)) == 1


def test_withdrawn_while_it_is_judged_nothing_more_is_asked(here: Workplace) -> None:
    with server_process("--latency", "0.2") as url:
        entry = estimated(here, url)
        before = stats(url)["requests"]
        entry.approve(budget=None)
        told(url, f"hold?after={before + IN_FLIGHT}")
        process = here.start(*worker(url))
        until(url, lambda seen: seen["requests"] > before)
        entry.tell(Withdrawn(), person="team")
        told(url, "go")
        assert ended(process).code == 0
        asked = stats(url)["requests"] - before
        assert 0 < asked < 80
        assert here.run(*worker(url)).code == 0
        assert stats(url)["requests"] - before == asked
    assert entry.stands.stage == "withdrawn"
    assert entry.said(Judged) == []


def test_a_worker_without_the_boards_judge_says_so_and_asks_nothing(here: Workplace) -> None:
    with server_process() as url:
        intake = taking(here)
        entry = entered(here, intake)
        before = stats(url)["requests"]
        for flags, words in (
            ((), "given no judge"),
            (("--judge", "openai/gpt-4.1", "--judge-base-url", url), "given openai/gpt-4.1 at"),
        ):
            done = here.run("worker", "--once", *flags)
            assert done.code == 3, done.err
            with closing(opened(here)) as ledger:
                said = worker_notes(ledger)["submissions"].sentence
            assert words in said
            assert "--judge openai/gpt-4o" in said
        wrong = here.run("worker", "--once", "--judge", "nobody/nothing")
        assert wrong.code == 2
        assert "nobody" in wrong.err
        assert stats(url)["requests"] == before
    assert entry.stands.estimated is None


def test_the_address_of_all_commands_is_the_judges_too_unless_it_is_another_models(here: Workplace) -> None:
    with server_process() as url:
        entry = entered(here, taking(here))
        judge = ("--judge", "openai/gpt-4o", "--judge-endpoint-name", "scripted", "--price", DOLLARS)
        both = here.run("worker", "--once", *judge, "--model", "openai/other", EVENHAND_BASE_URL=url)
        assert both.code == 2
        assert "openai has a fixed address" in both.err
        alone = here.run("worker", "--once", *judge, EVENHAND_BASE_URL=url)
        assert alone.code == 0, alone.err
        assert entry.stands.estimated
        entry.approve(budget=1000.0)
        assert here.run("worker", "--once", *judge, EVENHAND_BASE_URL=url).code == 0
    assert entry.stands.stage == "judged"


def test_failures_are_overcome_by_the_next_worker(here: Workplace) -> None:
    with server_process() as url:
        entry = estimated(here, url)
        entry.approve(budget=None)
    with server_process("--fault", "500=0.4") as url:
        assert here.run(*worker(url, "--max-retries", "0")).code == 3
    stands = entry.stands
    assert stands.stage == "approved"
    assert len(stands.failures) == 1
    with server_process() as url:
        waiting = here.run(*worker(url))
        if time.time() < stands.failures[-1].at + 60:  # it waits a minute before it goes on
            assert (waiting.code, stats(url)["requests"]) == (3, 0)
        if entry.stands.stage == "approved":  # a slow machine comes after that minute, and it is judged already
            entry.tell(Raised(budget=None))  # the owner's word is at once
            assert here.run(*worker(url)).code == 0
    entry.check_each_trial_once()
    assert len(entry.said(Judged)) == 1


def test_a_worker_killed_with_calls_in_flight_is_taken_over_at_once(here: Workplace) -> None:
    with server_process("--latency", "0.2") as url:
        entry = estimated(here, url)
        before = stats(url)
        entry.approve(budget=1000.0)
        reached = before["requests"] + 2 * IN_FLIGHT
        killed_once(url, lambda: here.start(*worker(url)), requests=reached, answered=reached + IN_FLIGHT)
        last = here.run(*worker(url))
        assert last.code == 0, last.err
        seen = stats(url)
    assert seen["distinct"] - before["distinct"] == 80
    assert seen["answered_again"] <= IN_FLIGHT
    entry.check_each_trial_once()
    assert len(entry.said(Judged)) == 1


def test_serve_hands_its_worker_the_judge(here: Workplace) -> None:
    with server_process() as url:
        entry = entered(here, taking(here))
        with serving(here.folder, *judge_flags(url)):
            waited_for(lambda: entry.stands.estimated is not None)
            entry.approve(budget=1000.0)
            waited_for(lambda: entry.stands.stage == "judged")


KILLS = 10


@pytest.mark.soak
@pytest.mark.parametrize("round_", range(3))
def test_worker_and_server_killed_at_random_moments_lose_and_double_nothing_and_keep_the_budget(
    here: Workplace, round_: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lots = random.Random(round_)
    monkeypatch.setenv("EVENHAND_MAX_CONNECTIONS", str(IN_FLIGHT))
    monkeypatch.setenv("EVENHAND_MAX_RETRIES", "12")
    with server_process("--latency", "0.15", "--fault", "empty=0.3") as url, ExitStack() as closing_up:
        entry = estimated(here, url, SubmissionTerms(policy="p", battles=300, reference_battles=20))
        before = stats(url)
        wanted = entry.stands.estimated
        assert wanted
        budget = 12.0
        entry.approve(budget)
        flags = ("--port", str(free_port()), *judge_flags(url))
        started = closing_up.enter_context(ExitStack())
        process, _ = started.enter_context(serving(here.folder, *flags))
        for _ in range(KILLS):
            reached = stats(url)["answered"] + lots.randint(1, wanted.trials // KILLS)
            waited_for(lambda least=reached: stats(url)["answered"] >= least or entry.stands.stage != "approved")
            if entry.stands.stage == "stopped":
                assert entry.spent() <= budget
                budget += 12.0
                entry.tell(Raised(budget=budget))
            time.sleep(lots.uniform(0, 0.3))  # any moment of a call
            process = killed(process, lots, started, here.folder, flags)
        waited_for(lambda: entry.stands.stage in ("stopped", "judged"))
        ((per_call,),) = here.rows("SELECT max(cost_usd) FROM calls")
        billed = (replied(stats(url)) - replied(before)) * per_call
        assert entry.spent() <= budget
        assert billed <= entry.spent() + KILLS * IN_FLIGHT * per_call
        if entry.stands.stage == "stopped":
            entry.tell(Raised(budget=None))
            waited_for(lambda: entry.stands.stage == "judged")
        process.send_signal(signal.SIGINT)
        process.wait()
        seen = stats(url)
    assert seen["distinct"] - before["distinct"] == wanted.trials
    assert seen["answered_again"] <= KILLS * IN_FLIGHT
    entry.check_each_trial_once()
    assert len(entry.said(Judged)) == 1


def replied(seen: dict[str, Any]) -> int:
    """Replies that the endpoint bills, those of no use too."""
    return seen["answered"] + seen["outcomes"].get("empty", 0)


def killed(
    process: "subprocess.Popen[str]", lots: random.Random, started: ExitStack, folder: Path, flags: tuple[str, ...]
) -> "subprocess.Popen[str]":
    """The server or its worker, or both; the server that runs afterwards."""
    whom = lots.choice(["worker", "server", "both"])
    if whom != "server":
        for one in children(process.pid):
            os.kill(one, signal.SIGKILL)
    if whom == "worker":
        return process
    process.kill()
    started.close()
    return started.enter_context(serving(folder, *flags))[0]
