"""`evenhand sample`: draws the questions that people are asked."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.options import DataOptions, option, output
from evenhand.files.outputs import Target

if TYPE_CHECKING:
    from evenhand.domain.identity import Json
    from evenhand.domain.item import Benchmark
    from evenhand.domain.response import Response
    from evenhand.engine.tasks.people_sample import PeopleSample
    from evenhand.ledger.store.record import Ledger

_QUESTION = 70
"""Characters of a question that are printed of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    force: bool = options.force()
    benchmark: str = options.argument()
    source: DataOptions
    per_task: int = option(
        "--per-task", type=click.IntRange(1), default=2, show_default=True, help="So many items of each task."
    )
    seed: int = options.seed()
    models: tuple[str, ...] = option(
        "--models", multiple=True, help="Only these models' answers are to be compared; repeatable."
    )
    against: str | None = option(
        "--against", help="Every other model against this one; by default the baseline, where the protocol has one."
    )
    out: Target | None = output(
        "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the questions to this file too."
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@click.command("sample")
@options.takes(SampleOptions)
def command(_: click.Context, given: SampleOptions) -> None:
    """Draw questions of BENCHMARK for people, as many of each task, and put the study on record.

    The answers to be compared are those on record; the same seed draws the same questions again.
    """
    from evenhand.cli.notes import say_notes
    from evenhand.engine.tasks.people_sample import ANYBODY, BY_EYE, people_sample
    from evenhand.format.words import counted
    from evenhand.ledger.store.record import Ledger

    if given.out is not None:
        from evenhand.exchange.tables import check_format

        check_format(given.out)
    loaded = given.source.load(given.benchmark)
    ledger = Ledger(given.store)
    _refuse_kept_back(ledger, {*given.models, *filter(None, [given.against])})
    responses = _responses(ledger, loaded, given.models)
    sample = people_sample(
        loaded,
        responses,
        per_task=given.per_task,
        seed=given.seed,
        against=given.against or (_baseline(loaded) if responses else None),
    )
    ledger.register_benchmark(loaded)
    ledger.add_responses(responses)
    ledger.register_study(sample.study, rater=ANYBODY, condition=BY_EYE, wanted=sample.wanted)
    if given.out is not None:
        _write(sample, given.out)
    say_notes(f"Task {task} has {counted(there, 'item')}, fewer than were to be drawn." for task, there in sample.short)
    if given.as_json:
        click.echo(json.dumps(_document(sample, given.seed), ensure_ascii=False))
    else:
        _print(sample)


def _baseline(benchmark: "Benchmark") -> str | None:
    from evenhand.protocols.catalog import load_protocol

    return load_protocol(benchmark.protocols[0]).against if benchmark.protocols else None


def _refuse_kept_back(ledger: "Ledger", named: set[str]) -> None:
    from evenhand.cli.environment import WrongUse
    from evenhand.ledger.submissions.submitted_models import kept_back, may_be_shown

    for model in sorted(named - may_be_shown(ledger, named)):
        raise WrongUse(kept_back(model), code="EH-SUBMISSION-CLOSED")


def _responses(ledger: "Ledger", benchmark: "Benchmark", models: tuple[str, ...]) -> "list[Response]":
    """Answers of models on record, and the references beside them."""
    from evenhand.benchmarks.answers.responses_file import reference_responses
    from evenhand.cli.environment import WrongUse
    from evenhand.domain.response import REFERENCE
    from evenhand.format.near_names import hint
    from evenhand.site.people.plan import answers_for_people

    named = [one for one in answers_for_people(ledger, benchmark.items) if one.model != REFERENCE]
    here = {one.model for one in named}
    for model in models:
        if model not in here | {REFERENCE}:
            raise WrongUse(
                f"The ledger holds no answers of '{model}' to {benchmark.name}; {hint(model, here)}",
                code="EH-CHOOSE-NOTHING",
            )
    chosen = [one for one in named if not models or one.model in models]
    return [*chosen, *reference_responses(benchmark)] if chosen else []


def _rows(sample: "PeopleSample") -> "list[dict[str, Json]]":
    return [
        {"item": item.label, "task": item.task, "category": item.category, "instruction": item.instruction}
        for item in sample.items
    ]


def _write(sample: "PeopleSample", path: Target) -> None:
    from evenhand.exchange.tables import ExchangeTable, Shape, write_table

    columns: dict[str, Shape] = {"item": "text", "task": "text", "category": "text", "instruction": "text"}
    write_table(ExchangeTable(columns=columns, rows=_rows(sample)), path)


def _document(sample: "PeopleSample", seed: int) -> "dict[str, Json]":
    return {
        "schema": 1,
        "benchmark": sample.study.benchmark,
        "study": sample.study.key,
        "seed": seed,
        "questions": len(sample.items),
        "models": list(sample.study.models),
        "against": sample.study.against,
        "comparisons": sample.wanted,
        "items": _rows(sample),
    }


def _print(sample: "PeopleSample") -> None:
    from evenhand.engine.tasks.people_sample import task_of
    from evenhand.format.tables import console, excerpt, print_rows

    terminal = console()
    rows = [(item.label, task_of(item), excerpt(item.instruction, _QUESTION)) for item in sample.items]
    print_rows(("item", "task", "question"), rows, terminal)
    terminal.print()
    terminal.print(
        f"{len(sample.items)} questions of {len({task_of(item) for item in sample.items})} tasks; "
        f"{sample.wanted} comparisons of answers on record. Study {sample.study.key[:12]} is in the ledger."
    )
