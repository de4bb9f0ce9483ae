"""A table of words and numbers as a part of an HTML page; everything in it is text."""

from collections.abc import Sequence
from html import escape

from evenhand.format.printable import printable
from evenhand.format.sheet import Sheet


def html_table(sheet: Sheet, *, level: int = 2) -> str:
    """Under a heading of this level."""
    heads = "".join(f'<th scope="col">{html_text(heading)}</th>' for heading in sheet.headings)
    rows = "\n".join(map(_row, sheet.rows))
    return (
        f"<h{level}>{html_text(sheet.title)}</h{level}>\n"
        f'<div class="eh-table"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>'
    )


def html_text(text: str) -> str:
    return escape(printable(text))


def _row(cells: Sequence[str]) -> str:
    first, *others = map(html_text, cells)
    return f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
