"""The worker and the server killed with -9 at any moment: no word of anybody is lost, and nothing is answered twice."""

import os
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import httpx2 as httpx
import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, invite
from evenhand.site.living.events import Caption, Instruction, Rules
from evenhand.site.living.settings import Example, LivingTerms, NewBenchmark, Skill, begin_growing
from evenhand.site.living.store import Proposal, proposals, propose, say
from tests.e2e.workplace import SECONDS, Workplace, ended, killed_once, stats, told, until
from tests.scripted_server import server_process
from tests.site.house import PNG
from tests.site.test_serve import free_port, serving

pytestmark = pytest.mark.slow

IN_FLIGHT = 4


def model(url: str) -> tuple[str, ...]:
    return ("--model", "openai/gpt-4o", "--base-url", url, "--endpoint-name", "scripted")


@pytest.fixture
def here(tmp_path: Path) -> Workplace:
    made = Workplace(tmp_path / "here")
    made.ledger.parent.mkdir(parents=True)
    return made


def opened(here: Workplace) -> Ledger:
    return Ledger(here.store)


def planted(ledger: Ledger, *, skills: int) -> str:
    example = Example(instruction="i", output="o")
    terms = LivingTerms(
        skills=tuple(Skill(name=f"skill {number}", example=example) for number in range(skills)),
        rules=Rules(alone=True),
    )
    return begin_growing(ledger, NewBenchmark(name="plot", licence="CC0", base=None, terms=terms), by="owner")


def captioned(here: Workplace, count: int) -> str:
    with closing(opened(here)) as ledger:
        growing = planted(ledger, skills=count)
        image = ledger.images.put(PNG).digest
        for number in range(count):
            said = Instruction(skill=f"skill {number}", text="What?", licence="CC0", image=image)
            proposal = propose(ledger, growing, said, person="a")
            (one,) = [one for one in proposals(ledger, growing) if one.id == proposal]
            caption = Caption(about=one.standing.instruction.seq, text=f"{number} dots, all red.")
            say(ledger, growing, proposal, caption, person="b")
    return growing


def on_record(here: Workplace, growing: str) -> list[Proposal]:
    with closing(opened(here)) as ledger:
        return proposals(ledger, growing)


def check_all_is_there_once(here: Workplace, growing: str, *, count: int) -> None:
    found = on_record(here, growing)
    assert [one.standing.stage for one in found] == ["verify"] * count
    for one in found:
        kinds = [type(event.said).__name__ for event in one.events]
        assert kinds.count("Answer") == 1
    assert here.rows("SELECT * FROM claims") == []
    assert here.run("ledger", "check").code == 0


def test_a_worker_killed_with_calls_in_flight_loses_nothing_and_the_next_answers_the_rest(here: Workplace) -> None:
    growing = captioned(here, 12)
    with server_process("--latency", "0.2") as url:
        arguments = ("worker", "--once", *model(url), "--max-connections", str(IN_FLIGHT))
        killed_once(url, lambda: here.start(*arguments), requests=IN_FLIGHT, answered=2 * IN_FLIGHT)
        kept = here.rows("SELECT count(*) FROM calls")[0][0]
        lost = stats(url)["answered"] - kept
        last = here.run(*arguments)
        assert last.code == 0, last.err
        seen = stats(url)
    assert 0 <= lost <= IN_FLIGHT
    assert seen["distinct"] == 12
    assert seen["answered_again"] <= lost
    check_all_is_there_once(here, growing, count=12)


def test_two_workers_in_two_processes_ask_each_question_once(here: Workplace) -> None:
    growing = captioned(here, 16)
    with server_process("--latency", "0.05") as url:
        arguments = ("worker", "--once", *model(url), "--max-connections", "2")
        both = [here.start(*arguments) for _ in range(2)]
        assert [ended(one).code for one in both] == [0, 0]
        assert here.run(*arguments).code == 0
        assert stats(url)["requests"] == 16
    check_all_is_there_once(here, growing, count=16)


