"""The tasks of a benchmark under their categories, as in Creation-MMBench's Fig. 8; the bars say how many items."""

from collections.abc import Sequence
from typing import Any

from evenhand.describe.description import CategoryTasks, Description
from evenhand.format.charts import MANY, Heading, bars_with_numbers, the_altair, titled
from evenhand.format.words import counted

_COLOURS = ("#b5563c", "#1f6f8b", "#7a5c94", "#5b7f4b", "#a9762a", "#4a6572")
_WIDE = 150
_STEP = 17
_LETTER = 5.7
"""Pixels of a letter, on average and with something to spare."""
_LONGEST = 60
"""Characters of a name; what is longer is cut."""
_HEADED = 4
"""Rows that a category's heading and the gap above it take."""


def task_overview(one: Description) -> Any:
    """None where no task stands in a category, or all are one."""
    groups = one.tasks_by_category
    tasks = sum(len(group.tasks) for group in groups)
    if tasks < 2:
        return None
    alt = the_altair()
    most = max(number for group in groups for _, number in group.tasks)
    longest = max(len(name) for group in groups for name, _ in group.tasks)
    panels = [
        (group, _panel(group, _COLOURS[place % len(_COLOURS)], most, min(longest, _LONGEST)))
        for place, group in enumerate(groups)
    ]
    columns = [alt.vconcat(*some, spacing=22) for some in _in_columns(panels) if some]
    chart = alt.hconcat(*columns, spacing=36).resolve_scale(y="independent", x="independent")
    items = sum(group.items for group in groups)
    subtitle = f"{counted(tasks, 'task')} in {counted(len(groups), 'category')}, {counted(items, 'item')}"
    return titled(chart, Heading(title=f"Tasks of {one.name}", subtitle=subtitle))


def _in_columns(panels: Sequence[tuple[CategoryTasks, Any]]) -> tuple[list[Any], list[Any]]:
    """Two, cut in the order of the categories where they are most nearly as high."""
    heights = [min(len(group.tasks), MANY) + _HEADED for group, _ in panels]
    cuts = range(1, len(panels) + 1)
    cut = min(cuts, key=lambda place: abs(sum(heights[:place]) - sum(heights[place:])))
    charts = [chart for _, chart in panels]
    return charts[:cut], charts[cut:]


def _panel(group: CategoryTasks, colour: str, most: int, longest: int) -> Any:
    """`longest`: the characters of the longest name, for which every panel leaves room, so that all begin alike."""
    alt = the_altair()
    room = _LETTER * longest
    named = alt.Axis(labelAlign="left", labelPadding=room, labelLimit=room, minExtent=room, domain=False, ticks=False)
    rows = [{"name": _words(name), "start": 0, "value": number} for name, number in group.tasks[:MANY]]
    scale = alt.Scale(domain=[0, most * 1.15])
    bars = bars_with_numbers(rows, form=",d", colour=colour, named=named, title=None, scale=scale, axis=None)
    cut = f", the first {MANY}" if len(group.tasks) > MANY else ""
    subtitle = f"{counted(len(group.tasks), 'task')}{cut}, {counted(group.items, 'item')}"
    drawn = alt.layer(*bars).properties(width=_WIDE, height=alt.Step(_STEP))
    made = titled(drawn, Heading(title=group.category, subtitle=subtitle))
    made.title.color, made.title.fontSize, made.title.offset = colour, 13, 6
    return made


def _words(task: str) -> str:
    return task.replace("_", " ")
