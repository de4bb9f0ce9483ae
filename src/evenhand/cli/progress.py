"""How a run is going: one line that redraws itself on a terminal, plain lines now and then elsewhere."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, TextIO

from evenhand.engine.run import Runner, StopSign
from evenhand.engine.session import Around

REDRAW_SECONDS = 0.25
PLAIN_SECONDS = 10.0


def line(runner: Runner[Any, Any], *, known_price: bool) -> str:
    """`128/512 trials · 12.3/s · 31 s left · $0.0421 · 16 in flight · 2 without a decision · 1 failed`."""
    tally = runner.tally
    parts = [f"{tally.done}/{tally.planned} trials"]
    rate = tally.called / tally.wall_s if tally.called else 0.0
    if rate:
        parts.append(f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each")
        parts.append(f"{duration((tally.planned - tally.done) / rate)} left")
    parts.append(f"${tally.cost_usd:.4f}" if known_price else "price unknown")
    parts.append(f"{runner.concurrency.in_flight} in flight")
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


@contextmanager
def interruptible() -> Generator[StopSign]:
    """A stop sign that Ctrl-C raises: calls in flight may end; a second one does not wait for them."""
    stop = StopSign()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop.interrupt)
    try:
        yield stop
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def progress(*, known_price: bool, quiet: bool) -> Around:
    def around(runner: Runner[Any, Any]) -> AbstractAsyncContextManager[None]:
        return shown(runner, known_price=known_price, quiet=quiet)

    return around


@asynccontextmanager
async def shown(runner: Runner[Any, Any], *, known_price: bool, quiet: bool) -> AsyncGenerator[None]:
    """Shows the run's progress on standard error while it goes on."""
    if quiet:
        yield
        return
    stream = sys.stderr
    draw = _redraw if stream.isatty() else _plain
    drawing = asyncio.create_task(draw(runner, known_price, stream))
    try:
        yield
    finally:
        drawing.cancel()
        await asyncio.gather(drawing, return_exceptions=True)
        if stream.isatty():
            stream.write("\r\x1b[2K")
            stream.flush()
        elif runner.tally.called:
            stream.write(line(runner, known_price=known_price) + "\n")


async def _redraw(runner: Runner[Any, Any], known_price: bool, stream: TextIO) -> None:
    from rich.console import Console

    width = Console(file=stream).width
    while True:
        words = line(runner, known_price=known_price)
        done = runner.tally.done / max(1, runner.tally.planned)
        bar_width = max(0, min(24, width - len(words) - 4))
        bar = ("█" * round(done * bar_width)).ljust(bar_width, "░")
        stream.write(f"\r\x1b[2K{bar} {words}"[: width + 5])
        stream.flush()
        await asyncio.sleep(REDRAW_SECONDS)


async def _plain(runner: Runner[Any, Any], known_price: bool, stream: TextIO) -> None:
    while True:
        await asyncio.sleep(PLAIN_SECONDS)
        stream.write(line(runner, known_price=known_price) + "\n")
        stream.flush()
