"""What benchmarks hold as pictures: their categories, lengths, images and objects."""

from collections.abc import Callable, Sequence
from typing import Any

from evenhand.describe.description import TEXTS, Description
from evenhand.describe.lengths import EDGES, ESTIMATED, LONG
from evenhand.files.outputs import Place
from evenhand.format.charts import (
    ACCENT,
    INK,
    MANY,
    MUTED,
    ChartError,
    Heading,
    bars_with_numbers,
    chart_of,
    save,
    stacked,
    the_altair,
    titled,
)
from evenhand.reports.description.sheets import TEXT_WORDS
from evenhand.reports.description.sunburst import sunburst
from evenhand.reports.description.task_overview import task_overview

PICTURES = ("categories", "tasks", "lengths", "roles", "verbs", "images", "kinds", "objects")

COLOURS = (ACCENT, "#b5563c", "#c2932e", "#5b7f4b", "#7a5c94", "#4a6572")
"""Of the benchmarks side by side, in their order."""

_WIDE = 420
_TICKS = 5


def description_charts(described: Sequence[Description]) -> dict[str, Any]:
    """By name, of `PICTURES`; what is not known has no picture."""
    made = {
        "categories": _of_each(described, _categories),
        "tasks": _tasks(described),
        "lengths": _lengths(described),
        "roles": _of_each(described, _roles),
        "verbs": _of_each(described, _verbs),
        "images": _images(described),
        "kinds": _of_each(described, _kinds),
        "objects": _of_each(described, _objects),
    }
    return {name: chart for name, chart in made.items() if chart is not None}


def plot(described: Sequence[Description], path: Place, only: Sequence[str] = ()) -> None:
    """Writes SVG or PNG by the path's suffix. Raises ChartError where that cannot be.

    `only`: the names of the pictures that are wanted; empty: all.
    """
    charts = description_charts(described)
    if not charts:
        raise ChartError("There is nothing to draw: the data holds no item.", code="EH-CHART-EMPTY")
    if missing := [name for name in only if name not in charts]:
        raise ChartError(
            f"The data has no picture of {', '.join(missing)}; it has {', '.join(charts)}.", code="EH-CHART-EMPTY"
        )
    save(_apart(stacked(*(chart for name, chart in charts.items() if not only or name in only))), path)


def _tasks(described: Sequence[Description]) -> Any:
    """One below the other: each has two columns of its own."""
    charts = [chart for one in described if (chart := task_overview(one)) is not None]
    return stacked(*charts) if len(charts) > 1 else charts[0] if charts else None


def _of_each(described: Sequence[Description], draw: Callable[[Description, str], Any]) -> Any:
    """The benchmarks' own pictures, two beside each other."""
    charts = [chart for place, one in enumerate(described) if (chart := draw(one, colour_of(place))) is not None]
    if len(charts) < 2:
        return charts[0] if charts else None
    return _apart(the_altair().concat(*charts, columns=2, spacing=40))


def _apart(charts: Any) -> Any:
    return charts.resolve_scale(**dict.fromkeys(("color", "x", "y", "xOffset"), "independent"))


def _headed(chart: Any, heading: Heading) -> Any:
    """Titles begin with the axis, which is at the same place in every picture, not with the longest label."""
    made = titled(chart, heading)
    made.title.frame = "group"
    return made


