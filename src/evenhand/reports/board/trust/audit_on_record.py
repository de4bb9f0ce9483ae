"""The latest audit of a judge, as it stands under the boards that the judge made."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from evenhand.audit.document import (
    ASKED_OTHERWISE,
    AUDIT_COMMAND,
    PROBLEMS_FOUND,
    PROBLEMS_FOUND_BEFORE,
    REPORT_COMMAND,
    condition_json,
    estimate_in,
    interval_told,
    told,
)
from evenhand.benchmarks.data_error import listed
from evenhand.domain.identity import Json
from evenhand.domain.response import REFERENCE
from evenhand.format.words import unbroken
from evenhand.ledger.store.opening import NOT_REPEATED, holds_password
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import runs
from evenhand.reports.board.evidence import EvidenceSource
from evenhand.reports.board.trust.audit_hint import audit_command

if TYPE_CHECKING:
    from rich.console import Console

_UNDER_A_BOARD = ("swap_consistency", "first_position", "length_effect", "planted_effect", "looks", "human_agreement")

AsSeen: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]

_FAR_FEWER = 4
"""So many times the cases of a newer audit make an older one the better witness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOnRecord:
    """An audit's document beside a board of the same judge."""

    report: Mapping[str, Any]
    differs: tuple[str, ...]
    """What was not as on the board."""
    without: tuple[str, ...] = ()
    """Models of the board whose answers the audit did not compare."""
    tells: tuple[str, ...] = ()
    """Measures that stand under the board as this audit found them."""

    @property
    def at(self) -> float:
        return self.report["at"]

    @property
    def measured(self) -> dict[str, Mapping[str, Any]]:
        """What of it can stand under a board, by name."""
        by_name = {one["name"]: one for one in self.report["measures"] if one["value"] is not None}
        return {name: by_name[name] for name in _UNDER_A_BOARD if name in by_name}

    def cases(self, name: str) -> float:
        """Of a measure; 0 where it has no value."""
        return self.measured.get(name, {}).get("n", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audits:
    told: tuple[AuditOnRecord, ...]
    """Those made alike that fit the board best, the newest first: of each measure the newest, or an older one with far
    more cases."""
    outweighed: tuple[AuditOnRecord, ...]
    """Made as those told, and newer than one whose number stands for theirs."""
    later: AuditOnRecord | None
    """The newest, where it is later than those told and was made otherwise than the board."""
    unfinished_at: float | None
    """When a later one was begun that has not ended."""

    def as_json(self) -> dict[str, Json] | None:
        """The first one's document."""
        if not self.told:
            return None
        first = self.told[0]
        differs: list[Json] = [*first.differs, *_without(first)]
        return {**first.report, "differs": differs, "unfinished_at": self.unfinished_at}


def problems_found(document: Mapping[str, Any]) -> str | None:
    """What an audit's findings say is wrong; None where nothing is."""
    heads = [f"{words}: " for words in (PROBLEMS_FOUND, PROBLEMS_FOUND_BEFORE)]
    findings = ((said, head) for said in document.get("findings", ()) for head in heads)
    return next((said.removeprefix(head) for said, head in findings if said.startswith(head)), None)


def latest_audits(ledger: Ledger, origin: EvidenceSource, as_seen: AsSeen | None = None) -> Audits:
    """Of the board's judge: those made as the board was come first, then the newest; a later one that has not ended or
    that measured nothing hides none of them. `as_seen`: a report as its reader may see it."""
    reports = [report for run in runs(ledger, command=REPORT_COMMAND) if (report := (run.outcome or {}).get("report"))]
    own = [as_seen(one) if as_seen else one for one in reports if one["judge"] == origin.judge]
    found = [
        AuditOnRecord(report=one, differs=differences(one, origin), without=_not_compared(one, origin)) for one in own
    ]
    found = sorted((one for one in found if one.measured), key=lambda one: -one.at)
    best = min(found, key=lambda one: len(one.differs) > 0, default=None)
    alike = [one for one in found if best is not None and one.differs == best.differs]
    chosen = {name: one for name in _UNDER_A_BOARD if (one := _witness(name, alike)) is not None}
    told = [
        replace(one, tells=tuple(name for name, witness in chosen.items() if witness is one))
        for one in alike
        if any(witness is one for witness in chosen.values())
    ]
    outweighed = [one for one in alike if any(name in one.measured and chosen[name].at < one.at for name in chosen)]
    ended = max((one["at"] for one in own), default=0.0)
    begun = [run.at for run in runs(ledger, command=AUDIT_COMMAND) if run.settings.get("judge") == origin.judge]
    newest = max(begun, default=0.0)
    return Audits(
        told=tuple(told),
        outweighed=tuple(outweighed),
        later=found[0] if found and found[0] not in alike else None,
        unfinished_at=newest if newest > ended else None,
    )


def _witness(name: str, newest_first: Sequence[AuditOnRecord]) -> AuditOnRecord | None:
    """The newest that has not far fewer cases than another."""
    measured = [one for one in newest_first if name in one.measured]
    most = max((one.cases(name) for one in measured), default=0)
    return next((one for one in measured if one.cases(name) * _FAR_FEWER >= most), None)


def _not_compared(report: Mapping[str, Any], origin: EvidenceSource) -> tuple[str, ...]:
    """An audit without a part for pairs, and an older report, name no models."""
    compared = report.get("models")
    return tuple(one for one in origin.models if one not in (*compared, REFERENCE)) if compared else ()


def _without(one: AuditOnRecord) -> list[str]:
    return [f"without {listed(one.without)}"] if one.without else []


def differences(report: Mapping[str, Any], origin: EvidenceSource) -> tuple[str, ...]:
    """In what the audit was made otherwise than the board; an older report says less of it."""
    there: Mapping[str, Any] = report.get("asked") or {name: report[name] for name in ("protocol", "readout", "see")}
    words: list[str] = []
    if origin.condition is not None:
        here = condition_json(origin.condition)
        changed = [name for name in there if there[name] != here.get(name)]
        # Another protocol has other words too.
        words = [ASKED_OTHERWISE[name] for name in changed if not (name == "prompt_hash" and "protocol" in changed)]
    if origin.rater is not None and report["judge_key"] != origin.rater.key:
        words += _other_rater(report, origin.rater.endpoint, origin.rater.settings.as_json())
    if report["benchmark"] != origin.benchmark:
        words.append("other benchmark")
    elif origin.data is not None and report.get("data", origin.data) != origin.data:
        words.append("other data")
    elif report.get("variant", "default") != (origin.variant or "default"):
        words.append("other answers")
    return tuple(words)


def _other_rater(report: Mapping[str, Any], endpoint: str, settings: Mapping[str, Any]) -> list[str]:
    audited: Mapping[str, Any] = report["settings"]
    names = sorted(name for name in {*audited, *settings} if audited.get(name) != settings.get(name))
    words = [f"other {name.replace('_', ' ')}" for name in names]
    if report.get("endpoint", endpoint) != endpoint or not words:
        words.insert(0, "other endpoint")
    return words


def is_audited(ledger: Ledger, origin: EvidenceSource) -> bool:
    """Whether an audit of a board's judge will be told under it."""
    return origin.judge is not None and not origin.human and bool(latest_audits(ledger, origin).told)


def print_latest_audit(
    ledger: Ledger, origin: EvidenceSource, console: "Console", *, program: str = "evenhand", explain: bool = False
) -> None:
    """Under a board: what an audit of its judge found, and how far it was made otherwise than the board."""
    from evenhand.format.tables import escape

    if origin.judge is None or origin.human:
        return
    command = audit_command(ledger, origin, audited=AUDIT_COMMAND, program=program)
    audits = latest_audits(ledger, origin)
    told = audit_sentences(audits, origin, command=command)
    if explain:
        console.print()
    elif audits.told:
        told = [_shortly(audits.told[0])]
    else:
        told = told[:1]
    for sentence in told:
        console.print(unbroken(escape(sentence.replace(f"`{command}`", "the command below"))))
    if any(command in sentence for sentence in told):
        # In one piece, so that it can be copied.
        console.print(f"\n  {escape(command)}", soft_wrap=True)
        if holds_password(ledger.url):
            console.print(f"\n{NOT_REPEATED}")


def _shortly(one: AuditOnRecord) -> str:
    differs = f", asked otherwise ({', '.join(one.differs)})" if one.differs else ""
    wrong = problems_found(one.report)
    problems = f"{PROBLEMS_FOUND.lower()}: {wrong}" if wrong else "no problem was found in what it measured."
    return f"Latest audit of this judge ({_day(one.at)}{differs}): {problems}"


def audit_sentences(audits: Audits, origin: EvidenceSource, *, command: str | None = None) -> list[str]:
    """`command`: the one that would audit the judge; without it, as on pages for others, no path or address is told."""
    command = f"`{command or f'evenhand audit --judge {origin.judge}'}`"
    unfinished = ""
    if audits.unfinished_at is not None:
        unfinished = f"An audit begun on {_day(audits.unfinished_at)} was not finished; {command} goes on with it."
    if not audits.told:
        none = (
            "No audit of this judge is on record" if not unfinished else "No finished audit of this judge is on record"
        )
        return [f"{none}; {command} makes one.", *([unfinished] if unfinished else [])]
    sentences: list[str] = []
    for place, one in enumerate(audits.told):
        label = (
            "Latest audit of this judge" if audits.later is None else "Latest audit of this judge made as this board"
        )
        sentences += [_head(one, label if place == 0 else "An earlier audit of this judge"), _found(one)]
    sentences += [_outweighed(one, audits.told) for one in audits.outweighed]
    if audits.later is not None:
        sentences.append(
            f"A later one ({_minute(audits.later.at)}) was made otherwise: {', '.join(audits.later.differs)}."
        )
    return [*sentences, *([unfinished] if unfinished else [])]


def _head(one: AuditOnRecord, what: str) -> str:
    report = one.report
    settings = ", ".join(f"{name} {value}" for name, value in report["settings"].items()) or "no settings"
    without = _without(one)
    differs = f" ({', '.join([*one.differs, *without])})"
    if not one.differs:
        differs = ", ".join(["", "asked as on this board", *without])
    coverage = report["coverage"]
    ended = coverage["with_verdict"] + sum(coverage["reasons"].values())
    part = f", {ended} of {coverage['wanted']} trials asked" if ended < coverage["wanted"] else ""
    return (
        f"{what}: {_minute(one.at)}, {report['protocol']}, {report['readout']} readout, sees {report['see']}, "
        f"{settings}, on {report['benchmark']}{differs}{part}."
    )


def _found(one: AuditOnRecord) -> str:
    found = [
        f"{name.replace('_', ' ')} {told(estimate_in(measure), measure['unit'])} "
        f"({interval_told(estimate_in(measure), measure['unit'])})"
        for name, measure in one.measured.items()
        if name in one.tells
    ]
    return f"It found: {', '.join(found)}."


def _outweighed(one: AuditOnRecord, others: Sequence[AuditOnRecord]) -> str:
    older = {name for other in others if other.at < one.at for name in other.tells}
    names = ", ".join(name.replace("_", " ") for name in one.measured if name in older)
    return f"A newer one ({_minute(one.at)}) has far fewer cases of {names}."


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def _minute(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
