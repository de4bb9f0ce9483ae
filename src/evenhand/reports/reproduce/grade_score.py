"""Grade Score: its printed Table 1 beside the harmonic mean of Tables 2 and 3."""

from evenhand.reports.reproduce.printed import Row, Table, figures

PRINTED = 0.00005
"""Half of the last printed decimal: how far rounding alone can move a cell."""


def tables() -> tuple[Table, ...]:
    rows = tuple(map(_cell, figures("grade_tables")))
    gaps = [abs(row.difference("grade_score") or 0.0) for row in rows]
    equal, near = sum(gap <= 0.0005 for gap in gaps), sum(gap <= 0.005 for gap in gaps)
    impossible = [row.row for row in rows if row.note]
    return (
        Table(
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
        ),
    )


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
