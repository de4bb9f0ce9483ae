"""Grade Scores as the paper's Tables 1 to 3: a row for each prompt, with and without the unrelated option."""

from typing import TYPE_CHECKING

from evenhand.domain.estimate import Estimate
from evenhand.format.sheet import MISSING, Sheet

if TYPE_CHECKING:
    from evenhand.reports.grade.report import GradeCell, GradeReport

MEASURES = {"grade": "Grade Score", "llm": "LLM Score", "choice": "Choice Score"}
"""In the order of the paper's tables."""


def measured(cell: "GradeCell", measure: str) -> Estimate:
    score = cell.score
    return {"grade": score.grade_score, "llm": score.llm_score, "choice": score.choice_score}[measure]


def row_names(report: "GradeReport") -> list[tuple[int, bool]]:
    """Prompt, and whether with the unrelated option, in the order of the paper's rows."""
    return sorted({(cell.prompt, cell.unrelated) for cell in report.cells})


def row_words(prompt: int, unrelated: bool) -> str:
    return f"prompt {prompt}, unrelated option" if unrelated else f"prompt {prompt}"


def tables(report: "GradeReport", *, intervals: bool = True) -> tuple[Sheet, ...]:
    judges = list(dict.fromkeys(cell.judge for cell in report.cells))
    at = {(cell.prompt, cell.unrelated, cell.judge): cell for cell in report.cells}
    sheets: list[Sheet] = []
    for number, (measure, title) in enumerate(MEASURES.items(), start=1):
        rows = tuple(
            (
                row_words(*row),
                *(_cell(at.get((*row, judge)), measure, intervals=intervals) for judge in judges),
            )
            for row in row_names(report)
        )
        about = f"{title} on {report.source} (the paper's Table {number})"
        sheets.append(Sheet(title=about, headings=("", *judges), rows=rows))
    return (*sheets, *_of_grades(report, intervals=intervals))


def _of_grades(report: "GradeReport", *, intervals: bool) -> tuple[Sheet, ...]:
    """How often the selection is the highest graded, of the prompts that ask for grades; none where no cell has any."""
    rows = tuple(
        (
            f"{cell.judge}, {row_words(cell.prompt, cell.unrelated)}",
            _figure(cell.highest.share, intervals=intervals),
            MISSING if cell.highest.at_random is None else f"{cell.highest.at_random:.3f}",
            f"{cell.highest.share.n:.0f}",
        )
        for cell in report.cells
        if cell.highest is not None
    )
    headings = ("", "share of choices", "drawn at random", "choices with grades")
    title = f"The selection is the highest graded, on {report.source}"
    return (Sheet(title=title, headings=headings, rows=rows),) if rows else ()


def _cell(cell: "GradeCell | None", measure: str, *, intervals: bool) -> str:
    return MISSING if cell is None else _figure(measured(cell, measure), intervals=intervals)


def _figure(found: Estimate, *, intervals: bool) -> str:
    if found.value is None:
        return MISSING
    if not intervals or found.lower is None or found.upper is None:
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.lower:.2f}, {found.upper:.2f}]"


def long_sheet(report: "GradeReport") -> Sheet:
    """One row a cell with every number in a column of its own, for programs."""
    headings = ("judge", "prompt", "unrelated", "policy", "readout", "rows", "incomplete_rows", *_NUMBERS)
    return Sheet(title=report.source, headings=headings, rows=tuple(map(_long_row, report.cells)))


_NUMBERS = (
    "grade_score", "grade_score_lower", "grade_score_upper",
    "llm_score", "llm_score_lower", "llm_score_upper",
    "choice_score", "choice_score_lower", "choice_score_upper",
    "chance", "above_chance", "above_chance_lower", "above_chance_upper",
    "unrelated_pick_rate", "human_agreement", "trials", "trials_read",
    "selection_is_highest_graded", "selection_is_highest_graded_lower", "selection_is_highest_graded_upper",
    "selection_is_highest_graded_at_random",
)  # fmt: skip


def _long_row(cell: "GradeCell") -> tuple[str, ...]:
    graded = {} if cell.highest is None else cell.highest.as_json()
    document = {**cell.score.as_json(), **cell.people.as_json("human_agreement"), **graded}
    numbers = (document.get(name) for name in _NUMBERS)
    return (
        cell.judge,
        str(cell.prompt),
        "yes" if cell.unrelated else "no",
        cell.score.policy,
        cell.readout,
        str(int(cell.score.rows.scored.sum())),
        str(cell.score.incomplete),
        *(MISSING if number is None else f"{number:.6g}" for number in numbers if not isinstance(number, str)),
    )
