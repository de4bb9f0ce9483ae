"""Asks what is due and records every outcome: bounded, resumable, and stoppable at any moment."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol

from evenhand.domain.call import Reply, Request, Usage
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.budget import Budget
from evenhand.engine.errand import Circumstances, Due, Errand, PlannedChunk, R, S
from evenhand.engine.limits import Concurrency, Pace
from evenhand.engine.retry import RetryRule, with_retries
from evenhand.engine.tally import Tally
from evenhand.ledger.opening import LedgerError
from evenhand.ledger.record import Entries, Ledger
from evenhand.ledger.work import LEASE_SECONDS, holder_name, release_all, renew
from evenhand.ledger.writer import Writer
from evenhand.models.client import ModelClient
from evenhand.models.errors import CallFailure, Misuse

HOPELESS = 5
"""Trials that may fail before any reply has come; then the endpoint is taken to be wrong and the run stops."""

CLAIM_BATCH = 100


class Pricing(Protocol):
    def cost(self, usage: Usage) -> float | None: ...

    def estimate(self, request: Request) -> float | None:
        """An upper estimate in dollars, None where the price is unknown."""
        ...

    def tokens(self, request: Request) -> int:
        """An upper estimate of input and output together."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    max_connections: int = 64
    rpm: float | None = None
    tpm: float | None = None
    retry: RetryRule = field(default_factory=RetryRule)
    grace_seconds: float = 30.0


class StopSign:
    """Why a run should end early; set from a signal, a wrong key, a full disk or a spent budget."""

    def __init__(self) -> None:
        self.interrupted = False
        self.error: Exception | None = None
        self._raised = asyncio.Event()
        self._pressing = asyncio.Event()
        self._hurried = asyncio.Event()

    def interrupt(self) -> None:
        """The first time: begin nothing new. The second time: give up what is in flight."""
        if self.interrupted:
            self._hurried.set()
        self.interrupted = True
        self._pressing.set()
        self._raised.set()

    def fail(self, error: Exception) -> None:
        self.error = self.error or error
        self._pressing.set()
        self._raised.set()

    def stop(self) -> None:
        self._raised.set()

    @property
    def raised(self) -> bool:
        return self._raised.is_set()

    @property
    def pressing(self) -> bool:
        """An interrupt or an error: what has not been sent yet is not sent any more."""
        return self._pressing.is_set()

    async def wait(self) -> None:
        await self._raised.wait()

    async def end_of_patience(self, grace_seconds: float) -> None:
        """Returns so long after an interrupt or an error, or at a second interrupt; a spent budget is no hurry."""
        await self._pressing.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurried.wait(), grace_seconds)


