"""For mkdocs: a fence that names its file, "```csv battles.csv", is a plain block of code; no page of lost links."""

import re

_NAMED_FENCE = re.compile(r"^```(\w+) \S+$", flags=re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    return _NAMED_FENCE.sub(r"```\1", markdown)


def on_post_template(output: str, template_name: str, **_: object) -> str:
    # Pages opened from disk have no lost addresses.
    return "" if template_name == "404.html" else output
