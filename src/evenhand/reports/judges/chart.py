"""Judges by what they cost and how near to people they are."""

from typing import TYPE_CHECKING, Any

from evenhand.format.charts import (
    ACCENT,
    LOSES,
    PAGE,
    ChartError,
    Heading,
    chart_of,
    layered,
    the_altair,
    ticks,
)

if TYPE_CHECKING:
    from evenhand.reports.judges.report import JudgesReport

_ON, _OFF = "on the frontier", "another is as cheap and nearer"


def judges_chart(report: "JudgesReport", *, width: int = PAGE) -> Any:
    alt = the_altair()
    rows = [
        {
            "name": name,
            "cost": one.cost_per_1000_usd.value,
            "near": one.agreement.value,
            "lower": one.agreement.lower if one.agreement.lower is not None else one.agreement.value,
            "upper": one.agreement.upper if one.agreement.upper is not None else one.agreement.value,
            "where": _ON if frontier else _OFF,
        }
        for one, name, frontier in zip(report.judges, report.names, report.frontier, strict=True)
        if one.cost_per_1000_usd.value is not None and one.agreement.value is not None
    ]
    if not rows:
        raise ChartError(
            "There is nothing to draw: of no judge both its price and its agreement with people are known.",
            code="EH-CHART-EMPTY",
        )
    dearest = max(one.cost_per_1000_usd.value or 0.0 for one in report.judges)
    scale = alt.Scale(domain=[0, 1.15 * (dearest or 1.0)])
    across = alt.X("cost:Q", scale=scale, axis=ticks(width), title="US dollars per 1,000 judgements")
    up = alt.Axis(format=".0%")
    there = [where for where in (_ON, _OFF) if any(row["where"] == where for row in rows)]
    base = chart_of(rows).encode(
        x=across, color=alt.Color("where:N", scale=alt.Scale(domain=[_ON, _OFF], range=[ACCENT, LOSES]),
                                  legend=alt.Legend(title=None, orient="bottom", columns=1, symbolOpacity=1,
                                                    values=there)),
    )  # fmt: skip
    title = "agrees with people"
    lines = base.mark_rule(strokeWidth=2.5, opacity=0.55).encode(
        y=alt.Y("lower:Q", axis=up, title=title, scale=alt.Scale(zero=False)), y2=alt.Y2("upper:Q")
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(y=alt.Y("near:Q", axis=up, title=title))
    words = base.mark_text(align="left", dx=7, dy=-9, fontSize=12).encode(y=alt.Y("near:Q"), text=alt.Text("name:N"))
    edge = sorted((row for row in rows if row["where"] == _ON), key=lambda row: row["cost"])
    line = chart_of(edge).mark_line(interpolate="step-after", color=ACCENT, opacity=0.4).encode(
        x=across, y=alt.Y("near:Q")
    )  # fmt: skip
    heading = Heading(
        title="What a judge costs, and how near it comes to people", subtitle="with 95 % intervals by item"
    )
    return layered(line, lines, points, words, heading=heading, width=width, height=320)
