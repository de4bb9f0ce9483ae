"""The latest audit of a judge, as it stands under the boards that the judge made."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from rich.console import Console

from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition
from evenhand.ledger.record import Ledger
from evenhand.ledger.runs import runs
from evenhand.reports.evidence import Origin
from evenhand.reports.tables import escape, per_cent, unbroken

REPORT_COMMAND = "audit report"
"""The command of the run whose outcome keeps a report."""
AUDIT_COMMAND = "audit"

Unit: TypeAlias = Literal["share", "effect"]
"""How a measure is told: in per cent, or as a number with a sign that is 0 for a judge without that fault."""

_UNDER_A_BOARD = ("swap_consistency", "first_position", "length_effect", "planted_effect", "looks", "human_agreement")

_ASKED_OTHERWISE = {
    "protocol": "other protocol",
    "prompt_hash": "other prompt text",
    "readout": "other readout",
    "see": "shown other than the board's judge",
    "fenced": "other fence",
    "image_detail": "other image detail",
    "max_image_edge": "other image size",
    "extractor": "other extractor",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOnRecord:
    """An audit's document beside a board of the same judge."""

    report: Mapping[str, Any]
    differs: tuple[str, ...]
    """What was not as on the board."""

    @property
    def measured(self) -> dict[str, Mapping[str, Any]]:
        """What of it stands under a board, by name."""
        by_name = {one["name"]: one for one in self.report["measures"] if one["value"] is not None}
        return {name: by_name[name] for name in _UNDER_A_BOARD if name in by_name}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audits:
    told: tuple[AuditOnRecord, ...]
    """The one that fits best, and such as measured what it did not; those that measured nothing left out."""
    unfinished_at: float | None
    """When a later one was begun that has not ended."""

    def as_json(self) -> dict[str, Json] | None:
        """The first one's document."""
        if not self.told:
            return None
        first = self.told[0]
        return {**first.report, "differs": list(first.differs), "unfinished_at": self.unfinished_at}


def condition_json(condition: Condition) -> dict[str, Json]:
    return {name: getattr(condition, name) for name in _ASKED_OTHERWISE}


def latest_audits(ledger: Ledger, origin: Origin) -> Audits:
    """Of the board's judge: those made as the board was come first, then the newest; a later one that has not ended or
    that measured nothing hides none of them."""
    reports = [report for run in runs(ledger, command=REPORT_COMMAND) if (report := (run.outcome or {}).get("report"))]
    found = [AuditOnRecord(report=one, differs=differences(one, origin)) for one in reports]
    ended = max((one.report["at"] for one in found if one.report["judge"] == origin.judge), default=0.0)
    found = [one for one in found if one.report["judge"] == origin.judge and one.measured]
    found.sort(key=lambda one: (len(one.differs) > 0, -one.report["at"]))
    told: list[AuditOnRecord] = []
    for one in found:
        known = {name for other in told for name in other.measured}
        if one.differs == found[0].differs and not set(one.measured) <= known:
            told.append(one)
    begun = [run.at for run in runs(ledger, command=AUDIT_COMMAND) if run.settings.get("judge") == origin.judge]
    newest = max(begun, default=0.0)
    return Audits(told=tuple(told), unfinished_at=newest if newest > ended else None)


def differences(report: Mapping[str, Any], origin: Origin) -> tuple[str, ...]:
    """In what the audit was made otherwise than the board; an older report says less of it."""
    there: Mapping[str, Any] = report.get("asked") or {name: report[name] for name in ("protocol", "readout", "see")}
    words: list[str] = []
    if origin.condition is not None:
        here = condition_json(origin.condition)
        changed = [name for name in there if there[name] != here.get(name)]
        # Another protocol has other words too.
        words = [_ASKED_OTHERWISE[name] for name in changed if not (name == "prompt_hash" and "protocol" in changed)]
    if origin.rater is not None and report["judge_key"] != origin.rater.key:
        words += _other_rater(report, origin.rater.endpoint, origin.rater.settings.as_json())
    if report["benchmark"] != origin.benchmark:
        words.append("other benchmark")
    return tuple(words)


def _other_rater(report: Mapping[str, Any], endpoint: str, settings: Mapping[str, Any]) -> list[str]:
    audited: Mapping[str, Any] = report["settings"]
    names = sorted(name for name in {*audited, *settings} if audited.get(name) != settings.get(name))
    words = [f"other {name.replace('_', ' ')}" for name in names]
    if report.get("endpoint", endpoint) != endpoint or not words:
        words.insert(0, "other endpoint")
    return words


def print_latest_audit(ledger: Ledger, origin: Origin, console: Console) -> None:
    """Under a board: what an audit of its judge found, and how far it was made otherwise than the board."""
    if origin.judge is None or origin.human:
        return
    console.print()
    for sentence in audit_sentences(latest_audits(ledger, origin), origin):
        console.print(unbroken(escape(sentence)))


def audit_sentences(audits: Audits, origin: Origin) -> list[str]:
    command = f"`evenhand audit --judge {origin.judge}`"
    unfinished = ""
    if audits.unfinished_at is not None:
        unfinished = f"An audit begun on {_day(audits.unfinished_at)} was not finished; {command} goes on with it."
    if not audits.told:
        none = (
            "No audit of this judge is on record" if not unfinished else "No finished audit of this judge is on record"
        )
        return [f"{none}; {command} makes one.", *([unfinished] if unfinished else [])]
    sentences: list[str] = []
    known: set[str] = set()
    for place, one in enumerate(audits.told):
        sentences += [_head(one, "Latest audit" if place == 0 else "An earlier audit"), _found(one, known)]
        known |= set(one.measured)
    return [*sentences, *([unfinished] if unfinished else [])]


def _head(one: AuditOnRecord, what: str) -> str:
    report = one.report
    settings = ", ".join(f"{name} {value}" for name, value in report["settings"].items()) or "no settings"
    differs = f" ({', '.join(one.differs)})" if one.differs else ", asked as on this board"
    coverage = report["coverage"]
    ended = coverage["with_verdict"] + sum(coverage["reasons"].values())
    part = f", {ended} of {coverage['wanted']} trials asked" if ended < coverage["wanted"] else ""
    return (
        f"{what} of this judge: {_day(report['at'])}, {report['protocol']}, {report['readout']} readout, sees "
        f"{report['see']}, {settings}, on {report['benchmark']}{differs}{part}."
    )


def _found(one: AuditOnRecord, known: set[str]) -> str:
    found = [
        f"{name.replace('_', ' ')} {told(measure['value'], measure['unit'])} "
        f"({told(measure['lower'], measure['unit'])} to {told(measure['upper'], measure['unit'])})"
        for name, measure in one.measured.items()
        if name not in known
    ]
    return f"It found: {', '.join(found)}."


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def told(value: float | None, unit: Unit) -> str:
    if value is None:
        return "–"
    return per_cent(value) if unit == "share" else f"{value:+.3f}"
