"""The Grade Score of judges who pick one of several options, asked and worked out: what `evenhand grade` does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from evenhand.api.jobs import AskedShowing, Done, JudgingJob, Watching, answers_in, carry_out_all, finished, unwatched
from evenhand.api.ledgers import GivenLedger
from evenhand.api.running import plain
from evenhand.api.terms import NotebookAsker, Terms
from evenhand.benchmarks.answers.responses_file import ResponseSet, reference_responses
from evenhand.benchmarks.options.load import read_options
from evenhand.benchmarks.options.option_set import OptionSet, Selected, Selection, select, sets_of_answers
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Settings
from evenhand.domain.response import Response
from evenhand.domain.trial import Readout
from evenhand.engine.run.crew import ALONE, Crew
from evenhand.engine.run.expected import Expected, together
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.quote import DryRun, added_up
from evenhand.engine.tasks.grading import (
    Grading,
    PreparedGrade,
    most_options,
    possible_third_showings,
    prepare_grade,
    third_showings,
)
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.read.choices import keep_options
from evenhand.ledger.store.record import Ledger
from evenhand.models.prices import Price
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from evenhand.reports.grade.report import GradeReport, graded_cell
from evenhand.stats.reliability.grade_score.orders import Showings
from evenhand.stats.reliability.grade_score.scored_rows import Policy

Prompt: TypeAlias = Literal[1, 2, 3, 4]
PROMPTS: tuple[Prompt, ...] = (1, 2, 3, 4)


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
    third: bool
    """Whether a row whose showings leave a tie is shown once more."""

    def report(self, done: Sequence[Done], *, policy: Policy) -> GradeReport:
        """Of the cells that were begun."""
        best = {one.item.label: one.best for one in self.data.selected.sets if one.best is not None}
        cells = (
            graded_cell(cell.prepared, self.ledger, prompt=cell.prompt, policy=policy, best=best, third=self.third)
            for cell in self.cells[: len(done)]
        )
        return GradeReport(
            source=self.data.benchmark.name,
            cells=tuple(cells),
            left_out={str(reason): count for reason, count in self.data.selected.left_out.items()},
            runs=tuple(one.ended.run for one in done),
        )

    def dry_run(self) -> tuple[DryRun, Expected | None]:
        """With what it is likely to cost, but for the showings that ties may lead to."""
        quoted = [one.order.dry_run() for one in self.cells]
        likely = [cell.order.expected(one) for cell, one in zip(self.cells, quoted, strict=True)]
        if self.third:
            thirds = (replace(one.order, prepared=possible_third_showings(one.prepared)) for one in self.cells)
            quoted += [one.dry_run().perhaps() for one in thirds]
        return added_up(quoted), together([one for one in likely if one is not None])

    def third_of(self, place: int) -> JudgingJob | None:
        """What the ties of the cell at this place lead to; None where there are none, or nobody wants it."""
        if not self.third or place >= len(self.cells):
            return None
        cell = self.cells[place]
        third = third_showings(cell.prepared, cell.prepared.option_rows(cell.prepared.choices(self.ledger)))
        return None if third is None else replace(cell.order, prepared=third)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPrompt(AskedShowing):
    """One judge under one prompt."""

    prompt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GradePlan:
    """What is to be graded, whoever asks for it."""

    data: Data
    asked: Sequence[AskedPrompt]
    ways: Sequence[bool]
    """Without the unrelated option, with it, or both."""
    grading: Grading
    """How the rows are shown; the ways say whether with the unrelated option."""
    third: bool = False
    settings: Mapping[str, Json]
    retrying: Retrying | None = None

    def job(self, ledger: Ledger) -> GradeJob:
        """A cell for each judge, prompt and way, all on the same rows and on one budget."""
        cells = [self._cell(ledger, one, unrelated=unrelated) for one in self.asked for unrelated in self.ways]
        return GradeJob(ledger=ledger, data=self.data, cells=tuple(cells), third=self.third)

    def _cell(self, ledger: Ledger, one: AskedPrompt, *, unrelated: bool) -> GradingCell:
        data, judge = self.data, one.asked.judge
        prepared = prepare_grade(
            data.benchmark,
            data.selected.sets,
            pool=data.pool,
            judge=judge.rater,
            model=judge.model.model,
            showing=one.showing,
            grading=replace(self.grading, unrelated=unrelated),
            fence_secret=ledger.fence_secret(),
        )
        order = JudgingJob(
            ledger=ledger,
            benchmark=data.benchmark,
            asked=one.asked.on_budget(self.asked[0].asked.judge.budget),
            prepared=prepared,
            settings=self.settings,
            retrying=self.retrying,
        )
        return GradingCell(prompt=one.prompt, prepared=prepared, order=order)


def protocol_of(prompt: int) -> Protocol:
    return load_protocol(f"option_selection_{prompt}")


def widest(protocol: Protocol, readout: Readout, max_options: int | None, *, unrelated: bool) -> int | None:
    """The most options of its own that a row may have, so that all ways are asked about the same rows."""
    shown = most_options(protocol, readout)
    limits = [max_options, None if shown is None else shown - unrelated]
    return min((limit for limit in limits if limit is not None), default=None)


def data_of(benchmark: Benchmark, pool: Sequence[OptionSet], selection: Selection) -> Data:
    # By content, so that the order of the rows changes no draw.
    by_content = tuple(sorted(pool, key=lambda one: one.item.digest))
    return Data(benchmark=benchmark, pool=by_content, selected=select(pool, selection))


async def ask(
    job: GradeJob,
    *,
    command: str = "grade",
    watching: Watching = unwatched,
    after: Callable[[int, Done], None] = lambda _, __: None,
    crew: Crew = ALONE,
) -> list[Done]:
    """One cell after the other; what ends one early ends them all."""

    def before(place: int) -> None:
        if place < len(job.cells):
            keep_options(job.ledger, list(job.cells[place].prepared.asking.responses.values()))

    orders = [cell.order for cell in job.cells]
    return await carry_out_all(
        orders, command=command, watching=watching, before=before, after=after, following=job.third_of, crew=crew
    )


async def grade_async(
    source: str | Path | Benchmark,
    responses: ResponseSet | Sequence[Response] | None = None,
    *,
    judge: str | Sequence[str],
    ledger: "GivenLedger | None" = None,
    prompts: Prompt | Sequence[Prompt] = 1,
    unrelated: bool | None = False,
    selection: Selection | None = None,
    readout: Readout = "free",
    policy: Policy = "strict",
    showings: Showings = "rotations",
    third_showing: bool = False,
    replicates: int = 1,
    seed: int = 0,
    base_url: str | None = None,
    api_key_env: str | None = None,
    settings: Settings | None = None,
    max_cost: float | None = None,
    prices: Sequence[Price] | None = None,
    service_tier: str | None = None,
    terms: Terms | None = None,
) -> GradeReport:
    """The Grade Score: does a judge pick the same option whatever the order?

    `source` is a file of prompts with their outputs, or a benchmark with the answers of several models to it.
    `selection` says which rows: a limit, a sample, none with too many options or characters. `unrelated` adds an answer
    to another prompt to each row; None asks both ways. `showings` says in which orders: the rotations, "all" there are,
    or a number drawn by the seed; `third_showing` shows a row whose choices are tied once more. The other settings are
    as `judge` has them.

    >>> score = eh.grade("options.jsonl", judge="scripted/judge", base_url=server)
    >>> score
    Grade Score of scripted/judge on options: 1.000
    >>> score.to_polars()["trials_read"].to_list()
    [9]

    Raises Misuse, LedgerError or BenchmarkError; what was answered before is on record.
    """
    named = Terms(
        base_url=base_url,
        api_key_env=api_key_env,
        max_cost=max_cost,
        prices=prices or (),
        service_tier=service_tier,
    )
    asker = NotebookAsker.of(named, terms, ledger=ledger, settings=settings).without_extractor()
    prompted, ways = _prompts(prompts), (False, True) if unrelated is None else (unrelated,)
    benchmark, pool = _pool(source, responses)
    rows = selection or Selection()
    most = widest(protocol_of(prompted[0]), readout, rows.max_options, unrelated=True in ways)
    plan = GradePlan(
        data=data_of(benchmark, pool, replace(rows, max_options=most, seed=rows.seed or seed)),
        asked=_asked(asker, [judge] if isinstance(judge, str) else judge, prompted, readout, benchmark),
        ways=ways,
        grading=Grading(replicates=replicates, seed=seed, showings=showings),
        third=third_showing,
        settings={"benchmark": benchmark.name},
    )
    job = plan.job(asker.ledger)
    return job.report(finished(await ask(job, command="grade (Python)")), policy=policy)


grade = plain(grade_async)


def _prompts(given: Prompt | Sequence[Prompt]) -> tuple[Prompt, ...]:
    prompts = (given,) if isinstance(given, int) else tuple(dict.fromkeys(given))
    if not prompts or not set(prompts) <= set(PROMPTS):
        raise Misuse(f"prompts are some of {', '.join(map(str, PROMPTS))}, not {given!r}.")
    return prompts


def _asked(
    asker: NotebookAsker, judges: Sequence[str], prompts: Sequence[Prompt], readout: Readout, benchmark: Benchmark
) -> list[AskedPrompt]:
    """Every judge under every prompt."""
    asked: list[AskedPrompt] = []
    for judge in dict.fromkeys(judges):
        for prompt in prompts:
            one = asker.asked(judge, Showing(protocol=protocol_of(prompt), readout=readout), benchmark)
            asked.append(AskedPrompt(prompt=prompt, asked=one.asked, showing=one.showing))
    return asked


def _pool(
    source: str | Path | Benchmark, responses: ResponseSet | Sequence[Response] | None
) -> tuple[Benchmark, Sequence[OptionSet]]:
    if not isinstance(source, Benchmark):
        if responses is not None:
            raise Misuse("A file of options holds its own answers; leave out `responses`.")
        read = read_options(Path(source))
        return read.benchmark, read.sets
    if responses is None:
        raise Misuse(f"Give the answers of several models to {source.name} as `responses`.")
    return source, sets_of_answers(source.items, [*answers_in(responses), *reference_responses(source)])
