"""Sentences on standard error, folded between words where a person reads them; what they advise can be typed here."""

import re
import shlex
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

OF_LEDGER = frozenset(
    (
        "align", "answer", "audit", "correlate", "demo", "describe-images", "export", "grade", "growing", "import",
        "judge", "ledger", "people", "publish", "rank", "report", "runs", "sample", "score", "serve", "show",
        "submissions", "worker",
    )
)  # fmt: skip
"""Commands with --store."""
_ALONE = frozenset(("runs", "serve", "worker"))
"""Those of them that need no further word; others named without one are only spoken of."""
_OF_FILES = frozenset(("align", "rank", "report"))
"""Those that need no ledger where a file follows."""
_ADVICE = re.compile(r"`(?P<command>evenhand (?P<name>[a-z-]+)(?P<rest>[^`]*))`")


def say(sentence: str) -> None:
    click.echo(folded(printable(typeable(sentence))), err=True)


def typeable(sentence: str) -> str:
    """With the ledger that this command was told to use in each command that the sentence advises and that needs one:
    as it stands it would look into the usual one. A variable or a file of settings holds for the next command too, and
    is advised where the address holds a password."""
    store = _store(sys.argv[1:])
    if store is None:
        return sentence
    from evenhand.ledger.store.opening import NOT_REPEATED, holds_password

    whole = _ADVICE.sub(lambda found: _with_store(found, store), sentence)
    if whole == sentence or not holds_password(store):
        return whole
    return f"{sentence} {NOT_REPEATED}"


def _with_store(found: re.Match[str], store: str) -> str:
    name, rest = found["name"], found["rest"].strip()
    of_file = name in _OF_FILES and rest and not rest.startswith("--")
    names_both = f"{name} {rest}".startswith("ledger copy ")
    if name not in OF_LEDGER or "--store" in rest or of_file or names_both or not (rest or name in _ALONE):
        return found[0]
    return f"`{found['command'].rstrip()} --store {shlex.quote(store)}`"


def _store(words: list[str]) -> str | None:
    """What was typed; None where nothing was."""
    given = None
    for place, word in enumerate(words):
        if word == "--store" and place + 1 < len(words):
            given = words[place + 1]
        elif word.startswith("--store="):
            given = word.partition("=")[2]
    return given


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
