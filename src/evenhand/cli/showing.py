"""Runs, trials and items as documents, and as text."""

import textwrap
import time
from collections.abc import Mapping
from typing import Any

import click

from evenhand.cli.surroundings import WrongUse
from evenhand.domain.naming import hint
from evenhand.domain.printable import printable
from evenhand.domain.verdict import NoVerdict, Preference, Verdict, verdict_json
from evenhand.ledger.lookup import CallOnRecord, TrialOnRecord, responses_by_digest
from evenhand.ledger.projection import Judged, StudyOnRecord, items_of, judged, studies
from evenhand.ledger.record import Ledger
from evenhand.ledger.runs import RunOnRecord


def trial_document(one: TrialOnRecord) -> dict[str, Any]:
    return {
        "trial": one.trial.key,
        "item": one.item.label,
        "instruction": one.item.instruction,
        "caption": one.item.caption,
        "images": list(one.item.images),
        "shown": [{"model": response.model, "response": response.text} for response in one.responses],
        "rater": one.rater.name,
        "rater_kind": one.rater.kind,
        "endpoint": one.rater.endpoint,
        "settings": one.rater.settings.as_json(),
        "protocol": one.condition.protocol,
        "readout": one.condition.readout,
        "see": one.condition.see,
        "fenced": one.condition.fenced,
        "replicate": one.trial.replicate,
        "attempt": one.trial.attempt,
        "judgements": [
            {
                **_verdict(judgement.verdict, [response.model for response in one.responses]),
                "reader": judgement.reader,
                "run": judgement.run,
                "at": judgement.at,
                "cost_usd": judgement.cost_usd,
                "notes": dict(judgement.notes),
            }
            for judgement in one.judgements
        ],
        "calls": [_call(call) for call in one.calls],
    }


def _call(one: CallOnRecord) -> dict[str, Any]:
    reply = one.call.reply
    return {
        "key": one.key,
        "messages": [{"role": role, "parts": parts} for role, parts in one.request["messages"]],
        "offer": one.request["offer"],
        "reply": reply.text,
        "reasoning": reply.reasoning,
        "finish": reply.finish,
        "model": reply.model,
        "tokens": {"input": reply.usage.input, "output": reply.usage.output},
        "requests": reply.requests,
        "seconds": reply.seconds,
        "cost_usd": one.call.cost_usd,
    }


def _verdict(verdict: Verdict | NoVerdict, models: list[str]) -> dict[str, Any]:
    if isinstance(verdict, NoVerdict):
        return {"verdict": None, "reason": verdict.reason, "detail": verdict.detail, "means": "no verdict"}
    return {"verdict": verdict_json(verdict), "reason": None, "detail": "", "means": _meaning(verdict, models)}


def _meaning(verdict: Verdict, models: list[str]) -> str:
    if not isinstance(verdict, Preference):
        return str(verdict_json(verdict))
    if verdict.value == 0:
        return "a tie"
    place = 0 if verdict.value > 0 else 1
    much = "much " if abs(verdict.value) == 2 else ""
    return f"{models[place]}, shown {('first', 'second')[place]}, is {much}better"


def print_trial(document: Mapping[str, Any]) -> None:
    _heading(f"Trial {document['trial'][:12]}: item {document['item']}")
    click.echo(
        f"{document['rater']} under {document['protocol']}, {document['readout']} readout, sees {document['see']}"
    )
    if document["images"]:
        click.echo(f"images: {', '.join(name[:16] for name in document['images'])}")
    for place, answer in zip(("first", "second", "third", "fourth"), document["shown"], strict=False):
        _heading(f"Shown {place}: {answer['model']}")
        click.echo(_indented(answer["response"]))
    for call in document["calls"]:
        for message in call["messages"]:
            _heading(f"Sent, {message['role']}")
            for part in message["parts"]:
                click.echo(_indented(part if isinstance(part, str) else f"[image {part['image'][:16]}]"))
        if call["offer"]:
            begin, answers = call["offer"]
            _heading("Offered")
            click.echo(_indented(f"{begin}{' or '.join(repr(answer) for answer in answers)}"))
        if call["reasoning"]:
            _heading("Reasoning, which is never read as a verdict")
            click.echo(_indented(call["reasoning"]))
        _heading(f"Reply ({call['finish']}, {call['seconds']:.1f} s)")
        click.echo(_indented(call["reply"]))
    for judgement in document["judgements"]:
        _heading("Read as")
        click.echo(_indented(judgement["means"] if judgement["verdict"] else _lacking(judgement)))
        notes = judgement["notes"]
        if notes.get("log_odds") is not None:
            click.echo(
                _indented(f"log-odds {notes['log_odds']:+.3f} for the first offered answer, mass {notes['mass']:.3f}")
            )
        click.echo(_indented(f"by reader {judgement['reader'][:12]} in run {judgement['run']}"))


