"""A table of words and numbers, printed."""

from rich import box
from rich.console import Console
from rich.table import Table

from evenhand.reports.sheet import Sheet
from evenhand.reports.tables import escape


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Names to the left, numbers to the right."""
    console.print(f"[bold]{escape(sheet.title)}[/bold]")
    console.print()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, heading in enumerate(sheet.headings):
        table.add_column(escape(heading), justify="left" if place == 0 else "right", overflow="fold")
    for row in sheet.rows:
        table.add_row(*map(escape, row))
    console.print(table)
    console.print()
