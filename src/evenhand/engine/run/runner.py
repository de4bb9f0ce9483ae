"""Asks what is due and records every outcome: bounded, resumable, and stoppable at any moment."""

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import Generic

from evenhand.domain.call import Reply, Request
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.batches import Reserved
from evenhand.engine.run.calling import Answer, CallContext, Caller, SharedCalls, off_the_budget
from evenhand.engine.run.claiming import CLAIM_BATCH, LOOK_SECONDS
from evenhand.engine.run.holding import Holding, SharedWork
from evenhand.engine.run.others import Others
from evenhand.engine.run.prefix_order import in_prefix_order
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.run.task import Circumstances, Due, PlannedChunk, R, S, Task
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.record import Ledger, StoredCall
from evenhand.models.batch.record import BatchPending, NotSent, OpenBatch

HOPELESS = 5
"""Trials that may fail before any reply has come; then the endpoint is taken to be wrong and the run stops."""

_SAMPLE = 300
"""Characters of a reply that are told where none could be read."""


@dataclass(slots=True, kw_only=True)
class _Told:
    """What was said so far about one thing that was due."""

    entries: Entries
    at_hand: bool
    """Nothing had to be asked for it."""
    by_crew: bool = False
    """Another process of this run has put it on record."""
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
    after: Answer | None = None
    """What is said to the call before it, where it is read in its turn."""


class NothingRead(Misuse):
    """A run that paused because none of its first replies could be read."""

    code = "EH-NOTHING-READ"

    def __init__(self, words: str, *, told: str) -> None:
        super().__init__(words)
        self.told = told
        """What happened, without what to do about it."""


