"""Charts and what they are made of: axes, whiskers, bars, cells, colours; as SVG, PNG or HTML that needs no network."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from evenhand.domain.errors import EvenhandError
from evenhand.files.outputs import Place, write_whole
from evenhand.format.printable import printable

if TYPE_CHECKING:
    import altair as alt

SUFFIXES = (".svg", ".png", ".html")

MANY = 60
"""Models in one picture; beyond, the first so many are drawn and the title says so."""

_LEGIBLE = 20
"""Models up to which every cell of a matrix has room for its number."""

PAGE, PHONE = 560, 190
"""Pixels of an axis on a page, and on a phone's."""
INK, MUTED, ACCENT = "#1f2933", "#7b8794", "#1f6f8b"
CELL_INK = "#1f2932"
"""Of numbers on coloured cells, which stay as they are where the page is dark."""
LOSES, EVEN, WINS = "#b5563c", "#ecdcae", "#1f6f8b"
# Greys, which no share has.
_UNKNOWN, _ITSELF = "#e4e7eb", "#9aa5b1"
# Characters that no XML may hold; the PNG is drawn from an SVG, and its reader ends the whole program over them.
_NO_XML = re.compile("[\ufffe\uffff]")
_PADDING = 16
_WIDER = 0.12
"""Of a letter's height: by how much the letters of a reader's own font may be wider, as DejaVu's and Verdana's are."""
_BOX = re.compile(
    r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 [\d.]+ [\d.]+">(<rect width="[\d.]+" height="[\d.]+")?'
)
_WORDS = re.compile(r'<text[^>]*text-anchor="(\w+)" transform="([^"]*)"[^>]*font-size="([\d.]+)px"[^>]*>(.*?)</text>')
_TAG = re.compile("<[^>]*>")


