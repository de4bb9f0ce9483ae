"""Ratings with their intervals, and who beats whom, as pictures: SVG, PNG or one HTML file that needs no network."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
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
    """A picture that cannot be drawn; the message is a sentence for the user."""


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


def interval_chart(marks: Sequence[Mark], heading: Heading, *, axis: str, narrow: bool = False) -> "alt.LayerChart":
    """A point and an interval for each model, in the order given, from the top down. `narrow`: for a phone's page, long
    names in up to three lines."""
    alt = the_altair()
    shown = [_folded(one) if narrow else one for one in marks[:MANY]]
    if not shown:
        raise ChartError("There is nothing to draw: no model has a rating.")
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
    base = alt.Chart(alt.Data(values=rows)).encode(y=place)

    def across(field: str) -> Any:
        return alt.X(
            field,
            title=axis,
            scale=alt.Scale(zero=False, nice=True),
            axis=alt.Axis(labelFlush=False, tickCount=3 if narrow else 8, labelOverlap=True),
        )

    bars = base.mark_rule(strokeWidth=2.5, color=ACCENT, opacity=0.55).encode(x=across("lower:Q"), x2="upper:Q")
    dots = alt.Chart(alt.Data(values=rated)).mark_point(filled=True, size=70, color=ACCENT, opacity=1)
    ink = alt.condition("datum.hollow", alt.value("white"), alt.value(ACCENT))
    points = dots.encode(y=place, x=across("value:Q"), fill=ink, stroke=alt.value(ACCENT))
    triangles = alt.Chart(alt.Data(values=arrows)).mark_point(
        shape="triangle", filled=True, size=60, color=ACCENT, opacity=1
    )
    heads = triangles.encode(y=place, x=across("at:Q"), angle=alt.Angle("turn:Q", scale=None))
    layers = alt.layer(bars, points, heads) if arrows else alt.layer(bars, points)
    width, step = (190, 6 + 13 * max(one.model.count("\n") + 1 for one in shown)) if narrow else (560, 19)
    return titled(layers.properties(width=width, height=alt.Step(step)), _cut(heading, len(marks)))


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


def matrix_chart(models: Sequence[str], shares: Sequence[Sequence[float | None]], heading: Heading) -> "alt.LayerChart":
    """How often the row's model beats the column's, from 0 to 1; pairs that never met are grey, the diagonal darker."""
    cells = [
        _Cell(row=row, column=column, value=share, text=f"{100 * share:.0f}", strong=abs(share - 0.5) > 0.33)
        for row, line in zip(models[:MANY], shares, strict=False)
        for column, share in zip(models[:MANY], line, strict=False)
        if share is not None and row != column
    ]
    if not cells:
        raise ChartError("There is nothing to draw: no two models met.")
    colours = _Colours(stops={0.0: LOSES, 0.5: EVEN, 1.0: WINS}, title="share won", form=".0%")
    grey = [
        {"row": row, "column": column, "colour": _ITSELF if row == column else _UNKNOWN}
        for row, line in zip(models[:MANY], shares, strict=False)
        for column, share in zip(models[:MANY], line, strict=False)
        if share is None or row == column
    ]
    return titled(_matrix(models, cells, colours, grey=grey), _cut(heading, len(models)))


def correlation_chart(
    names: Sequence[str], values: Sequence[Sequence[float | None]], heading: Heading, *, lowest: float
) -> "alt.LayerChart":
    """A square of coefficients from `lowest`, -1 or 0, to 1; what could not be computed stays blank."""
    cells = [
        _Cell(row=row, column=column, value=value, text=f"{value:.2f}", strong=abs(value) > 0.75)
        for row, line in zip(names[:MANY], values, strict=False)
        for column, value in zip(names[:MANY], line, strict=False)
        if value is not None
    ]
    stops = {0.0: EVEN, 1.0: WINS} if lowest == 0 else {-1.0: LOSES, 0.0: EVEN, 1.0: WINS}
    colours = _Colours(stops=stops, title="coefficient", form=".1f")
    return titled(_matrix(names, cells, colours), _cut(heading, len(names), noun="benchmarks"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    row: str
    column: str
    value: float
    text: str
    strong: bool
    """So dark a colour that its number is written in white."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Colours:
    stops: Mapping[float, str]
    title: str
    form: str


