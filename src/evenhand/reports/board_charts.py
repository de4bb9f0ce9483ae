"""A board as a picture: the ratings with their intervals, and under them who beats whom."""

import math
from pathlib import Path
from typing import Literal

from evenhand.domain.estimate import Estimate
from evenhand.reports.board import Board
from evenhand.reports.board_table import METHOD_WORDS
from evenhand.reports.charts import Heading, Mark, interval_chart, matrix_chart, save, stacked


def plot(board: Board, path: Path) -> None:
    """Writes SVG, PNG or HTML by the path's suffix. Raises ChartError where that cannot be."""
    drawn = marks(board)
    ratings = interval_chart(drawn, _heading(board, len(drawn)), axis=METHOD_WORDS[board.method])
    observed = board.findings.observed
    place = {model: code for code, model in enumerate(observed.models)}
    order = [place[one.model] for one in board.models]
    shares = [[None if math.isnan(share) else float(share) for share in observed.share[row, order]] for row in order]
    wins = matrix_chart(
        [one.model for one in board.models], shares, Heading(title="Share won by the row against the column")
    )
    save(stacked(ratings, wins), path)


def marks(board: Board) -> list[Mark]:
    """Of the models that have a finite rating; a side without a bound reaches to infinity."""
    return [
        Mark(
            model=one.model,
            value=one.rating.value,
            lower=_bound(one.rating, "lower"),
            upper=_bound(one.rating, "upper"),
        )
        for one in board.models
        if one.rating.value is not None
    ]


def _heading(board: Board, drawn: int) -> Heading:
    about = " / ".join(filter(None, (board.origin.source, board.origin.benchmark, board.origin.judge)))
    absent = len(board.models) - drawn
    words = f"without {absent} that {'has' if absent == 1 else 'have'} no finite rating" if absent else ""
    return Heading(title=f"Ratings: {about}", subtitle=words)


def _bound(rating: Estimate, side: Literal["lower", "upper"]) -> float | None:
    if rating.unbounded in (side, "both"):
        return math.inf if side == "upper" else -math.inf
    return rating.upper if side == "upper" else rating.lower
