"""A judge's report card as one page for a terminal."""

from rich.console import Console

from evenhand.audit.document import Unit, interval_told, told
from evenhand.audit.report_card import AuditReport
from evenhand.domain.estimate import Estimate
from evenhand.format.tables import escape, fitted
from evenhand.format.words import count, unbroken

_STYLES = {"met": "green", "not met": "bold red", "undecided": "bold yellow"}
_VALUES = 41
"""The column in which bounds and reasons begin."""


def print_audit(report: AuditReport, console: Console) -> None:
    """The conclusion first, then what was found and what the gate says, then every measure."""
    condition = report.condition
    console.print(f"[bold]Can {escape(report.judge.name)} be trusted?[/bold]")
    console.print(
        f"{condition.protocol} on {escape(report.benchmark)}, {condition.readout} readout, sees {condition.see}; "
        f"{coverage_words(report)}",
        style="dim",
    )
    console.print()
    console.print(unbroken(escape(report.conclusion)), style="bold")
    console.print()
    for sentence in (*report.findings, *report.notes):
        console.print(unbroken(escape(sentence)))
    for ruling in report.gate:
        console.print(unbroken(escape(report.sentence(ruling))), style=_STYLES[ruling.result])
    console.print()
    for one in report.measures:
        # Ways are long as names and told in words.
        name = f"  {one.way or one.name}" if one.part_of else one.name
        left_out = f", sets not read whole: {one.left_out}" if one.left_out else ""
        line = f"{_line(name, one.estimate, one.unit)}{left_out}"
        console.out(fitted(line, console.width, margin=_VALUES), highlight=False)
    console.print()
    _print_costs(report, console)


def coverage_words(report: AuditReport) -> str:
    """Apart for each protocol where there are several."""
    parts = [f"{name} {one.with_verdict} of {one.wanted}" for name, one in report.by_protocol.items()]
    apart = f" ({', '.join(parts)})" if len(parts) > 1 else ""
    return f"{report.coverage.with_verdict} of {report.coverage.wanted} trials have a verdict{apart}"


def _line(name: str, one: Estimate, unit: Unit) -> str:
    start = f"{name:31}"
    if one.value is None:
        return f"{start}{'–':>8}  {one.reason or ''}"
    bounds = "" if one.lower is None else interval_told(one, unit)
    return f"{start}{told(one, unit):>8}  {bounds:20}  n {count(one.n)}"


def _print_costs(report: AuditReport, console: Console) -> None:
    reasons = ", ".join(f"{number} {reason}" for reason, number in sorted(report.coverage.reasons.items()) if number)
    if reasons:
        console.print(f"Without a verdict: {reasons}.")
    price = "What a verdict cost is not known" if report.cost_usd is None else f"A verdict cost ${report.cost_usd:.6f}"
    seconds = "" if report.seconds is None else f"; it took {report.seconds:.2f} seconds"
    console.print(f"{price}{seconds}. An effect of 0 is no fault; looks is best at 0.5; --json tells designs.")
    if report.left_out:
        console.print(f"The whole design has {report.left_out:,} more trials; --budget allows more of them.")
