"""Claims about `serve --processes 2`: two real processes answer as one would."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, grant_token, invite, join, people
from evenhand.site.http.settings import VisitorLimits
from tests.database import small_disk, url_in
from tests.site.house import SECONDS, come_in, form_token, until
from tests.site.test_serve import EVENHAND, accepts

pytestmark = pytest.mark.slow


@dataclass(kw_only=True)
class Crowd:
    """A server of two processes, one of which can be made to answer alone."""

    server: "subprocess.Popen[str]"
    url: str
    ledger: Ledger
    log: Path

    def processes(self) -> list[int]:
        """Those that answer, in the order of their numbers."""
        begins = [one for one in children(self.server.pid) if "forkserver" in command_of(one)]
        return sorted(one for begin in begins for one in children(begin))

    def both(self) -> list[int]:
        return until(lambda: found if len(found := self.processes()) == 2 else [], "a second process")

    @contextmanager
    def only(self, place: int) -> Generator[httpx.Client]:
        """While the other process stands still; on a connection of its own."""
        both = self.both()
        os.kill(both[1 - place], signal.SIGSTOP)
        try:
            with httpx.Client(base_url=self.url, trust_env=False, timeout=SECONDS) as client:
                yield client
        finally:
            os.kill(both[1 - place], signal.SIGCONT)

    def ask(self, place: int, method: str, path: str, session: str = "", **given: object) -> httpx.Response:
        with self.only(place) as client:
            headers = {"Cookie": f"evenhand={session}"} if session else {}
            return client.request(method, path, headers=headers, **given)  # type: ignore[arg-type]

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def person(self, name: str) -> str:
        """The session of a new annotator."""
        return join(self.ledger, invite(self.ledger, Invite(role="annotator")).token, name).key.token


class HalfSent:
    """A form whose last part has not come."""

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        head = f"POST /leave HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nExpect: 100-continue\r\n"
        form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\n"
        self._connection.sendall(f"{head}{form}".encode())
        assert self._connection.recv(100).startswith(b"HTTP/1.1 100")  # somebody reads its body

    def answer(self) -> bytes:
        self._connection.sendall(b"csrf=x")
        with self._connection:
            return self._connection.recv(12)


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def command_of(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()


@contextmanager
def crowd_in(folder: Path, **variables: str) -> Generator[Crowd]:
    store, log = url_in(folder), folder / "log"
    command = [EVENHAND, "serve", "--processes", "2", "--port", "0", "--no-worker", "--log", "json"]
    with log.open("w") as errors, closing(Ledger(store)) as ledger:
        server = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "EVENHAND_STORE": store, **variables},
        )
        try:
            said = until(lambda: log.read_text().partition("\n")[0] if "\n" in log.read_text() else "", "a first line")
            crowd = Crowd(server=server, url=json.loads(said)["url"], ledger=ledger, log=log)
            yield crowd
        finally:
            server.kill()
            server.communicate()


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    with crowd_in(tmp_path_factory.mktemp("crowd")) as crowd:
        yield crowd


def test_whoever_comes_in_by_one_process_is_known_to_the_other_until_they_leave(crowd: Crowd) -> None:
    link = f"/join/{invite(crowd.ledger, Invite(role='annotator')).token}"
    with crowd.only(0) as first:
        assert come_in(first, link).status_code == 303
        session = first.cookies["evenhand"]
        page = first.get("/account")
    with crowd.only(1) as second:
        second.cookies.set("evenhand", session)
        assert second.get("/account").status_code == 200
        left = second.post("/leave", data={"csrf": form_token(page)})  # of a page that the other one made
        assert left.status_code == 303
    assert crowd.ask(0, "GET", "/account", session).status_code == 401


def test_an_invitation_for_one_lets_one_in_whichever_processes_are_asked_at_one_moment(crowd: Crowd) -> None:
    before, link = len(people(crowd.ledger)), f"/join/{invite(crowd.ledger, Invite(role='annotator')).token}"
    with ExitStack() as leaving, ThreadPoolExecutor(6) as together:
        comers = [
            leaving.enter_context(httpx.Client(base_url=crowd.url, trust_env=False, timeout=SECONDS)) for _ in range(6)
        ]
        forms = [(one, {"csrf": form_token(one.get(link)), "name": "Ada"}) for one in comers]
        came = together.map(lambda one: one[0].post(link, data=one[1]).status_code, forms)
        assert sorted(came) == [303] + [410] * 5
    assert len(people(crowd.ledger)) == before + 1


def test_refused_tries_are_counted_together_and_lock_out_of_both(crowd: Crowd) -> None:
    session, most = crowd.person("Mallory"), VisitorLimits().guesses_per_minute
    begun, tries = time.monotonic(), 0

    def locked_out() -> list[int]:
        """Of which processes, when one more refused try was one too many."""
        nonlocal tries
        while crowd.ask(tries % 2, "POST", "/leave", session, data={"csrf": "0" * 64}).status_code != 429:
            tries += 1
            # Each process for itself would allow twice as many.
            assert tries <= most + 1 + (time.monotonic() - begun) * most / 60
        assert tries >= most
        return [place for place in (0, 1) if crowd.ask(place, "GET", "/account", session).status_code == 429]

    # Every six seconds there is one more, and that may be before the last is asked.
    until(lambda: locked_out() == [0, 1], "a moment in which both refuse them")
    assert crowd.ask(0, "GET", "/account", crowd.person("Alice")).status_code == 200


def test_a_temporary_folder_that_fills_up_ends_no_process(tmp_path: Path) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="eh-", dir="/tmp") as short,  # sockets lie there, whose names must be short
        small_disk(Path(short) / "disk", 8) as disk,
        crowd_in(tmp_path, TMPDIR=str(disk)) as crowd,
    ):
        with suppress(OSError), (disk / "full").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        answers = [crowd.ask(place, "GET", "/account", crowd.person("Ada")).status_code for place in (0, 1)]
        assert answers == [200, 200]
        assert [line for line in crowd.lines() if line["event"] == "process ended"] == []


def test_a_temporary_folder_of_a_long_name_is_no_hindrance(tmp_path: Path) -> None:
    long = tmp_path / ("long" * 30)
    long.mkdir()
    with crowd_in(tmp_path, TMPDIR=str(long)) as crowd:
        assert crowd.ask(0, "GET", "/account", crowd.person("Ada")).status_code == 200


def metrics_of(answer: httpx.Response) -> dict[str, float]:
    assert answer.status_code == 200, answer.text
    return {
        " ".join((one.name, *(value for _, value in sorted(one.labels.items())))): one.value
        for family in text_string_to_metric_families(answer.text)
        for one in family.samples
    }


NOWHERE = "evenhand_requests_total GET /boards/{board} 404"


@dataclass(frozen=True, kw_only=True)
class Watcher:
    """Somebody with the token for metrics."""

    crowd: Crowd
    bearer: dict[str, str]

    def told(self, place: int) -> dict[str, float]:
        with self.crowd.only(place) as client:
            return metrics_of(client.get("/metrics", headers=self.bearer))

    def asked_nowhere(self, *places: int) -> float:
        """How often in all, by what both tell, when each of these has been asked once more."""
        before = self.told(0).get(NOWHERE, 0.0)
        for place in places:
            self.crowd.ask(place, "GET", "/boards/nowhere")
        # A request is counted when its answer is sent, and whoever has the answer may be quicker.
        until(lambda: self.both_tell(before + len(places)), "a count of all by both")
        return before + len(places)

    def both_tell(self, number: float) -> bool:
        told = [self.told(place) for place in (0, 1)]
        return [(one[NOWHERE], one["evenhand_requests_under_way"]) for one in told] == [(number, 1)] * 2


@pytest.fixture
def watcher(crowd: Crowd) -> Watcher:
    owner = join(crowd.ledger, invite(crowd.ledger, Invite(role="owner")).token, "Olga").person
    token = grant_token(crowd.ledger, owner.id, note="for Prometheus").token
    return Watcher(crowd=crowd, bearer={"Authorization": f"Bearer {token}"})


def test_either_process_tells_the_metrics_of_both(crowd: Crowd, watcher: Watcher) -> None:
    asked = watcher.asked_nowhere(0, 0, 1)
    found = watcher.told(0)
    assert found["evenhand_judgements"] == 0
    assert found["evenhand_connections"] >= 1
    assert found["evenhand_request_seconds_count /boards/{board}"] == asked
    # Of two processes that use nearly the same, added up.
    pages = int(Path(f"/proc/{crowd.processes()[0]}/statm").read_text().split()[1])
    assert found["process_resident_memory_bytes"] > 1.4 * pages * os.sysconf("SC_PAGE_SIZE")


def test_a_process_that_is_killed_is_replaced_and_what_was_counted_stays(crowd: Crowd, watcher: Watcher) -> None:
    asked, session = watcher.asked_nowhere(0, 1), crowd.person("Grace")
    killed = crowd.processes()[0]
    os.kill(killed, signal.SIGKILL)
    until(lambda: len(found := crowd.processes()) == 2 and killed not in found, "another in its place")
    assert [one["code"] for one in crowd.lines() if one["event"] == "process ended"] == [-signal.SIGKILL]
    assert [crowd.ask(place, "GET", "/account", session).status_code for place in (0, 1)] == [200, 200]
    until(lambda: watcher.both_tell(asked), "what was counted before")


@pytest.mark.parametrize("all_are_told", [False, True])
def test_told_to_stop_both_answer_what_is_under_way_and_the_server_ends_well(
    tmp_path: Path, all_are_told: bool
) -> None:
    """Whether the signal goes to the first process alone or, as systemd does it, to every one."""
    with crowd_in(tmp_path) as crowd:
        port = httpx.URL(crowd.url).port
        assert port
        both, waiting = crowd.both(), list[HalfSent]()
        for place in (0, 1):
            with crowd.only(place):
                waiting.append(HalfSent(port))
        everybody = [
            crowd.server.pid,
            *children(crowd.server.pid),
            *both,
            *(one for each in both for one in children(each)),
        ]
        for one in everybody if all_are_told else everybody[:1]:
            os.kill(one, signal.SIGTERM)
        until(lambda: not accepts(port), "a server that takes nobody in any more")
        assert [one.answer() for one in waiting] == [b"HTTP/1.1 403"] * 2
        out, _ = crowd.server.communicate(timeout=SECONDS)
        assert (crowd.server.returncode, out) == (0, "")
        until(lambda: not any(lives(one) for one in everybody), "an end of them all")
        assert [one["event"] for one in crowd.lines()].count("serving") == 1
        assert "process ended" not in {one["event"] for one in crowd.lines()}
        assert [one["status"] for one in crowd.lines() if one["event"] == "request"] == [403, 403]


def test_at_last_when_the_server_is_killed_its_processes_end_too(crowd: Crowd) -> None:
    both = crowd.both()
    crowd.server.kill()
    until(lambda: not any(lives(one) for one in both), "an end of both")
