"""Runs and trials as documents, and as text."""

import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import click

from evenhand.cli.saying import typeable
from evenhand.domain.study import PURPOSES
from evenhand.domain.verdict import Preference
from evenhand.exchange.judgements.row import IMPORTED
from evenhand.format.printable import printable
from evenhand.format.verdict_words import POSITIONS, by_position
from evenhand.ledger.read.projection import JudgedTrial, judged, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import RunOnRecord
from evenhand.reports.case import line_document

_WHAT_DIFFERS = ("endpoint", "protocol", "readout", "see")
"""Between trials, beside the judge's name."""
_ABOUT_THE_SCREEN = ("as_json", "quiet", "dry_run")
_OUTCOME_WORDS = {
    "imported": "imported",
    "planned": "wanted",
    "known": "known before",
    "called": "asked",
    "verdicts": "verdicts",
    "no_verdict": "without a decision",
    "failed": "failed",
    "cost_usd": "cost in dollars",
    "wall_s": "seconds",
}
_WIDEST = 120
"""Columns of text that a person can follow."""


def way_of_asking(document: Mapping[str, Any]) -> str:
    under = f"under {document['protocol']}"
    return under if _imported(document) else f"{under}, {document['readout']} readout, sees {document['see']}"


def _imported(document: Mapping[str, Any]) -> bool:
    """Then nobody knows how it was read, nor what the judge saw: its file says nothing of it."""
    return document["protocol"] == IMPORTED.protocol


def _whose(line: Mapping[str, Any], differ: Sequence[str]) -> str:
    known = [name for name in differ if not (_imported(line) and name in ("readout", "see"))]
    words = [line[name] for name in ("judge", *known)]
    return f"  ({', '.join(filter(None, words))})"


def print_trial(document: Mapping[str, Any]) -> None:
    print_heading(f"Trial {document['trial'][:12]}: item {document['item']}")
    _print_rater(document)
    if document["images"]:
        click.echo(f"images: {', '.join(name[:16] for name in document['images'])}")
    for place, answer in zip(POSITIONS, document["shown"], strict=False):
        said = f" ({', '.join(answer['says_to_judge'])})" if answer["says_to_judge"] else ""
        print_heading(f"Shown {place}: {answer['model']}{said}")
        click.echo(indented(answer["response"]))
    for call in document["calls"]:
        for message in call["messages"]:
            print_heading(f"Sent, {message['role']}")
            for part in message["parts"]:
                click.echo(indented(part if isinstance(part, str) else f"[image {part['image'][:16]}]"))
        if call["offer"]:
            begin, answers = call["offer"]
            print_heading("Offered")
            click.echo(indented(f"{begin}{' or '.join(repr(answer) for answer in answers)}"))
        if call["reasoning"]:
            print_heading("Reasoning, which is never read as a verdict")
            click.echo(indented(call["reasoning"]))
        price = "price unknown" if call["cost_usd"] is None else f"${call['cost_usd']:.6f}"
        waited = "" if call["seconds"] is None else f"{call['seconds']:.1f} s, "
        print_heading(f"Reply ({call['finish']}, {waited}{price})")
        click.echo(indented(call["reply"]))
    for judgement in document["judgements"]:
        print_heading("Read as")
        click.echo(indented(judgement["means"] if judgement["verdict"] else lacking(judgement)))
        _print_offered(judgement["notes"])
        click.echo(indented(f"by reader {judgement['reader'][:12]} in run {judgement['run']}"))


def _print_offered(notes: Mapping[str, Any]) -> None:
    if notes.get("log_odds") is not None:
        click.echo(
            indented(f"log-odds {notes['log_odds']:+.3f} for the first offered answer, mass {notes['mass']:.3f}")
        )
    if notes.get("offered"):
        likely = ", ".join(f"{answer!r} {share:.3f}" for answer, share in notes["offered"].items())
        click.echo(indented(f"probabilities among the offered: {likely}"))


def _print_rater(document: Mapping[str, Any]) -> None:
    click.echo(f"{document['rater']} {way_of_asking(document)}")
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in document["settings"].items())
    if settings or not _imported(document):
        click.echo(printable(settings or "the endpoint's own settings"))


def lacking(judgement: Mapping[str, Any]) -> str:
    return f"no verdict: {judgement['reason']}. {judgement['detail']}".strip()


