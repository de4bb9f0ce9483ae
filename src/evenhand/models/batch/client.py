"""A ModelClient whose replies come through batches: gathers what is asked, sends it together, and waits for all of it.

What becomes of a batch once it is on record is following.py's.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from evenhand.domain.call import Reply, Request
from evenhand.domain.errors import CallFailure, EvenhandError
from evenhand.images import ImageError
from evenhand.models.batch.following import Awaited, FollowedBatch, Following, now
from evenhand.models.batch.record import BatchPauses, BatchPending, BatchRecord, NotSent, OpenBatch, TakenOver
from evenhand.models.batch.wire import BatchWire, Gone, Spool, TooLarge

_CLOSING_SECONDS = 20.0
"""For which a creation under way is waited for at the end, so that its name is on record."""


class BatchClient:
    """`wait`: seconds from the first call on for which batches are waited for; None: until they end. `resend`: also
    what another key has sent, where it is not known with this one."""

    def __init__(
        self,
        wire: BatchWire,
        record: BatchRecord,
        *,
        wait: float | None = None,
        resend: bool = False,
        pauses: BatchPauses | None = None,
    ) -> None:
        self._wire = wire
        self._record = record
        self._wait = wait
        self._pauses = pauses or BatchPauses()
        self._most = wire.most_requests
        """Requests in one batch, as far as the provider has shown."""
        self._most_under_way = math.inf
        """As far as the provider has shown."""
        self._deadline = math.inf
        self._begun: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._following = Following(wire=wire, record=record, pauses=self._pauses, resend=resend)
        self._awaited = self._following.awaited
        self._batches: set[FollowedBatch] = set()
        self._of_call: dict[str, FollowedBatch] = {}
        self._fresh: deque[str] = deque()
        """Keys that are in no batch yet."""
        self._added = asyncio.Event()
        self._added_at = 0.0

    async def complete(self, request: Request) -> Reply:
        if self._begun is None:
            self._deadline = now() + self._wait if self._wait is not None else math.inf
            self._begun = asyncio.create_task(self._begin())
        await asyncio.shield(self._begun)
        place = Awaited(request, asyncio.get_running_loop().create_future())
        self._awaited[request.key] = place
        self._place(request.key)
        try:
            return await place.reply
        finally:
            if self._awaited.get(request.key) is place:
                del self._awaited[request.key]

    def _place(self, call: str) -> None:
        batch = self._of_call.get(call)
        if batch is None or call not in batch.one.calls:
            self._fresh.append(call)
            self._added_at = now()
            self._added.set()
        elif batch.pending is not None:
            self._awaited.tell([call], batch.pending)
        else:
            batch.ask()

    async def close(self) -> None:
        making = [asyncio.ensure_future(batch.named.wait()) for batch in self._batches if batch.ours]
        if making:
            await asyncio.wait(making, timeout=_CLOSING_SECONDS)
        for task in (*making, *self._tasks):
            task.cancel()
        await asyncio.gather(*making, *self._tasks, return_exceptions=True)
        await self._wire.close()

    async def _begin(self) -> None:
        """Takes up what is on record, and begins to gather."""
        for one in await self._record.open():
            self._follow(one, None)
        self._run(self._gather())

    def _follow(self, one: OpenBatch, spool: Spool | None) -> None:
        batch = FollowedBatch(one, spool, self._following, deadline=self._deadline)
        self._batches.add(batch)
        self._of_call |= dict.fromkeys(one.calls, batch)
        self._run(self._see_through(batch))

    def _run(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._awaited.tell(list(self._awaited), error)  # whatever it was, nobody waits for what does not come

    async def _gather(self) -> None:
        """Sends together what came until nothing more did, or as much as fits."""
        while True:
            await self._added.wait()
            await self._quiet()
            room = await self._room()
            calls = [self._fresh.popleft() for _ in range(min(self._most, len(self._fresh)))]
            if not self._fresh:
                self._added.clear()
            if not room:
                pending = BatchPending(f"The call waits until batches at {self._wire.who} have ended.")
                self._awaited.tell(calls, pending)
                continue
            places = [self._awaited[call] for call in calls if call in self._awaited]
            try:
                await self._send([place for place in places if not place.reply.done()])
            except EvenhandError as error:  # of the record: nothing was sent
                self._awaited.tell(calls, BatchPending(str(error), error=error))

    async def _quiet(self) -> None:
        while len(self._fresh) < self._most:
            rest = self._added_at + self._pauses.quiet - now()
            if rest <= 0:
                return
            await asyncio.sleep(rest)

    async def _room(self) -> bool:
        """Whether another batch may be sent before the wait is over: then a provider that took no more has fewer."""
        while self._under_way() >= self._most_under_way:
            if (rest := self._deadline - now()) <= 0:
                return False
            self._following.fewer.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(None if rest == math.inf else rest):
                    await self._following.fewer.wait()
        return True

    def _under_way(self) -> int:
        return sum(batch.under_way for batch in self._batches)

    async def _send(self, places: Sequence[Awaited]) -> None:
        spool = Spool(self._wire.between)
        try:
            written = await asyncio.to_thread(_write, self._wire, spool, places)
            for call, error in written.refused.items():
                self._awaited.tell([call], error)
            self._again(written.rest)
            if await self._is_followed(written.calls, spool):
                spool = None
        finally:
            if spool is not None:
                spool.close()

    async def _is_followed(self, calls: Sequence[str], spool: Spool) -> bool:
        """Whether the batch is on record, and is sent. Else its calls are gathered again, but for those that are not
        to be sent."""
        if not calls:
            return False
        # Those that were given up meanwhile: nothing is set aside for them any more.
        left = {call for call in calls if call not in self._awaited}
        one = OpenBatch(id=self._wire.mark(), state="uploading", calls=set(calls), entries=len(calls))
        one.at = time.time()
        left = left or await self._record.begin(one)
        if left:
            self._awaited.tell(left, BatchPending("Another run has sent the call."))
            self._again([call for call in calls if call not in left])
            return False
        self._follow(one, spool)
        return True

    def _again(self, calls: Sequence[str]) -> None:
        """Gathered before all others."""
        self._fresh.extendleft(reversed(calls))
        if calls:
            self._added.set()

    async def _see_through(self, batch: FollowedBatch) -> None:
        try:
            await self._follow_up(batch)
        except TakenOver:
            batch.leave(None)
        except EvenhandError as error:
            batch.leave(error)
        finally:
            batch.end()

    async def _follow_up(self, batch: FollowedBatch) -> None:
        try:
            await batch.follow()
        except TooLarge as error:
            await self._too_large(batch, error)
        except Gone:
            await self._anew(batch)  # what it was paid for is lost: nobody keeps it

    async def _too_large(self, batch: FollowedBatch, error: TooLarge) -> None:
        """Sent anew when others have ended, where it may be for these; else half as many at a time from here on, or,
        of a single one, its failure."""
        one, others = batch.one, self._under_way() - 1
        self._most_under_way = others if error.queue_full and others else math.inf
        if self._most_under_way == math.inf and one.entries == 1:
            sentence = f"{self._wire.who} takes no batch with this call even alone. {error}"
            await batch.fail(CallFailure(sentence, reason="api-error"))
            return
        if self._most_under_way == math.inf:
            self._most = max(1, min(self._most, one.entries // 2))
        await self._anew(batch)

    async def _anew(self, batch: FollowedBatch) -> None:
        """Its calls go into other batches: the provider has nothing of this one."""
        if not batch.ours:
            await batch.fail(NotSent(f"{self._wire.who} has no batch with this call."))
            return
        for call in await batch.drop():
            if call in self._awaited:
                self._place(call)


@dataclass(slots=True)
class _Written:
    """Keys, by what became of them."""

    calls: list[str] = field(default_factory=list[str])
    rest: Sequence[str] = ()
    """For the next batch."""
    refused: dict[str, Exception] = field(default_factory=dict[str, Exception])


def _write(wire: BatchWire, spool: Spool, places: Sequence[Awaited]) -> _Written:
    """As many as fit. In a thread."""
    written = _Written()
    for number, place in enumerate(places):
        try:
            entry = wire.entry(place.request)
        except (EvenhandError, ImageError) as error:
            written.refused[place.request.key] = error
            continue
        if not spool.fits(entry, wire.most_bytes - 2**16):
            written.rest = [other.request.key for other in places[number:]]
            break
        written.calls.append(place.request.key)
    return written