class Runner(Generic[S, R]):
    """One run over all that is due."""

    def __init__(
        self,
        errand: Errand[S, R],
        *,
        ledger: Ledger,
        client: ModelClient,
        run: str,
        pricing: Pricing,
        budget: Budget,
        pacing: Pacing,
        stop: StopSign,
    ) -> None:
        self.tally = Tally()
        self.concurrency = Concurrency(pacing.max_connections)
        self.budget = budget
        self._errand = errand
        self._ledger = ledger
        self._client = client
        self._run = run
        self._pricing = pricing
        self._pacing = pacing
        self._requests_pace = Pace(pacing.rpm)
        self._tokens_pace = Pace(pacing.tpm)
        self._stop = stop
        self._holder = holder_name(run)
        self._writer = Writer(ledger, study=errand.study, in_flight=lambda: self.concurrency.in_flight)
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending: set[asyncio.Task[Any] | None] = set()
        """Those whose request is on its way; the others wait for their turn, or to try again."""
        self._leftovers = Entries()
        self._heard = False
        """Whether any reply has come."""

    async def run(self, chunks: Iterable[PlannedChunk[S]]) -> Tally:
        """Works through the plan; whatever ends it, what was answered is on record when this returns or raises."""
        heart = asyncio.create_task(self._keep_claims())
        producer = asyncio.create_task(self._work_through(iter(chunks)))
        sign = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((producer, sign), return_when=asyncio.FIRST_COMPLETED)
            await self._let_finish(producer)
        finally:
            heart.cancel()
            sign.cancel()
            await self._writer.close(last=self._leftovers, then=self._release_claims)
        if self._stop.error is not None:
            raise self._stop.error
        return self.tally

    async def _work_through(self, chunks: Iterator[PlannedChunk[S]]) -> None:
        """Feeds the plan to the calls, a chunk at a time, as places become free."""
        while (chunk := await self._writer.run(lambda: next(chunks, None))) is not None:
            self.tally.known += len(chunk.known)
            await self._link(list(chunk.known))
            for start in range(0, len(chunk.due), CLAIM_BATCH):
                await self._ask_batch(chunk.due[start : start + CLAIM_BATCH])
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _ask_batch(self, batch: tuple[Due[S], ...]) -> None:
        claimed = await self._writer.run(lambda: self._errand.claim(self._ledger, batch, holder=self._holder))
        self.tally.known += len(claimed.decided)
        self.tally.elsewhere += len(claimed.others)
        await self._link(sorted(claimed.decided))
        for due in batch:
            if due.key in claimed.mine:
                await self.concurrency.acquire()
                if self._stop.raised:
                    self.concurrency.release()
                    return
                await self._start(due)

    async def _link(self, trials: list[str]) -> None:
        if trials and self._errand.study is not None:
            await self._writer.run(self._ledger.link, self._errand.study, trials)

    async def _start(self, due: Due[S]) -> None:
        """Begins a trial in the place it holds, or ends the run where it could take it over its budget."""
        # Without a limit nobody asks: an estimate counts words, and decodes the images that are shown.
        asked = due.stored is None and self.budget.limited
        estimate = self._pricing.estimate(due.request) if asked else None
        if due.stored is None and not await self.budget.reserve(estimate):
            self.concurrency.release()
            self._stop.stop()
            return
        task = asyncio.create_task(self._ask_and_record(due, estimate))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask_and_record(self, due: Due[S], estimate: float | None) -> None:
        entries = Entries(release=[due.key])
        concluded = False
        try:
            result = await self._result(due, estimate, entries)
            concluded = True
            self._conclude(due, result, entries)
            await self._writer.put(entries)
        except asyncio.CancelledError:
            if not concluded:
                self._conclude(due, _INTERRUPTED, entries)
                self._leftovers.extend(entries)
        except Exception as error:  # noqa: BLE001  whatever it was, a run that lost a trial must not end as if all were well
            self._stop.fail(error)
        finally:
            self.concurrency.release()

    async def _result(self, due: Due[S], estimate: float | None, entries: Entries) -> R | NoVerdict:
        if due.stored is not None:
            return self._errand.read(due, due.stored.reply)
        paid = None
        try:
            reply = await self._reply(due.request)
            cost = self._pricing.cost(reply.usage)
            # Where the endpoint does not say what it used, the budget takes it for the most it can have been.
            paid = estimate if cost is None else cost
        except CallFailure as failure:
            self.tally.requests += failure.requests
            self._give_up_if_hopeless(failure)
            return NoVerdict(reason=failure.reason, detail=str(failure))
        finally:
            self.budget.settle(estimate, paid)
        self.tally.add_reply(reply, cost)
        entries.add_call(due.request, reply, run=self._run, at=time.time(), cost_usd=cost)
        return self._errand.read(due, reply)

    async def _reply(self, request: Request) -> Reply:
        async def once() -> Reply:
            while True:  # a pause asked for while this call waited for its turn holds it back too
                await self.concurrency.pass_hold()
                await self._requests_pace.take()
                await self._tokens_pace.take(self._pricing.tokens(request) if self._pacing.tpm else 0.0)
                if not self.concurrency.held:
                    return await self._send(request)

        reply = await with_retries(
            once, rule=self._pacing.retry, concurrency=self.concurrency, heard=lambda: self._heard
        )
        self._heard = True
        return reply

    async def _send(self, request: Request) -> Reply:
        task = asyncio.current_task()
        self._sending.add(task)
        try:
            return await self._client.complete(request)
        finally:
            self._sending.discard(task)

    def _conclude(self, due: Due[S], result: R | NoVerdict, entries: Entries) -> None:
        if due.stored is None:
            self.tally.called += 1
        else:
            self.tally.known += 1
        self.tally.add_result(self._errand.outcome(result))
        cost = 0.0 if due.stored is not None else entries.calls[-1]["cost_usd"] if entries.calls else None
        now = Circumstances(run=self._run, at=time.time(), cost_usd=cost)
        entries.extend(self._errand.record(due, result, now))

    def _give_up_if_hopeless(self, failure: CallFailure) -> None:
        failures = sum(self.tally.failed.values()) + 1
        if not self._heard and failures >= HOPELESS:
            self._stop.fail(Misuse(f"The first {failures} trials all failed and no reply has come. {failure}"))

    async def _let_finish(self, producer: "asyncio.Task[None]") -> None:
        """Calls in flight may end; after an interrupt or an error only within the grace time."""
        if not producer.done():
            producer.cancel()
        outcome = (await asyncio.gather(producer, return_exceptions=True))[0]
        if isinstance(outcome, Exception):
            self._stop.fail(outcome)
        if self._tasks:
            if self._stop.pressing:
                for task in self._tasks - self._sending:
                    task.cancel()
            hurry = asyncio.create_task(self._stop.end_of_patience(self._pacing.grace_seconds))
            everyone = asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.wait((everyone, hurry), return_when=asyncio.FIRST_COMPLETED)
            hurry.cancel()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep_claims(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 4)
            try:
                await self._writer.run(lambda: renew(self._ledger, holder=self._holder))
            except LedgerError as error:
                self._stop.fail(error)

    def _release_claims(self) -> None:
        release_all(self._ledger, holder=self._holder)


_INTERRUPTED = NoVerdict(reason="interrupted", detail="The run was stopped before the reply came.")
