"""Grade Score: values worked by hand, and its printed Table 1 beside the harmonic mean of Tables 2 and 3."""

from evenhand.reliability.grade_score import grade_score
from evenhand.reliability.option_rows import OptionRow, rotations
from evenhand.reports.reproduce.printed import Figures, Row, Table, figures

PRINTED = 0.00005
"""Half of the last printed decimal: how far rounding alone can move a cell."""

_FAVOURITE = tuple(order.index(1) for order in rotations(4))
"""The places where a judge finds the one option it always takes, trial by trial."""

# What the authors' code gives for each (spec C3): Grade Score, LLM Score, Choice Score.
_WORKED: dict[str, tuple[tuple[int | None, ...], tuple[float, float, float]]] = {
    "perfectly consistent": (_FAVOURITE, (1, 1, 1)),
    "always the first place": ((0, 0, 0, 0), (0, 0, 0.25)),
    "three consistent, then the first place": ((*_FAVOURITE[:3], 0), (0.75, 0.75, 0.75)),
    "three consistent, one unread": ((*_FAVOURITE[:3], None), (0.884228, 0.792481, 1)),
    "none read": ((None, None, None, None), (0, 0, 0)),
    "two options, always the first place": ((0, 0), (0, 0, 0.5)),
}
_LAST_DIGIT = 5e-7


def tables() -> tuple[Table, ...]:
    return (_worked_values(), _table_1())


def _table_1() -> Table:
    rows = tuple(map(_cell, figures("grade_tables")))
    gaps = [abs(row.difference("grade_score") or 0.0) for row in rows]
    equal, near = sum(gap <= 0.0005 for gap in gaps), sum(gap <= 0.005 for gap in gaps)
    impossible = [row.row for row in rows if row.note]
    return Table(
        table="1",
        what="The harmonic mean of Tables 2 and 3, which bounds a mean of harmonic means from above.",
        rows=rows,
        findings=(
            f"{equal} of {len(rows)} cells equal the harmonic mean of their two parts, {near} lie within 0.005.",
            f"{len(impossible)} cells are impossible: the mean of the rows' harmonic means cannot exceed the "
            f"harmonic mean of the means. {'; '.join(impossible)}.",
            "So the three tables do not come from one run, and no cell can serve as an exact test.",
        ),
        expected=equal == 0 and len(impossible) == 15,
    )


def _worked_values() -> Table:
    return Table(
        table="worked values",
        what="Single rows of four options (of two, where it says so) scored as the authors' code counts them.",
        rows=tuple(_worked(name, *case) for name, case in _WORKED.items()),
        findings=(
            "An unread trial raises the Choice Score and lowers the LLM Score; `strict` gives such a row no score, and "
            "bounds instead.",
        ),
    )


def _worked(name: str, places: tuple[int | None, ...], known: tuple[float, float, float]) -> Row:
    score = grade_score([OptionRow(item=name, selected_positions=places)], policy="gradelab")
    names = ("grade_score", "llm_score", "choice_score")
    values = (score.grade_score.value, score.llm_score.value, score.choice_score.value)
    close = [value is not None and abs(value - one) <= _LAST_DIGIT for value, one in zip(values, known, strict=True)]
    published: Figures = dict[str, float | None](zip(names, known, strict=True))
    computed: Figures = dict[str, float | None](zip(names, values, strict=True))
    return Row(row=name, published=published, computed=computed, ok=all(close))


def _cell(printed: dict[str, str]) -> Row:
    grade, llm, choice = (float(printed[name]) for name in ("grade_score", "llm_score", "choice_score"))
    harmonic = 2 * llm * choice / (llm + choice)
    option = " with the unrelated option" if printed["unrelated"] == "yes" else ""
    return Row(
        row=f"prompt {printed['prompt']}{option}, {printed['model']}",
        published={"grade_score": grade},
        computed={"grade_score": harmonic},
        note=None if grade <= harmonic + 2 * PRINTED else "impossible: above the harmonic mean of its parts",
    )
