"""The latest audit of a judge, as it stands under the boards that the judge made."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from rich.console import Console

from evenhand.ledger.record import Ledger
from evenhand.ledger.runs import runs
from evenhand.reports.evidence import Origin
from evenhand.reports.tables import escape, per_cent, unbroken

REPORT_COMMAND = "audit report"
"""The command of the run whose outcome keeps a report."""

Unit: TypeAlias = Literal["share", "effect"]
"""How a measure is told: in per cent, or as a number with a sign that is 0 for a judge without that fault."""

_UNDER_A_BOARD = ("swap_consistency", "first_position", "length_effect", "planted_effect", "looks", "human_agreement")


def latest_audit(ledger: Ledger, judge: str) -> Mapping[str, Any] | None:
    """The document of the newest audit of the judge of this name, whatever its protocol and settings."""
    for run in runs(ledger, command=REPORT_COMMAND):
        report = (run.outcome or {}).get("report")
        if report is not None and report["judge"] == judge:
            return report
    return None


def print_latest_audit(ledger: Ledger, origin: Origin, console: Console) -> None:
    """Under a board: what an audit of its judge found, and how far it was made otherwise than the board."""
    if origin.judge is None or origin.human:
        return
    console.print()
    for sentence in audit_sentences(latest_audit(ledger, origin.judge), origin):
        console.print(unbroken(escape(sentence)))


def audit_sentences(report: Mapping[str, Any] | None, origin: Origin) -> list[str]:
    if report is None:
        return [f"No audit of this judge is on record; `evenhand audit --judge {origin.judge}` makes one."]
    other = "" if report["protocol"] == origin.protocol else " (other protocol)"
    other_readout = "" if report["readout"] == origin.readout else " (other readout)"
    other_data = "" if report["benchmark"] == origin.benchmark else " (other benchmark)"
    settings = ", ".join(f"{name} {value}" for name, value in report["settings"].items()) or "no settings"
    day = time.strftime("%Y-%m-%d", time.localtime(report["at"]))
    head = (
        f"Latest audit of this judge: {day}, {report['protocol']}{other}, {report['readout']} readout{other_readout}, "
        f"sees {report['see']}, {settings}, on {report['benchmark']}{other_data}."
    )
    return [head, *_told_measures(report["measures"])]


def _told_measures(measures: Sequence[Mapping[str, Any]]) -> list[str]:
    by_name = {one["name"]: one for one in measures}
    found = [
        f"{name.replace('_', ' ')} {told(one['value'], one['unit'])} "
        f"({told(one['lower'], one['unit'])} to {told(one['upper'], one['unit'])})"
        for name in _UNDER_A_BOARD
        if (one := by_name.get(name)) is not None and one["value"] is not None
    ]
    return [f"It found: {', '.join(found)}."] if found else ["It measured nothing."]


def told(value: float | None, unit: Unit) -> str:
    if value is None:
        return "–"
    return per_cent(value) if unit == "share" else f"{value:+.3f}"
