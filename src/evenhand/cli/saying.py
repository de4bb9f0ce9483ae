"""Sentences on standard error, folded between words where a person reads them."""

import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO

import click

from evenhand.format.printable import printable


def say(sentence: str) -> None:
    click.echo(folded(printable(sentence)), err=True)


def folded(sentence: str, stream: TextIO | None = None) -> str:
    """As it is where a program reads; in a terminal no line is cut within a word, unless the word is longer.

    `stream`: where it is to be printed; on standard error if none is given.
    """
    if not (stream or sys.stderr).isatty():
        return sentence
    width = shutil.get_terminal_size().columns
    lines = (textwrap.wrap(line, width, break_on_hyphens=False) or [""] for line in sentence.split("\n"))
    return "\n".join(part for line in lines for part in line)


_SLOW, _AGAIN = 2.0, 10.0
"""Seconds after which somebody who waits is told so, and from one time to the next."""


@contextmanager
def still(what: str, *, quiet: bool = False, after: float = _SLOW) -> Generator[None]:
    """Tells on standard error of what takes longer than two seconds ("Reading items.csv … 12 s")."""
    if quiet:
        yield
        return
    ended, begun = threading.Event(), time.monotonic()

    def tell() -> None:
        wait = after
        while not ended.wait(wait):
            say(f"{what} … {time.monotonic() - begun:.0f} s")
            wait = _AGAIN

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