def test_workers_of_one_command_share_the_work_one_that_is_killed_is_replaced_and_all_end_with_it(
    here: Workplace,
) -> None:
    growing = captioned(here, 12)
    with server_process("--latency", "0.2") as url:
        arguments = ("worker", "--workers", "2", *model(url), "--max-connections", "2")
        process = here.start(*arguments)
        (first,) = waited_for(children(process.pid) for _ in iter(int, 1))  # pyright: ignore[reportGeneralTypeIssues]
        os.kill(first, signal.SIGKILL)
        other = waited_for([one for one in children(process.pid) if one != first] for _ in iter(int, 1))
        until(url, lambda seen: seen["answered"] >= 12)
        waited_for(all(one.standing.stage == "verify" for one in on_record(here, growing)) for _ in iter(int, 1))
        process.send_signal(signal.SIGTERM)
        done = ended(process)
        assert (done.code, "Traceback" in done.err) == (0, False), done.err
        assert not Path(f"/proc/{other[0]}").exists()  # pyright: ignore[reportIndexIssue]
        once = here.run(*arguments, "--once")
        assert (once.code, once.err.count("Nothing is left to do.")) == (0, 1)
        seen = stats(url)
    assert seen["distinct"] == 12
    check_all_is_there_once(here, growing, count=12)


def test_workers_of_one_command_ask_side_by_side_and_are_told_to_stop_at_once(here: Workplace) -> None:
    captioned(here, 12)
    with server_process("--held") as url:
        process = here.start("worker", "--workers", "2", *model(url), "--max-connections", "2")
        until(url, lambda seen: seen["in_flight"] == 2)  # each has one: who came first has not claimed them all
        (other,) = children(process.pid)
        line = os.readlink(f"/proc/{other}/fd/0")
        process.send_signal(signal.SIGTERM)
        waited_for(line not in open_in(process.pid) for _ in iter(int, 1))
        told(url, "go")
        done = ended(process)
        seen = stats(url)
    assert done.code == 0, done.err
    assert (seen["requests"], seen["answered"]) == (2, 2)
    assert here.rows("SELECT count(*) FROM calls") == [(2,)], "both answers were still waited for"


def test_a_worker_whose_helper_crashes_each_time_does_all_itself_and_ends(here: Workplace, tmp_path: Path) -> None:
    growing = captioned(here, 3)
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nif '_EVENHAND_WORKS_BESIDE' in os.environ:\n    os._exit(9)\n"
    )
    path = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
    with server_process() as url:
        arguments = ("worker", "--workers", "2", "--once", *model(url), "--max-connections", "2")
        done = ended(here.start_anew(*arguments, PYTHONPATH=path))
        seen = stats(url)
    assert (done.code, done.err.count("Nothing is left to do.")) == (0, 1), done.err
    assert seen["distinct"] == 3
    check_all_is_there_once(here, growing, count=3)


def open_in(pid: int) -> list[str]:
    found: list[str] = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(os.readlink(path))
    return found


