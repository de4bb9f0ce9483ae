"""What runs beside a command whose workers are Ray's, in processes of its own.

`python -m evenhand.cli.ask.ray_process start` speaks with Ray for the command that leads, which never loads Ray itself:
what Ray prints, logs and handles stays here, and here is no key of any model. It reads a line that says which Ray, then
a line for each worker to start; it writes a line once Ray is there and one for each worker that has ended. When its
standard input ends it takes leave of Ray.

`python -m evenhand.cli.ask.ray_process help` is a worker, started by Ray where there is room: it asks who leads for the
command and the variables, over a connection that only the two of them can read, and carries the command out.
"""

import json
import os
import queue
import shutil
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

LINK = "_EVENHAND_HELPS_AT"
"""In the environment of a helper: the number of the socket to who leads, and the key of what goes over it, if any."""
CONNECT_SECONDS = 20.0
_OBJECT_BYTES = 80 * 1024 * 1024
"""Of memory that Ray sets aside for what it shares between workers, about the least it takes: we share nothing."""
_PROBE_SECONDS = 120.0
_JOIN_AGAIN_SECONDS = (1.0, 3.0)


class Seal:
    """Of what goes between who leads and a worker: nobody else can read it, or say anything."""

    def __init__(self, key: str) -> None:
        from cryptography.fernet import Fernet

        self._cipher = Fernet(key)

    @staticmethod
    def key() -> str:
        from cryptography.fernet import Fernet

        return Fernet.generate_key().decode()

    def sealed(self, line: bytes) -> bytes:
        return self._cipher.encrypt(line)

    def opened(self, line: bytes) -> bytes:
        """Raises ConnectionError where it was not sealed by the other end."""
        from cryptography.fernet import InvalidToken

        try:
            return self._cipher.decrypt(line)
        except InvalidToken:
            raise ConnectionError("not sealed by the other end") from None


# What follows is sent to Ray as it stands, which may have no Evenhand, or another one: it needs the standard library
# alone, and imports where it runs.


