"""Scores made by hand for the tests of the report: judges who are steady in so many of their rows."""

from evenhand.domain.estimate import Estimate
from evenhand.reports.grade.report import GradeCell
from evenhand.stats.reliability.coverage import Coverage
from evenhand.stats.reliability.grade_score.comparison import run_spread
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, rotations
from evenhand.stats.reliability.grade_score.score import grade_score

ROWS = 30


def rows(
    steady: int, *, unrelated: bool = False, replicate: int = 0, unread: int = 0, distracted: bool = False
) -> list[OptionRow]:
    """Of ROWS rows of three options the first so many follow the content, the others always pick the first place.

    `distracted`: in the last trial, where the unrelated option stands first, it is taken.
    """
    shown = rotations(3 + unrelated, unrelated=unrelated)
    favourite = tuple(order.index(0) for order in shown)
    if distracted:
        favourite = (*favourite[:-1], 0)
    first = tuple(0 for _ in shown)
    made: list[OptionRow] = []
    for number in range(ROWS):
        places: tuple[int | None, ...] = favourite if number < steady else first
        if number >= ROWS - unread:
            places = (None, *places[1:])
        made.append(OptionRow(item=str(number), selected_positions=places, unrelated=unrelated, replicate=replicate))
    return made


def cell(
    steady: int,
    *,
    judge: str = "openai/gpt-4o",
    prompt: int = 1,
    unrelated: bool = False,
    runs: tuple[int, ...] = (),
    unread: int = 0,
    distracted: bool = False,
) -> GradeCell:
    """`runs`: how many rows were steady in each further replicate."""
    made = rows(steady, unrelated=unrelated, unread=unread, distracted=distracted)
    for replicate, others in enumerate(runs, start=1):
        made += rows(others, unrelated=unrelated, replicate=replicate)
    score = grade_score(made)
    return GradeCell(
        judge=judge,
        prompt=prompt,
        unrelated=unrelated,
        readout="free",
        score=score,
        own=grade_score(made, remove_unrelated=True) if unrelated else None,
        people=Estimate(value=None, reason="nobody ranked"),
        coverage=Coverage(wanted=score.trials, with_verdict=score.trials_read, reasons={"refused": unread}),
        spread=run_spread(made) if runs else None,
        notes=(),
    )
