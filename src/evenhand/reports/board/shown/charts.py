"""A board as a picture: the ratings with their intervals, and under them who beats whom."""

import math
from typing import TYPE_CHECKING, Literal

from evenhand.domain.estimate import Estimate
from evenhand.files.outputs import Place
from evenhand.format.charts import Heading, Mark, interval_chart, matrix_chart, save, stacked
from evenhand.reports.board.shown.table import counted_units
from evenhand.stats.intervals import LEVEL

if TYPE_CHECKING:
    import altair as alt

    from evenhand.reports.board.board import Board, BoardRow

_NAMED = 5


def plot(board: "Board", path: Place) -> None:
    """Writes SVG, PNG or HTML by the path's suffix. Raises ChartError where that cannot be."""
    save(board_chart(board), path)


def board_chart(board: "Board") -> "alt.VConcatChart":
    """Raises ChartError where no model has a rating."""
    return stacked(ratings_chart(board), wins_chart(board))


def ratings_chart(board: "Board", *, narrow: bool = False) -> "alt.LayerChart":
    """Raises ChartError where no model has a rating."""
    return interval_chart(marks(board), _heading(board), axis=_axis(board), narrow=narrow)


def wins_chart(board: "Board") -> "alt.LayerChart":
    """Raises ChartError where no two models met."""
    observed = board.findings.observed
    place = {model: code for code, model in enumerate(observed.models)}
    order = [place[one.model] for one in board.models]
    shares = [[None if math.isnan(share) else float(share) for share in observed.share[row, order]] for row in order]
    heading = Heading(
        title="Share won by the row against the column",
        subtitle="a tie is half a win; light grey: never met; dark grey: itself",
    )
    return matrix_chart(list(_labels(board).values()), shares, heading)


def marks(board: "Board") -> list[Mark]:
    """Of the models that have a finite rating or at least a bound; a side without one reaches to infinity."""
    labels = _labels(board)
    return [
        Mark(
            model=labels[one.model],
            value=_shown(board, one),
            lower=_bound(one.rating, "lower"),
            upper=_bound(one.rating, "upper"),
            hollow=one.provisional,
        )
        for one in board.models
        if _drawn(one)
    ]


def _shown(board: "Board", one: "BoardRow") -> float | None:
    """What the board's order goes by."""
    return one.median if board.rated_by.by_median and one.median is not None else one.rating.value


def _axis(board: "Board") -> str:
    by_median = board.rated_by.by_median and any(one.median is not None for one in board.models)
    return f"{board.rated_by.title}{', median of the resamples' if by_median else ''}"


def _drawn(one: "BoardRow") -> bool:
    return one.rating.value is not None or one.rating.lower is not None or one.rating.upper is not None


def _components(board: "Board") -> int:
    return len({one.component for one in board.models if one.component is not None})


def _labels(board: "Board") -> dict[str, str]:
    """Of each model: its name, after the number of its component where there are several; a star if provisional."""
    several = _components(board) > 1
    return {
        one.model: (f"[{one.component}] " if several and one.component is not None else "")
        + one.model
        + ("*" if one.provisional else "")
        for one in board.models
    }


def _heading(board: "Board") -> Heading:
    about = " / ".join(filter(None, (board.origin.source, board.origin.benchmark, board.origin.judge)))
    lines = [f"{_intervals(board)}; {counted_units(board)}"]
    if _components(board) > 1:
        lines.append(f"[1] to [{_components(board)}]: components that no battle joins, which cannot be compared")
    if any(one.rating.value is None and _drawn(one) for one in board.models):
        lines.append("an arrow without a point: no finite rating, only a bound")
    if any(one.provisional for one in board.models):
        lines.append("* and hollow: provisional, too few battles for Elo to have left its start")
    absent = [one.model for one in board.models if not _drawn(one)]
    if absent:
        more = f" and {len(absent) - _NAMED} more" if len(absent) > _NAMED else ""
        lines.append(f"not drawn, without a finite rating: {', '.join(absent[:_NAMED])}{more}")
    return Heading(title=f"Ratings: {about}", subtitle="\n".join(lines))


def _intervals(board: "Board") -> str:
    """What the lines are, or why there are none."""
    level = f"{100 * LEVEL:g} % intervals"
    clusters = "every row for itself" if board.clusters.by == "row" else board.clusters.named.partition(":")[0]
    resampled = any(one.median is not None for one in board.models)
    if any(one.rating.value is not None and _bounded(one.rating) for one in board.models):
        return f"{level} from resamples" if resampled else f"{level}, {clusters}"
    why = board.rated_by.too_few if resampled else board.rated_by.no_interval
    if why:
        return f"no intervals: {why}"
    return f"no intervals: too few {'rows' if board.items is None else 'items'} for so many models"


def _bounded(rating: Estimate) -> bool:
    return rating.lower is not None or rating.upper is not None or rating.unbounded is not None


def _bound(rating: Estimate, side: Literal["lower", "upper"]) -> float | None:
    if rating.unbounded in (side, "both"):
        return math.inf if side == "upper" else -math.inf
    return rating.upper if side == "upper" else rating.lower
