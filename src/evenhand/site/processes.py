"""Several processes that answer at one address: they are begun together, each that ends is begun anew, and all of them
end in good order. It knows nothing of what they answer."""

import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from threading import Thread
from typing import Any, cast

from evenhand.site.http.settings import SiteError

_READY, _FAULT = b"ready", b"fault "
_FIRST_REST, _LONGEST_REST = 0.1, 60.0
"""Seconds before another takes the place of one that ended; longer each time, until one has stayed so long."""
_TRIES = 3
"""Of one that was never ready, before any was."""
_LAST_SECONDS = 20.0
"""In which they end that were told to; they give requests under way ten."""

_LONGEST_FOLDER = 64


@dataclass(slots=True, kw_only=True)
class _Place:
    """Of one process, and of those that take its place."""

    process: BaseProcess | None = None
    line: Connection | None = None
    """Of which the process has the other end, so that each knows when the other is gone."""
    since: float = 0.0
    ready: bool = False
    rest: float = _FIRST_REST
    tries: int = 0
    fault: str = ""


class Processes:
    """`work` is a function of a module, which is loaded once for all of them. It gets a line to say by `is_ready` that
    it answers, and `given`, and runs until SIGTERM. `variables` are in its environment from the start. `lost` hears
    number and exit code of each that ended unasked."""

    def __init__(
        self,
        number: int,
        work: Callable[..., None],
        given: tuple[Any, ...],
        *,
        variables: dict[str, str],
        lost: Callable[[int, int | None], None],
    ) -> None:
        self._places = [_Place() for _ in range(number)]
        self._work = work
        self._given = given
        self._variables = variables
        self._lost = lost
        # Each is a copy of a process that has loaded the program and does nothing else.
        self._begun = multiprocessing.get_context("forkserver")
        self._begun.set_forkserver_preload([work.__module__])
        _have_short_folder()

    def run(self, stop: Connection, *, ready: Callable[[], None], stopping: Callable[[], None]) -> None:
        """Until `stop` can be read; `ready` is called once, when all of them answer, and `stopping` before they are
        told to end. Raises SiteError where they cannot be begun."""
        told = False
        try:
            while True:
                self._begin_those_due()
                lines = {one.line: one for one in self._places if one.line is not None}
                for found in wait([stop, *lines], timeout=self._until_next()):
                    if found is stop:
                        return
                    self._hear(lines[cast("Connection", found)], begun=told)
                if not told and all(one.ready for one in self._places):
                    told = True
                    ready()
        finally:
            stopping()
            self._end()

    def _begin_those_due(self) -> None:
        for one in self._places:
            if one.process is None and time.monotonic() >= one.since:
                self._begin(one)

    def _until_next(self) -> float | None:
        due = [one.since for one in self._places if one.process is None]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _begin(self, place: _Place) -> None:
        ours, theirs = cast("tuple[Connection, Connection]", self._begun.Pipe())
        process = self._begun.Process(target=self._work, args=(theirs, *self._given), name="evenhand pages")
        # A folder that holds a `json.py` of its own must not run as ours.
        with _environment({"PYTHONSAFEPATH": "1", **self._variables}):
            process.start()
        theirs.close()
        place.process, place.line, place.since, place.ready = process, ours, time.monotonic(), False

    def _hear(self, place: _Place, *, begun: bool) -> None:
        assert place.line is not None
        try:
            said = place.line.recv_bytes()
        except (EOFError, OSError):
            self._over(place, begun=begun)
            return
        if said == _READY:
            place.ready = True
        else:
            place.fault = said.removeprefix(_FAULT).decode()

    def _over(self, place: _Place, *, begun: bool) -> None:
        process, code = place.process, None
        assert process is not None
        assert place.line is not None
        place.line.close()
        process.join(_LAST_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
        code = process.exitcode
        self._lost(process.pid or 0, code)
        place.tries += 1
        if not begun and place.tries >= _TRIES:
            raise SiteError(f"The processes of the server cannot be begun. {place.fault}".rstrip())
        if time.monotonic() - place.since > _LONGEST_REST:
            place.rest = _FIRST_REST
        place.process, place.line, place.since = None, None, time.monotonic() + place.rest
        place.rest = min(_LONGEST_REST, 2 * place.rest)

    def _end(self) -> None:
        there = [one for one in self._places if one.process is not None]
        for one in there:
            assert one.process is not None
            one.process.terminate()
        deadline = time.monotonic() + _LAST_SECONDS
        _until_gone([one.line for one in there if one.line is not None], deadline)
        for one in there:
            assert one.process is not None
            assert one.line is not None
            one.process.join(max(0.0, deadline - time.monotonic()))
            if one.process.is_alive():
                one.process.kill()
                one.process.join()
            one.line.close()


def _until_gone(lines: list[Connection], deadline: float) -> None:
    """Until nobody is at the other ends. Of a process whose beginner was told to end too, as systemd tells all, this
    alone is known."""
    while lines and (left := deadline - time.monotonic()) > 0:
        for line in wait(lines, left):
            try:
                cast("Connection", line).recv_bytes()
            except (EOFError, OSError):
                lines.remove(cast("Connection", line))


def _have_short_folder() -> None:
    """For the socket by which processes are begun: no name of one may be longer than 103 bytes, and with TMPDIR in it
    it may be."""
    if len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER:
        return
    before, tempfile.tempdir = tempfile.tempdir, "/tmp"  # noqa: S108  the folder made in it is nobody else's
    try:
        get_temp_dir()  # once for all of this process, and removed when it ends
    finally:
        tempfile.tempdir = before


@contextmanager
def _environment(variables: dict[str, str]) -> Generator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def stop_signals() -> Generator[Connection]:
    """What can be read from the moment that the process is told to stop."""
    heard, told = cast("tuple[Connection, Connection]", multiprocessing.Pipe(duplex=False))

    def stop(*_: object) -> None:
        with suppress(OSError):
            told.close()

    before = [(number, signal.signal(number, stop)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield heard
    finally:
        for number, handler in before:
            signal.signal(number, handler)
        stop()
        heard.close()


def is_ready(line: Connection) -> None:
    with suppress(OSError):
        line.send_bytes(_READY)


def is_hindered(line: Connection, sentence: str) -> None:
    with suppress(OSError):
        line.send_bytes(_FAULT + sentence.encode())


@contextmanager
def while_kept(line: Connection) -> Generator[None]:
    """Told to stop, too, when whoever began this process is gone, even by kill -9."""

    def listen() -> None:
        with suppress(EOFError, OSError):
            line.recv_bytes()
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=listen, daemon=True).start()
    yield