class ChartError(EvenhandError):
    """A picture that cannot be drawn."""

    code = "EH-CHART"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One model's place on the axis."""

    model: str
    value: float | None
    """None: no point is drawn, only the interval, which then has a bound."""
    lower: float | None = None
    """None: no bound is known, so none is drawn; infinite: the line runs to the picture's edge and ends in an arrow."""
    upper: float | None = None
    hollow: bool = False
    """Its value is not to be read as the others' are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    title: str
    subtitle: str = ""
    """Its lines one below the other."""


def chart_of(rows: Iterable[Mapping[str, Any]]) -> Any:
    """A chart of these rows. altair looks at each row that it is given at the start, and copies each row of a list
    whenever it copies the chart: a tuple that comes later is left as it is."""
    alt = the_altair()
    data = alt.Data(values=[])
    data["values"] = tuple(rows)
    return alt.Chart(data)


def ticks(width: int, **more: Any) -> Any:
    """An axis of numbers on so many pixels."""
    return the_altair().Axis(tickCount=8 if width >= PAGE else 3, labelOverlap=True, labelFlush=False, **more)


def whiskers(base: Any, **across: Any) -> Any:
    """Lines from `lower` to `upper` of each row; `across` says what the axis is like."""
    alt = the_altair()
    line = base.mark_rule(strokeWidth=2.5, color=ACCENT, opacity=0.55)
    return line.encode(x=alt.X("lower:Q", **across), x2=alt.X2("upper:Q"))


def dots(base: Any, **across: Any) -> Any:
    """Points at the `value` of each row."""
    at = the_altair().X("value:Q", **across)
    return base.mark_point(filled=True, size=70, color=ACCENT, opacity=1).encode(x=at)


def dashed(at: float, channel: str = "x") -> Any:
    """A line at a value that the others are compared with."""
    alt = the_altair()
    line = chart_of([{"at": at}]).mark_rule(color=LOSES, strokeDash=[5, 4], strokeWidth=1.5)
    return line.encode(alt.X("at:Q") if channel == "x" else alt.Y("at:Q"))


def bars_with_numbers(
    rows: Sequence[Mapping[str, Any]], *, form: str, colour: str = ACCENT, named: Any = None, **across: Any
) -> tuple[Any, Any]:
    """From `start` to `value` of each `name`, from the top down, with the value behind the bar. `named`: the axis of
    the names, where it is not the usual one."""
    alt = the_altair()
    axis = named or alt.Axis(labelLimit=260)
    names = alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=axis)
    base = chart_of(rows).encode(y=names)
    bars = base.mark_bar(color=colour, height={"band": 0.72}).encode(x=alt.X("start:Q", **across), x2=alt.X2("value:Q"))
    numbers = base.mark_text(align="left", dx=5, color=INK, fontSize=11)
    return bars, numbers.encode(x=alt.X("value:Q", **across), text=alt.Text("value:Q", format=form))


def interval_chart(marks: Sequence[Mark], heading: Heading, *, axis: str, narrow: bool = False) -> "alt.LayerChart":
    """A point and an interval for each model, in the order given, from the top down. `narrow`: for a phone's page, long
    names in up to three lines."""
    alt = the_altair()
    shown = [_folded(one) if narrow else one for one in marks[:MANY]]
    if not shown:
        raise ChartError("There is nothing to draw: no model has a rating.", code="EH-CHART-EMPTY")
    edges = _edges(shown)
    rows = [{"model": one.model, "value": one.value, "hollow": one.hollow, **_ends(one, edges)} for one in shown]
    rated = [row for row in rows if row["value"] is not None]
    arrows = [
        {"model": one.model, "at": edge, "turn": turn}
        for one in shown
        for bound, edge, turn in ((one.lower, edges[0], -90), (one.upper, edges[1], 90))
        if bound is not None and math.isinf(bound)
    ]
    names = alt.Axis(labelLimit=150 if narrow else 320, labelExpr=r"split(datum.label, '\n')")
    place = alt.Y("model:N", sort=[one.model for one in shown], title=None, axis=names)
    base = chart_of(rows).encode(y=place)
    width, step = (PHONE, 6 + 13 * max(one.model.count("\n") + 1 for one in shown)) if narrow else (PAGE, 19)
    across = {"title": axis, "scale": alt.Scale(zero=False, nice=True), "axis": ticks(width)}
    ink = alt.FillValue(ACCENT, condition={"test": "datum.hollow", "value": "white"})
    points = dots(chart_of(rated), **across).encode(y=place, fill=ink, stroke=alt.StrokeValue(ACCENT))
    triangles = chart_of(arrows).mark_point(shape="triangle", filled=True, size=60, color=ACCENT, opacity=1)
    heads = triangles.encode(y=place, x=alt.X("at:Q", **across), angle=alt.Angle("turn:Q", scale=None))
    layers = [whiskers(base, **across), points, *([heads] if arrows else [])]
    return layered(*layers, heading=_cut(heading, len(marks)), width=width, height=alt.Step(step))


def _folded(mark: Mark) -> Mark:
    """Its name in as few lines of at most 22 characters as it takes, all about as long; three at the most."""
    name = mark.model if len(mark.model) <= 66 else f"{mark.model[:65]}…"
    line = -(-len(name) // -(-len(name) // 22 or 1)) or 1
    return replace(mark, model="\n".join(name[start : start + line] for start in range(0, len(name), line)))


def _edges(marks: Sequence[Mark]) -> tuple[float, float]:
    """A little beyond everything finite, where unbounded intervals end."""
    known = [
        number
        for one in marks
        for number in (one.value, one.lower, one.upper)
        if number is not None and math.isfinite(number)
    ]
    margin = 0.06 * (max(known) - min(known)) or 1.0
    return min(known) - margin, max(known) + margin


def _ends(mark: Mark, edges: tuple[float, float]) -> dict[str, float | None]:
    lower = mark.value if mark.lower is None else max(mark.lower, edges[0])
    upper = mark.value if mark.upper is None else min(mark.upper, edges[1])
    return {"lower": lower, "upper": upper}


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """How numbers become the colours and the words of cells."""

    stops: Mapping[float, str]
    dark: float
    """Farther than this from what is neither, a colour is so dark that its number is written in white."""
    title: str
    form: str | None = None
    """Of the legend's numbers."""
    times: float = 1.0
    digits: int = 0
    """In a cell stands so many times its number, with so many decimals."""

    def cell(self, row: str, column: str, value: float) -> dict[str, Any]:
        middle = next(at for at, colour in self.stops.items() if colour == EVEN)
        text, strong = f"{self.times * value:.{self.digits}f}", abs(value - middle) > self.dark
        return {"row": row, "column": column, "value": value, "text": text, "strong": strong}


