"""A report's own pictures beside the board's: win rates by category, and what became of verdicts in the other order."""

from typing import TYPE_CHECKING, Any

from evenhand.format.charts import (
    ACCENT,
    EVEN,
    LOSES,
    MANY,
    PAGE,
    PHONE,
    SHARE_WON,
    Cells,
    ChartError,
    Heading,
    chart_of,
    dashed,
    dots,
    heat_map,
    layered,
    the_altair,
    ticks,
    titled,
    whiskers,
)
from evenhand.format.words import counted
from evenhand.reports.board.shown.charts import ratings_chart, wins_chart
from evenhand.reports.page.report import BoardReport

if TYPE_CHECKING:
    import altair as alt

_LEGIBLE = 24
"""Models up to which every cell of the heat map has room for its number."""
_PARTS = (
    ("the same winner", "same_winner", ACCENT),
    ("a tie both times", "tie_twice", "#5b9bb0"),
    ("a tie in one order only", "tie_once", EVEN),
    ("the second shown both times", "second_twice", "#d29a86"),
    ("the first shown both times", "first_twice", LOSES),
)


def report_charts(report: BoardReport) -> dict[str, tuple[Any, ...]]:
    """By the part of the report they stand in: for a wide page, and for a phone's where it has to be another; a part
    without data has none."""
    drawn: dict[str, tuple[Any, ...]] = {}
    for name, draw in (
        ("board", lambda: tuple(ratings_chart(report.board, narrow=narrow) for narrow in (False, True))),
        ("matrix", lambda: (wins_chart(report.board),)),
        ("categories", lambda: (categories_chart(report),)),
        ("order", lambda: tuple(swaps_chart(report, width=width) for width in (PAGE, PHONE))),
        ("reliability", lambda: tuple(shares_chart(report, width=width) for width in (PAGE, PHONE))),
    ):
        the_altair()  # the one lack that is an error and not a part without data
        try:
            drawn[name] = draw()
        except ChartError:
            continue
    return drawn


def categories_chart(report: BoardReport) -> "alt.LayerChart":
    """Raises ChartError where no category is known."""
    categories = list(report.by_category)[:MANY]
    models = [one.model for one in report.board.models][:MANY]
    shares = {
        (category, model): share
        for category in categories
        for model, rate in report.by_category[category].items()
        if model in models and (share := rate.win_rate.value) is not None
    }
    if not shares:
        raise ChartError("There is nothing to draw: no item has a category.", code="EH-CHART-EMPTY")
    more = len(report.by_category) - len(categories)
    heading = Heading(
        title="Win rate in each category, in per cent",
        subtitle="a tie is half a win; few verdicts stand behind a small category"
        + (f"\nthe {MANY} commonest of {len(report.by_category)} categories" if more > 0 else ""),
    )
    few = len(models) <= _LEGIBLE
    cells = Cells(
        rows=categories, columns=models, values=shares, colours=SHARE_WON, step=(44 if few else 20, 26), numbered=few
    )
    return heat_map(cells, heading)


def swaps_chart(report: BoardReport, *, width: int = PAGE) -> "alt.Chart":
    """Raises ChartError where no pair was read in both orders."""
    alt = the_altair()
    swapped = report.swapped
    if swapped is None or not swapped.pairs:
        raise ChartError("There is nothing to draw: no pair has a verdict in both orders.", code="EH-CHART-EMPTY")
    names = [name for name, _, _ in _PARTS]
    rows = [
        {"part": name, "pairs": getattr(swapped, field), "place": place}
        for place, (name, field, _) in enumerate(_PARTS)
    ]
    colours = alt.Scale(domain=names, range=[colour for _, _, colour in _PARTS])
    bar = (
        chart_of(rows)
        .mark_bar(height=38)
        .encode(
            x=alt.X("pairs:Q", title="pairs", stack="zero", axis=ticks(width)),
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


def shares_chart(report: BoardReport, *, width: int = PAGE) -> "alt.LayerChart":
    """Raises ChartError where nothing is known of the order."""
    alt = the_altair()
    summary = report.board.reliability
    if summary is None or summary.order.swap_consistency.value is None:
        raise ChartError("There is nothing to draw: no pair has a verdict in both orders.", code="EH-CHART-EMPTY")
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
    across = {"scale": alt.Scale(domain=[0, 1]), "axis": ticks(width, format=".0%"), "title": None}
    base = chart_of(rows).encode(y=alt.Y("what:N", sort=list(shares), title=None, axis=alt.Axis(labelLimit=260)))
    layers = dashed(0.5), whiskers(base, **across), dots(base, **across)
    heading = Heading(
        title="How steady the judge is when the answers swap positions",
        subtitle="shares with 95 % intervals, clustered by item; dashed: a coin, and a judge fair to both positions",
    )
    return layered(*layers, heading=heading, width=width, height=alt.Step(22))
