"""A chart as a figure of a page: its heading in words that fold, the picture in the page's own colours."""

import re
from html import escape
from typing import TYPE_CHECKING, Any, cast

from evenhand.format.charts import ACCENT, EVEN, INK, LOSES, MUTED, svg
from evenhand.format.html import rendered
from evenhand.format.printable import printable

if TYPE_CHECKING:
    from markupsafe import Markup

# The page's own colours, so that a picture is as dark as the page; a white number on a full cell stays white.
_COLOURS = {
    INK: "var(--eh-ink)",
    MUTED: "var(--eh-soft)",
    ACCENT: "var(--eh-accent)",
    LOSES: "var(--eh-fault)",
    EVEN: "var(--eh-even)",
    "#e4e7eb": "var(--eh-line)",
    "#cbd2d9": "var(--eh-line)",
}
_GROUND = re.compile(r'<rect[^>]*fill="white"[^>]*/?>(?:</rect>)?')
_OF_PARTS = re.compile(r' (?:role|aria-label|aria-roledescription|aria-hidden)="[^"]*"')
_SIZE = re.compile(r' width="([\d.]+)" height="([\d.]+)"')
_LARGER = 1.2


def figure(chart: Any, words: str = "", *, kind: str = "", larger: float = _LARGER) -> "Markup":
    """`words`: what is told to those who do not see it; its heading by default."""
    from markupsafe import Markup

    title, lines = chart.title.text, chart.title.subtitle
    picture = _told_as(in_page_colours(svg(chart.properties(title=""), padding=4)), words or title)
    return rendered(
        "format/figure.html",
        kind=kind,
        title=title,
        lines=cast("list[str]", lines) if isinstance(lines, list) else [],
        picture=Markup(_scaled(picture, larger)),  # noqa: S704  words are escaped where they are drawn
    )


def in_page_colours(picture: str) -> str:
    picture = _GROUND.sub("", picture, count=1)
    for colour, name in _COLOURS.items():
        picture = picture.replace(colour, name)
    return picture


def _told_as(picture: str, words: str) -> str:
    # The whole is one image with a name: what is told of its parts nobody would hear.
    picture = _OF_PARTS.sub("", picture)
    return printable(picture.replace("<svg ", f'<svg role="img" aria-label="{escape(printable(words))}" ', 1))


def _scaled(picture: str, by: float) -> str:
    """Where the page has less room, it shrinks again."""

    def size(edges: re.Match[str]) -> str:
        width, height = (round(by * float(edge)) for edge in edges.groups())
        return f' width="{width}" height="{height}"'

    return _SIZE.sub(size, picture, count=1)