class Runner(Generic[S, R]):
    """One run over all that is due."""

    def __init__(
        self,
        task: Task[S, R],
        *,
        ledger: Ledger,
        context: CallContext,
        run: str,
        planned: int,
        stop: StopSign,
        sharing: SharedWork,
    ) -> None:
        self.tally = Tally(planned=planned)
        self.concurrency = (context.limits or context.pacing.limits()).places
        self._task = task
        self.ledger = ledger
        self._context = context
        self._run = run
        self._stop = stop
        self._sharing = sharing
        self._holding = Holding(
            task,
            ledger=ledger,
            context=context,
            run=run,
            sharing=sharing,
            tally=self.tally,
            stop=stop,
            in_flight=lambda: self.concurrency.in_flight,
        )
        self._writer, self._claiming = self._holding.writer, self._holding.claiming
        self._lease, self._desks = self._holding.lease, self._holding.desks
        self.tally.by_batch = self._desks is not None
        self._look_at = CLAIM_BATCH
        """At so many that others held it is looked before the end of the plan whether they have a result: most soon
        have."""
        self._caller = self._caller_with(context)
        self._second = self._caller if context.second is None else self._caller_with(context.second)
        """Asks what follows from a reply."""
        self._asked = SharedCalls()
        self._tasks: set[asyncio.Task[None]] = set()
        self._leftovers = Entries()
        self._call_before: Answer | None = None
        """What is said to the last call that was begun."""
        self._next: list[Request] = []
        """Of the part of the plan that is under way: one of them comes first in another run."""

    @property
    def others(self) -> Others:
        return self._holding.others

    @property
    def batches(self) -> Sequence[OpenBatch]:
        """Those that this run sees to, in the order in which they came."""
        return () if self._desks is None else self._desks.followed

    def _caller_with(self, context: CallContext) -> Caller:
        return Caller(context, concurrency=self.concurrency, tally=self.tally, charge=self._charge)

    async def _charge(self, usd: float, call: str) -> None:
        if usd or self._desks is not None:
            charges = {self._run: usd} if usd else {}
            await self._writer.put(Entries(charges=charges, settled=self._settled(call, usd)))

    def _settled(self, call: str, usd: float) -> dict[str, float]:
        return {} if self._desks is None else {call: usd}

    async def run(self, chunks: Iterable[PlannedChunk[S]]) -> Tally:
        """Works through the plan; whatever ends it, what was answered is on record when this returns or raises."""
        await self._holding.begin()
        beside = self._holding.beside()
        producer = asyncio.create_task(self._work_through(iter(chunks)))
        sign = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait((producer, sign), return_when=asyncio.FIRST_COMPLETED)
            await self._let_finish(producer)
            if self._context.budget.refused is not None:
                self._caller.count_as_refused(self._next)
        finally:
            if self._desks is not None:  # what they are about to put on record is put there first
                await self._context.close()
            for one in (*beside, sign):
                one.cancel()
            await self._holding.end(last=self._leftovers)
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
            found = await self._claiming.count_of_others(chunk.known)
            self.tally.known_no_verdict -= found.crew
            await self._claiming.link(list(chunk.known))
            due = self._in_order(chunk.due)
            self._next = [one.request for one in due if one.stored is None]
            for start in range(0, len(due), self._sharing.claims):
                await self._ask_batch(due[start : start + self._sharing.claims])
            if len(self._claiming.left) >= self._look_at:
                await self._look_again()
                self._look_at = 2 * len(self._claiming.left) + CLAIM_BATCH
        await self._wait_for_others()

    def _in_order(self, due: Sequence[Due[S]]) -> Sequence[Due[S]]:
        pacing = self._context.pacing
        if not pacing.by_prefix:
            return due
        ordered = in_prefix_order(due, connections=pacing.max_connections, in_turn=pacing.in_turn)
        if pacing.in_turn:
            # A call comes first, so that what is read in its turn has one before it.
            call = next((place for place, one in enumerate(ordered) if one.stored is None), 0)
            ordered[:0] = [ordered.pop(call)] if ordered else []
        return ordered

    async def _wait_for_others(self) -> None:
        """Until all that was wanted is asked, whoever asked it; what a run leaves that ends is asked here."""
        held = self._claiming
        while held.left or self._tasks or held.failed:
            if held.left:
                await self._look_again()
            elif self._tasks:
                await asyncio.wait(self._tasks)
                if held.failed and held.met_others:
                    await asyncio.sleep(2 * LOOK_SECONDS)  # they look at what failed here, and may ask it
            else:
                async for due in held.answered_elsewhere():
                    await self._ask_batch([due])
            if held.left or (held.failed and not self._tasks):
                await asyncio.sleep(LOOK_SECONDS)

    async def _look_again(self) -> None:
        """At what others held."""
        left = self._claiming.left_over()
        for start in range(0, len(left), CLAIM_BATCH):
            await self._ask_batch(left[start : start + CLAIM_BATCH])

    async def _ask_batch(self, batch: Sequence[Due[S]]) -> None:
        ours = await self._claiming.take(batch)
        for number, due in enumerate(ours.mine):
            if due.request.key in ours.waiting:
                self.tally.in_batches += 1
                continue
            await self.concurrency.acquire()
            if self._stop.raised:
                self.concurrency.release()
                return
            if self._lease.over:  # this process slept, and others may have asked all that by now
                self.concurrency.release()
                await self._lease.begin_anew()
                await self._ask_batch(ours.mine[number:])
                return
            await self._start(due)

    async def _start(self, due: Due[S]) -> None:
        """Begins a trial in the place it holds, or ends the run where it could take it over its budget."""
        twin = self._asked.get(due.request.key)
        told = _Told(entries=Entries(release=[due.key]), at_hand=due.stored is not None)
        reserved: Reserved | None = None
        if due.stored is None and twin is None:
            reserved = await self._caller.reserve(due.request)
            if reserved is None:
                self.concurrency.release()
                await self._stop_without_room()
                return
            self._asked.add(due.request.key)
            told.answers[due.request.key] = _INTERRUPTED
            self._call_before = self._asked.get(due.request.key)
        elif due.stored is not None and self._context.pacing.in_turn:
            told.after = self._call_before
        task = asyncio.create_task(self._ask_and_record(due, told, reserved, twin))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _stop_without_room(self) -> bool:
        """Unless batches hold more: that is set aside already, is collected, and leaves room."""
        if self._desks is not None and await self._desks.hold_more():
            return False
        self._stop.stop()
        return True

    async def _ask_and_record(self, due: Due[S], told: _Told, reserved: Reserved | None, twin: Answer | None) -> None:
        concluded = False
        try:
            if told.after is not None and not isinstance(await asyncio.shield(told.after), StoredCall):
                # Left for another run: where calls fail, what has a result would tell whose replies were there.
                await self._writer.put(told.entries)
                return
            if reserved is not None:
                said = await self._ask(self._caller, due.request, reserved, told)
                await _after_all_that_came()
            else:
                said = due.stored or await self._shared_call(twin, told)
            result = await self._read(due, said, told)
            concluded = True
            if result is _IN_BATCH:
                self.tally.in_batches += 1
            elif result is not _INTERRUPTED or told.sent:
                self._conclude(due, result, told)
            lost = await self._writer.put(told.entries)
            if due.key in lost or not lost.isdisjoint(told.calls):
                await self._look_later(due, result, told)
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

    async def _shared_call(self, twin: Answer | None, told: _Told) -> StoredCall | NoVerdict:
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
            told.by_crew = told.by_crew or (self._sharing.crew and self._task.study is None and said.run == self._run)
            told.last = said.reply.text or ""
            told.calls += (request.key,)
            result = self._task.read(due, replies)
            if not isinstance(result, Request):
                return result
            instead = (await self._keep(told)).get(request.key)
            if instead is None:
                request = result
                said = await self._ask_on(request, told)
            else:
                said, told.calls = instead, told.calls[:-1]
                del replies[-1]
        return said

    async def _ask_on(self, request: Request, told: _Told) -> StoredCall | NoVerdict:
        """A further call about something that holds its place already."""
        twin = self._asked.get(request.key)
        if twin is not None:
            return await self._shared_call(twin, told)
        self._asked.add(request.key)
        told.answers[request.key] = _INTERRUPTED
        found = await self._writer.run(self.ledger.find_calls, [request.key])
        if request.key in found:
            told.answers[request.key] = found[request.key]
            return found[request.key]
        told.at_hand = False
        if self._stop.pressing:
            return _INTERRUPTED
        if await self._claiming.in_open_batches([request.key]):
            told.answers[request.key] = _IN_BATCH
            return _IN_BATCH
        reserved = await self._second.reserve(request)
        if reserved is None:
            lacking = told.answers[request.key] = _OVER_BUDGET if await self._stop_without_room() else _INTERRUPTED
            return lacking
        return await self._ask(self._second, request, reserved, told)

    async def _keep(self, told: _Told) -> dict[str, StoredCall]:
        """Puts on record what was said so far: it was paid for, whatever comes of the next call. Returns what is there
        instead, where another run was told something else before."""
        instead: dict[str, StoredCall] = {}
        if told.entries.calls:
            # Taken first: an interrupt in the midst of it must not have them charged once more at the end.
            lost = await self._writer.put(told.entries.take_calls())
            instead = await self._on_record(told, lost & told.answers.keys())
        self._tell_twins(told)
        return instead

    async def _on_record(self, told: _Told, calls: Collection[str]) -> dict[str, StoredCall]:
        """What the record holds of the calls, which is what others who wait for them hear."""
        found = await self._writer.run(self.ledger.find_calls, calls) if calls else {}
        told.answers |= {key: call for key, call in found.items() if key in told.answers}
        return found

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
        except BatchPending as pending:
            # Neither answered nor failed: it waits where it is, and the next run finds it there.
            if pending.error is not None:
                self._stop.fail(pending.error)
                return _INTERRUPTED
            told.answers[request.key] = _IN_BATCH
            return _IN_BATCH
        except NotSent:
            self._stop.stop()
            return _INTERRUPTED
        except asyncio.CancelledError:
            if request.key in caller.cut_off:
                told.entries.charge(self._run, off_the_budget(None, reserved.estimate))
            if self._desks is not None and self._desks.have_sent(request.key):
                self.tally.in_batches += 1
            raise
        finally:
            told.sent = told.sent or request.key in caller.sent
            caller.sent.discard(request.key)
        cost = caller.cost(reply)
        told.cost_usd = None if cost is None or before is None else before + cost
        self.tally.add_reply(reply, cost)
        told.entries.add_call(request, reply, run=self._run, at=time.time(), cost_usd=cost)
        paid = caller.paid_for(request, reply, reserved.estimate)
        told.entries.charge(self._run, paid)
        told.entries.settled |= self._settled(request.key, paid)
        said = told.answers[request.key] = StoredCall(reply=reply, cost_usd=cost)
        return said

    def _conclude(self, due: Due[S], result: R | NoVerdict, told: _Told) -> None:
        lacking = self._task.outcome(result)
        if told.at_hand and self._counted_elsewhere(told):
            self.tally.known += 1
            self.tally.by_crew += 1
        else:
            self._count(due, lacking, told)
        if lacking is not None and not lacking.call_failed:
            self._pause_if_unread(lacking, told)
        elif lacking is not None:
            self._claiming.has_failed(due, lacking)
        now = Circumstances(run=self._run, at=time.time(), cost_usd=told.cost_usd, calls=told.calls)
        told.entries.extend(self._task.record(due, result, now))

    def _counted_elsewhere(self, told: _Told) -> bool:
        """Of the processes that share this run. What is on record, and is no trial, nobody claims: each reads it."""
        return told.by_crew or (self._sharing.helps and self._task.study is None)

    def _count(self, due: Due[S], lacking: NoVerdict | None, told: _Told) -> None:
        if not told.at_hand:
            self.tally.called += 1
        else:
            self.tally.known += 1
            self.tally.meanwhile += due.key in self._claiming.came
            self.tally.reread += due.key not in self._claiming.came
        self.tally.add_result(lacking)

    async def _look_later(self, due: Due[S], result: R | NoVerdict, told: _Told) -> None:
        """At what was not put on record, because another run has taken it over, or has another reply there: if that run
        leaves it, what is on record is read."""
        if told.at_hand and self._counted_elsewhere(told):
            self.tally.known -= 1
            self.tally.by_crew -= 1
        else:
            came = due.key in self._claiming.came
            self.tally.take_back(self._task.outcome(result), at_hand=told.at_hand, meanwhile=came)
        found = await self._on_record(told, {due.request.key, *told.answers})
        self._claiming.lost(replace(due, stored=found.get(due.request.key)))

    def _give_up_if_hopeless(self, caller: Caller, failure: CallFailure) -> None:
        caller.failed += 1
        # What is in a batch was sent long ago, and comes in any order.
        if self._desks is None and not caller.heard and caller.failed >= HOPELESS:
            self._stop.fail(
                Misuse(
                    f"The first {caller.failed} trials all failed and no reply has come. {failure}",
                    code="EH-NO-REPLIES",
                )
            )

    def _pause_if_unread(self, lacking: NoVerdict, heard: _Told) -> None:
        most, unread = self._context.pacing.unread_most, self.tally.no_verdict.total()
        if most is not None and not self.tally.verdicts and unread >= most:
            sample = shorten(heard.last, _SAMPLE, placeholder=" …")
            told = (
                f"None of the first {unread} replies could be read ({lacking.reason}), so the run pauses before more "
                f"is spent. The last one said: {sample!r}."
            )
            self._stop.fail(
                NothingRead(
                    f"{told} Once the judge follows the protocol, --retry-reason {lacking.reason} asks these again; "
                    "--go-on asks on as it is.",
                    told=told,
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


async def _after_all_that_came() -> None:
    """Replies that came together are all taken in before the first of them is read: what reads them goes through so
    much memory that it takes twice as long where something else is done between two of them."""
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        return  # it is here: it is read and put on record


_INTERRUPTED = NoVerdict(reason="interrupted", detail="The run was stopped before the reply came.")
_IN_BATCH = NoVerdict(reason="interrupted", detail="The call waits in a batch.")
_OVER_BUDGET = NoVerdict(reason="over-budget", detail="The budget does not allow the second call.")
