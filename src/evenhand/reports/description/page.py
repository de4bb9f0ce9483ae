"""What benchmarks hold as one HTML page, pictures included: it needs nothing from anywhere else."""

from collections.abc import Sequence
from importlib.resources import files

from evenhand.describe.description import Description
from evenhand.files.outputs import Place
from evenhand.format.charts import svg, write_out
from evenhand.format.figure import in_page_colours
from evenhand.format.sheet_html import html_table, html_text
from evenhand.prompts import Template
from evenhand.reports.description.charts import description_charts
from evenhand.reports.description.sheets import sheets

_FILE = "page.html"


def write_page(described: Sequence[Description], notes: Sequence[str], path: Place) -> None:
    """Raises ChartError where it cannot be drawn or written."""
    write_out(path, description_page(described, notes).encode())


def description_page(described: Sequence[Description], notes: Sequence[str]) -> str:
    written = files("evenhand.reports.description").joinpath(_FILE).read_text(encoding="utf-8")
    template = Template.parse(written, source=_FILE)
    drawn = [f"<figure>{in_page_colours(svg(chart))}</figure>" for chart in description_charts(described).values()]
    return template.fill(
        {
            "title": html_text(f"What {' and '.join(one.name for one in described)} hold{'s' * (len(described) == 1)}"),
            "notes": "\n".join(f"<li>{html_text(note)}</li>" for note in notes),
            "pictures": "\n".join(drawn),
            "tables": "\n".join(map(html_table, sheets(described))),
        }
    )
