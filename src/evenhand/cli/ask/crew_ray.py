"""`--runner`: workers that Ray starts, on this machine or on a cluster, as helpers of the command that leads.

Who leads opens a door for them: what goes through it is encrypted with a key that was made for this run, and only then
is a worker told the command and the variables, with the keys of models among them. Ray itself is told nothing of these.
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, TypeAlias

from evenhand import __version__
from evenhand.cli.ask.ray_process import CONNECT_SECONDS, Seal
from evenhand.cli.environment import WrongUse
from evenhand.domain.errors import EvenhandError

Meet: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Seal | None], Awaitable[bool]]
"""Hears all that a worker says until it is gone; whether that was anything."""

_ADDRESS = re.compile(r"(ray://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+):(?P<port>\d{1,5})")
_OF_MACHINE = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|TERM.*|TMPDIR|TEMP|TMP|HOSTNAME|DISPLAY|MAIL|EDITOR|PYTHON.*|VIRTUAL_ENV|"
    r"CONDA.*|LD_.*|DYLD_.*|XDG_.*|SSH_.*|DBUS_.*|RAY_.*|CUDA_.*|_.*"
)
"""Variables that tell of a machine or a session, not of what is to be done."""
_FOR_RAY = re.compile(r"PATH|HOME|USER|LANG|LC_.*|TZ|PYTHONPATH|VIRTUAL_ENV|LD_LIBRARY_PATH|DYLD_.*|RAY_.*")
"""All that Ray is told of the variables."""
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_OF_OUR_OWN = {
    # By which Ray on Linux, too, keeps to loopback.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_prestart_worker_first_driver": "0",
    # Of a busy machine.
    "RAY_raylet_start_wait_time_s": "600",
    "RAY_agent_register_timeout_ms": "600000",
    "RAY_enable_metrics_collection": "0",
}
_LEAVE_SECONDS = 60.0
"""In which Ray ends that was told to."""
_LAST_WORDS_SECONDS = 5.0
_TIDY_TIMES, _TIDY_SECONDS = 20, 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RayPlace:
    """Which Ray. `address`: None for one of our own, on this machine, for this run alone."""

    shown: str
    address: str | None

    @classmethod
    def of(cls, runner: str, variables: Mapping[str, str]) -> "RayPlace":
        """Raises WrongUse."""
        if runner == "ray":
            running = variables.get("RAY_ADDRESS", "")
            address = None if running in ("", "local") else running
            return cls(shown="this machine" if address is None else address, address=address)
        if not runner.startswith("ray://") or _ADDRESS.fullmatch(runner) is None:
            raise WrongUse(f"--runner '{runner}' is neither ray nor ray://HOST:PORT, the address of a Ray cluster.")
        return cls(shown=runner, address=runner)

    @staticmethod
    def need_extra() -> None:
        """Raises WrongUse."""
        if find_spec("ray") is None:
            raise WrongUse(
                "--runner needs the extra `cluster` (ray is missing); from the clone: pip install '.[cluster]'.",
                code="EH-EXTRA-MISSING",
            )

    @property
    def client(self) -> bool:
        """Whether it is reached from outside, by its server for clients."""
        return self.address is not None and self.address.startswith("ray://")

    def refuse_file(self, *, others: bool) -> None:
        """Raises WrongUse where the ledger is a file and other machines' workers would need it."""
        if others:
            raise WrongUse(
                f"The ledger is a SQLite file, which workers of other machines cannot share, and Ray at {self.shown} "
                "may have some. Keep the ledger on PostgreSQL (`evenhand ledger copy FROM TO` moves it; --store "
                "postgresql://…), or take --runner ray without RAY_ADDRESS for workers of this machine.",
                code="EH-RUNNER-STORE",
            )

    @property
    def at(self) -> tuple[str, int] | None:
        """Host and port, where it is named by them."""
        found = _ADDRESS.fullmatch(self.address or "")
        return None if found is None else (found["host"].strip("[]"), int(found["port"]))

    async def reach(self) -> None:
        """Raises WrongUse where nobody listens, which Ray takes a minute to find."""
        if self.at is None:
            return
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(*self.at), CONNECT_SECONDS)
        except (OSError, OverflowError) as error:  # also where it takes too long
            raise self.refusal("unreachable", getattr(error, "strerror", None) or type(error).__name__) from None
        writer.close()

    def refusal(self, kind: str, words: str) -> WrongUse:
        """What to raise where Ray said no."""
        said = " ".join(words.split())[:300].rstrip(".")
        if kind == "missing":
            return WrongUse(
                f"--runner needs the extra `cluster`, which is not whole here ({said}); from the clone: "
                "pip install '.[cluster]'.",
                code="EH-EXTRA-MISSING",
            )
        if kind == "version":
            return WrongUse(
                f"Ray at {self.shown} is of another version of Ray or Python than this command ({said}). Install the "
                "same versions here, or run the command on the cluster.",
                code="EH-RUNNER-VERSION",
            )
        if self.address is None:
            return WrongUse(f"Ray could not be started on this machine ({said}).", code="EH-RUNNER-UNREACHABLE")
        return WrongUse(
            f"No Ray that takes us answers at {self.shown} ({said}). Is it running (`ray start --head "
            "--ray-client-server-port PORT` starts one), is the address right, and RAY_AUTH_TOKEN, where it wants one?",
            code="EH-RUNNER-UNREACHABLE",
        )

    def refuse_unlike(self, unlike: list[tuple[str, str]]) -> None:
        """Raises WrongUse where nodes have another Evenhand."""
        if not unlike:
            return
        node, version = unlike[0]
        more = f" (one of {len(unlike)} such)" if unlike[1:] else ""
        has = "no Evenhand" if not version else f"Evenhand {version}"
        has += ", with other code than here" if version == __version__ else ""
        raise WrongUse(
            f"The node {node}{more} of the Ray at {self.shown} has {has}, and this command is of Evenhand "
            f"{__version__}: workers must be the same. Install the same on every node.",
            code="EH-RUNNER-VERSION",
        )