def _matrix(
    names: Sequence[str],
    cells: Sequence[_Cell],
    colours: _Colours,
    *,
    grey: Sequence[Mapping[str, str]] = (),
) -> Any:
    """`grey`: cells without a value, each with its `row`, `column` and `colour`."""
    alt = the_altair()
    shown = list(names[:MANY])
    places = {
        "x": alt.X(
            "column:N", sort=shown, title=None, scale=alt.Scale(domain=shown),
            axis=alt.Axis(labelLimit=240, labelAngle=-45 if len(shown) <= _LEGIBLE else -90, orient="top"),
        ),
        "y": alt.Y("row:N", sort=shown, title=None, axis=alt.Axis(labelLimit=240), scale=alt.Scale(domain=shown)),
    }  # fmt: skip
    base = alt.Chart(alt.Data(values=[asdict(cell) for cell in cells])).encode(**places)
    blank = alt.Chart(alt.Data(values=list(grey))).mark_rect().encode(**places, fill=alt.Fill("colour:N", scale=None))
    rectangles = base.mark_rect().encode(
        color=alt.Color(
            "value:Q",
            scale=alt.Scale(domain=list(colours.stops), range=list(colours.stops.values())),
            legend=alt.Legend(title=colours.title, format=colours.form),
        )
    )
    step = 30 if len(shown) <= _LEGIBLE else 16
    ink = alt.condition("datum.strong", alt.value("white"), alt.value(CELL_INK))
    numbers = base.mark_text(fontSize=10).encode(text="text:N", color=ink)
    layers = alt.layer(*([blank] if grey else []), rectangles, *([numbers] if len(shown) <= _LEGIBLE else []))
    return layers.properties(width=alt.Step(step), height=alt.Step(step))


def heat_chart(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float | None]], heading: Heading
) -> "alt.LayerChart":
    """A table of scores from 0 to 1 with its numbers; what has no score stays blank."""
    alt = the_altair()
    cells = [
        {"row": row, "column": column, "score": score, "text": f"{score:.3f}", "strong": score > 0.75}
        for row, line in zip(rows, values, strict=True)
        for column, score in zip(columns, line, strict=True)
        if score is not None
    ]
    if not cells:
        raise ChartError("There is nothing to draw: no cell of the table has a score.")
    base = alt.Chart(alt.Data(values=cells)).encode(
        x=alt.X(
            "column:N", sort=list(columns), title=None, scale=alt.Scale(domain=list(columns)),
            axis=alt.Axis(labelLimit=240, labelAngle=-45, orient="top"),
        ),
        y=alt.Y("row:N", sort=list(rows), title=None, axis=alt.Axis(labelLimit=240), scale=alt.Scale(domain=[*rows])),
    )  # fmt: skip
    colour = alt.Color("score:Q", scale=alt.Scale(domain=[0, 1], range=[EVEN, WINS]), legend=alt.Legend(title="score"))
    ink = alt.condition("datum.strong", alt.value("white"), alt.value(CELL_INK))
    layers = alt.layer(
        base.mark_rect().encode(color=colour), base.mark_text(fontSize=10).encode(text="text:N", color=ink)
    )
    return titled(layers.properties(width=alt.Step(64), height=alt.Step(26)), heading)


def save(chart: Any, path: Place) -> None:
    """Written whole or not at all. Raises ChartError for a suffix that is none of SUFFIXES, OutputRefused."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ChartError(f"A picture is written as {', '.join(SUFFIXES)}; {path.name} ends in none of them.")
    if suffix == ".svg":
        write_out(path, svg(chart).encode())
        return
    import vl_convert

    spec = _fit_for_xml(_themed(chart).to_dict())
    if suffix == ".png":
        write_out(path, vl_convert.vegalite_to_png(spec, scale=2))
    else:
        write_out(path, vl_convert.vegalite_to_html(spec, bundle=True).encode())


def svg(chart: Any, *, padding: int = _PADDING) -> str:
    import vl_convert

    return _with_room(vl_convert.vegalite_to_svg(_fit_for_xml(_themed(chart, padding=padding).to_dict())))


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
        raise ChartError(f"{path} cannot be written: {trouble.strerror or trouble}.") from trouble


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
                f"Pictures need the extra `report` ({name} is missing); from the clone: pip install '.[report]'."
            )
    import altair

    return altair


def _cut(heading: Heading, count: int, *, noun: str = "models") -> Heading:
    if count <= MANY:
        return heading
    words = f"the first {MANY} of {count:,} {noun}"
    return Heading(title=heading.title, subtitle=f"{heading.subtitle}\n{words}" if heading.subtitle else words)


def titled(chart: Any, heading: Heading) -> Any:
    alt = the_altair()
    lines = heading.subtitle.split("\n") if heading.subtitle else alt.Undefined
    title = alt.TitleParams(
        heading.title, subtitle=lines, anchor="start", fontSize=15, fontWeight=600,
        subtitleColor=MUTED, color=INK, offset=12,
    )  # fmt: skip
    return chart.properties(title=title)


def _themed(chart: Any, *, padding: int = _PADDING) -> Any:
    return (
        chart.configure(background="white", padding=padding)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=MUTED, titleFontWeight="normal", gridColor="#e4e7eb", domainColor="#cbd2d9",
            tickColor="#cbd2d9", labelFontSize=11, labelFlush=False,
        )
        .configure_legend(labelColor=INK, titleColor=MUTED, titleFontWeight="normal")
    )  # fmt: skip
