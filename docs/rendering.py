"""For mkdocs: a fence that names its file, "```csv battles.csv", is a plain block of code; no page of lost links; what
the search field finds, as a script, since browsers let pages opened from disk load nothing else."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

_NAMED_FENCE = re.compile(r"^```(\w+) \S+$", flags=re.MULTILINE)
_HEADINGS = ("h1", "h2", "h3")


class _Sections(HTMLParser):
    """The words under each heading of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self._in_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HEADINGS:
            self._in_heading = True
            self.found.append({"anchor": dict(attrs).get("id") or "", "heading": "", "text": ""})

    def handle_endtag(self, tag: str) -> None:
        self._in_heading = self._in_heading and tag not in _HEADINGS
        self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1]["heading" if self._in_heading else "text"] += data


_SECTIONS: list[dict[str, str]] = []
"""Of all pages of one building."""


def on_pre_build(**_: object) -> None:
    _SECTIONS.clear()


def on_page_markdown(markdown: str, **_: object) -> str:
    return _NAMED_FENCE.sub(r"```\1", markdown)


def on_page_content(html: str, page: Any, **_: object) -> str:
    reader = _Sections()
    reader.feed(html)
    for number, one in enumerate(reader.found):
        # The first heading is the page's own, whose address needs no anchor.
        address = page.url if number == 0 else f"{page.url}#{one['anchor']}"
        words = {name: " ".join(one[name].split()) for name in ("heading", "text")}
        _SECTIONS.append({"address": address, "page": page.title, **words})
    return html


def on_post_build(config: Any, **_: object) -> None:
    # As ASCII without "<": whatever a page says, it stays text.
    found = json.dumps(_SECTIONS, separators=(",", ":")).replace("<", "\\u003c")
    Path(config.site_dir, "search-index.js").write_text(f"window.evenhandSections = {found};\n", encoding="ascii")


def on_post_template(output: str, template_name: str, **_: object) -> str:
    # Pages opened from disk have no lost addresses.
    return "" if template_name == "404.html" else output
