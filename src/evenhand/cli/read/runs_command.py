"""`evenhand runs`: what was done, newest first."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import options
from evenhand.cli.options import option

if TYPE_CHECKING:
    from evenhand.ledger.read.projection import StudyOnRecord
    from evenhand.ledger.store.runs import RunOnRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOptions:
    last: int = option("--last", type=click.IntRange(1), default=20, show_default=True, help="How many.")
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("runs")
@options.takes(RunsOptions)
def command(_: click.Context, given: RunsOptions) -> None:
    """What was run, under which judge, and how each run ended."""
    from evenhand.domain.study import PURPOSES
    from evenhand.format.tables import console, print_entries
    from evenhand.ledger.read.projection import studies
    from evenhand.ledger.store.budgets import cut_off_by_run
    from evenhand.ledger.store.opening import of_row
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.store.runs import charged_by_run, runs

    ledger = Ledger(given.store, create=False)
    found = runs(ledger, last=given.last)
    known = {study.key: study for study in studies(ledger, purposes=PURPOSES, everything=True)}
    wanted = [known.get(run.study or "") for run in found]
    names = [run.id for run in found]
    spent, cut_off = charged_by_run(ledger, names), cut_off_by_run(ledger, names)
    if given.as_json:
        documents = [
            {
                **_document(run, study),
                "spent_usd": round(spent.get(run.id, 0.0), 9),
                "cut_off_usd": round(cut_off.get(run.id, 0.0), 9),
            }
            for run, study in zip(found, wanted, strict=True)
        ]
        click.echo(json.dumps({"schema": 1, "runs": documents}, ensure_ascii=False))
        return
    entries: list[tuple[str, list[str]]] = []
    for run, study, how in zip(found, wanted, _differences(wanted), strict=True):
        with of_row("run", run.id):
            lines = (_asked(run, study), how, _ending(run) + _money(run, spent, cut_off))
            entries.append((_heading(run), [line for line in lines if line]))
    print_entries(entries, console())


def _heading(run: "RunOnRecord") -> str:
    """Its name first, which `show` and --run take."""
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.at))
    return "  ".join(part for part in (run.id, started, run.command, str(run.settings.get("benchmark", ""))) if part)


def _document(run: "RunOnRecord", study: "StudyOnRecord | None") -> dict[str, Any]:
    from evenhand.domain.trial import seen

    return {
        "run": run.id,
        "command": run.command,
        "settings": run.settings,
        "endpoint": study.rater.endpoint if study else None,
        "protocol": study.condition.protocol if study else None,
        "readout": study.condition.readout if study else None,
        "see": seen(study.condition) if study else None,
        "extractor": study.extractor.name if study and study.extractor else None,
        "version": run.version,
        "at": run.at,
        "ended_at": run.ended_at,
        "outcome": run.outcome,
    }


def _asked(run: "RunOnRecord", study: "StudyOnRecord | None") -> str:
    """`openai/m`, or `openai/m at http://127.0.0.1:8000/v1` where the address is the user's own."""
    if study is None:
        name, address = str(run.settings.get("model") or run.settings.get("judge") or ""), run.settings.get("base_url")
        return f"{name} at {address}" if address else name
    rater = study.rater
    return f"{rater.name} at {rater.endpoint}" if rater.endpoint.startswith(("http://", "https://")) else rater.name


def _differences(wanted: "Sequence[StudyOnRecord | None]") -> list[str]:
    """The protocol of each, and of the rest only what tells some of them apart."""
    facts = [{} if study is None else _facts(study) for study in wanted]
    differ = {name for one in facts for name in one if len({other.get(name) for other in facts if other}) > 1}
    return [", ".join(words for name, words in one.items() if words and name in differ | {"protocol"}) for one in facts]


def _facts(study: "StudyOnRecord") -> dict[str, str]:
    from evenhand.domain.trial import seen

    condition = study.condition
    settings = {name: f"{name} {value}" for name, value in study.rater.settings.as_json().items()}
    return {
        "protocol": condition.protocol,
        "prompt": f"prompt {condition.prompt_hash[:8]}" if condition.prompt_hash else "",
        "readout": f"{condition.readout} readout",
        "see": f"sees {see}" if (see := seen(condition)) else "",
        "fenced": "fenced" if condition.fenced else "",
        "extractor": f"extracted by {study.extractor.name}" if study.extractor else "",
        "data": f"data {study.data[:12]}",
        **settings,
    }


def _money(run: "RunOnRecord", spent: Mapping[str, float], cut_off: Mapping[str, float]) -> str:
    said = f"; ${spent[run.id]:.4f} spent" if run.id in spent else ""
    return f"{said}; ${cut_off[run.id]:.4f} cut off, counted as spent" if run.id in cut_off else said


def _ending(run: "RunOnRecord") -> str:
    outcome = run.outcome
    if outcome is None:
        # A person may come back in a week; only a command that does not end was killed.
        return "a person is at work" if run.command == "compare" else "not yet, or killed"
    if "imported" in outcome:
        return f"{outcome['imported']} imported"
    done = f"{outcome['known']} known, {outcome['called']} asked"
    for sign, words in (
        ("error", "stopped by an error"),
        ("interrupted", "interrupted"),
        ("over_budget", "budget reached"),
    ):
        if outcome.get(sign):
            return f"{done}; {words}"
    failed = sum(outcome["failed"].values())
    return f"{done}; {failed} failed" if failed else done
