"""`--runner`: workers that a real Ray starts, on this machine for one run, or on a cluster that is there already."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.database import ON_POSTGRESQL, the_server
from tests.docs.pages import ROOT
from tests.e2e.test_workers import (
    BATTLES,
    TRIALS,
    check_budget,
    check_kills,
    let_all_come,
)
from tests.e2e.test_workers_soak import Crew, check_crew
from tests.e2e.workplace import SECONDS, Workplace, drawn, ended, judging, stats, until, waited_for
from tests.scripted_server import server_process
from tests.site.test_serve import free_port

pytestmark = pytest.mark.slow

KEY = "sk-planted-3f9c2b"
RAY = Path(sys.executable).with_name("ray")
PATIENT = dict.fromkeys(
    (
        "RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S",
        "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S",
        "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S",
        "RAY_raylet_start_wait_time_s",
        "RAY_worker_register_timeout_seconds",
        "RAY_gcs_server_request_timeout_seconds",
    ),
    "900",
) | {"RAY_agent_register_timeout_ms": "900000"}
"""Ray's own limits of time, which a busy machine may exceed."""
NOBODY = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", "")}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    folder: Path
    port: int
    client_port: int
    token: str

    @property
    def variables(self) -> dict[str, str]:
        """By which a command is let in, and looks for it on loopback."""
        return {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": self.token,
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_ADDRESS": f"127.0.0.1:{self.port}",
            **PATIENT,
        }

    @property
    def client(self) -> str:
        return f"ray://127.0.0.1:{self.client_port}"

    @contextmanager
    def started(self) -> Generator[None]:
        command = (RAY, "start", "--head", "--block", f"--port={self.port}", "--node-ip-address=127.0.0.1")
        command += (f"--ray-client-server-port={self.client_port}", f"--temp-dir={self.folder}/r", "--num-cpus=8")
        command += ("--min-worker-port=0", "--max-worker-port=0", "--dashboard-agent-listen-port=0")
        command += ("--include-dashboard=false", "--object-store-memory=80000000", "--disable-usage-stats")
        env = {**NOBODY, "HOME": str(self.folder), **self.variables, "RAY_prestart_worker_first_driver": "0"}
        env["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # else some of its processes for clients die as they start
        del env["RAY_ADDRESS"]
        said = self.folder / "said.txt"
        with (
            said.open("w") as written,
            subprocess.Popen(
                command, env=env, cwd="/", stdout=written, stderr=subprocess.STDOUT, start_new_session=True
            ) as process,
        ):
            try:
                # Not to the end of its output, which a process that it has started may hold open after it.
                waited_for(lambda: process.poll() is not None or "block forever" in said.read_text())
                assert process.poll() is None, f"Ray did not start: {said.read_text()}"
                yield
            finally:
                process.terminate()
                process.wait(timeout=SECONDS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    require_ray()
    # Ray's sockets lie there, whose names must be short.
    folder = Path(tempfile.mkdtemp(prefix="eh-test-ray-", dir="/tmp"))
    made = Cluster(folder=folder, port=free_port(), client_port=free_port(), token=secrets.token_hex(32))
    try:
        with made.started():
            yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def require_ray() -> None:
    if find_spec("ray") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("Ray, the extra `cluster`, is not installed here.")


@pytest.fixture
def joined(here: Workplace, cluster: Cluster) -> Workplace:
    """Where `--runner ray` takes the cluster."""
    return Workplace(here.folder, {**cluster.variables, "OPENAI_API_KEY": KEY})


@dataclass(frozen=True)
class OnServer(Workplace):
    """With a ledger on PostgreSQL, wherever those of other tests are."""

    @property
    def _database(self) -> str:
        return the_server().ledger_of(self.folder / "ledger")

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), "EVENHAND_STORE": self._database}

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        server = the_server()
        return server.tell(query, database=server.ledgers[self.folder / "ledger"])


