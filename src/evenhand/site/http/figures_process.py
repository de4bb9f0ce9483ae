"""A process of its own for figures that take long: all threads of the one that answers pages share one interpreter.

It only reads: the ledger is opened there so that nothing can be written.
"""

import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar, cast

from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.computed import StillWorking
from evenhand.site.http.settings import REACH_SECONDS

T = TypeVar("T")

MOST_SECONDS = 300.0
"""For one figure; a board of a million judgements takes 20."""


class Figures(Protocol):
    """Works something out from the ledger, here or elsewhere."""

    def __call__(self, work: Callable[[Ledger], T]) -> T: ...

    def close(self) -> None: ...


class FiguresHere:
    """In the thread that asks."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __call__(self, work: Callable[[Ledger], T]) -> T:
        return work(self._ledger)

    def close(self) -> None:
        """Nothing to end."""


class FigureLost(StillWorking):
    """The process ended or took too long over it; another does what is asked for next."""


class FiguresProcess:
    """One thing at a time, for one thread; begun when it is first needed, and begun anew when it ended."""

    def __init__(self, url: str, *, most_seconds: float = MOST_SECONDS) -> None:
        self._url = url
        self._most_seconds = most_seconds
        self._running: tuple[BaseProcess, Connection] | None = None
        self._closed = False

    @property
    def process(self) -> int | None:
        """Its number, while it runs."""
        return None if self._running is None else self._running[0].pid

    def __call__(self, work: Callable[[Ledger], T]) -> T:
        """What `work` returns, or raises, there: a function of a module with its arguments, as it must be sent. Raises
        FigureLost where there was none to do it, and none is done again: what ended one may end the next."""
        asked = pickle.dumps(work)
        if self._closed:
            raise FigureLost
        try:
            _, line = self._running or self.begin()
            line.send_bytes(asked)
            if not line.poll(self._most_seconds):
                raise TimeoutError
            made, value = pickle.loads(line.recv_bytes())  # noqa: S301  from our own process
        except (EOFError, OSError) as error:  # of which a timeout is one
            self._end()
            raise FigureLost from error
        if not made:
            raise value
        return value

    def begin(self) -> tuple[BaseProcess, Connection]:
        """Ahead of need, as it takes a second or two."""
        # Read there when its libraries are loaded, before any line of ours: the other cores are for the pages.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        begun = multiprocessing.get_context("spawn")
        ends = begun.Pipe()
        line, theirs = cast("tuple[Connection, Connection]", ends)  # sockets of Windows are not meant
        process = begun.Process(target=_work, args=(self._url, theirs), name="evenhand figures", daemon=True)
        process.start()
        theirs.close()
        self._running = running = process, line
        return running

    def close(self) -> None:
        self._closed = True
        self._end()

    def _end(self) -> None:
        if self._running is not None:
            process, line = self._running
            self._running = None
            process.kill()  # it has nothing to lose
            process.join()
            line.close()


def _work(url: str, line: Connection) -> None:
    """Until the other end is closed, or its process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of a terminal's processes; the server ends us
    opened: Ledger | Exception = _opened(url)
    with closing(line), suppress(EOFError, OSError):
        while True:
            asked = line.recv_bytes()
            if isinstance(opened, Exception):
                opened = _opened(url)
            line.send_bytes(_sendable(opened) if isinstance(opened, Exception) else _done(opened, asked))


def _opened(url: str) -> Ledger | Exception:
    """What stands in the way is told to whoever asks, as it is where the server cannot read; it may pass."""
    try:
        return Ledger(url, create=False, writes=False, reach_seconds=REACH_SECONDS)
    except LedgerError as error:
        return error


def _done(ledger: Ledger, asked: bytes) -> bytes:
    try:
        work: Callable[[Ledger], Any] = pickle.loads(asked)  # noqa: S301  from our own process
        return pickle.dumps((True, work(ledger)))
    except Exception as error:  # noqa: BLE001  whoever asked hears of it
        return _sendable(error)


def _sendable(error: Exception) -> bytes:
    error.add_note("".join(traceback.format_exception(error)))
    try:
        answer = pickle.dumps((False, error))
        pickle.loads(answer)  # noqa: S301  some errors are written and cannot be read
    except Exception:  # noqa: BLE001
        return pickle.dumps((False, RuntimeError(str(error))))
    return answer
