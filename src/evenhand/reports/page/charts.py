"""A report's own pictures beside the board's: win rates by category, and what became of verdicts in the other order."""

from typing import TYPE_CHECKING, Any

from evenhand.format.charts import (
    ACCENT,
    CELL_INK,
    EVEN,
    LOSES,
    MANY,
    MUTED,
    WINS,
    ChartError,
    Heading,
    the_altair,
    titled,
)
from evenhand.reports.board.charts import ratings_chart, wins_chart
from evenhand.reports.page.report import Report
from evenhand.stats.ratings.bradley_terry.notes import counted
from evenhand.stats.ratings.win_rate import WinRate

if TYPE_CHECKING:
    import altair as alt

_LEGIBLE = 24
"""Models up to which every cell of the heat map has room for its number."""
_WIDE, _NARROW = 560, 190
"""Pixels of an axis on a page, and on a phone's."""
_KEPT, _TIED = "#5b9bb0", "#a9c3cc"
_PARTS = (
    ("the same winner", "same_winner", ACCENT),
    ("a tie both times", "tie_twice", _KEPT),
    ("a tie in one order only", "tie_once", EVEN),
    ("the second shown both times", "second_twice", "#d29a86"),
    ("the first shown both times", "first_twice", LOSES),
)


def report_charts(report: Report) -> dict[str, tuple[Any, ...]]:
    """By the part of the report they stand in: for a wide page, and for a phone's where it has to be another; a part
    without data has none."""
    drawn: dict[str, tuple[Any, ...]] = {}
    for name, draw in (
        ("board", lambda: tuple(ratings_chart(report.board, narrow=narrow) for narrow in (False, True))),
        ("matrix", lambda: (wins_chart(report.board),)),
        ("categories", lambda: (categories_chart(report),)),
        ("order", lambda: tuple(swaps_chart(report, width=width) for width in (_WIDE, _NARROW))),
        ("reliability", lambda: tuple(shares_chart(report, width=width) for width in (_WIDE, _NARROW))),
    ):
        the_altair()  # the one lack that is an error and not a part without data
        try:
            drawn[name] = draw()
        except ChartError:
            continue
    return drawn


def _axis(width: int, **more: Any) -> Any:
    return the_altair().Axis(tickCount=8 if width == _WIDE else 3, labelOverlap=True, labelFlush=False, **more)


def categories_chart(report: Report) -> "alt.LayerChart":
    """Raises ChartError where no category is known."""
    alt = the_altair()
    categories = list(report.by_category)[:MANY]
    models = [one.model for one in report.board.models][:MANY]
    cells = [
        _rate_cell(category, model, rate)
        for category in categories
        for model, rate in report.by_category[category].items()
        if model in models
    ]
    if not cells:
        raise ChartError("There is nothing to draw: no item has a category.")
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X(
            "model:N", sort=models, title=None, scale=alt.Scale(domain=models),
            axis=alt.Axis(labelLimit=220, labelAngle=-45, orient="top"),
        ),
        y=alt.Y(
            "category:N", sort=categories, title=None, scale=alt.Scale(domain=categories),
            axis=alt.Axis(labelLimit=280),
        ),
    )  # fmt: skip
    colour = alt.Color(
        "share:Q",
        scale=alt.Scale(domain=[0, 0.5, 1], range=[LOSES, EVEN, WINS]),
        legend=alt.Legend(title="share won", format=".0%"),
    )
    ink = alt.condition("datum.strong", alt.value("white"), alt.value(CELL_INK))
    numbers = base.mark_text(fontSize=10).encode(text="text:N", color=ink)
    layers = alt.layer(base.mark_rect().encode(color=colour), *([numbers] if len(models) <= _LEGIBLE else []))
    more = len(report.by_category) - len(categories)
    heading = Heading(
        title="Win rate in each category, in per cent",
        subtitle="a tie is half a win; few verdicts stand behind a small category"
        + (f"\nthe {MANY} commonest of {len(report.by_category)} categories" if more > 0 else ""),
    )
    step = 44 if len(models) <= _LEGIBLE else 20
    return titled(layers.properties(width=alt.Step(step), height=alt.Step(26)), heading)


def _rate_cell(category: str, model: str, rate: WinRate) -> dict[str, Any]:
    share = rate.win_rate.value
    assert share is not None
    return {
        "category": category,
        "model": model,
        "share": share,
        "text": f"{100 * share:.0f}",
        "strong": abs(share - 0.5) > 0.33,
    }


def swaps_chart(report: Report, *, width: int = _WIDE) -> "alt.Chart":
    """Raises ChartError where no pair was read in both orders."""
    alt = the_altair()
    swapped = report.swapped
    if swapped is None or not swapped.pairs:
        raise ChartError("There is nothing to draw: no pair has a verdict in both orders.")
    names = [name for name, _, _ in _PARTS]
    rows = [
        {"part": name, "pairs": getattr(swapped, field), "place": place}
        for place, (name, field, _) in enumerate(_PARTS)
    ]
    colours = alt.Scale(domain=names, range=[colour for _, _, colour in _PARTS])
    bar = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(height=38)
        .encode(
            x=alt.X("pairs:Q", title="pairs", stack="zero", axis=_axis(width)),
            color=alt.Color(
                "part:N",
                scale=colours,
                sort=names,
                legend=alt.Legend(title=None, orient="bottom", columns=1, labelLimit=280, labelFontSize=11),
            ),
            order=alt.Order("place:Q"),
        )
        .properties(width=width, height=46)
    )
    heading = Heading(
        title="What the judge chose when the two answers swapped positions",
        subtitle=f"{counted(swapped.pairs, 'pair')} of answers with a verdict in both orders"
        + ("; of several verdicts in one order each counts in part" if report.replicates > 1 else ""),
    )
    return titled(bar, heading)


def shares_chart(report: Report, *, width: int = _WIDE) -> "alt.LayerChart":
    """Raises ChartError where nothing is known of the order."""
    alt = the_altair()
    summary = report.board.reliability
    if summary is None or summary.order.swap_consistency.value is None:
        raise ChartError("There is nothing to draw: no pair has a verdict in both orders.")
    order = summary.order
    shares = {
        "keeps its verdict": order.swap_consistency,
        "keeps it, ties aside": order.swap_consistency_without_ties,
        "chooses the first shown": order.first_position_share,
        "chooses it, ties aside": order.first_position_share_without_ties,
    }
    rows = [
        {"what": name, "value": one.value, "lower": one.lower, "upper": one.upper}
        for name, one in shares.items()
        if one.value is not None
    ]
    across = {"scale": alt.Scale(domain=[0, 1]), "axis": _axis(width, format=".0%"), "title": None}
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("what:N", sort=list(shares), title=None, axis=alt.Axis(labelLimit=260))
    )
    coin = (
        alt.Chart(alt.Data(values=[{"at": 0.5}]))
        .mark_rule(strokeDash=[4, 4], color=MUTED)
        .encode(x=alt.X("at:Q", **across))
    )
    spans = base.mark_rule(strokeWidth=2.5, color=ACCENT, opacity=0.55).encode(
        x=alt.X("lower:Q", **across), x2="upper:Q"
    )
    points = base.mark_point(filled=True, size=70, color=ACCENT, opacity=1).encode(x=alt.X("value:Q", **across))
    heading = Heading(
        title="How steady the judge is when the answers swap positions",
        subtitle="shares with 95 % intervals, clustered by item; dashed: a coin, and a judge fair to both positions",
    )
    return titled(alt.layer(coin, spans, points).properties(width=width, height=alt.Step(22)), heading)
