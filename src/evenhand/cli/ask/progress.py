"""How a run is going: one line that redraws itself on a terminal, plain lines now and then elsewhere."""

import asyncio
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Any, TextIO

from evenhand.engine.run.runner import Runner
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.session import Around

REDRAW_SECONDS = 0.25
PLAIN_SECONDS = 10.0
_CLEARED = "\r\x1b[2K"
"""Wipes the line that redraws itself."""


def line(tally: Tally, *, seconds: float, in_flight: int, known_price: bool, noun: str) -> str:
    """`128/512 trials · 12.3/s · 31 s left · $0.0421 · 16 in flight · 2 without a decision · 1 failed`.

    `seconds`: that the run has taken so far.
    """
    parts = [f"{tally.done}/{tally.planned} {noun}"]
    rate = tally.called / seconds if tally.called else 0.0
    if rate:
        parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each")
        parts.append(f"{duration((tally.planned - tally.done) / rate)} left")
    parts.append(f"${tally.cost_usd:.4f}" if known_price else "price unknown")
    parts.append(f"{in_flight} in flight")
    if undecided := sum(tally.no_verdict.values()):
        parts.append(f"{undecided} without a decision")
    if failed := sum(tally.failed.values()):
        parts.append(f"{failed} failed")
    return " · ".join(parts)


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class Interrupts:
    """A stop sign that Ctrl-C raises: calls in flight may end, which is said; a second one does not wait for them."""

    def __init__(self) -> None:
        self.stop = StopSign()
        self.runner: Runner[Any, Any] | None = None
        """What is running, as soon as it is."""

    def interrupt(self) -> None:
        first = not self.stop.interrupted
        self.stop.interrupt()
        waiting = self.runner.concurrency.in_flight if self.runner else 0
        if first and waiting:
            stream = sys.stderr
            calls = "1 call" if waiting == 1 else f"{waiting} calls"
            stream.write(_CLEARED if stream.isatty() else "")
            stream.write(f"Waiting for {calls} in flight; press Ctrl-C again to give them up.\n")
            stream.flush()


@contextmanager
def interruptible() -> Generator[Interrupts]:
    interrupts = Interrupts()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, interrupts.interrupt)
    try:
        yield interrupts
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def progress(interrupts: Interrupts, *, known_price: bool, quiet: bool, noun: str = "trials") -> Around:
    def around(runner: Runner[Any, Any]) -> AbstractAsyncContextManager[None]:
        interrupts.runner = runner
        tally = runner.tally

        def words() -> str:
            in_flight = runner.concurrency.in_flight
            return line(tally, seconds=tally.wall_s, in_flight=in_flight, known_price=known_price, noun=noun)

        return nullcontext() if quiet else shown(words, tally)

    return around


@asynccontextmanager
async def shown(words: Callable[[], str], tally: Tally) -> AsyncGenerator[None]:
    """Shows how a run goes on standard error while it goes on."""
    stream = sys.stderr
    terminal = stream.isatty()
    drawing = asyncio.create_task(_redraw(words, tally, stream) if terminal else _plain(words, stream))
    try:
        yield
    finally:
        drawing.cancel()
        await asyncio.gather(drawing, return_exceptions=True)
        if terminal:
            stream.write(_CLEARED)
            stream.flush()
        elif tally.called:
            stream.write(words() + "\n")


async def _redraw(words: Callable[[], str], tally: Tally, stream: TextIO) -> None:
    while True:
        width = shutil.get_terminal_size().columns - 1
        text = words()
        room = max(0, min(24, width - len(text) - 1))
        done = round(room * tally.done / max(1, tally.planned))
        bar = "█" * done + "░" * (room - done)
        stream.write(f"{_CLEARED}{f'{bar} {text}'.lstrip()[:width]}")
        stream.flush()
        await asyncio.sleep(REDRAW_SECONDS)


async def _plain(words: Callable[[], str], stream: TextIO) -> None:
    while True:
        await asyncio.sleep(PLAIN_SECONDS)
        stream.write(words() + "\n")
        stream.flush()
