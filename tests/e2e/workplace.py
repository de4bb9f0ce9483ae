"""The real command line in processes of its own, in a folder of its own, beside a scripted server."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import warm
from tests.database import ON_POSTGRESQL, Hand, by_hand, stored_in, the_server, url_in
from tests.refusals import Refused

CALL_FAILED = ("api-error", "timeout", "bad-reply", "empty-reply", "over-budget", "interrupted")
SECONDS = 1800.0
"""How long a command may take before the test says that it hangs: no machine is so busy."""


@dataclass(frozen=True, kw_only=True)
class Ran:
    code: int
    out: str
    err: str
    error_code: str = ""
    """Of the error for which it ended."""

    @property
    def refused(self) -> Refused:
        return Refused.made(self.err, self.error_code)

    @property
    def document(self) -> dict[str, Any]:
        assert self.out, f"exit {self.code}: {self.err}"
        return json.loads(self.out)


@dataclass(frozen=True)
class Workplace:
    """A folder with a ledger, and an environment that holds nothing of the tester's own."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def ledger(self) -> Path:
        return self.folder / ".evenhand" / "ledger.db"

    @property
    def begun(self) -> bool:
        """Whether there is a ledger."""
        return self.folder / "ledger" in the_server().ledgers if ON_POSTGRESQL else self.ledger.exists()

    @property
    def place(self) -> Path:
        """The folder that a ledger lies in, or what goes for it; made if it is not there."""
        place = self.folder if ON_POSTGRESQL else self.ledger.parent
        place.mkdir(parents=True, exist_ok=True)
        return place

    @property
    def store(self) -> str:
        """The ledger's URL; on PostgreSQL we are in the folder from then on, where its images lie."""
        return url_in(self.folder) if ON_POSTGRESQL else f"sqlite:///{self.ledger}"

    def run(self, *arguments: str, **variables: str) -> Ran:
        ran = warm.run(*arguments, cwd=self.folder, env=self._environment() | variables, timeout=SECONDS)
        return Ran(code=ran.returncode, out=ran.stdout, err=ran.stderr, error_code=ran.error_code)

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """For a process that is met while it runs."""
        return warm.Running(*arguments, cwd=self.folder, env=self._environment() | variables)

    def start_anew(
        self, *arguments: str, fds: Sequence[int] = (), before: Sequence[str] = (), **variables: str
    ) -> "subprocess.Popen[str]":
        """The same from the beginning of the installed program, for two that shall not begin to ask at once, or for
        other code. `before`: what stands before the command."""
        return subprocess.Popen(
            [*before, warm.EVENHAND, *arguments],
            cwd=self.folder,
            env=self._environment() | variables,
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _environment(self) -> dict[str, str]:
        scratch = self.folder.parent / f"{self.folder.name}-tmp"
        scratch.mkdir(exist_ok=True)
        self.folder.mkdir(exist_ok=True)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(scratch),
            "TMPDIR": str(scratch),
            "PYTHONWARNINGS": "error",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **({"EVENHAND_STORE": self._database} if ON_POSTGRESQL else {}),
            **self.variables,
        }

    def judge(self, url: str, *arguments: str, **variables: str) -> Ran:
        return self.run(*judging(url, *arguments), **variables)

    @property
    def _database(self) -> str:
        return the_server().ledger_of(self.folder / "ledger")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        if ON_POSTGRESQL:
            server = the_server()
            return server.tell(query, database=server.ledgers[self.folder / "ledger"])
        with closing(sqlite3.connect(f"file:{self.ledger}?mode=ro", uri=True, timeout=SECONDS)) as connection:
            return connection.execute(query).fetchall()

    @contextmanager
    def by_hand(self) -> Generator[Hand]:
        """Past the ledger, as somebody does who has its database."""
        with by_hand(self.place) as hand:
            yield hand

    def stored(self) -> bytes:
        """All that the ledger's database holds, the same bytes while nothing is written."""
        return stored_in(self.folder) if ON_POSTGRESQL else self.ledger.read_bytes()

    def decided(self) -> dict[str, str]:
        """What was decided on each trial, or the reason why the reply holds no decision; raises if any has two."""
        found = self.rows(
            f"SELECT trial, coalesce(verdict, reason) FROM judgements WHERE coalesce(reason, '') NOT IN {CALL_FAILED}"
        )
        assert len(found) == len({trial for trial, _ in found}), "a trial was decided twice"
        return dict(found)

    def files(self) -> Iterator[Path]:
        """Everything that the commands left behind: in the folder, and in the folder for temporary files."""
        for top in (self.folder, self.folder.parent / f"{self.folder.name}-tmp"):
            yield from (path for path in top.rglob("*") if path.is_file())

    def copy(self, name: str) -> "Workplace":
        """The same folder again, ledger included; no command may be running."""
        other = self.folder.with_name(name)
        shutil.copytree(self.folder, other)
        if ON_POSTGRESQL:
            the_server().copy(self.folder / "ledger", other / "ledger")
        return Workplace(other, self.variables)


def judging(url: str, *arguments: str) -> tuple[str, ...]:
    """A judge's name that does not depend on the port, so that ledgers of several servers can be compared."""
    judge = ("--judge", "openai/gpt-4o", "--judge-base-url", url, "--endpoint-name", "scripted")
    return ("judge", "visit-bench-sample", *judge, "--json", *arguments)


def drawn(battles: int) -> tuple[str, ...]:
    """Twice as many trials."""
    return ("--pairs", "random", "--battles", str(battles))


def ended(process: "subprocess.Popen[str]") -> Ran:
    with process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return Ran(code=process.returncode, out=out, err=err)


def stats(url: str) -> dict[str, Any]:
    return told(url, "stats")


def told(url: str, what: str) -> dict[str, Any]:
    """A scripted server that is a process of its own: `go`, `hold`, `hold?after=40`, `stats`."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/_{what}", timeout=SECONDS) as response:
        return json.load(response)


def killed_once(
    url: str, start: "Callable[[], subprocess.Popen[str]]", *, requests: int, answered: int
) -> dict[str, Any]:
    """Kills a command once the server has seen so many requests in all. Of all, it answers so many before the kill: the
    command cannot end first, however late the kill comes. Returns the server's counts when nothing is in flight any
    more."""
    told(url, f"hold?after={answered}")
    process = start()
    until(url, lambda seen: seen["requests"] >= requests or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    ran = ended(process)
    assert ran.code == -signal.SIGKILL, f"it ended before it was killed, with {ran.code}: {ran.err}"
    told(url, "go")
    return until(url, lambda seen: seen["in_flight"] == 0)


def interrupted(url: str, process: "subprocess.Popen[str]") -> Ran:
    """Of a command whose calls the server holds back: they are answered when it has said that it waits for them."""
    assert process.stderr is not None
    process.send_signal(signal.SIGINT)
    said = process.stderr.readline()
    while said and "in flight; press Ctrl-C again" not in said:
        said = process.stderr.readline()
    assert said, f"it did not say that it waits, and ended with {process.wait(SECONDS)}"
    told(url, "go")
    return ended(process)


def waited_for(reached: Callable[[], object]) -> None:
    deadline = time.monotonic() + SECONDS
    while not reached():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def until(url: str, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The server's counts as soon as they are as wanted."""
    deadline = time.monotonic() + SECONDS
    while not reached(seen := stats(url)):
        assert time.monotonic() < deadline, f"the server never saw what the test waits for, but {seen}"
        time.sleep(0.005)
    return seen
