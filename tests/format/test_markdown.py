"""Claims about Markdown that somebody else wrote: it stays text, asks nobody, and holds up no page."""

from html.parser import HTMLParser

import pytest

from evenhand.format import markdown
from evenhand.format.markdown import MOST_COLUMNS, MOST_LINES, rendered

TAGS = {
    "p", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "br",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {"class", "tabindex", "start", "style"}


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: dict[str, set[str]] = {}
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(text: str) -> Seen:
    found = Seen()
    made = rendered(text)
    assert made is not None
    found.feed(made)
    return found


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "[go](javascript:alert(1))",
        "[go][1]\n\n[1]: javascript:alert(1)",
        "![i](http://elsewhere.example/i.png)",
        "![i](data:image/svg+xml;base64,PHN2Zy8+)",
        "[go](data:text/html,<script>alert(1)</script>)",
        "<http://elsewhere.example>",
        "http://elsewhere.example",
        '```" onmouseover="alert(1)\ncode\n```',
        "<!-- --><iframe src=//elsewhere.example></iframe>",
        "&lt;script&gt;",
        "</div></main><form action=//elsewhere.example>",
        '<style>body{background:url("//elsewhere.example")}</style>',
        "| <img src=x onerror=alert(1)> |\n|:-:|\n| [go](javascript:alert(1)) |",
        "# <b onclick=alert(1)>head</b>",
        "\x00<script>\x00alert(1)",
        "\u202e<script>\u2028alert(1)</script>",
        "half \ud83d <script>a</script>",
    ],
)
def test_no_tag_no_address_and_no_script_of_theirs_goes_through(hostile: str):
    found = seen(f"**marked**\n\n{hostile}\n\n> {hostile}\n\n- {hostile}")
    assert found.tags <= TAGS
    assert found.attributes.keys() <= ATTRIBUTES
    assert all(
        value.startswith(("heading", "text-align:")) or value.isdigit()
        for some in found.attributes.values()
        for value in some
    )


@pytest.mark.parametrize(
    "long",
    [
        "**a**\n" + "b\n" * MOST_LINES,
        ">" * 5000 + "a\n" + "b\n" * 20_000,
        "|a" * 10_000 + "\n" + "|-" * 10_000 + "\n" + "|\n" * 5,
        "> " + "|a" * (MOST_COLUMNS + 1) + "|\n> " + "|:-:" * (MOST_COLUMNS + 1) + "|\n" + "a\n" * 100,
        "**a** " * 10_000,
    ],
    ids=["lines", "lazy quote", "wide table", "table in a quote", "characters"],
)
def test_what_would_take_long_is_shown_as_it_was_written(long: str):
    assert rendered(long) is None


@pytest.mark.parametrize(
    "deep", [">" * 10_000 + " a", "> " * 10_000 + "a", "- " * 10_000 + "a", "1. " * 10_000, "*" * 40_000]
)
def test_no_depth_breaks_a_page(deep: str):
    made = rendered(f"**a**\n\n{deep}")
    assert made is not None
    assert made.count("<blockquote>") + made.count("<li>") <= 20


def test_a_text_shown_again_is_not_worked_out_again():
    markdown.rendered.cache_clear()
    assert rendered("**a**") is rendered("**a**")


def test_a_table_of_usual_width_is_one():
    head = "|a" * MOST_COLUMNS + "|\n" + "|-" * (MOST_COLUMNS - 1) + "|-\n"
    assert "table" in seen(head + "|b" * MOST_COLUMNS).tags
