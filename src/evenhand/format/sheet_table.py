"""A table of words and numbers, printed; one too wide for the terminal with names folded, else in several parts."""

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
_NAME, _ONE_OF_SEVERAL = 26, 10
"""To how many places a column of names may be narrowed, where it is the only one and where it is one of several."""


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Names to the left, numbers to the right; each part begins with the names. No column is without a number."""
    sheet = sheet.known
    console.print(f"[bold]{escape(sheet.title)}[/bold]")
    console.print()
    whole = [_least_width(sheet, place) for place in range(len(sheet.headings))]
    least = _narrowed(whole, console.width, names=sheet.names)
    for columns in _parts(least, console.width, names=sheet.names):
        _print_part(sheet, columns, _widths(sheet, columns, least, console.width), console)


def _least_width(sheet: Sheet, place: int) -> int:
    """Of a column whose heading alone may be broken, at spaces."""
    words = [*printable(sheet.headings[place]).split(), *(printable(row[place]) for row in sheet.rows)]
    return max(map(cell_len, words), default=0)


def _narrowed(least: Sequence[int], width: int, *, names: int) -> list[int]:
    """With the widest names folded as far as lets all columns stand beside each other; as they are where nothing
    does, for then names need not be folded either."""
    widths, room = list(least), width - _GAP * (len(least) - 1)
    floor = _NAME if names == 1 else _ONE_OF_SEVERAL
    while sum(widths) > room:
        widest = max(range(names), key=widths.__getitem__)
        if widths[widest] <= floor:
            return widths if names == len(widths) else list(least)
        widths[widest] -= 1
    return widths


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
