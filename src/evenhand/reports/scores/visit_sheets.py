"""VisIT-Bench's leaderboard as tables."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.response import REFERENCE
from evenhand.reports.scores.visit_bench import Part, Standing, VisitScore
from evenhand.reports.sheet import MISSING, Sheet

By: TypeAlias = Literal["skill", "source"]

_PART_WORDS = {"single": "single-image", "multiple": "multi-image"}


def board_sheets(score: VisitScore) -> tuple[Sheet, ...]:
    """Single- and multi-image items apart, as the published boards are."""
    return tuple(_board(score, part) for part in score.by_images)


def wide_sheet(score: VisitScore) -> Sheet:
    """All boards in one table, for a file that holds one."""
    resampled = _resampled(score.by_images)
    return Sheet(
        title=score.benchmark,
        headings=("images", "items", *_headings(resampled=resampled)),
        rows=tuple(
            (_PART_WORDS[part.name], str(part.items), *_row(one, resampled=resampled))
            for part in score.by_images
            for one in part.standings
        ),
    )


def breakdown_sheet(score: VisitScore, by: By) -> Sheet:
    """Win rate against the reference, ties left out, of every model in every part; Elo where no reference plays."""
    parts = score.by_skill if by == "skill" else score.by_source
    models = [one.model for one in score.whole.standings if one.model != REFERENCE]
    referenced = any(one.win_vs_reference.value is not None for one in score.whole.standings)
    what = "Elo, one pass"
    if referenced:
        what = "win vs reference (ties left out), n in brackets"
        what += "; Elo where it does not play" if any(part.of(REFERENCE) is None for part in parts) else ""
    return Sheet(
        title=f"{score.benchmark} by {by}: {what}",
        headings=(by, "items", *models),
        rows=tuple((part.name, str(part.items), *_cells(part, models, referenced=referenced)) for part in parts),
    )


def _cells(part: Part, models: Sequence[str], *, referenced: bool) -> list[str]:
    cells: list[str] = []
    for model in models:
        one = part.of(model)
        if one is None:
            cells.append(MISSING)
        elif part.of(REFERENCE) is not None:
            rate = one.win_vs_reference
            cells.append(MISSING if rate.value is None else f"{100 * rate.value:.1f} % ({rate.n:.0f})")
        else:
            cells.append(f"Elo {_points(one.elo.value)}" if referenced else _points(one.elo.value))
    return cells


def _board(score: VisitScore, part: Part) -> Sheet:
    resampled = _resampled([part])
    return Sheet(
        title=f"{score.benchmark}, {_PART_WORDS[part.name]} ({part.items} items)",
        headings=_headings(resampled=resampled),
        rows=tuple(_row(one, resampled=resampled) for one in part.standings),
    )


def _resampled(parts: Sequence[Part]) -> bool:
    return any(one.elo_median is not None for part in parts for one in part.standings)


def _headings(*, resampled: bool) -> tuple[str, ...]:
    spread = ("median", "95 % interval") if resampled else ()
    return ("model", "Elo", *spread, "matches", "win vs reference", "its interval", "n", "ties", "Bradley-Terry")


def _row(one: Standing, *, resampled: bool) -> tuple[str, ...]:
    rate = one.win_vs_reference
    spread = (_points(one.elo_median), _interval(one.elo)) if resampled else ()
    return (
        one.model,
        _points(one.elo.value),
        *spread,
        str(one.matches),
        MISSING if rate.value is None else f"{100 * rate.value:.2f} %",
        _share_interval(rate),
        f"{rate.n:.0f}" if rate.n else MISSING,
        str(one.win_vs_reference_ties) if rate.n or one.win_vs_reference_ties else MISSING,
        MISSING if one.bradley_terry is None else _points(one.bradley_terry.value),
    )


def _share_interval(rate: Estimate) -> str:
    if rate.lower is None or rate.upper is None:
        return MISSING
    return f"{100 * rate.lower:.0f} to {100 * rate.upper:.0f} %"


def _points(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"


def _interval(rating: Estimate) -> str:
    if rating.lower is None or rating.upper is None:
        return MISSING
    return f"{rating.lower:.0f} to {rating.upper:.0f}"
