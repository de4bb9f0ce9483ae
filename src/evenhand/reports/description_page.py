"""What benchmarks hold as one HTML page, pictures included: it needs nothing from anywhere else."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from evenhand.describe.description import Description
from evenhand.domain.printable import printable
from evenhand.prompts import Template
from evenhand.reports.audit_section import in_page_colours
from evenhand.reports.charts import svg, write_whole
from evenhand.reports.description_charts import description_charts
from evenhand.reports.description_sheets import sheets
from evenhand.reports.sheet import Sheet

_FILE = "description_page.html"


def write_page(described: Sequence[Description], notes: Sequence[str], path: Path) -> None:
    """Raises ChartError where it cannot be drawn or written."""
    write_whole(path, description_page(described, notes).encode())


def description_page(described: Sequence[Description], notes: Sequence[str]) -> str:
    template = Template.parse(files("evenhand.reports").joinpath(_FILE).read_text(encoding="utf-8"), source=_FILE)
    drawn = [f"<figure>{in_page_colours(svg(chart))}</figure>" for chart in description_charts(described).values()]
    return template.fill(
        {
            "title": _shown(f"What {' and '.join(one.name for one in described)} hold{'s' * (len(described) == 1)}"),
            "notes": "\n".join(f"<li>{_shown(note)}</li>" for note in notes),
            "pictures": "\n".join(drawn),
            "tables": "\n".join(map(_table, sheets(described))),
        }
    )


def _table(sheet: Sheet) -> str:
    heads = "".join(f'<th scope="col">{_shown(heading)}</th>' for heading in sheet.headings)
    rows = "\n".join(_row(row) for row in sheet.rows)
    return (
        f'<h2>{_shown(sheet.title)}</h2>\n<div class="eh-table"><table>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _row(cells: Sequence[str]) -> str:
    first, *others = map(_shown, cells)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'


def _shown(text: str) -> str:
    return escape(printable(text))