@dataclass(slots=True, kw_only=True)
class _Worker:
    """One that was asked for."""

    met: "asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]" = field(default_factory=lambda: _future())
    ended: "asyncio.Future[tuple[int, str]]" = field(default_factory=lambda: _future())


def _future() -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()


class RayWorkers:
    """Starts workers by Ray and meets them at the door."""

    def __init__(self, place: RayPlace, number: int, *, file: bool, variables: Mapping[str, str]) -> None:
        """`file`: whether the ledger is one. `variables`: those of the command."""
        self._place, self._number, self._file, self._variables = place, number, file, variables
        self._key = Seal.key()
        self._seal = Seal(self._key)
        self._workers: dict[int, _Worker] = {}
        self._numbers = 0
        self._process: asyncio.subprocess.Process | None = None
        self._ready: asyncio.Future[dict[str, Any]] | None = None
        self._hearing: asyncio.Task[None] | None = None
        self._door: asyncio.Server | None = None
        self._at: tuple[str, int] = ("", 0)
        self._leaving = False
        self._folder: str | None = None

    @property
    def needs_asking(self) -> bool:
        """Whether it is others' Ray, which may refuse us: nothing is begun before it has answered."""
        return self._place.address is not None

    async def ready(self) -> None:
        """When Ray is there, and our door open. Raises WrongUse."""
        if self._ready is None:
            self._ready = _future()
            self._ready.add_done_callback(lambda done: done.cancelled() or done.exception())
            try:
                await self._begin()
            except EvenhandError as error:
                self._ready.set_exception(error)
        await asyncio.shield(self._ready)

    async def one(self, meet: Meet) -> tuple[bool, int, str]:
        """A worker, until it is gone: whether it said a word, its exit code, and what it said on standard error."""
        try:
            await self.ready()
        except EvenhandError as error:
            return False, 1, str(error)
        if self._leaving:
            return False, 0, ""
        self._numbers += 1
        number, worker = self._numbers, _Worker()
        self._workers[number] = worker
        try:
            self._ask({"worker": number, "door": self._at, "key": self._key})
            await asyncio.wait((worker.met, worker.ended), return_when=asyncio.FIRST_COMPLETED)
            heard = await self._heard(worker, meet)
            if worker.ended.cancelled() or (self._leaving and not worker.ended.done()):
                return heard, 0, ""
            return (heard, *await worker.ended)
        finally:
            del self._workers[number]

    async def _heard(self, worker: _Worker, meet: Meet) -> bool:
        if not worker.met.done() or worker.met.cancelled():
            return False
        reader, writer = worker.met.result()
        listening = asyncio.ensure_future(meet(reader, writer, self._seal))
        await asyncio.wait((listening, worker.ended), return_when=asyncio.FIRST_COMPLETED)
        # A node that is gone does not close its connections.
        await asyncio.wait((listening,), timeout=_LAST_WORDS_SECONDS if worker.ended.done() else None)
        if not listening.done():
            writer.transport.abort()
        return await listening

    def leaving(self) -> None:
        """Whoever has not come yet is not needed any more."""
        self._leaving = True
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(WrongUse("Ray is no longer needed."))
        for worker in self._workers.values():
            if not worker.met.done():
                worker.met.cancel()
                worker.ended.cancel()

    async def end(self) -> None:
        """Takes leave of Ray: workers that still run are ended."""
        self._leaving = True
        if self._door is not None:
            self._door.close()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            try:
                await asyncio.wait_for(self._process.wait(), _LEAVE_SECONDS)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        await self._tidy()
        if self._hearing is not None:
            await self._hearing

    async def _tidy(self) -> None:
        """Removes Ray's files, to which its processes may write until they are gone too."""
        for _ in range(_TIDY_TIMES):
            if self._folder is None or await asyncio.to_thread(_removed, self._folder):
                return
            await asyncio.sleep(_TIDY_SECONDS)

    async def _begin(self) -> None:
        await self._place.reach()
        if self._place.address is None:
            # Not where temporary files usually lie: on a Mac that name is too long for Ray's sockets.
            self._folder = tempfile.mkdtemp(prefix="eh-ray-", dir="/tmp")
        kept = {name: said for name, said in os.environ.items() if _FOR_RAY.fullmatch(name)}
        own = {} if self._place.address else {**_OF_OUR_OWN, "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        if not self._place.address:
            kept.pop("RAY_AUTH_TOKEN_PATH", None)
        kept.pop("RAY_ADDRESS", None)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "evenhand.cli.ask.ray_process", "start"),
            env={**kept, **_QUIET, **own},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        self._ask({"address": self._place.address, "workers": self._number, "folder": self._folder})
        self._hearing = asyncio.create_task(self._hear(self._process))

    def _ask(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        """What the process tells that speaks with Ray, until it is gone."""
        assert process.stdout is not None
        while (line := await process.stdout.readline()).endswith(b"\n"):
            message = json.loads(line)
            if "worker" in message:
                worker = self._workers.get(message["worker"])
                if worker is not None and not worker.ended.done():
                    worker.ended.set_result((message["code"], message["said"]))
            else:
                await self._take_answer(message)
        self._gone()

    async def _take_answer(self, message: dict[str, Any]) -> None:
        assert self._ready is not None
        try:
            if "refused" in message:
                raise self._place.refusal(message["refused"], message["words"])
            if self._file:
                self._place.refuse_file(others=message["others"])
            self._place.refuse_unlike([(node, version) for node, version in message["unlike"]])
            await self._open_door(message["here"])
        except EvenhandError as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            return
        if not self._ready.done():
            self._ready.set_result(message)

    def _gone(self) -> None:
        ended = "Ray has ended."
        assert self._ready is not None
        if not self._ready.done():
            self._ready.set_exception(self._place.refusal("unreachable", "its process has ended"))
        elif self._ready.exception() is None and not self._leaving:
            self._ready = _future()
            self._ready.set_exception(WrongUse(ended, code="EH-RUNNER-UNREACHABLE"))
            self._ready.exception()
        for worker in self._workers.values():
            if not worker.ended.done():
                worker.ended.set_result((1, ended))

    async def _open_door(self, here: str) -> None:
        host = here or _way_to(*(self._place.at or ("127.0.0.1", 1)))
        try:
            self._door = await asyncio.start_server(self._knocked, host, 0)
        except OSError as error:
            raise self._place.refusal("unreachable", f"no way back: {error}") from error
        self._at = self._door.sockets[0].getsockname()[:2]

    async def _knocked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Somebody who says rightly which worker it is, and is the first to say so, is told what to do."""
        try:
            line = await asyncio.wait_for(reader.readline(), CONNECT_SECONDS)
            worker = self._workers.get(json.loads(self._seal.opened(line))["worker"])
        except (ValueError, TimeoutError, ConnectionError):
            worker = None
        if worker is None or worker.met.done():
            writer.close()
            return
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        variables = {name: said for name, said in self._variables.items() if not _OF_MACHINE.fullmatch(name)}
        told = {"words": sys.argv[1:], "folder": os.getcwd(), "variables": variables}
        writer.write(self._seal.sealed(json.dumps(told).encode()) + b"\n")
        worker.met.set_result((reader, writer))


def _removed(folder: str) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not os.path.exists(folder)


def _way_to(host: str, port: int) -> str:
    """Our own address as the machine sees it on which Ray is."""
    family, kind, _, _, at = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as way:
        way.connect(at)
        return way.getsockname()[0]
