"""The program in a process of its own that begins with everything imported, so that a command costs what it does.

A process that waits has imported the program; each command is a fork of it, with the folder, the environment and the
files that it is given. What a fork cannot show (what is imported at the start and from where, what the interpreter
makes of its variables) is tested with `subprocess` and the installed command.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.refusals import Refused

ROOT = Path(__file__).parents[1]
EVENHAND = str(Path(sys.executable).with_name("evenhand"))
"""As it is installed."""
LIBRARIES = (
    "numpy", "scipy.optimize", "scipy.special", "aiohttp", "sqlalchemy", "orjson", "cryptography.hazmat.primitives",
    "genai_prices", "altair", "vl_convert", "fastapi", "uvicorn", "uvloop", "jinja2", "regex",
)  # fmt: skip
"""Not polars, which starts threads as it is imported: a fork would be without them."""
NOT_YET = ("evenhand.__main__", "evenhand.stats.ratings.elo.compiled")
"""The program itself, and what takes long to import and is rarely used."""
LONG = 1800.0
"""Seconds after which something that may take any time hangs: no machine is so busy."""
READ_AT_THE_START = ("PYTHONPATH", "PYTHONWARNINGS")
"""Variables of the interpreter that a fork obeys as well."""


class Forked:
    """What `subprocess.Popen` is to a program that is started. `$$` in a variable is its process id, as in a shell."""

    def __init__(self, call: str, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        of_python = {name for name in env if name.startswith("PYTHON")} - {*READ_AT_THE_START}
        unheard = [name for name in of_python if env[name] != os.environ.get(name)]
        assert not unheard, f"{', '.join(unheard)} would do nothing to a process that runs already"
        (stdin, self_in), (self_out, stdout), (self_err, stderr) = os.pipe(), os.pipe(), os.pipe()
        (self._ended, ended), (self._cause, cause) = os.pipe(), os.pipe()
        os.set_blocking(self._cause, False)
        asked = {"call": call, "arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}
        words = json.dumps(asked).encode()
        theirs = [stdin, stdout, stderr, cause, ended]
        waiting = _waiting()
        with _ASKING:
            socket.send_fds(waiting, [len(words).to_bytes(8, "big")], theirs)
            waiting.sendall(words)
            self.pid = int.from_bytes(_exactly(waiting, 8), "big")
        for number in theirs:
            os.close(number)
        self.args = tuple(arguments)
        self.stdin: IO[str] = os.fdopen(self_in, "w")
        self.stdout: IO[str] = os.fdopen(self_out, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(self_err, encoding="utf-8")
        self.returncode: int | None = None

    def wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = os.waitstatus_to_exitcode(int(os.read(self._ended, 16)))
            os.close(self._ended)
        return self.returncode

    def kill(self, number: int = signal.SIGKILL) -> None:
        if self.returncode is None and not select.select([self._ended], [], [], 0)[0]:
            with suppress(ProcessLookupError):  # it has ended, and nobody has said so yet
                os.kill(self.pid, number)

    def close(self) -> None:
        if self.stdout.closed:
            return
        for file in (self.stdin, self.stdout, self.stderr):
            file.close()
        os.close(self._cause)

    def error_code(self) -> str:
        """Of the error for which the program ended; "" where it ended for none."""
        try:
            return os.read(self._cause, 1024).decode()
        except BlockingIOError:
            return ""

    def communicate(self, timeout: float | None) -> "Done":
        """Reads until it ends; what takes longer is killed, and raises."""
        timeout = LONG if timeout is None else timeout
        self.stdin.close()
        said: dict[str, str] = {}
        readers = [
            threading.Thread(target=lambda name=name, file=file: said.update({name: file.read()}), daemon=True)
            for name, file in (("stdout", self.stdout), ("stderr", self.stderr))
        ]
        deadline = time.monotonic() + timeout
        for reader in readers:
            reader.start()
        try:
            code = self.wait(timeout)
            for reader in readers:
                reader.join(deadline - time.monotonic())
                if reader.is_alive():
                    raise subprocess.TimeoutExpired(self.args, timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait(timeout)
            for reader in readers:
                reader.join()
            raise
        else:
            return Done(self.args, code, said["stdout"], said["stderr"], self.error_code())
        finally:
            self.close()


class Running(subprocess.Popen[str]):
    """`evenhand ARGUMENTS` for a test that meets it while it runs: to the test, what `Popen` is. It reads nothing."""

    def __init__(self, *arguments: str, cwd: Path, env: Mapping[str, str]) -> None:
        self._become(Forked("evenhand.cli.main:main", arguments, cwd=cwd, env=env), EVENHAND, *arguments)
        self._forked.stdin.close()

    def _become(self, forked: Forked, *command: str) -> None:
        """In the place of what Popen does at the beginning, which would start a program."""
        self._forked = forked
        self.args, self.pid, self.returncode = command, forked.pid, None
        self.stdin, self.stdout, self.stderr = None, forked.stdout, forked.stderr

    def wait(self, timeout: float | None = None) -> int:
        self.returncode = self._forked.wait(timeout)
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, sig: int) -> None:
        self._forked.kill(sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        """As `Forked` does: what takes longer is killed."""
        if input is not None:
            self._forked.stdin.write(input)
        done = self._forked.communicate(timeout)
        self.returncode = done.returncode
        return done.stdout, done.stderr

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        self._forked.close()


class Code(Running):
    """`python -c CODE ARGUMENTS` in this clone, for what another process does; it may read what it is told."""

    def __init__(self, code: str, *arguments: str) -> None:
        words = (code, *arguments)
        self._become(Forked("tests.warm:run_code", words, cwd=ROOT, env=os.environ), "-c", *words)
        self.stdin = self._forked.stdin


class Done(subprocess.CompletedProcess[str]):
    """A program that has ended, with the code of the error for which it did."""

    def __init__(self, args: Sequence[str], returncode: int, stdout: str, stderr: str, error_code: str) -> None:
        super().__init__(args, returncode, stdout, stderr)
        self.error_code = error_code

    @property
    def refused(self) -> "Refused":
        """What it said on standard error, with that code."""
        from tests.refusals import Refused  # not in the process that waits, which is no test

        return Refused.made(self.stderr, self.error_code)


_ASKING = threading.Lock()


@contextmanager
def heard(call: str, *arguments: str) -> Generator[str]:
    """The first line that a server of these tests says; it is ended at the end."""
    server = Forked(call, arguments, cwd=ROOT, env=os.environ)
    hearing = threading.Thread(target=shutil.copyfileobj, args=(server.stderr, sys.stderr), daemon=True)
    hearing.start()
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill(signal.SIGTERM)
        server.wait(LONG)
        hearing.join(LONG)
        server.close()


def run(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = LONG) -> Done:
    """`evenhand ARGUMENTS` with nothing on standard input."""
    program = Forked("evenhand.cli.main:main", arguments, cwd=cwd, env=os.environ if env is None else env)
    return program.communicate(timeout)


def started(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = LONG
) -> "subprocess.CompletedProcess[str]":
    """The same by the installed command, from its start."""
    command = [EVENHAND, *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@cache
def _waiting() -> socket.socket:
    """Where to ask for a fork; the process that is forked lives as long as this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-P", __file__, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return ours


