"""A recomputed table as rows of text: of each figure what was printed, what was computed, and the difference."""

from collections.abc import Iterator, Mapping, Sequence

from evenhand.format.sheet import MISSING, Sheet
from evenhand.reports.papers.reproduce.printed import PrintedRow, PrintedTable


def sheet(table: PrintedTable, marks: Mapping[str, str] | None = None) -> Sheet:
    """`marks`: what stands for a note in its column, the note itself by default."""
    published, computed = table.rows[0].published, table.rows[0].computed
    names = list(dict.fromkeys((*published, *computed)))
    headings = ["row"]
    for name in names:
        ways = [way for way, has in (("printed", published), ("computed", computed)) if name in has]
        headings += [f"{name.replace('_', ' ')}, {way}" for way in ways]
        headings += [f"{name.replace('_', ' ')}, difference"] if len(ways) == 2 else []
    rows = [[row.row, *_cells(row, names)] for row in table.rows]
    if any(row.note for row in table.rows):
        headings.append("note")
        rows = [[*cells, _mark(row, marks)] for cells, row in zip(rows, table.rows, strict=True)]
    return Sheet(title="Row by row", headings=tuple(headings), rows=tuple(map(tuple, rows)))


def _mark(row: PrintedRow, marks: Mapping[str, str] | None) -> str:
    return "" if row.note is None else row.note if marks is None else marks[row.note]


def _cells(row: PrintedRow, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name in row.published:
            yield _in_digits(row.published[name], None)
        if name in row.computed:
            yield _in_digits(row.computed[name], 4)
        if name in row.published and name in row.computed:
            difference = row.difference(name)
            yield MISSING if difference is None else f"{difference:+.4f}"


def _in_digits(value: float | None, places: int | None) -> str:
    """`places` None: with every digit that was printed, and two at least."""
    if value is None:
        return MISSING
    if value == int(value):
        return f"{value:.10g}"
    return f"{value:.{places or max(2, len(str(value).partition('.')[2]))}f}"
