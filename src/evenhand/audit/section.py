"""An audit as a part of an HTML page, pictures and style included: it needs nothing from anywhere else."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.audit.charts import audit_charts
from evenhand.audit.document import estimate_in, interval_told, told
from evenhand.files.outputs import Place
from evenhand.format.charts import write_out
from evenhand.format.figure import figure
from evenhand.format.html import rendered

if TYPE_CHECKING:
    from markupsafe import Markup


def audit_section(document: Mapping[str, Any]) -> "Markup":
    """Of an audit's JSON document, as it is printed and kept. Raises ChartError where pictures cannot be drawn."""
    return rendered(
        "audit/section.html",
        document=document,
        about=_about(document),
        pictures=[figure(chart) for chart in audit_charts(document).values()],
        told=_told,
        interval_told=_interval_told,
    )


def _told(measure: Mapping[str, Any]) -> str:
    return told(estimate_in(measure), measure["unit"])


def _interval_told(measure: Mapping[str, Any]) -> str:
    return interval_told(estimate_in(measure), measure["unit"])


def write_page(document: Mapping[str, Any], path: Place) -> None:
    """The section alone, as one file. Raises ChartError where it cannot be written."""
    title = f"Audit of {document['judge']}"
    write_out(path, rendered("audit/page.html", title=title, section=audit_section(document)).encode())


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