def children(pid: int) -> list[int]:
    """Workers: boards are worked out by a child too, and one that has just been forked is none yet."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z" and b"\0-m\0evenhand\0" in _words(stat.parent):
            found.append(int(stat.parent.name))
    return found


def _words(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def waited_for(found: Iterator[object]) -> object:
    deadline = time.monotonic() + SECONDS
    for one in found:
        if one:
            return one
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)
    raise AssertionError


def test_serve_starts_a_worker_again_that_was_killed_and_takes_it_along_when_it_is_killed_itself(
    here: Workplace,
) -> None:
    growing = captioned(here, 2)
    with server_process() as url, serving(here.folder, *model(url)[:4]) as (process, _):
        (worker,) = waited_for(children(process.pid) for _ in iter(int, 1))  # pyright: ignore[reportGeneralTypeIssues]
        os.kill(worker, signal.SIGKILL)
        waited_for(all(o.standing.stage == "verify" for o in on_record(here, growing)) for _ in iter(int, 1))
        (second,) = children(process.pid)
        assert second != worker
        process.kill()
        process.wait()
        waited_for(not Path(f"/proc/{second}").exists() for _ in iter(int, 1))


def test_without_a_worker_nothing_is_answered_and_the_page_says_so(here: Workplace) -> None:
    captioned(here, 1)
    with serving(here.folder, "--no-worker") as (process, url):
        assert children(process.pid) == []
        with closing(opened(here)) as ledger:
            link = invite(ledger, Invite(role="owner")).token
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as owner:
            come_in(owner, link)
            (growing,) = owner.get("/api/growing").json()["growing"]
            assert "No worker is running" in owner.get(f"/admin/growing/{growing['growing']}").text


def come_in(client: httpx.Client, token: str) -> None:
    page = client.get(f"/join/{token}")
    assert client.post(f"/join/{token}", data={"csrf": csrf(page), "name": "Ada"}).status_code == 303


def csrf(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" value="(\w+)"', page.text)
    assert found, page.text
    return found[1]


class Annotator:
    """Writes and captions over HTTP; what was acknowledged is remembered, and what got no answer is said again."""

    def __init__(self, port: int, growing: str) -> None:
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60)
        self.growing = growing
        self.token = ""
        self.written: set[str] = set()
        self.captioned: set[tuple[str, str]] = set()

    def do(self, number: int) -> None:
        """Raises httpx.TransportError where the server goes away."""
        words = f"What is {number}?"
        fields = {"csrf": self.token, "instruction": words, "licence": "CC0"}
        files = {"image": ("a.png", PNG, "image/png")}
        answer = self.client.post(f"/write/{self.growing}/{number}", data=fields, files=files)
        while answer.status_code == 429:  # many images in a short time, as the same is sent until the server is killed
            time.sleep(0.2)
            answer = self.client.post(f"/write/{self.growing}/{number}", data=fields, files=files)
        if answer.status_code == 409:
            assert "captioned this one already" in answer.text  # by ourselves, before the server went away
            return
        assert answer.status_code == 303, answer.text
        self.written.add(words)
        place = self.client.get(f"/caption/{self.growing}").headers.get("location")
        if place is None:
            return
        about = re.search(r'name="about" value="(\d+)"', self.client.get(place).text)
        assert about
        text = f"{number} dots, all red."
        said = self.client.post(place, data={"csrf": self.token, "caption": text, "about": about[1]})
        assert said.status_code == 303, said.text
        self.captioned.add((place.rpartition("/")[2], text))


def killed_while(process: "subprocess.Popen[str]", doing: Callable[[], None], *, after: float) -> None:
    """Kills the server so many seconds after something was begun, wherever it has got to."""
    killing = threading.Timer(after, process.kill)
    killing.start()
    with suppress(httpx.TransportError):
        while process.poll() is None:
            doing()
    killing.join()
    process.wait()


@pytest.mark.soak
@pytest.mark.parametrize("round_", range(10))
def test_server_and_worker_killed_at_random_moments_lose_and_double_nothing(here: Workplace, round_: int) -> None:
    lots, count, port = random.Random(round_), 12, free_port()
    with closing(opened(here)) as ledger:
        growing = planted(ledger, skills=count)
        link = invite(ledger, Invite(role="annotator")).token
    ada = Annotator(port, growing)
    with server_process("--latency", "0.05") as url, ExitStack() as closing_up:
        closing_up.callback(ada.client.close)
        flags = ("--port", str(port), *model(url)[:4])
        kills = sorted(lots.sample(range(1, count + 1), 6))
        started = closing_up.enter_context(ExitStack())
        process, _ = started.enter_context(serving(here.folder, *flags))
        come_in(ada.client, link)
        ada.token = csrf(ada.client.get("/account"))
        for number in range(1, count + 1):
            if number in kills and lots.random() < 0.3:
                for worker in children(process.pid):
                    os.kill(worker, signal.SIGKILL)
            elif number in kills:
                # At any moment of what the worker does, and of a Write or a Caption.
                killed_while(process, lambda now=number: ada.do(now), after=lots.uniform(0.0, 0.3))
                started.close()
                process, _ = started.enter_context(serving(here.folder, *flags))
            ada.do(number)
        waited_for([o.standing.stage for o in on_record(here, growing)] == ["verify"] * count for _ in iter(int, 1))
        process.send_signal(signal.SIGINT)
        process.wait()
        seen = stats(url)
    check_all_is_there_once(here, growing, count=count)
    found = on_record(here, growing)
    check_what_people_said(ada, found)
    assert len(found) == count
    assert seen["distinct"] == count


def check_what_people_said(ada: Annotator, found: Sequence[Proposal]) -> None:
    captions: set[tuple[str, str]] = set()
    for one in found:
        kinds = [type(event.said).__name__ for event in one.events]
        assert (kinds.count("Instruction"), kinds.count("Caption")) == (1, 1)
        assert one.standing.caption
        number = one.standing.instruction.text.removeprefix("What is ").removesuffix("?")
        assert one.standing.caption.text == f"{number} dots, all red."
        captions.add((one.id, one.standing.caption.text))
    assert ada.written <= {one.standing.instruction.text for one in found}
    assert ada.captioned <= captions