SHARE_WON = Colours(
    stops={0.0: LOSES, 0.5: EVEN, 1.0: WINS}, dark=0.33, title="share won", form=".0%", times=100
)  # fmt: skip
_SCORE = Colours(stops={0.0: EVEN, 1.0: WINS}, dark=0.75, title="score", digits=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Names down and across, a coloured cell for each pair that has a value, and of what size."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Mapping[tuple[str, str], float]
    """By row and column."""
    colours: Colours
    grey: Sequence[Mapping[str, str]] = ()
    """Cells without a value, each with its `row`, `column` and `colour`."""
    step: tuple[int, int]
    """Pixels of a cell across and down."""
    numbered: bool = True
    upright: bool = False
    """The names above stand upright, for want of room."""


def heat_map(cells: Cells, heading: Heading) -> "alt.LayerChart":
    alt = the_altair()
    rows, columns = list(cells.rows), list(cells.columns)
    above = alt.Axis(labelLimit=240, labelAngle=-90 if cells.upright else -45, orient="top")
    places = {
        "x": alt.X("column:N", sort=columns, title=None, scale=alt.Scale(domain=columns), axis=above),
        "y": alt.Y("row:N", sort=rows, title=None, scale=alt.Scale(domain=rows), axis=alt.Axis(labelLimit=280)),
    }
    values = [cells.colours.cell(*place, value) for place, value in cells.values.items()]
    base = chart_of(values).encode(**places)
    grey = chart_of(cells.grey).mark_rect()
    stops = cells.colours.stops
    legend = alt.Legend(title=cells.colours.title, **({"format": cells.colours.form} if cells.colours.form else {}))
    scale = alt.Scale(domain=list(stops), range=list(stops.values()))
    ink = alt.ColorValue(CELL_INK, condition={"test": "datum.strong", "value": "white"})
    layers = [
        *([grey.encode(**places, fill=alt.Fill("colour:N", scale=None))] if cells.grey else []),
        base.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=legend)),
        *([base.mark_text(fontSize=10).encode(text=alt.Text("text:N"), color=ink)] if cells.numbered else []),
    ]
    across, down = map(alt.Step, cells.step)
    return layered(*layers, heading=heading, width=across, height=down)


def _square(
    names: Sequence[str],
    values: Mapping[tuple[str, str], float],
    colours: Colours,
    grey: Sequence[Mapping[str, str]] = (),
) -> Cells:
    few = len(names[:MANY]) <= _LEGIBLE
    return Cells(
        rows=names[:MANY], columns=names[:MANY], values=values, colours=colours, grey=grey,
        step=(30, 30) if few else (16, 16), numbered=few, upright=not few,
    )  # fmt: skip


def _known(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float | None]]
) -> dict[tuple[str, str], float]:
    return {
        (row, column): value
        for row, line in zip(rows, values, strict=False)
        for column, value in zip(columns, line, strict=False)
        if value is not None
    }


def matrix_chart(models: Sequence[str], shares: Sequence[Sequence[float | None]], heading: Heading) -> "alt.LayerChart":
    """How often the row's model beats the column's, from 0 to 1; pairs that never met are grey, the diagonal darker."""
    shown = models[:MANY]
    found = {place: share for place, share in _known(shown, shown, shares).items() if place[0] != place[1]}
    if not found:
        raise ChartError("There is nothing to draw: no two models met.", code="EH-CHART-EMPTY")
    grey = [
        {"row": row, "column": column, "colour": _ITSELF if row == column else _UNKNOWN}
        for row in shown
        for column in shown
        if (row, column) not in found
    ]
    return heat_map(_square(models, found, SHARE_WON, grey), _cut(heading, len(models)))


def correlation_chart(
    names: Sequence[str], values: Sequence[Sequence[float | None]], heading: Heading, *, lowest: float
) -> "alt.LayerChart":
    """A square of coefficients from `lowest`, -1 or 0, to 1; what could not be computed stays blank."""
    stops = {0.0: EVEN, 1.0: WINS} if lowest == 0 else {-1.0: LOSES, 0.0: EVEN, 1.0: WINS}
    colours = Colours(stops=stops, dark=0.75, title="coefficient", form=".1f", digits=2)
    found = _known(names[:MANY], names[:MANY], values)
    return heat_map(_square(names, found, colours), _cut(heading, len(names), noun="benchmarks"))


def heat_chart(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float | None]], heading: Heading
) -> "alt.LayerChart":
    """A table of scores from 0 to 1 with its numbers; what has no score stays blank."""
    found = _known(rows, columns, values)
    if not found:
        raise ChartError("There is nothing to draw: no cell of the table has a score.", code="EH-CHART-EMPTY")
    return heat_map(Cells(rows=rows, columns=columns, values=found, colours=_SCORE, step=(64, 26)), heading)


def save(chart: Any, path: Place) -> None:
    """Written whole or not at all. Raises ChartError for a suffix that is none of SUFFIXES, OutputRefused."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ChartError(f"A picture is written as {', '.join(SUFFIXES)}; {path.name} ends in none of them.")
    if suffix == ".svg":
        write_out(path, svg(chart).encode())
        return
    import vl_convert

    spec = _spec(chart)
    if suffix == ".png":
        write_out(path, vl_convert.vegalite_to_png(spec, scale=2))
    else:
        write_out(path, _escaped(vl_convert.vegalite_to_html(spec, bundle=True)).encode())


def _escaped(page: str) -> str:
    """Names that others chose stand in the page's script as they are: none may end it."""
    before, mark, rest = page.partition("const spec = ")
    spec, end, after = rest.partition("\n")
    return "".join((before, mark, spec.replace("<", "\\u003c"), end, after))


