"""Markdown that somebody else wrote, as HTML for a page: no HTML of theirs, no image, no link goes through."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

LONGEST = 50_000
MOST_LINES = 1000
MOST_COLUMNS = 20
"""Characters, lines and columns of a table beyond which a text is shown as it was written: whoever writes must not
decide how long a page takes."""
_DELIMITERS = frozenset(" \t>|:-")
"""Of the line below a table's heading."""

_AS_WRITTEN = ("html_block", "html_inline", "image", "link", "autolink", "reference", "code", "entity")
"""What stays as it was written. An image or a link would tell another host who reads, definitions of links would vanish
from the text, and lines of a poem that begin with spaces are no code."""


@lru_cache(maxsize=256)
def rendered(text: str) -> Markup | None:
    """None for what is better shown as it was written: too long, or nothing in it but plain lines."""
    if len(text) > LONGEST or _takes_long(text.splitlines()):
        return None
    tokens = _parser().parse(text)
    if all(one.type in ("paragraph_open", "paragraph_close", "inline") and _plain(one) for one in tokens):
        return None
    return Markup(_parser().renderer.render(tokens, _parser().options, {}))  # noqa: S704  the renderer escapes all text


def _takes_long(lines: Sequence[str]) -> bool:
    return len(lines) > MOST_LINES or any(
        line.count("|") > MOST_COLUMNS and _DELIMITERS.issuperset(line) for line in lines
    )


def _plain(token: Token) -> bool:
    return all(one.type in ("text", "softbreak") for one in token.children or ())


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "linkify": False}).enable(
        ["table", "strikethrough"]
    )
    made.disable(list(_AS_WRITTEN))
    # Headings of an answer are not headings of the page.
    made.add_render_rule("heading_open", _heading_open)
    made.add_render_rule("heading_close", _heading_close)
    made.add_render_rule("fence", _fence)
    return made


def _heading_open(self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG001
    return f'<p class="heading heading-{tokens[idx].tag[1:]}">'


def _heading_close(self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG001
    return "</p>\n"


def _fence(self: RendererHTML, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG001
    """Whatever is said after the fence stays out of the page's own classes; a keyboard reaches wide code."""
    return str(Markup('<pre tabindex="0"><code>{}</code></pre>\n').format(tokens[idx].content))
