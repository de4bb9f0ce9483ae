"""Recomputed tables as text for a terminal."""

from string import ascii_lowercase

from rich.console import Console

from evenhand.format.sheet import Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.tables import escape
from evenhand.format.words import unbroken
from evenhand.reports.papers.reproduce.printed import PrintedTable
from evenhand.reports.papers.reproduce.reproduction import Reproduction
from evenhand.reports.papers.reproduce.row_by_row import sheet

_GAP = 3
"""Between two columns."""


def print_reproduction(found: Reproduction, console: Console) -> None:
    """Of each table what it shows, then row by row."""
    for table in found.tables:
        name = f"Table {table.table}" if table.table.isdigit() else table.table
        console.print(f"[bold]{escape(found.paper)}, {escape(name)}[/bold]")
        console.print(unbroken(escape(table.what)), style="dim")
        console.print()
        for sentence in table.findings:
            console.print(unbroken(escape(sentence)))
        wrong = sum(not row.ok for row in table.rows)
        if not table.ok:
            console.print(f"Not as known: {wrong} rows differ." if wrong else "Not as known.", style="bold red")
        if table.findings or not table.ok:
            console.print()
        _print_rows(table, console)


def _print_rows(table: PrintedTable, console: Console) -> None:
    """Notes stand beside the rows where there is room for them, else below, by letter."""
    marks = {row.note: row.note for row in table.rows if row.note}
    if _width(sheet(table, marks)) > console.width:
        marks = {note: _letters(number) for number, note in enumerate(marks)}
    print_sheet(sheet(table, marks), console)
    for note, mark in marks.items():
        if mark != note:
            console.print(f"{mark}  {unbroken(escape(note))}")
    if any(mark != note for note, mark in marks.items()):
        console.print()


def _width(shown: Sheet) -> int:
    """Of the whole table with headings broken at spaces."""
    columns = zip(*shown.rows, strict=True)
    least = [max(map(len, [*heading.split(), *cells])) for heading, cells in zip(shown.headings, columns, strict=True)]
    return sum(least) + _GAP * (len(least) - 1)


def _letters(number: int) -> str:
    """a to z, then aa, ab …"""
    more, last = divmod(number, len(ascii_lowercase))
    return (_letters(more - 1) if more else "") + ascii_lowercase[last]