@pytest.fixture
def on_server(joined: Workplace) -> OnServer:
    return OnServer(joined.folder, joined.variables)


def descendants(of: int) -> set[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = {of}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {of}


def listening(pids: set[int]) -> set[str]:
    """The addresses, as the kernel writes them, on which any of the processes listens."""
    sockets: set[str] = set()
    for pid in pids:
        for handle in Path(f"/proc/{pid}/fd").glob("*"):
            with suppress(OSError):
                sockets.add(os.readlink(handle).removeprefix("socket:[").removesuffix("]"))
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in sockets}


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def holding(top: Path, words: str) -> list[str]:
    """The files in a folder that hold the words, by name or by content."""
    found: list[str] = []
    for path in top.rglob("*"):
        with suppress(OSError):
            if words in path.name or (path.is_file() and words.encode() in path.read_bytes()):
                found.append(str(path))
    return found


def command_lines() -> str:
    said: list[str] = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            said.append(line.read_text(errors="replace"))
    return "\n".join(said)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes by /proc")
def test_a_ray_of_our_own_keeps_to_this_machine_knows_no_key_and_is_gone_after_an_interrupt(here: Workplace) -> None:
    require_ray()
    here = Workplace(here.folder, {"OPENAI_API_KEY": KEY})
    before = set(Path("/tmp").glob("eh-ray-*"))
    with server_process("--latency", "0.3", "--key", KEY, "--held") as url:
        asked = judging(url, *drawn(BATTLES), "--replicates", "5", "--max-connections", "6", "--workers", "2")
        leader = here.start(*asked, "--runner", "ray")
        until(url, lambda seen: seen["requests"] > 0 or leader.poll() is not None)
        let_all_come(here, url, leader, 2)
        started = descendants(leader.pid)
        (folder,) = set(Path("/tmp").glob("eh-ray-*")) - before
        assert folder.stat().st_mode & 0o077 == 0
        assert any(path.is_file() for path in folder.rglob("*.log")), "Ray is there"
        assert listening(started) <= LOOPBACK
        assert listening(started)
        assert not holding(folder, KEY)
        assert KEY not in command_lines()
        until(url, lambda seen: seen["answered"] >= 20)
        leader.send_signal(signal.SIGINT)
        ran = ended(leader)
        seen = stats(url)
    assert ran.code == 130, ran.err
    assert not folder.exists()
    waited_for(lambda: not [one for one in started if alive(one)])
    assert seen["in_flight"] == 0
    assert len(here.decided()) == seen["answered"] == ran.document["called"]
    assert here.rows("SELECT * FROM claims") == []
    assert "ray" not in ran.err.lower(), "nothing of Ray's own is shown"


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_of_ray_killed_now_and_then_are_replaced_and_nothing_is_lost_or_doubled(joined: Workplace) -> None:
    place = OnServer(joined.folder, joined.variables) if ON_POSTGRESQL else joined
    ran = check_kills(place, "--runner", "ray", replicates=4, kills=2, every=40, seed=1, places=8, full=4)
    print(ran)


@pytest.mark.soak
def test_twenty_thousand_judgements_by_four_workers_of_ray_killed_ten_times(
    on_server: OnServer, cluster: Cluster
) -> None:
    check_crew(on_server, Crew(runner=("--runner", cluster.client), full=4))


def test_a_budget_holds_for_all_workers_of_ray_whatever_dies(joined: Workplace) -> None:
    check_budget(joined, "--runner", "ray", every=4, full=3)


