"""Recomputed tables as one page, Markdown or HTML: published, computed, difference, and what was printed wrongly."""

from collections.abc import Iterator, Sequence

from evenhand.domain.errors import EvenhandError
from evenhand.files.outputs import Place
from evenhand.format.charts import write_out
from evenhand.format.html import rendered
from evenhand.format.sheet import written
from evenhand.reports.papers.reproduce.printed import PrintedTable
from evenhand.reports.papers.reproduce.reproduction import Reproduction
from evenhand.reports.papers.reproduce.row_by_row import sheet

TITLE = "The papers' printed figures, recomputed"


class PageError(EvenhandError):
    """A page of recomputed tables that cannot be written as asked."""

    code = "EH-PAGE"


def write_page(found: Sequence[Reproduction], path: Place) -> None:
    """As the file's ending says. Raises PageError, and ChartError where it cannot be written."""
    makers = {".html": html_page, ".md": markdown_page}
    maker = makers.get(path.suffix.lower())
    if maker is None:
        raise PageError(f"A page is written as {' or '.join(makers)}, not as '{path.suffix or path.name}'.")
    write_out(path, maker(found).encode())


def markdown_page(found: Sequence[Reproduction]) -> str:
    parts = [f"# {TITLE}", *summary(found)]
    for one in found:
        parts.append(f"## {one.paper}")
        for table in one.tables:
            parts += [f"### {_name(table)}", table.what, *table.findings, written([sheet(table)], "md")]
    return "\n\n".join(parts).rstrip() + "\n"


def html_page(found: Sequence[Reproduction]) -> str:
    return rendered(
        "reports/papers/reproduce/page.html", title=TITLE, notes=summary(found), found=found, name=_name, sheet=sheet
    )


def summary(found: Sequence[Reproduction]) -> Iterator[str]:
    for one in found:
        rows = [row for table in one.tables for row in table.rows]
        noted = sum(row.note is not None for row in rows)
        unknown = sum(not row.ok for row in rows)
        ending = "as known" if one.ok else f"{unknown} rows differ in a way that is not known"
        yield f"{one.paper}: {len(one.tables)} tables, {len(rows)} rows, {noted} of them with a note; {ending}."


def _name(table: PrintedTable) -> str:
    return f"Table {table.table}" if table.table.isdigit() else table.table
