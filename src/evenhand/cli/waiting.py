"""That something is under way: one line on a terminal from the second second on, and nothing anywhere else."""

import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr
from typing import Any, TextIO, cast

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


class _Line:
    """Of a terminal: drawn over again and again, and wiped before anything else is written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._drawn = False
        self._begun = False
        """Whether somebody has written the beginning of a line: `print` writes its end by itself."""

    def draw(self, text: str) -> None:
        with self._lock:
            if self._begun:
                return
            self._stream.write(_CLEARED + text[: shutil.get_terminal_size().columns - 1])
            self._stream.flush()
            self._drawn = True

    def write(self, text: str) -> int:
        """As the stream itself, for whoever has something to say meanwhile."""
        with self._lock:
            self._wipe()
            self._begun = not text.endswith("\n") if text else self._begun
            return self._stream.write(text)

    def wipe(self) -> None:
        with self._lock:
            self._wipe()
            self._stream.flush()

    def _wipe(self) -> None:
        if self._drawn:
            self._stream.write(_CLEARED)
            self._drawn = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def waiting(
    words: str, *, quiet: bool = False, after: float = QUIET_SECONDS, clock: Callable[[], float] = time.monotonic
) -> Generator[Waiting]:
    """Shows `Comparing raters, 5 s` on standard error while the block runs, from `after` seconds on; the line is gone
    when it ends."""
    told = Waiting(words)
    if quiet or not sys.stderr.isatty():
        yield told
        return
    line, ended = _Line(sys.stderr), threading.Event()
    drawing = threading.Thread(target=_draw, args=(told, line, ended, after, clock), daemon=True)
    drawing.start()
    try:
        with redirect_stderr(cast("TextIO", line)):
            yield told
    finally:
        ended.set()
        drawing.join()


def _draw(told: Waiting, line: _Line, ended: threading.Event, after: float, clock: Callable[[], float]) -> None:
    began = clock()
    if ended.wait(after):
        return
    while True:
        line.draw(f"{told.words}, {clock() - began:.0f} s")
        if ended.wait(REDRAW_SECONDS):
            break
    line.wipe()