def code_there() -> tuple[str, str]:
    """The version of the Evenhand that is installed, "" where none is, and a digest of its files."""
    import hashlib
    import importlib.util
    from pathlib import Path

    found = importlib.util.find_spec("evenhand")
    if found is None or found.origin is None:
        return "", ""
    top, digest, version = Path(found.origin).parent, hashlib.sha256(), "unknown"
    for path in sorted(top.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            data = path.read_bytes()
            digest.update(f"{path.relative_to(top)}\0{len(data)}\0".encode() + data)
    for line in Path(found.origin).read_text(encoding="utf-8").splitlines():
        if line.startswith("__version__"):
            version = line.partition("=")[2].strip().strip("\"'")
    return version, digest.hexdigest()


def work_there(given: str) -> tuple[int, str]:
    """Carries out a worker; its exit code, and the end of what it said on standard error."""
    import subprocess
    import sys

    with subprocess.Popen(
        [sys.executable, "-P", "-m", "evenhand.cli.ask.ray_process", "help"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(given.encode() + b"\n")
        process.stdin.flush()  # and stays open as long as Ray lets us live
        said = process.stderr.read()
        code = process.wait()
    return code, said.decode(errors="replace")[-2000:]


# Here ends what is sent.


def start() -> None:
    tell = _teller()
    given = json.loads(sys.stdin.readline())
    wanted: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            wanted.put(line.rstrip("\n"))
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=listen, daemon=True).start()
    folder: str | None = given["folder"]
    try:
        _serve(given, folder, tell, wanted)
    except Exception as error:  # noqa: BLE001  Ray may fail in any way
        tell({"refused": _fault(error), "words": f"{type(error).__name__}: {_said(error)}"})
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with suppress(Exception):
            import_module("ray").shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def _teller() -> Any:
    """Writes to where our standard output was; what Ray prints goes where nobody reads."""
    out = os.dup(1)
    os.dup2(2, 1)
    lock = threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        with lock, suppress(OSError):
            os.write(out, json.dumps(message).encode() + b"\n")

    return tell


def _serve(given: dict[str, Any], folder: str | None, tell: Any, wanted: "queue.SimpleQueue[str]") -> NoReturn:
    ray: Any = import_module("ray")
    if folder is None:
        tell(_joined(ray, given["address"]))
    else:
        ray.init(
            "local",
            num_cpus=given["workers"],
            num_gpus=0,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=_OBJECT_BYTES,
            _temp_dir=f"{folder}/r",  # which Ray opens to everybody
        )
        signal.signal(signal.SIGTERM, _leave)  # Ray sets its own
        tell({"ready": True, "here": ray.util.get_node_ip_address(), "others": False, "unlike": []})
    work: Any = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(work_there)
    while True:
        line = wanted.get()
        work.remote(line).future().add_done_callback(partial(_tell_end, tell, json.loads(line)["worker"]))


def _joined(ray: Any, address: str) -> dict[str, Any]:
    """What there is to tell of a cluster that is there.

    It starts a process for each who joins by its server for clients, which may die as it starts: it is asked again.
    """
    for wait in _JOIN_AGAIN_SECONDS:
        try:
            return _join(ray, address)
        except ConnectionError as error:
            if "timeout" in str(error):  # nobody there speaks as Ray does
                raise
            with suppress(Exception):
                ray.shutdown()
            time.sleep(wait)
    return _join(ray, address)


def _join(ray: Any, address: str) -> dict[str, Any]:
    ray.init(address, log_to_driver=False)
    signal.signal(signal.SIGTERM, _leave)  # Ray sets its own
    nodes: list[dict[str, Any]] = [node for node in ray.nodes() if node["Alive"]]
    client = address.startswith("ray://")
    here = "" if client else ray.util.get_node_ip_address()
    others = client or any(node["NodeManagerAddress"] != here for node in nodes)
    return {"ready": True, "here": here, "others": others, "unlike": _unlike(ray, nodes)}


def _tell_end(tell: Any, number: int, done: Any) -> None:
    error = done.exception()
    code, said = done.result() if error is None else (1, str(error).strip().partition("\n")[0])
    tell({"worker": number, "code": code, "said": said})


def _unlike(ray: Any, nodes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The nodes that have another Evenhand than this process, each with its version, "" where they have none."""
    affinity: Any = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    probe = ray.remote(num_cpus=0, max_retries=0)(code_there)
    able = [node for node in nodes if node["Resources"].get("CPU", 0) >= 1]
    on = [affinity(node["NodeID"], soft=False) for node in able]
    found = ray.get([probe.options(scheduling_strategy=one).remote() for one in on], timeout=_PROBE_SECONDS)
    own = code_there()
    there = zip(able, found, strict=True)
    return [(node["NodeManagerAddress"], version) for node, (version, code) in there if (version, code) != own]


def _said(error: Exception) -> str:
    """What went wrong, without the places in Ray's code that it may list before."""
    said = str(error).strip()
    return said.splitlines()[-1] if "Traceback (most recent call last)" in said else said


def _fault(error: Exception) -> str:
    """Which of our sentences tells of it."""
    if isinstance(error, ImportError):
        return "missing"
    return "version" if "version mismatch" in str(error).lower() else "unreachable"


def help_there() -> None:
    given = json.loads(sys.stdin.readline())
    host, port = given["door"]
    try:
        link = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
    except OSError as error:
        sys.exit(
            f"Error: {socket.gethostname()} cannot reach the command that it is to help, at {host}:{port} "
            f"({error.strerror or error}): let its workers through to that machine."
        )
    seal = Seal(given["key"])
    link.settimeout(None)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    link.sendall(seal.sealed(json.dumps({"worker": given["worker"]}).encode()) + b"\n")
    with link.makefile("rb", buffering=0) as unread:  # takes no more than the line
        line = unread.readline()
    if not line:
        sys.exit(0)  # no longer needed
    told = json.loads(seal.opened(line))
    _end_with_ray(link)
    _carry_out(told, f"{os.dup(link.fileno())} {given['key']}")


def _end_with_ray(link: socket.socket) -> None:
    """Where Ray has ended whom we are told by, we stop as we do where who leads has ended."""

    def watch() -> None:
        sys.stdin.buffer.read()
        with suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=watch, daemon=True).start()


def _carry_out(told: dict[str, Any], link: str) -> None:
    os.environ.update(told["variables"])
    os.environ[LINK] = link
    try:
        os.chdir(told["folder"])
    except OSError as error:
        sys.exit(
            f"Error: {socket.gethostname()} has no folder {told['folder']} ({error.strerror}): what the command reads "
            "must lie there under the same name, as in a folder that the machines share."
        )
    sys.argv = ["evenhand", *told["words"]]
    from evenhand.cli.main import main

    main()


if __name__ == "__main__":
    {"start": start, "help": help_there}[sys.argv[1]]()
