"""`evenhand runs`: what was done, newest first."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli import options
from evenhand.cli.options import option
from evenhand.format.words import counted

if TYPE_CHECKING:
    from evenhand.domain.placing import LookPlan
    from evenhand.ledger.read.projection import StudyOnRecord
    from evenhand.ledger.store.batches import BatchOnRecord
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
    from evenhand.ledger.store.batches import batches_of_runs
    from evenhand.ledger.store.budgets import cut_off_by_run
    from evenhand.ledger.store.faults import of_row
    from evenhand.ledger.store.record import Ledger
    from evenhand.ledger.store.runs import charged_by_run, runs

    ledger = Ledger(given.store, create=False)
    known = {study.key: study for study in studies(ledger, purposes=PURPOSES, everything=True)}
    placings = any(study.batch is not None for study in known.values())
    found = _entries(runs(ledger, last=None if placings else given.last), known)[: given.last]
    wanted = [one.study for one in found]
    names = [run.id for one in found for run in one.runs]
    spent, cut_off = charged_by_run(ledger, names), cut_off_by_run(ledger, names)
    waiting = batches_of_runs(ledger, names)
    if given.as_json:
        documents = [
            {
                **_document(one),
                "spent_usd": round(sum(spent.get(run.id, 0.0) for run in one.runs), 9),
                "expected_usd": _expected(one),
                "cut_off_usd": round(sum(cut_off.get(run.id, 0.0) for run in one.runs), 9),
                "batches": [_batch_document(each) for run in one.runs for each in waiting.get(run.id, ())],
            }
            for one in found
        ]
        click.echo(json.dumps({"schema": 1, "runs": documents}, ensure_ascii=False))
        return
    entries: list[tuple[str, list[str]]] = []
    for one, how in zip(found, _differences(wanted), strict=True):
        with of_row("run", one.newest.id):
            ending = _ending(one) + _money(one, spent, cut_off)
            batches = _batches([each for run in one.runs for each in waiting.get(run.id, ())])
            lines = (_asked(one.newest, one.study), how, _placing(one), ending, _served(one), *batches)
            entries.append((_heading(one.newest), [line for line in lines if line]))
    print_entries(entries, console())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A run; or all of one placing, each batch of which is a run of its own."""

    runs: "tuple[RunOnRecord, ...]"
    """The newest first."""
    study: "StudyOnRecord | None"
    """Of the newest."""

    @property
    def newest(self) -> "RunOnRecord":
        return self.runs[0]

    @property
    def placing(self) -> "LookPlan | None":
        return None if self.study is None or self.study.batch is None else self.study.batch.plan

    @property
    def outcome(self) -> Mapping[str, Any] | None:
        """Numbers are added up; the rest is the newest's. None where the newest has not ended."""
        newest = self.newest.outcome
        if newest is None or len(self.runs) == 1:
            return newest
        ended = [run.outcome for run in self.runs if run.outcome is not None]
        return {name: _added([one.get(name) for one in ended]) for name in newest}


def _entries(found: "Sequence[RunOnRecord]", known: "Mapping[str, StudyOnRecord]") -> list[_Entry]:
    """In the order of their newest run."""
    together: dict[object, list[RunOnRecord]] = {}
    for run in found:
        study = known.get(run.study or "")
        batch = None if study is None else study.batch
        # A run of one study, or of a placing: the same plan on the same data by the same judge.
        key: object = run.id
        if study is not None and batch is not None:
            key = (study.data, study.rater.key, study.condition.key, study.variant, batch.seed, str(batch.plan.shared))
        together.setdefault(key, []).append(run)
    return [_Entry(runs=tuple(some), study=known.get(some[0].study or "")) for some in together.values()]


def _added(values: list[Any]) -> Any:
    """Numbers, and numbers by name, added up; of anything else the first, which is the newest."""
    known = [one for one in values if one is not None]
    if not known or isinstance(known[0], bool | str | list):
        return values[0]
    if isinstance(known[0], dict):
        return {
            name: _added([one.get(name) for one in known]) for name in dict.fromkeys(n for one in known for n in one)
        }
    return sum(known)


def _placing(one: _Entry) -> str:
    if one.placing is None:
        return ""
    return (
        f"placing {one.placing.new}, until {one.placing.until}: {counted(len(one.runs), 'batch', 'batches')} of calls"
    )


