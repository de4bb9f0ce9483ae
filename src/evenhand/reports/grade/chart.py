"""The paper's three tables as heat maps: prompts down, judges across."""

from typing import TYPE_CHECKING, Any

from evenhand.files.outputs import Place
from evenhand.format.charts import Heading, heat_chart, save, stacked
from evenhand.reports.grade.sheets import MEASURES, measured, row_names, row_words

if TYPE_CHECKING:
    from evenhand.reports.grade.report import GradeReport


def plot(report: "GradeReport", path: Place) -> None:
    """Writes SVG, PNG or HTML by the path's suffix. Raises ChartError where that cannot be."""
    save(grade_chart(report), path)


def grade_chart(report: "GradeReport") -> Any:
    judges = list(dict.fromkeys(cell.judge for cell in report.cells))
    rows = row_names(report)
    at = {(cell.prompt, cell.unrelated, cell.judge): cell for cell in report.cells}
    charts = [
        heat_chart(
            [row_words(*row) for row in rows],
            judges,
            [
                [measured(cell, measure).value if (cell := at.get((*row, judge))) else None for judge in judges]
                for row in rows
            ],
            Heading(title=title, subtitle=report.source),
        )
        for measure, title in MEASURES.items()
    ]
    return stacked(*charts)
