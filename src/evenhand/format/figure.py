"""A chart as a figure of a page: its heading in words that fold, the picture in the page's own colours."""

import re
from html import escape
from typing import Any

from evenhand.format.charts import ACCENT, EVEN, INK, LOSES, MUTED, svg
from evenhand.format.printable import printable
from evenhand.format.tables import unbroken

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


def figure(chart: Any, words: str = "", *, kind: str = "", larger: float = _LARGER) -> str:
    """`words`: what is told to those who do not see it; its heading by default."""
    title, lines = chart.title.text, chart.title.subtitle
    spans = "".join(f"<span>{escape(printable(unbroken(line)))}</span>" for line in lines if isinstance(lines, list))
    picture = svg(chart.properties(title=""), padding=4)
    named = f' class="{kind}"' if kind else ""
    return (
        f'<figure{named} tabindex="0"><figcaption>{escape(printable(title))}{spans}</figcaption>'
        f"{_scaled(_told_as(in_page_colours(picture), words or title), larger)}</figure>"
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
