"""From the flags of `grade` to studies, runs and a report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

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
from evenhand.benchmarks.options.load import read_options
from evenhand.benchmarks.options.option_set import OptionSet, Selection, sets_of_answers
from evenhand.cli.ask.asking_means import recorded
from evenhand.cli.ask.crew_processes import helps
from evenhand.cli.ask.judged_answers import AnswerChoice, answers_to_judge
from evenhand.cli.ask.judging import CommandAsker, retrying, showing_of, watching
from evenhand.cli.ask.outcome import Outcome, Outcomes
from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import say_notes
from evenhand.domain.item import Benchmark
from evenhand.engine.run.crew import Crew
from evenhand.engine.tasks.grading import Grading
from evenhand.ledger.store.record import Ledger
from evenhand.reports.grade.sheets import row_words
from evenhand.stats.reliability.grade_score.orders import FEWEST_DRAWN, Showings

if TYPE_CHECKING:
    from evenhand.cli.ask.grade_command import GradeOptions


def grade_job(ctx: click.Context, given: "GradeOptions", ledger: Ledger) -> GradeJob:
    """A cell for each judge, prompt and way, all on the same rows and on one budget."""
    prompts, ways = _prompts(given), _ways(given)
    protocols = {prompt: protocol_of(prompt) for prompt in prompts}
    most = widest(protocols[prompts[0]], given.readout, given.max_options, unrelated=True in ways)
    data = _data(ctx, given, ledger, most)
    asker = CommandAsker(ctx=ctx, asking=given.asking, ledger=ledger)
    asked: list[AskedPrompt] = []
    for judge in dict.fromkeys(given.judge):
        for prompt, protocol in protocols.items():
            showing = showing_of(protocol.name, readout=given.readout, fence=given.fence)
            one = asker.asked(given.server.of(judge), showing, data.benchmark)
            asked.append(AskedPrompt(prompt=prompt, asked=one.asked, showing=one.showing))
    plan = GradePlan(
        data=data,
        asked=asked,
        ways=ways,
        grading=Grading(replicates=given.replicates, seed=given.seed, showings=_showings(given.showings)),
        third=given.third_showing,
        settings=recorded(given),
        retrying=retrying(given.retry),
    )
    return plan.job(ledger)


async def run_grades(job: GradeJob, *, quiet: bool, crew: Crew) -> Outcomes:
    """One cell after the other, each summed up on standard error."""

    def after(place: int, done: Done) -> None:
        if place >= len(job.cells):
            click.echo("Tied rows, shown once more:", err=True)
            Outcome.of(done).print_summary()
            return
        cell = job.cells[place]
        if len(job.cells) > 1:
            unrelated = any(row.unrelated for row in cell.prepared.rows)
            click.echo(f"{cell.prepared.asking.rater.name}, {row_words(cell.prompt, unrelated)}:", err=True)
        Outcome.of(done).print_summary()

    done = await ask(job, watching=watching(quiet=quiet, crew=crew), after=after, crew=crew)
    return Outcomes(each=tuple(map(Outcome.of, done)))


def _prompts(given: "GradeOptions") -> tuple[int, ...]:
    named = given.prompts
    if named is None:
        return (given.prompt or 1,)
    if named.strip() == "all":
        return PROMPTS
    numbers = [part.strip() for part in named.split(",")]
    if not all(number in map(str, PROMPTS) for number in numbers):
        raise WrongUse(f"--prompts is all, or some of {', '.join(map(str, PROMPTS))} such as 1,3; not '{named}'.")
    return tuple(sorted({int(number) for number in numbers}))


def _showings(said: str) -> Showings:
    if said in ("rotations", "all"):
        return cast("Showings", said)
    if said.isascii() and said.isdecimal() and int(said) >= FEWEST_DRAWN:
        return int(said)
    raise WrongUse(f"--showings is rotations, all, or a number of orders from {FEWEST_DRAWN} up; not '{said}'.")


def _ways(given: "GradeOptions") -> tuple[bool, ...]:
    """Without the unrelated option, with it, or both."""
    if given.unrelated is not None:
        return (given.unrelated,)
    return (False,) if given.prompts is None else (False, True)


def _data(ctx: click.Context, given: "GradeOptions", ledger: Ledger, max_options: int | None) -> Data:
    selection = Selection(
        max_options=max_options,
        max_characters=given.max_characters,
        sample=given.sample,
        limit=given.limit,
        seed=given.seed,
    )
    if given.file is not None:
        read = read_options(given.file)
        benchmark, pool = read.benchmark, read.sets
    else:
        benchmark, pool = _of_benchmark(given, ledger, helps=helps(ctx))
    say_notes(benchmark.notes)
    return data_of(benchmark, pool, selection)


def _of_benchmark(given: "GradeOptions", ledger: Ledger, *, helps: bool) -> tuple[Benchmark, Sequence[OptionSet]]:
    assert given.benchmark is not None, "the command asks for one of the two"
    benchmark = given.source.load(given.benchmark)
    items = benchmark.items
    choice = AnswerChoice(models=given.models, variant=given.variant or "")
    answers = answers_to_judge(benchmark, items, choice, ledger)
    answers.keep(ledger, benchmark, dry_run=given.asking.dry_run, replace=given.replace, helps=helps)
    blind = sum(bool(item.images) for item in items)
    if blind:
        say_notes([f"The judge picks by the words alone: the images of {blind} items are not shown."])
    return benchmark, sets_of_answers(items, answers.chosen)