def test_workers_of_a_cluster_share_limits_and_a_ledger_on_a_server_and_ray_is_told_no_key(
    on_server: OnServer, cluster: Cluster
) -> None:
    with server_process("--latency", "0.05", "--key", KEY, "--held") as url:
        limits = ("--max-connections", "3", "--rpm", "1200")
        leader = on_server.start(*judging(url, *drawn(BATTLES), *limits, "--workers", "2", "--runner", cluster.client))
        until(url, lambda seen: seen["requests"] > 0 or leader.poll() is not None)
        let_all_come(on_server, url, leader, 2)
        ran = ended(leader)
        seen = stats(url)
    assert ran.code == 0, ran.err
    assert seen["requests"] == seen["distinct"] == ran.document["requests"] == ran.document["called"] == TRIALS
    assert seen["peak"] <= 3
    assert seen["span"] >= (TRIALS - 2 * 20) / 20 / 2
    assert len(on_server.decided()) == TRIALS
    assert (on_server.rows("SELECT count(*) FROM runs"), on_server.rows("SELECT * FROM claims")) == ([(1,)], [])
    assert not holding(cluster.folder, KEY)


def test_a_cluster_with_another_evenhand_is_refused(on_server: OnServer, cluster: Cluster, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "evenhand", tmp_path / "evenhand", ignore=shutil.ignore_patterns("__pycache__"))
    top = tmp_path / "evenhand" / "__init__.py"
    for altered, facts in (
        (top.read_text().replace('__version__ = "', '__version__ = "9.'), ("Evenhand 0.", "Evenhand 9.")),
        (top.read_text() + "\n", ("other code",)),
    ):
        top.write_text(altered)
        with server_process() as url:
            asked = judging(url, *drawn(2), "--workers", "2", "--runner", cluster.client)
            ran = ended(on_server.start_anew(*asked, PYTHONPATH=str(tmp_path)))
            assert stats(url)["requests"] == 0
        assert (ran.code, ran.document["code"]) == (2, "EH-RUNNER-VERSION"), ran.err
        assert all(fact in ran.err for fact in facts), ran.err
        top.write_text((ROOT / "src" / "evenhand" / "__init__.py").read_text())


def test_a_cluster_of_another_ray_is_refused(on_server: OnServer, cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'evenhand.cli.ask.ray_process' in sys.orig_argv:\n"
        "    import ray\n    ray.__version__ = '2.1.0'\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with server_process() as url:
        asked = judging(url, *drawn(2), "--workers", "2", "--runner", cluster.client)
        ran = ended(on_server.start(*asked, PYTHONPATH=path))
        assert stats(url)["requests"] == 0
    assert (ran.code, ran.document["code"]) == (2, "EH-RUNNER-VERSION"), ran.err
    assert "2.1.0" in ran.err


DIES = """
import sys
if "evenhand.cli.ask.ray_process" in sys.orig_argv and "start" in sys.orig_argv:
    import ray
    init, left = ray.init, [None] * TIMES
    def dies(*given, **named):
        if left:
            left.pop()
            said = 'Traceback (most recent call last):\\n  File "proxier.py", line 765\\nZombie: gone\\n'
            raise ConnectionAbortedError("Initialization failure from server:\\n" + said)
        return init(*given, **named)
    ray.init = dies
"""
"""A Ray that fails so many times to start a process for who joins, as one did on a busy machine."""


@pytest.mark.parametrize("times", [2, 3])
def test_a_cluster_whose_process_for_us_dies_as_it_starts_is_asked_thrice(
    on_server: OnServer, cluster: Cluster, tmp_path: Path, times: int
) -> None:
    (tmp_path / "sitecustomize.py").write_text(DIES.replace("TIMES", str(times)))
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with server_process() as url:
        asked = judging(url, *drawn(2), "--workers", "2", "--runner", cluster.client)
        ran = ended(on_server.start(*asked, PYTHONPATH=path))
        seen = stats(url)
    if times == 2:
        assert (ran.code, seen["requests"]) == (0, len(on_server.decided())), ran.err
    else:
        assert (ran.code, ran.document["code"], seen["requests"]) == (2, "EH-RUNNER-UNREACHABLE", 0), ran.err
        assert "Zombie: gone" in ran.err
        assert "proxier" not in ran.err
