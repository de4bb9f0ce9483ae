"""Recomputed tables as text for a terminal."""

from collections.abc import Iterator

from rich.console import Console

from evenhand.reports.reproduce.printed import Figures, Row, Table
from evenhand.reports.reproduce.reproduction import Reproduction
from evenhand.reports.tables import escape, print_rows, unbroken


def print_reproduction(found: Reproduction, console: Console) -> None:
    for table in found.tables:
        console.print(f"[bold]{escape(found.paper)}, {escape(table.table)}[/bold]  {escape(table.what)}")
        console.print()
        print_rows(_headings(table), map(_cells, table.rows), console)
        console.print()
        for sentence in table.findings:
            console.print(unbroken(escape(sentence)))
        wrong = sum(not row.ok for row in table.rows)
        if not table.ok:
            console.print(f"Not as known: {wrong} rows differ." if wrong else "Not as known.", style="bold red")
        console.print()


def _headings(table: Table) -> tuple[str, ...]:
    return ("row", *(f"{name}, {way}" for name, way in _columns(table)), "note")


def _columns(table: Table) -> Iterator[tuple[str, str]]:
    first = table.rows[0]
    yield from ((_words(name), "printed") for name in first.published)
    yield from ((_words(name), "computed") for name in first.computed)


def _cells(row: Row) -> tuple[str, ...]:
    return (row.row, *_numbers(row.published, None), *_numbers(row.computed, 4), row.note or "")


def _numbers(figures: Figures, places: int | None) -> Iterator[str]:
    """`places` None: with every digit that was printed, and two at least."""
    for value in figures.values():
        if value is None:
            yield "–"
        elif value == int(value):
            yield f"{value:.10g}"
        else:
            yield f"{value:.{places or max(2, len(str(value).partition('.')[2]))}f}"


def _words(name: str) -> str:
    return name.replace("_", " ")
