"""A table of words and numbers, printed; one too wide for the terminal in several parts, so that no word is broken."""

from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from evenhand.format.printable import printable
from evenhand.format.sheet import Sheet
from evenhand.format.tables import escape

_GAP = 3
"""Between two columns."""


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Names to the left, numbers to the right; each part begins with the names. No column is without a number."""
    sheet = sheet.known
    console.print(f"[bold]{escape(sheet.title)}[/bold]")
    console.print()
    least = [_least_width(sheet, place) for place in range(len(sheet.headings))]
    for columns in _parts(least, console.width, names=sheet.names):
        _print_part(sheet, columns, _widths(sheet, columns, least, console.width), console)


def _least_width(sheet: Sheet, place: int) -> int:
    """Of a column whose heading alone may be broken, at spaces."""
    words = [*printable(sheet.headings[place]).split(), *(printable(row[place]) for row in sheet.rows)]
    return max(map(cell_len, words), default=0)


def _parts(least: Sequence[int], width: int, *, names: int) -> list[list[int]]:
    """The columns that fit beside each other, in order; those of names are in every part."""
    first = list(range(names))
    beside = width - sum(least[place] for place in first) - _GAP * (names - 1)
    parts, room = [[*first]], beside
    for place in range(names, len(least)):
        needed = least[place] + _GAP
        if needed > room and len(parts[-1]) > names:
            parts.append([*first])
            room = beside
        parts[-1].append(place)
        room -= needed
    return parts


def _widths(sheet: Sheet, columns: Sequence[int], least: Sequence[int], width: int) -> dict[int, int]:
    """With headings on one line as long as there is room."""
    spare = width - sum(least[place] for place in columns) - _GAP * (len(columns) - 1)
    widths: dict[int, int] = {}
    for place in columns:
        more = max(0, cell_len(printable(sheet.headings[place])) - least[place])
        more = more if more <= spare else 0
        spare -= more
        widths[place] = least[place] + more
    # A name wider than the terminal has to be folded.
    widths[0] = max(1, min(widths[0], widths[0] + spare))
    return widths


def _print_part(sheet: Sheet, columns: Sequence[int], widths: dict[int, int], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place in columns:
        justify = "left" if place < sheet.names else "right"
        table.add_column(escape(sheet.headings[place]), justify=justify, overflow="fold", width=widths[place])
    for row in sheet.rows:
        table.add_row(*(escape(row[place]) for place in columns))
    console.print(table)
    console.print()