def _heading(run: "RunOnRecord") -> str:
    """Its name first, which `show` and --run take."""
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.at))
    return "  ".join(part for part in (run.id, started, run.command, str(run.settings.get("benchmark", ""))) if part)


def _document(one: _Entry) -> dict[str, Any]:
    from evenhand.domain.trial import seen

    run, study = one.newest, one.study
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
        "at": one.runs[-1].at,
        "ended_at": run.ended_at,
        "outcome": one.outcome,
        "placing": one.placing.new if one.placing else None,
        "parts": [each.id for each in one.runs] if one.placing else [],
    }


def _batch_document(one: "BatchOnRecord") -> dict[str, Any]:
    return {
        "batch": one.name,
        "mark": one.id,
        "state": one.state,
        "calls": one.entries,
        "done": one.done,
        "at": one.at,
        "expires": one.expires,
    }


def _batches(waiting: "Sequence[BatchOnRecord]") -> list[str]:
    """`batch 2 of 3: 1,204 of 2,000 done, submitted 14 min ago`."""
    from evenhand.cli.ask.progress import duration

    said: list[str] = []
    for number, one in enumerate(waiting, 1):
        ago = duration(max(0.0, time.time() - one.at))
        stands = f"{one.entries:,} calls, begun {ago} ago and not known to be there yet"
        if one.name:
            stands = f"{one.done or 0:,} of {one.entries:,} done, submitted {ago} ago ({one.name})"
        said.append(f"batch {number} of {len(waiting)}: {stands}")
    return said


def _asked(run: "RunOnRecord", study: "StudyOnRecord | None") -> str:
    """`openai/m`, or `openai/m at http://127.0.0.1:8000/v1` where the address is the user's own; or its name."""
    if study is None:
        name, address = str(run.settings.get("model") or run.settings.get("judge") or ""), run.settings.get("base_url")
        return f"{name} at {address}" if address else name
    rater = study.rater
    provider = rater.kind != "model" or not rater.endpoint or rater.name.startswith((f"{rater.endpoint}/", "local/"))
    return rater.name if provider else f"{rater.name} at {rater.endpoint}"


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


def _expected(one: _Entry) -> float | None:
    """Dollars, as they were planned before the first call; None where nobody knows."""
    outcome: Mapping[str, Any] = one.outcome or {}
    expected: Mapping[str, float | None] = outcome.get("expected") or {}
    return expected.get("cost_usd_expected")


def _served(one: _Entry) -> str:
    """What made it cheaper, or dearer, than usual."""
    from evenhand.engine.run.tally import STANDARD_TIERS

    outcome: Mapping[str, Any] = one.outcome or {}
    tokens: Mapping[str, int] = outcome.get("tokens") or {}
    tiers: Mapping[str, int] = outcome.get("service_tiers") or {}
    said = ["sent in batches"] if one.newest.settings.get("batch") else []
    if tokens.get("cached") and tokens.get("input"):
        said.append(f"{tokens['cached'] / tokens['input']:.0%} of the tokens in from the provider's cache")
    if set(tiers) - STANDARD_TIERS:
        said.append("service tiers: " + ", ".join(f"{count} {tier}" for tier, count in sorted(tiers.items())))
    return "; ".join(said)


def _money(one: _Entry, spent: Mapping[str, float], cut_off: Mapping[str, float]) -> str:
    paid, lost = ([of[run.id] for run in one.runs if run.id in of] for of in (spent, cut_off))
    expected = _expected(one)
    planned = "" if expected is None else f", ${expected:.4f} expected"
    said = f"; ${sum(paid):.4f} spent{planned}" if paid else ""
    return f"{said}; ${sum(lost):.4f} cut off, counted as spent" if lost else said


def _ending(one: _Entry) -> str:
    outcome = one.outcome
    if outcome is None:
        # A person may come back in a week; only a command that does not end was killed.
        return "a person is at work" if one.newest.command == "compare" else "still running, or killed"
    if "imported" in outcome:
        return f"{outcome['imported']} imported"
    done = f"{outcome['known']} known, {outcome['called']} asked"
    if left := outcome.get("in_batches"):
        done += f", {left} left in batches"
    for sign, words in (
        ("error", "stopped by an error"),
        ("interrupted", "interrupted"),
        ("over_budget", "budget reached"),
    ):
        if outcome.get(sign):
            return f"{done}; {words}"
    failed = sum(outcome["failed"].values())
    return f"{done}; {failed} failed" if failed else done