def _lacking(judgement: Mapping[str, Any]) -> str:
    return f"no verdict: {judgement['reason']}. {judgement['detail']}".strip()


def run_document(ledger: Ledger, run: RunOnRecord) -> dict[str, Any]:
    chosen = [one for one in studies(ledger, purposes=("board", "audit", "grade", "people")) if one.key == run.study]
    return {
        "run": run.id,
        "command": run.command,
        "at": run.at,
        "ended_at": run.ended_at,
        "version": run.version,
        "settings": dict(run.settings),
        "outcome": run.outcome,
        "trials": [_line(one) for one in judged(ledger, chosen)],
    }


def _line(one: Judged) -> dict[str, Any]:
    read = _verdict(one.judgement.verdict, list(one.models))
    return {"trial": one.trial.key, "item": one.label, "models": list(one.models), **read}


def print_run(document: Mapping[str, Any]) -> None:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(document["at"]))
    _heading(f"Run {document['run']}: {document['command']}, {started}")
    for name, value in document["settings"].items():
        click.echo(printable(f"  {name:18} {value}"))
    if document["outcome"]:
        for name in ("planned", "known", "called", "verdicts", "no_verdict", "failed", "cost_usd", "wall_s"):
            click.echo(f"  {name:18} {document['outcome'][name]}")
    else:
        click.echo("  not ended, or killed")
    _print_lines(document)


def item_document(ledger: Ledger, benchmark: str | None, label: str) -> dict[str, Any]:
    chosen = _studies_with_item(ledger, benchmark, label)
    data = chosen[0].data
    item = next(item for item in items_of(ledger, data) if item.label == label)
    answers = ledger.responses_to([item.digest])
    results = [one for one in judged(ledger, [s for s in chosen if s.data == data]) if one.trial.item == item.digest]
    shown = responses_by_digest(ledger, tuple({d for one in results for d in one.trial.responses}))
    texts = {(r.model, r.text) for r in (*answers, *shown.values())}
    return {
        "benchmark": chosen[0].benchmark,
        "item": item.label,
        "content": item.content(),
        "answers": [{"model": model, "response": text} for model, text in sorted(texts)],
        "trials": [_line(one) for one in results],
    }


def _studies_with_item(ledger: Ledger, benchmark: str | None, label: str) -> list[StudyOnRecord]:
    chosen = studies(ledger, benchmark=benchmark, purposes=("board", "audit", "grade", "people"))
    if not chosen:
        raise WrongUse("The ledger holds no judgements" + (f" of {benchmark}." if benchmark else "."))
    labels = {item.label for study in chosen for item in items_of(ledger, study.data)}
    if label not in labels:
        raise WrongUse(f"There is no item '{label}'; {hint(label, labels)}")
    return [study for study in chosen if any(item.label == label for item in items_of(ledger, study.data))]


def print_item(document: Mapping[str, Any]) -> None:
    _heading(f"{document['benchmark']}, item {document['item']}")
    click.echo(_indented(document["content"]["instruction"]))
    if document["content"]["caption"]:
        _heading("Caption")
        click.echo(_indented(document["content"]["caption"]))
    for answer in document["answers"]:
        _heading(answer["model"])
        click.echo(_indented(answer["response"]))
    _print_lines(document)


def _print_lines(document: Mapping[str, Any]) -> None:
    if document["trials"]:
        _heading("Trials")
    for one in document["trials"]:
        words = one["means"] if one["verdict"] else f"no verdict: {one['reason']}"
        click.echo(printable(f"  {one['trial'][:12]}  {one['item']}  {' / '.join(one['models'])}: {words}"))


def _heading(words: str) -> None:
    click.secho(f"\n{printable(words)}", bold=True)


def _indented(words: str) -> str:
    return textwrap.indent(printable(words), "  ")
