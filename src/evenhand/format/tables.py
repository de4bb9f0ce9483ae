"""Words and lists as text for a terminal; plain where the output is not one."""

import textwrap
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape as escape_markup

from evenhand.format.printable import printable
from evenhand.format.words import unbroken


def console() -> Console:
    """Without rich's colouring of numbers, which means nothing here, and without its pictures for words like `:eye:`.

    Where a program reads, no line is folded.
    """
    made = Console(highlight=False, emoji=False)
    if not made.is_terminal:
        made.width = 1000
    return made


def escape(words: str) -> str:
    """Words that others wrote, shown as they are: neither markup nor steering the terminal."""
    return escape_markup(printable(words))


def fitted(line: str, width: int, *, margin: int = 0) -> str:
    """In lines of this width, folded between words and never before a per cent sign; `margin` indents all but one.

    A no-break space stays within its line and becomes a space.
    """
    indent = " " * min(margin, width // 2)
    lines = textwrap.wrap(unbroken(line), width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines).replace("\u00a0", " ")


def excerpt(words: str, most: int) -> str:
    """On one line of at most so many characters, cut at a space where there is one in the second half."""
    line = " ".join(words.split())
    if len(line) <= most:
        return line
    cut = line[: most - 2]
    whole = cut.rstrip() if line[most - 2] == " " else cut.rpartition(" ")[0]
    return f"{whole if 2 * len(whole) > most else cut} …"


def print_entries(entries: Iterable[tuple[str, Sequence[str]]], console: Console) -> None:
    """A heading for each, and below it its lines, indented and folded between words."""
    from rich.padding import Padding

    for heading, lines in entries:
        console.print(escape(heading), style="bold")
        for line in lines:
            console.print(Padding(escape(line), (0, 0, 0, 2), expand=False))


def print_rows(headings: Sequence[str], rows: Iterable[Sequence[str]], console: Console) -> None:
    """A plain table whose last column may wrap."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=place == 0)  # what one copies stays in one piece
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
