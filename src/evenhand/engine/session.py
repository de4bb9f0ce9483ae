"""A run from its first record to its last: registers the study, asks, and writes down how it ended."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand import __version__
from evenhand.domain.errors import Misuse, code_of
from evenhand.domain.identity import Json
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.crew import ALONE, Crew, Standing
from evenhand.engine.run.expected import ForeseenCost, PlannedCost
from evenhand.engine.run.holding import SharedWork
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.retry import LongPause
from evenhand.engine.run.runner import Runner
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.run.task import PlannedChunk, R, S, Task
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store.batches import open_batches
from evenhand.ledger.store.budgets import BudgetStanding
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import CHARGED, charged, results_in, without_a_call


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    run: str
    tally: Tally
    interrupted: bool
    over_budget: bool
    error: Exception | None
    """What stopped the run early, already a sentence; what was answered before is on record."""
    overrun: str = ""
    """Why no budget can be kept with this endpoint, where that ended the run. A sentence."""
    budget: BudgetStanding | None = None
    """Where there is a limit."""
    refused: float | None = None
    """The most that the call can cost, in dollars, for which the budget was not enough."""
    expected: Mapping[str, Json] | None = None
    """What it was expected to cost before its first call; None where nobody counted."""
    batches_until: float | None = None
    """When the last of the batches that were left ends at the latest, as far as its provider says."""

    @property
    def complete(self) -> bool:
        """All that was wanted is asked."""
        tally = self.tally
        stopped = self.interrupted or self.over_budget or self.error is not None
        return not (stopped or tally.failed or tally.elsewhere or tally.not_reached)


def left_to_others(planned: int, *, interrupted: bool) -> Ended:
    """Of a process that came when the others were done."""
    tally = Tally(planned=planned, known=planned)
    return Ended(run="", tally=tally, interrupted=interrupted, over_budget=False, error=None)


Around: TypeAlias = Callable[[Runner[Any, Any]], AbstractAsyncContextManager[None]]
"""What goes on beside a run: its progress on a screen."""


async def run_study(
    prepared: PreparedStudy,
    *,
    ledger: Ledger,
    context: CallContext,
    stop: StopSign,
    command: str = "judge",
    settings: Mapping[str, Json] | None = None,
    retrying: Retrying | None = None,
    around: Around = lambda _: nullcontext(),
    costing: PlannedCost | ForeseenCost | None = None,
    waits: bool = False,
    crew: Crew = ALONE,
) -> Ended:
    """Asks what the study still wants, and closes the client. `costing` counts what it is expected to cost. `waits`:
    until all of it is asked, also what other runs hold. `crew`: other processes that share the run."""
    asking, study = prepared.asking, prepared.study.key
    if crew.leads:
        register(prepared, ledger)
    run = await crew.run_of(study, lambda: ledger.begin_run(command, settings or {}, study=study, version=__version__))
    if run is None:
        await context.close()
        return left_to_others(prepared.wanted, interrupted=stop.interrupted)
    chunks = prepared.plan(ledger, retrying=retrying, begins=crew.begins, at_once=crew.planned)

    def recount() -> int | None:
        if retrying and retrying.reasons:
            return None
        return len(ledger.decided((trial.key for trial in prepared.trials()), reader=asking.protocol.reader))

    return await run_task(
        asking,
        chunks,
        planned=prepared.wanted,
        run=run,
        ledger=ledger,
        context=context,
        stop=stop,
        around=around,
        recount=recount,
        budget_name=f"{command} {study}",
        costing=costing,
        waits=waits,
        crew=crew,
        job=study,
    )


def register(prepared: PreparedStudy, ledger: Ledger) -> None:
    """Puts the study on record; again is no change."""
    asking = prepared.asking
    ledger.register_study(
        prepared.study,
        rater=asking.rater,
        condition=asking.condition,
        wanted=prepared.wanted,
        extractor=asking.extraction.extractor.rater if asking.extraction else None,
    )


async def run_task(
    task: Task[S, R],
    chunks: Iterable[PlannedChunk[S]],
    *,
    planned: int,
    run: str,
    ledger: Ledger,
    context: CallContext,
    stop: StopSign,
    around: Around = lambda _: nullcontext(),
    recount: Callable[[], int | None] = lambda: None,
    standing: Callable[[], Standing] | None = None,
    budget_name: str | None = None,
    costing: PlannedCost | ForeseenCost | None = None,
    waits: bool = False,
    crew: Crew = ALONE,
    job: str = "",
    claims: int | None = None,
) -> Ended:
    """`recount` counts what has a result of all that was planned, as a run that was stopped never came to some of it: a
    plan is made bit by bit. `standing`: of what is no trial, what the record says of the run when it is over.

    `budget_name`: under which a budget is on disk that is this run's alone; one that is open already stays so. `job`:
    what the run is for, as the other processes of a `crew` call it too. `claims`: so much at once, where others share
    the work that are no crew.
    """
    own = context.budget.open(ledger, budget_name or f"run {run}")
    if crew is not ALONE and isinstance(costing, PlannedCost):
        costing = None  # who leads comes to a part of the plan alone, and finds the rest asked
    sharing = SharedWork(waits=waits, claims=claims or crew.claims, crew=crew is not ALONE, helps=not crew.leads)
    runner = Runner(
        task, ledger=ledger, context=crew.limited(context), run=run, planned=planned, stop=stop, sharing=sharing
    )
    closing = _Closing(
        run=run, ledger=ledger, stop=stop, budget=context.budget, crew=crew, job=job, recount=recount,
        standing=standing, costing=costing,
    )  # fmt: skip
    try:
        with _little_garbage():
            async with _hurried(ledger, stop), around(runner), crew.beside(job, runner.tally, stop):
                await _run(runner, chunks if costing is None else costing.over(chunks), stop)
                await crew.ended(job, runner.tally, stop, context.budget.overrun)
        if stop.error is not None:
            raise stop.error
    except Exception as error:
        stop.fail(error)
        if not isinstance(error, (Misuse, LedgerError, LongPause)):
            raise
    finally:
        await context.close()
        ended = closing.ended(runner.tally)
        if own:
            await crew.dismissed()
            context.budget.close(done=ended.complete)
        if crew.leads:
            ledger.end_run(run, {**_outcome(ended), CHARGED: round(charged(ledger, run), 9)})
    return ended


@dataclass(frozen=True, slots=True, kw_only=True)
class _Closing:
    """Adds up what a run has come to. The parameters of `run_task`."""

    run: str
    ledger: Ledger
    stop: StopSign
    budget: Budget
    crew: Crew
    job: str
    recount: Callable[[], int | None]
    standing: Callable[[], Standing] | None
    costing: PlannedCost | ForeseenCost | None

    def ended(self, tally: Tally) -> Ended:
        """`tally`: of this process, which is to count what was planned and never come to."""
        stop, budget = self.stop, self.budget
        decided = self.recount() if stop.raised and stop.error is None else None
        if decided is not None:
            tally.stopped_with(decided)
        tally = self.crew.together(tally, self.job, lambda lost: self._on_record(decided, lost=lost))
        return Ended(
            run=self.run,
            tally=tally,
            interrupted=stop.interrupted,
            over_budget=_over_budget(budget, tally),
            error=stop.error,
            overrun=budget.overrun,
            budget=budget.standing(),
            refused=budget.refused,
            expected=None if self.costing is None else self.costing.as_json(),
            batches_until=_until(self.ledger) if tally.in_batches else None,
        )

    def _on_record(self, decided: int | None, *, lost: bool) -> Standing:
        if self.standing is not None:
            return self.standing()
        reread = without_a_call(self.ledger, self.run) if lost else None
        return Standing(results=results_in(self.ledger, self.run), reread=reread, decided=decided)


@asynccontextmanager
async def _hurried(ledger: Ledger, stop: StopSign) -> AsyncGenerator[None]:
    """Whoever interrupts a run does not wait long for a database server."""

    async def hurry() -> None:
        await stop.wait_interrupted()
        ledger.hurry()

    hurrying = asyncio.create_task(hurry())
    try:
        yield
    finally:
        hurrying.cancel()


async def _run(runner: Runner[S, R], chunks: Iterable[PlannedChunk[S]], stop: StopSign) -> None:
    """An error is on the sign, where others that share the run see it too."""
    try:
        await runner.run(chunks)
    except Exception as error:  # noqa: BLE001  whatever it was, it is raised when the others know
        stop.fail(error)


def _over_budget(budget: Budget, tally: Tally) -> bool:
    """Not where others have asked meanwhile what there was not enough for here."""
    return budget.reached and bool(budget.overrun or tally.not_reached or tally.failed)


def _until(ledger: Ledger) -> float | None:
    return max((one.expires for one in open_batches(ledger) if one.expires is not None), default=None)


NEW_OBJECTS = 20_000
"""So many are made, not 700, before the garbage collector looks at them."""


@contextmanager
def _little_garbage() -> Generator[None]:
    """A run makes many objects, none of which needs the garbage collector to go.

    It need not search them all the time, nor all that was there before them. Without this it takes a tenth of the CPU.
    """
    threshold = gc.get_threshold()
    # Whoever runs this has seen to it. What is frozen is counted one by one, which takes long where it is much.
    if threshold[0] >= NEW_OBJECTS or gc.get_freeze_count():
        yield
        return
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS if threshold[0] else 0, *threshold[1:])
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        gc.unfreeze()


def _outcome(ended: Ended) -> dict[str, Json]:
    return {
        **ended.tally.as_json(ended.run),
        **({} if ended.expected is None else {"expected": dict(ended.expected)}),
        "interrupted": ended.interrupted,
        "over_budget": ended.over_budget,
        "error": None if ended.error is None else str(ended.error),
        "error_code": None if ended.error is None else code_of(ended.error),
    }
