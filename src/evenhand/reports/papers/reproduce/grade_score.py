"""Grade Score: values worked by hand, and its printed Table 1 beside the harmonic mean of Tables 2 and 3."""

from collections import Counter
from collections.abc import Iterator, Sequence

from evenhand.reports.papers.reproduce.printed import Figures, PrintedRow, PrintedTable, figures
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, rotations
from evenhand.stats.reliability.grade_score.score import grade_score

PRINTED = 0.00005
"""Half of the last printed decimal: how far rounding alone can move a cell."""

SPREAD = 0.12
"""The most by which a score changed from run to run, as the authors say."""

_FAVOURITE = tuple(order.index(1) for order in rotations(4))
"""The places where a judge finds the one option it always takes, trial by trial."""

# What the authors' code gives for each (spec C3): Grade Score, LLM Score, Choice Score.
_WORKED: dict[str, tuple[tuple[int | None, ...], tuple[float, float, float]]] = {
    "perfectly consistent": (_FAVOURITE, (1, 1, 1)),
    "always the first position": ((0, 0, 0, 0), (0, 0, 0.25)),
    "three consistent, then the first position": ((*_FAVOURITE[:3], 0), (0.75, 0.75, 0.75)),
    "three consistent, one unread": ((*_FAVOURITE[:3], None), (0.884228, 0.792481, 1)),
    "none read": ((None, None, None, None), (0, 0, 0)),
    "two options, always the first position": ((0, 0), (0, 0, 0.5)),
}
_LAST_DIGIT = 5e-7

IMPOSSIBLE = "impossible: above the harmonic mean of its parts"
OUTSIDE = "outside its own two parts"
MISPRINT = "certainly a misprint"
BEST = "claude-3-opus"


def tables() -> tuple[PrintedTable, ...]:
    return (_worked_values(), _table_1())


def _table_1() -> PrintedTable:
    printed = figures("grade_tables")
    rows = tuple(map(_cell, printed))
    gaps = [abs(row.difference("grade_score") or 0.0) for row in rows]
    equal, near = sum(gap <= 0.0005 for gap in gaps), sum(gap <= 0.005 for gap in gaps)
    impossible = [row.row for row in rows if row.note and row.note.startswith(IMPOSSIBLE)]
    outside = sum(row.note is not None and OUTSIDE in row.note for row in rows)
    misprints = [row.row for row in rows if row.note and MISPRINT in row.note]
    better, pairs = _better_with_the_unrelated_option(printed)
    highest = Counter(_highest(printed))
    return PrintedTable(
        table="1",
        what="The harmonic mean of Tables 2 and 3, which bounds a mean of harmonic means from above. "
        "“+ unrelated”: with the unrelated option among the others.",
        rows=rows,
        findings=(
            f"{equal} of {len(rows)} cells equal the harmonic mean of their two parts, {near} lie within 0.005.",
            f"{len(impossible)} cells are impossible: the mean of the rows' harmonic means cannot exceed the "
            f"harmonic mean of the means. {'; '.join(impossible)}.",
            f"{outside} cells lie outside the two parts they are made of, above both or below both.",
            f"A misprint beyond the authors' own spread from run to run ({SPREAD}): {', '.join(misprints)}.",
            "So the three tables do not come from one run, and no cell can serve as an exact test.",
            f"“The random option consistently improves” the score: it does in {better} of {pairs} pairs of model and "
            "prompt.",
            f"“{BEST} consistently highest”: in {highest[BEST]} of {highest.total()} rows of the table.",
            "Table 1 heads GPT-4 with the date 2024-01-09, where the paper names GPT-4-2024-04-09 as the model asked.",
        ),
        expected=(equal, len(impossible), outside, len(misprints)) == (0, 15, 27, 1)
        and (better, pairs, highest[BEST], highest.total()) == (31, 40, 4, 8),
    )


def _worked_values() -> PrintedTable:
    return PrintedTable(
        table="worked values",
        what="Single rows of four options (of two, where it says so) scored as the authors' code counts them.",
        rows=tuple(_worked(name, *case) for name, case in _WORKED.items()),
        findings=(
            "An unread trial raises the Choice Score and lowers the LLM Score; `strict` gives such a row no score, and "
            "bounds instead.",
        ),
    )


def _worked(name: str, places: tuple[int | None, ...], known: tuple[float, float, float]) -> PrintedRow:
    score = grade_score([OptionRow(item=name, selected_positions=places)], policy="gradelab")
    names = ("grade_score", "llm_score", "choice_score")
    values = (score.grade_score.value, score.llm_score.value, score.choice_score.value)
    close = [value is not None and abs(value - one) <= _LAST_DIGIT for value, one in zip(values, known, strict=True)]
    published: Figures = dict[str, float | None](zip(names, known, strict=True))
    computed: Figures = dict[str, float | None](zip(names, values, strict=True))
    return PrintedRow(row=name, published=published, computed=computed, ok=all(close))


def _cell(printed: dict[str, str]) -> PrintedRow:
    grade, llm, choice = (float(printed[name]) for name in ("grade_score", "llm_score", "choice_score"))
    harmonic = 2 * llm * choice / (llm + choice)
    option = " + unrelated" if printed["unrelated"] == "yes" else ""
    return PrintedRow(
        row=f"prompt {printed['prompt']}{option}, {printed['model']}",
        published={"grade_score": grade},
        computed={"grade_score": harmonic},
        note=_fault(grade, harmonic, (llm, choice)),
    )


def _fault(grade: float, harmonic: float, parts: tuple[float, float]) -> str | None:
    if grade < min(parts) - 2 * PRINTED:
        return f"{OUTSIDE}, below"
    if grade <= harmonic + 2 * PRINTED:
        return None
    both = f", and {OUTSIDE}" if grade > max(parts) + 2 * PRINTED else ""
    misprint = f"; {MISPRINT}" if grade > harmonic + SPREAD else ""
    return f"{IMPOSSIBLE}{both}{misprint}"


def _better_with_the_unrelated_option(printed: Sequence[dict[str, str]]) -> tuple[int, int]:
    """Of how many pairs of model and prompt."""
    with_it, without = (
        {(one["prompt"], one["model"]): float(one["grade_score"]) for one in printed if one["unrelated"] == given}
        for given in ("yes", "no")
    )
    return sum(with_it[pair] > score for pair, score in without.items()), len(without)


def _highest(printed: Sequence[dict[str, str]]) -> Iterator[str]:
    """The model with the highest score, of each row of the paper's table."""
    of_row: dict[tuple[str, str], list[dict[str, str]]] = {}
    for one in printed:
        of_row.setdefault((one["prompt"], one["unrelated"]), []).append(one)
    for cells in of_row.values():
        yield max(cells, key=lambda one: float(one["grade_score"]))["model"]
