"""A run from its first record to its last: registers the study, asks, and writes down how it ended."""

import gc
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand import __version__
from evenhand.domain.errors import Misuse, code_of
from evenhand.domain.identity import Json
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.retry import LongPause
from evenhand.engine.run.runner import Runner
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.run.task import PlannedChunk, R, S, Task
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store.budgets import BudgetStanding
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import CHARGED, charged


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

    @property
    def complete(self) -> bool:
        """All that was wanted is asked."""
        tally = self.tally
        stopped = self.interrupted or self.over_budget or self.error is not None
        return not (stopped or tally.failed or tally.elsewhere or tally.not_reached)


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
) -> Ended:
    """Asks what the study still wants, and closes the client."""
    asking = prepared.asking
    register(prepared, ledger)
    run = ledger.begin_run(command, settings or {}, study=prepared.study.key, version=__version__)
    chunks = prepared.plan(ledger, retrying=retrying)

    def recount(tally: Tally) -> None:
        if not (retrying and retrying.reasons):
            decided = ledger.decided((trial.key for trial in prepared.trials()), reader=asking.protocol.reader)
            tally.stopped_with(len(decided))

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
        budget_name=f"{command} {prepared.study.key}",
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
    recount: Callable[[Tally], None] = lambda _: None,
    budget_name: str | None = None,
) -> Ended:
    """`recount` counts what was known of that which a run stopped early never came to; a plan is made bit by bit.

    `budget_name`: under which a budget is on disk that is this run's alone; one that is open already stays so.
    """
    own = context.budget.open(ledger, budget_name or f"run {run}")
    runner = Runner(task, ledger=ledger, context=context, run=run, planned=planned, stop=stop)
    try:
        with _little_garbage():
            async with around(runner):
                await runner.run(chunks)
    except Exception as error:
        stop.fail(error)
        if not isinstance(error, (Misuse, LedgerError, LongPause)):
            raise
    finally:
        await context.close()
        if stop.raised and stop.error is None:
            recount(runner.tally)
        ended = Ended(
            run=run,
            tally=runner.tally,
            interrupted=stop.interrupted,
            over_budget=context.budget.reached,
            error=stop.error,
            overrun=context.budget.overrun,
            budget=context.budget.standing(),
            refused=context.budget.refused,
        )
        if own:
            context.budget.close(done=ended.complete)
        ledger.end_run(run, {**_outcome(ended), CHARGED: round(charged(ledger, run), 9)})
    return ended


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
        "interrupted": ended.interrupted,
        "over_budget": ended.over_budget,
        "error": None if ended.error is None else str(ended.error),
        "error_code": None if ended.error is None else code_of(ended.error),
    }
