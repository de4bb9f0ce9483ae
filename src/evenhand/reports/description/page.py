"""What benchmarks hold as one HTML page, pictures included: it needs nothing from anywhere else."""

from collections.abc import Sequence

from evenhand.describe.description import Description
from evenhand.files.outputs import Place
from evenhand.format.charts import svg, write_out
from evenhand.format.figure import in_page_colours
from evenhand.format.html import rendered
from evenhand.reports.description.charts import description_charts
from evenhand.reports.description.sheets import sheets


def write_page(described: Sequence[Description], notes: Sequence[str], path: Place) -> None:
    """Raises ChartError where it cannot be drawn or written."""
    write_out(path, description_page(described, notes).encode())


def description_page(described: Sequence[Description], notes: Sequence[str]) -> str:
    from markupsafe import Markup

    return rendered(
        "reports/description/page.html",
        title=f"What {' and '.join(one.name for one in described)} hold{'s' * (len(described) == 1)}",
        notes=notes,
        pictures=[
            Markup(in_page_colours(svg(chart)))  # noqa: S704  words are escaped where they are drawn
            for chart in description_charts(described).values()
        ],
        sheets=sheets(described),
    )
