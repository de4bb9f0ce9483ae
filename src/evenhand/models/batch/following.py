"""One batch, from its first step to the last of its replies. Every step is on record before the next is taken, so that
a kill at any moment leaves a batch that the next run finds."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from evenhand.domain.call import Reply, Request
from evenhand.domain.errors import CallFailure, EvenhandError, Misuse
from evenhand.models.batch.record import BatchPauses, BatchPending, BatchRecord, NotSent, OpenBatch
from evenhand.models.batch.wire import BatchStatus, BatchWire, Gone, Spool, TooLarge, Undecided

T = TypeVar("T")

_TRIES = 6
"""Of one step, where a wait may cure what went wrong."""
_DENIALS = 12
"""Of what was there, over more than five minutes, until it is taken for lost."""
_KEPT = 30 * 86_400.0
"""Seconds for which providers keep batches and their results."""
_LONGEST_PAUSE = 600.0
"""Seconds: a provider that asks for a longer one is left alone until the next run."""


@dataclass(slots=True, eq=False)
class Awaited:
    request: Request
    reply: asyncio.Future[Reply]


class AwaitedCalls(dict[str, Awaited]):
    """By key."""

    def tell(self, calls: Iterable[str], error: BaseException) -> None:
        for call in calls:
            place = self.get(call)
            if place is not None and not place.reply.done():
                place.reply.set_exception(error)

    def hand_out(self, call: str, read: Callable[[Request], Reply]) -> None:
        place = self.get(call)
        if place is None or place.reply.done():
            return
        try:
            place.reply.set_result(read(place.request))
        except (CallFailure, Misuse) as failure:
            place.reply.set_exception(failure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """What batches of an endpoint are followed with."""

    wire: BatchWire
    record: BatchRecord
    pauses: BatchPauses
    resend: bool = False
    """Also what another key has sent, where it is not known with this one."""
    awaited: AwaitedCalls = field(default_factory=AwaitedCalls)
    fewer: asyncio.Event = field(default_factory=asyncio.Event)
    """Set where a batch is under way no longer."""


class FollowedBatch:
    """A batch that this process sees to."""

    def __init__(self, one: OpenBatch, spool: Spool | None, following: Following, *, deadline: float) -> None:
        """`spool`: its requests, where this process wrote them. `deadline`: of the loop's clock, until when its replies
        are waited for."""
        self.one = one
        self.ours = spool is not None
        """This process wrote it: what is set aside for its calls is of this process's budget."""
        self.under_way = self.ours
        """It is being sent, or has been, and has not ended."""
        self.named = asyncio.Event()
        """The provider has a name for it, or never will."""
        self.pending: BatchPending | None = None
        """Why its calls are not waited for here."""
        self._spool = spool
        self._wire, self._record, self._pauses = following.wire, following.record, following.pauses
        self._awaited, self._fewer, self._resend = following.awaited, following.fewer, following.resend
        self._deadline = deadline
        self._asked = asyncio.Event()
        """Some call of it is waited for."""
        self._asked_at = 0.0
        self._creations = 0
        """How often it was tried to create it."""
        self._unsure = False
        """A creation may have gone through whose end nobody heard."""

    def ask(self) -> None:
        """A call of it is waited for."""
        self._asked_at = now()
        self._asked.set()

    def leave(self, error: EvenhandError | None) -> None:
        """Its calls stay in it; they are not waited for here any more."""
        name = self.one.name or self.one.id
        self.pending = BatchPending(f"The call waits in batch {name} at {self._wire.who}.", error=error)
        self._awaited.tell(self.one.calls, self.pending)

    async def follow(self) -> None:
        """Until its replies are handed out, or are not waited for here. Raises TooLarge, and Gone where the provider
        has nothing of it: its calls are to be sent otherwise. Raises TakenOver where another run sees to it."""
        try:
            if not self.ours:
                await self._asked.wait()
                await self._take()
                self._unsure = self.one.state == "creating"
                self.under_way = bool(self.one.calls)
            if self.one.calls and (status := await self._made()) is not None:
                self.named.set()
                await self._collect(status)
        except Misuse as error:
            if self.one.state != "created" and not self._unsure:
                await self._record.close(self.one.id, str(error))
            self.leave(error)
        except CallFailure as failure:
            self.leave(self._unreachable(failure))
        except EvenhandError as error:
            self.leave(error)

    def end(self) -> None:
        """Nothing more is done about it here."""
        self.named.set()
        self._no_longer()
        if self._spool is not None:
            self._spool.close()
            self._spool = None

    async def drop(self) -> set[str]:
        """Its calls, which are to be sent in other batches."""
        await self._change(state="dropped")
        calls, self.one.calls = self.one.calls, set()
        return calls

    async def fail(self, error: CallFailure | NotSent) -> None:
        """All of its calls, as they are asked for."""
        self._no_longer()
        while self.one.calls:
            await self._asked_for()
            for call in self._wanted():
                await self._hand_out(call, error)

    def _no_longer(self) -> None:
        if self.pending is None:  # else it goes on there
            self.under_way = False
            self._fewer.set()

    async def _take(self) -> None:
        """As it is on record, unless another run sees to it. What others have put on record of it is theirs."""
        one = self.one
        theirs = one.calls - await self._record.take(one)
        one.calls -= theirs
        self._awaited.tell(theirs, BatchPending("Another run has put the reply on record."))

    async def _made(self) -> BatchStatus | None:
        """Takes the steps that are left until the provider has a name for it; None where it is not waited for."""
        one = self.one
        while one.state != "created":
            match one.state:
                case "uploading" if self._spool is not None:
                    spool = self._spool
                    one.file = await self._tried(lambda spool=spool: self._wire.upload(spool))
                    await self._change(state="uploaded", file=one.file)
                case "uploaded" if self._spool is not None:
                    if (status := await self._created(self._spool)) is not None:
                        return status
                case "creating":
                    if not await self._looked_for():
                        return None
                case _:
                    raise Gone(f"{self._wire.who} has no batch with this call.")
        return await self._polled()

    async def _created(self, spool: Spool) -> BatchStatus | None:
        """None where it was not, or nobody knows whether it was."""
        self._creations += 1
        await self._change(state="creating")
        try:
            status = await self._wire.create(self.one, spool)
        except CallFailure as failure:
            self._unsure = _may_be_made(failure)
            if not self._unsure:
                await self._change(state="uploaded")
            if _hopeless(failure, self._creations):
                raise
            if not failure.maybe_billed:
                pause = self._pauses.first_poll * 2 ** (self._creations - 1)
                await asyncio.sleep(max(failure.retry_after or 0.0, min(pause, self._pauses.longest_poll)))
            return None
        await self._change(state="created", name=status.name)
        return status

    async def _looked_for(self) -> bool:
        """Goes on with a batch that may have been created; False where it is not to be waited for."""
        pause, until, withdrawn = self._pauses.first_poll, now() + self._pauses.unsure, False
        while True:
            others = await self._record.names()
            try:
                name = await self._tried(lambda others=others: self._wire.find(self.one, others))
            except Undecided:
                if now() >= self._deadline:
                    self.leave(None)
                    return False
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._pauses.longest_poll)
                continue
            if name is not None:
                await self._change(state="created", name=name)
                return True
            self.one.missed = True
            if (rest := until - now()) > 0:
                await asyncio.sleep(min(rest, pause))
                pause = min(2 * pause, self._pauses.longest_poll)
                continue
            self._check_key()
            if withdrawn:
                # It was not: as if it had never been tried.
                self.one.state, self.one.missed, self._unsure = "uploading", False, False
                return True
            # One that was made before this is looked for once more; one that comes later finds no file.
            await self._tried(lambda: self._wire.withdraw(self.one))
            withdrawn = True

    async def _collect(self, status: BatchStatus) -> None:
        ended = await self._ended(status)
        if ended is None:
            return
        if ended.refused and ended.too_large:
            raise TooLarge(ended.refused, queue_full=True)  # in words that do not tell the one from the other
        self._no_longer()
        if ended.refused:
            sentence = f"{self._wire.who} refused batch {ended.name} whole: {ended.refused}"
            await self._record.close(self.one.id, sentence)
            raise Misuse(f"{sentence} Leave out --batch to ask call by call.", code="EH-BATCH-REFUSED")
        while ended is not None and self.one.calls:
            await self._asked_for()
            await self._take()
            ended = await self._import(ended)

    async def _ended(self, status: BatchStatus) -> BatchStatus | None:
        """How it stands when it has ended; None where that is not waited for."""
        pause = self._pauses.first_poll
        while True:
            self.one.done, self.one.missed = status.done, False
            noted = {"done": status.done, "expires": status.expires, "note": status.how}
            await self._record.change(self.one.id, **noted)
            if status.ended:
                return status
            if now() >= self._deadline:
                self.leave(None)
                return None
            await asyncio.sleep(min(pause, max(0.0, self._deadline - now())))
            pause = min(1.5 * pause, self._pauses.longest_poll)
            status = await self._polled()

    async def _polled(self) -> BatchStatus:
        name = self.one.name
        assert name is not None
        try:
            return replace(await self._tried(lambda: self._wire.poll(name)), name=name)
        except Gone:
            self._check_key()
            raise

    def _check_key(self) -> None:
        """Raises Misuse where a batch that is not there may be another account's, and be paid for."""
        until = self.one.at + _KEPT
        if self._resend or self._wire.is_marked(self.one.id) or time.time() > until:
            return
        name = self.one.name or self.one.id
        raise Misuse(
            f"{self._wire.who} knows nothing of batch {name}, which was sent with another key: give that key, or one "
            f"of the same account, to collect it. With any other its calls are sent anew from {_date(until)} on, or at "
            "once with --batch-resend, which may pay for them twice.",
            code="EH-BATCH-UNREACHABLE",
        )

    async def _asked_for(self) -> None:
        """Returns when all that is to be asked of the batch for now has been."""
        if not self._wanted():
            await self._asked.wait()
        while len(self._wanted()) < len(self.one.calls):
            rest = self._asked_at + self._pauses.quiet - now()
            if rest <= 0:
                break
            await asyncio.sleep(rest)
        self._asked.clear()

    def _wanted(self) -> set[str]:
        return {call for call in self.one.calls if call in self._awaited}

    async def _import(self, status: BatchStatus) -> BatchStatus | None:
        """How it stands then; None where it is under way again, and not waited for."""
        wanted = self._wanted()
        pause = self._pauses.first_poll
        for tried in range(1, _TRIES + 1):
            if await self._tried(lambda status=status: self._handed_out(status)) or tried == _TRIES:
                break
            # The provider says that it has more: that is paid for, and not sent again at once.
            await asyncio.sleep(pause)
            pause = min(2 * pause, self._pauses.longest_poll)
            if (again := await self._ended(await self._polled())) is None:
                return None
            status = again
        for call in wanted & self.one.calls:
            await self._hand_out(call, self._without(status))
        return status

    async def _handed_out(self, status: BatchStatus) -> bool:
        """As they come: no more of them is in memory than is being put on record. False where some are wanted still,
        and the provider has done more of its calls than it gave."""
        lacking = set(self.one.calls)
        async with aclosing(self._wire.results(status)) as lines:
            async for line in lines:
                lacking.discard(line.call)
                if line.call in self.one.calls and line.call in self._awaited:
                    await self._hand_out(line.call, lambda request, line=line: self._wire.read(request, line))
        return len(lacking) <= self.one.entries - status.done or not self._wanted()

    async def _hand_out(self, call: str, result: Callable[[Request], Reply] | CallFailure | NotSent) -> None:
        await self._record.room(self.one.id, call)
        self.one.calls.discard(call)
        if isinstance(result, CallFailure | NotSent):
            self._awaited.tell([call], result)
        else:
            self._awaited.hand_out(call, result)

    def _without(self, status: BatchStatus) -> CallFailure:
        ended = {"expired": "timeout", "cancelled": "interrupted", "canceled": "interrupted"}.get(status.how)
        return CallFailure(
            f"Batch {status.name} at {self._wire.who} ended ({status.how}) without a result for this call.",
            reason="timeout" if ended == "timeout" else "interrupted" if ended else "bad-reply",
            transient=ended != "interrupted",
        )

    def _unreachable(self, failure: CallFailure) -> Misuse:
        name = self.one.name or self.one.id
        return Misuse(
            f"{failure} Batch {name} is on record: run the same command again to go on with it.",
            code="EH-BATCH-UNREACHABLE",
        )

    async def _tried(self, step: Callable[[], Awaitable[T]]) -> T:
        """Once more and again, where only a wait is needed; also where the provider says that there is no such thing,
        as some do for a while of what is there."""
        pause, tries = self._pauses.first_poll, 0
        while True:
            tries += 1
            try:
                return await step()
            except CallFailure as failure:
                if _hopeless(failure, tries):
                    raise
                asked = failure.retry_after or 0.0
            except Gone:
                if tries >= (_DENIALS if self._wire.is_marked(self.one.id) else _TRIES):
                    raise
                self.one.missed, asked = True, 0.0
            await asyncio.sleep(max(pause, asked))
            pause = min(2 * pause, self._pauses.longest_poll)

    async def _change(self, *, state: str, file: str | None = None, name: str | None = None) -> None:
        given = {key: value for key, value in (("file", file), ("name", name)) if value is not None}
        await self._record.change(self.one.id, state=state, **given)
        self.one.state, self.one.name = state, name or self.one.name


def _may_be_made(failure: CallFailure) -> bool:
    """Of a creation that failed: not where it never went out, or was refused in words that leave no doubt."""
    return failure.maybe_billed or failure.status not in (None, 404, 410, 429)


def _hopeless(failure: CallFailure, tries: int) -> bool:
    """Whether no wait that is worth it cures it."""
    return not failure.transient or tries >= _TRIES or (failure.retry_after or 0.0) > _LONGEST_PAUSE


def _date(moment: float) -> str:
    return datetime.fromtimestamp(moment, tz=UTC).date().isoformat()


def now() -> float:
    """By the loop's clock."""
    return asyncio.get_running_loop().time()
