"""An audit as a part of an HTML page, pictures and style included: it needs nothing from anywhere else."""

import time
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from evenhand.audit.charts import audit_charts
from evenhand.audit.document import told
from evenhand.files.outputs import Place
from evenhand.format.charts import write_out
from evenhand.format.figure import figure
from evenhand.format.tables import unbroken
from evenhand.prompts import Template

_FILE = "section.html"
_PAGE = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
    'initial-scale=1"><meta name="color-scheme" content="light dark"><title>{title}</title><style>body {{ margin: 0; '
    "background: Canvas; }}</style></head>\n<body>\n{body}\n</body></html>\n"
)


def audit_section(document: Mapping[str, Any]) -> str:
    """Of an audit's JSON document, as it is printed and kept. Raises ChartError where pictures cannot be drawn."""
    template = Template.parse(files("evenhand.audit").joinpath(_FILE).read_text(encoding="utf-8"), source=_FILE)
    drawn = [figure(chart) for chart in audit_charts(document).values()]
    return template.fill(
        {
            "judge": escape(str(document["judge"])),
            "about": escape(_about(document)),
            "conclusion": _conclusion(document),
            "findings": "\n".join(_findings(document)),
            "pictures": "\n".join(drawn),
            "rows": "\n".join(_row(one) for one in document["measures"]),
        }
    )


def write_page(document: Mapping[str, Any], path: Place) -> None:
    """The section alone, as one file. Raises ChartError where it cannot be written."""
    title = escape(f"Audit of {document['judge']}")
    write_out(path, _PAGE.format(title=title, body=audit_section(document)).encode())


def _about(document: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in document["settings"].items())
    day = time.strftime("%Y-%m-%d", time.localtime(document["at"]))
    coverage = document["coverage"]
    parts = [
        f"{document['protocol']} on {document['benchmark']}",
        f"{document['readout']} readout",
        f"sees {document['see']}",
        *([settings] if settings else []),
        day,
        f"{coverage['with_verdict']} of {coverage['wanted']} trials have a verdict",
    ]
    return "; ".join(parts)


def _conclusion(document: Mapping[str, Any]) -> str:
    """Reports made before there was one have none."""
    words = document.get("conclusion")
    return f'<p class="eh-conclusion">{escape(unbroken(words))}</p>' if words else ""


def _findings(document: Mapping[str, Any]) -> list[str]:
    said = [
        f"<li>{escape(unbroken(sentence))}</li>" for sentence in (*document.get("findings", ()), *document["notes"])
    ]
    ruled = [
        f'<li class="eh-{one["result"].replace(" ", "-")}">{escape(one.get("sentence") or one["rule"])}</li>'
        for one in document["gate"]
    ]
    return [*said, *ruled]


def _begun(words: str) -> str:
    """With a capital."""
    return words[:1].upper() + words[1:]


def _row(one: Mapping[str, Any]) -> str:
    unit = one["unit"]
    name = escape(one["name"].replace("_", " "))
    bounds = "" if one["lower"] is None else f"{told(one['lower'], unit)} to {told(one['upper'], unit)}"
    why = f"{escape(_begun(one['reason']))}. " if one.get("reason") else ""
    left_out = f" Sets not read whole, and left out: {one['left_out']}." if one.get("left_out") else ""
    return (
        f'<tr{" class=eh-part" if one.get("part_of") else ""}><th scope="row">{name}</th>'
        f'<td class="eh-number">{told(one["value"], unit)}</td><td class="eh-number">{bounds}</td>'
        f'<td class="eh-number">{one["n"]:g}</td><td class="eh-design">{why}{escape(one["design"])}{left_out}</td></tr>'
    )
