"""From the flags of `grade` to studies, runs and a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.options.load import read_options
from evenhand.benchmarks.options.option_set import OptionSet, Selected, Selection, select, sets_of_answers
from evenhand.cli.ask.asking_means import recorded
from evenhand.cli.ask.extracting import AskedModels
from evenhand.cli.ask.judged_answers import answers_to_judge
from evenhand.cli.ask.judging import JudgingJob, carry_out_all, job, showing_of
from evenhand.cli.ask.outcome import Outcome, Outcomes
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.notes import say_notes
from evenhand.domain.item import Benchmark
from evenhand.engine.run.plan import Retrying
from evenhand.engine.tasks.grading import Grading, PreparedGrade, most_options, prepare_grade
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.read.choices import keep_options
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from evenhand.reports.grade.report import GradeReport, graded_cell
from evenhand.reports.grade.sheets import row_words
from evenhand.stats.reliability.grade_score.scored_rows import Policy

PROMPTS = (1, 2, 3, 4)
_WITHOUT_ANSWERS: Mapping[str, Any] = {
    "responses": (), "against": None, "allow_partial": False, "replace": False, "extractor": None,
    "extractor_base_url": None, "extractor_api_key_env": None, "image_detail": None,
}  # fmt: skip
"""What `judge` has flags for and `grade` has not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingCell:
    prompt: int
    prepared: PreparedGrade
    order: JudgingJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The rows of options, and what is left of them to ask about."""

    benchmark: Benchmark
    pool: tuple[OptionSet, ...]
    selected: Selected


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeJob:
    ledger: Ledger
    data: Data
    cells: tuple[GradingCell, ...]

    def report(self, begun: int, *, policy: Policy) -> GradeReport:
        """Of the first cells, as many as were begun."""
        best = {one.item.label: one.best for one in self.data.selected.sets if one.best is not None}
        cells = (
            graded_cell(cell.prepared, self.ledger, prompt=cell.prompt, policy=policy, best=best)
            for cell in self.cells[:begun]
        )
        left_out = {str(reason): count for reason, count in self.data.selected.left_out.items()}
        return GradeReport(source=self.data.benchmark.name, cells=tuple(cells), left_out=left_out)


def grade_job(ctx: click.Context, flags: Mapping[str, Any], env: Environment, ledger: Ledger) -> GradeJob:
    """A cell for each judge, prompt and way, all on the same rows and on one budget."""
    prompts, ways = _prompts(flags), _ways(flags)
    protocols = {prompt: load_protocol(f"option_selection_{prompt}") for prompt in prompts}
    data = _data(flags, ledger, _widest(flags, protocols[prompts[0]], unrelated=True in ways))
    asked: list[tuple[int, AskedModels, Showing]] = []
    for judge in dict.fromkeys(flags["judge"]):
        of_judge = {**flags, **_WITHOUT_ANSWERS, "judge": judge}
        for prompt, protocol in protocols.items():
            showing = showing_of(protocol.name, flags, see=None)
            asked.append((prompt, *job(ctx, showing, env, of_judge, ledger, data.benchmark)))
    budget = asked[0][1].judge.budget
    cells = [
        GradingCell(
            prompt=prompt, prepared=prepared, order=_order(flags, ledger, data, one.on_budget(budget), prepared)
        )
        for prompt, one, showing in asked
        for unrelated in ways
        for prepared in [_prepared(flags, ledger, data, one, showing, unrelated=unrelated)]
    ]
    return GradeJob(ledger=ledger, data=data, cells=tuple(cells))


def _prepared(
    flags: Mapping[str, Any], ledger: Ledger, data: Data, asked: AskedModels, showing: Showing, *, unrelated: bool
) -> PreparedGrade:
    return prepare_grade(
        data.benchmark,
        data.selected.sets,
        pool=data.pool,
        judge=asked.judge.rater,
        model=asked.judge.model.model,
        showing=showing,
        grading=Grading(unrelated=unrelated, replicates=flags["replicates"], seed=flags["seed"]),
        fence_secret=ledger.fence_secret(),
    )


def _order(
    flags: Mapping[str, Any], ledger: Ledger, data: Data, asked: AskedModels, prepared: PreparedGrade
) -> JudgingJob:
    return JudgingJob(
        ledger=ledger,
        benchmark=data.benchmark,
        asked=asked,
        prepared=prepared,
        settings=recorded(flags),
        retrying=Retrying(only_failed=flags["retry_failed"], reasons=frozenset(flags["retry_reason"])),
    )


async def run_grades(job: GradeJob, *, quiet: bool) -> Outcomes:
    """One cell after the other, each summed up on standard error; what ends one early ends them all."""

    def before(place: int) -> None:
        keep_options(job.ledger, list(job.cells[place].prepared.asking.responses.values()))

    def after(place: int, outcome: Outcome) -> None:
        cell = job.cells[place]
        if len(job.cells) > 1:
            unrelated = any(row.unrelated for row in cell.prepared.rows)
            click.echo(f"{cell.prepared.asking.rater.name}, {row_words(cell.prompt, unrelated)}:", err=True)
        outcome.print_summary()

    orders = [cell.order for cell in job.cells]
    return await carry_out_all(orders, quiet=quiet, command="grade", before=before, after=after)


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


def _widest(flags: Mapping[str, Any], protocol: Protocol, *, unrelated: bool) -> int | None:
    """The most options of its own that a row may have, so that all ways are asked about the same rows."""
    shown = most_options(protocol, flags["readout"])
    limits = [flags["max_options"], None if shown is None else shown - unrelated]
    return min((limit for limit in limits if limit is not None), default=None)


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
    selected = select(pool, selection)
    # By content, so that the order of the rows changes no draw.
    by_content = tuple(sorted(pool, key=lambda one: one.item.digest))
    return Data(benchmark=benchmark, pool=by_content, selected=selected)


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