def colour_of(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _categories(one: Description, colour: str) -> Any:
    counted = sorted(one.counts.categories, key=lambda pair: (-pair[1], pair[0]))
    subtitle = f"{one.counts.items:,} items in {len(counted)} categories{_cut(counted)}"
    return _bars(counted, Heading(title=f"Categories of {one.name}", subtitle=subtitle), "items", colour)


def _roles(one: Description, colour: str) -> Any:
    asked = one.requests
    subtitle = (
        f"{asked.with_role:,} of {one.counts.items:,} items give one; {asked.instructions:,} different instructions"
        f"{_cut(asked.roles)}"
    )
    return _bars(asked.roles, Heading(title=f"Roles to play in {one.name}", subtitle=subtitle), "items", colour)


def _kinds(one: Description, colour: str) -> Any:
    labelled = sum(number for _, number in one.pictures.kinds)
    subtitle = f"{labelled:,} of {one.pictures.named:,} images shown are labelled{_cut(one.pictures.kinds)}"
    return _bars(
        one.pictures.kinds, Heading(title=f"Kinds of images in {one.name}", subtitle=subtitle), "images", colour
    )


def _objects(one: Description, colour: str) -> Any:
    counted = [(found.name, found.count) for found in one.objects or ()]
    subtitle = f"{sum(number for _, number in counted):,} found in {one.pictures.at_hand:,} images; a log scale"
    heading = Heading(title=f"Objects in the images of {one.name}", subtitle=subtitle + _cut(counted))
    return _bars(counted, heading, "objects found", colour, log=True)


def _cut(counted: Sequence[tuple[str, int]]) -> str:
    return f"\nthe commonest {MANY} of {len(counted)}" if len(counted) > MANY else ""


def _bars(counted: Sequence[tuple[str, int]], heading: Heading, axis: str, colour: str, *, log: bool = False) -> Any:
    if not counted:
        return None
    alt = the_altair()
    # A bar on a log scale needs a beginning that is not 0; half an object leaves one object a bar.
    start = 0.5 if log else 0
    rows = [{"name": name, "start": start, "value": number} for name, number in counted[:MANY]]
    most = max(number for _, number in counted)
    scale = alt.Scale(type="log", domain=[start, most * 1.6], nice=False) if log else alt.Scale(domain=[0, most * 1.08])
    steps = alt.Axis(tickCount=_TICKS, format=",d", **_ticks(most, log=log))
    drawn = alt.layer(*bars_with_numbers(rows, form=",d", colour=colour, title=axis, scale=scale, axis=steps))
    return _headed(drawn.properties(width=_WIDE, height=alt.Step(17)), heading)


def _ticks(most: int, *, log: bool) -> dict[str, Any]:
    """Whole numbers: half a step would be written as the next one."""
    if log:
        return {"values": [10**power for power in range(7) if 10**power <= most * 1.6]}
    return {"values": list(range(most + 1))} if most <= _TICKS else {"tickMinStep": 1}


def _bins() -> list[str]:
    return [f"to {high:,}" for high in EDGES[1:]] + [f"over {LONG:,}"]


def _lengths(described: Sequence[Description]) -> Any:
    rows = [
        {"text": TEXT_WORDS[kind], "bin": name, "benchmark": one.name, "share": number / found.texts}
        for kind in TEXTS
        for one in described
        if (found := one.lengths[kind]) is not None
        for name, number in zip(_bins(), found.bars, strict=True)
    ]
    if not rows:
        return None
    alt = the_altair()
    kinds = [TEXT_WORDS[kind] for kind in TEXTS if any(row["text"] == TEXT_WORDS[kind] for row in rows)]
    chart = (
        chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X("bin:N", sort=_bins(), title="tokens", axis=alt.Axis(labelAngle=0, labelOverlap=False)),
            xOffset=alt.XOffset("benchmark:N", sort=[one.name for one in described]),
            y=alt.Y("share:Q", title="share of texts", axis=alt.Axis(format=".0%", tickCount=4)),
            color=_benchmark_colours(described),
            row=alt.Row(
                "text:N",
                sort=kinds,
                title=None,
                spacing=14,
                header=alt.Header(
                    orient="top", labelAnchor="start", labelColor=INK, labelFontWeight=600, labelPadding=4
                ),
            ),
        )
        .properties(width=2 * _WIDE, height=84)
    )
    return _headed(chart, Heading(title="How long the texts are", subtitle=ESTIMATED))


def _benchmark_colours(described: Sequence[Description]) -> Any:
    alt = the_altair()
    names = [one.name for one in described]
    scale = alt.Scale(domain=names, range=[colour_of(place) for place in range(len(names))])
    legend = alt.Legend(title=None, orient="top", labelLimit=400) if len(names) > 1 else None
    return alt.Color("benchmark:N", scale=scale, legend=legend)


def _images(described: Sequence[Description]) -> Any:
    rows = [
        {"images": images, "benchmark": one.name, "share": items / one.counts.items, "text": f"{items:,}"}
        for one in described
        for images, items in one.pictures.per_item
    ]
    if not rows:
        return None
    alt = the_altair()
    base = chart_of(rows).encode(
        x=alt.X("images:O", title="images of an item", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("benchmark:N", sort=[one.name for one in described]),
        y=alt.Y("share:Q", title="share of items", axis=alt.Axis(format=".0%", tickCount=4)),
    )
    bars = base.mark_bar().encode(color=_benchmark_colours(described))
    numbers = base.mark_text(dy=-6, fontSize=10, color=MUTED).encode(text=alt.Text("text:N"))
    layers = alt.layer(bars, numbers).properties(width=2 * _WIDE, height=150)
    return _headed(layers, Heading(title="Images per item", subtitle="the number of items stands on each bar"))


def _verbs(one: Description, colour: str) -> Any:  # noqa: ARG001  a verb has a colour of its own
    if not one.verbs:
        return None
    return sunburst(one.verbs, Heading(title=f"What {one.name} asks for", subtitle=_verb_words(one)))


def _verb_words(one: Description) -> str:
    found = sum(verb.count for verb in one.verbs or ())
    return f"verbs of {found:,} of {one.counts.items:,} instructions, and their four commonest nouns"
