"""An audit's pictures: which place wins, what a change of places does, and what each measure draws of itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.audit.measures.catalog import charts
from evenhand.audit.measures.record import WIDE
from evenhand.files.outputs import Place
from evenhand.format.charts import (
    ACCENT,
    EVEN,
    INK,
    LOSES,
    ChartError,
    Heading,
    bars_with_numbers,
    chart_of,
    dashed,
    layered,
    save,
    stacked,
    the_altair,
    titled,
)
from evenhand.format.words import per_cent

_CELL = 84
_PLACES = ("first", "tie", "second")


def audit_charts(document: Mapping[str, Any]) -> dict[str, Any]:
    """By name, from an audit's JSON document; what was not measured has no picture."""
    shown: Mapping[str, Any] = document.get("pictures") or {}
    made = {
        "places": _places(shown.get("places", ())),
        "picks": _picks(shown.get("picks", ())),
        "swaps": _swaps(shown.get("swaps", ())),
        **charts(document),
    }
    return {name: chart for name, chart in made.items() if chart is not None}


def plot(document: Mapping[str, Any], path: Place) -> None:
    """Writes SVG or PNG by the path's suffix. Raises ChartError where that cannot be."""
    save(audit_chart(document), path)


def audit_chart(document: Mapping[str, Any]) -> Any:
    """All of them, one above the other. Raises ChartError where there is none."""
    charts = audit_charts(document)
    if not charts:
        raise ChartError(
            "There is nothing to draw: the audit measured nothing that has a picture.", code="EH-CHART-EMPTY"
        )
    return stacked(*charts.values())


def _places(counts: Sequence[int]) -> Any:
    if not sum(counts):
        return None
    shares = [count / sum(counts) for count in counts]
    rows = [(name, share) for name, share in zip(_PLACES, shares, strict=True) if name != "tie" or share]
    heading = Heading(
        title="Which position wins",
        subtitle=f"{sum(counts)} verdicts on two answers, both orders; dashed: a fair judge",
    )
    return titled(_bars(rows, (1 - shares[1]) / 2, "share of verdicts"), heading)


def _picks(counts: Sequence[int]) -> Any:
    if not sum(counts):
        return None
    rows = [(str(place + 1), count / sum(counts)) for place, count in enumerate(counts)]
    heading = Heading(
        title="Which position is picked among all answers",
        subtitle=f"{sum(counts)} picks; dashed: a fair judge, if every item has {len(counts)} answers",
    )
    return titled(_bars(rows, 1 / len(counts), "share of picks"), heading)


def _bars(rows: Sequence[tuple[str, float]], fair: float, axis: str) -> Any:
    alt = the_altair()
    bars, numbers = bars_with_numbers(
        [{"name": name, "start": 0, "value": share} for name, share in rows],
        form=".1%",
        title=axis,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=".0%", values=[0, 0.25, 0.5, 0.75, 1], labelFlush=False),
    )
    return alt.layer(bars, dashed(fair), numbers).properties(width=WIDE, height=alt.Step(26))


def _swaps(table: Sequence[Sequence[int]]) -> Any:
    total = sum(map(sum, table))
    if not total:
        return None
    alt = the_altair()
    names = [f"{name} wins" if name != "tie" else name for name in _PLACES]
    shown = [place for place in range(3) if place != 1 or any(table[1]) or any(row[1] for row in table)]
    cells = [
        {
            "one": names[i],
            "other": names[j],
            "share": table[i][j] / total,
            "kept": i + j == 2,
            "text": per_cent(table[i][j] / total, decimals=0),
        }
        for i in shown
        for j in shown
    ]
    order = [names[place] for place in shown]
    base = chart_of(cells).encode(
        x=alt.X("other:N", sort=order, title="answers changed over", axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("one:N", sort=order, title="one order", axis=alt.Axis(titlePadding=16)),
    )
    colour = alt.ColorValue(LOSES, condition={"test": "datum.kept", "value": ACCENT})
    fill = base.mark_rect(stroke=EVEN, strokeWidth=2).encode(
        color=colour, opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.5]), legend=None)
    )
    # Half a colour at the most: the number has to be legible on it in light, dark and print.
    numbers = base.mark_text(fontSize=13).encode(text=alt.Text("text:N"), color=alt.ColorValue(INK))
    kept = sum(table[i][2 - i] for i in range(3)) / total
    heading = Heading(
        title="What swapping positions does",
        subtitle=f"{total} pairs; the same answer wins where the position changes (blue): {per_cent(kept, decimals=0)}",
    )
    return layered(fill, numbers, heading=heading, width=alt.Step(_CELL), height=alt.Step(44))
