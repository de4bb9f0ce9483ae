"""Claims about `evenhand serve` as a process."""

import os
import random
import re
import signal
import socket
import subprocess
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx2 as httpx
import pytest

from tests import warm
from tests.database import ON_POSTGRESQL, the_server
from tests.site.house import SECONDS, until
from tests.warm import EVENHAND, Running


def free_port() -> int:
    """Below those that the system, and a Ray for its clients, give away: nobody takes it before the server does."""
    while True:
        with suppress(OSError), closing(socket.create_server(("127.0.0.1", random.randrange(15_000, 23_000)))) as bound:
            return int(bound.getsockname()[1])


@contextmanager
def serving(folder: Path, *arguments: str, started: bool = False) -> Generator[tuple["subprocess.Popen[str]", str]]:
    """The process and the address it says it serves; `started`: the installed program, from its start."""
    command, env = ("serve", "--port", str(free_port()), *arguments), environment(folder)
    with from_its_start(command, folder, env) if started else Running(*command, cwd=folder, env=env) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r'http[^\s"]+', line)
        assert found, line + process.stderr.read()
        try:
            yield process, found[0]
        finally:
            process.kill()


def environment(folder: Path) -> dict[str, str]:
    """With the ledger of a workplace in the folder."""
    store = {"EVENHAND_STORE": the_server().ledger_of(folder / "ledger")} if ON_POSTGRESQL else {}
    return {**os.environ, **store}


def from_its_start(command: tuple[str, ...], folder: Path, env: Mapping[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [EVENHAND, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


def accepts(port: int) -> bool:
    """Whether anybody still listens there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS).close()
    except OSError:
        return False
    return True


def owner_link(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    assert "owner" in process.stdout.readline()
    return process.stdout.readline().strip()


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return warm.run("serve", *arguments, cwd=folder)


@pytest.mark.slow
def test_the_first_owner_link_works_once_and_a_new_start_prints_none(tmp_path: Path) -> None:
    with serving(tmp_path, started=True) as (process, url), httpx.Client(trust_env=False, timeout=SECONDS) as visitor:
        link = owner_link(process)
        assert link.startswith(f"{url}/join/")
        page = visitor.get(link)
        token = re.search(r'name="csrf" value="(\w+)"', page.text)
        assert token
        assert visitor.post(link, data={"csrf": token[1], "name": "Ada"}).headers["location"] == "/admin"
        assert visitor.get(link).status_code == 200
        assert httpx.get(link, trust_env=False, timeout=SECONDS).status_code == 410
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=SECONDS) == 0
    with serving(tmp_path) as (process, url):
        # Where the process for figures takes long to begin, the list of boards is announced.
        until(lambda: httpx.get(f"{url}/", trust_env=False, timeout=SECONDS).status_code == 200, "a list of boards")
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=SECONDS)
    assert out == ""
    assert "Traceback" not in errors


@pytest.mark.slow
def test_a_link_that_was_not_used_holds_no_more_after_the_next_start(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, _):
        first = owner_link(process)
    with serving(tmp_path) as (process, url):
        second = owner_link(process)
        answers = [
            httpx.get(url + link[link.index("/join/") :], trust_env=False, timeout=SECONDS).status_code
            for link in (first, second)
        ]
    assert answers == [410, 200]


def test_an_address_that_others_reach_is_refused_without_a_public_url(tmp_path: Path) -> None:
    refused = run(tmp_path, "--host", "0.0.0.0")
    assert refused.returncode == 2
    assert "--public-url" in refused.stderr
    assert not (tmp_path / ".evenhand").exists()


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        refused = run(tmp_path, "--port", port)
    assert refused.returncode == 2
    assert f"port {port}" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "Serving" not in refused.stderr