def run_document(ledger: Ledger, run: RunOnRecord) -> dict[str, Any]:
    chosen = [one for one in studies(ledger, purposes=PURPOSES, everything=True) if one.key == run.study]
    raters = {one.rater.key: one.rater for one in chosen}
    conditions = {one.condition.key: one.condition for one in chosen}
    results = judged(ledger, chosen)
    return {
        "run": run.id,
        "command": run.command,
        "at": run.at,
        "ended_at": run.ended_at,
        "version": run.version,
        "settings": dict(run.settings),
        "outcome": run.outcome,
        "trials": [line_document(one, raters[one.trial.rater], conditions[one.trial.condition]) for one in results],
        "flips": _flips(results),
    }


def _flips(results: Iterable[JudgedTrial]) -> list[dict[str, Any]]:
    """Pairs whose verdict, mapped to the models, was not the same in both orders."""
    pairs: dict[tuple[Any, ...], list[JudgedTrial]] = {}
    for one in results:
        if isinstance(one.judgement.verdict, Preference):
            pair = (one.trial.item, frozenset(one.trial.responses), one.trial.rater, one.trial.condition)
            pairs.setdefault((*pair, one.trial.replicate), []).append(one)
    return [
        {
            "item": showings[0].label,
            "trials": [one.trial.key for one in showings],
            "means": [by_position(cast(Preference, one.judgement.verdict), one.models) for one in showings],
        }
        for showings in pairs.values()
        if len({_winner(one) for one in showings}) > 1
    ]


def _winner(one: JudgedTrial) -> str | None:
    """Digest of the answer that won; None for a tie."""
    verdict = cast(Preference, one.judgement.verdict)
    return one.trial.responses[0 if verdict.value > 0 else 1] if verdict.value else None


def print_run(document: Mapping[str, Any]) -> None:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(document["at"]))
    print_heading(f"Run {document['run']}: {document['command']}, {started}")
    for name, value in document["settings"].items():
        if value is not False and name not in _ABOUT_THE_SCREEN:
            words = ", ".join(map(str, cast(list[Any], value))) if isinstance(value, list) else str(value)
            click.echo(printable(f"  {name.replace('_', '-'):18} {'yes' if value is True else words}"))
    _print_outcome(document["outcome"])
    print_lines(document)
    if document["flips"]:
        command = f"evenhand show {document['run'][:8]} --flips"
        words = f"\n{len(document['flips'])} pairs changed their verdict with the order; `{command}` lists them."
        click.echo(typeable(words))


def _print_outcome(outcome: Mapping[str, Any] | None) -> None:
    if outcome is None:
        click.echo("  not ended, or killed")
        return
    for name, words in _OUTCOME_WORDS.items():
        value = outcome.get(name)
        if isinstance(value, dict):
            value = ", ".join(f"{count} {reason}" for reason, count in sorted(cast(dict[str, int], value).items()))
            value = value or "none"
        if name in outcome:
            click.echo(printable(f"  {words:18} {'unknown' if value is None else value}"))
    if outcome.get("error"):
        click.echo(printable(f"  {'error':18} {outcome['error']}"))


def print_flips(document: Mapping[str, Any]) -> None:
    print_heading(f"Run {document['run']}: {len(document['flips'])} pairs changed their verdict with the order")
    for one in document["flips"]:
        for trial, means in zip(one["trials"], one["means"], strict=True):
            click.echo(printable(f"  {trial[:12]}  {one['item']}  {means}"))


def print_lines(document: Mapping[str, Any]) -> None:
    if document["trials"]:
        print_heading("Trials")
    differ = [name for name in _WHAT_DIFFERS if len({one[name] for one in document["trials"]}) > 1]
    for one in document["trials"]:
        words = one["means"] if one["verdict"] else f"no verdict: {one['reason']}"
        whose = _whose(one, differ) if differ else ""
        click.echo(indented(f"{one['trial'][:12]}  {one['item']}  {' / '.join(one['models'])}: {words}{whose}"))


def print_heading(words: str) -> None:
    click.secho(f"\n{indented(words, by=0)}", bold=True)


def indented(words: str, *, by: int = 2) -> str:
    """Words that others wrote; on a terminal their long lines are folded at its edge, between words."""
    margin = " " * by
    if not sys.stdout.isatty():
        return textwrap.indent(printable(words), margin)
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return "\n".join(_folded(line, margin, width) for line in printable(words).splitlines())


def _folded(line: str, margin: str, width: int) -> str:
    inner = margin + " " * (len(line) - len(line.lstrip()))
    folded = textwrap.wrap(line.strip(), width, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False)
    return "\n".join(folded)
