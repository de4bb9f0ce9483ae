"""From the flags of `grade` to studies, runs and a report."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from evenhand.api.grading import (
    PROMPTS,
    AskedPrompt,
    Data,
    GradeJob,
    GradePlan,
    ask,
    data_of,
    protocol_of,
    widest,
)
from evenhand.api.jobs import Done
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.options.load import read_options
from evenhand.benchmarks.options.option_set import OptionSet, Selection, sets_of_answers
from evenhand.cli.ask.asking_means import recorded
from evenhand.cli.ask.judged_answers import answers_to_judge
from evenhand.cli.ask.judging import job, showing_of, watching
from evenhand.cli.ask.outcome import Outcome, Outcomes
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.notes import say_notes
from evenhand.domain.item import Benchmark
from evenhand.engine.run.plan import Retrying
from evenhand.ledger.store.record import Ledger
from evenhand.reports.grade.sheets import row_words

_WITHOUT_ANSWERS: Mapping[str, Any] = {
    "responses": (), "against": None, "allow_partial": False, "replace": False, "extractor": None,
    "extractor_base_url": None, "extractor_api_key_env": None, "image_detail": None,
}  # fmt: skip
"""What `judge` has flags for and `grade` has not."""


def grade_job(ctx: click.Context, flags: Mapping[str, Any], env: Environment, ledger: Ledger) -> GradeJob:
    """A cell for each judge, prompt and way, all on the same rows and on one budget."""
    prompts, ways = _prompts(flags), _ways(flags)
    protocols = {prompt: protocol_of(prompt) for prompt in prompts}
    most = widest(protocols[prompts[0]], flags["readout"], flags["max_options"], unrelated=True in ways)
    data = _data(flags, ledger, most)
    asked: list[AskedPrompt] = []
    for judge in dict.fromkeys(flags["judge"]):
        of_judge = {**flags, **_WITHOUT_ANSWERS, "judge": judge}
        for prompt, protocol in protocols.items():
            showing = showing_of(protocol.name, flags, see=None)
            models, shown = job(ctx, showing, env, of_judge, ledger, data.benchmark)
            asked.append(AskedPrompt(prompt=prompt, asked=models, showing=shown))
    plan = GradePlan(
        data=data,
        asked=asked,
        ways=ways,
        replicates=flags["replicates"],
        seed=flags["seed"],
        settings=recorded(flags),
        retrying=Retrying(only_failed=flags["retry_failed"], reasons=frozenset(flags["retry_reason"])),
    )
    return plan.job(ledger)


async def run_grades(job: GradeJob, *, quiet: bool) -> Outcomes:
    """One cell after the other, each summed up on standard error."""

    def after(place: int, done: Done) -> None:
        cell = job.cells[place]
        if len(job.cells) > 1:
            unrelated = any(row.unrelated for row in cell.prepared.rows)
            click.echo(f"{cell.prepared.asking.rater.name}, {row_words(cell.prompt, unrelated)}:", err=True)
        Outcome.of(done).print_summary()

    done = await ask(job, watching=watching(quiet=quiet), after=after)
    return Outcomes(each=tuple(map(Outcome.of, done)))


def _prompts(flags: Mapping[str, Any]) -> tuple[int, ...]:
    given = flags["prompts"]
    if given is None:
        return (flags["prompt"] or 1,)
    if given.strip() == "all":
        return PROMPTS
    numbers = [part.strip() for part in given.split(",")]
    if not all(number in map(str, PROMPTS) for number in numbers):
        raise WrongUse(f"--prompts is all, or some of {', '.join(map(str, PROMPTS))} such as 1,3; not '{given}'.")
    return tuple(sorted({int(number) for number in numbers}))


def _ways(flags: Mapping[str, Any]) -> tuple[bool, ...]:
    """Without the unrelated option, with it, or both."""
    if flags["unrelated"] is not None:
        return (flags["unrelated"],)
    return (False,) if flags["prompts"] is None else (False, True)


def _data(flags: Mapping[str, Any], ledger: Ledger, max_options: int | None) -> Data:
    selection = Selection(
        max_options=max_options,
        max_characters=flags["max_characters"],
        sample=flags["sample"],
        limit=flags["limit"],
        seed=flags["seed"],
    )
    if flags["file"] is not None:
        read = read_options(flags["file"])
        benchmark, pool = read.benchmark, read.sets
    else:
        benchmark, pool = _of_benchmark(flags, ledger)
    say_notes(benchmark.notes)
    return data_of(benchmark, pool, selection)


def _of_benchmark(flags: Mapping[str, Any], ledger: Ledger) -> tuple[Benchmark, Sequence[OptionSet]]:
    benchmark = load_benchmark(flags["benchmark"], path=flags["data"], reference=flags["reference"])
    items = benchmark.items
    answers = answers_to_judge(
        benchmark, items, {**flags, **_WITHOUT_ANSWERS}, ledger, variant=flags["variant"] or "", whole=False
    )
    answers.keep(ledger, {**flags, **_WITHOUT_ANSWERS})
    blind = sum(bool(item.images) for item in items)
    if blind:
        say_notes([f"The judge picks by the words alone: the images of {blind} items are not shown."])
    return benchmark, sets_of_answers(items, answers.chosen)