def svg(chart: Any, *, padding: int = _PADDING) -> str:
    import vl_convert

    return _with_room(vl_convert.vegalite_to_svg(_spec(chart, padding=padding)))


def _with_room(drawn: str) -> str:
    """Words are measured in one font and shown in whichever the reader has; a frame that fits the first would cut the
    second off."""
    longer: dict[str, float] = {"start": 0.0, "end": 0.0, "middle": 0.0, "up": 0.0}
    for anchor, turned, size, words in _WORDS.findall(drawn):
        side = "up" if "rotate" in turned and anchor == "start" else anchor
        longest = max(len(unescape(line)) for line in _TAG.split(words))
        longer[side] = max(longer[side], _WIDER * float(size) * longest)
    left, right, top = (math.ceil(edge) for edge in (longer["end"], max(longer["start"], longer["up"]), longer["up"]))

    def larger(box: re.Match[str]) -> str:
        width, height = float(box[1]) + left + right, float(box[2]) + top
        size = f'width="{width:g}" height="{height:g}"'
        ground = f'<rect x="{-left}" y="{-top}" {size}' if box[3] else ""
        return f'{size} viewBox="{-left} {-top} {width:g} {height:g}">{ground}'

    return _BOX.sub(larger, drawn, count=1)


def write_out(path: Place, content: bytes) -> None:
    """Written whole or not at all. Raises ChartError where it cannot be, OutputRefused where it must not."""
    try:
        write_whole(path, content)
    except OSError as trouble:
        raise ChartError(
            f"{path} cannot be written: {trouble.strerror or trouble}.", code="EH-OUTPUT-UNWRITTEN"
        ) from trouble


def _fit_for_xml(part: Any) -> Any:
    """A chart's document with every control character in it spelt out: models are called whatever others call them."""
    if isinstance(part, str):
        return _NO_XML.sub("\ufffd", printable(part))
    if isinstance(part, list):
        return [_fit_for_xml(one) for one in cast("list[Any]", part)]
    if isinstance(part, dict):
        return {name: _fit_for_xml(one) for name, one in cast("dict[str, Any]", part).items()}
    return part


def stacked(*charts: Any) -> Any:
    """One above the other, each with scales of its own."""
    one = the_altair().vconcat(*charts, spacing=36)
    return one.resolve_scale(color="independent", x="independent", y="independent")


def the_altair() -> Any:
    for name in ("altair", "vl_convert"):  # the second writes the file: missed before anything is drawn
        if find_spec(name) is None:
            raise ChartError(
                f"Pictures need the extra `report` ({name} is missing); from the clone: pip install '.[report]'.",
                code="EH-EXTRA-MISSING",
            )
    import altair

    return altair


def _cut(heading: Heading, count: int, *, noun: str = "models") -> Heading:
    if count <= MANY:
        return heading
    words = f"the first {MANY} of {count:,} {noun}"
    return Heading(title=heading.title, subtitle=f"{heading.subtitle}\n{words}" if heading.subtitle else words)


def titled(chart: Any, heading: Heading) -> Any:
    return chart.properties(title=_title(heading))


def layered(*layers: Any, heading: Heading, **size: Any) -> Any:
    """One over the other; what a layered chart is told afterwards copies all of it."""
    return the_altair().layer(*layers, title=_title(heading), **size)


def _title(heading: Heading) -> Any:
    alt = the_altair()
    lines = heading.subtitle.split("\n") if heading.subtitle else alt.Undefined
    return alt.TitleParams(
        heading.title, subtitle=lines, anchor="start", fontSize=15, fontWeight=600,
        subtitleColor=MUTED, color=INK, offset=12,
    )  # fmt: skip


def _spec(chart: Any, *, padding: int = _PADDING) -> Any:
    """The chart as a document in this house's colours.

    Not checked against the schema of all charts, and its colours not set by way of copies of the chart: both together
    take as long as a third of the drawing.
    """
    spec = _fit_for_xml(chart.to_dict(validate=False))
    config = spec.setdefault("config", {})
    for part, values in _CONFIG.items():
        config[part] = {**config.get(part, {}), **values}
    return spec | {"config": config | {"background": "white", "padding": padding}}


_CONFIG: Mapping[str, Mapping[str, Any]] = {
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK, "titleColor": MUTED, "titleFontWeight": "normal", "gridColor": "#e4e7eb",
        "domainColor": "#cbd2d9", "tickColor": "#cbd2d9", "labelFontSize": 11, "labelFlush": False,
    },
    "legend": {"labelColor": INK, "titleColor": MUTED, "titleFontWeight": "normal"},
}  # fmt: skip
