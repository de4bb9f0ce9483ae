"""VisIT-Bench's leaderboard as tables."""

from collections.abc import Callable, Mapping, Sequence

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.response import REFERENCE
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.supported import share_interval
from evenhand.format.words import counted
from evenhand.reports.papers.scores.raw_sheet import flat, raw_sheet
from evenhand.reports.papers.scores.visit_bench import PART_WORDS, By, ItemGroup, VisitRow, VisitScore


def board_sheets(score: VisitScore) -> tuple[Sheet, ...]:
    """Single- and multi-image items apart, as the published boards are."""
    return tuple(_board(score, part) for part in score.by_images)


def wide_sheet(score: VisitScore) -> Sheet:
    """All boards in one table, the document's numbers as they are."""
    rows: list[dict[str, Json]] = [
        {"images": part.name, "items": part.items, "model": one.model, **flat(one.as_json())}
        for part in score.by_images
        for one in part.standings
    ]
    return raw_sheet(score.benchmark, rows)


def long_breakdown(score: VisitScore, by: By) -> Sheet:
    """All parts' models under each other, the document's numbers as they are."""
    rows: list[dict[str, Json]] = [
        {by: part.name, "items": part.items, "model": one.model, **flat(one.as_json())}
        for part in (score.by_skill if by == "skill" else score.by_source)
        for one in part.standings
    ]
    return raw_sheet(f"{score.benchmark} by {by}", rows)


def breakdown_sheet(score: VisitScore, by: By) -> Sheet:
    """Win rate against the reference, ties left out, of every model in every part; Elo where no reference plays."""
    parts = score.by_skill if by == "skill" else score.by_source
    models = [one.model for one in score.whole.standings if one.model != REFERENCE]
    referenced = any(one.model == REFERENCE for one in score.whole.standings)
    what = "Elo, one pass" + (", 95 % interval in square brackets" if _resampled(parts) else "")
    if referenced:
        what = "win vs reference (ties left out), n in brackets"
        lacking = any(_rate_of(part, one) is None for part in parts for one in part.standings if one.model != REFERENCE)
        interval = ", its 95 % interval in square brackets" if _resampled(parts) else ""
        what += f"; Elo where it does not play or all were ties{interval}" if lacking else ""
    return Sheet(
        title=f"{score.benchmark} by {by}: {what}",
        headings=(by, "items", *models),
        rows=tuple((part.name, str(part.items), *_cells(part, models, referenced=referenced)) for part in parts),
    )


def part_notes(score: VisitScore, by: By) -> tuple[str, ...]:
    """About Elo of small parts, where the table shows one."""
    parts = score.by_skill if by == "skill" else score.by_source
    shown = any(_rate_of(part, one) is None for part in parts for one in part.standings if one.model != REFERENCE)
    if not shown or not _resampled(parts):
        return ()
    return (
        f"Elo's interval is of resamples of the {by}'s items. After few battles Elo is still near its start, and so is "
        "its interval: both tell of the way so far, not of where it would end.",
    )


def _resampled(parts: Sequence[ItemGroup]) -> bool:
    return any(one.elo.lower is not None for part in parts for one in part.standings)


def _cells(part: ItemGroup, models: Sequence[str], *, referenced: bool) -> list[str]:
    cells: list[str] = []
    for model in models:
        one = part.of(model)
        if one is None:
            cells.append(MISSING)
        elif (rate := _rate_of(part, one)) is not None:
            cells.append(f"{100 * rate:.1f} % ({one.win_vs_reference.n:,.0f})")
        else:
            ties = f" ({counted(one.win_vs_reference_ties, 'tie')})" if one.win_vs_reference_ties else ""
            within = "" if one.elo.lower is None else f" [{_interval(one.elo)}]"
            elo = f"{_points(one.elo.value)}{within}"
            cells.append(f"Elo {elo}{ties}" if referenced else elo)
    return cells


def _rate_of(part: ItemGroup, one: VisitRow) -> float | None:
    """None where the reference did not play in this part, or every battle with it was a tie."""
    return None if part.of(REFERENCE) is None or one.model == REFERENCE else one.win_vs_reference.value


def _board(score: VisitScore, part: ItemGroup) -> Sheet:
    columns = [column for column in (_column(name, part) for name in _COLUMNS) if column is not None]
    of = PART_WORDS[part.name]
    named = {"rank": f"rank by {part.ranked_by}", "Elo": f"Elo, {of}", "median": f"median Elo, {of}"}
    return Sheet(
        title=f"{score.benchmark}, {of} ({counted(part.items, 'item')})",
        headings=(f"model, {of}", *(named.get(heading, heading) for heading, _ in columns)),
        rows=tuple((one.model, *(cells[place] for _, cells in columns)) for place, one in enumerate(part.standings)),
    )


def _column(heading: str, part: ItemGroup) -> tuple[str, list[str]] | None:
    """None for one that says nothing of this part."""
    cells = [_COLUMNS[heading](one, part) for one in part.standings]
    optional = heading in ("median", "95 % interval", "answered")
    return None if optional and set(cells) == {MISSING} else (heading, cells)


def _rank(one: VisitRow, _: ItemGroup) -> str:
    return MISSING if one.rank is None else str(one.rank)


def _answered(one: VisitRow, part: ItemGroup) -> str:
    """Only where somebody did not answer everything."""
    models = [other for other in part.standings if other.model != REFERENCE]
    if all(other.answered in (None, part.of_items) for other in models) or one.answered is None:
        return MISSING
    return f"{one.answered:,} of {part.of_items:,}"


def _rate(one: VisitRow, _: ItemGroup) -> str:
    rate = one.win_vs_reference
    return MISSING if rate.value is None else f"{100 * rate.value:.2f} %"


def _ties(one: VisitRow, _: ItemGroup) -> str:
    ties = one.win_vs_reference_ties
    return f"{ties:,}" if one.win_vs_reference.n or ties else MISSING


_COLUMNS: Mapping[str, Callable[[VisitRow, ItemGroup], str]] = {
    "rank": _rank,
    "Elo": lambda one, _: _points(one.elo.value) + ("*" if one.provisional else ""),
    "median": lambda one, _: MISSING if one.elo_median is None else _points(one.elo_median.value),
    "95 % interval": lambda one, _: _interval(one.elo),
    "matches": lambda one, _: f"{one.matches:,}",
    "answered": _answered,
    "win vs reference": _rate,
    "its interval": lambda one, _: share_interval(one.win_vs_reference),
    "n vs reference": lambda one, _: f"{one.win_vs_reference.n:,.0f}" if one.win_vs_reference.n else MISSING,
    "ties": _ties,
    "Bradley-Terry": lambda one, _: MISSING if one.bradley_terry is None else _points(one.bradley_terry.value),
    "Bradley-Terry interval": lambda one, _: MISSING if one.bradley_terry is None else _interval(one.bradley_terry),
}


def _points(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"


def _interval(rating: Estimate) -> str:
    if rating.lower is None or rating.upper is None:
        return MISSING
    return f"{rating.lower:.0f} to {rating.upper:.0f}"