def _exactly(sender: socket.socket, length: int) -> bytes:
    """Empty where nobody asks any more."""
    found = b""
    while len(found) < length and (more := sender.recv(length - len(found))):
        found += more
    return found


# From here on: the process that waits.


@dataclass(frozen=True, kw_only=True)
class _Asked:
    words: dict[str, Any]
    files: list[int]


def _import_everything() -> None:
    import evenhand

    for name in (*LIBRARIES, *(module.name for module in pkgutil.walk_packages(evenhand.__path__, "evenhand."))):
        if name not in NOT_YET:
            importlib.import_module(name)
    _work_out_what_is_kept()
    assert "polars" not in sys.modules
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)  # as tests/conftest.py does, and why


def _work_out_what_is_kept() -> None:
    """What the program works out at the first use and keeps: which packages there are, how a ledger is made, prices."""
    import tempfile

    import genai_prices

    from evenhand.benchmarks.catalog import benchmark_names
    from evenhand.ledger.store.record import Ledger

    benchmark_names()
    genai_prices.calc_price(genai_prices.Usage(input_tokens=1), "gpt-4o", provider_id="openai")
    with tempfile.TemporaryDirectory() as folder:
        Ledger(f"sqlite:///{folder}/ledger.db").close()


def _fork_when_asked(asking: socket.socket) -> _Asked | None:
    """In the fork what it was asked for; in the process that waits None, when nobody can ask any more."""
    ended: dict[int, int] = {}
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([asking, told], [], [])
        if told in ready:
            os.read(told, 4096)
            _reap(ended)
        if asking in ready:
            head, files, _, _ = socket.recv_fds(asking, 8, 5)
            if not head:
                return None
            head += _exactly(asking, 8 - len(head))
            words = json.loads(_exactly(asking, int.from_bytes(head, "big")))
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for number in (told, tell, *ended.values()):
                    os.close(number)
                return _Asked(words=words, files=files)
            ended[pid] = files.pop()
            for number in files:
                os.close(number)
            asking.sendall(pid.to_bytes(8, "big"))


def _reap(ended: dict[int, int]) -> None:
    while ended:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        with os.fdopen(ended.pop(pid), "w") as file:
            file.write(str(status))


def _become(asked: _Asked) -> int:
    """As if it had been started so. Returns where to tell the code of an error."""
    import tempfile
    import warnings

    *standard, cause, ended = asked.files
    os.set_inheritable(cause, False)
    for number, given in enumerate(standard):
        os.dup2(given, number)
        os.close(given)
    os.close(ended)
    os.chdir(asked.words["cwd"])
    os.environ.clear()
    os.environ.update({name: value.replace("$$", str(os.getpid())) for name, value in asked.words["env"].items()})
    time.tzset()
    tempfile.tempdir = None
    if asked.words["env"].get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode, encoding="utf-8", errors=errors, closefd=False)
        for number, mode, errors in ((0, "r", "strict"), (1, "w", "surrogateescape"), (2, "w", "backslashreplace"))
    )
    sys.argv = [EVENHAND, *asked.words["arguments"]]
    return cause


def _wait_and_fork(descriptor: int) -> None:
    _import_everything()
    with socket.socket(fileno=descriptor) as asking:
        asked = _fork_when_asked(asking)
    if asked is None:
        return
    cause = _become(asked)
    module, _, name = asked.words["call"].partition(":")
    if module.startswith(("tests.", "bench.")):
        sys.path.insert(0, str(ROOT))
    code: object = 0
    try:
        getattr(importlib.import_module(module), name)()
    except SystemExit as left:
        code = left.code
        if isinstance(left.__cause__, Exception):
            os.write(cause, _code_of(left.__cause__).encode())
    _end(code)


def run_code() -> None:
    """What `python -c` does."""
    _, code, *arguments = sys.argv
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def _code_of(error: Exception) -> str:
    from evenhand.cli.sentences import error_document

    return str(error_document(error)["code"])


def _end(code: object) -> None:
    """As the interpreter ends, but for what was imported before the fork: to take that apart takes long."""
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()
    gc.collect()  # closes what the command has left open
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    _wait_and_fork(int(sys.argv[1]))
