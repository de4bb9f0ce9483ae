"""That something is under way: one line on a terminal from the second second on, and nothing anywhere else."""

import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

QUIET_SECONDS = 2.0
"""What is done by then needs no line."""
REDRAW_SECONDS = 0.25
_CLEARED = "\r\x1b[2K"


class Waiting:
    """What is being done; `words` may be changed while it is."""

    def __init__(self, words: str) -> None:
        self.words = words

    def count(self, done: int, whole: int, noun: str) -> None:
        """`Fetching: 12/40 images`."""
        self.words = f"{self.words.partition(':')[0]}: {done:,}/{whole:,} {noun}"


@contextmanager
def waiting(words: str, *, clock: Callable[[], float] = time.monotonic) -> Generator[Waiting]:
    """Shows `Comparing raters, 5 s` on standard error while the block runs; the line is gone when it ends."""
    told = Waiting(words)
    if not sys.stderr.isatty():
        yield told
        return
    ended = threading.Event()
    drawing = threading.Thread(target=_draw, args=(told, ended, clock), daemon=True)
    drawing.start()
    try:
        yield told
    finally:
        ended.set()
        drawing.join()


def _draw(told: Waiting, ended: threading.Event, clock: Callable[[], float]) -> None:
    began, stream = clock(), sys.stderr
    if ended.wait(QUIET_SECONDS):
        return
    while True:
        line = f"{told.words}, {clock() - began:.0f} s"
        stream.write(_CLEARED + line[: shutil.get_terminal_size().columns - 1])
        stream.flush()
        if ended.wait(REDRAW_SECONDS):
            break
    stream.write(_CLEARED)
    stream.flush()
