"""Pages are made from templates: what others wrote is text in them, and steers nothing."""

from evenhand.format.html import rendered
from evenhand.format.sheet import Sheet


def test_words_of_others_are_neither_markup_nor_slots_nor_control_characters() -> None:
    hostile = "<script>alert('x')</script> {{ title }} {% if %} \u202e\x1b[31m"
    page = str(
        rendered(
            "reports/description/page.html",
            title=hostile,
            notes=[hostile],
            pictures=[],
            sheets=[Sheet(title=hostile, headings=(hostile, "n"), rows=((hostile, "1"),))],
        )
    )
    shown = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; {{ title }} {% if %} \\u202e\\x1b[31m"
    assert page.count(shown) == 6
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_what_a_template_made_is_not_escaped_again() -> None:
    figure = rendered("format/figure.html", kind="", title="a < b", lines=[], picture="<svg>")
    page = rendered("audit/page.html", title="An audit", section=figure)
    assert "<figcaption>a &lt; b</figcaption>&lt;svg&gt;" in page
