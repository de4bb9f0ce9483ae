"""Verbs in an inner ring and their commonest nouns in an outer one, as in VisIT-Bench's Fig. 10."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evenhand.describe.verbs import VerbCount
from evenhand.format.charts import INK, Heading, chart_of, the_altair, titled

VERBS = 20
"""In the picture; the others would be too thin to read."""

_COLOURS = (
    "#1f6f8b", "#b5563c", "#5b7f4b", "#7a5c94", "#a9762a", "#3f6cae", "#9c4668", "#3d8275", "#8a6d4d", "#5c6673",
)  # fmt: skip
_HOLE, _MIDDLE, _RIM = 58, 134, 232
"""Radii in pixels."""
_LINE = 9
"""Pixels of a ring that a line of letters needs across."""
_LETTER = 5.6
"""Pixels of a letter, on average."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sector:
    """Angles in radians, clockwise from the top; radii in pixels."""

    start: float
    end: float
    inner: float
    outer: float
    colour: str
    text: str
    count: int

    @property
    def label(self) -> str:
        """Empty where there is no room for it."""
        middle = (self.inner + self.outer) / 2
        if (self.end - self.start) * middle < _LINE:
            return ""
        room = int((self.outer - self.inner - 10) / _LETTER)
        return self.text if len(self.text) <= room else f"{self.text[: room - 1]}…"

    @property
    def tilt(self) -> float:
        """Degrees by which the label turns to run along the radius, never upside down."""
        middle = math.degrees((self.start + self.end) / 2)
        return middle - 90 if middle <= 180 else middle - 270


def verb_sectors(verbs: Sequence[VerbCount]) -> list[Sector]:
    """Of the commonest verbs, each as wide as it is frequent: they close the circle."""
    shown = verbs[:VERBS]
    whole = sum(verb.count for verb in shown)
    sectors: list[Sector] = []
    at = 0
    for place, verb in enumerate(shown):
        turn = 2 * math.pi / whole
        colour = _colour(place, len(shown))
        sectors.append(
            Sector(
                start=at * turn,
                end=(at + verb.count) * turn,
                inner=_HOLE,
                outer=_MIDDLE,
                colour=colour,
                text=verb.verb,
                count=verb.count,
            )
        )
        at += verb.count
    return sectors


def noun_sectors(verbs: Sequence[VerbCount]) -> Iterator[Sector]:
    """Behind their verb, on its scale; what is left over of the verb's width has other nouns or none."""
    for verb, within in zip(verbs, verb_sectors(verbs), strict=False):
        turn = (within.end - within.start) / verb.count
        at = 0
        for noun, count in verb.nouns:
            start = within.start + at * turn
            yield Sector(
                start=start,
                end=start + count * turn,
                inner=_MIDDLE,
                outer=_RIM,
                colour=within.colour,
                text=noun,
                count=count,
            )
            at += count


def sunburst(verbs: Sequence[VerbCount], heading: Heading) -> Any:
    alt = the_altair()
    rings = [(verb_sectors(verbs), 1.0, "white"), (list(noun_sectors(verbs)), 0.32, INK)]
    layers = [layer for sectors, opacity, ink in rings for layer in _ring(sectors, opacity, ink)]
    cut = f"\nthe commonest {VERBS} of {len(verbs)} verbs" if len(verbs) > VERBS else ""
    chart = alt.layer(*layers).properties(width=2 * _RIM, height=2 * _RIM)
    return titled(chart, Heading(title=heading.title, subtitle=heading.subtitle + cut))


def _colour(place: int, number: int) -> str:
    """Neighbours differ, the last and the first too."""
    last = place == number - 1 and number > 1 and place % len(_COLOURS) == 0
    return _COLOURS[(place + 1 if last else place) % len(_COLOURS)]


def _ring(sectors: Sequence[Sector], opacity: float, ink: str) -> Iterator[Any]:
    alt = the_altair()
    rows = [{**asdict(one), "label": one.label, "tilt": one.tilt, "middle": _middle(one)} for one in sectors]
    base = chart_of(rows)
    plain: dict[str, Any] = {"scale": None, "stack": None}
    yield base.mark_arc(stroke="white", strokeWidth=1.2, fillOpacity=opacity).encode(
        theta=alt.Theta("start:Q", **plain),
        theta2=alt.Theta2("end:Q"),
        radius=alt.Radius("inner:Q", **plain),
        radius2=alt.Radius2("outer:Q"),
        color=alt.Color("colour:N", scale=None, legend=None),
    )
    at = (sectors[0].inner + sectors[0].outer) / 2 if sectors else 0
    yield base.mark_text(fontSize=10.5, color=ink, radius=at).encode(
        theta=alt.Theta("middle:Q", **plain), text=alt.Text("label:N"), angle=alt.Angle("tilt:Q", scale=None)
    )


def _middle(one: Sector) -> float:
    return (one.start + one.end) / 2
