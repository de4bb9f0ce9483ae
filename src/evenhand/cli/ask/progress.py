"""How a run is going: one line that redraws itself on a terminal, plain lines now and then elsewhere."""

import asyncio
import shutil
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Any, TextIO

from evenhand.cli.notes import say_notes
from evenhand.engine.run.counting import seen_so_far
from evenhand.engine.run.crew import ALONE, Crew
from evenhand.engine.run.helping import Helper
from evenhand.engine.run.leading import Leader
from evenhand.engine.run.runner import Runner
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.session import Around
from evenhand.format.words import counted
from evenhand.models.batch.record import OpenBatch

REDRAW_SECONDS = 0.25
PLAIN_SECONDS = 10.0
_CLEARED = "\r\x1b[2K"
"""Wipes the line that redraws itself."""


def line(
    tally: Tally,
    *,
    seconds: float,
    in_flight: int,
    known_price: bool,
    noun: str,
    batches: Sequence[OpenBatch] = (),
    others: int = 0,
    width: int | None = None,
) -> str:
    """`128/512 trials · 12.3/s · 31 s left · $0.0421 · 16 in flight · 2 without a decision · 1 failed`.

    `seconds`: that the run has taken so far. `others`: runs that have asked some of it meanwhile. What matters least is
    left out where the `width` is too small.
    """
    parts = {"done": f"{tally.done}/{tally.planned} {noun}"}
    if tally.meanwhile:
        parts["others"] = f"{tally.meanwhile} of them by {f'{others} other runs' if others > 1 else 'another run'}"
    rate = tally.called / seconds if tally.called else 0.0
    if rate:
        parts["rate"] = f"{rate:.1f}/s" if rate >= 1 else f"{1 / rate:.1f} s each"
        together = rate + tally.meanwhile / seconds
        parts["left"] = f"{duration((tally.planned - tally.done) / together)} left"
    parts["cost"] = f"${tally.cost_usd:.4f}" if known_price else "price unknown"
    parts["under way"] = batch_line(batches) if batches else f"{in_flight} in flight"
    if tally.elsewhere:
        parts["elsewhere"] = f"{tally.elsewhere} asked by other runs"
    if undecided := sum(tally.no_verdict.values()):
        parts["undecided"] = f"{undecided} without a decision"
    if failed := sum(tally.failed.values()):
        parts["failed"] = f"{failed} failed"
    for least in _LEAST_FIRST:
        if width is not None and len(" · ".join(parts.values())) > width:
            parts.pop(least, None)
    return " · ".join(parts.values())


_LEAST_FIRST = ("rate", "under way", "elsewhere", "cost", "undecided", "left", "others", "failed")


def batch_line(batches: Sequence[OpenBatch]) -> str:
    """`batch 2 of 3: 1,204 of 2,000 done, submitted 14 min ago`, of the first that is waited for; and that it is looked
    for, where that takes its time."""
    number = next((place for place, one in enumerate(batches) if one.calls), len(batches) - 1)
    one = batches[number]
    steps = {"uploading": "being uploaded", "uploaded": "uploaded", "creating": "being created"}
    ago = duration(max(0.0, time.time() - one.at))
    stands = f"{one.done:,} of {one.entries:,} done, submitted {ago} ago"
    if one.state in steps:
        stands = f"{one.entries:,} calls, {steps[one.state]}"
    looked_for = ", not found at the provider so far" if one.missed else ""
    return f"batch {number + 1} of {len(batches)}: {stands}{looked_for}"


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
        if first and self.runner and (words := _let_go(self.runner)):
            _clear(sys.stderr)
            sys.stderr.write(f"{words}\n")
            sys.stderr.flush()


def _clear(stream: TextIO) -> None:
    stream.write(_CLEARED if stream.isatty() else "")


def _say_in_between(sentence: str) -> None:
    _clear(sys.stderr)
    say_notes([sentence])


def _let_go(runner: Runner[Any, Any]) -> str:
    """What becomes of the calls under way when a run is interrupted; empty where there are none."""
    if runner.tally.by_batch:
        sent = sum(len(one.calls) for one in runner.batches)
        return f"{counted(sent, 'call')} left in batches, which the same command again collects." if sent else ""
    waiting = runner.concurrency.in_flight
    return f"Waiting for {counted(waiting, 'call')} in flight; press Ctrl-C again to give them up." if waiting else ""


@contextmanager
def interruptible(crew: Crew = ALONE) -> Generator[Interrupts]:
    interrupts = Interrupts()
    if isinstance(crew, Helper):
        interrupts.stop = crew.stop
        yield interrupts
        return
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, interrupts.interrupt)
    try:
        yield interrupts
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def progress(
    interrupts: Interrupts, *, known_price: bool, quiet: bool, noun: str = "trials", crew: Crew = ALONE
) -> Around:
    def around(runner: Runner[Any, Any]) -> AbstractAsyncContextManager[None]:
        interrupts.runner = runner
        if not isinstance(crew, Helper):
            runner.ledger.tell_of_waits(_say_in_between)
        tally = runner.tally

        def so_far() -> Tally:
            others = runner.others.results.total()
            if isinstance(crew, Leader):
                return crew.so_far(tally, crew.job, others=others)
            return seen_so_far(tally, (), others=others)

        def words(width: int | None = None) -> str:
            in_flight = crew.in_flight() if isinstance(crew, Leader) else runner.concurrency.in_flight
            return line(
                so_far(),
                seconds=tally.wall_s,
                in_flight=in_flight,
                known_price=known_price,
                noun=noun,
                batches=runner.batches,
                others=len(runner.others.results),
                width=width,
            )

        return nullcontext() if quiet or isinstance(crew, Helper) else shown(words, so_far)

    return around


@asynccontextmanager
async def shown(words: Callable[[int | None], str], so_far: Callable[[], Tally]) -> AsyncGenerator[None]:
    """Shows how a run goes on standard error while it goes on."""
    stream = sys.stderr
    terminal = stream.isatty()
    drawing = asyncio.create_task(_redraw(words, so_far, stream) if terminal else _plain(words, stream))
    try:
        yield
    finally:
        drawing.cancel()
        await asyncio.gather(drawing, return_exceptions=True)
        if terminal:
            stream.write(_CLEARED)
            stream.flush()
        elif so_far().called:
            stream.write(words(None) + "\n")


async def _redraw(words: Callable[[int | None], str], so_far: Callable[[], Tally], stream: TextIO) -> None:
    while True:
        width = shutil.get_terminal_size().columns - 1
        text, tally = words(width), so_far()
        room = max(0, min(24, width - len(text) - 1))
        done = round(room * tally.done / max(1, tally.planned))
        bar = "█" * done + "░" * (room - done)
        stream.write(f"{_CLEARED}{f'{bar} {text}'.lstrip()[:width]}")
        stream.flush()
        await asyncio.sleep(REDRAW_SECONDS)


async def _plain(words: Callable[[int | None], str], stream: TextIO) -> None:
    while True:
        await asyncio.sleep(PLAIN_SECONDS)
        stream.write(words(None) + "\n")
        stream.flush()
