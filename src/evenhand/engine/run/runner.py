"""Asks what is due and records every outcome: bounded, resumable, and stoppable at any moment."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Generic

from evenhand.domain.call import Reply, Request
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.calling import Answer, CallContext, Caller, Reserved, SharedCalls, off_the_budget
from evenhand.engine.run.limits import Concurrency
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.run.task import Circumstances, Due, PlannedChunk, R, S, Task
from evenhand.ledger.store.claims import LEASE_SECONDS, holder_name, release_all, renew
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger, StoredCall
from evenhand.ledger.store.writer import Writer

HOPELESS = 5
"""Trials that may fail before any reply has come; then the endpoint is taken to be wrong and the run stops."""

CLAIM_BATCH = 500
_SAMPLE = 300
"""Characters of a reply that are told where none could be read."""


@dataclass(slots=True, kw_only=True)
class _Told:
    """What was said so far about one thing that was due."""

    entries: Entries
    at_hand: bool
    """Nothing had to be asked for it."""
    asked: bool = False
    sent: bool = False
    """A call went out for it in this run, whatever came of it."""
    calls: tuple[str, ...] = ()
    """Keys of the calls that were answered."""
    cost_usd: float | None = 0.0
    last: str = ""
    """What was said last."""
    answers: dict[str, StoredCall | NoVerdict] = field(default_factory=dict[str, StoredCall | NoVerdict])
    """By its key, each request for which others may be waiting, because it is theirs too."""


class Runner(Generic[S, R]):
    """One run over all that is due."""

    def __init__(
        self, task: Task[S, R], *, ledger: Ledger, context: CallContext, run: str, planned: int, stop: StopSign
    ) -> None:
        self.tally = Tally(planned=planned)
        self.concurrency = Concurrency(context.pacing.max_connections)
        self._task = task
        self._ledger = ledger
        self._context = context
        self._run = run
        self._stop = stop
        self._holder = holder_name(run)
        self._writer = Writer(
            ledger,
            study=task.study,
            holder=self._holder,
            in_flight=lambda: self.concurrency.in_flight,
            purse=context.budget.on_disk,
        )
        context.budget.begin(run, self._writer.run)
        self._caller = self._caller_with(context)
        self._second = self._caller
        """Asks what follows from a reply."""
        if context.second is not None:
            self._second = self._caller_with(context.second)
        self._asked = SharedCalls()
        self._tasks: set[asyncio.Task[None]] = set()
        self._leftovers = Entries()

    def _caller_with(self, context: CallContext) -> Caller:
        return Caller(context, concurrency=self.concurrency, tally=self.tally, charge=self._charge)

    async def _charge(self, usd: float) -> None:
        if usd:
            await self._writer.put(Entries(charges={self._run: usd}))

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
            await self._writer.close(last=self._leftovers, then=self._let_go)
        if self._stop.error is not None:
            raise self._stop.error
        return self.tally

    async def _work_through(self, chunks: Iterator[PlannedChunk[S]]) -> None:
        """Feeds the plan to the calls, a chunk at a time, as places become free."""
        while (chunk := await self._writer.run(lambda: next(chunks, None))) is not None:
            self._asked.turn_over()
            self.tally.planned += chunk.beyond
            self.tally.known += len(chunk.known)
            self.tally.known_no_verdict.update(chunk.undecided)
            await self._link(list(chunk.known))
            for start in range(0, len(chunk.due), CLAIM_BATCH):
                await self._ask_batch(chunk.due[start : start + CLAIM_BATCH])
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _ask_batch(self, batch: tuple[Due[S], ...]) -> None:
        claimed = await self._writer.run(lambda: self._task.claim(self._ledger, batch, holder=self._holder))
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
        if trials and self._task.study is not None:
            await self._writer.run(self._ledger.link, self._task.study, trials)

    async def _start(self, due: Due[S]) -> None:
        """Begins a trial in the place it holds, or ends the run where it could take it over its budget."""
        twin = self._asked.get(due.request.key)
        told = _Told(entries=Entries(release=[due.key]), at_hand=due.stored is not None)
        reserved: Reserved | None = None
        if due.stored is None and twin is None:
            reserved = await self._caller.reserve(due.request)
            if reserved is None:
                self.concurrency.release()
                self._stop.stop()
                return
            self._asked.add(due.request.key)
            told.answers[due.request.key] = _INTERRUPTED
        task = asyncio.create_task(self._ask_and_record(due, told, reserved, twin))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask_and_record(self, due: Due[S], told: _Told, reserved: Reserved | None, twin: Answer | None) -> None:
        concluded = False
        try:
            if reserved is not None:
                said = await self._ask(self._caller, due.request, reserved, told)
            else:
                said = due.stored or await self._overheard(twin, told)
            result = await self._read(due, said, told)
            concluded = True
            if result is not _INTERRUPTED or told.sent:
                self._conclude(due, result, told)
            await self._writer.put(told.entries)
        except asyncio.CancelledError:
            if not concluded:
                # What only waited for its turn was never asked, and so did not fail.
                if told.sent:
                    self._conclude(due, _INTERRUPTED, told)
                self._leftovers.extend(told.entries)
        except Exception as error:  # noqa: BLE001  whatever it was, a run that lost a trial must not end as if all were well
            self._stop.fail(error)
        finally:
            self._tell_twins(told)  # only now, when the calls themselves are on record
            self.concurrency.release()

    async def _overheard(self, twin: Answer | None, told: _Told) -> StoredCall | NoVerdict:
        """What is being said to the very same request of another trial."""
        assert twin is not None
        said = await asyncio.shield(twin)
        told.at_hand = isinstance(said, StoredCall) and not told.asked
        return said

    async def _read(self, due: Due[S], said: StoredCall | NoVerdict, told: _Told) -> R | NoVerdict:
        """What was said, read; and asked on where that takes a further call."""
        request = due.request
        replies: list[Reply] = []
        while isinstance(said, StoredCall):
            replies.append(said.reply)
            told.last = said.reply.text or ""
            told.calls += (request.key,)
            result = self._task.read(due, replies)
            if not isinstance(result, Request):
                return result
            request = result
            said = await self._ask_on(request, told)
        return said

    async def _ask_on(self, request: Request, told: _Told) -> StoredCall | NoVerdict:
        """A further call about something that holds its place already."""
        await self._keep(told)
        twin = self._asked.get(request.key)
        if twin is not None:
            return await self._overheard(twin, told)
        self._asked.add(request.key)
        told.answers[request.key] = _INTERRUPTED
        found = await self._writer.run(self._ledger.find_calls, [request.key])
        if request.key in found:
            told.answers[request.key] = found[request.key]
            return found[request.key]
        told.at_hand = False
        if self._stop.pressing:
            return _INTERRUPTED
        reserved = await self._second.reserve(request)
        if reserved is None:
            self._stop.stop()
            told.answers[request.key] = _OVER_BUDGET
            return _OVER_BUDGET
        return await self._ask(self._second, request, reserved, told)

    async def _keep(self, told: _Told) -> None:
        """Puts on record what was said so far: it was paid for, whatever comes of the next call."""
        if told.entries.calls:
            # Taken first: an interrupt in the midst of it must not have them charged once more at the end.
            await self._writer.put(told.entries.take_calls())
        self._tell_twins(told)

    def _tell_twins(self, told: _Told) -> None:
        for key, said in told.answers.items():
            self._asked.answer(key, said)
        told.answers.clear()

    async def _ask(self, caller: Caller, request: Request, reserved: Reserved, told: _Told) -> StoredCall | NoVerdict:
        told.asked, told.at_hand = True, False
        before, told.cost_usd = told.cost_usd, None  # what an interrupted call costs is not known
        try:
            reply = await caller.reply(request, reserved)
        except CallFailure as failure:
            self.tally.requests += failure.requests
            self._give_up_if_hopeless(caller, failure)
            said = told.answers[request.key] = NoVerdict(reason=failure.reason, detail=str(failure))
            return said
        except asyncio.CancelledError:
            if request.key in caller.cut_off:
                told.entries.charge(self._run, off_the_budget(None, reserved.estimate))
            raise
        finally:
            told.sent = told.sent or request.key in caller.sent
            caller.sent.discard(request.key)
        cost = caller.cost(reply)
        told.cost_usd = None if cost is None or before is None else before + cost
        self.tally.add_reply(reply, cost)
        told.entries.add_call(request, reply, run=self._run, at=time.time(), cost_usd=cost)
        told.entries.charge(self._run, caller.paid_for(request, reply, reserved.estimate))
        said = told.answers[request.key] = StoredCall(reply=reply, cost_usd=cost)
        return said

    def _conclude(self, due: Due[S], result: R | NoVerdict, told: _Told) -> None:
        if told.at_hand:
            self.tally.known += 1
            self.tally.reread += 1
        else:
            self.tally.called += 1
        lacking = self._task.outcome(result)
        self.tally.add_result(lacking)
        if lacking is not None and not lacking.call_failed:
            self._pause_if_unread(lacking, told)
        now = Circumstances(run=self._run, at=time.time(), cost_usd=told.cost_usd, calls=told.calls)
        told.entries.extend(self._task.record(due, result, now))

    def _give_up_if_hopeless(self, caller: Caller, failure: CallFailure) -> None:
        caller.failed += 1
        if not caller.heard and caller.failed >= HOPELESS:
            self._stop.fail(
                Misuse(
                    f"The first {caller.failed} trials all failed and no reply has come. {failure}",
                    code="EH-NO-REPLIES",
                )
            )

    def _pause_if_unread(self, lacking: NoVerdict, told: _Told) -> None:
        most, unread = self._context.pacing.unread_most, self.tally.no_verdict.total()
        if most is not None and not self.tally.verdicts and unread >= most:
            sample = shorten(told.last, _SAMPLE, placeholder=" …")
            self._stop.fail(
                Misuse(
                    f"None of the first {unread} replies could be read ({lacking.reason}), so the run pauses before "
                    f"more is spent. The last one said: {sample!r}. Once the judge follows the "
                    f"protocol, --retry-reason {lacking.reason} asks these again; --go-on asks on as it is.",
                    code="EH-NOTHING-READ",
                )
            )

    async def _let_finish(self, producer: "asyncio.Task[None]") -> None:
        """Calls in flight may end; after an interrupt or an error only within the grace time."""
        if not producer.done():
            producer.cancel()
        outcome = (await asyncio.gather(producer, return_exceptions=True))[0]
        if isinstance(outcome, Exception):
            self._stop.fail(outcome)
        if self._tasks:
            if self._stop.pressing:
                for task in self._tasks - self._caller.sending - self._second.sending:
                    task.cancel()
            hurry = asyncio.create_task(self._stop.end_of_patience(self._context.pacing.grace_seconds))
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
                await self._writer.run(self._renew)
            except LedgerError as error:
                self._stop.fail(error)

    def _renew(self) -> None:
        renew(self._ledger, holder=self._holder)
        if (purse := self._context.budget.on_disk) is not None:
            purse.renew()

    def _let_go(self) -> None:
        release_all(self._ledger, holder=self._holder)
        if (purse := self._context.budget.on_disk) is not None:
            # Where a commit failed, what its calls cost is not on record: that is kept off the budget.
            purse.give_back(keep=isinstance(self._stop.error, LedgerError))


_INTERRUPTED = NoVerdict(reason="interrupted", detail="The run was stopped before the reply came.")
_OVER_BUDGET = NoVerdict(reason="over-budget", detail="The budget does not allow the second call.")
