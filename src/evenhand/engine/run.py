"""Asks what is due and records every outcome: bounded, resumable, and stoppable at any moment."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Generic

from evenhand.domain.call import Request
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.calling import Answer, Asked, Caller, Means
from evenhand.engine.errand import Circumstances, Due, Errand, PlannedChunk, R, S
from evenhand.engine.limits import Concurrency
from evenhand.engine.stopping import StopSign
from evenhand.engine.tally import Tally
from evenhand.ledger.opening import LedgerError
from evenhand.ledger.record import Entries, Ledger, StoredCall
from evenhand.ledger.work import LEASE_SECONDS, holder_name, release_all, renew
from evenhand.ledger.writer import Writer
from evenhand.models.errors import CallFailure, Misuse

HOPELESS = 5
"""Trials that may fail before any reply has come; then the endpoint is taken to be wrong and the run stops."""

CLAIM_BATCH = 500


class Runner(Generic[S, R]):
    """One run over all that is due."""

    def __init__(
        self, errand: Errand[S, R], *, ledger: Ledger, means: Means, run: str, planned: int, stop: StopSign
    ) -> None:
        self.tally = Tally(planned=planned)
        self.concurrency = Concurrency(means.pacing.max_connections)
        self._errand = errand
        self._ledger = ledger
        self._means = means
        self._run = run
        self._stop = stop
        self._holder = holder_name(run)
        self._writer = Writer(
            ledger, study=errand.study, holder=self._holder, in_flight=lambda: self.concurrency.in_flight
        )
        self._caller = Caller(means, concurrency=self.concurrency, tally=self.tally)
        self._asked = Asked()
        self._tasks: set[asyncio.Task[None]] = set()
        self._leftovers = Entries()

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
            self._asked.turn_over()
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
        twin = self._asked.get(due.request.key)
        paying = due.stored is None and twin is None
        # Without a limit nobody asks: an estimate counts words, and decodes the images that are shown.
        estimate = self._means.pricing.estimate(due.request) if paying and self._means.budget.limited else None
        if paying and not await self._means.budget.reserve(estimate):
            self.concurrency.release()
            self._stop.stop()
            return
        if paying:
            self._asked.add(due.request.key)
        task = asyncio.create_task(self._ask_and_record(due, estimate, twin))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask_and_record(self, due: Due[S], estimate: float | None, twin: Answer | None) -> None:
        entries = Entries(release=[due.key])
        paying = due.stored is None and twin is None
        said: StoredCall | NoVerdict = _INTERRUPTED
        concluded = False
        try:
            said = await (self._ask(due.request, estimate, entries) if paying else self._at_hand(due, twin))
            if not paying and isinstance(said, StoredCall):
                due = replace(due, stored=said)
            result = said if isinstance(said, NoVerdict) else self._errand.read(due, said.reply)
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
            if paying:
                self._asked.answer(due.request.key, said)  # only now, when the call itself is on record
            self.concurrency.release()

    async def _at_hand(self, due: Due[S], twin: Answer | None) -> StoredCall | NoVerdict:
        """What is on record, or what is being said to the very same request of another trial."""
        if due.stored is not None:
            return due.stored
        assert twin is not None
        return await asyncio.shield(twin)

    async def _ask(self, request: Request, estimate: float | None, entries: Entries) -> StoredCall | NoVerdict:
        try:
            reply = await self._caller.reply(request, estimate)
        except CallFailure as failure:
            self.tally.requests += failure.requests
            self._give_up_if_hopeless(failure)
            return NoVerdict(reason=failure.reason, detail=str(failure))
        cost = self._means.pricing.cost(reply.usage)
        self.tally.add_reply(reply, cost)
        entries.add_call(request, reply, run=self._run, at=time.time(), cost_usd=cost)
        return StoredCall(reply=reply, cost_usd=cost)

    def _conclude(self, due: Due[S], result: R | NoVerdict, entries: Entries) -> None:
        if due.stored is None:
            self.tally.called += 1
        else:
            self.tally.known += 1
            self.tally.reread += 1
        self.tally.add_result(self._errand.outcome(result))
        cost = 0.0 if due.stored is not None else entries.calls[-1]["cost_usd"] if entries.calls else None
        now = Circumstances(run=self._run, at=time.time(), cost_usd=cost)
        entries.extend(self._errand.record(due, result, now))

    def _give_up_if_hopeless(self, failure: CallFailure) -> None:
        failures = sum(self.tally.failed.values()) + 1
        if not self._caller.heard and failures >= HOPELESS:
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
                for task in self._tasks - self._caller.sending:
                    task.cancel()
            hurry = asyncio.create_task(self._stop.end_of_patience(self._means.pacing.grace_seconds))
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
