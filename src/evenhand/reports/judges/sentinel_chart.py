"""A judge over time: how far its verdicts moved in each look, and what the wager on it is worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.format.charts import (
    ACCENT,
    INK,
    PAGE,
    ChartError,
    Heading,
    chart_of,
    dashed,
    stacked,
    the_altair,
    titled,
)
from evenhand.stats.reliability.judge_change import ALARM

if TYPE_CHECKING:
    from evenhand.reports.judges.sentinel import Look

_FIRST, _LONGER = "toward the answer shown first", "toward the longer answer"


def sentinel_chart(looks: "Sequence[Look]", *, width: int = PAGE) -> Any:
    """Raises ChartError where nothing was asked again."""
    if not any(len(one.moves) for one in looks):
        raise ChartError("There is nothing to draw: the judge was not asked again.", code="EH-CHART-EMPTY")
    return titled(
        stacked(_shifts(looks, width), _evidence(looks, width)),
        Heading(
            title="Does the judge decide as it did?",
            subtitle="Above: mean change of its verdicts when asked again, in score, with 95 % intervals by item.\n"
            f"Below: the evidence so far that it has changed; {ALARM:g} is an alarm.",
        ),
    )


def _across(looks: "Sequence[Look]", *, title: str | None) -> Any:
    alt = the_altair()
    names = [one.name for one in looks]
    return alt.X("look:N", sort=names, title=title, axis=alt.Axis(labelAngle=-45, labelOverlap=True))


def _shifts(looks: "Sequence[Look]", width: int) -> Any:
    alt = the_altair()
    rows = [
        {
            "look": look.name,
            "which": which,
            "value": of.value,
            "lower": of.value if of.lower is None else of.lower,
            "upper": of.value if of.upper is None else of.upper,
        }
        for look in looks
        for which, of in ((_FIRST, look.first), (_LONGER, look.longer))
        if of.value is not None
    ]
    colour = alt.Color(
        "which:N",
        scale=alt.Scale(domain=[_FIRST, _LONGER], range=[ACCENT, INK]),
        legend=alt.Legend(title=None, orient="top", columns=1),
    )
    base = chart_of(rows).encode(
        x=_across(looks, title=None), xOffset=alt.XOffset("which:N", sort=[_FIRST, _LONGER]), color=colour
    )
    lines = base.mark_rule(strokeWidth=2, opacity=0.55).encode(y=alt.Y("lower:Q", title="shift"), y2=alt.Y2("upper:Q"))
    points = base.mark_point(filled=True, size=50, opacity=1).encode(y=alt.Y("value:Q", title="shift"))
    return alt.layer(dashed(0.0, "y"), lines, points).properties(width=width, height=200)


def _evidence(looks: "Sequence[Look]", width: int) -> Any:
    alt = the_altair()
    # Far beyond the alarm, how far tells nothing more, and would press all else flat.
    rows = [{"look": one.name, "evidence": min(max(one.evidence, 0.01), 1e4)} for one in looks]
    up = alt.Y("evidence:Q", scale=alt.Scale(type="log", domain=[0.01, 1e4]), title="evidence",
               axis=alt.Axis(values=[0.01, 0.1, 1, ALARM, 100, 1e4], format="~g"))  # fmt: skip
    base = chart_of(rows).encode(x=_across(looks, title="look"), y=up)
    return alt.layer(
        dashed(ALARM, "y"), base.mark_line(color=ACCENT), base.mark_point(filled=True, color=ACCENT, size=45)
    ).properties(width=width, height=130)
